"""Pairs that are kept: columns are read together, and the counts are those of the pairs themselves."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.local.transforms import MemoryStream
from ppdm_flow.engine.streams import remembered
from ppdm_flow.engine.streams.remembered import RememberedPairs
from ppdm_flow.engine.streams.stream import Stop, StreamPairs
from ppdm_flow.tables.table import Table

ROWS = 50
NAMES = [f"c{i}" for i in range(40)]


class CountedPairs(StreamPairs):
    passes = 0

    def pairs(self, original, released):
        self.passes += 1
        return super().pairs(original, released)


@pytest.fixture
def inner():
    random = np.random.default_rng(5)
    facts = tuple(AttributeFacts(n, Role.INSENSITIVE, source=n) for n in NAMES)
    sides = [Table.of({n: [str(v) for v in random.integers(0, 4, ROWS)] for n in NAMES}) for _ in range(2)]
    return CountedPairs(*(MemoryStream(side, facts, 16, Stop()) for side in sides), aligned=True)


def counted(pairs, column):
    counts = pairs.joint(column, column)
    return [each.to_pylist() for each in counts.categories], counts.codes.tolist(), counts.counts.tolist()


@pytest.mark.parametrize(
    ("ahead", "kept", "passes"), [(1 << 23, 1 << 25, 2), (10 * ROWS, 1 << 25, 5), (10 * ROWS, 25 * ROWS, 5)]
)
def test_columns_are_read_together(monkeypatch, inner, ahead, kept, passes):
    monkeypatch.setattr(remembered, "READ_AHEAD", ahead)
    monkeypatch.setattr(remembered, "KEPT", kept)
    pairs = RememberedPairs(inner, frozenset(), NAMES, NAMES)
    got = [counted(pairs, name) for name in NAMES]
    assert inner.passes == passes
    assert got == [counted(inner, name) for name in NAMES]


def test_a_column_that_is_no_longer_kept_is_read_again(monkeypatch, inner):
    monkeypatch.setattr(remembered, "READ_AHEAD", 2 * ROWS)
    monkeypatch.setattr(remembered, "KEPT", 2 * ROWS)
    pairs = RememberedPairs(inner, frozenset(), NAMES, NAMES)
    for first, second in (("c0", "c7"), ("c30", "c2"), ("c0", "c7"), ("c39", "c39")):
        (left, right), *more = pairs.pairs([first], [second])
        assert not more
        whole = list(inner.pairs([first], [second]))
        assert left[first].texts() == [t for part, _ in whole for t in part[first].texts()]
        assert right[second].texts() == [t for _, part in whole for t in part[second].texts()]
