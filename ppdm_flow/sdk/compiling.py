"""How numba compiles a kernel and keeps its machine code. Importing numba takes half a second: only what runs does."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import numba
import numba.extending
from numba import types
from numba.core import event
from numba.core.registry import cpu_target
from numba.extending import intrinsic

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


# Arrays in compiled code whose memory somebody else keeps, so that references to it are not counted.
#
# Numba counts the references to an array wherever one function hands it to another. Kernels that pass states of many
# arrays to each other spend ten times the work itself on that (KRIMP on nursery: 3.0 s, 0.3 s without). This is a type
# of array with no place for a counter, and what turns arrays into it, by numba's interface for extensions. The caller
# of a kernel holds the arrays until it is over; nothing that is borrowed is ever given to Python.


def borrow(_context: Any, value: Any) -> Any:
    """Type and generate ``borrowed(value)``: an array, or a named tuple of arrays, named tuples and other things."""
    made = _borrowed(value)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _disowned(context, builder, signature.args[0], signature.return_type, args[0])

    return made(value), generate


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

borrowed_arrays_types: Any = numba.types  # has no annotations that say enough
extending: Any = numba.extending

_OWNERS = 2
"""An array begins with the counter of its memory and the object that it belongs to."""


class BorrowedArray(borrowed_arrays_types.Array):  # type: ignore[misc]  # numba's class
    """The type of an array whose memory is borrowed, and of views of it."""

    def __init__(self, dtype: Any, ndim: int, layout: str, *, readonly: bool, aligned: bool) -> None:
        name = f"borrowed({dtype}, {ndim}, {layout}, {readonly}, {aligned})"
        super().__init__(dtype, ndim, layout, readonly=readonly, name=name, aligned=aligned)

    def copy(self, dtype: Any = None, ndim: Any = None, layout: Any = None, readonly: Any = None) -> BorrowedArray:
        """Return the type with some of its parts replaced: that of a view."""
        return BorrowedArray(
            self.dtype if dtype is None else dtype,
            self.ndim if ndim is None else ndim,
            self.layout if layout is None else layout,
            readonly=not self.mutable if readonly is None else readonly,
            aligned=self.aligned,
        )


class _Model(extending.models.StructModel):  # type: ignore[misc]  # numba's class
    """The fields of numba's arrays, with plain pointers where these have what is counted."""

    def __init__(self, manager: Any, kind: BorrowedArray) -> None:
        dimensions = borrowed_arrays_types.UniTuple(borrowed_arrays_types.intp, kind.ndim)
        owners = [("meminfo", borrowed_arrays_types.voidptr), ("parent", borrowed_arrays_types.voidptr)]
        size = [("nitems", borrowed_arrays_types.intp), ("itemsize", borrowed_arrays_types.intp)]
        super().__init__(
            manager,
            kind,
            [
                *owners,
                *size,
                ("data", borrowed_arrays_types.CPointer(kind.dtype)),
                ("shape", dimensions),
                ("strides", dimensions),
            ],
        )


def _refuse(kind: BorrowedArray, _value: Any, _context: Any) -> Any:
    raise NotImplementedError(f"a kernel may not return {kind}: nobody would keep its memory")


extending.register_model(BorrowedArray)(_Model)
extending.box(BorrowedArray)(_refuse)


def _borrowed(kind: Any) -> Any:
    if isinstance(kind, borrowed_arrays_types.Array):
        return BorrowedArray(kind.dtype, kind.ndim, kind.layout, readonly=not kind.mutable, aligned=kind.aligned)
    if not isinstance(kind, borrowed_arrays_types.BaseNamedTuple):
        return kind
    parts = [_borrowed(each) for each in kind]
    if isinstance(kind, borrowed_arrays_types.NamedUniTuple):
        return borrowed_arrays_types.NamedUniTuple(parts[0], len(parts), kind.instance_class)
    return borrowed_arrays_types.NamedTuple(parts, kind.instance_class)


def _disowned(context: Any, builder: Any, kind: Any, made: Any, value: Any) -> Any:
    if isinstance(kind, borrowed_arrays_types.Array):
        for place in range(_OWNERS):
            value = builder.insert_value(value, value.type.elements[place](None), place)
        return value
    if not isinstance(kind, borrowed_arrays_types.BaseNamedTuple):
        return value
    parts = [builder.extract_value(value, place) for place in range(len(kind))]
    parts = [_disowned(context, builder, *each) for each in zip(kind, made, parts, strict=True)]
    return context.make_tuple(builder, made, parts)
