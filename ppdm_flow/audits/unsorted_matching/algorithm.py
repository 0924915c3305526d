"""Tests whether the released rows are in the order of the original, or of another release.

Two tables of the same people in the same order are one table: put side by side, each reveals the rows of the other,
even after any change to their values (Sweeney 2002, the unsorted matching attack).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import stats

from ppdm_flow.audits.labels.covering import LabelCover, cover
from ppdm_flow.audits.labels.file import KnownTable, known_columns, read
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.audits.labels.unreadable import of_release
from ppdm_flow.audits.records.proportions import ALARM
from ppdm_flow.audits.unsorted_matching.spec import UnsortedMatchingParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import released, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column, union
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table

NAMES = {"agreement": "share", "by_chance": "share", "rank_correlation": "correlation", "p_value": "probability"}
NO_PLACES = "the two tables have different numbers of rows, or hardly any: places cannot be compared one by one"
NO_ROWS = "hardly any row of the release comes again, or all look the same"
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


class UnsortedMatchingAudit:
    """Puts the two tables side by side."""

    def __init__(self, params: UnsortedMatchingParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return how often rows fit at the same place, how places go together, and how rare that is by chance."""
        columns = sides(self.params, original, candidate, ctx)
        if not columns or not len(columns[0].mine) or not len(columns[0].other):
            note = "the two tables have no column in common whose labels can be read, or no rows"
            return AuditOutcome({n: Figure(None, u, note=note) for n, u in NAMES.items()})
        places, ranks = agreements(columns), correlation(columns)
        telling = min(places, key=lambda a: a.p_value, default=None)
        p_value = _together(places, ranks)
        figures = _figures(telling, ranks, p_value)
        figures |= {f"{a.column}.agreement": Figure(a.places / a.rows, "share") for a in places}
        findings = () if p_value is None or p_value >= ALARM else (self._finding(telling, ranks, ctx),)
        return AuditOutcome(figures, findings=findings, charts=(_chart(places),) if places else ())

    def _finding(self, telling: Agreement | None, ranks: Correlation | None, ctx: AuditContext) -> Finding:
        whose = "of the original" if self.params.other is None else "of the other release"
        if telling is not None and (ranks is None or telling.p_value <= ranks.p_value):
            text = (
                f"the released rows stand in the order {whose}: at {telling.places:,} of {telling.rows:,} places"
                f" `{telling.column}` fits the row at the same place there, where shuffled rows would fit at"
                f" {telling.expected:,.0f}"
            )
        else:
            value = ranks.value if ranks is not None else 0.0
            text = f"the places of released rows go together with the places {whose}: their correlation is {value:.3f}"
        text += ". A reader who holds a table in that order puts the two side by side"
        subject = ".".join(filter(None, (ctx.release, "unsorted_matching", self.params.other)))
        return Finding("PPF894", Severity.WARNING, text, subject)


def _together(places: list[Agreement], ranks: Correlation | None) -> float | None:
    """Return one probability for all tests (Bonferroni), None without any."""
    every = [a.p_value for a in places] + ([ranks.p_value] if ranks is not None else [])
    return min(1.0, len(every) * min(every)) if every else None


def _figures(telling: Agreement | None, ranks: Correlation | None, p_value: float | None) -> dict[str, Figure]:
    figures = {n: Figure(None, u, note=NO_PLACES) for n, u in NAMES.items()}
    if telling is not None:
        note = f"of the places the rows fit there in `{telling.column}`, the attribute that tells most"
        figures["agreement"] = Figure(telling.places / telling.rows, "share", note=note)
        figures["by_chance"] = Figure(telling.expected / telling.rows, "share", note="if the rows are shuffled")
    figures["rank_correlation"] = (
        Figure(None, "correlation", note=NO_ROWS)
        if ranks is None
        else Figure(ranks.value, "correlation", ranks.interval, ranks.rows, "0 if the rows are shuffled")
    )
    if p_value is not None:
        figures["p_value"] = Figure(
            p_value, "probability", note="of as much order in shuffled rows; all tests together"
        )
    return figures


def _chart(places: list[Agreement]) -> Chart:
    return Chart(
        id="places",
        title="Rows that fit at the same place",
        kind="bars",
        x=tuple(a.column for a in places),
        series=(
            FigureSeries("found", tuple(a.places / a.rows for a in places)),
            FigureSeries("if shuffled", tuple(a.expected / a.rows for a in places)),
        ),
        x_label="attribute",
        y_label="share of the places",
    )


# The rows of a release and of another table, in order, column beside column.


_NEVER = (Role.WEIGHT, Role.ITEMS)


@dataclass(frozen=True, slots=True, eq=False)
class OrderedColumn:
    """One column of the release and the other table's, compacted; ``fits`` says which labels cover which values."""

    name: str
    mine: Column
    other: Column
    fits: LabelCover

    @property
    def by_chance(self) -> float:
        """The share of pairs of a released and another row that fit."""
        labels = np.bincount(self.mine.dense, minlength=self.mine.width)
        values = np.bincount(self.other.dense, minlength=self.other.width)
        sums = np.concatenate([[0], np.cumsum(labels[self.fits.labels])])
        of_value = labels[self.fits.wide].sum() + sums[self.fits.starts[1:]] - sums[self.fits.starts[:-1]]
        of_value = np.where(self.fits.unknown, labels.sum(), of_value)
        return float(of_value @ values) / (float(labels.sum()) * float(values.sum()))

    def agree(self) -> Truths:
        """Return at which positions the two rows fit; both tables have as many."""
        mine, other = self.mine.dense.astype(np.int64), self.other.dense.astype(np.int64)
        width = len(self.fits.wide)
        owner = np.repeat(np.arange(len(self.fits.unknown)), np.diff(self.fits.starts))
        keys = owner * width + self.fits.labels
        pairs = other * width + mine
        place = np.minimum(np.searchsorted(keys, pairs), max(0, len(keys) - 1))
        same = keys[place] == pairs if len(keys) else np.zeros(len(pairs), dtype=np.bool_)
        agreeing: Truths = same | self.fits.wide[mine] | self.fits.unknown[other]
        return agreeing


def sides(
    params: UnsortedMatchingParams, original: DataView, candidate: DataView, ctx: AuditContext
) -> list[OrderedColumn]:
    """Read what both tables have, but for columns whose labels cannot be read: any of them tells the order of all.

    Raises DataError where the file cannot be used.
    """
    chosen = candidate.schema.names if params.attributes is None else released(params.attributes, candidate, ctx)
    columns = [c for c in chosen if candidate.schema[c].role not in _NEVER]
    if params.other is not None:
        file = KnownTable(ctx.home / params.other, params.delimiter, params.columns)
        known = known_columns(file, [(c, source_of(c, ctx)) for c in columns])
        other = read(file, known)
        theirs = {c: other[c] for c in known}
    else:
        sources = {c: source_of(c, ctx) for c in columns}
        there = {c: s for c, s in sources.items() if s in original.schema and original.schema[s].role not in _NEVER}
        before = original.table(list(dict.fromkeys(there.values())))
        theirs = {c: before[s] for c, s in there.items()}
    mine = candidate.table(list(theirs)) if theirs else None
    return [] if mine is None else _beside(list(theirs), mine, theirs, ctx)


def _beside(
    columns: Sequence[str], mine: Table, theirs: Mapping[str, Column], ctx: AuditContext
) -> list[OrderedColumn]:
    pairs = []
    for name in columns:
        left, right = mine[name].compact(), theirs[name].compact()
        hierarchy = hierarchy_of(name, ctx)
        if of_release(name, left.categories, right.categories, hierarchy, ctx) is not None:
            continue
        fits = cover(left.categories, right.categories, hierarchy, ctx.nulls, ctx.home)
        pairs.append(OrderedColumn(name, left, right, fits))
    return pairs


# Whether two tables have one order: rows that fit at the same place, and places that go together.
#
# If the rows are shuffled, every permutation is as likely. The number of places at which the rows fit then has the mean
# n p, with p the share of all pairs that fit, and a variance of at most n p n / (n - 1) (Hoeffding 1951, theorem 2):
# its upper tail is taken from the Poisson distribution. The correlation of places has the variance 1 / (m - 1) exactly.


FEWEST = 10
"""Rows below which a correlation is no evidence."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """At ``places`` of ``rows`` places the rows fit in ``column``; ``expected`` if the order is random."""

    column: str
    places: int
    rows: int
    expected: float

    @property
    def p_value(self) -> float:
        """The probability of at least as many in a random order."""
        return float(stats.poisson.sf(self.places - 1, self.expected))


@dataclass(frozen=True, slots=True)
class Correlation:
    """``value`` of the places of ``rows`` released rows with the mean places of the other rows that are the same."""

    value: float
    rows: int

    @property
    def p_value(self) -> float:
        """The probability of one as far from 0 in a random order."""
        return float(2 * stats.norm.sf(abs(self.value) * math.sqrt(self.rows - 1)))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval (Fisher's transformation)."""
        if abs(self.value) >= 1:
            return self.value, self.value
        reach = stats.norm.ppf(0.975) / math.sqrt(self.rows - 3)
        middle = math.atanh(self.value)
        return math.tanh(middle - reach), math.tanh(middle + reach)


def agreements(columns: Sequence[OrderedColumn]) -> list[Agreement]:
    """Return how the rows fit, column by column; none for tables of different length or without rows."""
    rows = len(columns[0].mine)
    if rows != len(columns[0].other) or rows < FEWEST:
        return []
    return [Agreement(c.name, int(c.agree().sum()), rows, rows * c.by_chance) for c in columns]


def correlation(columns: Sequence[OrderedColumn]) -> Correlation | None:
    """Compare the place of each released row with the mean place of the same rows in the other table.

    Columns that have values in common are compared as they are written. None where too few rows come again, or where
    all rows are the same.
    """
    shared = [c for c in columns if _in_common(c)]
    if not shared:
        return None
    group, number = _groups(shared)
    size = len(shared[0].mine)
    mine, other = group[:size], group[size:]
    many = np.bincount(other, minlength=number)
    sums = np.bincount(other, np.arange(len(other)), number)
    common_rows = np.flatnonzero(many[mine] > 0)
    if len(common_rows) < FEWEST:
        return None
    expected = sums[mine[common_rows]] / many[mine[common_rows]]
    if np.ptp(expected) == 0:
        return None
    coefficient = np.corrcoef(expected, common_rows)[0, 1]
    return Correlation(float(min(1.0, max(-1.0, coefficient))), len(common_rows))


def _in_common(column: OrderedColumn) -> bool:
    """Whether at least half of the released rows have a value that the other table has."""
    is_common = pc.is_in(column.mine.categories, value_set=column.other.categories)
    there = is_common.to_numpy(zero_copy_only=False).astype(np.bool_)
    known = column.mine.codes >= 0
    return bool(len(there) and there[column.mine.codes[known]].sum() * 2 >= len(column.mine))


def _groups(columns: Sequence[OrderedColumn]) -> tuple[Integers, int]:
    """Number the rows of both tables, the release first, by their cells."""
    names = tuple(union([c.mine.categories, c.other.categories]) for c in columns)
    codes = [
        np.concatenate([_onto(c.mine, known), _onto(c.other, known)]) for c, known in zip(columns, names, strict=True)
    ]
    ones = np.ones(len(codes[0]), dtype=np.int64)
    keys = tuple(str(i) for i in range(len(columns)))
    return Counts(keys, names, np.stack(codes, axis=1), ones).groups(keys)


def _onto(column: Column, names: pa.StringArray) -> npt.NDArray[np.int32]:
    return column.onto(names).codes
