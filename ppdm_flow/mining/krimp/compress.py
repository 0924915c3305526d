"""KRIMP and SLIM: the entries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets.collection import Counts, Items, ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.kernels import inlined, part, spliced
from ppdm_flow.mining.itemsets.mine import least_rows
from ppdm_flow.mining.krimp.code_table import CodeTable, ProgressThrottle, Watch, read_off
from ppdm_flow.mining.krimp.occurrences import (
    cover_with,
    cover_without,
    forget,
    insert,
    log_term,
    rank_for,
    remove,
    room_for,
    rows_containing,
    settle,
    try_adding,
    try_removing,
)
from ppdm_flow.mining.krimp.state import (
    ACCEPTED,
    CODES,
    ELEMENTS,
    PRUNED,
    TOTAL,
    TOUCHED,
    CodePairs,
    Floats,
    KrimpData,
    KrimpState,
    KrimpTable,
    RowCovers,
    Trial,
    begin_state,
    pair_all,
    with_pool,
    with_slots,
)
from ppdm_flow.sdk.compiled import borrowed, compiled, wide

MOST_PAIRED = 8192
"""SLIM keeps a square of counts over all codes."""
SLOTS = 256
"""Elements that a search has room for at first."""


@dataclass(frozen=True, slots=True, eq=False)
class Compression:
    """A code table and how far the search for it came: of ``candidates`` the first ``position`` are considered.

    ``accepted`` and ``pruned`` count additions and removals. SLIM counts the unions it tried, of None.
    """

    table: CodeTable
    position: int
    candidates: int | None
    complete: bool
    accepted: int
    pruned: int


def krimp(
    database: ItemDatabase,
    candidates: ItemsetCollection,
    *,
    pruning: bool = True,
    watch: Watch | None = None,
    resume: Compression | None = None,
) -> Compression:
    """Compress with candidates in standard candidate order (Vreeken, van Leeuwen, Siebes 2011, algorithm 3).

    ``pruning`` is post-acceptance pruning. ``watch`` may stop the search: what was found then goes on, given as
    ``resume`` with the same data, candidates and parameters, to the same code table as without the stop.
    """
    begun = _begun(database, _longest(candidates, resume), resume)
    position = resume.position if resume else 0
    table = resume.table if resume else begun.read_off()
    bits, going = table.sizes.total, True
    pace = ProgressThrottle(table.start, len(candidates))
    while going and position < len(candidates):
        stop = min(position + pace.stride, len(candidates))
        bits += begun.consider(candidates, position, stop, pruning=pruning)
        position = stop
        going = pace.tell(begun.elements, bits, position, watch)
    return _compression(begun, position, len(candidates), position == len(candidates), resume)


def slim(
    database: ItemDatabase,
    min_support: float = 1,
    *,
    pruning: bool = True,
    watch: Watch | None = None,
    resume: Compression | None = None,
) -> Compression:
    """Compress with candidates found on the way: unions of two codes (Smets, Vreeken, SDM 2012, algorithm 1).

    A union needs ``min_support`` rows (int) or that share of them (float). Goes on where ``resume`` stopped; unions
    that were of no use are then tried once more. Raises PluginError PPF776 for more than 8,192 items.
    """
    if database.items > MOST_PAIRED:
        raise _too_wide(database.items)
    least = least_rows(min_support, database.rows)

    begun = _begun(database, max(2, database.cells.shape[1]), resume, pairing=True)
    tried = resume.position if resume else 0
    table = resume.table if resume else begun.read_off()
    bits, going, complete = table.sizes.total, True, False
    pace = ProgressThrottle(table.start, None)
    while going and not complete:
        stride = pace.stride
        done, grown = begun.join(stride, least, pruning=pruning)
        bits += grown
        tried += done
        complete = done < stride
        going = pace.tell(begun.elements, bits, tried, watch)
    return _compression(begun, tried, None, complete, resume)


def cover(database: ItemDatabase, itemsets: ItemsetCollection) -> CodeTable:
    """Cover a database, of the same items, with given itemsets (of two items or more); sizes are of this database."""
    begun = CompiledSearch(database, max(2, int(itemsets.lengths.max(initial=2))), SLOTS, pairing=False)
    begun.put(itemsets)
    return begun.read_off()


def _longest(candidates: ItemsetCollection, resume: Compression | None) -> int:
    known = [int(candidates.lengths.max(initial=2)), 2]
    if resume:
        known.append(int(resume.table.itemsets.lengths.max(initial=2)))
    return max(known)


def _begun(
    database: ItemDatabase, longest: int, resume: Compression | None, *, pairing: bool = False
) -> CompiledSearch:
    """Return a search that has the itemsets which were found before."""
    begun = CompiledSearch(database, longest, SLOTS, pairing=pairing)
    if resume:
        begun.put(resume.table.itemsets)
    return begun


def _compression(
    begun: CompiledSearch, position: int, candidates: int | None, complete: bool, resume: Compression | None
) -> Compression:
    before = (resume.accepted, resume.pruned) if resume else (0, 0)
    accepted, pruned = begun.accepted + before[0], begun.pruned + before[1]
    return Compression(begun.read_off(), position, candidates, complete, accepted, pruned)


def _too_wide(items: int) -> PluginError:
    return PluginError(
        Diagnostic(
            "PPF776",
            f"SLIM looks at pairs of items, and {items} items have too many",
            help="leave out or generalize the attribute with most values, or use KRIMP with a minimum support",
        )
    )


# A search for a code table by compiled code: the state of the kernels, with room that grows.


_NO_CANDIDATES = ItemsetCollection(
    np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
)


class CompiledSearch:
    """A code table of a database, with itemsets of at most ``longest`` items; with pairs of codes, for SLIM."""

    def __init__(self, database: ItemDatabase, longest: int, slots: int, *, pairing: bool) -> None:
        self.state = begin_state(database, longest, slots, pairing=pairing)
        self._database = database
        self._best = _no_partners(self.state)

    @property
    def elements(self) -> int:
        """How many itemsets of two items or more the table has."""
        return int(self.state.table.numbers[ELEMENTS])

    @property
    def accepted(self) -> int:
        """How many itemsets were accepted, but for those that were put."""
        return int(self.state.table.numbers[ACCEPTED])

    @property
    def pruned(self) -> int:
        """How many itemsets were pruned."""
        return int(self.state.table.numbers[PRUNED])

    def put(self, itemsets: ItemsetCollection) -> None:
        """Accept all itemsets at any cost."""
        self._run(itemsets, PUT, 0, len(itemsets), 0, pruning=False)
        self.state.table.numbers[ACCEPTED] = 0

    def consider(self, candidates: ItemsetCollection, start: int, stop: int, *, pruning: bool) -> float:
        """Accept of the candidates from ``start`` to ``stop`` what makes data and table smaller together.

        Returns by how many bits these grew, not above 0.
        """
        return self._run(candidates, CONSIDER, start, stop, 0, pruning=pruning)[1]

    def join(self, tries: int, least: int, *, pruning: bool) -> tuple[int, float]:
        """Try so many unions of two codes, of at least ``least`` rows.

        Returns how many there were, fewer where no more is of use, and by how many bits the total grew.
        """
        return self._run(_NO_CANDIDATES, JOIN, 0, tries, least, pruning=pruning)

    def read_off(self) -> CodeTable:
        """Return the code table as it is."""
        return read_off(self.state, self._database)

    def _run(
        self, itemsets: ItemsetCollection, task: int, start: int, stop: int, least: int, *, pruning: bool
    ) -> tuple[int, float]:
        """Carry out the kernel, with more room where it asks for that; return where it ended, and bits grown."""
        sets, grown = _arrays(itemsets), 0.0
        while True:
            start, why, more = search(self.state, self._best, *sets, task, start, stop, least, pruning)
            grown += more
            if why == DONE:
                return start, grown
            if why == MORE_SLOTS:
                self.state = with_slots(self.state)
                self._best = _no_partners(self.state)
            else:
                self.state = with_pool(self.state)


def _arrays(itemsets: ItemsetCollection) -> tuple[Counts, Items, Counts]:
    """Return offsets, items and supports of the types that the kernel is compiled for."""
    return (
        np.ascontiguousarray(itemsets.offsets, dtype=np.int64),
        np.ascontiguousarray(itemsets.items, dtype=np.int32),
        np.ascontiguousarray(itemsets.supports, dtype=np.int64),
    )


def _no_partners(s: KrimpState) -> BestPartners:
    """Return what SLIM knows of partners before it has looked; where no pairs are counted, nothing ever."""
    size = len(s.pairing.pairs)
    return BestPartners(
        np.full(size, -1, dtype=np.int32),
        np.zeros(size),
        np.zeros(size, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(s.table.items.shape[1] + 1, dtype=np.int32),
    )


# The loop of KRIMP and of SLIM: consider one itemset after the other, and accept what makes data and table smaller.
#
# One kernel for all three tasks: they differ in where the next itemset comes from and in when it is accepted, and what
# they share takes a compiler some seconds.


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


# SLIM's loop: join the two codes whose union promises most, see what it really brings, keep what makes things smaller.
#
# Smets, Vreeken, "Slim: directly mining descriptive patterns", SDM 2012, sections 4 and 5. Codes of one cover do not
# overlap, so the estimate needs no more than the usages of both and of the pair.


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


# What follows when an itemset is accepted: it is put in its place, and elements that it makes useless are pruned.
#
# Post-acceptance pruning: elements whose usage fell are removed where the total size does not grow. Vreeken, van
# Leeuwen, Siebes 2011, section 4.3. Elements are looked at in cover order as long as none is removed; then by usage,
# ascending, with those whose usage the removal lowered: as the authors' program does.


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
