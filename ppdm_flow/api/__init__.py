"""The use cases: what the command line can do, for programs. Each is imported when it is asked for.

>>> from ppdm_flow import api
>>> callable(api.check)
True
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdm_flow.api.audit import audit
    from ppdm_flow.api.check import check
    from ppdm_flow.api.diff.diff import diff
    from ppdm_flow.api.doctor import doctor
    from ppdm_flow.api.documents import installed_text, schema, write_schemas
    from ppdm_flow.api.explain.explain import explain, topics
    from ppdm_flow.api.explain.listing import plugins
    from ppdm_flow.api.hierarchy.hierarchy import check_hierarchy, hierarchy
    from ppdm_flow.api.hierarchy.ways import Way
    from ppdm_flow.api.ledger import create_ledger, ledger
    from ppdm_flow.api.lock import lock, lock_check
    from ppdm_flow.api.mine.mine import mine
    from ppdm_flow.api.mine.reconstruct import reconstruct
    from ppdm_flow.api.plan import plan
    from ppdm_flow.api.profile.profile import profile
    from ppdm_flow.api.protected import check_output
    from ppdm_flow.api.report import judgement, report
    from ppdm_flow.api.run import run
    from ppdm_flow.api.scaffold import init
    from ppdm_flow.api.show import show
    from ppdm_flow.api.sweep.sweep import sweep
    from ppdm_flow.api.test.test import list_tests, run_tests
    from ppdm_flow.api.verify import verification, verify

_HOMES = {
    "audit": "audit",
    "Way": "hierarchy.ways",
    "check": "check",
    "check_hierarchy": "hierarchy.hierarchy",
    "diff": "diff.diff",
    "doctor": "doctor",
    "explain": "explain.explain",
    "hierarchy": "hierarchy.hierarchy",
    "init": "scaffold",
    "installed_text": "documents",
    "judgement": "report",
    "check_output": "protected",
    "create_ledger": "ledger",
    "ledger": "ledger",
    "list_tests": "test.test",
    "lock": "lock",
    "lock_check": "lock",
    "mine": "mine.mine",
    "plan": "plan",
    "plugins": "explain.listing",
    "profile": "profile.profile",
    "reconstruct": "mine.reconstruct",
    "report": "report",
    "run": "run",
    "run_tests": "test.test",
    "schema": "documents",
    "show": "show",
    "sweep": "sweep.sweep",
    "topics": "explain.explain",
    "verification": "verify",
    "verify": "verify",
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
    "installed_text",
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


class _UseCases(ModuleType):
    """A package on which importing a folder does not put it in the place of the use case of its name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _UseCases
