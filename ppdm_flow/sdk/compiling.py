"""How numba compiles a kernel and keeps its machine code. Importing numba takes half a second: only what runs does."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core import event
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from ppdm_flow.sdk.borrowed_arrays import borrow

_LOG = logging.getLogger("ppdm_flow")


def dispatcher(function: Callable[..., Any], made_of: str, **options: Any) -> Any:
    """Return what compiles ``function`` at its first call, or finds its machine code on disk.

    ``made_of`` is what the code on disk has to be made of (`ingredients`); ``options`` are those of ``numba.njit``.
    Where the cache cannot be written (a read-only installation, a full disk) each process compiles.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # Python carries it out then
        return function
    try:
        made = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no place that it may write to
        return numba.njit(**options)(function)
    # Numba looks at the module of a function alone. It reads no index of another version, which could name classes that
    # are gone.
    made._cache._cache_file._version += f" {made_of}"  # noqa: SLF001  # nothing public tells numba more
    return made


def part(function: Callable[..., Any], **options: Any) -> Any:
    """Return what compiles ``function`` where kernels call it."""
    return numba.njit(**options)(function)


def instruction_type(name: str) -> Any:
    """Return numba's type of an instruction: see :data:`_INSTRUCTIONS`."""
    made = intrinsic(_INSTRUCTIONS[name])
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


def _popcount(_context: Any, _word: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


def _lowest(_context: Any, _word: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


_INSTRUCTIONS = {"borrow": borrow, "ctpop": _popcount, "cttz": _lowest}


class _Announcer(event.Listener):
    """Says once a process that code is being compiled: it takes seconds, and only the first time. Adds them up.

    A kernel that another one calls is compiled within that one's time; numba lets one thread compile at a time.
    """

    def __init__(self) -> None:
        self.said = False
        self.seconds = 0.0
        self._begun: list[float] = []

    def on_start(self, _event: Any) -> None:
        self._begun.append(time.perf_counter())
        if not self.said:
            self.said = True
            _LOG.warning("compiling the kernels; this happens once, later runs find them ready")

    def on_end(self, _event: Any) -> None:
        begun = self._begun.pop()
        if not self._begun:
            self.seconds += time.perf_counter() - begun


ANNOUNCER = _Announcer()
event.register("numba:compile", ANNOUNCER)  # type: ignore[no-untyped-call]  # numba has no types
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
