"""Arguments of the functions that programs call: of the types that the functions name, or refused with a code."""

from __future__ import annotations

import errno
import inspect
import os
import re
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.python.faults import in_full

P = ParamSpec("P")
R = TypeVar("R")
_CONFIG = ConfigDict(strict=True, arbitrary_types_allowed=True)
_MODULES = re.compile(r"\b(?:\w+\.)+(?=\w)")


def with_checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, which raises UsageError (PPF696) for an argument that is not of the type it names.

    The arguments go on as they are: nothing is converted or copied.
    """

    @cache
    def types() -> tuple[inspect.Signature, dict[str, TypeAdapter[Any]]]:
        signature = inspect.signature(function, eval_str=True)
        return signature, {n: TypeAdapter(p.annotation, config=_CONFIG) for n, p in signature.parameters.items()}

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        signature, adapters = types()
        with in_full():
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                _check_argument(function, signature.parameters[name], value, adapters[name])
        return function(*args, **kwargs)

    return checked


def _check_argument(
    function: Callable[..., Any], parameter: inspect.Parameter, value: Any, kind: TypeAdapter[Any]
) -> None:
    where = f"`{parameter.name}` of `{function.__name__}`"
    try:
        kind.validate_python(value)
    except ValidationError:
        wanted = _MODULES.sub("", inspect.formatannotation(parameter.annotation))
        raise wrong_argument(f"{where} is no `{wanted}`", f"got a `{type(value).__name__}`") from None
    whole_policy = function.__annotations__[parameter.name] == "Policy" and isinstance(value, str) and "\n" in value
    if isinstance(value, (str, os.PathLike)) and not whole_policy and not _may_be_path(value):
        raise wrong_argument(f"{where} is no text that can be a path")


def _may_be_path(value: str | os.PathLike[str]) -> bool:
    """Whether the system takes a text for a path: without NUL and half surrogates, and of a length that it has."""
    try:
        os.stat(value)  # noqa: PTH116  # one call for texts and paths
    except ValueError:
        return False
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG
    return True


def wrong_argument(text: str, note: str | None = None) -> UsageError:
    """Return the error for an argument that a function cannot take."""
    return UsageError(Diagnostic("PPF696", text, notes=(note,) if note else ()))
