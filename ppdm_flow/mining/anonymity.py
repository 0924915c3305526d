"""How many rows of a table occur in another one, by their supports in both.

Vreeken, van Leeuwen, Siebes, "Preserving privacy through data generation", ICDM 2007: the Anonymity Score, and
minsup in the role of k. Rows are compared as wholes; what is kept of each is a fingerprint of 16 bytes and its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.exposure.numbers import value_of
from ppdm_flow.mining.releases.attributes import listed, source_of, weight_of
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts, weights_of
from ppdm_flow.tables.schema import Schema
from ppdm_flow.tables.table import Table
from ppdm_flow.tables.text_hash import text_hashes

Integers = npt.NDArray[np.int64]

Words = npt.NDArray[np.uint64]
Level = Callable[[pa.StringArray], pa.StringArray]
"""Maps categories to the texts that are compared in their place, one for each."""
Pairs = list[tuple[int, int, int]]


# The Anonymity Score, and how released rows blend into the original.


@dataclass(frozen=True, slots=True, eq=False)
class MatchedSupports:
    """``supports`` (n,) that occur in the original, ascending; ``distinct`` rows of each, ``matched`` in the release.

    The score sums 1/s times the share of the rows of support s that occur in the release (Vreeken, van Leeuwen,
    Siebes, ICDM 2007: AS(p, o)). All rows of one support weigh the same, so that shares of distinct rows and of all
    rows are one. The original's own score, 1/s summed over the supports that occur, normalises it. So read, tables that
    the paper's generator makes score 0.71 on Iris, 0.65 on Led7, 0.63 on Pima, 0.49 on Nursery (paper: 0.72, 0.66,
    0.64, 0.49); if Pr were the share of released rows, it would be 0.92, 0.57, 0.42 and 0.73.
    """

    supports: Integers
    distinct: Integers
    matched: Integers

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of the rows of each support that occur in the release."""
        share: npt.NDArray[np.float64] = self.matched / self.distinct
        return share

    @property
    def score(self) -> float:
        """AS(p, o): from 0 to :attr:`highest`."""
        return float((self.shares / self.supports).sum())

    @property
    def highest(self) -> float:
        """AS(o, o), that of the original itself; 0 for no row."""
        return float((1.0 / self.supports).sum())

    @property
    def normalised(self) -> float:
        """NAS = AS(p, o) / AS(o, o), in [0, 1]; 0 for no row."""
        return self.score / self.highest if len(self.supports) else 0.0


def anonymity_score(joint: JointSupports) -> MatchedSupports:
    """Score a release against its original."""
    there = joint.original > 0
    supports, place = np.unique(joint.original[there], return_inverse=True)
    distinct = _sums(place, joint.distinct[there], len(supports))
    hit = joint.released[there] > 0
    return MatchedSupports(supports, distinct, _sums(place[hit], joint.distinct[there][hit], len(supports)))


@dataclass(frozen=True, slots=True)
class BlendCounts:
    """Released rows by weight: ``absent`` from, ``rare`` in and ``common`` in the original, below and from minsup on.

    The first of each pair counts the rows that are rare in the release, the second all others.
    """

    absent: tuple[int, int]
    rare: tuple[int, int]
    common: tuple[int, int]
    original_rare: int
    original_rare_found: int

    @property
    def rare_released(self) -> int:
        """The released rows that are rare in the release."""
        return self.absent[0] + self.rare[0] + self.common[0]

    @property
    def share(self) -> float:
        """Of these, the share that is rare in the original too; 0 for none."""
        return self.rare[0] / self.rare_released if self.rare_released else 0.0


def blend(joint: JointSupports, original_below: int, released_below: int) -> BlendCounts:
    """Count released rows by whether their support is below a bound in the release, and in the original.

    ``original_rare`` counts the original rows with a support below theirs, ``original_rare_found`` those of them that
    occur in the release.
    """
    weights = joint.released * joint.distinct
    rare_here = joint.released < released_below
    absent, rare = joint.original == 0, (joint.original > 0) & (joint.original < original_below)

    def split(chosen: npt.NDArray[np.bool_]) -> tuple[int, int]:
        return int(weights[chosen & rare_here].sum()), int(weights[chosen & ~rare_here].sum())

    rows = joint.original * joint.distinct
    return BlendCounts(
        absent=split(absent),
        rare=split(rare),
        common=split(~absent & ~rare),
        original_rare=int(rows[rare].sum()),
        original_rare_found=int(rows[rare & (joint.released > 0)].sum()),
    )


def _sums(place: npt.NDArray[np.intp], values: Integers, size: int) -> Integers:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, place, values)
    return sums


# Distinct rows with their weights, kept as sorted fingerprints of 128 bits, equal for equal rows.


_SALTS = (b"ppdm-flow rows a", b"ppdm-flow rows b")
"""Keys of 16 bytes: one for each half."""

_STEP = 0x9E3779B97F4A7C15
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def fingerprints(columns: Sequence[Column], levels: Sequence[Level], rows: int) -> tuple[Words, Words]:
    """Return both halves of the fingerprints, shape (rows,) each.

    Each cell's text is hashed and mixed with the place of its column (splitmix64); a row's fingerprint is
    the sum over its cells. Two unlike rows among n have equal ones with a probability of about n^2 / 2^129: below
    10^-22 for 10 million. Missing and suppressed cells are values of their own. Memory: 16 bytes a row.
    """
    halves = [np.zeros(rows, dtype=np.uint64) for _ in _SALTS]
    for place, (column, level) in enumerate(zip(columns, levels, strict=True)):
        texts = level(column.categories)
        dense = column.dense
        for half, salt in zip(halves, _SALTS, strict=True):
            half += _of_cells(texts, salt, place)[dense]
    return halves[0], halves[1]


def _of_cells(texts: pa.StringArray, salt: bytes, place: int) -> Words:
    """Return a word for each dense code: suppressed, missing, then the texts."""
    words = np.arange(len(texts) + SPECIALS, dtype=np.uint64)
    words[SPECIALS:] = _mixed(text_hashes(texts, salt))
    return _mixed(words + np.uint64(_STEP * (place + 1) % (1 << 64)))


def _mixed(words: Words) -> Words:
    """Return splitmix64 of each word (Steele, Lea, Flood, OOPSLA 2014)."""
    words = (words ^ (words >> np.uint64(30))) * _MIX[0]
    words = (words ^ (words >> np.uint64(27))) * _MIX[1]
    return words ^ (words >> np.uint64(31))


@dataclass(frozen=True, slots=True, eq=False)
class RowTally:
    """``weights`` (n,) of the rows with fingerprints (``high``, ``low``), sorted by ``high``; each is there once."""

    high: Words
    low: Words
    weights: Integers

    def between(self, start: int, stop: int) -> RowTally:
        """Return the rows with ``start`` <= high < ``stop``; the latter may be 2^64."""
        begin = np.searchsorted(self.high, np.uint64(start))
        end = len(self.high) if stop >= 1 << 64 else np.searchsorted(self.high, np.uint64(stop))
        return RowTally(self.high[begin:end], self.low[begin:end], self.weights[begin:end])


def tallies(
    parts: Iterable[Table], columns: Sequence[str], levels: Sequence[Level], weight: str | None = None
) -> Iterator[RowTally]:
    """Yield the tally of each partition over ``columns``; rows of weight 0 are none. At most 24 bytes a row."""
    for part in parts:
        weights = np.ones(len(part), dtype=np.int64) if weight is None else weights_of(part[weight])
        yield tally(*fingerprints([part[c] for c in columns], levels, len(part)), weights)


def of_counts(counts: Counts, levels: Sequence[Level] | None = None) -> RowTally:
    """Return the tally of distinct combinations that were counted already."""
    columns = [Column(np.ascontiguousarray(counts.codes[:, i]), c) for i, c in enumerate(counts.categories)]
    chosen = [exact] * len(columns) if levels is None else levels
    return tally(*fingerprints(columns, chosen, len(counts)), counts.counts)


def tally(high: Words, low: Words, weights: Integers) -> RowTally:
    """Add up the weights of equal rows."""
    order, first = grouped(high, low)
    kept = np.add.reduceat(weights[order], first) if len(first) else np.zeros(0, dtype=np.int64)
    there = kept > 0
    rows = order[first][there]
    return RowTally(high[rows], low[rows], kept[there])


def grouped(high: Words, low: Words) -> tuple[Integers, Integers]:
    """Return an order that brings equal fingerprints together, and where in it each group begins."""
    order = np.argsort(high)
    new = _changes(high[order])
    if np.any(_changes(low[order]) & ~new):  # two rows share one half: sort by both
        order = np.lexsort((low, high))
        new = _changes(high[order]) | _changes(low[order])
    return order, np.flatnonzero(new)


def _changes(words: Words) -> npt.NDArray[np.bool_]:
    """Whether each word differs from the one before it; the first does."""
    new = np.ones(len(words), dtype=np.bool_)
    np.not_equal(words[1:], words[:-1], out=new[1:])
    return new


# At which level values are compared: as they are written, or by the interval that they lie in.


NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""The numbers that lie in intervals; any other text is compared as it is."""
BLANK = " \t"
"""What may stand around a number."""
MARK = "\x1f"
"""What the name of an interval begins with, so that no text of the data is one."""


def exact(categories: pa.StringArray) -> pa.StringArray:
    """Compare values as they are written."""
    return categories


@dataclass(frozen=True, slots=True)
class ByInterval:
    """Compare numbers by the half-open interval between ascending ``edges`` that they lie in.

    Numbers below the first edge and from the last one on are two more intervals. The released name of an interval,
    ``[18, 25)``, ``< 18`` or ``>= 65``, is in that interval too.
    """

    edges: tuple[float, ...]

    def __call__(self, categories: pa.StringArray) -> pa.StringArray:
        """Return the names of intervals in place of numbers."""
        inside, place = self._places(categories)
        names = pa.array([f"{MARK}{i}" for i in range(len(self.edges) + 1)], pa.string())
        return pc.if_else(pa.array(inside), names.take(pa.array(place)), categories)

    def covers(self, categories: pa.StringArray) -> bool:
        """Whether every text is a number or the name of an interval."""
        return bool(self._places(categories)[0].all())

    def _places(self, categories: pa.StringArray) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Return which texts lie in an interval, and in which one."""
        bare = pc.utf8_trim(categories, characters=BLANK)
        numeric = pc.match_substring_regex(bare, f"^({NUMBER})$").to_numpy(zero_copy_only=False)
        place = np.zeros(len(categories), dtype=np.int64)
        numbers = pc.cast(bare.filter(pa.array(numeric)), pa.float64()).to_numpy(zero_copy_only=False)
        place[numeric] = np.searchsorted(np.array(self.edges), numbers, side="right")
        named = pc.index_in(categories, value_set=pa.array(self.labels, pa.string()))
        known = named.is_valid().to_numpy(zero_copy_only=False)
        place[known] = named.drop_null().to_numpy()
        return numeric | known, place

    @property
    def labels(self) -> tuple[str, ...]:
        """The released names of the intervals, from below the first edge to the last edge and above."""
        edges = [_written(e) for e in self.edges]
        return (f"< {edges[0]}", *(f"[{a}, {b})" for a, b in pairwise(edges)), f">= {edges[-1]}")


def _written(edge: float) -> str:
    exactly = Decimal(repr(float(edge)))
    is_integer = exactly == exactly.to_integral_value()
    return str(int(exactly)) if is_integer else format(exactly.normalize(), "f")


# How often the rows of two tables occur in each of them.


_BUCKET = 1 << 21
"""Fingerprints that are put in order at a time, about."""


@dataclass(frozen=True, slots=True, eq=False)
class JointSupports:
    """``distinct`` (n,) rows have the support ``original`` (n,) in one table and ``released`` (n,) in the other.

    Sorted by the two supports, each pair of them once; 0 is no occurrence. It is small: the pairs of supports that
    occur are few, however many rows there are.
    """

    original: Integers
    released: Integers
    distinct: Integers

    @property
    def original_rows(self) -> int:
        """The rows of the original, by weight."""
        return int((self.original * self.distinct).sum())

    @property
    def released_rows(self) -> int:
        """The rows of the release, by weight."""
        return int((self.released * self.distinct).sum())


def joint_supports(original: Iterable[RowTally], released: Iterable[RowTally]) -> JointSupports:
    """Match two tables, each given by the tallies of its partitions over the same columns in the same order.

    Memory: 24 bytes for each distinct row of each partition, and some 100 MB to put them in order.
    """
    sides = [list(original), list(released)]
    size = sum(len(t.weights) for side in sides for t in side)
    buckets = 1 << max(0, (size // _BUCKET).bit_length())
    step = (1 << 64) // buckets
    parts = [_of_bucket(sides, i * step, (i + 1) * step) for i in range(buckets)]
    return _added(np.concatenate(parts))


def of_tables(original: Counts, released: Counts) -> JointSupports:
    """Match two tables that were counted over the same columns, in the same order."""
    return joint_supports([of_counts(original)], [of_counts(released)])


def _of_bucket(sides: list[list[RowTally]], start: int, stop: int) -> Integers:
    """Return (original, released, distinct) of the rows in one bucket, shape (n, 3)."""
    parts = [[t.between(start, stop) for t in side] for side in sides]
    every = [t for side in parts for t in side]
    if not sum(len(t.weights) for t in every):
        return np.zeros((0, 3), dtype=np.int64)
    order, first = grouped(np.concatenate([t.high for t in every]), np.concatenate([t.low for t in every]))
    weights = np.concatenate([t.weights for t in every])
    split = sum(len(t.weights) for t in parts[0])
    both = np.zeros((len(weights), 2), dtype=np.int64)
    both[:split, 0] = weights[:split]
    both[split:, 1] = weights[split:]
    supports = np.add.reduceat(both[order], first, axis=0)
    return _pairs(np.column_stack([supports, np.ones(len(supports), dtype=np.int64)]))


def _pairs(rows: Integers) -> Integers:
    """Add up ``distinct`` of equal (original, released)."""
    order = np.lexsort((rows[:, 1], rows[:, 0]))
    ordered = rows[order]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = (ordered[1:, :2] != ordered[:-1, :2]).any(axis=1)
    first = np.flatnonzero(new)
    return np.column_stack([ordered[first, :2], np.add.reduceat(ordered[:, 2], first)])


def _added(rows: Integers) -> JointSupports:
    pairs = _pairs(rows) if len(rows) else rows
    return JointSupports(pairs[:, 0], pairs[:, 1], pairs[:, 2])


# The second route to the supports of rows in two tables: SQL over the released file and the original.


def supports(sql: Sql, chosen: Sequence[MatchedColumn], level: str, original: Schema, candidate: Schema) -> Pairs:
    """Return (support in the original, in the release, number of distinct rows), each pair of supports once.

    Rows are grouped by MD5 over their cells: 16 bytes a row, and DuckDB spills what does not fit.
    """
    before = _digest(_cell(quoted(c.source), c, level) for c in chosen)
    after = _digest(_cell(value_of(quoted(c.column), c.values), c, level) for c in chosen)
    query = f"""
        WITH rows AS (
            SELECT {before} AS r, {weight_of(original)} AS o, CAST(0 AS BIGINT) AS p FROM original
            UNION ALL
            SELECT {after} AS r, CAST(0 AS BIGINT) AS o, {weight_of(candidate)} AS p FROM candidate),
        joined AS (SELECT SUM(o) AS o, SUM(p) AS p FROM rows GROUP BY r)
        SELECT o, p, COUNT(*) FROM joined WHERE o > 0 OR p > 0 GROUP BY o, p"""  # noqa: S608  # identifiers and texts are quoted
    return [(int(o), int(p), int(n)) for o, p, n in sql.rows(query)]


def _digest(cells: Iterable[str]) -> str:
    """Return a number for a row, each cell with its length before it, so that no two rows are written alike."""
    written = (f"COALESCE(LENGTH({cell}) || ':' || {cell}, '-')" for cell in cells)
    return f"MD5_NUMBER(CONCAT({', '.join(written)}))"


def _cell(cell: str, column: MatchedColumn, level: str) -> str:
    chosen = column.intervals if column.recoded or level == INTERVALS else None
    return cell if chosen is None else _interval(cell, chosen)


def _interval(cell: str, intervals: ByInterval) -> str:
    """Return the interval of a number or of an interval's name, and any other text as it is."""
    bare = f"TRIM({cell}, ' ' || CHR(9))"
    passed = " + ".join(
        f"(CASE WHEN TRY_CAST({bare} AS DOUBLE) >= {e!r}::DOUBLE THEN 1 ELSE 0 END)" for e in intervals.edges
    )
    named = " ".join(f"WHEN {cell} = '{label}' THEN CHR(31) || '{i}'" for i, label in enumerate(intervals.labels))
    return (
        f"(CASE WHEN REGEXP_FULL_MATCH({bare}, '{NUMBER}') THEN CHR(31) || ({passed})::VARCHAR {named} ELSE {cell} END)"
    )


# Which columns of a release are compared with the original, at which level, and what that cannot see.
#
# Columns are matched by their name in the source. Identifiers, subjects, weights and sets of items are left out, and so
# are columns whose values were given other names: no row could match, and the release would look safer than it is.


_NEVER = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.ITEMS)
EXACT, INTERVALS = "exact", "intervals"

NOTHING = "No released attribute can be compared with the original, so nothing can be said of its rows."


@dataclass(frozen=True, slots=True)
class MatchedColumn:
    """A released column and the one that it comes from; ``intervals`` where they may be compared by these.

    ``recoded``: the released values are names of intervals, so that they can be compared in no other way. ``values``
    are those that released cells are other names of, as the policy itself says.
    """

    column: str
    source: str
    intervals: ByInterval | None = None
    recoded: bool = False
    values: Mapping[str, str] = field(default_factory=dict)

    def level(self, name: str) -> Level:
        """Return how its values are compared at the level ``exact`` or ``intervals``."""
        return self.intervals if self.intervals is not None and (self.recoded or name == INTERVALS) else exact

    def released_level(self, name: str) -> Level:
        """Return how released cells are compared: those that are other names of values as these values."""
        level, values = self.level(name), self.values
        if not values:
            return level
        return lambda texts: level(pa.array([values.get(t, t) for t in texts.to_pylist()], pa.string()))


@dataclass(frozen=True, slots=True)
class MatchedColumns:
    """``columns`` are compared; ``left_out`` are released columns of the original that cannot be."""

    columns: tuple[MatchedColumn, ...]
    left_out: tuple[str, ...]

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels at which the rows are compared: also by interval, where a column has intervals of its own."""
        both = any(c.intervals is not None and not c.recoded for c in self.columns)
        return (EXACT, INTERVALS) if both else (EXACT,)


def comparison(original: DataView, candidate: DataView, ctx: AuditContext) -> MatchedColumns:
    """Return what can be compared of a release."""
    shared = [c for c in candidate.schema.names if candidate.schema[c].role not in _NEVER]
    shared = [c for c in shared if source_of(c, ctx) in original.schema]
    compared = {c: _compared(c, original, candidate, ctx) for c in shared}
    columns = tuple(f for f in compared.values() if f is not None)
    return MatchedColumns(columns, tuple(c for c in shared if compared[c] is None))


def matched(chosen: Sequence[MatchedColumn], level: str, original: DataView, candidate: DataView) -> JointSupports:
    """Match the rows of both tables at one level: one pass over each, 24 bytes a row."""
    before = original, [c.source for c in chosen], [c.level(level) for c in chosen]
    after = candidate, [c.column for c in chosen], [c.released_level(level) for c in chosen]
    sides = []
    for view, names, levels in (before, after):
        weight = view.schema.weight
        wanted = [*dict.fromkeys(names), *([weight] if weight else [])]
        sides.append(tallies(view.partitions(wanted), names, levels, weight))
    return joint_supports(*sides)


def _compared(column: str, original: DataView, candidate: DataView, ctx: AuditContext) -> MatchedColumn | None:
    source = source_of(column, ctx)
    intervals = _intervals(source, ctx)
    facts = ctx.attributes.get(column)
    if facts is not None and facts.was(Change.PSEUDONYMIZED, Change.OTHER):
        return None
    if facts is None or not facts.was(Change.GENERALIZED):
        return MatchedColumn(column, source, intervals)
    if facts.recoded:
        before, merged = original.domain(source).to_pylist(), {cell for value, cell in facts.recoded if cell != value}
        values = facts.other_names(before)
        if values and {*candidate.domain(column).to_pylist()} <= {*values, *before} - (merged - values.keys()):
            return MatchedColumn(column, source, intervals, values=values)
    if intervals is None or not intervals.covers(candidate.domain(column)):
        return None
    return MatchedColumn(column, source, intervals, recoded=True)


def _intervals(source: str, ctx: AuditContext) -> ByInterval | None:
    facts = ctx.original_attributes.get(source)
    hierarchy = facts.hierarchy if facts else None
    return None if hierarchy is None or hierarchy.intervals is None else ByInterval(hierarchy.intervals)


def shortcomings(compared: MatchedColumns, ctx: AuditContext) -> tuple[Finding, ...]:
    """Return findings for columns that are left out, and for cells that no original row has."""
    findings = []
    if compared.left_out:
        text = (
            f"{listed(compared.left_out)}: the released values are not those of the original, so rows are compared"
            " without them"
        )
        findings.append(Finding("PPF854", Severity.WARNING, text, f"{ctx.release}.left_out"))
    hidden = [c.column for c in compared.columns if _suppressed(c.column, ctx)]
    if hidden:
        text = (
            f"{listed(hidden)}: cells are suppressed, and a row with such a cell counts as unlike every original row;"
            " the figure says nothing of what its other cells give away"
        )
        findings.append(Finding("PPF855", Severity.WARNING, text, f"{ctx.release}.suppressed"))
    return tuple(findings)


def columns_of(compared: MatchedColumns, level: str) -> str:
    """Return ``over 9 attributes`` for a sentence, and how numbers are compared, where there are two ways."""
    text = f"over {counted(len(compared.columns), 'attribute')}"
    if len(compared.levels) == 1:
        return text
    return f"{text}, numbers compared {'by interval' if level == INTERVALS else 'exactly'}: the worse of both ways"


def _suppressed(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.was(Change.SUPPRESSED)
