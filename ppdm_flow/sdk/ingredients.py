"""What a kernel's machine code is made of: the sources of kernels, and constants."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_PLAIN = (bool, int, float, complex, str, bytes)


def ingredients(function: Callable[..., Any]) -> str:
    """Return a digest of all that the machine code of ``function`` may be made of.

    That are its module and, over what stands there when ``function`` is defined: constants, the modules of kernels and
    of named tuples, theirs in turn, and other modules of the same package that are used by name.
    """
    digest = hashlib.sha256()
    for part in sorted(set(_parts(function.__module__, function.__globals__, set()))):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def _parts(module: str, names: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    if module in seen:
        return
    seen.add(module)
    yield _source(module)
    for name, value in list(names.items()):
        if _is_constant(value) and not name.startswith("__"):
            yield f"{module}.{name}={value!r}"
        elif isinstance(value, ModuleType) and _package(value.__name__) == _package(module):
            yield _source(value.__name__)
        elif isinstance(value, type) and hasattr(value, "_fields"):
            yield _source(value.__module__)
        elif (kernel := _of_kernel(value)) is not None:
            yield from _parts(kernel.__module__, kernel.__globals__, seen)


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return isinstance(value, _PLAIN)


def _of_kernel(value: Any) -> FunctionType | None:
    """The function that a kernel, or what numba calls an intrinsic, was made from."""
    for one in (value, getattr(value, "__wrapped__", None)):
        function = getattr(one, "py_func", None) or getattr(one, "_defn", None)
        if isinstance(function, FunctionType):
            return function
    return None


def _package(module: str) -> str:
    return module.partition(".")[0]


@functools.cache
def _source(module: str) -> str:
    """Return a module's name and a digest of its file; the name alone where there is no file to read."""
    try:
        file = inspect.getsourcefile(sys.modules[module])
        return f"{module}:{hashlib.sha256(Path(file).read_bytes()).hexdigest()}" if file else module
    except (KeyError, OSError, TypeError):
        return module
