"""Kernels: small functions that numba compiles once and keeps on disk, for plugins whose loop is the algorithm."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from ppdm_flow.sdk.ingredients import ingredients

P = ParamSpec("P")
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A function that is compiled at its first call, without the GIL. Numba is not imported before.

    Other kernels may call it. ``py_func`` is the plain function, as with numba.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._made_of = ingredients(function)  # not later: a file can change between its import and the first call
        self._dispatcher: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compile the function if need be, and run it."""
        result: R = (self._dispatcher or self.dispatcher)(*args, **kwargs)
        return result

    @property
    def dispatcher(self) -> Any:
        """Numba's object. Two threads that ask at once may each make one: either is good."""
        if self._dispatcher is None:
            from ppdm_flow.sdk.compiling import dispatcher  # noqa: PLC0415  # imports numba: slow to start

            self._dispatcher = dispatcher(self.py_func, self._made_of, nogil=True)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where another kernel calls it: numba's protocol."""
        return self.dispatcher._numba_type_


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` at its first call, without the GIL, and keep the machine code for later runs.

    It is compiled anew when any of what it is made of has changed: its module, those of the kernels that it calls, and
    the constants that it names. Where the cache cannot be written (a read-only installation, a full disk) it is
    compiled by each process.
    """
    return Kernel(function)


def tolerant(kernel: Callable[P, R]) -> Callable[P, R]:
    """Let the entry point of compiled code survive a cache that cannot be written after all."""

    @functools.wraps(kernel)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return kernel(*args, **kwargs)
        except OSError:  # raised by saving, before the kernel ran: it is in memory now
            return kernel(*args, **kwargs)

    return call
