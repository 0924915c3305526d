"""The loop of KRIMP and of SLIM: consider one itemset after the other, and accept what makes data and table smaller.

One kernel for all three tasks: they differ in where the next itemset comes from and in when it is accepted, and what
they share takes a compiler some seconds.
"""

from __future__ import annotations

from ppdm_flow.mining.krimp.accept import TOLERANCE, admit, fill
from ppdm_flow.mining.krimp.change import forget, try_adding
from ppdm_flow.mining.krimp.joins import BestPartners, get_to_know, give_up, look_again, next_union, unite_next
from ppdm_flow.mining.krimp.order import rank_for, room_for
from ppdm_flow.mining.krimp.state import ACCEPTED, ELEMENTS, Counts, Items, KrimpState
from ppdm_flow.sdk.compiled import borrowed, compiled

PUT, CONSIDER, JOIN = range(3)
"""What to do: accept all candidates; accept those that pay (KRIMP); find candidates, and accept those that pay (SLIM).
"""
DONE, MORE_SLOTS, MORE_POOL = range(3)
"""Why the loop came back."""


@compiled
def search(
    s: KrimpState,
    best: BestPartners,
    offsets: Counts,
    items: Items,
    supports: Counts,
    task: int,
    start: int,
    stop: int,
    least: int,
    pruning: bool,
) -> tuple[int, int, float]:
    """Consider the candidates from ``start`` to ``stop``; to ``JOIN``, so many unions of two codes.

    Returns the next candidate, why the loop came back, and by how many bits the total grew (not above 0, but for
    ``PUT``). A union that fewer than ``least`` rows have is not accepted. ``JOIN`` that is ``DONE`` before ``stop`` has
    found that no union is of use.
    """
    data, table, covered, trial, pairing = borrowed(s)
    best = borrowed(best)
    if len(pairing.pairs):
        get_to_know(data, table, covered, pairing, best)
    grown = 0.0
    a = 0
    for c in range(start, stop):
        if task == JOIN:
            a = next_union(data, table, pairing, best)
            if best.partner[a] < 0:
                return c, DONE, grown
        elif offsets[c + 1] - offsets[c] < 2:
            continue
        if table.numbers[ELEMENTS] == len(table.spare):
            return c, MORE_SLOTS, grown
        if task == JOIN:
            x = unite_next(data, table, covered, trial, best, a)
        else:
            x = fill(data, table, items[offsets[c] : offsets[c + 1]], supports[c])
        where = rank_for(table, x)
        bits = try_adding(data, table, covered, trial, pairing, x, where) if table.support[x] >= least else 0.0
        if task != PUT and bits >= -TOLERANCE:
            forget(trial)
            if task == JOIN:
                give_up(data, table, pairing, best, a)
            continue
        if not room_for(data, table, covered, trial, x):
            forget(trial)
            return c, MORE_POOL, grown
        grown += bits + admit(data, table, covered, trial, pairing, x, where, pruning)
        table.numbers[ACCEPTED] += 1
        if task == JOIN:
            look_again(data, table, pairing, best)
    return stop, DONE, grown
