"""Which codes are used together, row by row: what SLIM finds its candidates in."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.bits import lowest
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.mining.krimp.state import PAIRED, Items, State


@inlined
def codes_of(s: State, row: int, out: Items) -> int:
    """Write the codes of a row's cover to ``out``, elements by slot, singletons after all slots; return how many."""
    count = 0
    for j in range(s.covers[row]):
        out[count] = s.cover[row, j]
        count += 1
    for w in range(s.mask.shape[1]):
        left = s.single[row, w]
        while left:
            place = 64 * w + np.int64(lowest(left))
            out[count] = len(s.length) + s.cells[row, place]
            count += 1
            left &= left - np.uint64(1)
    return count


@inlined
def pair_up(s: State, code: int, codes: Items, count: int, mark: int, by: int) -> None:
    """Add to the pairs of one code with all of ``codes``; of two that carry the mark, the one that comes first does."""
    s.dirty[code] = 1
    for k in range(count):
        other = codes[k]
        if other != code and (s.stamp[other] != mark or code < other):
            s.pairs[code, other] += by
            s.pairs[other, code] += by


@inlined
def pair_again(s: State, held: int, holds: int, mass: int) -> None:
    """Let the pairs follow a row whose codes were ``was[:held]`` and are ``now[:holds]``."""
    for k in range(held):
        s.stamp[s.was[k]] = 1
    for k in range(holds):
        s.stamp[s.now[k]] = 3 if s.stamp[s.now[k]] else 2
    for k in range(held):
        if s.stamp[s.was[k]] == 1:
            pair_up(s, s.was[k], s.was, held, np.int64(1), -mass)
    for k in range(holds):
        if s.stamp[s.now[k]] == 2:
            pair_up(s, s.now[k], s.now, holds, np.int64(2), mass)
    for k in range(held):
        s.stamp[s.was[k]] = 0
    for k in range(holds):
        s.stamp[s.now[k]] = 0


@inlined
def pair_all(s: State) -> None:
    """Count the pairs of all rows, from nothing: the covers that change later keep them up to date."""
    s.numbers[PAIRED] = 1
    for row in range(len(s.cells)):
        pair_again(s, np.int64(0), codes_of(s, row, s.now), s.weights[row])
