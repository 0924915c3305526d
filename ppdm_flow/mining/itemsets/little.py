"""All frequent itemsets of little data, by Python's own whole numbers as bit vectors: nothing is compiled for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.itemsets.bits import Words
from ppdm_flow.mining.itemsets.output import Output
from ppdm_flow.mining.itemsets.search import WORDS_A_ROW, Data
from ppdm_flow.sdk.compiled import TooMuchWorkError

STEPS = 250_000
"""Microseconds, about, after which the search is given up: to compile it pays."""
_ROWS_A_STEP = 1 << 12


def steps(data: Data, out: Output) -> float:  # noqa: ARG001  # what the search is called with
    """Return the most steps of :func:`search`: how many itemsets there are only a search tells."""
    return STEPS


def search(data: Data, out: Output) -> Output:
    """Find what the compiled search finds, in the same order. Raises TooMuchWorkError, ``out`` being as it was."""
    return _Search(data).into(out)


class _Waiting(NamedTuple):
    """An itemset by its last item, its length and support, and its rows, bit r for row r.

    ``later``: what may follow, or None where the compiled search goes on with a list of the rows.
    """

    item: int
    length: int
    support: int
    rows: int
    later: Sequence[int] | None


class _Search:
    def __init__(self, data: Data) -> None:
        self._data = data
        self._cost = 1 + len(data.weights) // _ROWS_A_STEP  # of one intersection
        self._room = STEPS
        self._spend(data.ranks * self._cost)  # where there are no bit vectors that is too much, or a test's
        self._planes = [_whole(plane) for plane in data.planes] if len(data.planes) > 1 else []
        self._bits = [_whole(line) for line in data.bits] if len(data.bits) else self._by_row()

    def into(self, out: Output) -> Output:
        data = self._data
        items, ends, supports = list[int](), list[int](), list[int]()
        prefix = [0] * (min(data.longest, data.ranks) + 1)
        waiting = self._begin()
        while waiting and len(ends) < out.used[2] and len(items) < out.used[3]:
            one = waiting.pop()
            if one.length:
                prefix[one.length - 1] = one.item
                items += prefix[: one.length]
                ends.append(len(items))
                supports.append(one.support)
            if one.length < data.longest and (one.later is None or len(one.later)):
                waiting += self._extensions(one)
        out.used[:2] = len(ends), len(items)
        found = np.array(items, dtype=np.int32)
        return Output(found, np.array(ends, dtype=np.int64), np.array(supports, dtype=np.int64), out.used)

    def _begin(self) -> list[_Waiting]:
        ranks, every = self._data.ranks, (1 << len(self._data.weights)) - 1
        if not len(self._data.bits):
            return [_Waiting(-1, 0, 0, every, None)]
        return [_Waiting(r, 1, self._weight(self._bits[r]), self._bits[r], range(r + 1, ranks)) for r in range(ranks)]

    def _extensions(self, one: _Waiting) -> list[_Waiting]:
        """Return the frequent extensions in the order in which the compiled search puts them on its stack."""
        words = self._data.bits.shape[1]
        listed = one.later is None or one.support * WORDS_A_ROW <= len(one.later) * words
        later = range(one.item + 1, self._data.ranks) if listed or one.later is None else one.later
        self._spend(1 + len(later) * self._cost)
        length, kept = one.length + 1, list[_Waiting]()
        for rank in later:
            rows = one.rows & self._bits[rank]
            support = self._weight(rows)
            if support >= self._data.least:
                kept.append(_Waiting(rank, length, support, rows, None))
        if listed:  # as they are met in the rows, each from its last item on
            return sorted(kept, key=lambda each: ((each.rows & -each.rows).bit_length(), -each.item))
        ranks = [each.item for each in kept]
        return [each._replace(later=ranks[place + 1 :]) for place, each in enumerate(kept)]

    def _weight(self, rows: int) -> int:
        if not self._planes:
            return rows.bit_count()
        return sum((rows & plane).bit_count() << place for place, plane in enumerate(self._planes))

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


def _whole(words: Words) -> int:
    return int.from_bytes(words.astype("<u8").tobytes(), "little")
