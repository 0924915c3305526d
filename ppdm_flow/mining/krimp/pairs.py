"""Which codes are used together, row by row: what SLIM finds its candidates in."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.bits import lowest
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.mining.krimp.state import CodePairs, Items, KrimpData, KrimpTable, RowCovers
from ppdm_flow.sdk.compiled import wide


@inlined
def codes_of(data: KrimpData, table: KrimpTable, covered: RowCovers, row: int, out: Items) -> int:
    """Write the codes of a row's cover to ``out``, elements by slot, singletons after all slots; return how many."""
    count = 0
    for j in range(covered.covers[row]):
        out[count] = covered.cover[row, j]
        count += 1
    for w in range(table.mask.shape[1]):
        left = covered.single[row, w]
        while left:
            place = 64 * w + wide(lowest(left))
            out[count] = len(table.length) + data.cells[row, place]
            count += 1
            left &= left - np.uint64(1)
    return count


@inlined
def pair_up(pairing: CodePairs, code: int, codes: Items, count: int, mark: int, by: int) -> None:
    """Add to the pairs of one code with all of ``codes``; of two that carry the mark, the one that comes first does."""
    pairing.dirty[code] = 1
    for k in range(count):
        other = codes[k]
        if other != code and (pairing.stamp[other] != mark or code < other):
            pairing.pairs[code, other] += by
            pairing.pairs[other, code] += by


@inlined
def pair_again(pairing: CodePairs, held: int, holds: int, mass: int) -> None:
    """Let the pairs follow a row whose codes were ``was[:held]`` and are ``now[:holds]``."""
    for k in range(held):
        pairing.stamp[pairing.was[k]] = 1
    for k in range(holds):
        pairing.stamp[pairing.now[k]] = 3 if pairing.stamp[pairing.now[k]] else 2
    for k in range(held):
        if pairing.stamp[pairing.was[k]] == 1:
            pair_up(pairing, pairing.was[k], pairing.was, held, wide(1), -mass)
    for k in range(holds):
        if pairing.stamp[pairing.now[k]] == 2:
            pair_up(pairing, pairing.now[k], pairing.now, holds, wide(2), mass)
    for k in range(held):
        pairing.stamp[pairing.was[k]] = 0
    for k in range(holds):
        pairing.stamp[pairing.now[k]] = 0


@inlined
def pair_all(data: KrimpData, table: KrimpTable, covered: RowCovers, pairing: CodePairs) -> None:
    """Count the pairs of all rows, from nothing: the covers that change later keep them up to date."""
    pairing.counted[0] = 1
    for row in range(len(data.cells)):
        pair_again(pairing, wide(0), codes_of(data, table, covered, row, pairing.now), data.weights[row])
