"""Original rows in the classes of a generated release: generated rows belong to nobody, but may repeat a person's.

Figures on the people of a release are measured on the original rows that its classes repeat. A class that repeats no
original row is nobody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns, carriers, columns, facts_of
from ppdm_flow.mining.exposure.faults import UncountedError
from ppdm_flow.mining.exposure.paired import require_the_file
from ppdm_flow.mining.exposure.rows import CombinationQuery
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.paired_relation import cells_of
from ppdm_flow.sdk.view import DataView, Generation
from ppdm_flow.tables.column import SPECIALS, Column, union
from ppdm_flow.tables.counts import Counts, count, merge, weights_of
from ppdm_flow.tables.numbering import joined
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True)
class Repetitions:
    """Original rows by the cells of the classes that repeat them. ``known`` are the grouping attributes.

    Counts have no other released columns than those that form classes: sensitive values are those of the source.
    """

    repeats: Repeats
    known: tuple[str, ...]
    ctx: AuditContext
    leading: int = 0

    def knowing(self, known: Iterable[str]) -> Repetitions:
        """Return the same rows where fewer attributes form the classes."""
        return Repetitions(self.repeats, tuple(known), self.ctx)

    def counts(self, released: Sequence[str], original: Sequence[str] = ()) -> Counts:
        """Count the combinations of classes and attributes of the source."""
        return self.repeats.counts(released, self._made(released), original)

    def original_rows_sql(self, released: Sequence[str]) -> int:
        """Return how many original rows are in some class, by SQL; 0 without a database."""
        query = self.relation(released)
        if query is None or self.ctx.sql is None:
            return 0
        return int(self.ctx.sql.rows(f"SELECT COALESCE(SUM(n), 0) FROM ({query.text})", (), query.tables)[0][0])  # noqa: S608  # our own query

    def rows_repeating_no_original(self, released: Sequence[str]) -> int:
        """Return how many generated rows are in classes that repeat no original row."""
        return self.repeats.rows_repeating_no_original(released, self._made(released))

    def relation(
        self, released: Sequence[str], original: Sequence[str] = (), known: Sequence[str] = ()
    ) -> CombinationQuery | None:
        """Return the same for SQL."""
        if self.ctx.sql is None:
            return None
        return CombinationQuery(*self.repeats.relation(released, self._made(released), original, known))

    def _made(self, released: Sequence[str]) -> tuple[str, ...]:
        return made_columns(self.repeats.generation, self.known, released, self.ctx)


def repeated(
    known: Iterable[str], secret: Iterable[str], named: Iterable[str], candidate: DataView, ctx: AuditContext
) -> Repetitions | None:
    """Return the original rows that a generated release repeats; None where it was not generated, or is no run's.

    ``known`` are the grouping attributes, ``secret`` the sensitive ones, of which ``named`` are asked for. Raises
    UncountedError where nobody can say which rows are repeated, RunError where the rows are not those of the file.
    """
    generation = ctx.generation
    if generation is None:
        return None
    if generation.source is None:
        raise UncountedError(
            "The rows were generated from generated rows, so nobody can say whose rows they repeat: let one generator"
            " learn from the source."
        )
    revealing = columns(known, secret, candidate, ctx)
    made = made_columns(generation, revealing.known, revealing.every, ctx)
    source = tuple(a for a in dict.fromkeys(named) if carriers(a, candidate, ctx))
    repeats = Repeats(generation, revealing.every, made, source)
    require_the_file(repeats.shown(), candidate, revealing.every)
    if ctx.nulls is Nulls.WILDCARD:
        _require_whole_rows(repeats, revealing, ctx)
    return Repetitions(repeats, revealing.known, ctx)


def _require_whole_rows(repeats: Repeats, revealing: RevealingColumns, ctx: AuditContext) -> None:
    """Let no original row count twice in one crowd, which may hold several classes that repeat it.

    Raises UncountedError.
    """
    for name in revealing.known:
        released = tuple(c for c in revealing.every if name in facts_of(c, ctx).computed_from)
        made = made_columns(repeats.generation, (name,), released, ctx)
        if released and repeats.divides(released, made):
            raise UncountedError(
                f"Equal generated values of `{name}` are released as different ones, and `nulls: wildcard` takes some"
                " of these together, so nobody can say how many original rows they repeat: change all of them alike, or"
                " say `nulls: own_category`."
            )


def made_columns(
    generation: Generation, known: Iterable[str], released: Iterable[str], ctx: AuditContext
) -> tuple[str, ...]:
    """Return the columns, as generated, that depend on the released ones among those grouping attributes."""
    sources = frozenset(known) & frozenset[str]().union(*(facts_of(c, ctx).computed_from for c in released))
    made = tuple(
        name for name, facts in generation.outputs.items() if not sources.isdisjoint(facts.lineage.computed_from)
    )
    new = [name for name in made if name not in generation.inputs]
    if new:
        raise UncountedError(
            f"The generator made {listed(new)}, which what it learned from does not have, so nobody can say whose rows"
            " it repeats."
        )
    return made


def as_they_were(attribute: str) -> tuple[ValueColumns, ...]:
    """Return how the sensitive values of original rows are read."""
    return (ValueColumns(attribute, ReadingMethod.ORIGINAL, ()),)


def of_originals(revealing: RevealingColumns) -> RevealingColumns:
    """Return the columns that put original rows into classes: all that depend on grouping attributes."""
    return RevealingColumns(revealing.every, (), revealing.known)


# Original rows in the classes of generated ones, by two routes.
#
# A class of generated rows repeats the original rows that equal one of its rows, as generated, in the columns that
# depend on the grouping attributes. Later steps may merge such classes, and divide them by what else their rows had; an
# original row counts in each class that repeats it.


_GATHER = 8
_ROWS = "\0rows"


@dataclass(slots=True)
class Repeats:
    """Counts of ``released`` columns, of columns as they were ``made``, and of attributes of the ``source``.

    Nothing else is asked of these. Each side is counted only once.
    """

    generation: Generation
    released: tuple[str, ...]
    made: tuple[str, ...]
    source: tuple[str, ...]
    _made: Counts | None = field(default=None, init=False)
    _learned: Counts | None = field(default=None, init=False)
    _tables: dict[str, pa.Table] = field(default_factory=dict, init=False)

    def shown(self) -> Counts:
        """Count the generated rows by released columns r0, r1, … and by columns as they were made, a0, a1, …."""
        if self._made is None:
            self._made = _counted(self._shown(), self._of_made)
        return self._made

    def learned(self) -> Counts:
        """Count the original rows by the same columns a0, a1, … and by attributes of the source, s0, s1, …."""
        if self._learned is None:
            self._learned = _counted(self._read(), self._of_learned, None if self.generation.weight is None else _ROWS)
        return self._learned

    def counts(self, released: Sequence[str], made: Sequence[str], source: Sequence[str] = ()) -> Counts:
        """Count original rows by the cells of each class over ``released`` that repeats them, and by ``source``.

        ``made`` are the columns whose cells must be the same.
        """
        shown, same, learned = self._places(released, made, source)
        left, right = self.shown().project((*shown, *same)), self.learned().project((*same, *learned))
        right = _occurring(right)
        one, other = _keys(left, right, same)
        order = np.argsort(other, kind="stable")
        first, last = (np.searchsorted(other[order], one, side=side) for side in ("left", "right"))
        many = last - first
        at = np.repeat(np.arange(len(one)), many)
        to = order[np.arange(len(at)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)]
        columns = (*shown, *learned)
        codes = [*(left.of(c)[at] for c in shown), *(right.of(c)[to] for c in learned)]
        categories = (*(left.names(c) for c in shown), *(right.names(c) for c in learned))
        stacked = np.stack(codes, axis=1) if codes else np.zeros((len(at), 0), dtype=np.int32)
        return Counts(columns, categories, stacked, right.counts[to]).project(columns)

    def divides(self, released: Sequence[str], made: Sequence[str]) -> bool:
        """Return whether rows that were ``made`` with the same cells are in several classes over ``released``."""
        shown, same, _ = self._places(released, made, ())
        counts = self.shown()
        return len(counts.project((*same, *shown))) > len(counts.project(same))

    def rows_repeating_no_original(self, released: Sequence[str], made: Sequence[str]) -> int:
        """Return how many generated rows are in classes over ``released`` that repeat no original row."""
        shown, same, _ = self._places(released, made, ())
        left, right = self.shown().project((*shown, *same)), _occurring(self.learned().project(same))
        one, other = _keys(left, right, same)
        group, size = left.groups(shown)
        repeated = np.zeros(size, dtype=np.bool_)
        repeated[group[np.isin(one, other)]] = True
        return int(left.counts[~repeated[group]].sum())

    def relation(
        self, released: Sequence[str], made: Sequence[str], source: Sequence[str] = (), known: Sequence[str] = ()
    ) -> tuple[str, dict[str, pa.Table]]:
        """Return it as a SELECT of c0, c1, … and ``n``, without classes that miss one of ``known``, and its tables."""
        if not self._tables:
            self._tables = {
                "made": _relation(self._shown(), self._of_made, None),
                "learned": _relation(self._read(), self._of_learned, self.generation.weight and _ROWS),
            }
        shown, same, learned = self._places(released, made, source)
        distinct = ", ".join((*shown, *same)) or "1"
        needed = " AND ".join(f"{shown[i]} IS NOT NULL" for i, c in enumerate(released) if c in known) or "TRUE"
        pairs = " AND ".join(f"m.{c} IS NOT DISTINCT FROM l.{c}" for c in same) or "TRUE"
        every = [*(f"m.{c}" for c in shown), *(f"l.{c}" for c in learned)]
        named = "".join(f"{c} AS c{i}, " for i, c in enumerate(every))
        grouped = f" GROUP BY {', '.join(every)}" if every else ""
        text = f"""
            SELECT {named}SUM(l.n) AS n FROM (SELECT DISTINCT {distinct} FROM made WHERE {needed}) m
            JOIN learned l ON {pairs}{grouped} HAVING SUM(l.n) > 0"""  # noqa: S608  # our own names
        return text, self._tables

    @property
    def _of_made(self) -> list[str]:
        return [*_names("r", self.released), *_names("a", self.made)]

    @property
    def _of_learned(self) -> list[str]:
        return [*_names("a", self.made), *_names("s", self.source)]

    def _places(
        self, released: Sequence[str], made: Sequence[str], source: Sequence[str]
    ) -> tuple[list[str], list[str], list[str]]:
        return (
            [f"r{self.released.index(c)}" for c in released],
            [f"a{self.made.index(c)}" for c in made],
            [f"s{self.source.index(c)}" for c in source],
        )

    def _shown(self) -> Iterator[Table]:
        for made, released in self.generation.made.pairs(self.made, self.released):
            cells = dict(zip(self._of_made, (*_cells(released, self.released), *_cells(made, self.made)), strict=True))
            yield Table(cells, released.rows)

    def _read(self) -> Iterator[Table]:
        weight = self.generation.weight
        wanted = tuple(dict.fromkeys((*self.source, *([] if weight is None else [weight]))))
        for source, read in self.generation.learned(wanted, self.made):
            cells = dict(zip(self._of_learned, (*_cells(read, self.made), *_cells(source, self.source)), strict=True))
            yield Table(cells | ({} if weight is None else {_ROWS: source[weight]}), source.rows)


def _names(letter: str, columns: Sequence[str]) -> list[str]:
    return [f"{letter}{i}" for i in range(len(columns))]


def _cells(table: Table, columns: Iterable[str]) -> list[Column]:
    return [table[c] for c in columns]


def _counted(tables: Iterable[Table], names: Sequence[str], weight: str | None = None) -> Counts:
    waiting = [count(Table.of({name: [] for name in names}), names)]
    for table in tables:
        waiting.append(count(table, names, weight))
        if len(waiting) >= _GATHER:
            waiting = [merge(waiting)]
    return merge(waiting)


def _occurring(counts: Counts) -> Counts:
    kept = counts.counts > 0
    return Counts(counts.columns, counts.categories, counts.codes[kept], counts.counts[kept])


def _keys(left: Counts, right: Counts, columns: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Number the combinations of both by their cells in ``columns``: equal cells, equal numbers."""
    keys = np.zeros(len(left) + len(right), dtype=np.int64)
    for column in columns:
        names = union([left.names(column), right.names(column)])
        sides = [Column(np.ascontiguousarray(c.of(column)), c.names(column)).onto(names).codes for c in (left, right)]
        keys = joined(keys, np.concatenate(sides).astype(np.int64) + SPECIALS)
    return keys[: len(left)], keys[len(left) :]


def _relation(tables: Iterable[Table], names: Sequence[str], weight: str | None) -> pa.Table:
    """Return the rows as texts, null for a missing value, with ``n`` rows for each."""
    schema = pa.schema([*((name, pa.string()) for name in names), ("n", pa.int64())])
    batches = []
    for table in tables:
        rows = np.ones(len(table), dtype=np.int64) if weight is None else weights_of(table[weight])
        texts = [cells_of(table[name]) for name in names]
        batches.append(pa.RecordBatch.from_arrays([*texts, pa.array(rows)], schema=schema))
    return pa.Table.from_batches(batches, schema)
