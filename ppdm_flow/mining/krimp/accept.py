"""What follows when an itemset is accepted: it is put in its place, and elements that it makes useless are pruned.

Post-acceptance pruning: elements whose usage fell are removed where the total size does not grow.
Vreeken, van Leeuwen, Siebes 2011, section 4.3. Elements are looked at in cover order as long as none is removed; then
by usage, ascending, with those whose usage the removal lowered: as the authors' program does.
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.kernels import inlined, spliced
from ppdm_flow.mining.krimp.change import cover_with, cover_without, forget, settle, try_adding, try_removing
from ppdm_flow.mining.krimp.order import insert, remove
from ppdm_flow.mining.krimp.state import ELEMENTS, PRUNED, TOUCHED, Items, State

TOLERANCE = 1e-6
"""Differences of fewer bits are the arithmetic's, not the data's."""


@inlined
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


@inlined
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


@spliced
def prune(s: State, queue: Items, count: int, fresh: Items) -> float:
    """Look at ``queue[:count]`` and at what falls on the way; return by how many bits the total grew (not above 0)."""
    grown = 0.0
    done = 0
    while done < count:
        e = np.int64(queue[done])
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
        more = fallen(s, np.int64(s.rank[e]), fresh)
        forget(s)
        remove(s, e)
        s.numbers[PRUNED] += 1
        grown += bits
        count = requeue(s, queue, done, count, fresh, more)
    return grown


@inlined
def fill(s: State, items: Items, support: int) -> int:
    """Describe an itemset, items ascending, in the next spare slot; return the slot."""
    x = np.int64(s.spare[s.numbers[ELEMENTS]])
    s.length[x] = len(items)
    s.support[x] = support
    s.usage[x] = 0
    s.bits[x] = 0.0
    for w in range(s.mask.shape[1]):
        s.mask[x, w] = 0
    for i in range(len(items)):
        item = items[i]
        s.items[x, i] = item
        s.bits[x] += s.standard[item]
        s.mask[x, s.place[item] >> 6] |= np.uint64(1) << np.uint64(s.place[item] & 63)
    return x


@spliced
def admit(s: State, x: int, where: int, pruning: bool) -> float:
    """Make the addition on trial final; return by how many bits pruning then made the total grow (not above 0)."""
    cover_with(s, x, where)
    settle(s)
    count = fallen(s, where - 1, s.queue) if pruning else 0
    forget(s)
    insert(s, x, where)
    return prune(s, s.queue, count, s.fresh)
