"""Checks that a run released after approval still has the signatures that its plan asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.approval.decision import RequestedSignatures, decide, signed_waivers
from ppdm_flow.engine.candidates.unpublished import PUBLICATION
from ppdm_flow.engine.evidence.signatures import signatures_of
from ppdm_flow.engine.held.publication import ReadSigners
from ppdm_flow.engine.manifest import NAME as MANIFEST

PLAN = "plan.json"


def approval_faults(run_dir: Path, read_signers: ReadSigners) -> Iterator[str]:
    """Yield a text for each signature that an approved run lacks.

    Signatures are checked against the list of signers in the run. A person who writes `publication.json` and moves the
    folder by hand does not have their keys. `verify --signers` checks against another list.
    """
    try:
        said = json.loads((run_dir / PUBLICATION).read_text(encoding="utf-8"))
        plan, manifest = (json.loads((run_dir / name).read_text(encoding="utf-8")) for name in (PLAN, MANIFEST))
        yield from _faults(run_dir, said, plan, signed_waivers(plan, manifest), read_signers)
    except PpdmError as error:
        yield f"the list of signers that the run kept cannot be read ({error.diagnostics[0].code})"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        yield f"`{PUBLICATION}` or `{PLAN}` cannot be read: nobody knows who approved it"


def _faults(
    run_dir: Path,
    said: Mapping[str, Any],
    plan: Mapping[str, Any],
    waivers: Mapping[str, str],
    read_signers: ReadSigners,
) -> Iterator[str]:
    approvals, out = plan["approvals"], datetime.fromisoformat(said["released"])
    if out.utcoffset() is None:
        raise ValueError("the time of release must have a time zone")
    signers = read_signers(run_dir / str(approvals["signers"]))
    every = signatures_of(run_dir, signers, out)
    wanted = RequestedSignatures(tuple(approvals["roles"]), bool(approvals["distinct"]), waivers)
    decision = decide(wanted, every, tuple(r["name"] for r in plan["releases"]), (signers,))
    if not decision.approved:
        roles = ", ".join(f"`{m.role}`" for m in decision.missing)
        why = "; ".join(d.message for d in decision.refused) or f"no signature in the role {roles}"
        yield f"it was released without the approvals that its policy asks for: {why}"
    good = {(s.release, s.role, s.key_id, s.signer) for s in every if s.good}
    named = {(s["release"], s["role"], s["key"], s["signer"]) for s in said["signatures"]}
    if named - good:
        yield f"`{PUBLICATION}` names {len(named - good)} signatures that are not there, or do not count"
