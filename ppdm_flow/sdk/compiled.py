"""Kernels: small functions that numba compiles once and keeps on disk, for plugins whose loop is the algorithm."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import event
from numba.core.registry import cpu_target

from ppdm_flow.sdk.ingredients import ingredients

P = ParamSpec("P")
R = TypeVar("R")

_LOG = logging.getLogger("ppdm_flow")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` at its first call, without the GIL, and keep the machine code for later runs.

    It is compiled anew when any of what it is made of has changed: its module, those of the kernels that it calls, and
    the constants that it names. Where the cache cannot be written (a read-only installation, a full disk) it is
    compiled by each process.
    """
    try:
        kernel = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba finds no place that it may write to
        kernel = numba.njit(nogil=True)(function)
    stamp(kernel, ingredients(function))
    kernel_of: Callable[P, R] = kernel
    return kernel_of


def stamp(kernel: Any, text: str) -> None:
    """Let the kernel's machine code on disk be good only as long as ``text`` is the same.

    Numba by itself looks at the module of the kernel alone.
    """
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if file is not None:
        vars(file)["_source_stamp"] = (vars(file)["_source_stamp"], text)


def tolerant(kernel: Callable[P, R]) -> Callable[P, R]:
    """Let the entry point of compiled code survive a cache that cannot be written after all."""

    @functools.wraps(kernel)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return kernel(*args, **kwargs)
        except OSError:  # raised by saving, before the kernel ran: it is in memory now
            return kernel(*args, **kwargs)

    return call


class _Announcer(event.Listener):
    """Says once a process that code is being compiled: it takes seconds, and only the first time."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, _event: Any) -> None:
        if not self.said:
            self.said = True
            _LOG.warning("compiling the kernels; this happens once, later runs find them ready")

    def on_end(self, _event: Any) -> None:
        """Say nothing: the listener's protocol asks for the method."""


# What the first call of a kernel would do, 0.3 s: engines import algorithms while they wait for data.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]  # numba has no types
