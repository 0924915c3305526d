"""Arrays in compiled code whose memory somebody else keeps, so that references to it are not counted.

Numba counts the references to an array wherever one function hands it to another. Kernels that pass states of many
arrays to each other spend ten times the work itself on that (KRIMP on nursery: 3.0 s, 0.3 s without). This is a type of
array with no place for a counter, and what turns arrays into it, by numba's interface for extensions. Whoever calls a
kernel holds the arrays until it is over; nothing that is borrowed is ever given to Python.
"""

from __future__ import annotations

from typing import Any

import numba.extending

types: Any = numba.types  # has no annotations that say enough
extending: Any = numba.extending

_OWNERS = 2
"""An array begins with the counter of its memory and the object that it belongs to."""


class BorrowedArray(types.Array):  # type: ignore[misc]  # numba's class
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
        whole = types.UniTuple(types.intp, kind.ndim)
        owners = [("meminfo", types.voidptr), ("parent", types.voidptr)]
        size = [("nitems", types.intp), ("itemsize", types.intp)]
        super().__init__(
            manager, kind, [*owners, *size, ("data", types.CPointer(kind.dtype)), ("shape", whole), ("strides", whole)]
        )


def _refuse(kind: BorrowedArray, _value: Any, _context: Any) -> Any:
    raise NotImplementedError(f"a kernel may not return {kind}: nobody would keep its memory")


extending.register_model(BorrowedArray)(_Model)
extending.box(BorrowedArray)(_refuse)


def borrow(_context: Any, value: Any) -> Any:
    """Type and generate ``borrowed(value)``: an array, or a named tuple of arrays, named tuples and other things."""
    made = _borrowed(value)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _disowned(context, builder, signature.args[0], signature.return_type, args[0])

    return made(value), generate


def _borrowed(kind: Any) -> Any:
    if isinstance(kind, types.Array):
        return BorrowedArray(kind.dtype, kind.ndim, kind.layout, readonly=not kind.mutable, aligned=kind.aligned)
    if not isinstance(kind, types.BaseNamedTuple):
        return kind
    parts = [_borrowed(each) for each in kind]
    if isinstance(kind, types.NamedUniTuple):
        return types.NamedUniTuple(parts[0], len(parts), kind.instance_class)
    return types.NamedTuple(parts, kind.instance_class)


def _disowned(context: Any, builder: Any, kind: Any, made: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        for place in range(_OWNERS):
            value = builder.insert_value(value, value.type.elements[place](None), place)
        return value
    if not isinstance(kind, types.BaseNamedTuple):
        return value
    parts = [builder.extract_value(value, place) for place in range(len(kind))]
    parts = [_disowned(context, builder, *each) for each in zip(kind, made, parts, strict=True)]
    return context.make_tuple(builder, made, parts)
