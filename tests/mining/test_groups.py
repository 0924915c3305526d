"""Counts laid out for reconstruction, and which groups say little."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.mining.reconstruction.estimate import groups, reconstruct_counts, too_small
from ppdm_flow.mining.reconstruction.likelihood import RetentionChannel
from ppdm_flow.tables.counts import count, merge
from ppdm_flow.tables.table import Table

CELLS = st.sampled_from(["a", "b", "c", None, "⊥"])


@given(st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["x", "y", "z", None, "⊥"])), min_size=1, max_size=40))
def test_groups_are_those_of_a_plain_count(rows):
    one, two, value = (list(column) for column in zip(*rows, strict=True))
    half = len(rows) // 2
    parts = [Table.of({"one": one[s], "two": two[s], "value": value[s]}) for s in (slice(half), slice(half, None))]
    counts = merge(count(p, ["one", "two", "value"]) for p in parts if len(p))
    domain = ("y", None, "x")
    found = groups(counts, "value", domain, ("two", "one"))
    plain = Counter((b, a, v) for a, b, v in rows)
    assert set(found.keys) == {(b, a) for a, b, _ in rows}
    assert len(set(found.keys)) == len(found.keys)
    for key, released in zip(found.keys, found.released, strict=True):
        assert released.tolist() == [plain[(*key, v)] for v in domain]
    assert found.outside == sum(v in ("z", "⊥") for v in value)
    assert groups(counts, "value", domain).released.sum(axis=0).tolist() == found.released.sum(axis=0).tolist()


def test_a_missing_value_outside_the_domain():
    counts = count(Table.of({"value": ["x", None, "x"]}), ["value"])
    assert groups(counts, "value", ("x", "y")).outside == 1
    assert groups(counts, "value", ("x", "y")).released.tolist() == [[2, 0]]


def test_a_column_that_is_not_counted():
    with pytest.raises(KeyError, match="other"):
        groups(count(Table.of({"value": ["x"]}), ["value"]), "value", ("x",), ("other",))


def test_groups_that_say_little():
    channel = RetentionChannel.of([0.1, 0.1, 0.1])
    released = np.array([[10, 10, 9], [100, 100, 100], [40_000, 40_000, 40_000]])
    assert too_small(reconstruct_counts(channel, released)).tolist() == [True, True, False]
    assert too_small(reconstruct_counts(RetentionChannel.of([1.0, 1.0]), [[0, 29], [0, 30]])).tolist() == [True, False]
