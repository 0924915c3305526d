"""Generalization hierarchies, made and held against data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ppdm_flow.api.loading.policies import ready_plan
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.opening.opening import open_source
from ppdm_flow.engine.reading.binding import named
from ppdm_flow.engine.streams.tallying import tally
from ppdm_flow.mining.hierarchies.building import (
    HierarchyCheck,
    by_frequency,
    by_number_or_rows,
    checked,
    edges_of,
    in_order,
    of_spec,
    until_one,
    written,
)
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.ladder import FullHierarchy, Lines, read_csv, refuse_lies
from ppdm_flow.plan.definition import SourceNode
from ppdm_flow.tables.counts import Counts

# Generalization hierarchies from data: made, and held against it.


@dataclass(frozen=True, slots=True)
class MadeHierarchy:
    """``lines``: each value with its ancestors, nearest first. ``reason`` says, in counts, what was put together."""

    lines: Lines
    reason: str
    delimiter: str

    def document(self) -> str:
        """Return the file: the value first, ``*`` last, no header."""
        return written(self.lines, self.delimiter)


def hierarchy(
    data: Path,
    attribute: str,
    way: HierarchyMethod,
    *,
    policy: Path | None = None,
    sets: Mapping[str, str] | None = None,
    delimiter: str = ";",
) -> MadeHierarchy:
    """Make a hierarchy of the values that a column of ``data`` has. ``policy`` says how to read it.

    Raises UsageError where the way lacks something, DataError or PluginError where values do not fit it.
    """
    _one_character(delimiter)
    values = column(data, attribute, policy, sets or {})
    made = lines(way, values)
    _refuse(values, made)
    return MadeHierarchy(made, reason(way, values, made), delimiter)


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """``counts``: the rows of each value; by number where all values are numbers, else the most frequent first."""

    counts: Mapping[str, int]
    delimiter: str

    def document(self) -> str:
        """Return the table: a value and its rows on each line, no header."""
        return written({value: (str(rows),) for value, rows in self.counts.items()}, self.delimiter)


def count_values(
    data: Path,
    attribute: str,
    *,
    policy: Path | None = None,
    sets: Mapping[str, str] | None = None,
    delimiter: str = ";",
) -> ValueCounts:
    """Count the rows of each value that a column of ``data`` has. ``policy`` says how to read it.

    Raises UsageError where the column is not there or has no values, DataError where the data cannot be read.
    """
    _one_character(delimiter)
    counts = column(data, attribute, policy, sets or {}).counts
    return ValueCounts({value: counts[value] for value in by_number_or_rows(counts)}, delimiter)


def check_hierarchy(
    file: Path,
    data: Path,
    attribute: str,
    *,
    policy: Path | None = None,
    sets: Mapping[str, str] | None = None,
    delimiter: str = ";",
) -> HierarchyCheck:
    """Hold a hierarchy file against a column: coverage, and whether each level is a coarsening; counts only."""
    _one_character(delimiter)
    return checked(read_csv(file, delimiter, attribute), column(data, attribute, policy, sets or {}).counts)


def _refuse(values: HierarchyColumn, made: Lines) -> None:
    levels = [tuple(made), *(tuple(level) for level in zip(*made.values(), strict=True))]
    refuse_lies(values.name, FullHierarchy(tuple(levels)))


def _one_character(delimiter: str) -> None:
    if len(delimiter) != 1:
        raise UsageError(Diagnostic("PPF120", "`--delimiter` is one character"))


# The ways to make a hierarchy, and what each of them needs to be told.


@dataclass(frozen=True, slots=True)
class HierarchyColumn:
    """``counts`` of each value but missing ones, in order of their text; ``facts`` where a policy declares it."""

    name: str
    counts: Mapping[str, int]
    facts: AttributeFacts | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """The values."""
        return tuple(self.counts)


def column(data: Path, attribute: str, policy: Path | None, sets: Mapping[str, str]) -> HierarchyColumn:
    """Count the values of a column. Raises UsageError where it has none or is not there, DataError, PolicyError."""
    node = _bare() if policy is None else ready_plan(policy, sets, data).plan.source
    with wrap_plugin_errors("the source"):
        source = open_source(node, data)
        names = named(node, source.names())
    if attribute not in names:
        hint = did_you_mean(attribute, names)
        raise UsageError(Diagnostic("PPF763", f"the data has no column `{attribute}`", hint=hint))
    counted = tally(source, (names[attribute],), {}, "the source")
    counts = {} if counted is None else _counts(counted, node)
    if not counts:
        raise UsageError(Diagnostic("PPF714", f"the column `{attribute}` has no values"))
    return HierarchyColumn(attribute, counts, next((a for a in node.attributes if a.name == attribute), None))


def _counts(counted: Counts, node: SourceNode) -> dict[str, int]:
    """Return the rows of each value, without those that the source takes for missing."""
    values = counted.categories[0].to_pylist()
    rows = zip(counted.codes[:, 0].tolist(), counted.counts.tolist(), strict=True)
    return {values[code]: n for code, n in rows if code >= 0 and values[code] not in node.missing}


def _bare() -> SourceNode:
    return SourceNode(None, None, {}, None, ("",), False, "drop", (), ())


WAYS = ("intervals", "prefix", "date", "order", "frequency")
UNITS = ("month", "quarter", "year", "decade")
_NEEDS = {
    "intervals": ("edges", "width", "then", "open_ends"),
    "prefix": ("keep", "mask"),
    "date": ("units", "format"),
    "order": ("values", "fanout", "then"),
    "frequency": ("at_least", "label"),
}
_NEUTRAL = {"open_ends": "none", "mask": "*", "label": "(other)"}


@dataclass(frozen=True, slots=True)
class HierarchyMethod:
    """``by`` is one of intervals, prefix, date, order and frequency; the rest is what they need.

    ``edges`` or ``width`` of intervals, ``then`` how many neighbours further levels join; ``keep`` characters a level;
    ``units`` of dates; ``values`` in order, ``fanout`` of them in a group; ``at_least`` rows of a value that stays.
    """

    by: str
    edges: tuple[float, ...] = ()
    width: float | None = None
    then: tuple[int, ...] = ()
    open_ends: str = "none"
    keep: tuple[int, ...] = ()
    mask: str = "*"
    units: tuple[str, ...] = ()
    format: str | None = None
    values: tuple[str, ...] = ()
    fanout: int | None = None
    at_least: tuple[int, ...] = ()
    label: str = "(other)"


def lines(way: HierarchyMethod, column: HierarchyColumn) -> Lines:
    """Return the ancestors of every value. Raises UsageError, DataError or PluginError."""
    _check_method(way)
    if way.by == "frequency":
        if not way.at_least or min(way.at_least) < 2:
            raise _usage("`--by frequency` needs `--at-least ROWS`, of 2 or more")
        if way.label in column.counts:
            raise DataError(Diagnostic("PPF132", "the label of rare values is one of the values", help="use `--label`"))
        return by_frequency(column.counts, way.at_least, way.label)
    return of_spec(column.name, _spec(way, column), column.values)


def reason(way: HierarchyMethod, column: HierarchyColumn, made: Lines) -> str:
    """Say, in counts only, what was put together on each level."""
    levels = list(zip(*made.values(), strict=True))
    sizes = ", ".join(f"{len(set(level)):,}" for level in levels)
    said = f"{len(made):,} values of `{column.name}`; labels on the levels above: {sizes}"
    if way.by != "frequency":
        return said
    for least in sorted(way.at_least):
        rare = [n for n in column.counts.values() if n < least]
        said += f"\n{len(rare):,} values occur in fewer than {least:,} rows each, {sum(rare):,} rows together"
    return said


def _spec(way: HierarchyMethod, column: HierarchyColumn) -> HierarchySpec:
    if way.by == "intervals":
        return HierarchySpec(intervals=_edges(way, column), then=way.then, open_ends=way.open_ends)
    if way.by == "prefix":
        if not way.keep or any(a <= b for a, b in pairwise(way.keep)) or len(way.mask) != 1:
            raise _usage("`--by prefix` needs `--keep` with fewer and fewer characters, as 4,3,0; `--mask` is one")
        return HierarchySpec(prefix=way.keep, mask=way.mask)
    if way.by == "date":
        places = [UNITS.index(u) for u in way.units if u in UNITS]
        if not places or len(places) < len(way.units) or any(a >= b for a, b in pairwise(places)):
            raise _usage("`--by date` needs `--units`, coarser and coarser: of month, quarter, year, decade")
        return HierarchySpec(date=way.units, format=way.format)
    return _order(way, column)


def _edges(way: HierarchyMethod, column: HierarchyColumn) -> tuple[float, ...]:
    if way.width is not None and not way.edges:
        if way.width <= 0:
            raise _usage("`--width` lies above 0")
        try:
            return edges_of(column.values, way.width)
        except UnplacedError as fault:
            text = f"{fault.values} values of the column `{column.name}` {fault.what}"
            raise DataError(Diagnostic(fault.code, text, help=fault.advice or None)) from None
    if way.width is not None or len(way.edges) < 2 or any(a >= b for a, b in pairwise(way.edges)):
        raise _usage("`--by intervals` needs either `--edges`, at least two that ascend, or `--width`")
    return way.edges


def _order(way: HierarchyMethod, column: HierarchyColumn) -> HierarchySpec:
    domain = column.facts.domain if column.facts is not None else None
    values = way.values or domain or in_order(column.values)
    if len(set(values)) < len(values):
        raise _usage("`--values` has a value twice")
    if (way.fanout is None) == (not way.then) or (way.fanout is not None and way.fanout < 2):
        raise _usage("`--by order` needs either `--fanout`, of 2 or more, or `--then`")
    absent = len(set(column.values) - set(values))
    if absent:
        text = f"{absent} of {len(column.values)} values of the column `{column.name}` have no place in the order"
        raise DataError(Diagnostic("PPF132", text, help="name all of them with `--values`"))
    then = way.then if way.fanout is None else until_one(len(values), way.fanout)
    return HierarchySpec(order=values, then=then)


def _check_method(way: HierarchyMethod) -> None:
    """Refuse a way that is none, numbers that join nothing, and options of another way."""
    if way.by not in WAYS:
        raise _usage(f"`--by` is one of {', '.join(WAYS)}")
    if any(n < 2 for n in way.then):
        raise _usage("`--then` joins 2 or more neighbours a level")
    every = dict.fromkeys(option for options in _NEEDS.values() for option in options)
    given = [o for o in every if getattr(way, o) not in ((), None, _NEUTRAL.get(o))]
    for option in given:
        if option not in _NEEDS[way.by]:
            raise _usage(f"`--{option.replace('_', '-')}` says nothing for `--by {way.by}`")


def _usage(text: str) -> UsageError:
    return UsageError(Diagnostic("PPF120", text))
