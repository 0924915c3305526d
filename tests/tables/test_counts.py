"""Counts against a plain twin, weights, merging, and keys beyond 64 bits."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.tables import counts
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import (
    Counts,
    _by_hashing,
    _by_sorting,
    _mostly_differ,
    _numbered,
    count,
    merge,
    weights_of,
)
from ppdm_flow.tables.table import Table

CELL = st.sampled_from([None, SUPPRESSED_TEXT, "a", "b", "B", "é", "", "10", "9"])
ROW = st.tuples(CELL, CELL, CELL, st.integers(0, 5))
NAMES = ("x", "y", "z")


def table(rows: list[tuple], start: int = 0) -> Table:
    columns = {name: [r[i] for r in rows] for i, name in enumerate(NAMES)}
    return Table.of(columns | {"w": [str(r[3]) for r in rows]}, start)


def plain(rows: list[tuple], places: tuple[int, ...], weighted: bool) -> Counter:
    found: Counter = Counter()
    for row in rows:
        found[tuple(row[p] for p in places)] += row[3] if weighted else 1
    return found


def shown(counts: Counts) -> dict[tuple, int]:
    cells = [Column(counts.of(c), counts.names(c)).texts() for c in counts.columns]
    keys = list(zip(*cells, strict=True)) if cells else [()] * len(counts)
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, counts.counts.tolist(), strict=True))


@given(rows=st.lists(ROW, max_size=40), places=st.permutations([0, 1, 2]), width=st.integers(0, 3), w=st.booleans())
def test_counts_are_the_plain_twins(rows, places, width, w):
    places = tuple(places[:width])
    found = count(table(rows), [NAMES[p] for p in places], "w" if w else None)
    assert shown(found) == dict(plain(rows, places, w))
    assert found.total == sum(r[3] if w else 1 for r in rows)


@given(rows=st.lists(ROW, min_size=1, max_size=40), cut=st.integers(0, 40), w=st.booleans())
def test_partitions_merge_to_the_same_counts(rows, cut, w):
    weight = "w" if w else None
    parts = [p for p in (rows[:cut], rows[cut:]) if p]
    merged = merge(count(table(p), NAMES, weight) for p in parts)
    whole = count(table(rows), NAMES, weight)
    assert shown(merged) == shown(whole)
    assert (merged.codes == whole.codes).all() or [c.to_pylist() for c in merged.categories] != [
        c.to_pylist() for c in whole.categories
    ]


@pytest.mark.slow
@given(rows=st.lists(ROW, min_size=1, max_size=40), order=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, order):
    shuffled = list(rows)
    order.shuffle(shuffled)
    one, two = (count(table(r), NAMES) for r in (rows, shuffled))
    assert (one.codes == two.codes).all()
    assert (one.counts == two.counts).all()


@given(rows=st.lists(ROW, min_size=1, max_size=40))
def test_combinations_are_sorted_by_text_special_marks_first(rows):
    found = count(table(rows), NAMES)
    keys = [tuple(r) for r in found.codes.tolist()]
    assert keys == sorted(keys)
    for name in NAMES:
        texts = found.names(name).to_pylist()
        assert texts == sorted(texts, key=str.encode)


@given(rows=st.lists(ROW, min_size=1, max_size=40), places=st.permutations([0, 1, 2]), width=st.integers(0, 3))
def test_projection_is_counting_fewer_columns(rows, places, width):
    chosen = [NAMES[p] for p in places[:width]]
    projected = count(table(rows), NAMES).project(chosen)
    assert shown(projected) == shown(count(table(rows), chosen))


@given(rows=st.lists(ROW, min_size=1, max_size=40))
def test_groups_number_equal_cells_alike(rows):
    found = count(table(rows), NAMES)
    group, number = found.groups(["x", "z"])
    cells = list(zip(found.of("x").tolist(), found.of("z").tolist(), strict=True))
    assert number == len(set(cells))
    assert len({(g, c) for g, c in zip(group.tolist(), cells, strict=True)}) == number


def wide_rows(columns: int, width: int, rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-2, width, (rows, columns)).astype(np.int32)


def wide_table(codes: np.ndarray, width: int) -> Table:
    names = pa.array([f"{i:05d}" for i in range(width)])
    columns = {f"c{i}": Column(codes[:, i].copy(), names) for i in range(codes.shape[1])}
    return Table(columns, np.arange(len(codes)))


@pytest.mark.parametrize(("columns", "width"), [(8, 500), (30, 1_000), (64, 3), (200, 2), (5, 60_000)])
def test_keys_beyond_64_bits(columns, width):
    """The product of the widths is far above 2^64: keys that wrap around would fall together."""
    assert (width + 2) ** columns > 1 << 64
    codes = wide_rows(columns, width, 300, seed=columns)
    codes = np.concatenate([codes, codes[:50]])
    found = count(wide_table(codes, width), [f"c{i}" for i in range(columns)])
    expected = Counter(tuple(r) for r in codes.tolist())
    assert {tuple(r): n for r, n in zip(found.codes.tolist(), found.counts.tolist(), strict=True)} == expected
    keys = [tuple(r) for r in found.codes.tolist()]
    assert keys == sorted(keys)


@pytest.mark.parametrize(("rows", "different"), [(0, 1), (1, 1), (300, 7), (300, 3000), (70_000, 70_000)])
def test_keys_are_numbered_alike_by_sorting_and_by_hashing(rows, different):
    draws = np.random.default_rng(5)
    keys = draws.integers(0, 1 << 60, different)[draws.integers(0, different, rows)]
    expected, places = np.unique(keys, return_inverse=True)
    for number in (_by_sorting, _by_hashing, partial(_numbered, radix=1 << 60)):
        found, inverse = number(keys)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(inverse, places)


@pytest.mark.parametrize(
    ("rows", "radix", "expected"), [(60_000, 1 << 60, False), (70_000, 17_000, False), (70_000, 1 << 60, True)]
)
def test_keys_are_sorted_where_they_are_many_and_may_mostly_differ(monkeypatch, rows, radix, expected):
    used = []
    monkeypatch.setattr(counts, "_by_sorting", lambda keys: used.append("sorting") or _by_sorting(keys))
    found, _ = _numbered(np.random.default_rng(7).integers(0, radix, rows), radix)
    assert len(found) > rows // 5
    assert used == ["sorting"] * expected


def test_a_sample_tells_whether_keys_mostly_differ():
    draws = np.random.default_rng(6)
    assert _mostly_differ(draws.permutation(200_000))
    assert _mostly_differ(draws.integers(0, 200_000, 200_000))
    assert not _mostly_differ(np.tile(np.arange(10_000), 20))  # each of 20 partitions has every key
    assert not _mostly_differ(draws.integers(0, 10_000, 200_000))


def test_rows_that_differ_in_one_cell_of_many_columns_stay_apart():
    codes = np.zeros((65, 64), dtype=np.int32)
    codes[np.arange(64), np.arange(64)] = 1
    found = count(wide_table(codes, 2), [f"c{i}" for i in range(64)])
    assert len(found) == 65
    assert (found.counts == 1).all()


def test_sums_of_weights_stay_exact_beyond_2_to_the_53():
    big = (1 << 53) + 1
    found = count(Table.of({"x": ["a", "a", "b"], "w": [str(big), "2", "7"]}), ["x"], "w")
    assert shown(found) == {("a",): big + 2, ("b",): 7}
    assert found.total == big + 9


@pytest.mark.parametrize(
    ("weight", "why"), [(None, "missing"), ("1.5", "whole"), ("x", "whole"), ("-1", "negative"), ("", "whole")]
)
def test_what_is_no_weight_is_an_error(weight, why):
    with pytest.raises(ValueError, match=why):
        weights_of(Column.of(["1", weight]))


def test_no_rows_and_no_columns():
    empty = Table.of({"x": []})
    assert len(count(empty, ["x"])) == 0
    assert len(count(empty, [])) == 0
    found = count(Table.of({"x": ["a", "b"]}), [])
    assert shown(found) == {(): 2}
    with pytest.raises(ValueError, match="one partition at least"):
        merge([])


def test_codes_by_value():
    found = count(Table.of({"x": ["b", "a", None]}), ["x"])
    assert found.code("x", "a") == 0
    assert found.code("x", "zz") is None
    assert set(found.of("x").tolist()) == {0, 1, MISSING}
    assert SUPPRESSED not in found.of("x")
