"""The measured t of a release: the largest distance of a class's sensitive values from those of the whole table.

Earth mover's distance with equal or ordered ground distance (Li, Li, Venkatasubramanian, ICDE 2007, section 4) to the
distribution in the released table itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.classes.audit import SensitiveAudit
from ppdm_flow.mining.classes.class_metric import ColumnFigures, Floats, Names
from ppdm_flow.mining.classes.wording import beyond, known_by
from ppdm_flow.mining.exposure.faults import UnrankedError
from ppdm_flow.mining.exposure.histograms import Histograms
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import decimals
from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping, added, shares
from ppdm_flow.mining.recoding.models import SLACK, Bools, ClassModel, SensitiveColumns, exceeding
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import SPECIALS, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts

Ranks = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class TClosenessAudit(SensitiveAudit[TCloseness]):
    """Compares the distribution of each class with the whole table's."""

    kind = TCloseness
    metric = "t"
    unit = "distance"
    at_most = True

    def bound(self, requirement: TCloseness) -> float:
        """Return t."""
        return requirement.t

    def each(self, requirement: TCloseness, histograms: Histograms, ctx: AuditContext) -> Floats:
        """Return the distance of each class."""
        if requirement.distance is Distance.EQUAL:
            return equal(histograms)
        names = histograms.names.to_pylist()
        occurring = [n for n, q in zip(names, histograms.base[SPECIALS:].tolist(), strict=True) if q > 0]
        order = {value: i for i, value in enumerate(ranked(requirement, occurring, ctx))}
        rank = np.array([order.get(n, -1) for n in names], dtype=np.int64)
        return ordered(histograms, rank, len(order))

    def query(self, requirement: TCloseness, names: Names, ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return the distance of each class."""
        if requirement.distance is Distance.EQUAL:
            return _EQUAL, []
        values = ranked(requirement, [n for n in names() if n is not None and n != SUPPRESSED_TEXT], ctx)
        return _ORDERED, [values, values]

    def sentence(self, judged: ColumnFigures[TCloseness], value: float) -> str:
        """Return what the farthest class gives away."""
        requirement = judged.requirement
        rows = int(judged.histograms.rows[judged.beyond(requirement.t, at_most=True)].sum())
        ranks = " by ranks" if requirement.distance is Distance.ORDERED else ""
        return (
            f"{known_by(judged.grouping)} sees the values of `{judged.column}` distributed otherwise than in the whole"
            f" release, by a distance{ranks} of at most {value:.4g}, where 0 is alike and 1 is wholly different; at"
            f" most {requirement.t:g} is allowed.{beyond(rows, judged.histograms.total)}"
        )


_EQUAL = """
    SELECT id, SUM(GREATEST(n / size - q, 0)) AS v FROM cells JOIN sizes USING (id)
    JOIN base ON base.s IS NOT DISTINCT FROM cells.s GROUP BY id"""

_ORDERED = """
    WITH places AS (SELECT UNNEST(?::VARCHAR[]) AS s, UNNEST(RANGE(LEN(?::VARCHAR[]))) AS r),
    marks AS (SELECT s, q FROM base WHERE s IS NULL OR s = '⊥'),
    moved AS (
        SELECT sizes.id AS id, GREATEST(SUM(GREATEST(COALESCE(n, 0) / size - q, 0)),
               SUM(GREATEST(q - COALESCE(n, 0) / size, 0))) AS gain
        FROM sizes CROSS JOIN marks
        LEFT JOIN cells ON cells.id = sizes.id AND cells.s IS NOT DISTINCT FROM marks.s GROUP BY sizes.id),
    steps AS (SELECT r, SUM(q) OVER (ORDER BY r) / SUM(q) OVER () AS cum FROM base JOIN places USING (s)),
    sums AS MATERIALIZED (SELECT r, cum, SUM(cum) OVER (ORDER BY r) - cum AS below FROM steps),
    whole AS (
        SELECT COUNT(*) AS m, SUM(cum) AS below, (SELECT SUM(q) FROM base JOIN places USING (s)) AS w FROM steps),
    inside AS (
        SELECT id, r, CAST(n AS DOUBLE) AS n, SUM(n) OVER (PARTITION BY id) AS known FROM cells JOIN places USING (s)),
    runs AS (
        SELECT id, known, r AS a, LEAD(r) OVER w AS b, SUM(n) OVER w / known AS p
        FROM inside WINDOW w AS (PARTITION BY id ORDER BY r)),
    placed AS (
        SELECT *, SUM(step) OVER (ORDER BY p, step ROWS UNBOUNDED PRECEDING) AS x
        FROM (SELECT id, known, a, b, p, 0 AS step FROM runs
              UNION ALL SELECT NULL, NULL, NULL, NULL, cum, 1 FROM sums)),
    crossed AS (
        SELECT id, known, p, a, COALESCE(b, m) AS b, GREATEST(a, LEAST(COALESCE(b, m), x)) AS x
        FROM placed CROSS JOIN whole WHERE step = 0),
    parts AS (
        SELECT id, known, COALESCE(sa.below, whole.below) AS first,
            p * (2 * x - a - b) + COALESCE(sa.below, whole.below) + COALESCE(sb.below, whole.below)
                - 2 * COALESCE(sx.below, whole.below) AS part
        FROM crossed CROSS JOIN whole
        LEFT JOIN sums sa ON sa.r = a LEFT JOIN sums sb ON sb.r = b LEFT JOIN sums sx ON sx.r = x),
    apart AS (SELECT id, ANY_VALUE(known) AS known, SUM(part) + MIN(first) AS total FROM parts GROUP BY id)
    SELECT sizes.id AS id, COALESCE(gain, 0) + COALESCE(LEAST(known / size, w) * total / NULLIF(m - 1, 0), 0) AS v
    FROM sizes CROSS JOIN whole LEFT JOIN moved USING (id) LEFT JOIN apart USING (id)"""
"""Between two ranks that a class has, its cumulated share p is constant, and the table's crosses it once, at x: so the
sum of |p - q| over all ranks is one of sums over the ranks that the class has, however many there are."""


# Earth mover's distances from each class to the whole table.


def equal(histograms: Histograms) -> Floats:
    """Return half the sum of |p - q|."""
    return equal_distances(histograms.cells, histograms.sizes, histograms.base)


def ordered(histograms: Histograms, rank: Ranks, ranks: int) -> Floats:
    """Return the distance where moving by all ``ranks`` but one costs 1; ``rank`` (names,) is -1 for absent names.

    Marks (suppressed, missing) are as far from each other, and from every value, as the lowest from the highest. What
    they differ by is moved first, and the values then in proportion: at least the earth mover's distance, and equal
    to it where there is no mark.
    """
    cells = histograms.cells
    marked = cells.value < SPECIALS
    gain = _marks(histograms)
    values = ClassCells(
        _begins(histograms, ~marked), rank[cells.value[~marked] - SPECIALS].astype(np.int32), cells.count[~marked]
    )
    known = added(values, values.count.astype(np.float64))
    base = np.zeros(ranks)
    there = rank >= 0
    base[rank[there]] = histograms.base[SPECIALS:][there]
    share, of_table = known / np.where(histograms.sizes > 0, histograms.sizes, 1), float(base.sum())
    if of_table <= 0.0:
        return gain
    apart = _apart(values, known, np.cumsum(base / of_table))
    return gain + np.where(known > 0, np.minimum(share, of_table) * apart, 0.0)


def _apart(cells: ClassCells, sizes: Floats, table: Floats) -> Floats:
    """Return the sum of |p - q| over all ranks but the last, by (ranks - 1), for cumulated shares p and ``table``.

    Between two ranks that a class has, p is constant, and q rises and crosses it once: sums of q give the rest, so that
    the work is that of the cells, however many ranks there are.
    """
    ranks = len(table)
    if ranks < 2 or not len(cells.count):
        return np.zeros(len(sizes))
    owner = cells.owner
    order = np.lexsort((cells.value, owner))
    begin, count = cells.value[order].astype(np.int64), cells.count[order].astype(np.float64)
    total = np.cumsum(count)
    before = np.concatenate([[0.0], total])[cells.begins[:-1]]
    share = (total - before[owner]) / sizes[owner]
    end = np.append(begin[1:], ranks)
    end[cells.begins[1:][np.diff(cells.begins) > 0] - 1] = ranks
    below = np.concatenate([[0.0], np.cumsum(table)])
    crossing = np.clip(np.searchsorted(table, share), begin, end)
    part = share * (2 * crossing - begin - end) + below[begin] + below[end] - 2 * below[crossing]
    first = np.zeros(len(sizes))
    some = np.diff(cells.begins) > 0
    first[some] = below[begin[cells.begins[:-1][some]]]
    return np.asarray((np.bincount(owner, part, len(sizes)) + first) / (ranks - 1))


def _marks(histograms: Histograms) -> Floats:
    """Return how much must go to marks, or come from them, at the cost of 1."""
    cells = histograms.cells
    marked = cells.value < SPECIALS
    difference = np.zeros((len(histograms), SPECIALS))
    share = shares(cells, histograms.sizes)
    difference[cells.owner[marked], cells.value[marked]] = share[marked]
    difference -= histograms.base[:SPECIALS]
    more = np.maximum(difference, 0.0).sum(axis=1)
    less = np.maximum(-difference, 0.0).sum(axis=1)
    return np.asarray(np.maximum(more, less))


def _begins(histograms: Histograms, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    total = np.concatenate([[0], np.cumsum(kept)])
    return np.asarray(total[histograms.cells.begins], dtype=np.int64)


# t-closeness of every class.


@dataclass(frozen=True, slots=True)
class CloseClass(ClassModel):
    """Earth mover's distance to the whole table of at most ``t`` (Li, Li, Venkatasubramanian 2007).

    ``ordered``: the values are in order of their codes, a step between neighbours costs 1 / (values - 1); else all
    values are equally far from each other.
    """

    attribute: int
    t: float
    ordered: bool = False
    compares: ClassVar[bool] = True

    def keeps(self, grouping: RowGrouping, base: Floats) -> Bools:
        """Compare distances."""
        return self._distances(grouping, base) <= self.t + SLACK

    def lost(self, grouping: RowGrouping, base: Floats, drift: float) -> Floats:
        """The distance is convex and at most 1."""
        return exceeding(self._distances(grouping, base), np.array(self.t + drift))

    def _distances(self, grouping: RowGrouping, base: Floats) -> Floats:
        distances = _ordered_distances if self.ordered else equal_distances
        return distances(grouping.cells[self.attribute], grouping.sizes, base)


def equal_distances(cells: ClassCells, sizes: Ints, base: Floats) -> Floats:
    """Return half the sum of |p - q|: the sum of what p has more than q."""
    gain = np.maximum(shares(cells, sizes) - base[cells.value], 0.0)
    return added(cells, gain)


def _ordered_distances(cells: ClassCells, sizes: Ints, base: Floats) -> Floats:
    """Return the sum of |cumulated p - q| over m - 1, for m values in order of their codes.

    Cumulated p is constant between two values of a class, and cumulated q grows: in each such stretch, q is below p up
    to one place and above it from there on, so that prefix sums of q are all that is needed.
    """
    m = len(base)
    if m < 2:
        return np.zeros(len(sizes))
    target = np.cumsum(base)[:-1]
    sums = np.concatenate([[0.0], np.cumsum(target)])
    order = np.lexsort((cells.value, cells.owner))
    value, owner = cells.value[order], cells.owner[order]
    mass = np.concatenate([[0.0], np.cumsum(cells.count[order])])
    # one stretch before the first value of each class, and one from each value on
    begins = np.insert(value.astype(np.int64), cells.begins[:-1], 0)
    owners = np.insert(owner, cells.begins[:-1], np.arange(len(sizes)))
    ends = np.append(begins[1:], m - 1)
    ends[np.append(owners[1:] != owners[:-1], True)] = m - 1
    cumulated = mass[np.arange(len(owners)) - owners] - mass[cells.begins[owners]]
    height = cumulated / np.maximum(sizes[owners], 1)
    middle = np.clip(np.searchsorted(target, height), begins, ends)
    below = height * (middle - begins) - (sums[middle] - sums[begins])
    above = (sums[ends] - sums[middle]) - height * (ends - middle)
    distances: Floats = np.bincount(owners, below + above, len(sizes)) / (m - 1)
    return distances


def models(requirement: TCloseness, columns: SensitiveColumns) -> list[CloseClass]:
    """Return what a class must keep."""
    name = requirement.attribute
    if requirement.distance is Distance.EQUAL:
        return [CloseClass(columns.place(name), requirement.t)]
    codes, size = ranks(columns.counts, requirement, columns.facts(name))
    return [CloseClass(columns.add(f"{name} by rank", codes, size), requirement.t, ordered=True)]


# The ranks of sensitive values, as codes of the table that a step reads.


def ranks(counts: Counts, requirement: TCloseness, facts: AttributeFacts | None) -> tuple[Codes, int]:
    """Return the rank of each cell's value, and how many there are. Raises PluginError where some have none."""
    name = requirement.attribute
    codes = counts.of(name)
    if (codes[counts.counts > 0] < 0).any():
        raise _unfit(name, "has missing or suppressed cells, which have no rank")
    used = np.unique(codes[counts.counts > 0])
    names = counts.names(name).take(used).to_pylist()
    order = _order(name, names, requirement, facts)
    rank = np.full(len(counts.names(name)), 0, dtype=np.int32)
    rank[used[order]] = np.arange(len(used), dtype=np.int32)
    return rank[codes], max(1, len(used))


def _order(
    name: str, values: Sequence[str], requirement: TCloseness, facts: AttributeFacts | None
) -> npt.NDArray[np.intp]:
    """Return the places of the values from low to high."""
    if requirement.order:
        place = {value: i for i, value in enumerate(requirement.order)}
        lost = sum(v not in place for v in values)
        if lost:
            raise _unfit(name, f"has {lost} values that the requirement gives no place in its order")
        keys = [float(place[v]) for v in values]
    else:
        keys = _dates(name, values) if facts and facts.type.is_time else _numbers(name, values)
    return np.lexsort((np.arange(len(values)), np.array(keys)))


def _numbers(name: str, values: Sequence[str]) -> list[float]:
    try:
        numbers = decimals(values)
    except UnplacedError as fault:
        raise _unfit(name, f"has {fault.values} values that {fault.what}") from None
    place = {number: float(i) for i, number in enumerate(sorted(set(numbers)))}
    return [place[number] for number in numbers]


def _dates(name: str, values: Sequence[str]) -> list[float]:
    try:
        dates = [datetime.fromisoformat(v) for v in values]
        return [(d if d.tzinfo else d.replace(tzinfo=UTC)).timestamp() for d in dates]
    except (ValueError, OverflowError):
        raise _unfit(name, "has values that are no dates in ISO 8601 form") from None


def _unfit(name: str, what: str) -> PluginError:
    return PluginError(Diagnostic("PPF807", f"the column `{name}` {what}", help="`incomplete_rows: drop` drops them"))


# The ranks of sensitive values, for the ordered distance.


def ranked(requirement: TCloseness, values: Sequence[str], ctx: AuditContext) -> list[str]:
    """Return the values from low to high: as the policy orders them, or as numbers or dates.

    Raises UnrankedError where some have no place.
    """
    if requirement.order:
        place = {value: i for i, value in enumerate(requirement.order)}
        return _sorted(values, lambda v: place[v], f"the order of `{requirement.attribute}` that the policy gives")
    facts = ctx.original_attributes.get(requirement.attribute)
    if facts is not None and facts.type.is_time:
        return _sorted(values, _moment, f"the order of dates, as `{requirement.attribute}` should have")
    return _sorted(values, _number, f"the order of numbers, as `{requirement.attribute}` should have")


def _sorted(values: Sequence[str], key: Callable[[str], Any], what: str) -> list[str]:
    keyed = []
    for value in values:
        try:
            keyed.append((key(value), value))
        except (KeyError, ValueError, InvalidOperation):
            continue
    lost = len(values) - len(keyed)
    if lost:
        verb = "has" if lost == 1 else "have"
        raise UnrankedError(f"{lost:,} of {len(values):,} released values {verb} no place in {what}.")
    return [value for _, value in sorted(keyed)]


def _number(text: str) -> Decimal:
    number = Decimal(text.strip())
    if not number.is_finite() or "_" in text:
        raise ValueError("the text must be a finite decimal number without underscores")
    return number


def _moment(text: str) -> float:
    moment = datetime.fromisoformat(text)
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(seconds):
        raise ValueError("the text must be an ISO 8601 date or time")
    return seconds
