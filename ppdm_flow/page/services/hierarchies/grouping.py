"""Values in groups, groups in larger ones: a hierarchy while somebody makes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.texts import visible_line

TOP = "*"
_SUPPRESSED = "⊥"
_LONGEST = 200
_MOST_LEVELS = 8


class UnusableGroupError(ValueError):
    """A change that would make no hierarchy; ``key`` names the sentence that says why."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = f"hierarchies.{key}"


@dataclass(frozen=True, slots=True)
class ValueGrouping:
    """``parents[0]`` has the group of each value, ``parents[1]`` the larger one of each group, and so on.

    What is in no group is one by itself, of its own name. One label for all stands above the last level.
    """

    parents: tuple[Mapping[str, str], ...]

    @property
    def values(self) -> tuple[str, ...]:
        """All values."""
        return tuple(self.parents[0])

    def groups(self, level: int) -> dict[str, list[str]]:
        """Return the groups of a level (0 is the first above the values) with what is directly in them."""
        groups: dict[str, list[str]] = {}
        for member, group in self.parents[level].items():
            groups.setdefault(group, []).append(member)
        return groups

    def single(self, level: int) -> list[str]:
        """Return what is in no group of a level but one of its own name."""
        return [group for group, members in self.groups(level).items() if members == [group]]

    def rows(self, counts: Mapping[str, int], level: int) -> dict[str, int]:
        """Return the rows below each member of a level: of values on level 0, of groups above."""
        rows = {value: counts.get(value, 0) for value in self.values}
        for parents in self.parents[:level]:
            above: dict[str, int] = {}
            for member, group in parents.items():
                above[group] = above.get(group, 0) + rows[member]
            rows = above
        return rows

    def lines(self) -> dict[str, tuple[str, ...]]:
        """Return each value with its ancestors, ``*`` last."""
        lines = {}
        for value in self.values:
            above = [value]
            for parents in self.parents:
                above.append(parents[above[-1]])
            lines[value] = (*above[1:], TOP)
        return lines

    def moved(self, level: int, members: Collection[str], group: str) -> ValueGrouping:
        """Return the grouping with some members of a level in a group, a new one or not.

        Raises UnusableGroupError for what is no member of the level, and for a name that no group can have.
        """
        parents = self.parents[level]
        if not members or not all(member in parents for member in members):
            raise UnusableGroupError("no_members")
        if group not in set(parents.values()):
            _refuse_name(group)
        return self._with(level, {**parents, **dict.fromkeys(members, group)})

    def renamed(self, level: int, group: str, name: str) -> ValueGrouping:
        """Return the grouping with another name for a group. Raises UnusableGroupError."""
        members = self.groups(level).get(group, [])
        if name != group and name in set(self.parents[level].values()):
            raise UnusableGroupError("name_taken")
        return self.moved(level, members, name)

    def dissolved(self, level: int, group: str) -> ValueGrouping:
        """Return the grouping without a group: its members are in no group again."""
        members = self.groups(level).get(group, [])
        return self.freed(level, members)

    def freed(self, level: int, members: Collection[str]) -> ValueGrouping:
        """Return the grouping with some members of a level in no group. Raises UnusableGroupError."""
        if not members or not all(member in self.parents[level] for member in members):
            raise UnusableGroupError("no_members")
        return self._with(level, {**self.parents[level], **{member: member for member in members}})

    def raised(self) -> ValueGrouping:
        """Return the grouping with one more level, on which nothing is put together yet."""
        if len(self.parents) >= _MOST_LEVELS:
            raise UnusableGroupError("too_many_levels")
        return ValueGrouping((*self.parents, {group: group for group in self.groups(len(self.parents) - 1)}))

    def lowered(self) -> ValueGrouping:
        """Return the grouping without its last level."""
        if len(self.parents) == 1:
            raise UnusableGroupError("one_level")
        return ValueGrouping(self.parents[:-1])

    def over(self, values: Iterable[str]) -> ValueGrouping:
        """Return the grouping with these values too: new values are in no group."""
        lines = {value: above[:-1] for value, above in self.lines().items()}
        height = len(self.parents)
        for value in values:
            lines.setdefault(value, (value,) * height)
        return _of(lines, height)

    def _with(self, level: int, changed: Mapping[str, str]) -> ValueGrouping:
        """Return the grouping with other groups on a level; what is above follows. Raises UnusableGroupError."""
        every = [*self.parents[:level], changed]
        before = self.lines()
        labels = {value: above[level - 1] if level else value for value, above in before.items()}
        for place, above in enumerate(self.parents[level + 1 :], start=level + 1):
            labels = {value: every[-1][label] for value, label in labels.items()}
            were: dict[str, set[str]] = {}
            for value, label in labels.items():
                were.setdefault(label, set()).add(before[value][place])
            sizes = Counter(above.values())
            every.append({g: above[g] if g in above else _place(g, were[g], sizes, above) for g in were})
        made = ValueGrouping(tuple(every))
        made._refuse_lies()
        return made

    def _refuse_lies(self) -> None:
        """Raise UnusableGroupError where a group is called like a value, or a smaller group, that is not in it."""
        for parents in self.parents:
            if any(parents.get(group, group) != group for group in parents.values()):
                raise UnusableGroupError("name_of_other")
        lines = self.lines()
        for value, above in lines.items():
            for level, group in enumerate(above):
                if group != value and group in lines and lines[group][level] != group:
                    raise UnusableGroupError("name_of_other")


def _place(group: str, places: set[str], sizes: Mapping[str, int], above: Mapping[str, str]) -> str:
    """Return the parent of a new group: the one that all its values had, otherwise the group itself."""
    if len(places) > 1:
        return group
    (place,) = places
    alone = sizes[place] == 1 and above.get(place) == place
    return group if alone else place


def _refuse_name(name: str) -> None:
    if not name or name != name.strip() or len(name) > _LONGEST or visible_line(name) != name:
        raise UnusableGroupError("name_unusable")
    if name in (TOP, _SUPPRESSED):
        raise UnusableGroupError("name_reserved")


def flat(values: Iterable[str]) -> ValueGrouping:
    """Return the grouping in which every value is in no group."""
    return ValueGrouping(({value: value for value in values},))


def grouped(lines: Mapping[str, Sequence[str]]) -> ValueGrouping:
    """Return the grouping of a hierarchy that is there; its ``*`` is left out.

    Raises UnusableGroupError where a level puts apart what the one below puts together.
    """
    height = min((len(above) for above in lines.values()), default=0)
    while height and {above[height - 1] for above in lines.values()} == {TOP}:
        height -= 1
    if not height:
        return flat(lines)
    return _of({value: tuple(above[:height]) for value, above in lines.items()}, height)


def _of(lines: Mapping[str, Sequence[str]], height: int) -> ValueGrouping:
    levels: list[dict[str, str]] = [{} for _ in range(height)]
    for value, above in lines.items():
        below = value
        for level, group in zip(levels, above, strict=True):
            if level.setdefault(below, group) != group:
                raise UnusableGroupError("splits")
            below = group
    return ValueGrouping(tuple(levels))


# Hierarchies that a rule says: read from a form or a policy, tried on counted values.


UNITS = ("month", "quarter", "year", "decade")
_SHOWN = 50
_MOST = 20


@dataclass(frozen=True, slots=True)
class GroupingRule:
    """What a form says, as text: ``by`` is one of prefix, date and order."""

    by: str = ""
    keep: str = ""
    mask: str = "*"
    units: tuple[str, ...] = ()
    format: str = ""
    order: tuple[str, ...] = ()
    then: str = ""

    def hierarchy(self) -> dict[str, object]:
        """Return the rule in the policy language. Raises UnusableGroupError where it says no hierarchy."""
        if self.by == "prefix":
            return self._prefix()
        if self.by == "date":
            units = [unit for unit in UNITS if unit in self.units]
            if not units:
                raise UnusableGroupError("wrong_units")
            return {"date": units} | ({"format": self.format} if self.format else {})
        if self.by == "order":
            if len(self.order) < 2 or len(set(self.order)) < len(self.order):
                raise UnusableGroupError("wrong_order")
            return {"order": list(self.order), "then": numbers(self.then, 2, "no_join")}
        raise UnusableGroupError("no_rule")

    def _prefix(self) -> dict[str, object]:
        keep = numbers(self.keep, 0, "wrong_keep")
        if any(above >= below for below, above in pairwise(keep)):
            raise UnusableGroupError("wrong_keep")
        if len(self.mask) != 1:
            raise UnusableGroupError("wrong_mask")
        return {"prefix": keep} | ({"mask": self.mask} if self.mask != "*" else {})


@dataclass(frozen=True, slots=True)
class LevelLabels:
    """The labels of one level with their rows, the most frequent first; ``more`` are not shown."""

    labels: tuple[tuple[str, int], ...]
    more: int
    fewest: int


def numbers(text: str, least: int, key: str) -> list[int]:
    """Return whole numbers of at least so much, separated by commas or spaces. Raises UnusableGroupError."""
    words = text.replace(",", " ").split()
    if not 0 < len(words) <= _MOST or not all(w.isascii() and w.isdigit() and len(w) < 5 for w in words):
        raise UnusableGroupError(key)
    if any(int(word) < least for word in words):
        raise UnusableGroupError(key)
    return [int(word) for word in words]


def tried(column: str, rule: Mapping[str, object], counts: Mapping[str, int]) -> list[LevelLabels]:
    """Return what becomes of counted values. Raises PluginError, in counts alone, where some have no place."""
    from ppdm_flow.mining.hierarchies.building import of_spec  # noqa: PLC0415  # pyarrow stands behind it

    given = {key: tuple(value) if isinstance(value, list) else value for key, value in rule.items()}
    lines = of_spec(column, HierarchySpec(**given), tuple(counts))  # type: ignore[arg-type]  # made by `hierarchy`
    return [_level(labels, counts) for labels in zip(*lines.values(), strict=True)]


def _level(labels: Sequence[str], counts: Mapping[str, int]) -> LevelLabels:
    rows: dict[str, int] = {}
    for label, many in zip(labels, counts.values(), strict=True):
        rows[label] = rows.get(label, 0) + many
    ordered = sorted(rows.items(), key=lambda each: -each[1])
    return LevelLabels(tuple(ordered[:_SHOWN]), max(0, len(ordered) - _SHOWN), min(rows.values()))
