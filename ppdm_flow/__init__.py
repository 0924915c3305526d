"""ppdm_flow: a policy file in, an audited release of personal data or a refusal out.

>>> import ppdm_flow as pf
>>> callable(pf.run)
True
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ppdm_flow.core.version import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from ppdm_flow.core.errors import DataError as DataError
    from ppdm_flow.core.errors import PluginError as PluginError
    from ppdm_flow.core.errors import PolicyError as PolicyError
    from ppdm_flow.core.errors import PpdmError as PpdmError
    from ppdm_flow.core.errors import RunError as RunError
    from ppdm_flow.core.errors import UsageError as UsageError
    from ppdm_flow.python.calls import anonymize as anonymize
    from ppdm_flow.python.calls import audit as audit
    from ppdm_flow.python.calls import check as check
    from ppdm_flow.python.calls import diff as diff
    from ppdm_flow.python.calls import plan as plan
    from ppdm_flow.python.calls import profile as profile
    from ppdm_flow.python.calls import randomize as randomize
    from ppdm_flow.python.calls import run as run
    from ppdm_flow.python.calls import sweep as sweep
    from ppdm_flow.python.policies import ReleasePolicy as ReleasePolicy
    from ppdm_flow.python.policies import read_policy as read_policy
    from ppdm_flow.python.result import Result as Result
    from ppdm_flow.python.result import WithheldError as WithheldError

_HOMES = {
    "DataError": "core.errors",
    "PluginError": "core.errors",
    "PolicyError": "core.errors",
    "PpdmError": "core.errors",
    "ReleasePolicy": "python.policies",
    "Result": "python.result",
    "RunError": "core.errors",
    "UsageError": "core.errors",
    "WithheldError": "python.result",
    "anonymize": "python.calls",
    "audit": "python.calls",
    "check": "python.calls",
    "diff": "python.calls",
    "plan": "python.calls",
    "profile": "python.calls",
    "randomize": "python.calls",
    "read_policy": "python.policies",
    "run": "python.calls",
    "sweep": "python.calls",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604  # names of a map of texts


def __getattr__(name: str) -> Any:
    """Import what is asked for, and nothing before."""
    if name not in _HOMES:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """A package on which importing the folder `plan` does not put it in the place of the function `plan`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
