"""SLIM's loop: join the two codes whose union promises most, see what it really brings, keep what makes things smaller.

Smets, Vreeken, "Slim: directly mining descriptive patterns", SDM 2012, sections 4 and 5. Codes of one cover do not
overlap, so the estimate needs no more than the usages of both and of the pair.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.itemsets.kernels import inlined, part
from ppdm_flow.mining.krimp.accept import fill
from ppdm_flow.mining.krimp.change import log_term
from ppdm_flow.mining.krimp.occurrences import rows_containing
from ppdm_flow.mining.krimp.state import CODES, TOTAL, Counts, Floats, Items, State


class Best(NamedTuple):
    """For each code the most promising partner and the bits it promises, as estimated in ``round``; -1, 0 if none.

    ``clock`` holds the round, which ends with every addition. ``both`` is room for a union.
    """

    partner: Items
    bits: Floats
    round: Counts
    clock: Counts
    both: Items


@inlined
def promise(s: State, a: int, b: int, before: float) -> float:
    """Return by how many bits the union of two codes would make data and table smaller if it took all shared rows."""
    u, v, both = s.usage[a], s.usage[b], np.int64(s.pairs[a, b])
    total, codes = s.numbers[TOTAL] - both, s.numbers[CODES] + 1
    bits = log_term(s, u - both) + log_term(s, v - both) + log_term(s, both) - log_term(s, u) - log_term(s, v)
    bits -= s.bits[a] + s.bits[b]
    if u == both:
        codes -= 1
        bits += s.bits[a]
    if v == both:
        codes -= 1
        bits += s.bits[b]
    return bits + before - (total + codes) * math.log2(total)  # type: ignore[no-any-return]


@inlined
def size_now(s: State) -> float:
    """Return the part of the total size that depends on the sum of usages."""
    return (s.numbers[TOTAL] + s.numbers[CODES]) * math.log2(max(s.numbers[TOTAL], 1))  # type: ignore[no-any-return]


@part
def look(s: State, best: Best, a: int) -> None:
    """Find the best partner of one code."""
    best.partner[a], best.bits[a], best.round[a] = -1, 0.0, best.clock[0]
    before = size_now(s)
    for b in range(len(s.pairs)):
        if s.pairs[a, b] > 0 and not s.tried[a, b]:
            bits = promise(s, a, b, before)
            if bits > best.bits[a]:
                best.partner[a], best.bits[a] = b, bits


@part
def look_again(s: State, best: Best) -> None:
    """Bring the partners up to date with the codes whose rows have changed."""
    best.clock[0] += 1
    before = size_now(s)
    for a in range(len(s.pairs)):
        if s.dirty[a]:
            for b in range(len(s.pairs)):
                s.tried[a, b] = 0
                s.tried[b, a] = 0
    for a in range(len(s.pairs)):
        if s.dirty[a] or (best.partner[a] >= 0 and s.dirty[best.partner[a]]):
            look(s, best, a)
    for a in range(len(s.pairs)):
        if not s.dirty[a]:
            continue
        for b in range(len(s.pairs)):
            if s.pairs[a, b] > 0 and not s.dirty[b]:
                bits = promise(s, a, b, before)
                if bits > best.bits[b]:
                    best.partner[b], best.bits[b] = a, bits
    for a in range(len(s.pairs)):
        s.dirty[a] = 0


@inlined
def look_around(s: State, best: Best) -> None:
    """Find the best partners of all codes."""
    for a in range(len(s.pairs)):
        s.dirty[a] = 1
    look_again(s, best)


@inlined
def foremost(best: Best) -> int:
    """Return the code with the best promise."""
    code = 0
    for a in range(1, len(best.bits)):
        if best.bits[a] > best.bits[code]:
            code = a
    return code


@inlined
def unite(s: State, a: int, b: int, out: Items) -> int:
    """Write the items of two codes, ascending, to ``out``; return how many."""
    count = 0
    for side in range(2):
        code = np.int64(b) if side else np.int64(a)
        size = s.length[code] if code < len(s.length) else 1
        for i in range(size):
            item = s.items[code, i] if code < len(s.length) else np.int32(code - len(s.length))
            j = count
            while j > 0 and out[j - 1] > item:
                out[j] = out[j - 1]
                j -= 1
            out[j] = item
            count += 1
    return count


@inlined
def next_union(s: State, best: Best) -> int:
    """Return the code whose union with its best partner promises most; it has none where no union is of use."""
    a = foremost(best)
    while best.partner[a] >= 0 and best.round[a] != best.clock[0]:
        look(s, best, a)
        a = foremost(best)
    return a


@inlined
def unite_next(s: State, best: Best, a: int) -> int:
    """Describe the union of a code with its best partner in the next spare slot, with its support; return the slot."""
    x = fill(s, best.both[: unite(s, a, np.int64(best.partner[a]), best.both)], np.int64(0))
    support = 0
    for k in range(rows_containing(s, x)):
        support += s.weights[s.hits[k]]
    s.support[x] = support
    return x


@inlined
def give_up(s: State, best: Best, a: int) -> None:
    """Do not try the union of a code and its best partner again as long as their rows stay the same."""
    b = np.int64(best.partner[a])
    s.tried[a, b] = 1
    s.tried[b, a] = 1
    look(s, best, a)
    if best.partner[b] == a:
        look(s, best, b)
