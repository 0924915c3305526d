"""The covers of the rows of little data: sets of rows, and of a row's cells, are the bits of Python's whole numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.itemsets.bits import words_for
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.itemsets.row_sets import common_to, planes_of, positions, rows_by_item, weight_of
from ppdm_flow.mining.krimp.plain_table import SINGLE, Change, PlainTable
from ppdm_flow.mining.krimp.state import lines_of

A_ROW = 4
"""Steps that covering a row again takes."""
ELEMENTS_A_STEP = 16


class Recovered(NamedTuple):
    """A row covered again: ``head`` elements of its cover stay, ``tail`` follows, ``left`` is left to singletons."""

    head: int
    tail: list[int]
    left: int


class _Step(NamedTuple):
    """Where covering a row again stands.

    ``head`` elements stay, ``j`` of the cover are gone through, those of the pool from rank ``behind`` follow; cells
    left as it was are ``old``, as it becomes ``new``; ``tail`` is what covers then.
    """

    head: int
    j: int
    behind: int
    old: int
    new: int
    tail: list[int]


class PlainRows:
    """Row r has ``weights[r]``, and the codes ``cover[r]``, elements in cover order, and ``left[r]``, bit i for item i.

    ``pool[r]``: the elements that the row contains, in cover order; ``using[x]``: the rows that use element x.
    ``free[l][i]``: the rows in which item i is not covered by an element of length l + 2 or more. ``steps``
    tells how much work that was, in microseconds, about.
    """

    def __init__(self, database: Database, table: PlainTable, longest: int) -> None:
        self._table = table
        self._cells = [[item for item in row if item >= 0] for row in database.cells.tolist()]
        self._present = [sum(1 << item for item in row) for row in self._cells]
        self._bit = [1 << row for row in range(len(self._cells))]
        self._planes = planes_of(database)
        self._having = rows_by_item(database)
        occurring = np.array([rows.bit_count() for rows in self._having], dtype=np.int64)
        self._unlined = frozenset(np.flatnonzero(lines_of(occurring, words_for(len(self._cells))) < 0).tolist())
        self.weights: list[int] = database.weights.tolist()
        self.cover: list[list[int]] = [[] for _ in self._cells]
        self.left = self._present.copy()
        self.pool: list[list[int]] = [[] for _ in self._cells]
        self.using = dict[int, int]()
        self.free = [self._having.copy() for _ in range(longest)]
        self.steps = A_ROW * len(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def codes(self, row: int) -> list[int]:
        """Return the codes of a row's cover."""
        left = self.left[row]
        return self.cover[row] + [SINGLE + item for item in self._cells[row] if left >> item & 1]

    def weight_containing(self, x: int) -> int:
        """Return the weight of the rows that have all items of ``x``."""
        return self._weight(self._all_in(self._having, x))

    def adding(self, x: int, where: int) -> Change:
        """Return how usages would move with ``x`` at rank ``where``.

        Where singletons alone cover its items, ``x`` takes their place and nothing else moves: such rows are only
        counted, unless an item is too rare for the compiled search to have its rows as bits.
        """
        change: Change = {}
        items = self._table.items[x]
        if not self._unlined.isdisjoint(items):
            rows = self._all_in(self._having, x)
        else:
            alone = self._all_in(self.free[0], x)
            if alone:
                change[x] = self._weight(alone)
                for item in items:
                    change[SINGLE + item] = -change[x]
            rows = self._usable(x, where) & ~alone
        for row in positions(rows):
            self._again(row, x, where, change, adding=True)
        return change

    def removing(self, x: int) -> Change:
        """Return how usages would move without ``x``."""
        change: Change = {}
        for row in positions(self.using.get(x, 0)):
            self._again(row, x, self._table.rank[x], change, adding=False)
        return change

    def cover_with(self, x: int, where: int) -> Iterator[tuple[int, list[int]]]:
        """Cover the rows with ``x`` at rank ``where``, for good; yield each, with the codes that it had."""
        self.using[x] = 0
        for row in positions(self._usable(x, where)):
            yield from self._keep(row, x, where, adding=True)

    def cover_without(self, x: int) -> Iterator[tuple[int, list[int]]]:
        """Cover the rows without ``x``, for good; yield each, with the codes that it had."""
        for row in positions(self.using.get(x, 0)):
            yield from self._keep(row, x, self._table.rank[x], adding=False)

    def insert(self, x: int) -> None:
        """Put ``x``, which has its rank, into the pool of each row that contains it."""
        rank = self._table.rank
        for row in positions(self._all_in(self._having, x)):
            pool = self.pool[row]
            pool.insert(bisect_left(pool, rank[x], key=rank.__getitem__), x)

    def remove(self, x: int) -> None:
        """Take ``x`` out of all pools."""
        for row in positions(self._all_in(self._having, x)):
            self.pool[row].remove(x)

    def _usable(self, x: int, where: int) -> int:
        """Return rows among which are all that would use ``x`` at rank ``where``."""
        order, items = self._table.order, self._table.items
        last = where == len(order) or len(items[order[where]]) < len(items[x])
        return self._all_in(self.free[len(items[x]) - (2 if last else 1)], x)

    def _again(self, row: int, x: int, where: int, change: Change | None, *, adding: bool) -> Recovered | None:
        """Cover a row as it would be with ``x`` at rank ``where``, or without it; None if that does not differ.

        Notes in ``change`` how usages would move. An element changes nothing before its own place in cover order, and
        nothing after the point at which the cells left with and without it are the same again.
        """
        self.steps += A_ROW
        rank, mask = self._table.rank, self._table.mask[x]
        cover, mass = self.cover[row], self.weights[row]
        head, left = 0, self._present[row]
        while head < len(cover) and rank[cover[head]] < where:
            left ^= self._table.mask[cover[head]]
            head += 1
        if adding:
            if mask & ~left:
                return None
            _note(change, x, mass)
            return self._follow(row, _Step(head, head, where, left, left ^ mask, [x]), change)
        if head == len(cover) or cover[head] != x:
            return None
        _note(change, x, -mass)
        return self._follow(row, _Step(head, head + 1, where + 1, left ^ mask, left, []), change)

    def _follow(self, row: int, begun: _Step, change: Change | None) -> Recovered:
        """Cover on with the elements that follow, as it was and as it becomes."""
        rank, mask = self._table.rank, self._table.mask
        cover, pool, mass = self.cover[row], self.pool[row], self.weights[row]
        head, j, behind, old, new, tail = begun
        self.steps += len(pool) // ELEMENTS_A_STEP
        for at in range(bisect_left(pool, behind, key=rank.__getitem__), len(pool)):
            e = pool[at]
            used = j < len(cover) and cover[j] == e
            if not mask[e] & ~new:
                tail.append(e)
                new ^= mask[e]
                by = 0 if used else mass
            elif used:
                by = -mass
            else:
                continue
            if used:
                j += 1
                old ^= mask[e]
            if by:
                _note(change, e, by)
                if old == new:
                    return Recovered(head, tail + cover[j:], self.left[row])
        if change is not None:
            self._note_singletons(row, old, new, change)
        return Recovered(head, tail, new)

    def _note_singletons(self, row: int, old: int, new: int, change: Change) -> None:
        """Note which cells of a row are left to singletons, or are no more."""
        mass, moved = self.weights[row], old ^ new
        for item in self._cells[row] if moved else ():
            if moved >> item & 1:
                _note(change, SINGLE + item, -mass if old >> item & 1 else mass)

    def _keep(self, row: int, x: int, where: int, *, adding: bool) -> Iterator[tuple[int, list[int]]]:
        found = self._again(row, x, where, None, adding=adding)
        if found is None:
            return
        before, cover, bit = self.codes(row), self.cover[row], self._bit[row]
        gone = cover[found.head :]
        for e in gone:
            self.using[e] ^= bit
        for e in found.tail:
            self.using[e] ^= bit
        self._move_levels(bit, gone, found.tail)
        self.cover[row] = cover[: found.head] + found.tail
        self.left[row] = found.left
        yield row, before

    def _move_levels(self, bit: int, gone: Sequence[int], came: Sequence[int]) -> None:
        """Flip a row on the levels between the lengths that cover its items before and after."""
        items = self._table.items
        before = {item: len(items[e]) for e in gone for item in items[e]}
        after = {item: len(items[e]) for e in came for item in items[e]}
        for item in before.keys() | after.keys():
            a, b = before.get(item, 1), after.get(item, 1)
            for level in range(min(a, b) - 1, max(a, b) - 1):
                self.free[level][item] ^= bit

    def _all_in(self, rows_of: list[int], x: int) -> int:
        return common_to(rows_of, self._table.items[x])

    def _weight(self, rows: int) -> int:
        return weight_of(rows, self._planes)


def _note(change: Change | None, code: int, by: int) -> None:
    if change is not None:
        change[code] = change.get(code, 0) + by
