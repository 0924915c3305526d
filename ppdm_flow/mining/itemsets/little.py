"""Searches for itemsets of little data, by Python's own whole numbers as bit vectors: nothing is compiled for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.itemsets.output import Output
from ppdm_flow.mining.itemsets.row_sets import rows_of, weight_of
from ppdm_flow.mining.itemsets.search import WORDS_A_ROW, Data
from ppdm_flow.sdk.compiled import TooMuchWorkError, python_spared

STEPS = 250_000
"""Microseconds, about, after which the search is given up: to compile it pays."""
_ROWS_A_STEP = 1 << 12


def steps(data: Data, out: Output) -> float:  # noqa: ARG001  # what the search is called with
    """Return the most steps of a search: how many itemsets there are only a search tells."""
    return STEPS


def frequent(data: Data, out: Output) -> Output:
    """Find what the compiled search finds, in the same order. Raises TooMuchWorkError, ``out`` being as it was."""
    return _Frequent(data).into(out)


def closed(data: Data, out: Output) -> Output:
    """Do the same for the compiled search of closed itemsets."""
    return _Closed(data).into(out)


class _Search:
    """What both searches share: the rows of each rank, bit r for row r, and how many steps are left."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._cost = 1 + len(data.weights) // _ROWS_A_STEP  # of one intersection
        self._room = STEPS
        self._items, self._ends, self._supports = list[int](), list[int](), list[int]()
        self._spend(data.ranks * self._cost)  # where there are no bit vectors that is too much, or a test's
        self._planes = [rows_of(plane) for plane in data.planes]
        self._bits = [rows_of(line) for line in data.bits] if len(data.bits) else self._by_row()
        self._every = (1 << len(data.weights)) - 1

    def into(self, out: Output) -> Output:
        """Search; ``out`` says where to stop."""
        self._search(out.used[2], out.used[3])
        python_spared(self._room)
        out.used[:2] = len(self._ends), len(self._items)
        items, ends = np.array(self._items, dtype=np.int32), np.array(self._ends, dtype=np.int64)
        return Output(items, ends, np.array(self._supports, dtype=np.int64), out.used)

    def _search(self, most_sets: int, most_items: int) -> None:
        raise NotImplementedError

    def _full(self, most_sets: int, most_items: int) -> bool:
        return len(self._ends) >= most_sets or len(self._items) >= most_items

    def _append(self, items: Sequence[int], support: int) -> None:
        self._items += items
        self._ends.append(len(self._items))
        self._supports.append(support)

    def _by_row(self) -> list[int]:
        """Return the rows of each rank where there are no bit vectors."""
        octets = np.zeros((self._data.ranks, len(self._data.weights)), dtype=bool)
        rows = np.repeat(np.arange(len(self._data.weights)), np.diff(self._data.begin))
        octets[self._data.items, rows] = True
        return [int.from_bytes(np.packbits(line, bitorder="little").tobytes(), "little") for line in octets]

    def _spend(self, steps: int) -> None:
        self._room -= steps
        if self._room < 0:
            raise TooMuchWorkError


class _Waiting(NamedTuple):
    """An itemset by its last item, its length and support, and its rows, bit r for row r.

    ``later``: what may follow, or None where the compiled search goes on with a list of the rows.
    """

    item: int
    length: int
    support: int
    rows: int
    later: Sequence[int] | None


class _Frequent(_Search):
    def _search(self, most_sets: int, most_items: int) -> None:
        data = self._data
        prefix = [0] * (min(data.longest, data.ranks) + 1)
        waiting = self._begin()
        while waiting and not self._full(most_sets, most_items):
            one = waiting.pop()
            if one.length:
                prefix[one.length - 1] = one.item
                self._append(prefix[: one.length], one.support)
            if one.length < data.longest and (one.later is None or len(one.later)):
                waiting += self._extensions(one)

    def _begin(self) -> list[_Waiting]:
        ranks = self._data.ranks
        if not len(self._data.bits):
            return [_Waiting(-1, 0, 0, self._every, None)]
        return [
            _Waiting(r, 1, weight_of(self._bits[r], self._planes), self._bits[r], range(r + 1, ranks))
            for r in range(ranks)
        ]

    def _extensions(self, one: _Waiting) -> list[_Waiting]:
        """Return the frequent extensions in the order in which the compiled search puts them on its stack."""
        words = self._data.bits.shape[1]
        listed = one.later is None or one.support * WORDS_A_ROW <= len(one.later) * words
        later = range(one.item + 1, self._data.ranks) if listed or one.later is None else one.later
        self._spend(1 + len(later) * self._cost)
        length, kept = one.length + 1, list[_Waiting]()
        for rank in later:
            rows = one.rows & self._bits[rank]
            support = weight_of(rows, self._planes)
            if support >= self._data.least:
                kept.append(_Waiting(rank, length, support, rows, None))
        if listed:  # as they are met in the rows, each from its last item on
            return sorted(kept, key=lambda each: _met(each.rows, each.item))
        ranks = [each.item for each in kept]
        return [each._replace(later=ranks[place + 1 :]) for place, each in enumerate(kept)]


class _Core(NamedTuple):
    """An extension of the closed set ``prefix`` by a core item, in ``rows``; ``later`` as of a waiting itemset."""

    item: int
    prefix: tuple[int, ...]
    support: int
    rows: int
    later: Sequence[int] | None


class _Closed(_Search):
    def _search(self, most_sets: int, most_items: int) -> None:
        data = self._data
        listed = not len(data.bits)
        whole = tuple(self._closure(self._every, -1, ()) or ())
        if whole and len(whole) <= data.longest:
            self._append(whole, int(data.weights.sum()))
        waiting = self._extensions(whole, self._every, -1, None if listed else range(data.ranks))
        while waiting and not self._full(most_sets, most_items):
            one = waiting.pop()
            more = self._closure(one.rows, one.item, one.prefix)
            if more is None:
                continue
            closed = (*one.prefix, one.item, *more)
            if len(closed) > data.longest:
                continue
            self._append(closed, one.support)
            sparse = one.later is None or one.support <= data.sparse
            waiting += self._extensions(closed, one.rows, one.item, None if sparse else one.later)

    def _closure(self, rows: int, core: int, prefix: tuple[int, ...]) -> list[int] | None:
        """Return what else all ``rows`` have, ascending; None if one of it precedes the core."""
        data, first = self._data, (rows & -rows).bit_length() - 1
        alive = data.items[data.begin[first] : data.begin[first + 1]].tolist()
        self._spend(2 + len(alive) * self._cost)
        more = [r for r in alive if r != core and r not in prefix and not rows & ~self._bits[r]]
        return None if more and more[0] < core else more

    def _extensions(self, closed: tuple[int, ...], rows: int, core: int, later: Sequence[int] | None) -> list[_Core]:
        """Return the frequent extensions in the order in which the compiled search puts them on its stack."""
        among = range(core + 1, self._data.ranks) if later is None else later
        self._spend(1 + len(among) * self._cost)
        kept = list[_Core]()
        for rank in among:
            if rank not in closed:
                both = rows & self._bits[rank]
                support = weight_of(both, self._planes)
                if support >= self._data.least:
                    kept.append(_Core(rank, closed, support, both, None))
        if later is None:
            return sorted(kept, key=lambda each: _met(each.rows, each.item))
        ranks = [each.item for each in kept]
        return [each._replace(later=ranks[place + 1 :]) for place, each in enumerate(kept)]


def _met(rows: int, rank: int) -> tuple[int, int]:
    """Return by what lists of rows are put in order: as ranks are met in the rows, each from its last item on."""
    return (rows & -rows).bit_length(), -rank
