"""Marginal tables against plain counting."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.utility.coding import CodedColumn, at_released_level, chosen_tables, coded_rows, total_variations
from ppdm_flow.tables.column import Column, union
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

cell = st.sampled_from([None, "⊥", "a", "b"])
rows = st.lists(st.tuples(cell, cell, cell, st.integers(0, 3)), min_size=1, max_size=8)


def beside(before, after):
    mine, theirs = Column.of(before), Column.of(after)
    names = union((mine.categories, theirs.categories))
    return CodedColumn("c", mine.onto(names), theirs.onto(names))


def shares(sample, ways):
    counts = Counter()
    for row in sample:
        counts[row[:ways]] += row[3]
    total = sum(counts.values())
    return {k: v / total for k, v in counts.items()} if total else {}


@examples(45)
@given(rows, rows, st.integers(1, 3))
def test_total_variation(one, other, ways):
    weights = np.array([[r[3] for r in one] + [0] * len(other), [0] * len(one) + [r[3] for r in other]], dtype=float)
    codes = [
        coded_rows(beside([r[i] for r in one], [r[i] for r in other]), weights[0, : len(one)]) for i in range(ways)
    ]
    p, q = shares(one, ways), shares(other, ways)
    apart = sum(abs(p.get(k, 0) - q.get(k, 0)) for k in {*p, *q}) / 2
    expected = apart if p and q else float(bool(p) != bool(q))
    assert total_variations(codes, weights)[0] == pytest.approx(expected, abs=1e-12)


def test_wide_tables_are_counted_by_what_occurs():
    rng = np.random.default_rng(0)
    codes = [np.concatenate([x, x]) for x in rng.permuted(np.tile(np.arange(3000), (3, 1)), axis=1)]
    weights = np.zeros((2, 6000))
    weights[0, :3000], weights[1, 3000:] = 1, 1
    assert total_variations(codes, weights).tolist() == [0]
    codes[2] = np.concatenate([codes[2][:3000], np.roll(codes[2][3000:], 1)])
    assert total_variations(codes, weights).tolist() == [1]


def test_numbers_count_by_ten_intervals_of_the_original():
    numbers = NumericColumn(np.arange(1, 101), AttributeType.INTEGER)
    after = NumericColumn(np.array([0, 10, 11, 100, 500]), AttributeType.INTEGER, np.array([False] * 4 + [True]))
    codes = coded_rows(CodedColumn("c", numbers, after), np.ones(100))
    assert np.bincount(codes[:100])[-10:].tolist() == [10] * 10
    assert codes[100:].tolist() == [1, 1, 2, 10, 0]


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_chosen_tables(ways):
    assert chosen_tables(5, ways, 100) == list(combinations(range(5), ways))
    some = chosen_tables(9, ways, 4)
    assert len(some) == 4
    assert len(set(some)) == 4
    assert set(some) <= set(combinations(range(9), ways))


released = st.sampled_from([None, "⊥", "x", "y"])


@examples(45)
@given(st.lists(st.tuples(st.sampled_from([None, "a", "b", "c"]), released), min_size=1, max_size=8))
def test_released_level(pairs):
    before, after = [a for a, _ in pairs], [b for _, b in pairs]
    joint = count(Table.of({"original": before, "released": after}), ["original", "released"])
    found = at_released_level(Column.of(before), joint)
    labels = {}
    for a, b in pairs:
        if b != "⊥":
            labels.setdefault(a, set()).add(b)
    if any(len(v) > 1 for v in labels.values()):
        assert found is None
    else:
        assert list(found.texts()) == [next(iter(labels[a])) if a in labels else a for a in before]
