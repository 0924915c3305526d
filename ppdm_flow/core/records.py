"""Data classes that are made quickly: the standard library's, but for how most of their methods come about.

The standard library writes the methods of a data class as text and compiles each of them while a module is imported:
half a millisecond a class, and a program that answers in a quarter of a second imports two hundred. Only a constructor
needs a text of its own. The other methods are closures over the fields here, with the standard library's behaviour.
What is seldom (an order, a field that no constructor takes, a data class that extends another) is left to it.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

_Fields = Sequence[Field[Any]]
_Values = Callable[[Any], tuple[Any, ...]]
_PLAIN_OPTIONS = {"frozen", "slots", "eq", "repr"}
_OWN_METHODS = {"__init__", "__setattr__", "__delattr__", "__getstate__", "__setstate__"}
_HELPER = "_record_"
"""How the names begin that a constructor needs besides those of the fields."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  # to a type checker it is the very same
else:

    def dataclass(of: type | None = None, /, **options: bool) -> Any:
        """Make a data class, with the options and the behaviour of ``dataclasses.dataclass``."""
        return (lambda named: _made(named, options)) if of is None else _made(of, options)


def _made(of: type, options: dict[str, bool]) -> type:
    if options.get("order") or options.get("unsafe_hash"):
        return dataclasses.dataclass(**options)(of)
    bare = options | {"eq": False, "repr": False}
    made: Any
    if options.get("frozen") and _is_plain(of, options):
        made = dataclasses.dataclass(**(bare | {"frozen": False, "init": False}))(of)
        _freeze(made, slots=options.get("slots", False))
    else:
        made = dataclasses.dataclass(**bare)(of)
    _compare_and_show(made, options)
    return made  # type: ignore[no-any-return]


def _is_plain(of: type, options: dict[str, bool]) -> bool:
    """Whether the class extends no data class, and its constructor takes every field, by place or by name."""
    names = inspect.get_annotations(of)
    return (
        options.keys() <= _PLAIN_OPTIONS
        and not _OWN_METHODS & vars(of).keys()
        and not any(dataclasses.is_dataclass(base) for base in of.__mro__[1:])
        and not any("InitVar" in str(kind) or "KW_ONLY" in str(kind) for kind in names.values())
        and not any(name == "self" or name.startswith(_HELPER) for name in names)
        and all(f.init and f.kw_only in (MISSING, False) for f in vars(of).values() if isinstance(f, Field))
    )


def _freeze(made: Any, *, slots: bool) -> None:
    """Give the class its constructor, and what refuses to change its objects once they are made."""
    fields = dataclasses.fields(made)
    names = frozenset(f.name for f in fields)

    def refuse_to_set(self: Any, name: str, value: Any) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def refuse_to_delete(self: Any, name: str) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    made.__init__ = _constructor(made, fields)
    made.__setattr__ = refuse_to_set
    made.__delattr__ = refuse_to_delete
    if slots:
        made.__getstate__ = _state
        made.__setstate__ = _restore
    made.__dataclass_params__.frozen = True  # a frozen data class may extend it


def _constructor(made: Any, fields: _Fields) -> Callable[..., None]:
    """Compile ``__init__``: nothing but a text gives a function its parameters, and is as fast."""
    scope: dict[str, Any] = {f"{_HELPER}set": object.__setattr__, f"{_HELPER}new": _New()}
    parameters, lines = ["self"], []
    for f in fields:
        parameter = given = f.name
        if f.default is not MISSING:
            scope[f"{_HELPER}default_{f.name}"] = f.default
            parameter += f"={_HELPER}default_{f.name}"
        elif f.default_factory is not MISSING:
            scope[f"{_HELPER}factory_{f.name}"] = f.default_factory
            parameter += f"={_HELPER}new"
            given = f"{_HELPER}factory_{f.name}() if {f.name} is {_HELPER}new else {f.name}"
        elif "=" in parameters[-1]:
            raise TypeError(f"non-default argument {f.name!r} follows default argument")
        parameters.append(parameter)
        lines.append(f"  {_HELPER}set(self,{f.name!r},{given})")
    if hasattr(made, "__post_init__"):
        lines.append("  self.__post_init__()")
    maker = [f"def make({','.join(scope)}):", f" def __init__({','.join(parameters)}):", *(lines or ["  pass"])]
    module = sys.modules.get(made.__module__)
    compiled: dict[str, Any] = {}
    exec("\n".join([*maker, " return __init__"]), vars(module) if module else {}, compiled)  # noqa: S102  # names alone
    init = compiled["make"](**scope)
    init.__qualname__ = f"{made.__qualname__}.__init__"
    init.__annotations__ = {f.name: f.type for f in fields} | {"return": None}
    return init  # type: ignore[no-any-return]


class _New:
    """The default of a parameter that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)


def _compare_and_show(made: Any, options: dict[str, bool]) -> None:
    """Give the class ``__eq__``, ``__hash__`` and ``__repr__``, where it has none of its own and the options ask."""
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
