"""The loop of KRIMP and of SLIM: consider one itemset after the other, and accept what makes data and table smaller.

One kernel for all three tasks: they differ in where the next itemset comes from and in when it is accepted, and what
they share takes a compiler some seconds.
"""

from __future__ import annotations

from ppdm_flow.mining.itemsets.kernels import entry
from ppdm_flow.mining.krimp.accept import TOLERANCE, admit, fill
from ppdm_flow.mining.krimp.change import forget, try_adding
from ppdm_flow.mining.krimp.joins import Best, give_up, look_again, look_around, next_union, unite_next
from ppdm_flow.mining.krimp.order import rank_for, room_for
from ppdm_flow.mining.krimp.pairs import pair_all
from ppdm_flow.mining.krimp.state import ACCEPTED, ELEMENTS, PAIRED, Counts, Items, State

PUT, CONSIDER, JOIN = range(3)
"""What to do: accept all candidates; accept those that pay (KRIMP); find candidates, and accept those that pay (SLIM).
"""
DONE, MORE_SLOTS, MORE_POOL = range(3)
"""Why the loop came back."""


@entry
def search(
    s: State,
    best: Best,
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
    if len(s.pairs) and not s.numbers[PAIRED]:
        pair_all(s)
    if task == JOIN and best.clock[0] == 0:
        look_around(s, best)
    grown = 0.0
    a = 0
    for c in range(start, stop):
        if task == JOIN:
            a = next_union(s, best)
            if best.partner[a] < 0:
                return c, DONE, grown
        elif offsets[c + 1] - offsets[c] < 2:
            continue
        if s.numbers[ELEMENTS] == len(s.spare):
            return c, MORE_SLOTS, grown
        if task == JOIN:
            x = unite_next(s, best, a)
        else:
            x = fill(s, items[offsets[c] : offsets[c + 1]], supports[c])
        where = rank_for(s, x)
        bits = try_adding(s, x, where) if s.support[x] >= least else 0.0
        if task != PUT and bits >= -TOLERANCE:
            forget(s)
            if task == JOIN:
                give_up(s, best, a)
            continue
        if not room_for(s, x):
            forget(s)
            return c, MORE_POOL, grown
        grown += bits + admit(s, x, where, pruning)
        if task != PUT:
            s.numbers[ACCEPTED] += 1
        if task == JOIN:
            look_again(s, best)
    return stop, DONE, grown
