"""Unique column combinations against a search that tries everything, and estimates against exact counts."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.mining.uniques import search as measure
from ppdm_flow.mining.uniques.search import CodedColumns, search


def ground(*columns):
    return CodedColumns(
        [np.array(c, dtype=np.int32) for c in columns], [int(max(c, default=0)) + 1 if len(c) else 1 for c in columns]
    )


def alone(columns, chosen):
    """The plain twin: rows whose combination occurs once."""
    rows = list(zip(*(columns[c] for c in chosen), strict=True))
    counts = Counter(rows)
    return sum(counts[row] == 1 for row in rows)


def minimal(columns, size):
    """Every combination, from small to large."""
    rows = len(columns[0])
    found = []
    for level in range(1, size + 1):
        for chosen in combinations(range(len(columns)), level):
            if not any(set(f) <= set(chosen) for f in found) and alone(columns, chosen) == rows:
                found.append(chosen)
    return found


TABLES = st.integers(2, 40).flatmap(
    lambda rows: st.lists(
        st.integers(0, 12).flatmap(lambda top: st.lists(st.integers(0, top), min_size=rows, max_size=rows)),
        min_size=1,
        max_size=6,
    )
)


@given(TABLES, st.integers(1, 3))
def test_the_search_finds_what_trying_everything_finds(columns, size):
    found = search(ground(*columns), range(len(columns)), size, most=1_000, least=1e-9)
    assert sorted(found.minimal) == sorted(minimal(columns, size))
    assert found.left_out == 0
    for each in found.telling:
        assert each.share == alone(columns, each.columns) / len(columns[0])
        assert not any(set(m) <= set(each.columns) for m in found.minimal)


@given(TABLES)
def test_what_is_told_is_the_worst_of_its_size(columns):
    found = search(ground(*columns), range(len(columns)), 2, most=1, least=1e-9)
    for level in (1, 2):
        told = [a for a in found.telling if len(a.columns) == level]
        others = [
            alone(columns, c) / len(columns[0])
            for c in combinations([i for i, column in enumerate(columns) if max(column) > 0], level)
            if not any(set(m) <= set(c) for m in found.minimal)
            and not any(set(a.columns) <= set(c) and a.share >= 0.5 for a in found.telling if len(a.columns) < level)
        ]
        best = max(others, default=0.0)
        assert (told[0].share if told else 0.0) == best


@given(st.lists(st.integers(0, 1 << 40), max_size=200))
def test_alone_is_the_plain_count(keys):
    expected = sum(n == 1 for n in Counter(keys).values())
    assert measure.alone(np.array(keys, dtype=np.int64)) == expected


@pytest.mark.parametrize("bits", [0, 3])
def test_combinations_are_kept_together(bits):
    rng = np.random.default_rng(1)
    table = ground(*(rng.integers(0, 40, 5_000) for _ in range(3)))
    everything, some = table.keys((0, 1, 2)), table.keys((0, 1, 2), bits)
    kept = set(some.tolist())
    assert len(some) == sum(key in kept for key in everything.tolist())
    assert abs(len(some) / 5_000 - 0.5**bits) < 0.02


def test_an_estimate_is_near():
    """400,000 rows, an eighth looked at: eight standard errors of room, on fixed rows."""
    rng = np.random.default_rng(2)
    table = ground(rng.integers(0, 900, 400_000), rng.integers(0, 500, 400_000))
    share, whole = table.estimate((0, 1))
    exact = table.alone((0, 1)) / 400_000
    assert not whole
    assert 0.3 < exact < 0.5
    assert abs(share - exact) < 0.02


def test_keys_that_would_not_fit_into_64_bits():
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, 50, 300).astype(np.int32) for _ in range(3)]
    wide = CodedColumns(codes, [1 << 30, 1 << 30, 1 << 30])
    assert wide.alone((0, 1, 2)) == alone([c.tolist() for c in codes], (0, 1, 2))


def test_a_unique_combination_in_many_rows_is_found_exactly():
    """One pair of equal rows among 200,000 is enough for a combination not to be unique."""
    place = np.arange(200_000)
    first, second = place // 500, place % 500
    assert search(ground(first, second), [0, 1]).minimal == ((0, 1),)
    first[-1], second[-1] = first[7], second[7]
    found = search(ground(first, second), [0, 1])
    assert found.minimal == ()
    assert found.telling[0].share == (200_000 - 2) / 200_000


def test_the_budget_is_kept_and_told():
    rng = np.random.default_rng(4)
    table = ground(*(rng.integers(0, 30, 100) for _ in range(8)))
    found = search(table, range(8), budget=1_000)
    assert found.looked_at == 10
    assert found.left_out > 0


@pytest.mark.slow
def test_very_many_columns():
    """Of 400 columns not all 10.6 million triples are listed; the widest are, and the rest is counted."""
    codes = [np.arange(40, dtype=np.int32) % (3 + i % 7) for i in range(400)]
    found = search(CodedColumns(codes, [int(c.max()) + 1 for c in codes]), range(400), budget=40 * 3_000)
    assert found.left_out > 10_000_000
    assert found.looked_at <= 3_000


@pytest.mark.parametrize("columns", [[[]], [[0]], [[0, 0]], [[0, 0], [0, 0]]])
def test_tables_without_anything_to_tell(columns):
    found = search(ground(*columns), range(len(columns)))
    assert found.minimal == found.telling == ()


def test_columns_of_unlike_lengths():
    with pytest.raises(ValueError, match="one length"):
        ground([1, 2], [1])
    with pytest.raises(ValueError, match="from 1 to 3"):
        ground([1], [1], [1], [1]).keys((0, 1, 2, 3))
