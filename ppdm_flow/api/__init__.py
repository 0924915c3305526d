"""The use cases: what the command line can do, for programs. Each is imported when it is asked for.

>>> from ppdm_flow import api
>>> callable(api.check)
True
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdm_flow.api.auditing import audit
    from ppdm_flow.api.checking import check
    from ppdm_flow.api.diagnosis import doctor
    from ppdm_flow.api.diffing import diff
    from ppdm_flow.api.documents import schema, write_schemas
    from ppdm_flow.api.explaining import explain, topics
    from ppdm_flow.api.hierarchies import check_hierarchy, hierarchy
    from ppdm_flow.api.hierarchies_ways import Way
    from ppdm_flow.api.ledgers import create_ledger, ledger
    from ppdm_flow.api.listing import plugins
    from ppdm_flow.api.locking import lock, lock_check
    from ppdm_flow.api.mining import mine
    from ppdm_flow.api.planning import plan
    from ppdm_flow.api.profiling import profile
    from ppdm_flow.api.protected import check_output
    from ppdm_flow.api.reconstructing import reconstruct
    from ppdm_flow.api.reporting import judgement, report
    from ppdm_flow.api.running import run
    from ppdm_flow.api.scaffold import init
    from ppdm_flow.api.showing import show
    from ppdm_flow.api.sweeping import sweep
    from ppdm_flow.api.testing import list_tests, run_tests
    from ppdm_flow.api.verifying import verification, verify

_HOMES = {
    "audit": "auditing",
    "Way": "hierarchies_ways",
    "check": "checking",
    "check_hierarchy": "hierarchies",
    "diff": "diffing",
    "doctor": "diagnosis",
    "explain": "explaining",
    "hierarchy": "hierarchies",
    "init": "scaffold",
    "judgement": "reporting",
    "check_output": "protected",
    "create_ledger": "ledgers",
    "ledger": "ledgers",
    "list_tests": "testing",
    "lock": "locking",
    "lock_check": "locking",
    "mine": "mining",
    "plan": "planning",
    "plugins": "listing",
    "profile": "profiling",
    "reconstruct": "reconstructing",
    "report": "reporting",
    "run": "running",
    "run_tests": "testing",
    "schema": "documents",
    "show": "showing",
    "sweep": "sweeping",
    "topics": "explaining",
    "verification": "verifying",
    "verify": "verifying",
    "write_schemas": "documents",
}

__all__ = [
    "Way",
    "audit",
    "check",
    "check_hierarchy",
    "diff",
    "doctor",
    "explain",
    "hierarchy",
    "init",
    "judgement",
    "check_output",
    "create_ledger",
    "ledger",
    "list_tests",
    "lock",
    "lock_check",
    "mine",
    "plan",
    "plugins",
    "profile",
    "reconstruct",
    "report",
    "run",
    "run_tests",
    "schema",
    "show",
    "sweep",
    "topics",
    "verification",
    "verify",
    "write_schemas",
]


def __getattr__(name: str) -> Any:
    """Import the module of a use case when it is first asked for (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    collecting = gc.isenabled()
    gc.disable()  # modules are no garbage: looking for some while they are made costs a tenth of a second
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    finally:
        if collecting:
            gc.enable()


def __dir__() -> list[str]:
    """Return the use cases."""
    return sorted(__all__)
