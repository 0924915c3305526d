"""Kernels: small functions that numba compiles once and keeps on disk, for plugins whose loop is the algorithm."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")

wide: Callable[[Any], int] = np.int64  # type: ignore[assignment]
"""Makes a whole number one of 64 bits, and a constant a number. A kernel is compiled anew for each type of its
arguments, and for each constant: calls of one that is much code give it all the same."""


class Kernel(Generic[P, R]):
    """A function that is compiled at its first call, without the GIL. Numba is not imported before.

    Other kernels may call it. ``py_func`` is the function itself, as with numba.
    """

    def __init__(self, function: Callable[P, R], options: Mapping[str, Any] | None = None) -> None:
        functools.update_wrapper(self, function)
        self.targetoptions = {"nogil": True, **(options or {})}
        self.py_func = function
        self._made_of = ingredients(function)  # not later: a file can change between its import and the first call
        self._dispatcher: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the compiled function."""
        try:
            result: R = self.dispatcher(*args, **kwargs)
        except OSError:  # machine code was not saved, and the kernel did not run: it is in memory now
            result = self.dispatcher(*args, **kwargs)
        return result

    @property
    def dispatcher(self) -> Any:
        """Numba's object. Two threads that ask at once may each make one: either is good."""
        if self._dispatcher is None:
            from ppdm_flow.sdk.compiling import dispatcher  # noqa: PLC0415  # imports numba: slow to start

            self._dispatcher = dispatcher(self.py_func, self._made_of, **self.targetoptions)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where another kernel calls it: numba's protocol, as ``targetoptions`` are."""
        return self.dispatcher._numba_type_

    def __deepcopy__(self, _memo: dict[int, Any]) -> Kernel[P, R]:
        """Return the kernel itself: numba copies the code of functions that it splices into others."""
        return self


# What a kernel's machine code is made of: the sources of kernels, and constants.


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


class KernelPart(Kernel[P, R]):
    """A function for compiled kernels to call, of which no machine code is kept by itself. Python carries it out."""

    def __init__(self, function: Callable[P, R], options: Mapping[str, Any]) -> None:
        super().__init__(function, options)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function by Python."""
        return self.py_func(*args, **kwargs)

    @property
    def dispatcher(self) -> Any:
        """Numba's object."""
        if self._dispatcher is None:
            from ppdm_flow.sdk.compiling import part  # noqa: PLC0415  # imports numba: slow to start

            self._dispatcher = part(self.py_func, **self.targetoptions)
        return self._dispatcher


class Instruction(Generic[P, R]):
    """A function that is a few instructions of LLVM in compiled code; Python carries out ``plain``."""

    def __init__(self, plain: Callable[P, R], name: str) -> None:
        functools.update_wrapper(self, plain)
        self.plain = plain
        self._name = name
        self._type: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it by Python."""
        return self.plain(*args, **kwargs)

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where a kernel calls it: numba's protocol."""
        if self._type is None:
            from ppdm_flow.sdk.compiling import instruction_type  # noqa: PLC0415  # imports numba: slow to start

            self._type = instruction_type(self._name)
        return self._type

    def __deepcopy__(self, _memo: dict[int, Any]) -> Instruction[P, R]:
        """Return the instruction itself, as kernels do."""
        return self


def _same(value: V) -> V:
    return value


borrowed: Callable[[V], V] = Instruction(_same, "borrow")
"""Take the memory of an array, or of the arrays of a named tuple, as somebody else's: references to it are not counted.

For kernels that hand many arrays on to others. What they return to Python must not be of it, or numba refuses.
"""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` at its first call, without the GIL, and keep the machine code for later runs.

    It is compiled anew when any of what it is made of has changed: its module, those of the kernels that it calls, and
    the constants that it names. Where the cache cannot be written (a read-only installation, a full disk) it is
    compiled by each process.
    """
    return Kernel(function)


def compiling_seconds() -> float:
    """Return how long numba has compiled in this process, in all threads."""
    compiling = sys.modules.get("ppdm_flow.sdk.compiling")
    return 0.0 if compiling is None else float(compiling.ANNOUNCER.seconds)
