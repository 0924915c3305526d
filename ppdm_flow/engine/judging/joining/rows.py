"""Finds rows of two releases that are known to be one person's: by keyed cells, unique shared cells, or order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.multiset import MultisetHash
from ppdm_flow.engine.streams.numbering import Numbering
from ppdm_flow.engine.streams.stream import Stream, check_room
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.plan.together import ReleasePair
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import RowNumbers, Table

Places = npt.NDArray[np.int64]
Columns = tuple[str, ...]
_CELLS_A_HASH = 2
"""Cells that take as much as a hash, or a weight."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number: hashes of cells in another order have another sum."""


@dataclass(frozen=True, slots=True, eq=False)
class CellHashes:
    """Keyed hashes of a release's cells, in the order of row numbers.

    ``rows`` (rows,) are numbers of the source's rows, ascending; ``cells`` the hash of each row's cells in some
    columns, ``known`` where the cell of a single column is neither missing nor suppressed. ``weights`` is how many
    people each row counts.
    """

    rows: RowNumbers
    cells: dict[Columns, npt.NDArray[np.uint64]]
    known: dict[str, npt.NDArray[np.bool_]]
    weights: npt.NDArray[np.int64]

    @classmethod
    def of(cls, stream: NumberedStream, wanted: Iterable[Columns], key: str) -> CellHashes:
        """Read a release once; equal cells have equal hashes wherever ``key`` is the same.

        Raises RunError where these are more than may be held.
        """
        combinations = tuple(dict.fromkeys(wanted))
        check_room(stream.stream, _CELLS_A_HASH * (1 + len(combinations)), "holding releases against each other")
        single = tuple(c[0] for c in combinations if len(c) == 1 and not stream.is_set(c[0]))
        names = tuple(dict.fromkeys(name for columns in combinations for name in columns))
        hashing = MultisetHash(key)
        rows: list[RowNumbers] = []
        weights: list[npt.NDArray[np.int64]] = []
        cells: dict[Columns, list[npt.NDArray[np.uint64]]] = {c: [] for c in combinations}
        known: dict[str, list[npt.NDArray[np.bool_]]] = {c: [] for c in single}
        weight = stream.weight
        for table in stream.tables((*names, *(() if weight is None or weight in names else (weight,)))):
            rows.append(table.rows)
            weights.append(np.ones(len(table), dtype=np.int64) if weight is None else weights_of(table[weight]))
            for columns, hashes in cells.items():
                hashes.append(hashing.of_rows(table.select(columns)))
            for name, seen in known.items():
                seen.append(table[name].codes >= 0)
        number = np.concatenate(rows)
        order = np.argsort(number, kind="stable")
        return cls(
            number[order],
            {c: np.concatenate(hashes)[order] for c, hashes in cells.items()},
            {n: np.concatenate(seen)[order] for n, seen in known.items()},
            np.concatenate(weights)[order],
        )


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRows:
    """The rows of two releases that are joined, as places in each, and what joins them.

    ``by`` are pairs of keyed columns that join some; ``single`` counts the rows that cells of the pairs ``shared``
    alone join. ``one`` of each pair in ``merged`` has in all joined rows the cells of the other. ``aligned``: the order
    of the rows joins all that both have. Where one lacks some of them, the adversary is assumed to know which.
    """

    link: ReleasePair
    one: Places
    other: Places
    by: tuple[tuple[str, str], ...]
    single: int
    shared: tuple[tuple[str, str], ...]
    merged: tuple[tuple[str, str], ...]
    aligned: bool = False


def join_rows(link: ReleasePair, one: CellHashes, other: CellHashes) -> JoinedRows | None:
    """Return the rows of two releases that are joined; None where none are."""
    left, right = _common(one.rows, other.rows)
    there = np.zeros(len(left), dtype=bool)
    by = []
    for a, b in link.keyed:
        same = one.known[a][left] & other.known[b][right] & (one.cells[a,][left] == other.cells[b,][right])
        by += [(a, b)] if same.any() else []
        there |= same
    single, shared = 0, _mostly_equal(link, one, other, left, right)
    if link.aligned:
        there[:] = True
    elif shared:
        alone = _once(shared, one, other, left, right) & ~there
        single = int(alone.sum())
        there |= alone
    if not there.any():
        return None
    left, right = left[there], right[there]
    merged = tuple((a, b) for a, b in (*by, *shared) if np.array_equal(one.cells[a,][left], other.cells[b,][right]))
    return JoinedRows(link, left, right, tuple(by), single, shared, merged, link.aligned)


def columns_to_compare(links: Sequence[ReleasePair], release: str) -> list[Columns]:
    """Return the columns of a release whose cells have to be compared."""
    compared: list[Columns] = []
    for link in links:
        for side, node in enumerate((link.one, link.other)):
            if node.name == release:
                compared += [(pair[side],) for pair in (*link.keyed, *link.shared)]
    return compared


def _common(one: RowNumbers, other: RowNumbers) -> tuple[Places, Places]:
    """Return the places of the numbers that both have."""
    at = np.minimum(np.searchsorted(other, one), max(0, len(other) - 1))
    there = other[at] == one if len(other) else np.zeros(len(one), dtype=bool)
    return np.flatnonzero(there), at[there]


def _mostly_equal(
    link: ReleasePair, one: CellHashes, other: CellHashes, left: Places, right: Places
) -> tuple[tuple[str, str], ...]:
    """Return the pairs of shared columns whose cells are equal in at least half of the common rows."""
    return tuple(
        (a, b) for a, b in link.shared if 2 * (one.cells[a,][left] == other.cells[b,][right]).sum() >= max(1, len(left))
    )


def _once(
    shared: Sequence[tuple[str, str]], one: CellHashes, other: CellHashes, left: Places, right: Places
) -> npt.NDArray[np.bool_]:
    """Say of the common rows whether their shared cells are the same, and nobody else's in either release."""
    mine, theirs = (_of_all(each, [pair[side] for pair in shared]) for side, each in enumerate((one, other)))
    same: npt.NDArray[np.bool_] = mine[left] == theirs[right]
    return same & _alone(mine, one.weights)[left] & _alone(theirs, other.weights)[right]


def _of_all(hashes: CellHashes, columns: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return a hash of each row's cells in some columns, from those of single cells."""
    total = np.zeros(len(hashes.rows), dtype=np.uint64)
    for column in columns:
        total = total * _FACTOR + hashes.cells[column,]
    return total


def _alone(cells: npt.NDArray[np.uint64], weights: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Say of each row whether one person alone has its cells."""
    _, number = np.unique(cells, return_inverse=True)
    people = np.bincount(number, weights=weights)
    alone: npt.NDArray[np.bool_] = people[number] == 1
    return alone


_MOST = 4


def reason(joined_rows: Sequence[JoinedRows]) -> str:
    """Return what the sentence of a figure on a joined table ends with."""
    return "".join(f" {_pair(each)}" for each in joined_rows)


def _pair(each: JoinedRows) -> str:
    one, other = each.link.one.name, each.link.other.name
    ways = [f"by {_column(pair, one, other)}" for pair in each.by]
    if each.aligned:
        ways = ["by the order of the rows, which is the same in both"]
    if each.single:
        names = listed([f"`{a}`" for a, _ in each.shared], _MOST)
        ways.append(f"by {names}, which single out {counted(each.single, 'row')} in both")
    rows = counted(len(each.one), "row")
    return f"A reader of `{one}` and `{other}` joins {rows} of them {listed(ways)}, so they are judged as one table."


def _column(pair: tuple[str, str], one: str, other: str) -> str:
    mine, theirs = pair
    return f"`{mine}`" if mine == theirs else f"`{mine}` of `{one}` and `{theirs}` of `{other}`"


# A release's rows with the numbers of the source's rows, or of the single rows of a weighted source.


@dataclass(frozen=True, slots=True)
class NumberedStream:
    """Rows of ``stream`` with the columns of ``release``; ``renumbered`` ones get the number of their first copy."""

    release: ReleaseNode
    stream: Stream
    renumbered: Numbering | None = None

    @property
    def weight(self) -> str | None:
        """The column with weights, if there is one."""
        return next((a.name for a in self.release.attributes if a.role is Role.WEIGHT), None)

    def is_set(self, name: str) -> bool:
        """Whether a column holds sets."""
        return any(a.name == name and a.role is Role.ITEMS for a in self.release.attributes)

    def tables(self, columns: Sequence[str]) -> Iterator[Table]:
        """Yield partitions with these columns."""
        for part in self.stream.parts(list(columns)):
            table = part.table
            if self.renumbered is None:
                yield table
            else:
                yield Table(table.columns, self.renumbered.first(table.rows), table.sets)


def renumber(releases: Sequence[ReleaseNode], graph: Graph) -> list[NumberedStream]:
    """Return the rows of releases under numbers of one kind: single ones as soon as one release has them."""
    single = any(graph.expanded(r.input) for r in releases)
    return [_numbered(r, graph, single=single) for r in releases]


def _numbered(release: ReleaseNode, graph: Graph, *, single: bool) -> NumberedStream:
    stream, numbering = graph.streams[release.input], graph.numbering
    if not single or graph.expanded(release.input) or numbering is None:
        return NumberedStream(release, stream)
    if not any(a.role is Role.WEIGHT for a in stream.attributes):
        return NumberedStream(release, stream, numbering)
    kept = tuple(a for a in release.attributes if a.role is not Role.WEIGHT)
    return NumberedStream(replace(release, attributes=kept), graph.engine.expanded(stream, numbering))
