"""Which places of a policy a floor is about, and what stands there: written out, or by default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.supports import parsed
from ppdm_flow.policy.floor import STAR
from ppdm_flow.policy.language.patterns import is_pattern, matches, overlap
from ppdm_flow.policy.language.privacy import model_for
from ppdm_flow.policy.language.shape import FixedKeys, SupportShape, at
from ppdm_flow.policy.text.nodes import PolicyPath

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
