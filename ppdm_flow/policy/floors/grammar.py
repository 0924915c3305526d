"""What stands to the right of a floor's path: demands, joined by ``and``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ppdm_flow.policy.demands import (
    KEEPS_ALL,
    NOT_WEAKER,
    Demand,
    EqualTo,
    FigureBound,
    GroupsBy,
    HasAll,
    IsSet,
    IsUnset,
    NotWeaker,
    OneOf,
    RelativeDemand,
    SubsetOf,
)
from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.params import number_or_percentage
from ppdm_flow.policy.text.nodes import UnreadableError
from ppdm_flow.policy.text.parse import parse

_BOUND = re.compile(r"(>=|<=|>|<|==)\s*(\S.*)\Z", re.DOTALL)
_UNIT = re.compile(r"\{\s*(count|ratio)\s*:\s*([^\s{}]+)\s*\}\Z")
_AND = re.compile(r"\s+and\s+")
_LISTS: Mapping[str, Callable[[tuple[str, ...]], Demand]] = {k.begins: k for k in (OneOf, HasAll, SubsetOf, GroupsBy)}
_OPENING, _CLOSING = "[{", "]}"

NUMERIC = 'write a comparison and a number, such as ">= 5"'
HINT = (
    'write `">= 5"`, `is WORD`, `one of [A, B]`, `contains [A, B]`, `only [A, B]`, `keeps all`, `present`, `absent`'
    " or `not weaker`"
)


@lru_cache(maxsize=4096)
def demands(text: str) -> tuple[Demand | RelativeDemand, ...] | None:
    """Read the demands of one floor; None where one of them is none."""
    every = [_demand(part.strip()) for part in _parts(text)]
    return None if any(d is None for d in every) else tuple(d for d in every if d is not None)


def _demand(text: str) -> Demand | RelativeDemand | None:
    if text in ("present", "absent"):
        return IsSet() if text == "present" else IsUnset()
    for keeping in (NOT_WEAKER, KEEPS_ALL):
        if text == keeping.text:
            return keeping
    if bound := _BOUND.match(text):
        return _bound(bound[1], bound[2].strip())
    for word in ("is", *_LISTS):
        if text.startswith(f"{word} "):
            return _valued(word, _tree(text.removeprefix(word).strip()))
    return None


def _bound(sign: str, text: str) -> FigureBound | None:
    unit = _UNIT.match(text)
    written, name = (unit[2], unit[1]) if unit else (text, "")
    figure, percentage = number_or_percentage(written), written.endswith("%")
    if figure is None or (percentage and name == "count"):
        return None
    return FigureBound(sign, figure, name, percentage)


def _valued(word: str, tree: Any) -> Demand | None:
    if word == "is":
        return EqualTo.of(tree) if tree not in (None, "") else None
    if word == "not weaker than" and isinstance(tree, str):
        return NotWeaker(tree) if tree else None
    several = (tree,) if isinstance(tree, str) and word in ("contains", "only") else tree
    if not isinstance(several, list | tuple) or not several or not all(isinstance(i, str) for i in several):
        return None
    return _LISTS[word](tuple(several))


def _tree(text: str) -> Any:
    """A value or a list as YAML writes it in one line."""
    try:
        node, faults = parse(text, "")
    except UnreadableError:
        return None
    return None if node is None or faults else flatten(node).tree


def _parts(text: str) -> list[str]:
    """Split at each ``and`` that stands outside of brackets and quotes."""
    parts: list[str] = []
    begin = 0
    for joint in _AND.finditer(text):
        if _outside(text[begin : joint.start()]):
            parts.append(text[begin : joint.start()])
            begin = joint.end()
    return [*parts, text[begin:]]


def _outside(text: str) -> bool:
    depth, quote = 0, ""
    for mark in text:
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "\"'":
            quote = mark
        else:
            depth += (mark in _OPENING) - (mark in _CLOSING)
    return depth == 0 and not quote
