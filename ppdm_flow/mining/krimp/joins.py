"""SLIM's loop: join the two codes whose union promises most, see what it really brings, keep what makes things smaller.

Smets, Vreeken, "Slim: directly mining descriptive patterns", SDM 2012, sections 4 and 5. Codes of one cover do not
overlap, so the estimate needs no more than the usages of both and of the pair.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.itemsets.kernels import entry, inlined, part
from ppdm_flow.mining.krimp.accept import DONE, MORE_POOL, MORE_SLOTS, TOLERANCE, admit, fill
from ppdm_flow.mining.krimp.change import forget, log_term, try_adding
from ppdm_flow.mining.krimp.occurrences import rows_containing
from ppdm_flow.mining.krimp.order import rank_for, room_for
from ppdm_flow.mining.krimp.state import CODES, ELEMENTS, TOTAL, Counts, Floats, Items, State


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
    u, v, both = s.usage[a], s.usage[b], s.pairs[a, b]
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
        if not s.dirty[a]:
            continue
        s.tried[a] = 0
        s.tried[:, a] = 0
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
    s.dirty[:] = 0


@entry
def look_around(s: State, best: Best) -> None:
    """Find the best partners of all codes."""
    s.dirty[:] = 1
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


@entry
def join(s: State, best: Best, least: int, pruning: bool, trials: int) -> tuple[int, float, int]:
    """Try so many unions; return why the loop came back, by how many bits the total grew, and how many were tried.

    A union that fewer than ``least`` rows have is not tried. ``DONE`` with trials left means that none is of use.
    """
    grown = 0.0
    done = 0
    while done < trials:
        a = foremost(best)
        b = best.partner[a]
        if b < 0:
            return DONE, grown, done
        if best.round[a] != best.clock[0]:
            look(s, best, a)
            continue
        if s.numbers[ELEMENTS] == len(s.spare):
            return MORE_SLOTS, grown, done
        x = fill(s, best.both[: unite(s, a, b, best.both)], 0)
        support = 0
        for k in range(rows_containing(s, x)):
            support += s.weights[s.hits[k]]
        s.support[x] = support
        where = rank_for(s, x)
        bits = try_adding(s, x, where) if support >= least else 0.0
        if bits >= -TOLERANCE:
            forget(s)
            s.tried[a, b] = 1
            s.tried[b, a] = 1
            look(s, best, a)
            if best.partner[b] == a:
                look(s, best, b)
            done += 1
            continue
        if not room_for(s, x):
            forget(s)
            return MORE_POOL, grown, done
        grown += bits + admit(s, x, where, pruning)
        look_again(s, best)
        done += 1
    return DONE, grown, done
