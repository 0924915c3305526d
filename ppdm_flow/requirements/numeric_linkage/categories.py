"""Categories of original and released rows as codes: which category a released cell stands for.

Where a column is a map of the one value (unchanged, renamed, generalized, suppressed), a known value agrees with the
cell that this value is released as. Any other column (exchanged, drawn) has to show values of the attribute themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.exposure.columns import facts_of
from ppdm_flow.mining.exposure.numbers import Ints, UnnumberedError, other_rows, require_numbers
from ppdm_flow.mining.exposure.paired import paired_counts
from ppdm_flow.requirements.numeric_linkage.codes import ELSEWHERE, HIDDEN, UNKNOWN
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.paired_relation import cells_of
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import SUPPRESSED_TEXT

Columns = Sequence[tuple[str, str]]
"""Released columns, each with the category that it tells of."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkageCategories:
    """``released`` (rows, columns) codes, ``texts`` of the original rows by column, and what known values agree with.

    ``values`` of each column are those that a released cell stands for, and ``codes`` theirs.
    """

    released: Ints
    texts: tuple[pa.Array, ...]
    values: tuple[pa.Array, ...]
    codes: tuple[Ints, ...]

    def known(self, texts: Sequence[pa.Array]) -> Ints:
        """Return the codes of known values, (records, columns), from the texts of each column."""
        found = [_known(*each) for each in zip(texts, self.values, self.codes, strict=True)]
        return np.column_stack(found) if found else np.zeros((len(self.released), 0), np.int64)


def read(
    columns: Columns, original: DataView, candidate: DataView, ctx: AuditContext, pairs: PairedView
) -> LinkageCategories:
    """Return the categories by row number.

    Raises UnnumberedError where nothing says what a cell stands for, and RunError where rows are not those of the file.
    """
    before, after = _cells(columns, pairs)
    released, values, codes = [], [], []
    for (column, attribute), texts, cells in zip(columns, before, after, strict=True):
        require_numbers(column, ctx)
        paired_counts(candidate, pairs, [column], [])
        shown = cells.dictionary_encode()
        released.append(shown.indices.fill_null(HIDDEN).to_numpy(zero_copy_only=False).astype(np.int64))
        if facts_of(column, ctx).value_map:
            labels = _labels(texts, shown, column)
        elif (
            pc.all(pc.is_in(shown.dictionary, value_set=original.domain(attribute).cast(pa.string()))).as_py() is False
        ):
            raise _unread(column)
        else:
            labels = shown.dictionary, np.arange(len(shown.dictionary))
        values.append(labels[0])
        codes.append(labels[1])
    stacked = np.column_stack(released) if released else np.zeros((0, 0), np.int64)
    return LinkageCategories(stacked, tuple(before), tuple(values), tuple(codes))


def _cells(columns: Columns, pairs: PairedView) -> tuple[list[pa.Array], list[pa.Array]]:
    """Return the texts of attributes and of columns, by row number, null where there is none."""
    before: list[list[pa.Array]] = [[] for _ in columns]
    after: list[list[pa.Array]] = [[] for _ in columns]
    rows = [np.zeros(0, np.int64)]
    attributes, names = ([each[i] for each in columns] for i in (1, 0))
    for left, right in pairs.pairs(list(dict.fromkeys(attributes)), list(dict.fromkeys(names))):
        for i, (column, attribute) in enumerate(columns):
            before[i].append(cells_of(left[attribute]))
            after[i].append(cells_of(right[column]))
        rows.append(np.asarray(right.rows, dtype=np.int64))
    order = pa.array(np.argsort(np.concatenate(rows), kind="stable"))
    return [_whole(parts, order) for parts in before], [_whole(parts, order) for parts in after]


def _whole(parts: list[pa.Array], order: pa.Array) -> pa.Array:
    texts = pa.concat_arrays([pa.array([], pa.string()), *(part.cast(pa.string()) for part in parts)]).take(order)
    return pc.if_else(pc.equal(texts, SUPPRESSED_TEXT), pa.scalar(None, pa.string()), texts)


def _labels(texts: pa.Array, shown: pa.DictionaryArray, column: str) -> tuple[pa.Array, Ints]:
    """Return the original values and what each is released as. Raises UnnumberedError where that is several things."""
    values = texts.dictionary_encode()
    of_row, label = (
        each.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) for each in (values, shown)
    )
    both = (of_row >= 0) & (label >= 0)
    width = max(1, len(shown.dictionary))
    different = np.unique(of_row[both] * width + label[both])
    value, code = different // width, different % width
    if len(np.unique(value)) < len(value):
        raise _unread(column)
    codes = np.full(len(values.dictionary), ELSEWHERE, np.int64)
    codes[value] = code
    return values.dictionary, codes


def _known(texts: pa.Array, values: pa.Array, codes: Ints) -> Ints:
    place = pc.index_in(texts, value_set=values).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    found = np.append(codes, ELSEWHERE)[place]
    return np.where(pc.is_null(texts).to_numpy(zero_copy_only=False), UNKNOWN, found)


def _unread(column: str) -> UnnumberedError:
    return UnnumberedError(
        f"Some cells of `{column}` are labels that do not stand for the same values in each row: nothing says with"
        " which known ones they agree."
    )


def read_sql(
    sql: Sql, columns: Columns, paired: pa.Table, candidate: DataView, ctx: AuditContext, others: Sequence[pa.Table]
) -> list[Ints]:
    """Return the codes of original rows, of released rows and of each of the ``others``, (each, columns), in SQL.

    ``paired`` has the cells r0, … of the columns and o0, … of their attributes, ``n`` and ``row``; ``others`` have
    k0, … of the columns, and a ``row``.
    """
    tables: dict[str, pa.Table] = {"paired": paired} | {f"other{i}": table for i, table in enumerate(others)}
    _hold(sql, columns, candidate.schema.weight, tables)
    found: list[list[Ints]] = [[] for _ in range(2 + len(others))]
    for j, (column, _) in enumerate(columns):
        shown = f"(SELECT DISTINCT r{j} AS cell FROM paired WHERE r{j} <> '{SUPPRESSED_TEXT}')"  # noqa: S608  # our own names
        codes = f"codes AS (SELECT cell, ROW_NUMBER() OVER (ORDER BY cell) AS code FROM {shown})"  # noqa: S608  # the same
        stands, joined = "SELECT cell AS value, code FROM codes", f"paired LEFT JOIN codes ON r{j} = cell"
        if facts_of(column, ctx).value_map:
            stands = f"SELECT o{j} AS value, MAX(code) AS code FROM {joined} GROUP BY o{j}"  # noqa: S608  # the same
        sides = [("paired", f"o{j}"), *((f"other{i}", f"k{j}") for i in range(len(others)))]
        known = (
            f"SELECT CASE WHEN {cell} IS NULL THEN {UNKNOWN} ELSE COALESCE(code, {ELSEWHERE}) END AS code"  # noqa: S608  # the same
            f" FROM {table} LEFT JOIN stands ON {cell} = value ORDER BY {table}.row"
            for table, cell in sides
        )
        cells = f"SELECT COALESCE(code, {HIDDEN}) AS code FROM {joined} ORDER BY paired.row"  # noqa: S608  # the same
        first, *rest = known
        for place, query in enumerate((first, cells, *rest)):
            read = sql.table(f"WITH {codes}, stands AS ({stands}) {query}", (), tables)  # the same
            found[place].append(read["code"].to_numpy().astype(np.int64))
    return [np.column_stack(each) for each in found]


def _hold(sql: Sql, columns: Columns, weight: str | None, tables: dict[str, pa.Table]) -> None:
    """Hold the paired cells against those of the file. Raises RunError where they differ."""
    rows = "1" if weight is None else f"CAST({quoted(weight)} AS BIGINT)"
    for j, (column, _) in enumerate(columns):
        both = [f"SELECT r{j} AS c, n FROM paired", f"SELECT {quoted(column)} AS c, {rows} AS n FROM candidate"]  # noqa: S608  # quoted
        one, other = (f"(SELECT c, SUM(n) AS n FROM ({each}) GROUP BY c HAVING SUM(n) > 0)" for each in both)  # noqa: S608  # the same
        text = f"SELECT COUNT(*) FROM (({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}))"  # noqa: S608  # the same
        if sql.rows(text, (), tables)[0][0]:
            raise other_rows()
