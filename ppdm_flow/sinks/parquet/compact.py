"""Thrift's compact protocol, in which a Parquet file's footer is written: structs read, changed and written again.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STRUCT = 12
_LIST, _BINARY, _DOUBLE = 9, 8, 7
_BYTE = 3
_FLAGS = (1, 2)
_INTEGERS = (4, 5, 6)
_SHORT = 15
_BITS = 7
_MORE = 1 << _BITS
_DOUBLE_BYTES = 8


@dataclass(frozen=True, slots=True)
class ListValue:
    """The values of a list, all of one type of the protocol."""

    kind: int
    values: list[Any]


Struct = dict[int, tuple[int, Any]]
"""The fields of a struct by their number, in the order of the file: each one's type, and its value.

Integers are ``int``; texts, single bytes and doubles the ``bytes`` of the file; booleans, whose type is their value,
None in a struct and ``bytes`` in a list; the others :class:`ListValue` or a struct again.
"""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self._byte():
            kind = head & _SHORT
            number = number + (head >> 4) if head > _SHORT else self._integer()
            fields[number] = kind, None if kind in _FLAGS else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _LIST:
            head = self._byte()
            size = head >> 4
            if size == _SHORT:
                size = self._varint()
            return ListValue(head & _SHORT, [self._value(head & _SHORT) for _ in range(size)])
        if kind == STRUCT:
            return self.struct()
        if kind == _BYTE or kind in _FLAGS:
            return self._bytes(1)
        if kind == _DOUBLE:
            return self._bytes(_DOUBLE_BYTES)
        raise ValueError(f"type {kind} of the compact protocol is not one of a Parquet footer")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = self._byte()
        if value < _MORE:  # most are
            return value
        value, shift = value & (_MORE - 1), _BITS
        while (byte := self._byte()) >= _MORE:
            value |= (byte & (_MORE - 1)) << shift
            shift += _BITS
        return value | byte << shift

    def _byte(self) -> int:
        byte = self._data[self.place]
        self.place += 1
        return byte

    def _bytes(self, size: int) -> bytes:
        begin, self.place = self.place, self.place + size
        if self.place > len(self._data):
            raise IndexError
        return self._data[begin : self.place]


def decode(data: bytes) -> Struct:
    """Return the struct that ``data`` is, to its last byte. Raises ValueError where it is none."""
    reader = _Reader(data)
    try:
        struct = reader.struct()
    except IndexError:
        raise ValueError("a Parquet footer ends within a value") from None
    if reader.place != len(data):
        raise ValueError(f"a Parquet footer has {len(data) - reader.place} bytes after its end")
    return struct


def encode(struct: Struct) -> bytes:
    """Return the struct in the compact protocol, as :func:`decode` takes it."""
    out = bytearray()
    _put_struct(out, struct)
    return bytes(out)


def _put_struct(out: bytearray, struct: Struct) -> None:
    last = 0
    for number, (kind, value) in struct.items():
        if 0 < number - last <= _SHORT:
            out.append((number - last) << 4 | kind)
        else:
            out.append(kind)
            _put_integer(out, number)
        if value is not None:
            _put(out, kind, value)
        last = number
    out.append(0)


def _put(out: bytearray, kind: int, value: Any) -> None:
    if kind in _INTEGERS:
        _put_integer(out, value)
    elif kind == STRUCT:
        _put_struct(out, value)
    elif kind == _LIST:
        size = len(value.values)
        out.append(min(size, _SHORT) << 4 | value.kind)
        if size >= _SHORT:
            _put_varint(out, size)
        for item in value.values:
            _put(out, value.kind, item)
    else:
        if kind == _BINARY:
            _put_varint(out, len(value))
        out += value


def _put_integer(out: bytearray, value: int) -> None:
    _put_varint(out, value << 1 if value >= 0 else ~value << 1 | 1)


def _put_varint(out: bytearray, value: int) -> None:
    while value >= _MORE:
        out.append(value & (_MORE - 1) | _MORE)
        value >>= _BITS
    out.append(value)
