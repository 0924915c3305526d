"""Data classes that are made quickly: the standard library's, but for how three of their methods come about.

The standard library writes the methods of a data class as text and compiles each of them while a module is imported:
half a millisecond a class, and a program that answers in a quarter of a second imports two hundred. ``__eq__``,
``__hash__`` and ``__repr__`` need no text of their own: here they are closures over the fields. The constructor, and
what refuses to change a frozen object, are the standard library's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

_Values = Callable[[Any], tuple[Any, ...]]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  # to a type checker it is the very same
else:

    def dataclass(of: type | None = None, /, **options: bool) -> Any:
        """Make a data class, with the options and the behaviour of ``dataclasses.dataclass``."""
        return (lambda named: _made(named, options)) if of is None else _made(of, options)


def _made(of: type, options: dict[str, bool]) -> type:
    if options.get("order") or options.get("unsafe_hash"):
        return dataclasses.dataclass(**options)(of)  # seldom: not worth it
    made: Any = dataclasses.dataclass(**(options | {"eq": False, "repr": False}))(of)
    own = vars(made)
    fields = dataclasses.fields(made)
    if options.get("repr", True) and "__repr__" not in own:
        made.__repr__ = _shown
    if options.get("eq", True):
        hashed = "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)
        if "__eq__" not in own:
            made.__eq__ = _equality(_values([f.name for f in fields if f.compare]))
        if not hashed:
            of_hash = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
            made.__hash__ = _hashing(_values(of_hash)) if options.get("frozen") else None
    return made  # type: ignore[no-any-return]


def _values(names: list[str]) -> _Values:
    """Return what reads these fields of an object, as a tuple also where they are one or none."""
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        only = attrgetter(names[0])
        return lambda record: (only(record),)
    return lambda _record: ()


def _equality(values: _Values) -> Callable[[Any, Any], Any]:
    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hashing(values: _Values) -> Callable[[Any], int]:
    def hashed(self: Any) -> int:
        return hash(values(self))

    return hashed


@recursive_repr()
def _shown(self: Any) -> str:
    named = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(named)})"
