"""Grids, rare rows and removal against plain twins."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given
from tiers import examples

from ppdm_flow.anonymizers.krimp_generator.algorithm import wilson
from ppdm_flow.anonymizers.krimp_generator.cells import NOWHERE, NumberGrid, grid_of
from ppdm_flow.anonymizers.krimp_generator.material import DependenceRemoval, cramers_v
from ppdm_flow.anonymizers.krimp_generator.transform import rare
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.tables.counts import Counts

CHECKED = examples(60)


@CHECKED
@given(
    st.integers(-(10**12), 10**12),
    st.integers(0, 9),
    st.lists(st.integers(0, 10**12), min_size=1, max_size=20),
    st.booleans(),
)
def test_grids_write_what_decimals_write(start, decimals, numbers, padded):
    found = NumberGrid(start, decimals, padded).texts(np.array(numbers, dtype=np.int64)).to_pylist()
    for text, number in zip(found, numbers, strict=True):
        exact = Decimal(start + number).scaleb(-decimals)
        assert Decimal(text) == exact
        plain = format(exact, f".{decimals}f")
        assert text == (plain if padded or not decimals else plain.rstrip("0").rstrip("."))


def test_a_grid_has_the_decimals_of_the_values_as_far_as_they_can_be_counted():
    edges = (Decimal(0), Decimal(10))
    assert grid_of(("1.50",), (Decimal("1.50"),), edges, integers=False) == NumberGrid(0, 2, True)
    assert grid_of(("1.5", "2"), (Decimal("1.5"), Decimal(2)), edges, integers=False) == NumberGrid(0, 1, False)
    assert grid_of(("1e3",), (Decimal("1e3"),), edges, integers=False).decimals == 0
    assert grid_of(("0.12345678901234",), (Decimal("0.12345678901234"),), edges, integers=False).decimals == 9
    far = (Decimal(0), Decimal(10**12))
    assert grid_of(("0.123456789",), (Decimal("0.123456789"),), far, integers=False).decimals == 3


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 4))
    widths = draw(st.lists(st.sampled_from([1, 3, 2**20, 2**30]), min_size=columns, max_size=columns))
    cell = [st.integers(-2, min(w, 4) - 1) for w in widths]
    rows = draw(st.lists(st.tuples(*cell), min_size=1, max_size=12, unique=True))
    weights = draw(st.lists(st.integers(1, 6), min_size=len(rows), max_size=len(rows)))
    asked = draw(st.lists(st.tuples(*[st.integers(-3, 3)] * columns), min_size=1, max_size=20))
    return widths, rows, weights, asked + rows


class Wide:
    """Categories of a column, as many as are claimed."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


@CHECKED
@given(tables(), st.integers(1, 7))
def test_rare_rows_are_found_whatever_the_widths(given_, limit):
    widths, rows, weights, asked = given_
    counts = Counts(
        tuple(f"c{i}" for i in range(len(widths))),
        tuple(Wide(w) for w in widths),
        np.array(rows, dtype=np.int32).reshape(len(rows), -1),
        np.array(weights, dtype=np.int64),
    )
    found = rare(counts, limit)
    cells = [np.array([min(r[i], widths[i] - 1) for r in asked], dtype=np.int64) for i in range(len(widths))]
    support = Counter(dict(zip(rows, weights, strict=True)))
    expected = [0 < support[tuple(c)] < limit for c in np.stack(cells, axis=1).tolist()]
    assert found.hit(cells).tolist() == expected
    assert sorted(map(tuple, found.safe.tolist())) == sorted(r for r in rows if support[r] >= limit)


def test_values_that_the_original_lacks_are_in_none_of_its_rows():
    counts = Counts(("a",), (pa.array(["x"]),), np.array([[-2], [-1], [0]], dtype=np.int32), np.array([1, 1, 1]))
    assert rare(counts, 2).hit([np.array([NOWHERE, -2, -1, 0])]).tolist() == [False, True, True, True]


@CHECKED
@given(st.lists(st.sets(st.integers(0, 6), min_size=1), max_size=15), st.lists(st.sets(st.integers(0, 6)), max_size=3))
def test_removal_hits_what_has_two_of_a_group(itemsets, groups):
    lists = [sorted(s) for s in itemsets]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    flat = np.array([i for s in lists for i in s], dtype=np.int32)
    sets = ItemsetCollection(offsets, flat, np.ones(len(lists), dtype=np.int64))
    masks = tuple(np.isin(np.arange(7), list(g)) for g in groups)
    assert DependenceRemoval(masks, 0).hit(sets).tolist() == [any(len(s & g) > 1 for g in groups) for s in itemsets]


def test_wilson_by_hand():
    low, high = wilson(50, 100)
    assert (round(low, 4), round(high, 4)) == (0.4038, 0.5962)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == 1.0


@CHECKED
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 9)), min_size=1, max_size=12))
def test_cramers_v_is_that_of_the_whole_contingency_table(rows):
    one, other, weights = (np.array(c) for c in zip(*rows, strict=True))
    table = np.zeros((4, 3))
    np.add.at(table, (one, other), weights)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    n, (r, k) = table.sum(), table.shape
    if min(r, k) > 1 and n > 1:
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
        phi = max(0.0, ((table - expected) ** 2 / expected).sum() / n - (r - 1) * (k - 1) / (n - 1))
        least = min(r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)) - 1
        plain = min(1.0, (phi / least) ** 0.5) if least > 0 else 0.0
    else:
        plain = 0.0
    assert np.isclose(cramers_v(one, other, weights), plain, atol=1e-7)
