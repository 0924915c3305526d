"""What cells can show: relations of values, joined over the columns of rows that are looked at together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd

from ppdm_flow.reader.faults import JoinTooLargeError
from ppdm_flow.reader.files import NO_CELL, ReleasedColumn, ReleasedFile, SourceRows, numbered

CELL = "cell"
Shown = tuple[tuple[str, ...], tuple[str, ...], pd.DataFrame]
"""Columns of cells, the attributes that they show together, and the distinct cells with values."""
MOST_CELLS = 50_000_000
"""Cells of one table; what needs more is not verified. A join takes up to 30 bytes a cell, so these are 1.5 GB."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownValues:
    """What a column's cells can show: ``pairs`` are the distinct (cell, values of ``names``)."""

    names: tuple[str, ...]
    pairs: pd.DataFrame


def shown_by(column: ReleasedColumn, file: ReleasedFile, source: SourceRows, grouping: Collection[str]) -> ShownValues:
    """Return what occurs with each cell of a column.

    A cell that carries attributes of ``grouping`` and others can also show a combination that no row has, if its part
    in ``grouping`` and its other part each occur with the cell.
    """
    there = file.place >= 0
    cells = column.cells[file.place[there]]
    attributes = [name.partition("@")[0] for name in column.names]
    table = {CELL: cells, **{n: source.codes[a][there] for n, a in zip(column.names, attributes, strict=True)}}
    occurring = pd.DataFrame(table)
    pairs = occurring[cells != NO_CELL].drop_duplicates()
    inside = [n for n, a in zip(column.names, attributes, strict=True) if a in grouping]
    outside = [n for n in column.names if n not in inside]
    if inside and outside:
        parts = (pairs[[CELL, *part]].drop_duplicates() for part in (inside, outside))
        crossed = joined(*parts)[[CELL, *column.names]]
        taken = crossed.merge(occurring[list(column.names)].drop_duplicates(), how="left", indicator=True)
        pairs = pd.concat([pairs, crossed[(taken["_merge"] == "left_only").to_numpy()]]).drop_duplicates()
    return ShownValues(column.names, pairs)


def require_room(rows: float, columns: int) -> None:
    """Raise TooManyError for a table that has more than `MOST_CELLS`."""
    if rows * columns > MOST_CELLS:
        raise JoinTooLargeError


def joined(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Join two tables by all columns that both have. Raises TooManyError."""
    shared = [c for c in one.columns if c in other.columns]
    columns = len(one.columns) + len(other.columns) - len(shared)
    if not shared:
        require_room(len(one) * len(other), columns)
        return one.merge(other, how="cross")
    if len(one) * len(other) * columns > MOST_CELLS:
        counts = (
            one.groupby(shared)
            .size()
            .rename("a")
            .to_frame()
            .join(other.groupby(shared).size().rename("b"), how="inner")
        )
        require_room(float((counts["a"].astype(float) * counts["b"]).sum()), columns)
    return one.merge(other, on=shared)


def components(columns: Iterable[tuple[int, Sequence[str]]]) -> list[tuple[list[int], set[str]]]:
    """Return the columns, by number, that show values of common attributes, be it over others; and their attributes."""
    graph = nx.Graph()
    for number, names in columns:
        graph.add_node(number)
        graph.add_edges_from((number, name) for name in names)
    parts = (list(part) for part in nx.connected_components(graph))
    return [(sorted(x for x in p if isinstance(x, int)), {x for x in p if isinstance(x, str)}) for p in parts]


def values_of(
    rows: pd.DataFrame, relations: Sequence[tuple[str, ShownValues]], wanted: Collection[str]
) -> pd.DataFrame:
    """Return the distinct values of ``wanted`` that the cells of each of ``rows`` can show together.

    ``rows`` have a column for each of the ``relations``, with its cells, and others, which stay. The relations hang
    together by their attributes.
    """
    left: list[Shown] = [((c,), shown.names, shown.pairs.rename(columns={CELL: c})) for c, shown in relations]
    if len({frozenset(names) for _, names, _ in left}) == 1 < len(left):
        left = _intersected(rows, left)
    out = rows
    known: set[str] = set(rows.columns)
    while left:
        place = next((i for i, (_, names, _) in enumerate(left) if known & set(names)), 0)
        _, names, pairs = left.pop(place)
        out = joined(out, pairs)
        known |= set(names)
        needed = {n for columns, names, _ in left for n in (*names, *columns)}
        keep = [c for c in out.columns if c in rows.columns or c in wanted or c in needed]
        out = out[keep].drop_duplicates()
    return out[[*rows.columns, *(w for w in wanted if w in out.columns and w not in rows.columns)]].drop_duplicates()


def _intersected(rows: pd.DataFrame, relations: list[Shown]) -> list[Shown]:
    """Return relations of the same attributes as one where each of ``rows`` has cells that show many values.

    Labels of classes show what lies in a wide interval each, and few values together.
    """
    ((column,), names, pairs), *others = relations
    shown = pairs.groupby(column).size()
    if shown.reindex(rows[column]).sum() <= 4 * sum(len(each) for _, _, each in relations):
        return relations
    for _, _, each in others:
        pairs = joined(pairs, each)
    return [(tuple(c for columns, _, _ in relations for c in columns), names, pairs)]


def codes_of(*columns: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pd.DataFrame:
    """Return columns as a table whose columns are numbered."""
    return pd.DataFrame(dict(enumerate(columns)))


def agreeing(one: pd.DataFrame, other: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Join two tables where they agree in ``names``; a value of `NO_CELL` agrees with any, and gives way to it."""
    out = []
    for mine, left in _by_free(one, names):
        for theirs, right in _by_free(other, names):
            first = left.drop(columns=[n for n in names if n in mine])
            second = right.drop(columns=[n for n in names if n in theirs and n not in mine])
            out.append(joined(first, second))
    columns = [*one.columns, *(c for c in other.columns if c not in one.columns)]
    return pd.concat([table[columns] for table in out]) if out else pd.DataFrame(columns=columns)


def _by_free(table: pd.DataFrame, names: Sequence[str]) -> list[tuple[set[str], pd.DataFrame]]:
    if not names:
        return [(set(), table)]
    free = (table[list(names)] == NO_CELL).to_numpy()
    shape, first = numbered(list(free.T.astype(np.int64)), len(table))
    return [
        ({n for n, is_free in zip(names, free[f], strict=True) if is_free}, table[shape == i])
        for i, f in enumerate(first)
    ]
