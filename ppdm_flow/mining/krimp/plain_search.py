"""KRIMP and SLIM of little data, by Python alone: nothing is compiled for them.

The same code table as that of the compiled search, to the last decision: bits are summed up in the same order, and of
codes that promise the same the same one is taken.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from ppdm_flow.mining.itemsets.collection import Itemsets
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.krimp.accept import TOLERANCE
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.plain_cover import MOST_BITS
from ppdm_flow.mining.krimp.plain_pairs import PlainPairs
from ppdm_flow.mining.krimp.plain_rows import A_ROW, PlainRows
from ppdm_flow.mining.krimp.plain_table import SINGLE, Change, PlainTable, Trial
from ppdm_flow.sdk.compiled import TooMuchWorkError

STEPS = 400_000
"""Microseconds, about, that a search may take: to compile it pays then."""
A_CANDIDATE = 6
"""Steps that considering an itemset takes."""


def krimp_steps(database: Database, candidates: Itemsets) -> float:
    """Return about how many steps KRIMP takes, as measured: with rows, candidates cover more of them."""
    rows = len(database.cells)
    return _begin_steps(database) + len(candidates) * (10 + rows / 20)


def slim_steps(database: Database) -> float:
    """Return about how many steps SLIM takes, as measured."""
    return _begin_steps(database) + 12 * database.cells.size


def _begin_steps(database: Database) -> float:
    """Return what it takes to begin; without bound for data that are too large for sets of rows."""
    rows, places = database.cells.shape
    if rows * database.items > MOST_BITS:
        return math.inf
    return float(rows * A_ROW + database.items * (1 + places / 4))  # each item has its rows on every level


class PlainSearch:
    """A search for a code table as :class:`~ppdm_flow.mining.krimp.compiled_search.CompiledSearch` is one.

    Raises TooMuchWorkError after ``room`` steps; it is of no use then.
    """

    def __init__(self, database: Database, longest: int, slots: int, room: float, *, pairing: bool) -> None:
        self.accepted = self.pruned = 0
        self._table = PlainTable(database)
        self._rows = PlainRows(database, self._table, longest)
        self._pairs = PlainPairs(self._table) if pairing else None
        self._slots, self._room = slots, room
        self._candidates = 0
        if self._pairs:
            for row in range(len(self._rows)):
                self._pairs.follow([], self._rows.codes(row), self._rows.weights[row])

    @property
    def elements(self) -> int:
        """How many itemsets of two items or more the table has."""
        return len(self._table.order)

    @property
    def steps(self) -> float:
        """How many steps Python has done."""
        of_pairs = self._pairs.steps if self._pairs else 0.0
        return self._rows.steps + of_pairs + self._candidates * A_CANDIDATE

    def put(self, itemsets: Itemsets) -> None:
        """Accept all itemsets, whatever they cost."""
        for items, support in itemsets:
            if len(items) > 1:
                self._consider(*self._table.describe(items, support), 0, pruning=False, always=True)

    def consider(self, candidates: Itemsets, start: int, stop: int, *, pruning: bool) -> float:
        """Accept of the candidates from ``start`` to ``stop`` what makes data and table smaller together.

        Returns by how many bits these grew, not above 0.
        """
        grown = 0.0
        for c in range(start, stop):
            items = candidates.items[candidates.offsets[c] : candidates.offsets[c + 1]]
            if len(items) > 1:
                described = self._table.describe(tuple(items.tolist()), int(candidates.supports[c]))
                bits = self._consider(*described, 0, pruning=pruning)
                if bits is not None:
                    grown += bits
                    self.accepted += 1
        return grown

    def join(self, tries: int, least: int, *, pruning: bool) -> tuple[int, float]:
        """Try so many unions of two codes, of at least ``least`` rows.

        Returns how many there were, fewer where no more is of use, and by how many bits the total grew.
        """
        pairs = self._pairs
        if pairs is None:
            raise ValueError("a search without pairs joins nothing")
        pairs.begin()
        grown = 0.0
        for done in range(tries):
            a = pairs.next_union()
            if a is None:
                return done, grown
            if len(self._table.order) == self._slots:  # the compiled search looks anew with twice the slots
                self._slots *= 2
                pairs.forget()
                pairs.begin()
                a = pairs.next_union()
                if a is None:
                    return done, grown
            bits = self._consider(*self._united(a, pairs.partner[a]), least, pruning=pruning)
            if bits is None:
                pairs.give_up(a)
            else:
                grown += bits
                self.accepted += 1
                pairs.look_again()
        return tries, grown

    def read_off(self) -> CodeTable:
        """Return the code table as it is."""
        return self._table.read_off()

    def _consider(self, x: int, where: int, least: int, *, pruning: bool, always: bool = False) -> float | None:
        """Accept an itemset if that pays; return by how many bits the total grew, None if it was not accepted."""
        self._candidates += 1
        if self.steps > self._room:
            raise TooMuchWorkError
        if self._table.support[x] < least:
            return None
        change = self._rows.adding(x, where)
        trial = self._tried(change)
        if trial.bits >= -TOLERANCE and not always:
            return None
        self._follow(self._rows.cover_with(x, where))
        self._settle(change, trial)
        fallen = self._fallen(change, where - 1) if pruning else []
        self._table.insert(x, where)
        self._rows.insert(x)
        return trial.bits + self._prune(fallen)

    def _prune(self, queue: list[int]) -> float:
        """Look at ``queue`` and at what falls on the way; return by how many bits the total grew (not above 0)."""
        grown, usage = 0.0, self._table.usage
        while queue:
            e, *queue = queue
            if usage[e] == 0:
                self._remove(e)
                continue
            change = self._rows.removing(e)
            trial = self._tried(change)
            if trial.bits > TOLERANCE:
                continue
            self._follow(self._rows.cover_without(e))
            self._settle(change, trial)
            fallen = self._fallen(change, self._table.rank[e])
            self._remove(e)
            grown += trial.bits
            queue.sort(key=usage.__getitem__)
            for each in fallen:
                if each not in queue:
                    queue.insert(bisect_right(queue, usage[each], key=usage.__getitem__), each)
        return grown

    def _fallen(self, change: Change, after: int) -> list[int]:
        """Return the elements after rank ``after`` whose usage a change lowers, in cover order."""
        rank = self._table.rank
        fallen = (code for code, by in change.items() if by < 0 and code < SINGLE and rank[code] > after)
        return sorted(fallen, key=rank.__getitem__)

    def _remove(self, e: int) -> None:
        self._rows.remove(e)
        self._table.remove(e)
        self.pruned += 1

    def _tried(self, change: Change) -> Trial:
        return self._table.tried(change) if change else Trial(0.0, self._table.total, self._table.codes)

    def _settle(self, change: Change, trial: Trial) -> None:
        if change:
            self._table.settle(change, trial)

    def _follow(self, rows: Iterable[tuple[int, list[int]]]) -> None:
        """Let the pairs follow the rows whose codes have changed."""
        for row, before in rows:
            if self._pairs:
                self._pairs.follow(before, self._rows.codes(row), self._rows.weights[row])

    def _united(self, a: int, b: int) -> tuple[int, int]:
        """Describe the union of two codes, with its support."""
        items = tuple(sorted([*self._items(a), *self._items(b)]))
        x, _ = self._table.describe(items, 0)
        return self._table.describe(items, self._rows.weight_containing(x))

    def _items(self, code: int) -> Iterator[int]:
        yield from (code - SINGLE,) if code >= SINGLE else self._table.items[code]
