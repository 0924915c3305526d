"""A run that waits for approvals: found, locked while somebody releases it, and held against its manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.results import HELD
from ppdm_flow.engine.approval.decision import signed_waivers
from ppdm_flow.engine.candidates.unpublished import PRIVATE, RELEASED, is_held
from ppdm_flow.engine.evidence.writing import run_lock
from ppdm_flow.engine.faults import output_fault, refusal
from ppdm_flow.engine.held.private import HeldRunData, read_private
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.verify.verify import used_waivers, verify

PLAN = "plan.json"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class HeldRun:
    """``manifest`` and ``plan`` are its documents; ``private`` is what it kept for its release."""

    run_dir: Path
    manifest: Mapping[str, Any]
    plan: Mapping[str, Any]
    private: HeldRunData

    @property
    def releases(self) -> tuple[str, ...]:
        """The names of its releases."""
        return tuple(release["name"] for release in self.plan["releases"])

    @property
    def asked(self) -> Mapping[str, Any]:
        """What its plan says of approvals; of the roles that sign waivers, those of waivers that the run rests on."""
        return {**self.plan["approvals"], "waivers": signed_waivers(self.plan, self.manifest)}

    def unchanged(self) -> None:
        """Hash all of it again. Raises RefusedError (PPF971) where a file is not what was judged and signed."""
        outcome = verify(self.run_dir, None, _no_plan)
        if outcome.unchanged and outcome.verdict == HELD:
            return
        names = [f"`{name}`" for name in (*outcome.changed, *outcome.missing, *outcome.extra)]
        what = f"changed since: {listed(names, _SHOWN)}" if names else "; ".join(outcome.contradictions)
        text = f"run `{self.run_dir.name}` is not what was held: {what or 'it is not held any more'}"
        raise refusal("PPF971", text, advice="`ppdm-flow verify RUN` says more; run the policy again")

    def waivers_count(self, today: date) -> None:
        """Raise RefusedError (PPF979) where a waiver that the run rests on has expired since."""
        for waiver in used_waivers(self.manifest, today):  # type: ignore[arg-type]  # mypy: a manifest
            if waiver.expired:
                text = f"waiver `{waiver.name}` of run `{self.run_dir.name}` {waiver.text}"
                raise refusal("PPF979", text, advice="run the policy again, with a waiver that counts or without one")


def _no_plan(_policy: Path, _data: Path | None) -> Any:
    raise NotImplementedError  # only data asks for one


@contextmanager
def locked_run(run_dir: Path) -> Iterator[None]:
    """Keep others from signing or releasing the run; no repair of a ledger takes it for dead meanwhile."""
    if not run_dir.is_dir():
        raise UsageError(Diagnostic("PPF970", f"there is no run `{run_dir}`", help=_GIVE))
    with run_lock(run_dir):
        yield


_GIVE = "give the directory that `ppdm-flow run` printed"


def read_held(run_dir: Path) -> HeldRun:
    """Return a held run. Raises UsageError (PPF970) where it is none, RefusedError where it is not whole."""
    known = _document(run_dir, MANIFEST)
    verdict = known.get("verdict")
    if not is_held(run_dir):
        out = (run_dir / RELEASED).is_dir()
        why = "it is released already" if out else f"its verdict is `{verdict}`, and it has no folder `held`"
        raise UsageError(Diagnostic("PPF970", f"run `{run_dir.name}` does not wait for approvals: {why}", help=_GIVE))
    plan, said = _document(run_dir, PLAN), known.get("held")
    whole = isinstance(known.get("files"), Mapping) and isinstance(said, Mapping) and "approvals" in plan
    if verdict != HELD or not whole or not isinstance(plan.get("releases"), list):
        text = f"run `{run_dir.name}` has a folder `held`, and its documents are not those of a held run"
        raise refusal("PPF971", text, advice="`ppdm-flow verify RUN` says more; run the policy again")
    return HeldRun(run_dir, known, plan, read_private(run_dir, str(said.get("sha256"))))  # type: ignore[union-attr]  # looked at above


def remove_private(run_dir: Path) -> None:
    """Remove what the run kept for its release, once it is out."""
    try:
        (run_dir / PRIVATE).unlink(missing_ok=True)
    except OSError as error:
        raise output_fault(error, f"`{PRIVATE}`") from None


def _document(run_dir: Path, name: str) -> Mapping[str, Any]:
    path = run_dir / name
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    if not isinstance(document, Mapping):
        raise UsageError(Diagnostic("PPF970", f"`{run_dir}` holds no `{name}` that can be read", help=_GIVE))
    return document
