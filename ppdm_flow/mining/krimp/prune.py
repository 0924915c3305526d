"""Post-acceptance pruning: elements whose usage fell are removed where the total size does not grow.

Vreeken, van Leeuwen, Siebes 2011, section 4.3. Elements are looked at in cover order as long as none is removed; then
by usage, ascending, with those whose usage the removal lowered: as the authors' program does.
"""

from __future__ import annotations

from ppdm_flow.mining.itemsets.kernels import part
from ppdm_flow.mining.krimp.change import cover_without, forget, settle, try_removing
from ppdm_flow.mining.krimp.order import remove
from ppdm_flow.mining.krimp.state import PRUNED, TOUCHED, Items, State

TOLERANCE = 1e-6
"""Differences of fewer bits are the arithmetic's, not the data's."""


@part
def fallen(s: State, after: int, out: Items) -> int:
    """Write the elements after rank ``after`` whose usage the change on trial lowers to ``out``, in cover order."""
    count = 0
    for i in range(s.numbers[TOUCHED]):
        code = s.touched[i]
        if code < len(s.length) and s.change[code] < 0 and s.rank[code] > after:
            j = count
            while j > 0 and s.rank[out[j - 1]] > s.rank[code]:
                out[j] = out[j - 1]
                j -= 1
            out[j] = code
            count += 1
    return count


@part
def requeue(s: State, queue: Items, done: int, count: int, fresh: Items, more: int) -> int:
    """Sort ``queue[done:count]`` by usage and put the new ones of ``fresh[:more]`` where theirs belongs."""
    for i in range(done + 1, count):
        e = queue[i]
        j = i
        while j > done and s.usage[queue[j - 1]] > s.usage[e]:
            queue[j] = queue[j - 1]
            j -= 1
        queue[j] = e
    for i in range(more):
        e = fresh[i]
        known = False
        for j in range(done, count):
            if queue[j] == e:
                known = True
                break
        if known:
            continue
        j = count
        while j > done and s.usage[queue[j - 1]] > s.usage[e]:
            queue[j] = queue[j - 1]
            j -= 1
        queue[j] = e
        count += 1
    return count


@part
def prune(s: State, queue: Items, count: int, fresh: Items) -> float:
    """Look at ``queue[:count]`` and at what falls on the way; return by how many bits the total grew (not above 0)."""
    grown = 0.0
    done = 0
    while done < count:
        e = queue[done]
        done += 1
        if s.usage[e] == 0:
            remove(s, e)
            s.numbers[PRUNED] += 1
            continue
        bits = try_removing(s, e)
        if bits > TOLERANCE:
            forget(s)
            continue
        cover_without(s, e)
        settle(s)
        more = fallen(s, s.rank[e], fresh)
        forget(s)
        remove(s, e)
        s.numbers[PRUNED] += 1
        grown += bits
        count = requeue(s, queue, done, count, fresh, more)
    return grown
