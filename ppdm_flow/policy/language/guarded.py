"""Code of other distributions' kinds of requirements: what it raises is told as their fault, never as ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, PpdmError

F = TypeVar("F", bound=Callable[..., Any])


def guarded(kind: str, does: str, function: F) -> F:
    """Return the function of a kind so that what it raises becomes a PluginError (PPF405).

    ``does`` says what it is there for, in words that follow on "cannot". A generator is run to its end.
    """
    runs = inspect.isgeneratorfunction(function)

    @wraps(function)
    def called(*args: Any, **more: Any) -> Any:
        try:
            result = function(*args, **more)
            return tuple(result) if runs else result
        except PpdmError:
            raise
        except Exception as error:  # whatever a third party's code raises must not look like our own fault
            text = f"the requirement `{kind}` cannot {does}: its code raised {type(error).__name__}"
            raise PluginError(Diagnostic("PPF405", text)) from error

    guarded_function: Any = called
    return guarded_function  # type: ignore[no-any-return]
