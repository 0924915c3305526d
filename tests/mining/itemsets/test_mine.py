"""Frequent and closed itemsets against brute force, and against pyfim where it is installed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.itemsets import database
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import least_rows, mine, mine_transactions

ROWS = st.lists(st.frozensets(st.integers(0, 6), max_size=6), min_size=1, max_size=60)


def brute(rows, least, only_closed=False):
    counts = Counter(s for row in rows for k in range(1, len(row) + 1) for s in combinations(sorted(row), k))
    found = {s: n for s, n in counts.items() if n >= least}
    if only_closed:
        found = {s: n for s, n in found.items() if not any(set(s) < set(t) and n == m for t, m in counts.items())}
    return found


def found(rows, least, **bounds):
    sets = list(mine(ItemDatabase.of_lists(rows, 7), least, **bounds))
    assert len(sets) == len(dict(sets))
    return dict(sets)


@given(ROWS, st.integers(1, 20))
def test_all(rows, least):
    assert found(rows, least) == brute(rows, least)


@given(ROWS, st.integers(1, 20))
def test_closed(rows, least):
    assert found(rows, least, only_closed=True) == brute(rows, least, only_closed=True)


@given(st.lists(st.lists(st.integers(0, 6), max_size=6), min_size=1, max_size=60), st.integers(1, 20), st.booleans())
def test_transactions_as_they_come(rows, least, only_closed):
    offsets = np.cumsum([0, *map(len, rows)])
    items = np.array([i for row in rows for i in row], dtype=np.int32)
    sets = list(mine_transactions(offsets, items, least, only_closed=only_closed))
    assert len(sets) == len(dict(sets))
    assert dict(sets) == brute([frozenset(row) for row in rows], least, only_closed)


@pytest.mark.parametrize(("rows", "alphabet"), [([], None), ([[0, 3]], 3), ([[-1]], None)])
def test_transactions_that_are_none(rows, alphabet):
    offsets = np.cumsum([0, *map(len, rows)])
    items = np.array([i for row in rows for i in row], dtype=np.int32)
    with pytest.raises(ValueError, match=r"without rows|outside"):
        mine_transactions(offsets, items, 1, alphabet=alphabet)


@given(ROWS, st.integers(1, 5), st.booleans())
def test_without_bit_vectors(rows, least, only_closed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "MOST_BITS", 0)
        assert found(rows, least, only_closed=only_closed) == brute(rows, least, only_closed)


@given(ROWS, st.integers(1, 9), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_length_bounds(rows, least, short, long, only_closed):
    wanted = {s: n for s, n in brute(rows, least, only_closed).items() if short <= len(s) <= long}
    assert found(rows, least, only_closed=only_closed, min_length=short, max_length=long) == wanted


@given(ROWS, st.integers(2, 5))
def test_equal_rows_are_weights(rows, times):
    assert found(rows * times, times) == {s: n * times for s, n in brute(rows, 1).items()}


@given(ROWS)
def test_candidate_order(rows):
    sets = list(mine(ItemDatabase.of_lists(rows, 7), 1).in_candidate_order())
    assert sets == sorted(brute(rows, 1).items(), key=lambda x: (-x[1], -len(x[0]), x[0]))


@pytest.mark.slow
def test_many_rows_use_bits_and_lists():
    rng = np.random.default_rng(5)
    rows = [frozenset(np.flatnonzero(rng.random(9) < 0.4).tolist()) for _ in range(4000)]
    database = ItemDatabase.of_lists(rows, 9)
    for least in (1, 7, 60, 900):
        for only_closed in (False, True):
            assert dict(mine(database, least, only_closed=only_closed)) == brute(rows, least, only_closed)


def test_minimum_support():
    assert least_rows(3, 10) == 3
    assert least_rows(0.3, 10) == 3
    assert least_rows(0.31, 10) == 4
    assert least_rows(1.0, 10) == 10
    for wrong in (0, -1, 0.0, 1.5):
        with pytest.raises(ValueError, match=r"support|share"):
            least_rows(wrong, 10)


def test_nothing_above_the_number_of_rows():
    assert found([{0, 1}], 2) == {}
    assert found([set()], 1) == {}
    assert found([set()], 1, only_closed=True) == {}


def test_too_many():
    with pytest.raises(PluginError, match="PPF775") as caught:
        mine(ItemDatabase.of_lists([range(20)]), 1, most=1000)
    assert "1000" in str(caught.value)
    assert len(mine(ItemDatabase.of_lists([range(10)]), 1, most=1023)) == 1023


def test_too_long():
    """A million sets of up to 300 items are more than memory holds long before they are too many."""
    with pytest.raises(PluginError, match="PPF775"):
        mine(ItemDatabase.of_lists([range(300)]), 1, most=1_000_000)


@pytest.mark.slow
def test_a_wide_row_and_a_large_alphabet():
    assert list(mine(ItemDatabase.of_lists([range(300)]), 1, only_closed=True)) == [(tuple(range(300)), 1)]
    rows = [[i, 50_000 + i % 2] for i in range(50_000)]
    database = ItemDatabase.of_lists(rows)
    assert database.cells.shape == (50_000, 2)
    assert dict(mine(database, 2)) == {(50_000,): 25_000, (50_001,): 25_000}
    assert len(mine(database, 1)) == 100_002


def test_beside_pyfim():
    fim = pytest.importorskip("fim", reason="pyfim is not installed")
    rng = np.random.default_rng(11)
    rows = [sorted(np.flatnonzero(rng.random(40) < 0.25).tolist()) for _ in range(500)]
    theirs = {tuple(sorted(s)): n for s, n in fim.eclat(rows, supp=-10, report="a")}
    assert dict(mine(ItemDatabase.of_lists(rows, 40), 10)) == theirs
