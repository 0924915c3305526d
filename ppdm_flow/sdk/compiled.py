"""Kernels: small functions that numba compiles once and keeps on disk, for plugins whose loop is the algorithm."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import numpy as np

from ppdm_flow.sdk.ingredients import ingredients

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")


wide: Callable[[Any], int] = np.int64  # type: ignore[assignment]
"""Makes a whole number one of 64 bits, and a constant a number. A kernel is compiled anew for each type of its
arguments, and for each constant: calls of one that is much code give it all the same."""

Steps = Callable[..., float]
"""Tells from a kernel's arguments about how often its innermost loop goes round."""

PLAIN_STEPS = 1_500_000
"""Steps that Python takes by itself in a process, about a microsecond each: to import numba and to compile a short
kernel takes as long. Where they are compiled already, no more than that is lost."""
_LONG = 4 / 3
"""How many times as many it takes before a kernel that takes many seconds to compile."""


class TooMuchWorkError(Exception):
    """Raised by a plain form that has done as many steps as were said, and has changed nothing: compiled code goes on.

    For work of which nothing but the work itself tells how much it is.
    """


class _PlainWork(threading.local):
    """How deep this thread is in plain calls, and what all threads have done so."""

    depth = 0
    done: ClassVar[float] = 0.0

    def takes(self, steps: float, *, long: bool) -> bool:
        """Whether there is room for so many steps, which are taken then: what was taken decides, and no clock."""
        if _PlainWork.done + steps > PLAIN_STEPS * (_LONG if long else 1):
            return False
        _PlainWork.done += steps
        return True

    def takes_some(self, most: float, least: float) -> float:
        """Take as many steps, of ``most``, as there is room for; return how many, none if not even ``least``."""
        steps = min(most, PLAIN_STEPS * _LONG - _PlainWork.done)
        if steps < least:
            return 0.0
        _PlainWork.done += steps
        return steps

    def gives_back(self, steps: float) -> None:
        """Make room again for steps that were taken and not needed."""
        _PlainWork.done -= steps


_plain_work = _PlainWork()


class Kernel(Generic[P, R]):
    """A function that is compiled at its first call, without the GIL. Numba is not imported before.

    With ``steps``, work that is little is done by Python itself as long as nothing is compiled: the same result,
    without the seconds that a compiler takes; ``plain`` is how, if not by the function itself. Other kernels may call
    it. ``long``: to compile it, or those that the same work needs besides, takes many seconds. ``py_func`` is the plain
    function, as with numba.
    """

    def __init__(
        self,
        function: Callable[P, R],
        steps: Steps | None = None,
        plain: Callable[P, R] | None = None,
        *,
        long: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.long = long
        self.targetoptions = {"nogil": True, **(options or {})}
        self.py_func = function
        self.steps = steps
        self._plain = function if plain is None else plain
        self._made_of = ingredients(function)  # not later: a file can change between its import and the first call
        self._dispatcher: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function: by Python where that is little work, else compiled, if need be."""
        if self._dispatcher is None:
            if _plain_work.depth:
                return self._plain(*args, **kwargs)
            if self.steps is not None and _plain_work.takes(self.steps(*args, **kwargs), long=self.long):
                return self.plainly(*args, **kwargs)
        return (self._dispatcher or self.dispatcher)(*args, **kwargs)  # type: ignore[no-any-return]

    @property
    def compiles_first(self) -> bool:
        """Whether the next call of compiled code has to compile it, or to find its machine code."""
        return self._dispatcher is None

    def plainly(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function, and the kernels that it calls, by Python."""
        _plain_work.depth += 1
        try:
            with np.errstate(over="ignore"):  # compiled integers wrap around and say nothing
                return self._plain(*args, **kwargs)
        finally:
            _plain_work.depth -= 1

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


class Part(Kernel[P, R]):
    """A function for compiled kernels to call, of which no machine code is kept by itself. Python carries it out."""

    def __init__(self, function: Callable[P, R], options: Mapping[str, Any]) -> None:
        super().__init__(function, options=options)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function by Python."""
        return self.plainly(*args, **kwargs)

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


def compiled_for(
    steps: Steps, plain: Callable[..., Any] | None = None, *, long: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function where it is much work, by what ``steps`` says of its arguments; Python does the rest.

    It does it by ``plain``, or by the function itself; a step is a microsecond of either. Python and compiled code have
    to come to the same result, to the last bit: sums in the same order, functions of ``math`` instead of numpy's, and
    no whole numbers of 64 bits with and without a sign in one sum. ``long``: it takes many seconds to compile, or is
    of a piece of work that needs such kernels; Python does more before that.
    """
    return lambda function: Kernel(function, steps, plain, long=long)


def python_takes(kernel: Callable[..., Any], most: float, least: float) -> float:
    """Return how many steps, of ``most``, Python may do in the place of a kernel: they are taken then.

    0 where the kernel is compiled already, or where there is no room for ``least``. For plain forms that are more
    than a function; :func:`python_gives_back` says how many were not needed.
    """
    inner = kernel if isinstance(kernel, Kernel) else getattr(kernel, "__wrapped__", None)
    if not isinstance(inner, Kernel) or not inner.compiles_first:
        return 0.0
    return _plain_work.takes_some(most, least)


def python_gives_back(steps: float) -> None:
    """Let other work have steps that Python has taken and did not need."""
    _plain_work.gives_back(steps)


def compiling_seconds() -> float:
    """Return how long numba has compiled in this process, in all threads."""
    compiling = sys.modules.get("ppdm_flow.sdk.compiling")
    return 0.0 if compiling is None else float(compiling.ANNOUNCER.seconds)


def tolerant(kernel: Callable[P, R]) -> Callable[P, R]:
    """Let the entry point of compiled code survive a cache that cannot be written after all."""

    @functools.wraps(kernel)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return kernel(*args, **kwargs)
        except OSError:  # raised by saving, before the kernel ran: it is in memory now
            return kernel(*args, **kwargs)

    return call
