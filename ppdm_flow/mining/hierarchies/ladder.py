"""A ladder of coarser and coarser maps: the common form of every hierarchy that a policy may declare."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.hierarchies.coarsening import Coarsening, UnplacedError
from ppdm_flow.mining.hierarchies.intervals import Intervals, joined
from ppdm_flow.tables.column import SUPPRESSED_TEXT

_DELIMITERS = ";,\t|"
Lines = Mapping[str, tuple[str, ...]]
"""Each value's ancestors, nearest first."""
Labels = tuple[str, ...]
Spans = tuple[int, ...]


def ordered(values: Sequence[str], then: Sequence[int]) -> Lines:
    """Return the ancestors of ordered values: on each level so many neighbours of the one below are one.

    The last group of a level is what is left. Everything together is ``*``.

    >>> ordered(["none", "mild", "strong"], [2])["mild"]
    ('none to mild', '*')
    """
    above: dict[str, list[str]] = {value: [] for value in values}
    size = 1
    for together in then:
        size *= together
        if size >= len(values):
            break
        for start in range(0, len(values), size):
            group = values[start : start + size]
            for value in group:
                above[value].append(group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}")
    return {value: (*labels, "*") for value, labels in above.items()}


@dataclass(frozen=True, slots=True)
class Ladder:
    """``rungs[l - 1]`` maps values to their labels on level l; level 0 are the values themselves.

    ``leaves`` are all values, where the hierarchy lists them: then its own last level is its top. Otherwise one label
    for everything stands above the last rung.
    """

    rungs: tuple[Coarsening, ...]
    leaves: tuple[str, ...] | None = None

    @property
    def height(self) -> int:
        """How many levels there are above the values."""
        return len(self.rungs) + (self.leaves is None)

    def at(self, level: int, column: str) -> Coarsening | None:
        """Return the map to a level, None for level 0. Raises PluginError for a missing level."""
        if level > self.height:
            text = f"the hierarchy of `{column}` has {self.height} levels above the values; level {level} was asked for"
            raise PluginError(Diagnostic("PPF788", text))
        return None if level == 0 else (*self.rungs, TopLevel())[level - 1]


def ladder(column: str, own: HierarchySpec, home: Path) -> Ladder:
    """Return the ladder of an attribute's hierarchy. Raises PluginError where a file cannot be used."""
    if own.intervals is not None:
        return Ladder(_intervals(own.intervals, own.then, own.open_ends))
    if own.prefix is not None:
        return Ladder(tuple(Prefix(length, own.mask) for length in own.prefix))
    if own.date is not None:
        return Ladder(tuple(DatePart(unit, own.format) for unit in own.date))
    return listed(column, lines_of(column, own, home))


def listed(column: str, lines: Lines) -> Ladder:
    """Return the ladder of a hierarchy that gives every value's ancestors."""
    every = range(1, height(lines) + 1)
    return Ladder(tuple(at_level(lines, level, column) for level in every), tuple(lines))


def lines_of(column: str, own: HierarchySpec, home: Path) -> Lines:
    """Return every value with its ancestors. Raises PluginError where a file cannot be used."""
    if own.order is not None:
        return ordered(own.order, own.then)
    return dict(own.levels) if own.levels is not None else read_csv(home / (own.csv or ""), own.delimiter, column)


def _intervals(edges: Sequence[float], then: Sequence[int], open_ends: str) -> tuple[Coarsening, ...]:
    rungs = [Intervals(tuple(edges), open_ends)]
    for together in then:
        rungs.append(Intervals(joined(rungs[-1].edges, together), open_ends))
    return tuple(rungs)


def ancestors(column: str, own: HierarchySpec, values: Sequence[str], home: Path) -> list[tuple[str, ...]]:
    """Return the ancestors of each value, nearest first, without a level on which all have the same.

    Such a top says no more than a suppressed cell. Raises PluginError where a value has no place in the hierarchy.
    """
    steps = ladder(column, own, home)
    every = [labels(column, values, rung) for rung in steps.rungs]
    if steps.leaves is None:
        telling = max((i for i, level in enumerate(every) if len(set(level)) > 1), default=0) + 1
    else:
        telling = _telling(column, steps)
    return list(zip(*every[:telling], strict=True)) if telling else [()] * len(values)


def settled(way: Coarsening, values: Sequence[str]) -> Coarsening:
    """Return a way to generalize that labels parts of these values as it labels all of them together."""
    return way.over(values) if isinstance(way, Prefix) else way


def labels(column: str, values: Sequence[str], way: Coarsening) -> list[str]:
    """Return the label of each value. Raises PluginError, naming the column, where some have none."""
    try:
        return way.labels(values)
    except UnplacedError as fault:
        text = f"{fault.values} of {len(values)} distinct values of the column `{column}` {fault.what}"
        raise PluginError(Diagnostic(fault.code, text, help=fault.advice or None)) from None


def _telling(column: str, steps: Ladder) -> int:
    """How many levels above the values tell some of all that the hierarchy lists apart."""
    every = [len(set(labels(column, steps.leaves or (), rung))) for rung in steps.rungs]
    while every and every[-1] == 1:
        every.pop()
    return len(every)


# Generalization hierarchies given value by value: CSV files, leaf first, and levels written in the policy.


@dataclass(frozen=True, slots=True)
class LabelLookup:
    """The label of every value that occurs."""

    label_of: Mapping[str, str]
    level: int

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return the ancestors."""
        absent = sum(v not in self.label_of for v in values)
        if absent:
            raise UnplacedError("PPF789", absent, "do not stand in the hierarchy", "add them to it, leaf first")
        return [self.label_of[v] for v in values]

    def describe(self) -> str:
        """Return the level."""
        return f"hierarchy level {self.level}"


@dataclass(frozen=True, slots=True)
class TopLevel:
    """The top of a hierarchy: one label for all values."""

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return ``*`` for each."""
        return ["*"] * len(values)

    def describe(self) -> str:
        """Return that nothing is left."""
        return "one value for all"


def height(lines: Lines) -> int:
    """Return how many levels every value has above it."""
    return min((len(ancestors) for ancestors in lines.values()), default=0)


def at_level(lines: Lines, level: int, column: str) -> LabelLookup:
    """Return the map to ``level`` (0 is the value itself). Raises PluginError where the hierarchy ends below it."""
    if level > height(lines):
        text = f"the hierarchy of `{column}` has {height(lines)} levels above the values; level {level} was asked for"
        raise PluginError(Diagnostic("PPF788", text))
    labels = {value: (value, *ancestors)[level] for value, ancestors in lines.items()}
    if SUPPRESSED_TEXT in labels.values():
        text = f"the hierarchy of `{column}` uses the mark of suppressed cells as a label"
        raise PluginError(Diagnostic("PPF788", text))
    return LabelLookup(labels, level)


def read_csv(path: Path, delimiter: str, column: str) -> Lines:
    """Read a hierarchy file. Raises PluginError with the line number where it is none."""
    try:
        text = read_definition(path).decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except OSError as error:
        raise _unusable(path, column, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _unusable(path, column, "is not UTF-8 text") from None
    except csv.Error:
        raise _unusable(path, column, "is not a CSV file") from None
    if max(map(len, rows), default=0) < 2:
        raise _without_levels(path, column, delimiter, text)
    return _lines(rows, path, column)


def _lines(rows: Iterable[list[str]], path: Path, column: str) -> Lines:
    lines: dict[str, tuple[str, ...]] = {}
    width = 0
    for number, row in enumerate(rows, start=1):
        if not row:
            continue
        width = width or len(row)
        if len(row) != width:
            raise _unusable(path, column, f"has {len(row)} fields in line {number}, and {width} in the first")
        if "" in row[1:]:
            raise _unusable(path, column, f"has an empty label in line {number}")
        if lines.setdefault(row[0], tuple(row[1:])) != tuple(row[1:]):
            raise _unusable(path, column, f"gives a value other ancestors in line {number} than before")
    return lines


def _without_levels(path: Path, column: str, delimiter: str, text: str) -> PluginError:
    """Say which delimiter was expected, and which one every line has, if one does."""
    lines = [line for line in text.splitlines() if line]
    other = next((mark for mark in _DELIMITERS if lines and all(mark in line for line in lines)), None)
    help_ = "each line holds a value, then its labels, the nearest first"
    if other is not None:
        written = "tab" if other == "\t" else other
        help_ = f'every line has `{written}`: write `hierarchy: {{csv: {path.name}, delimiter: "{_escaped(other)}"}}`'
    what = f"has no levels: no line of it has the delimiter `{_escaped(delimiter)}`"
    return PluginError(Diagnostic("PPF788", f"the hierarchy of `{column}`, {path.name}, {what}", help=help_))


def _escaped(mark: str) -> str:
    return "\\t" if mark == "\t" else mark


def _unusable(path: Path, column: str, what: str) -> PluginError:
    return PluginError(Diagnostic("PPF788", f"the hierarchy of `{column}`, {path.name}, {what}"))


@dataclass(frozen=True, slots=True)
class Prefix:
    """Keeps ``length`` characters and writes ``mask`` for the others, up to ``width``: the length of the longest value.

    So all values that begin alike have one label, however long they are. A value that has less than ``length``
    characters is a beginning of its own, and stays. Without a ``width`` the values at hand give it.

    >>> Prefix(3).labels(["53715"])
    ['537**']
    >>> Prefix(3).labels(["250", "250.1", "25"])
    ['250**', '250**', '25']
    """

    length: int
    mask: str = "*"
    width: int | None = None

    def over(self, values: Sequence[str]) -> Prefix:
        """Return the same over all these values: parts of them have the labels that they have together."""
        return replace(self, width=max(map(len, values), default=0))

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return the masked values."""
        width = self.over(values).width if self.width is None else self.width
        rest = self.mask * max(0, (width or 0) - self.length)
        return [v if len(v) < self.length else v[: self.length] + rest for v in values]

    def describe(self) -> str:
        """Return how much is kept."""
        return f"first {self.length} characters"


@dataclass(frozen=True, slots=True)
class DatePart:
    """Truncates dates (ISO 8601, or ``format`` as in strptime) to a ``unit``: year, month, quarter or decade.

    >>> DatePart("quarter").labels(["2024-05-17"])
    ['2024-Q2']
    """

    unit: str
    format: str | None = None

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return ``2024``, ``2024-03``, ``2024-Q1`` or ``2020s``."""
        read = [self._date(v) for v in values]
        dates = [d for d in read if d is not None]
        if len(dates) < len(read):
            spelling = "in ISO 8601 form" if self.format is None else f"of the form `{self.format}`"
            raise UnplacedError("PPF786", len(read) - len(dates), f"are not dates {spelling}", "say how with `format:`")
        return [self._label(d) for d in dates]

    def describe(self) -> str:
        """Return the unit."""
        return f"dates by {self.unit}"

    def _date(self, text: str) -> datetime | None:
        try:
            if self.format is None:
                return datetime.fromisoformat(text.strip())
            return datetime.strptime(text.strip(), self.format).replace(tzinfo=UTC)
        except ValueError:
            return None

    def _label(self, date: datetime) -> str:
        if self.unit == "decade":
            return f"{date.year // 10 * 10:04d}s"
        if self.unit == "quarter":
            return f"{date.year:04d}-Q{(date.month + 2) // 3}"
        return f"{date.year:04d}" if self.unit == "year" else f"{date.year:04d}-{date.month:02d}"


# A whole hierarchy: every leaf, those that the data lack included, with its label at every level up to one for all.


ANYTHING = "*"
"""The label that covers every value, where a hierarchy has no such label of its own."""


@dataclass(frozen=True, slots=True)
class FullHierarchy:
    """``levels[l]`` are the labels of all leaves at level l: the leaves themselves first, one label for all last.

    ``spans[l]`` says how many values of the domain each leaf's label covers, where intervals of whole numbers cover
    more than the leaves; empty: as many as there are leaves below it.
    """

    levels: tuple[Labels, ...]
    spans: tuple[Spans, ...] = ()

    @property
    def leaves(self) -> Labels:
        """The leaves."""
        return self.levels[0]

    @property
    def top(self) -> int:
        """The highest level."""
        return len(self.levels) - 1


def full_hierarchy(column: str, own: HierarchySpec | None, values: Sequence[str], home: Path) -> FullHierarchy:
    """Return the hierarchy of an attribute; without one its values have nothing above them but one label for all.

    Raises PluginError where a value has no place in it, or where a label is spelled like a value that it is not of.
    """
    if own is None:
        return _topped([tuple(values)])
    steps = ladder(column, own, home)
    leaves = tuple(values) if steps.leaves is None else steps.leaves
    if steps.leaves is not None:
        _refuse_absent(column, values, steps.leaves)
    levels = _topped([leaves, *(tuple(labels(column, leaves, rung)) for rung in steps.rungs)])
    refuse_lies(column, levels)
    if own.intervals is None or own.open_ends != "none" or not own.numeric:
        return levels
    return FullHierarchy(levels.levels, _spans(levels, [r for r in steps.rungs if isinstance(r, Intervals)]))


def refuse_lies(column: str, hierarchy: FullHierarchy) -> None:
    """Raise PluginError for labels that are values themselves, of which they do not tell: flu for HIV, HIV for flu."""
    for level in hierarchy.levels[1:]:
        many = lies(hierarchy.leaves, level)
        if many:
            text = f"{many} labels of the column `{column}` are spelled like one of its values, which has another label"
            raise PluginError(Diagnostic("PPF788", text, help="a label covers all values below it, itself included"))


def lies(leaves: Sequence[str], level: Sequence[str]) -> int:
    """Count the labels of a level that are spelled like a leaf with another label."""
    own = dict(zip(leaves, level, strict=True))
    return sum(own.get(label, label) != label for label in set(level))


def _refuse_absent(column: str, values: Sequence[str], leaves: Labels) -> None:
    absent = len(set(values) - set(leaves))
    if absent:
        text = f"{absent} of {len(values)} distinct values of the column `{column}` do not stand in the hierarchy"
        raise PluginError(Diagnostic("PPF789", text, help="add them to it, leaf first"))


def _spans(levels: FullHierarchy, rungs: Sequence[Intervals]) -> tuple[Spans, ...]:
    """Count the whole numbers in each interval."""
    last = len(levels.levels) - 1
    whole_domain = _covered(rungs[0].edges[0], rungs[0].edges[-1])
    spans: list[Spans] = [(1,) * len(levels.leaves)]
    for level in range(1, last):
        edges = rungs[level - 1].edges
        names = rungs[level - 1].names()[1:-1]
        width = {n: _covered(a, b) for n, a, b in zip(names, edges, edges[1:], strict=False)}
        spans.append(tuple(width[label] for label in levels.levels[level]))
    return (*spans, (whole_domain,) * len(levels.leaves)) if last else tuple(spans)


def _covered(low: float, high: float) -> int:
    """How many whole numbers lie in [low, high)."""
    return max(1, math.ceil(high) - math.ceil(low))


def _topped(levels: list[Labels]) -> FullHierarchy:
    """End with one label for all."""
    single = [i for i, level in enumerate(levels) if len(set(level)) <= 1]
    if single:
        return FullHierarchy(tuple(levels[: single[0] + 1]))
    return FullHierarchy((*levels, (ANYTHING,) * len(levels[0])))
