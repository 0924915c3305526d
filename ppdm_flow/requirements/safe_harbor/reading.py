"""The distinct cells of a released column with their rows, by two routes; which of them one person alone has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.mining.exposure.faults import RandomizedError
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.mining.identifiers.cells import normalized
from ppdm_flow.mining.people.figures import require_people
from ppdm_flow.requirements.safe_harbor.columns import ScannedColumn
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SUPPRESSED_TEXT, union
from ppdm_flow.tables.sets import Baskets


@dataclass(frozen=True, slots=True, eq=False)
class NormalizedCells:
    """Normalized texts of distinct cells, their rows (int64), and whether one row, or one person, alone has each."""

    texts: pa.StringArray
    rows: npt.NDArray[np.int64]
    alone: npt.NDArray[np.bool_]


def cells_of(look: ScannedColumn, candidate: DataView, ctx: AuditContext) -> NormalizedCells:
    """Count the cells. Raises UnmeasuredError where sets are randomized, or nothing says whose the rows are."""
    if look.sets:
        return _items(look, candidate)
    counts = ReleasedRows(candidate, ctx).counts((look.name,), _subject(ctx))
    codes, texts = counts.codes[:, 0], counts.categories[0]
    known = codes >= 0
    rows = np.bincount(codes[known], counts.counts[known], minlength=len(texts)).astype(np.int64)
    people = np.bincount(codes[known], minlength=len(texts)) if _subject(ctx) else rows
    used = rows > 0
    return NormalizedCells(normalized(texts.filter(pa.array(used))), rows[used], people[used] == 1)


def queried_cells(look: ScannedColumn, candidate: DataView, ctx: AuditContext, sql: Sql) -> pa.Table:
    """Return the same in SQL, as a table of id, v, n and alone. Raises UnmeasuredError as above."""
    if look.sets:
        _items(look, candidate)
        each = f"SELECT UNNEST({quoted(look.name)}) AS v FROM candidate"  # noqa: S608  # an identifier, quoted
        each = f"SELECT v, COUNT(*) AS n, FALSE AS alone FROM ({each}) GROUP BY v"  # noqa: S608  # the same
        return _plain(sql.table(f"SELECT ROW_NUMBER() OVER () AS id, * FROM ({each})"))  # noqa: S608  # the same
    subject = _subject(ctx)
    relation = ReleasedRows(candidate, ctx).relation((look.name,), subject)
    if relation is None:
        raise ValueError("rows must be readable by SQL, but they have no database relation")
    people = "COUNT(DISTINCT c1)" if subject else "SUM(n)"
    grouped = f"SELECT c0 AS v, CAST(SUM(n) AS BIGINT) AS n, {people} = 1 AS alone FROM ({relation.text}) GROUP BY c0"  # noqa: S608  # our own query
    known = f"SELECT ROW_NUMBER() OVER () AS id, * FROM ({grouped}) WHERE v IS NOT NULL AND v <> '{SUPPRESSED_TEXT}'"  # noqa: S608  # the same
    return _plain(sql.table(known, (), relation.tables))


def _plain(cells: pa.Table) -> pa.Table:
    """Return the same cells with normalized texts."""
    texts = cells.column("v").combine_chunks().cast(pa.string())
    texts = pa.concat_arrays(texts.chunks) if isinstance(texts, pa.ChunkedArray) else texts
    return cells.set_column(cells.schema.get_field_index("v"), "v", normalized(texts))


def _subject(ctx: AuditContext) -> tuple[str, ...]:
    """Return the attribute that says whose a row is, where people are counted. Raises UnmeasuredError."""
    if ctx.people is None or ctx.generation is not None:
        return ()
    require_people(ctx.people, ctx)
    return (ctx.people.subject,)


def _items(look: ScannedColumn, candidate: DataView) -> NormalizedCells:
    """Count the items of sets; of one row alone are many that occur once, so that none is a code for that."""
    texts = pa.array([], pa.string())
    rows = np.zeros(0, dtype=np.int64)
    for part in candidate.partitions([look.name]):
        sets = part.sets[look.name]
        if not isinstance(sets, Baskets):
            text = f"The sets of `{look.name}` are randomized: what their items show cannot be told from noise."
            raise RandomizedError(text)
        both = union([texts, sets.categories])
        held = np.zeros(len(both), dtype=np.int64)
        held[_places(texts, both)] += rows
        np.add.at(held, _places(sets.categories, both)[sets.items], 1)
        texts, rows = both, held
    used = rows > 0
    return NormalizedCells(normalized(texts.filter(pa.array(used))), rows[used], np.zeros(int(used.sum()), dtype=bool))


def _places(texts: pa.StringArray, every: pa.StringArray) -> npt.NDArray[np.int64]:
    import pyarrow.compute as pc  # noqa: PLC0415  # only sets need it

    places: npt.NDArray[np.int64] = pc.index_in(texts, every).to_numpy(zero_copy_only=False).astype(np.int64)
    return places
