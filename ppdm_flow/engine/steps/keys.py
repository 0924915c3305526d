"""The key of a run: from the operating system, or from the policy's seed."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.faults import output_fault, run_fault
from ppdm_flow.plan.definition import Plan


def run_key(plan: Plan, given: RunKey | None) -> RunKey:
    """Return ``given``, or the key that the policy's ``randomness`` asks for."""
    if given is not None:
        return given
    if plan.randomness == "reproducible":
        if plan.seed is None:
            raise run_fault("PPF906", "a reproducible run without a seed")
        return RunKey.from_seed(plan.seed)
    return RunKey(secrets.token_bytes(32))


def check_escrow(path: Path | None) -> None:
    """Raise UsageError where the escrow file could not be made: before the work, not after it."""
    if path is None:
        return
    if path.exists():
        raise UsageError(Diagnostic("PPF673", f"the escrow file `{path}` exists already: it is never overwritten"))
    if not path.absolute().parent.is_dir():
        raise UsageError(Diagnostic("PPF693", f"the folder of the escrow file `{path}` does not exist"))


def escrow(path: Path, key: RunKey, plan: Plan, run: str) -> None:
    """Write the key to a new file that only its owner can read."""
    document = {"version": 1, "run": run, "plan": plan.digest, "key": key.secret.hex(), "commitment": key.commitment}
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(document, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise output_fault(error, f"the escrow file `{path}`") from None
