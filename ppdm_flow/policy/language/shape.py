"""The shape of the policy language, read off the models: which keys stand where, and what each takes."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, Field, create_model
from pydantic.fields import FieldInfo

from ppdm_flow.core.model import (
    EntryName,
    Flag,
    FormsGroups,
    MapOrModel,
    Model,
    MoreIsStricter,
    Name,
    OneOrNamed,
    StricterSide,
    StrongestFirst,
    one_or_more,
    text_or_texts,
)
from ppdm_flow.core.shares import bounds_share
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec, built_in, installed, kinds_among
from ppdm_flow.policy.language.models import Policy, Privacy


@dataclass(frozen=True, slots=True)
class Text:
    """A text; with ``choices`` one of them."""

    choices: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds; one that is a ``share`` may be written as a percentage."""

    integer: bool
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    share: bool = False


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; where ``single``, one item may be written without the list."""

    item: Shape
    least: int = 0
    single: bool = False


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from names of one's own choice; ``instead`` is what may stand in its place, if anything."""

    key: Text
    value: Shape
    least: int = 0
    instead: FixedKeys | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a fixed set.

    ``stricter`` says which side of a figure is stricter, ``words`` which words are stronger; None where none is.
    ``longer``: of a list, or a map of lists, more demands more. ``groups``: a list of what forms groups of rows.
    ``description`` and ``example`` are what the field says of itself, if it does.
    """

    name: str
    field: str
    shape: Shape
    required: bool
    default: Any = None
    stricter: StricterSide | None = None
    words: StrongestFirst | None = None
    longer: bool = False
    groups: bool = False
    description: str = ""
    example: Any = None


@dataclass(frozen=True, slots=True)
class FixedKeys:
    """A map with a fixed set of keys: a model.

    Where ``named``, several may stand in its place, by name; ``instead`` is a word that may, if there is one.
    """

    model: type[BaseModel]
    keys: Mapping[str, Key]
    named: bool = False
    instead: str = ""


@dataclass(frozen=True, slots=True)
class FreeShape:
    """Anything: a plugin says what."""


@dataclass(frozen=True, slots=True)
class SupportShape:
    """A support: rows or a share, in a map of one key or bare."""

    count: Number = Number(integer=True, ge=1)
    ratio: Number = Number(integer=False, gt=0, le=1, share=True)


Shape = Text | Number | ListOf | MapOf | FixedKeys | FreeShape | SupportShape


@cache
def shape_of(model: type[BaseModel]) -> FixedKeys:
    """Return the keys of a model."""
    keys = {}
    for field, info in model.model_fields.items():
        name = info.alias or field
        has_default = not info.is_required() and info.default_factory is None and info.default != ()
        marks = {type(mark): mark for mark in info.metadata}
        default = info.default if has_default else None
        keys[name] = Key(
            name,
            field,
            _field(info),
            info.is_required(),
            default,
            marks.get(StricterSide),
            marks.get(StrongestFirst),
            MoreIsStricter in marks,
            FormsGroups in marks,
            info.description or "",
            next(iter(info.examples or ()), None),
        )
    return FixedKeys(model, keys, instead=model.instead if issubclass(model, Model) else "")


def at(path: tuple[str, ...], model: type[BaseModel] | None = None) -> Shape | None:
    """Return what stands at ``path``, of a policy or another model, or None where the language has nothing."""
    shape: Shape | None = shape_of(model or model_for(path))
    for part in path:
        shape = _below(shape, part)
    return shape


def as_written(shape: Shape | None, tree: Any) -> Shape | None:
    """Return the shape that a tree has where it may have two: several entries by name in place of one are a map."""
    if isinstance(shape, MapOf) and shape.instead is not None and isinstance(tree, Mapping):
        single = any(name in shape.instead.keys and isinstance(each, str) for name, each in tree.items())
        return shape.instead if single else shape
    named = isinstance(shape, FixedKeys) and shape.named and isinstance(tree, Mapping) and bool(tree)
    if named and isinstance(shape, FixedKeys) and shape.keys.keys().isdisjoint(tree):
        return MapOf(Text(), replace(shape, named=False))
    return shape


def _below(shape: Shape | None, part: str) -> Shape | None:
    """Return what stands at ``part`` of something of this shape."""
    if isinstance(shape, ListOf) and shape.single and not part.isdecimal():
        shape = shape.item
    if isinstance(shape, FixedKeys):
        if part in shape.keys:
            return shape.keys[part].shape
        return replace(shape, named=False) if shape.named else None
    if isinstance(shape, MapOf):
        return shape.value
    if isinstance(shape, ListOf):
        return shape.item
    if isinstance(shape, SupportShape):
        return {"count": shape.count, "ratio": shape.ratio}.get(part)
    return shape if isinstance(shape, FreeShape) else None


def key_at(path: tuple[str, ...]) -> Key | None:
    """Return the key of a policy at ``path``; None where that is a name of one's own choice, or nothing."""
    above = at(path[:-1], model_for(path)) if path else None
    return above.keys.get(path[-1]) if isinstance(above, FixedKeys) else None


@cache
def stricter_signs(model: type[BaseModel]) -> Mapping[tuple[str, ...], str]:
    """Return the sign of a bound that forbids the weaker side, by the place of each figure (``*`` for any name)."""
    return dict(_signs(shape_of(model), ()))


def _signs(shape: Shape, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(shape, FixedKeys):
        for name, key in shape.keys.items():
            if key.stricter is not None:
                yield (*place, name), key.stricter.sign
            yield from _signs(key.shape, (*place, name))
        if shape.named:
            yield from _signs(replace(shape, named=False), (*place, "*"))
    elif isinstance(shape, MapOf):
        yield from _signs(shape.value, (*place, "*"))
    elif isinstance(shape, ListOf) and shape.single:
        yield from _signs(shape.item, place)


def placed(loc: Iterable[str | int], tree: Any) -> tuple[str, ...]:
    """Return the place of a fault of pydantic's. An item in place of a list of one has no position there."""
    path: list[str] = []
    node = tree
    for part in loc:
        if part == "" or (isinstance(part, int) and isinstance(node, Mapping)):
            continue
        path.append(str(part))
        below = isinstance(node, Mapping) and part in node
        node = node[part] if below or (isinstance(part, int) and isinstance(node, list)) else None
    return tuple(path)


@cache
def homes(model: type[BaseModel] | None = None) -> Mapping[str, tuple[str, ...]]:
    """Return for each key of the language the dotted places that it may stand under (``""`` is the top)."""
    places_by_key: dict[str, list[str]] = {}
    for place, name in _walk(shape_of(model or policy_model()), ()):
        places_by_key.setdefault(name, []).append(".".join(place))
    return {name: tuple(places) for name, places in places_by_key.items()}


def _walk(shape: Shape, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(shape, FixedKeys):
        for name, key in shape.keys.items():
            yield place, name
            yield from _walk(key.shape, (*place, name))
    elif isinstance(shape, MapOf):
        yield from _walk(shape.value, (*place, "<name>"))
    elif isinstance(shape, ListOf):
        yield from _walk(shape.item, place)


def _field(info: FieldInfo) -> Shape:
    return _annotation(info.annotation, tuple(info.metadata))


def _annotation(annotation: Any, constraints: tuple[Any, ...] = ()) -> Shape:
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        if annotation == Flag:
            return Text(("true", "false"))
        return _annotation(inner, (*_flat(metadata), *constraints))
    if get_origin(annotation) in (Union, types.UnionType):
        first, *others = (_annotation(a, constraints) for a in get_args(annotation) if a is not type(None))
        # a text beside one that is spelled out may be any: `Literal[""] | str`
        return next((each for each in others if first == Text(("",)) and isinstance(each, Text)), first)
    if get_origin(annotation) is Literal:
        return Text(tuple(get_args(annotation)))
    if get_origin(annotation) is tuple:
        single = any(getattr(c, "func", None) in (one_or_more, text_or_texts) for c in constraints)
        return ListOf(_annotation(get_args(annotation)[0]), _bound(constraints, "min_length") or 0, single)
    if any(isinstance(c, OneOrNamed) for c in constraints):
        return replace(shape_of(get_args(annotation)[1]), named=True)
    if get_origin(annotation) is dict:
        return _map(annotation, constraints)
    return _plain(annotation, constraints)


def _map(annotation: Any, constraints: tuple[Any, ...]) -> Shape:
    key, value = get_args(annotation)
    if value is object:
        return FreeShape()
    key_shape = _annotation(key)
    return MapOf(
        key_shape if isinstance(key_shape, Text) else Text(),
        _annotation(value),
        _bound(constraints, "min_length") or 0,
        next((shape_of(each.model) for c in constraints if (each := _map_or_model(c)) is not None), None),
    )


def _map_or_model(constraint: Any) -> MapOrModel | None:
    function = getattr(constraint, "func", constraint)
    return function if isinstance(function, MapOrModel) else None


def _plain(annotation: Any, constraints: tuple[Any, ...]) -> Shape:
    if annotation is bool:
        return Text(("true", "false"))
    if annotation in (int, float):
        ends = {name: _bound(constraints, name) for name in ("ge", "gt", "le", "lt")}
        return Number(annotation is int, **ends, share=annotation is float and any(map(bounds_share, constraints)))
    if annotation is SupportBound:
        return SupportShape()
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Text(tuple(str(member.value) for member in annotation))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return shape_of(annotation)
    if annotation is str:
        return Text(pattern=_bound(constraints, "pattern"))
    return FreeShape()


def _flat(metadata: list[Any]) -> tuple[Any, ...]:
    """A ``Field(...)`` inside of ``Annotated`` holds its constraints in its own metadata."""
    constraints: list[Any] = []
    for each in metadata:
        constraints.extend(each.metadata if isinstance(each, FieldInfo) else [each])
    return tuple(constraints)


def _bound(constraints: tuple[Any, ...], name: str) -> Any:
    return next((getattr(c, name) for c in constraints if getattr(c, name, None) is not None), None)


# The model of a policy with the kinds of requirements that are installed.


def policy_model(named: Iterable[str] | None = None) -> type[Policy]:
    """Return the model of a policy that takes these kinds, as far as they are installed; all built-in ones if None."""
    return _model(None if named is None else installed().intersection(named))


def whole_model(named: Iterable[str]) -> type[Policy]:
    """Return the model that takes the built-in kinds, and those of other packages that are among ``named``."""
    return policy_model((*(spec.name for spec in built_in()), *named))


def kinds_named(tree: Any) -> frozenset[str]:
    """Return the names under ``privacy:`` in a policy's tree, known or not."""
    privacy = tree.get("privacy") if isinstance(tree, Mapping) else None
    return frozenset(str(key) for key in privacy) if isinstance(privacy, Mapping) else frozenset()


def model_for(path: tuple[str, ...]) -> type[Policy]:
    """Return a model of a policy that has all keys of the language at ``path``.

    Of the kinds of requirements it has only the one in the path. A caller who walks down a path asks for the model of
    all of it: that of ``privacy`` itself has every kind, which are then imported.
    """
    if path == ("privacy",):
        return policy_model()
    return policy_model(path[1:2] if path[:1] == ("privacy",) else ())


@cache
def _model(kinds: frozenset[str] | None) -> type[Policy]:
    specs = built_in() if kinds is None else kinds_among(kinds)
    fields: dict[str, Any] = {s.name: _privacy_field(s) for s in specs if s.written}
    privacy = create_model("Privacy", __base__=Privacy, __doc__=Privacy.__doc__, **fields)
    privacy_field: Any = (privacy, Field(default_factory=privacy))
    return create_model("Policy", __base__=Policy, __doc__=Policy.__doc__, privacy=privacy_field)


def _privacy_field(spec: RequirementSpec) -> Any:
    clause: Any = spec.requirement
    if spec.entries is Entries.ONCE:
        one = OneOrNamed(clause)
        return (Annotated[dict[EntryName, clause], one, BeforeValidator(one)], Field(default_factory=dict))
    by_name: Any = dict[Name, clause] if spec.entries is Entries.BY_NAME else dict[str, clause]
    return (by_name, Field(default_factory=dict))
