"""The code table of little data, by Python's own numbers: elements in slots, usages, and what changes of them cost."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from ppdm_flow.mining.itemsets.collection import Itemsets
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.krimp.code_table import CodeTable, encoded
from ppdm_flow.mining.krimp.logarithms import logarithms, standard_bits

SINGLE = 1 << 30
"""The code of item i is ``SINGLE + i``; below, codes are the slots of elements."""

Change = dict[int, int]
"""By how much usages move, by code, in the order in which the codes are met."""


class Trial(NamedTuple):
    """By how many bits a change makes data and table larger together; the sum of usages and codes in use after it."""

    bits: float
    total: int
    codes: int


class PlainTable:
    """Elements by slot: ``items``, their bits as a ``mask``, ``support``, and ``rank``, their place in cover order.

    ``order`` are the slots by rank, ``usage`` and ``size`` (bits under the standard code table) are by code.
    """

    def __init__(self, database: Database) -> None:
        self.standard = standard_bits(database)
        self.items = dict[int, tuple[int, ...]]()
        self.mask, self.support, self.rank = dict[int, int](), dict[int, int](), dict[int, int]()
        self.order = list[int]()
        self.usage = dict(enumerate(database.supports.tolist(), SINGLE))
        self.size = dict(enumerate(self.standard.tolist(), SINGLE))
        self.total, self.codes = int(database.supports.sum()), int(np.count_nonzero(database.supports))
        self._supports = database.supports
        self._keys = list[tuple[int, int, tuple[int, ...]]]()
        self._spare = list[int]()
        self._logs, self._terms = logarithms(database.rows), dict[int, float]()

    def describe(self, items: tuple[int, ...], support: int) -> tuple[int, int]:
        """Describe an itemset, items ascending, in the next spare slot; return the slot and the rank it would have."""
        if len(self._spare) == len(self.order):
            self._spare.append(len(self.order))
        x = self._spare[len(self.order)]
        self.items[x], self.support[x], self.usage[x] = items, support, 0
        self.mask[x], self.size[x] = 0, 0.0
        for item in items:
            self.mask[x] |= 1 << item
            self.size[x] += self.size[SINGLE + item]
        return x, bisect_left(self._keys, self._key(x))

    def put(self, items: tuple[int, ...], support: int) -> int:
        """Describe an itemset and put it in its place; return its slot."""
        x, where = self.describe(items, support)
        self.insert(x, where)
        return x

    def insert(self, x: int, where: int) -> None:
        """Put an element at a rank."""
        self.order.insert(where, x)
        self._keys.insert(where, self._key(x))
        self._rank_from(where)

    def remove(self, x: int) -> None:
        """Take an element out, and give its slot back."""
        where = self.rank[x]
        del self.order[where], self._keys[where]
        self._spare[len(self.order)] = x
        self._rank_from(where)

    def tried(self, change: Change) -> Trial:
        """Return what a change costs; sums are those of the compiled search, in the same order."""
        bits, total, codes = 0.0, self.total, self.codes
        before = (total + codes) * math.log2(total)
        for code, by in change.items():
            if by == 0:
                continue
            usage = self.usage[code]
            bits += self.log_term(usage) - self.log_term(usage + by)
            total += by
            if usage == 0:
                codes += 1
                bits += self.size[code]
            elif usage + by == 0:
                codes -= 1
                bits -= self.size[code]
        return Trial(bits + (total + codes) * math.log2(total) - before, total, codes)

    def settle(self, change: Change, trial: Trial) -> None:
        """Let the usages be as a change has them."""
        for code, by in change.items():
            self.usage[code] += by
        self.total, self.codes = trial.total, trial.codes

    def log_term(self, usage: int) -> float:
        """(u + 1) log2 u, and 0 for a code that is not in use."""
        term = self._terms.get(usage)
        if term is None:
            term = float(self._logs[usage]) if usage < len(self._logs) else (usage + 1.0) * math.log2(usage)
            self._terms[usage] = term
        return term

    def read_off(self) -> CodeTable:
        """Return the code table as it is."""
        sets = [self.items[x] for x in self.order]
        offsets = np.concatenate([[0], np.cumsum([len(items) for items in sets], dtype=np.int64)])
        flat = np.array([item for items in sets for item in items], dtype=np.int32)
        usages = np.array([self.usage[x] for x in self.order], dtype=np.int64)
        singles = np.array([self.usage[SINGLE + item] for item in range(len(self.standard))], dtype=np.int64)
        return CodeTable(
            Itemsets(offsets, flat, np.array([self.support[x] for x in self.order], dtype=np.int64)),
            usages,
            singles,
            self.standard,
            encoded(
                np.concatenate([usages, singles]),
                np.concatenate([np.array([self.size[x] for x in self.order], dtype=np.float64), self.standard]),
            ),
            encoded(self._supports, self.standard),
        )

    def _key(self, x: int) -> tuple[int, int, tuple[int, ...]]:
        """Standard cover order: length descending, support descending, lexicographic."""
        return -len(self.items[x]), -self.support[x], self.items[x]

    def _rank_from(self, where: int) -> None:
        for rank in range(where, len(self.order)):
            self.rank[self.order[rank]] = rank
