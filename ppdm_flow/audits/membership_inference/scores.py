"""The scores of the attack: the higher, the likelier a person was in the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.records.distances import nearest, within
from ppdm_flow.audits.records.gathering import Records, distinct
from ppdm_flow.mining.comparison.dissimilarity import LAPLACE, SLIM, Search, affordable_rows, row_bits
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.krimp.compress import MOST_PAIRED

Floats = npt.NDArray[np.float64]

MOST_CODED = 100_000
"""Released rows that the code table is found on, evenly spaced; fewer of wide tables."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of each person, by attack, in the order of ``people``; ``radius`` is the one used, in attributes."""

    by_attack: dict[str, Floats]
    radius: float


def scores(people: Records, released: Records, columns: int, radius: float | None) -> Scores:
    """Score each person against the released records."""
    every = range(columns)
    first, copies, _ = distinct(released.cells)
    cells, _, place = distinct(people.cells)
    reference, queries = released.take(first).points(every), people.take(cells).points(every)
    far, _ = nearest(queries, reference)
    reach = float(np.median(far[place])) if radius is None else radius * columns
    values = {
        "distance": -far[place],
        "density": within(queries, reference, copies, reach)[place].astype(np.float64),
    }
    rows = min(len(released), affordable_rows(columns, MOST_CODED))
    likely = _likelihood(people.coarse, released.take(np.arange(rows) * len(released) // rows).coarse)
    return Scores(values | ({"likelihood": likely} if likely is not None else {}), reach)


def _likelihood(people: npt.NDArray[np.int32], released: npt.NDArray[np.int32]) -> Floats | None:
    """Return how many bits correlations save on each person; None for more values than a code table can pair."""
    widths = np.maximum(people.max(axis=0), released.max(axis=0)).astype(np.int64) + 1
    begin = np.concatenate([[0], np.cumsum(widths)])
    item, place = _items(begin, (people, released))
    if len(place) > MOST_PAIRED:
        return None
    mine, theirs = (item[cells + begin[:-1]] for cells in (people, released))
    known = Search(2, SLIM, pruning=False).encoded(Database.of_cells(theirs, place))
    alone = known.database.supports + LAPLACE
    single = np.log2(alone.sum()) - np.log2(alone)
    saved: Floats = single[mine].sum(axis=1) - row_bits(mine, known)
    return saved


def _items(
    begin: npt.NDArray[np.int64], groups: tuple[npt.NDArray[np.int32], ...]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Number the cells that occur; return the number of each cell and the column of each number."""
    used = np.zeros(int(begin[-1]), dtype=np.bool_)
    for cells in groups:
        used[cells + begin[:-1]] = True
    item = (np.cumsum(used) - 1).astype(np.int32)
    return item, (np.searchsorted(begin, np.flatnonzero(used), side="right") - 1).astype(np.int32)
