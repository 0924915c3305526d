"""The chances that rows of two files belong together: pairs of rows, scaled until each row belongs to one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_flow

from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.files import Ints

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

EXACT, WITHIN, ENOUGH, PASSES = 1e-12, 1e-6, 1e-3, 10_000
"""Scaling stops where all sums are 1 within the first, so that both routes have the same figures, or within the second
and come no nearer; after so many passes they have to be within the third."""


class UnscaledError(NotVerifiedError):
    """The sums do not come to 1."""


def scaled(one: Ints, other: Ints, start: Floats, rows: Ints, others: Ints) -> Floats | None:
    """Return the chance of each pair (``one``, ``other``) of kinds of rows, of which there are ``rows`` and ``others``.

    Each row of the smaller file belongs to one of the larger, whose other rows belong to rows that fit all. Pairs that
    lie in no complete pairing get 0. Returns None where there is no complete pairing. Raises UnscaledError.
    """
    if rows.sum() > others.sum():
        return scaled(other, one, start, others, rows)
    kinds = len(rows) + len(others)
    graph = sparse.coo_array((np.ones(len(one)), (one, other + len(rows))), (kinds, kinds))
    number, blocks = connected_components(graph, directed=False)
    block = np.asarray(blocks, dtype=np.int64)
    mine, theirs = (np.bincount(b, n, number) for b, n in ((block[: len(rows)], rows), (block[len(rows) :], others)))
    if (mine > theirs).any():
        return None
    of_pair = block[one]
    kinds_of = [np.bincount(b, minlength=number) for b in (block[: len(rows)], block[len(rows) :])]
    full = np.bincount(of_pair, minlength=number) == kinds_of[0] * kinds_of[1]
    alike = np.full(number, np.nan)
    np.fmin.at(alike, of_pair, start)
    highest = np.zeros(number)
    np.maximum.at(highest, of_pair, start)
    full &= alike == highest
    chances = np.zeros(len(one))
    chances[full[of_pair]] = 1 / theirs[of_pair[full[of_pair]]]
    if full[of_pair].all():
        return chances
    rest = ~full[of_pair]
    block_chances = _in_blocks(
        one[rest], other[rest], start[rest], rows, others, block, (theirs - mine).astype(np.int64)
    )
    if block_chances is None:
        return None
    chances[rest] = block_chances
    return chances


def _in_blocks(
    one: Ints, other: Ints, start: Floats, rows: Ints, others: Ints, block: Ints, lacking: Ints
) -> Floats | None:
    """Scale the pairs of blocks in which not every row fits every other; ``lacking`` rows of a block fit all."""
    left, i = np.unique(one, return_inverse=True)
    right, j = np.unique(other, return_inverse=True)
    blocks, filler = np.unique(block[len(rows) + right], return_inverse=True)
    n, m, fill = rows[left], others[right], lacking[blocks]
    possible = _in_complete_pairings(i, j, n, m, filler, fill)
    if possible is None:
        return None
    x = np.where(possible[: len(i)], start, 0.0)
    spare = possible[len(i) :].astype(np.float64)
    off = np.inf
    for _ in range(PASSES):
        x /= np.bincount(i, x * m[j], len(n))[i]
        total = np.bincount(filler, spare * m, len(fill))
        spare = np.divide(spare, total[filler], out=np.zeros_like(spare), where=total[filler] > 0)
        sums = np.bincount(j, x * n[i], len(m)) + spare * fill[filler]
        x /= sums[j]
        spare /= sums
        before = off
        off = max(
            float(np.abs(np.bincount(i, x * m[j], len(n)) - 1).max()),
            float(np.abs(np.bincount(filler, spare * m, len(fill)) - 1)[fill > 0].max(initial=0)),
        )
        if off <= EXACT or before <= off <= WITHIN:
            return x
    if off > ENOUGH:
        raise UnscaledError("the chances of pairs of rows do not come to 1")
    return x


def _in_complete_pairings(i: Ints, j: Ints, n: Ints, m: Ints, filler: Ints, fill: Ints) -> Bools | None:
    """Say of each pair, then of each right one with what fits all, whether it lies in a complete pairing.

    None where there is none.
    """
    first, second = 1 + len(n) + len(fill), 1 + len(n) + len(fill) + len(m)
    plenty = int(n.sum() + fill.sum())
    tail = np.concatenate([np.zeros(len(n) + len(fill)), 1 + i, 1 + len(n) + filler, first + np.arange(len(m))]).astype(
        np.int64
    )
    head = np.concatenate(
        [1 + np.arange(len(n) + len(fill)), first + j, first + np.arange(len(m)), np.full(len(m), second)]
    ).astype(np.int64)
    room = np.concatenate([n, fill, np.full(len(i) + len(m), plenty), m]).astype(np.int32)
    graph = sparse.csr_array((room, (tail, head)), (second + 1, second + 1))
    done = maximum_flow(graph, 0, second)
    if done.flow_value < plenty:
        return None
    flow = sparse.csr_array(done.flow)
    inner = sparse.coo_array(graph - flow)
    kept = (inner.data > 0) & (inner.row != 0) & (inner.col != 0) & (inner.row != second) & (inner.col != second)
    inside = sparse.coo_array((np.ones(int(kept.sum())), (inner.row[kept], inner.col[kept])), (second + 1, second + 1))
    _, strong = connected_components(inside, directed=True, connection="strong")
    above, below = np.concatenate([1 + i, 1 + len(n) + filler]), np.concatenate([first + j, first + np.arange(len(m))])
    used: Bools = np.asarray(flow[above, below]).reshape(-1) > 0
    return np.asarray(used | (strong[above] == strong[below]))
