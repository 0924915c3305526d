"""SLIM's loop: join the two codes whose union promises most, see what it really brings, keep what makes things smaller.

Smets, Vreeken, "Slim: directly mining descriptive patterns", SDM 2012, sections 4 and 5. Codes of one cover do not
overlap, so the estimate needs no more than the usages of both and of the pair.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.itemsets.kernels import inlined, part, spliced
from ppdm_flow.mining.krimp.accept import fill
from ppdm_flow.mining.krimp.change import log_term
from ppdm_flow.mining.krimp.occurrences import rows_containing
from ppdm_flow.mining.krimp.pairs import pair_all
from ppdm_flow.mining.krimp.state import (
    CODES,
    TOTAL,
    CodePairs,
    Counts,
    Floats,
    Items,
    KrimpData,
    KrimpTable,
    RowCovers,
    Trial,
)
from ppdm_flow.sdk.compiled import wide


class BestPartners(NamedTuple):
    """For each code the most promising partner and the bits it promises, as estimated in ``round``; -1, 0 if none.

    ``clock`` holds the round, which ends with every addition. ``both`` is room for a union.
    """

    partner: Items
    bits: Floats
    round: Counts
    clock: Counts
    both: Items


@inlined
def promise(data: KrimpData, table: KrimpTable, pairing: CodePairs, a: int, b: int, before: float) -> float:
    """Return by how many bits the union of two codes would make data and table smaller if it took all shared rows."""
    u, v, both = table.usage[a], table.usage[b], wide(pairing.pairs[a, b])
    total, codes = table.numbers[TOTAL] - both, table.numbers[CODES] + 1
    bits = (
        log_term(data, u - both)
        + log_term(data, v - both)
        + log_term(data, both)
        - log_term(data, u)
        - log_term(data, v)
    )
    bits -= table.bits[a] + table.bits[b]
    if u == both:
        codes -= 1
        bits += table.bits[a]
    if v == both:
        codes -= 1
        bits += table.bits[b]
    return bits + before - (total + codes) * math.log2(total)  # type: ignore[no-any-return]


@inlined
def size_now(table: KrimpTable) -> float:
    """Return the part of the total size that depends on the sum of usages."""
    return (table.numbers[TOTAL] + table.numbers[CODES]) * math.log2(max(table.numbers[TOTAL], 1))  # type: ignore[no-any-return]


@part
def look(data: KrimpData, table: KrimpTable, pairing: CodePairs, best: BestPartners, a: int) -> None:
    """Find the best partner of one code."""
    best.partner[a], best.bits[a], best.round[a] = -1, 0.0, best.clock[0]
    before = size_now(table)
    for b in range(len(pairing.pairs)):
        if pairing.pairs[a, b] > 0 and not pairing.tried[a, b]:
            bits = promise(data, table, pairing, a, b, before)
            if bits > best.bits[a]:
                best.partner[a], best.bits[a] = b, bits


@part
def look_again(data: KrimpData, table: KrimpTable, pairing: CodePairs, best: BestPartners) -> None:
    """Bring the partners up to date with the codes whose rows have changed."""
    best.clock[0] += 1
    before = size_now(table)
    for a in range(len(pairing.pairs)):
        if pairing.dirty[a]:
            for b in range(len(pairing.pairs)):
                pairing.tried[a, b] = 0
                pairing.tried[b, a] = 0
    for a in range(len(pairing.pairs)):
        if pairing.dirty[a] or (best.partner[a] >= 0 and pairing.dirty[best.partner[a]]):
            look(data, table, pairing, best, a)
    for a in range(len(pairing.pairs)):
        if not pairing.dirty[a]:
            continue
        for b in range(len(pairing.pairs)):
            if pairing.pairs[a, b] > 0 and not pairing.dirty[b]:
                bits = promise(data, table, pairing, a, b, before)
                if bits > best.bits[b]:
                    best.partner[b], best.bits[b] = a, bits
    for a in range(len(pairing.pairs)):
        pairing.dirty[a] = 0


@spliced
def get_to_know(data: KrimpData, table: KrimpTable, covered: RowCovers, pairing: CodePairs, best: BestPartners) -> None:
    """Count the pairs of all codes and find their best partners, where that was not done yet."""
    if not pairing.counted[0]:
        pair_all(data, table, covered, pairing)
    if best.clock[0] == 0:
        for a in range(len(pairing.pairs)):
            pairing.dirty[a] = 1
        look_again(data, table, pairing, best)


@inlined
def foremost(best: BestPartners) -> int:
    """Return the code with the best promise."""
    code = 0
    for a in range(1, len(best.bits)):
        if best.bits[a] > best.bits[code]:
            code = a
    return code


@inlined
def unite(table: KrimpTable, a: int, b: int, out: Items) -> int:
    """Write the items of two codes, ascending, to ``out``; return how many."""
    count = 0
    for side in range(2):
        code = wide(b) if side else wide(a)
        size = table.length[code] if code < len(table.length) else 1
        for i in range(size):
            item = table.items[code, i] if code < len(table.length) else np.int32(code - len(table.length))
            j = count
            while j > 0 and out[j - 1] > item:
                out[j] = out[j - 1]
                j -= 1
            out[j] = item
            count += 1
    return count


@inlined
def next_union(data: KrimpData, table: KrimpTable, pairing: CodePairs, best: BestPartners) -> int:
    """Return the code whose union with its best partner promises most; it has none where no union is of use."""
    a = foremost(best)
    while best.partner[a] >= 0 and best.round[a] != best.clock[0]:
        look(data, table, pairing, best, a)
        a = foremost(best)
    return a


@inlined
def unite_next(data: KrimpData, table: KrimpTable, covered: RowCovers, trial: Trial, best: BestPartners, a: int) -> int:
    """Describe the union of a code with its best partner in the next spare slot, with its support; return the slot."""
    x = fill(data, table, best.both[: unite(table, a, wide(best.partner[a]), best.both)], wide(0))
    support = 0
    for k in range(rows_containing(data, table, covered, trial, x)):
        support += data.weights[trial.hits[k]]
    table.support[x] = support
    return x


@inlined
def give_up(data: KrimpData, table: KrimpTable, pairing: CodePairs, best: BestPartners, a: int) -> None:
    """Do not try the union of a code and its best partner again as long as their rows stay the same."""
    b = wide(best.partner[a])
    pairing.tried[a, b] = 1
    pairing.tried[b, a] = 1
    look(data, table, pairing, best, a)
    if best.partner[b] == a:
        look(data, table, pairing, best, b)
