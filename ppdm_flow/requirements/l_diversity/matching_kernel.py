"""The largest matching of rows and values in every class, compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled

Ints = npt.NDArray[np.int64]


@compiled
def unseen(place: int, queue: Ints, tail: int) -> bool:
    """Whether a cell is not among those that the search has come to already."""
    return not (queue[:tail] == place).any()


@compiled
def turned(v: int, start: int, holder: Ints, came: Ints, entered: Ints) -> None:
    """Give the free value ``v`` to the cell that reached it, and so on back to ``start``."""
    while True:
        here = came[v]
        holder[v] = here
        if here == start:
            return
        v = entered[here]


@compiled
def augmented(
    start: int,
    cells: Ints,
    first: Ints,
    behind: Ints,
    holder: Ints,
    seen: Ints,
    came: Ints,
    queue: Ints,
    entered: Ints,
    search: int,
) -> bool:
    """Give one more row of the cell ``start`` a value, if there is a way: others may have to take another one."""
    queue[0] = start
    entered[start] = -1
    head, tail = 0, 1
    while head < tail:
        here = queue[head]
        head += 1
        for v in behind[first[cells[here]] : first[cells[here] + 1]]:
            if seen[v] == search:
                continue
            seen[v] = search
            came[v] = here
            if holder[v] < 0:
                turned(v, start, holder, came, entered)
                return True
            if unseen(holder[v], queue, tail):
                entered[holder[v]] = v
                queue[tail] = holder[v]
                tail += 1
    return False


@compiled
def matched(begins: Ints, cell: Ints, rows: Ints, first: Ints, behind: Ints, values: int) -> Ints:
    """Return the size of the largest matching in each class.

    Class c has the cells ``cell[begins[c]:begins[c + 1]]``, each shown by ``rows`` rows; behind cell x are the values
    ``behind[first[x]:first[x + 1]]``, of ``values`` in all.
    """
    out = np.zeros(len(begins) - 1, dtype=np.int64)
    longest = max(1, np.diff(begins).max()) if len(out) else 1
    holder = np.full(values, -1, dtype=np.int64)  # the cell, by its place in the class, that has a value
    seen = np.full(values, -1, dtype=np.int64)  # the last search that looked at a value
    came = np.zeros(values, dtype=np.int64)  # the cell from which it did
    queue = np.zeros(longest, dtype=np.int64)
    entered = np.zeros(longest, dtype=np.int64)  # the value by which a search came to a cell
    search = 0
    for c in range(len(out)):
        cells = cell[begins[c] : begins[c + 1]]
        for start in range(len(cells)):
            for _ in range(rows[begins[c] + start]):
                search += 1
                if not augmented(start, cells, first, behind, holder, seen, came, queue, entered, search):
                    break
                out[c] += 1
        for x in cells:
            holder[behind[first[x] : first[x + 1]]] = -1
    return out
