"""The second route to matchings: cells and values from SQL, and the largest flow between them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.query import ClassQuery
from ppdm_flow.mining.exposure.sparse import largest_flow

Floats = npt.NDArray[np.float64]
_MOST = (1 << 31) - 1


def matched_sql(query: ClassQuery) -> tuple[Floats, Floats]:
    """Return the largest matching of rows and values in each class, and the rows that belong to it."""
    units = "link JOIN shown USING (unit)" if query.mixed else "(SELECT unit AS id, cell, n FROM shown)"
    text = f"SELECT id, cell, SUM(n) AS n FROM {units} GROUP BY id, cell ORDER BY id, cell"  # noqa: S608  # our own names
    if query.wildcard and not query.mixed:
        text = """
            SELECT id, cell, SUM(n) AS n FROM pairs JOIN shown ON shown.unit = pairs.other
            GROUP BY id, cell ORDER BY id, cell"""
    shown = np.array(query.ask(text), dtype=np.float64).reshape(-1, 3)
    owners = np.array(query.ask("SELECT id, own FROM sizes ORDER BY id"), dtype=np.float64).reshape(-1, 2)
    behind: dict[int, list[int]] = {}
    pairs = query.ask("SELECT cell, DENSE_RANK() OVER (ORDER BY s) FROM code WHERE p > 0")
    for cell, value in pairs:
        behind.setdefault(int(cell), []).append(int(value))
    starts = np.searchsorted(shown[:, 0], owners[:, 0])
    ends = np.searchsorted(shown[:, 0], owners[:, 0], side="right")
    each = [
        largest_matching([(int(n), set(behind[int(c)])) for _, c, n in shown[a:b]])
        for a, b in zip(starts, ends, strict=True)
    ]
    return np.array(each, dtype=np.float64), owners[:, 1]


def largest_matching(shown: list[tuple[int, set[int]]]) -> int:
    """Return the largest matching of the rows that show cells, and the values behind each.

    A sum where no value is behind two of the cells, else a maximum flow.
    """
    sets = [values for _, values in shown]
    if sum(map(len, sets)) == len(set().union(*sets)):
        return sum(min(rows, len(values)) for rows, values in shown)
    values = sorted(set().union(*sets))
    place = {v: 1 + len(sets) + i for i, v in enumerate(values)}
    end = 1 + len(sets) + len(values)
    edges = [(0, 1 + i, min(rows, _MOST)) for i, (rows, _) in enumerate(shown)]
    edges += [(1 + i, place[v], 1) for i, own in enumerate(sets) for v in own]
    edges += [(place[v], end, 1) for v in values]
    source, target, capacity = (np.array(column, dtype=np.int64) for column in zip(*edges, strict=True))
    return int(largest_flow(source, target, capacity, end + 1).sum())
