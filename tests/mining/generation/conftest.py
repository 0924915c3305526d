from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.generation import RowGenerator
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase


def table(rows):
    """Number the values of each column: a database, and the (column, value) of each item."""
    names = sorted({(c, v) for row in rows for c, v in enumerate(row)})
    number = {name: i for i, name in enumerate(names)}
    cells = np.array([[number[c, v] for c, v in enumerate(row)] for row in rows], dtype=np.int32)
    return ItemDatabase.of_cells(cells, np.array([c for c, _ in names], dtype=np.int32)), names


def sets(lists):
    """Itemsets from lists of items; supports play no part."""
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    items = np.array([i for s in lists for i in s], dtype=np.int32)
    return ItemsetCollection(offsets, items, np.ones(len(lists), dtype=np.int64))


class Plain:
    """The plain twin: elements as lists of (domains, items, weight), exact fractions."""

    def __init__(self, elements, place, domains, laplace):
        self.elements = [(frozenset(int(place[i]) for i in items), tuple(items)) for items, _ in elements]
        self.usages = [usage for _, usage in elements]
        self.weights = [Fraction(usage) + Fraction(laplace) for usage in self.usages]
        self.domains, self.place = domains, place

    def choices(self, domain, defined):
        """Return (element, probability) of all that may be chosen."""
        fit = [e for e, (d, _) in enumerate(self.elements) if domain in d and not d & defined]
        total = sum(self.weights[e] for e in fit)
        if total == 0:
            return [(e, Fraction(1, len(fit))) for e in fit]
        return [(e, self.weights[e] / total) for e in fit if self.weights[e]]

    def distribution(self):
        """Return the probability of each (row, number of itemsets), over whole orders of domains as in the paper."""
        found = {}
        orders = list(permutations(range(self.domains)))
        for order in orders:
            for row, share in self._of_order(order, (None,) * self.domains, 0).items():
                found[row] = found.get(row, 0) + share / len(orders)
        return found

    def _of_order(self, order, row, taken):
        domain = next((d for d in order if row[d] is None), None)
        if domain is None:
            return {(row, taken): Fraction(1)}
        found = {}
        defined = frozenset(d for d, v in enumerate(row) if v is not None)
        for e, p in self.choices(domain, defined):
            filled = list(row)
            for item in self.elements[e][1]:
                filled[self.place[item]] = item
            for end, q in self._of_order(order, tuple(filled), taken + 1).items():
                found[end] = found.get(end, 0) + p * q
        return found

    def row(self, words):
        """Return the row that these words make, as the kernel reads them."""
        cells, taken = [None] * self.domains, 0
        while None in cells:
            left = [d for d in range(self.domains) if cells[d] is None]
            product = int(words[taken]) * len(left)
            domain, u = left[product >> 64], Fraction((product % 2**64) >> 11, 2**53)
            defined = frozenset(d for d in range(self.domains) if cells[d] is not None)
            for item in self.elements[self._at(self.choices(domain, defined), u)][1]:
                cells[self.place[item]] = item
            taken += 1
        return cells, taken

    def _at(self, choices, u):
        """Choose at the share ``u`` of the choices: by the domains that they define, then as they come."""
        for e, p in sorted(choices, key=lambda c: (self._mask(c[0]), c[0])):
            if u < p:
                return e
            u -= p
        raise AssertionError("probabilities below 1")

    def _mask(self, element):
        words = [0] * (self.domains // 64 + 1)
        for d in self.elements[element][0]:
            words[d // 64] |= 1 << (d % 64)
        return words


def both(rows, lists, usages, laplace):
    """Return the model and its twin: ``lists`` with ``usages``, then every item, with the last of them."""
    database, _ = table(rows)
    model = RowGenerator.of_elements(sets(lists), np.array(usages, dtype=np.int64), database, laplace)
    every = [*lists, *([i] for i in range(database.items))]
    return model, Plain(list(zip(every, usages, strict=True)), database.place, len(rows[0]), laplace)


def words(model, rows, seed="generation"):
    draws = Draws(RunKey.from_seed(seed).step("g"), model.draws_per_row)
    return draws.words(np.arange(rows, dtype=np.int64))


@pytest.fixture(scope="session")
def kit():
    """Everything above, for tests that are imported by path."""

    class Kit:
        pass

    for name, thing in {"table": table, "sets": sets, "both": both, "words": words, "Plain": Plain}.items():
        setattr(Kit, name, staticmethod(thing))
    return Kit
