"""What a level of groups looks like: boxes with what is in them, and what is in none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ppdm_flow.page.services.hierarchies.grouping import ValueGrouping

_SHOWN = 200
_SHOWN_IN_BOX = 60
_SHOWN_BOXES = 100
_SHOWN_INSIDE = 20


@dataclass(frozen=True, slots=True)
class Member:
    """A value, or on higher levels a group; ``rows`` is None where nothing was counted.

    ``inside`` are values of a group, ``more`` those that are not shown.
    """

    name: str
    rows: int | None
    inside: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    """A group; ``more`` members are not shown."""

    name: str
    rows: int | None
    size: int
    members: tuple[Member, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Board:
    """One level of a grouping. ``groups`` are the names of all that a member can be put into."""

    level: int
    height: int
    free: tuple[Member, ...]
    free_more: int
    boxes: tuple[Box, ...]
    boxes_more: int
    groups: tuple[str, ...]


def board(grouping: ValueGrouping, level: int, counts: Mapping[str, int] | None, search: str) -> Board:
    """Return a level as it is shown; of members, those that have ``search`` in their name."""
    below = None if counts is None else grouping.rows(counts, level)
    above = None if counts is None else grouping.rows(counts, level + 1)
    groups = grouping.groups(level)
    single = {name for name, members in groups.items() if members == [name]}
    inside = _values_inside(grouping, level)
    free = _members([name for name in groups if name in single], below, search, inside)
    made = [name for name in groups if name not in single]
    boxes = [
        _box(name, _members(groups[name], below, search, inside), len(groups[name]), above)
        for name in made[:_SHOWN_BOXES]
    ]
    return Board(
        level,
        len(grouping.parents),
        free[:_SHOWN],
        max(0, len(free) - _SHOWN),
        tuple(boxes),
        max(0, len(made) - _SHOWN_BOXES),
        tuple(made),
    )


def _box(name: str, shown: tuple[Member, ...], size: int, above: Mapping[str, int] | None) -> Box:
    rows = None if above is None else above[name]
    return Box(name, rows, size, shown[:_SHOWN_IN_BOX], max(0, len(shown) - _SHOWN_IN_BOX))


def _members(
    names: Sequence[str], rows: Mapping[str, int] | None, search: str, inside: Mapping[str, Sequence[str]]
) -> tuple[Member, ...]:
    sought = search.strip().casefold()
    shown = [name for name in names if sought in name.casefold()]
    if rows is not None:
        shown.sort(key=lambda name: -rows[name])
    return tuple(_member(name, rows, inside.get(name, ())) for name in shown)


def _member(name: str, rows: Mapping[str, int] | None, inside: Sequence[str]) -> Member:
    values = () if list(inside) == [name] else tuple(inside)
    many = None if rows is None else rows[name]
    return Member(name, many, values[:_SHOWN_INSIDE], max(0, len(values) - _SHOWN_INSIDE))


def _values_inside(grouping: ValueGrouping, level: int) -> dict[str, list[str]]:
    """Return the values of each member of a level above the first."""
    inside: dict[str, list[str]] = {}
    if level:
        for value, above in grouping.lines().items():
            inside.setdefault(above[level - 1], []).append(value)
    return inside
