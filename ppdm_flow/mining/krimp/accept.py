"""What follows when an itemset is accepted: it is put in its place, and elements that it makes useless are pruned.

Post-acceptance pruning: elements whose usage fell are removed where the total size does not grow.
Vreeken, van Leeuwen, Siebes 2011, section 4.3. Elements are looked at in cover order as long as none is removed; then
by usage, ascending, with those whose usage the removal lowered: as the authors' program does.
"""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.kernels import inlined, spliced
from ppdm_flow.mining.krimp.change import cover_with, cover_without, forget, settle, try_removing
from ppdm_flow.mining.krimp.order import insert, remove
from ppdm_flow.mining.krimp.state import (
    ELEMENTS,
    PRUNED,
    TOUCHED,
    CodePairs,
    Items,
    KrimpData,
    KrimpTable,
    RowCovers,
    Trial,
)
from ppdm_flow.sdk.compiled import wide

TOLERANCE = 1e-6
"""Differences of fewer bits are the arithmetic's, not the data's."""


@inlined
def fallen(table: KrimpTable, trial: Trial, after: int, out: Items) -> int:
    """Write the elements after rank ``after`` whose usage the change on trial lowers to ``out``, in cover order."""
    count = 0
    for i in range(trial.numbers[TOUCHED]):
        code = trial.touched[i]
        if code < len(table.length) and trial.change[code] < 0 and table.rank[code] > after:
            j = count
            while j > 0 and table.rank[out[j - 1]] > table.rank[code]:
                out[j] = out[j - 1]
                j -= 1
            out[j] = code
            count += 1
    return count


@inlined
def requeue(table: KrimpTable, queue: Items, done: int, count: int, fresh: Items, more: int) -> int:
    """Sort ``queue[done:count]`` by usage and put the new ones of ``fresh[:more]`` where theirs belongs."""
    for i in range(done + 1, count):
        e = queue[i]
        j = i
        while j > done and table.usage[queue[j - 1]] > table.usage[e]:
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
        while j > done and table.usage[queue[j - 1]] > table.usage[e]:
            queue[j] = queue[j - 1]
            j -= 1
        queue[j] = e
        count += 1
    return count


@spliced
def prune(
    data: KrimpData,
    table: KrimpTable,
    covered: RowCovers,
    trial: Trial,
    pairing: CodePairs,
    queue: Items,
    count: int,
    fresh: Items,
) -> float:
    """Look at ``queue[:count]`` and at what falls on the way; return by how many bits the total grew (not above 0).

    An element that was kept may wait again, so that a long cascade looks at more elements than the queue has places;
    what waits then moves to the beginning. No more can wait than the table has, each once, and for so many it has room.
    """
    grown = 0.0
    done = 0
    while done < count:
        e = wide(queue[done])
        done += 1
        if table.usage[e] == 0:
            remove(data, table, covered, trial, e)
            table.numbers[PRUNED] += 1
            continue
        bits = try_removing(data, table, covered, trial, pairing, e)
        if bits > TOLERANCE:
            forget(trial)
            continue
        cover_without(data, table, covered, trial, pairing, e)
        settle(table, trial)
        more = fallen(table, trial, wide(table.rank[e]), fresh)
        forget(trial)
        remove(data, table, covered, trial, e)
        table.numbers[PRUNED] += 1
        grown += bits
        if count + more > len(queue):
            for i in range(done, count):
                queue[i - done] = queue[i]
            count -= done
            done = 0
        count = requeue(table, queue, done, count, fresh, more)
    return grown


@inlined
def fill(data: KrimpData, table: KrimpTable, items: Items, support: int) -> int:
    """Describe an itemset, items ascending, in the next spare slot; return the slot."""
    x = wide(table.spare[table.numbers[ELEMENTS]])
    table.length[x] = len(items)
    table.support[x] = support
    table.usage[x] = 0
    table.bits[x] = 0.0
    for w in range(table.mask.shape[1]):
        table.mask[x, w] = 0
    for i in range(len(items)):
        item = items[i]
        table.items[x, i] = item
        table.bits[x] += data.standard[item]
        table.mask[x, data.place[item] >> 6] |= np.uint64(1) << np.uint64(data.place[item] & 63)
    return x


@spliced
def admit(
    data: KrimpData,
    table: KrimpTable,
    covered: RowCovers,
    trial: Trial,
    pairing: CodePairs,
    x: int,
    where: int,
    pruning: bool,
) -> float:
    """Make the addition on trial final; return by how many bits pruning then made the total grow (not above 0)."""
    cover_with(data, table, covered, trial, pairing, x, where)
    settle(table, trial)
    count = fallen(table, trial, where - 1, trial.queue) if pruning else 0
    forget(trial)
    insert(data, table, covered, trial, x, where)
    return prune(data, table, covered, trial, pairing, trial.queue, count, trial.fresh)
