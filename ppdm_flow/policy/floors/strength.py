"""Which way is weaker: for each figure, word and list of the language that has one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.model import AUDIT as ANALYSES
from ppdm_flow.core.roles import Role, no_weaker
from ppdm_flow.core.supports import parsed
from ppdm_flow.policy.floor import STAR
from ppdm_flow.policy.language.kinds import kind_of
from ppdm_flow.policy.language.patterns import is_pattern, matches, overlap
from ppdm_flow.policy.language.shape import (
    FixedKeys,
    Key,
    ListOf,
    MapOf,
    Shape,
    SupportShape,
    as_written,
    at,
    key_at,
    model_for,
    stricter_signs,
)
from ppdm_flow.policy.text.nodes import PolicyPath

_ROLE = ("attributes", "*", "role")
_ENTRY = 3
"""The parts of the path of a key in a clause."""
_RELEASES = ("gates", "*", "releases")


def sign(path: PolicyPath) -> str | None:
    """Return ``>=`` or ``<=`` for a figure of which one side is weaker: the sign of a bound that forbids that side."""
    return next((s for pattern, s in stricter_signs(model_for(path)).items() if fits(pattern, path)), None)


def ordered(path: PolicyPath) -> tuple[str, ...]:
    """Return the words at ``path`` of which some are weaker than others; none where they cannot be compared."""
    if is_role(path):
        return tuple(Role)
    key = key_at(path)
    return () if key is None or key.words is None else key.words.words


def keeps(path: PolicyPath, word: str, than: str) -> bool:
    """Whether ``word`` at ``path`` is not weaker than ``than``."""
    if is_role(path):
        return word in tuple(Role) and no_weaker(Role(word), Role(than))
    words = ordered(path)
    return word in words and words.index(word) <= words.index(than)


def is_role(path: PolicyPath) -> bool:
    """Whether the role of an attribute stands at ``path``: of the policy, or of a linked table."""
    return fits(_ROLE, path) or fits(("tables", "*", *_ROLE), path)


def needed(path: PolicyPath) -> bool:
    """Whether the lack of an optional figure is weaker than any value of it."""
    key = key_at(path)
    return key is not None and key.stricter is not None and key.stricter.weaker_where_absent


def longer_is_stronger(path: PolicyPath) -> bool:
    """Whether a list with more in it demands more: protected values, sizes of itemsets, releases of a gate."""
    key, above = key_at(path), key_at(path[:-1]) if len(path) > _ENTRY else None
    own = key is not None and key.longer and isinstance(key.shape, ListOf)
    in_map = above is not None and above.longer and isinstance(above.shape, MapOf)
    return own or in_map or everything_where_absent(path)


def everything_where_absent(path: PolicyPath) -> bool:
    """Whether an absent list names everything that it could name."""
    return fits(_RELEASES, path)


def forms_groups(path: PolicyPath) -> bool:
    """Whether a requirement's groups are formed by the names at ``path``.

    More names make groups smaller, which demands more of any rows. That does not hold where a missing cell takes a row
    out of all groups or into several, nor for ordered distances, which no mixture keeps.
    """
    key = key_at(path) if path[0] == "privacy" else None
    return key is not None and key.groups and _mixes(path[1])


def _mixes(kind: str) -> bool:
    spec = kind_of(f"privacy.{kind}")
    return spec is None or spec.mixes


def counts_groups(kind: str) -> bool:
    """Whether requirements of a kind are on groups of rows: another reading of missing values makes other groups."""
    return any(key.groups for key, _ in _keys(_entry(kind), {}))


def groups_by_role(kind: str, body: Mapping[str, Any]) -> bool:
    """Whether the groups of a requirement are formed by all quasi-identifiers, since it names none."""
    return any(key.groups and not key.required and not is_said for key, is_said in _keys(_entry(kind), body))


def _entry(kind: str) -> Shape | None:
    shape = at(("privacy", kind))
    return shape.value if isinstance(shape, MapOf) else shape


def _keys(shape: Shape | None, body: Any) -> Iterator[tuple[Key, bool]]:
    """Yield the keys of an entry, and of models within it, each with whether the entry has it."""
    for name, key in shape.keys.items() if isinstance(shape, FixedKeys) else ():
        below = body.get(name) if isinstance(body, Mapping) else None
        yield key, below is not None
        yield from _keys(key.shape, below)
    if isinstance(shape, ListOf | MapOf):
        is_map = isinstance(body, Mapping) and isinstance(shape, MapOf)
        several = list(body.values()) if is_map else body if isinstance(body, list) else [body]
        for each in several or [None]:
            yield from _keys(shape.item if isinstance(shape, ListOf) else shape.value, each)


def fits(pattern: PolicyPath, path: PolicyPath) -> bool:
    """Whether a pattern (``*`` for any name) is about this path."""
    return len(path) == len(pattern) and all(a in ("*", b) for a, b in zip(pattern, path, strict=True))


# What requirements and gates rest on: they can be made to mean less without a word of theirs being changed.


_LEDGER = ("ledger",)
_NULLS = ("nulls",)
_PEOPLE = ("people",)
UNIT = (*_PEOPLE, "unit")
COUNTED_BY = frozenset({Role.SUBJECT, Role.WEIGHT, Role.SAMPLING_WEIGHT})
"""Roles by which rows count for people, or for several."""


def rests_on(path: PolicyPath, here: Any, tree: Any) -> Iterator[PolicyPath]:
    """Yield the other places of a template that what stands at ``path`` depends on.

    A floor on one value (a figure, a word or a list) depends on nothing else. A requirement on groups depends on the
    handling of missing values. It also depends on the roles of attributes if the requirement names no attributes, or if
    there is a ledger, which makes the same requirement of all releases together. Every requirement, and every gate,
    depends on which rows count together or for several; `UNIT` is the place for counting rows, as the template does.
    """
    if isinstance(here, Mapping) and path[0] == "privacy":
        stated = list(_requirements(path, here))
        grouped = [(kind, body) for kind, body in stated if counts_groups(kind)]
        ledger = value(tree, _LEDGER) is not MISSING
        if stated:
            yield from _counted_by(tree, by_people=all(_holds_by_rows(kind, body) for kind, body in stated))
        if grouped:
            yield _NULLS
            yield from (_LEDGER,) if ledger else ()
        if any(ledger or groups_by_role(kind, body) for kind, body in grouped):
            yield from _of_roles(tree, {Role.QUASI_IDENTIFIER})
    elif isinstance(here, Mapping) and path[0] == "gates":
        yield _NULLS
        yield from _counted_by(tree, by_people=False)
        yield from _of_roles(tree, {Role.QUASI_IDENTIFIER})
        yield from _audits(path, here)


def _counted_by(tree: Any, *, by_people: bool) -> Iterator[PolicyPath]:
    """Yield what says how rows count; ``by_people``: counting people in place of rows asks for as much or more."""
    yield from _of_roles(tree, COUNTED_BY)
    if not counts_rows(tree):
        yield _PEOPLE
    elif not by_people:
        yield UNIT


def counts_rows(tree: Any) -> bool:
    """Whether a policy counts rows, and not people."""
    return value(tree, _PEOPLE) is MISSING or value(tree, UNIT) == "rows"


def _holds_by_rows(kind: str, body: Mapping[str, Any]) -> bool:
    """Whether a requirement that holds of people holds of their rows, or of a table where people are not counted."""
    spec = kind_of(f"privacy.{kind}")
    return spec is not None and (not spec.requirement.counts_people or spec.holds_by_rows(body))


_NAMED = 3
"""Parts of ``privacy.KIND.NAME``."""


def _requirements(path: PolicyPath, here: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the kind of each whole requirement at ``path``, and what it says."""
    if not isinstance(here, Mapping):
        return
    if len(path) == 1 or (len(path) == 2 and isinstance(as_written(at(path), here), MapOf)):
        for name, below in here.items():
            yield from _requirements((*path, name), below)
    elif len(path) == 2 or (len(path) == _NAMED and key_at(path) is None):
        yield path[1], here


def _of_roles(tree: Any, roles: Collection[Role]) -> Iterator[PolicyPath]:
    tables = value(tree, ("tables",))
    below = (("tables", table, "attributes") for table in (tables if isinstance(tables, Mapping) else ()))
    for section in (("attributes",), *below):
        declared = value(tree, section)
        for name in declared if isinstance(declared, Mapping) else ():
            place = (*section, name, "role")
            role = value(tree, place)
            if isinstance(role, str) and role in roles:
                yield place


def _audits(path: PolicyPath, here: Mapping[str, Any]) -> Iterator[PolicyPath]:
    """Yield the audits, and the analyses, whose figures the gates at ``path`` bound."""
    for gate in here.values() if len(path) == 1 else (here,):
        metric = gate.get("metric") if isinstance(gate, Mapping) else None
        if isinstance(metric, str):
            owner, _, figure = metric.rpartition("/")[2].partition(".")
            yield "audits", owner
            if owner == ANALYSES:
                yield ("analyses", figure.partition(".")[0]) if "." in figure else ("analyses",)


# Which places of a policy a floor is about, and what stands there: written out, or by default.


MISSING = object()
"""What a place holds that states nothing and has no default."""


@dataclass(frozen=True, slots=True)
class FloorPlace:
    """A place that a floor is about; ``stated`` says whether the policy itself has it."""

    path: PolicyPath
    stated: bool


def fitting(tree: Any, pattern: PolicyPath, path: PolicyPath = ()) -> Iterator[FloorPlace]:
    """Yield the places of the tree that a floor's path fits; names with dots in them are taken whole.

    Where the path leads on to something that is not there, and has no more ``*``, that place is yielded too.
    """
    if not pattern:
        yield FloorPlace(path, stated=True)
        return
    if isinstance(tree, list):  # each of several must keep the floor
        for position, item in enumerate(tree):
            yield from fitting(item, pattern, (*path, str(position)))
        return
    below = list(_below(tree, pattern, path)) if isinstance(tree, Mapping) else []
    for name, rest in below:
        yield from fitting(tree[name], rest, (*path, name))
    if not below and STAR not in pattern:
        yield FloorPlace((*path, *pattern), stated=False)


def _below(tree: Mapping[str, Any], pattern: PolicyPath, path: PolicyPath) -> Iterator[tuple[str, PolicyPath]]:
    """Yield the names to follow, each with what is left of the pattern."""
    if path == ("attributes",):
        yield from ((name, pattern[1:]) for name in declaring(tree, pattern[0]))
        return
    for length in range(len(pattern), 0, -1):
        name = ".".join(pattern[:length])
        if name in tree:
            yield name, pattern[length:]
            return
    if pattern[0] == STAR:
        yield from ((name, pattern[1:]) for name in tree)


def declaring(attributes: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the keys under ``attributes:`` that may declare a column which ``name`` means.

    A column's own name goes before patterns; a pattern also means the columns that are named beside it.
    """
    if name == STAR:
        return tuple(attributes)
    patterns = [key for key in attributes if is_pattern(key)]
    if not is_pattern(name):
        return (name,) if name in attributes else tuple(p for p in patterns if matches(p, name))[:1]
    named = [key for key in attributes if not is_pattern(key) and matches(name, key)]
    return tuple(dict.fromkeys((*named, *(p for p in patterns if p == name or overlap(p, name)))))


def value(tree: Any, path: PolicyPath) -> Any:
    """Return what holds at ``path``: text, list or map, by default if need be; else ``MISSING``."""
    here = tree
    for position, part in enumerate(path):
        if isinstance(here, Mapping) and part in here:
            here = here[part]
        elif isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        elif position == len(path) - 1 and not isinstance(here, Mapping) and _is_amount(path[:-1]):
            return _in_unit(here, part)
        else:
            return _default(path, position)
    return here


def _is_amount(path: PolicyPath) -> bool:
    return isinstance(at(path), SupportShape)


def _in_unit(bare: Any, unit: str) -> Any:
    """A bare support has its unit by how it is written: ``20`` are rows, ``0.02`` is a share of them."""
    try:
        return str(parsed(bare).document[unit])
    except (ValueError, KeyError):
        return MISSING


def _default(path: PolicyPath, present: int) -> Any:
    """The default of a key, if all that is missing on the way to it is there by default as well."""
    model = model_for(path)
    for length in range(present, len(path)):
        shape = at(path[:length], model)
        key = shape.keys.get(path[length]) if isinstance(shape, FixedKeys) else None
        if key is None or not isinstance(shape, FixedKeys):
            return MISSING
        last = length == len(path) - 1
        if last and key.default is not None:
            return str(key.default).lower() if isinstance(key.default, bool) else _text(key.default)
        if last or shape.model.model_fields[key.field].default_factory is None:
            return MISSING
    return MISSING


def _text(default: Any) -> Any:
    return [str(i) for i in default] if isinstance(default, tuple) else str(default)


_DROP = "drop"


def handled(name: str, tree: Any) -> bool:
    """Whether a step names the attribute ``name`` (or, for a pattern, one that fits it): then its column may pass."""
    steps = tree.get("steps") if isinstance(tree, Mapping) else None
    each = steps.values() if isinstance(steps, Mapping) else ()
    return any(
        _names(step.get("with"), name) for step in each if isinstance(step, Mapping) and step.get("use") != _DROP
    )


def _names(tree: Any, name: str) -> bool:
    if isinstance(tree, str):
        return tree == name or (is_pattern(name) and matches(name, tree))
    if isinstance(tree, Mapping):
        return any(_names(key, name) or _names(below, name) for key, below in tree.items())
    return isinstance(tree, list) and any(_names(item, name) for item in tree)
