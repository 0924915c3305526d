"""A plain twin of KRIMP."""

from __future__ import annotations

from itertools import combinations
from math import fsum, log2

import pytest

from ppdm_flow.mining.krimp.compress import TOLERANCE


class Twin:
    """KRIMP with lists and sets: for every decision the whole database is covered anew."""

    def __init__(self, rows, items):
        self.rows = [frozenset(r) for r in rows]
        self.support = self._supports()
        counts = [sum(i in r for r in self.rows) for i in range(items)]
        total = sum(counts)
        self.standard = {(i,): log2(total / n) for i, n in enumerate(counts) if n}
        self.table = []
        self.usage, self.size = self.cover(self.table)

    def _supports(self):
        found = {}
        for row in self.rows:
            for k in range(1, len(row) + 1):
                for s in combinations(sorted(row), k):
                    found[s] = found.get(s, 0) + 1
        return found

    def order(self, s):
        return -len(s), -self.support[s], s

    def cover(self, table):
        ordered = sorted(table, key=self.order)
        usage = dict.fromkeys([*ordered, *self.standard], 0)
        for row in self.rows:
            left = set(row)
            for s in ordered:
                if left.issuperset(s):
                    usage[s] += 1
                    left.difference_update(s)
            for i in left:
                usage[i,] += 1
        return usage, self.bits(usage)

    def bits(self, usage):
        total = sum(usage.values())
        codes = {s: log2(total / u) for s, u in usage.items() if u}
        data = fsum(usage[s] * c for s, c in codes.items())
        return data + fsum(c + fsum(self.standard[i,] for i in s) for s, c in codes.items())

    def candidates(self, least=1):
        sets = [s for s, n in self.support.items() if n >= least and len(s) > 1]
        return sorted(sets, key=lambda s: (-self.support[s], -len(s), s))

    def run(self, candidates, pruning):
        for s in candidates:
            usage, size = self.cover([*self.table, s])
            if size < self.size - TOLERANCE:
                later = [t for t in sorted(self.table, key=self.order) if self.order(t) > self.order(s)]
                fallen = [t for t in later if usage[t] < self.usage[t]]
                self.table, self.usage, self.size = [*self.table, s], usage, size
                if pruning:
                    self.prune(fallen)
        return self

    def prune(self, queue):
        while queue:
            s, *queue = queue
            rest = [t for t in self.table if t != s]
            usage, size = self.cover(rest)
            if self.usage[s] == 0:
                self.table, self.usage = rest, usage
            elif size <= self.size + TOLERANCE:
                later = [t for t in sorted(rest, key=self.order) if self.order(t) > self.order(s)]
                fallen = [t for t in later if usage[t] < self.usage[t]]
                self.table, self.usage, self.size = rest, usage, size
                queue.sort(key=usage.get)
                for t in fallen:
                    if t not in queue:
                        place = next((i for i, q in enumerate(queue) if usage[q] > usage[t]), len(queue))
                        queue.insert(place, t)


@pytest.fixture(scope="session")
def twin() -> type[Twin]:
    return Twin
