from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ppdm_flow.mining.itemsets.database import ItemDatabase


class Dense:
    """The plain twin: everything by m x m matrices."""

    def __init__(self, retention):
        self.p = np.asarray(retention, dtype=float)
        m = len(self.p)
        self.matrix = np.diag(self.p) + np.broadcast_to((1 - self.p) / m, (m, m))
        self.inverse = np.linalg.pinv(self.matrix, rcond=1e-13)

    def released(self, counts):
        """Return the covariance of released counts, from its definition: one multinomial for each value."""
        columns = self.matrix.T
        return sum(n * (np.diag(p) - np.outer(p, p)) for n, p in zip(counts, columns, strict=True))

    def covariance(self, counts):
        return self.inverse @ self.released(counts) @ self.inverse.T

    def draw(self, rng, counts, size):
        """Return released counts of ``size`` releases of one fixed table, shape (size, m)."""
        kept = rng.binomial(counts, self.p, size=(size, len(self.p)))
        return kept + rng.multinomial(counts.sum() - kept.sum(axis=1), np.full(len(self.p), 1 / len(self.p)))


@pytest.fixture(scope="session")
def dense():
    return Dense


@pytest.fixture(scope="session")
def krimp_db(data: Path) -> Callable[[str], ItemDatabase]:
    """Read a ``.db`` file of the Krimp program: items as numbered inside of it, 0 the most frequent."""

    def read(name: str) -> ItemDatabase:
        rows, alphabet = [], None
        with gzip.open(data / "lucs_krimp_db" / f"{name}.db.gz", "rt") as lines:
            for line in lines:
                head, _, rest = line.partition(":")
                if head == "ab":
                    alphabet = len(rest.split())
                elif head.isdigit():
                    rows.append([int(word) for word in rest.split()])
        return ItemDatabase.of_lists(rows, alphabet)

    return read
