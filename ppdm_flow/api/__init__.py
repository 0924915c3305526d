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
    from ppdm_flow.api.audit import audit as audit
    from ppdm_flow.api.check import check as check
    from ppdm_flow.api.contract import from_contract as from_contract
    from ppdm_flow.api.deliver import deliver as deliver
    from ppdm_flow.api.diff.diff import diff as diff
    from ppdm_flow.api.doctor import doctor as doctor
    from ppdm_flow.api.documents import installed_text as installed_text
    from ppdm_flow.api.documents import schema as schema
    from ppdm_flow.api.documents import write_schemas as write_schemas
    from ppdm_flow.api.drafts.check import check_draft as check_draft
    from ppdm_flow.api.drafts.diff import diff_drafts as diff_drafts
    from ppdm_flow.api.explain.explain import explain as explain
    from ppdm_flow.api.explain.explain import topics as topics
    from ppdm_flow.api.explain.listing import plugins as plugins
    from ppdm_flow.api.hierarchy import HierarchyMethod as HierarchyMethod
    from ppdm_flow.api.hierarchy import check_hierarchy as check_hierarchy
    from ppdm_flow.api.hierarchy import count_values as count_values
    from ppdm_flow.api.hierarchy import hierarchy as hierarchy
    from ppdm_flow.api.key import make_key as make_key
    from ppdm_flow.api.key import show_key as show_key
    from ppdm_flow.api.ledger import create_ledger as create_ledger
    from ppdm_flow.api.ledger import ledger as ledger
    from ppdm_flow.api.lock import lock as lock
    from ppdm_flow.api.lock import lock_check as lock_check
    from ppdm_flow.api.mine.code_table import code_table as code_table
    from ppdm_flow.api.mine.mine import mine as mine
    from ppdm_flow.api.mine.reconstruct import reconstruct as reconstruct
    from ppdm_flow.api.plan import plan as plan
    from ppdm_flow.api.profile.profile import profile as profile
    from ppdm_flow.api.protected import check_output as check_output
    from ppdm_flow.api.randomize import adds_little as adds_little
    from ppdm_flow.api.randomize import changes_nothing as changes_nothing
    from ppdm_flow.api.randomize import randomize as randomize
    from ppdm_flow.api.randomize import randomize_lines as randomize_lines
    from ppdm_flow.api.randomize import read_draw_key as read_draw_key
    from ppdm_flow.api.release import release as release
    from ppdm_flow.api.released_folder import verified as verified
    from ppdm_flow.api.released_folder import verify_folder as verify_folder
    from ppdm_flow.api.report import judgement as judgement
    from ppdm_flow.api.report import report as report
    from ppdm_flow.api.run import run as run
    from ppdm_flow.api.scaffold import init as init
    from ppdm_flow.api.show import show as show
    from ppdm_flow.api.sign import sign as sign
    from ppdm_flow.api.sweep.sweep import sweep as sweep
    from ppdm_flow.api.test.test import list_tests as list_tests
    from ppdm_flow.api.test.test import run_tests as run_tests
    from ppdm_flow.api.verify import verification as verification
    from ppdm_flow.api.verify import verify as verify

_HOMES = {
    "audit": "audit",
    "HierarchyMethod": "hierarchy",
    "check": "check",
    "check_draft": "drafts.check",
    "check_hierarchy": "hierarchy",
    "count_values": "hierarchy",
    "deliver": "deliver",
    "diff": "diff.diff",
    "diff_drafts": "drafts.diff",
    "doctor": "doctor",
    "explain": "explain.explain",
    "from_contract": "contract",
    "hierarchy": "hierarchy",
    "init": "scaffold",
    "installed_text": "documents",
    "judgement": "report",
    "check_output": "protected",
    "create_ledger": "ledger",
    "ledger": "ledger",
    "list_tests": "test.test",
    "lock": "lock",
    "lock_check": "lock",
    "make_key": "key",
    "code_table": "mine.code_table",
    "mine": "mine.mine",
    "plan": "plan",
    "plugins": "explain.listing",
    "profile": "profile.profile",
    "adds_little": "randomize",
    "changes_nothing": "randomize",
    "randomize": "randomize",
    "randomize_lines": "randomize",
    "read_draw_key": "randomize",
    "reconstruct": "mine.reconstruct",
    "release": "release",
    "report": "report",
    "run": "run",
    "run_tests": "test.test",
    "schema": "documents",
    "show": "show",
    "show_key": "key",
    "sign": "sign",
    "sweep": "sweep.sweep",
    "topics": "explain.explain",
    "verification": "verify",
    "verified": "released_folder",
    "verify": "verify",
    "verify_folder": "released_folder",
    "write_schemas": "documents",
}

__all__ = list(_HOMES)


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
    return sorted(_HOMES)


class _UseCases(ModuleType):
    """A package on which importing a folder does not put it in the place of the use case of its name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _UseCases
