"""Verifying a finished run."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.api.bindings import with_data
from ppdm_flow.api.policies import ready
from ppdm_flow.engine.verify import VerifyOutcome
from ppdm_flow.engine.verify import verify as verify_run
from ppdm_flow.plan.definition import Plan


def verify(run: Path, data: Path | None = None) -> VerifyOutcome:
    """Hash every file of a run again; with ``data``, measure its releases again as well.

    Raises UsageError where ``run`` is no run directory.
    """
    return verify_run(run, data, _plan)


def _plan(policy: Path, data: Path | None) -> Plan:
    """Compile the policy that a run kept, for the columns of the data."""
    return with_data(ready(policy, {}, data), data, strict=False).plan
