"""Bits by item and counts of itemsets, against plain loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.transactions.counting.vertical import (
    columns,
    expand,
    item_counts,
    partial_support_counts,
    pattern_counts,
    support_counts,
)
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.randomize import seeded
from ppdm_flow.tables.sets import Baskets, PackedSets, SeededSets, SetColumn


def random_baskets(rows: int, items: int, longest: int, key: int = 0) -> Baskets:
    rng = np.random.default_rng(key)
    sizes = rng.integers(0, longest + 1, rows)
    drawn = [np.sort(rng.choice(items, size, replace=False)) for size in sizes]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    names = pa.array([f"i{i:05d}" for i in range(items)], pa.string())
    return Baskets(offsets, np.concatenate(drawn).astype(np.int32), names)


def seeded_sets(baskets: Baskets, longest: int, rho: float = 0.25, spare: int = 3) -> SeededSets:
    operator = TransactionOperator.cut_and_paste(
        dict.fromkeys(range(longest + 1), 2), dict.fromkeys(range(longest + 1), rho), len(baskets.categories)
    )
    draws = Draws(RunKey.from_seed("vertical").step("seed"), seeded.draws_per_row(operator, spare))
    return seeded.seed(baskets, operator, draws, np.arange(len(baskets)), spare)


def plain(sets: list[list[int]], sizes: list[int], itemset: tuple[int, ...], size: int) -> list[int]:
    found = [0] * (1 << len(itemset))
    for row, own in zip(sets, sizes, strict=True):
        if own == size:
            found[sum(1 << i for i, item in enumerate(itemset) if item in row)] += 1
    return found


@pytest.mark.parametrize("form", ["baskets", "packed", "seeded"])
@pytest.mark.parametrize(("rows", "items"), [(1, 3), (64, 64), (257, 130), (300, 600)])
def test_columns_hold_each_row_once(form: str, rows: int, items: int) -> None:
    baskets = random_baskets(rows, items, 3)
    forms: dict[str, SetColumn] = {
        "baskets": baskets,
        "packed": PackedSets.of(baskets),
        "seeded": seeded_sets(baskets, 3),
    }
    sets = forms[form]
    held = expand(sets).baskets() if isinstance(sets, SeededSets) else baskets
    codes = [[int(name[1:]) for name in row] for row in held.texts()]
    wanted = np.random.default_rng(1).permutation(items)[: max(3, items // 2)]
    found = columns(sets, wanted)
    sizes = sets.sizes.tolist()
    for c, size in enumerate(found.sizes):
        assert found.rows[c] == sizes.count(size)
        stretch = found.words[:, found.starts[c] : found.starts[c + 1]]
        own = [row for row, m in zip(codes, sizes, strict=True) if m == size]
        for line, item in enumerate(wanted.tolist()):
            bits = np.unpackbits(stretch[line].view(np.uint8), bitorder="little")
            assert bits[: len(own)].tolist() == [int(item in row) for row in own]
            assert not bits[len(own) :].any()
    classes, counts = item_counts(sets)
    assert classes.tolist() == found.sizes.tolist()
    singles = support_counts(found, np.arange(len(wanted))[:, None])
    assert (singles == counts[:, wanted].T).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_patterns_equal_a_plain_count(size: int) -> None:
    baskets = random_baskets(700, 9, 5)
    packed = PackedSets.of(baskets)
    found = columns(packed, np.arange(9))
    sets = [[int(name[1:]) for name in row] for row in baskets.texts()]
    itemsets = np.array(list(combinations(range(9), size)))[::3]
    patterns = pattern_counts(found, itemsets)
    partial = partial_support_counts(found, itemsets)
    for n, itemset in enumerate(itemsets.tolist()):
        for c, own in enumerate(found.sizes.tolist()):
            expected = plain(sets, packed.sizes.tolist(), tuple(itemset), own)
            assert patterns[n, c].tolist() == expected
            by_number = [sum(v for m, v in enumerate(expected) if m.bit_count() == k) for k in range(size + 1)]
            assert partial[n, c].tolist() == by_number
    assert (support_counts(found, itemsets) == patterns[:, :, -1]).all()


def test_the_empty_itemset_and_no_rows() -> None:
    baskets = random_baskets(10, 5, 2)
    assert support_counts(columns(baskets, np.arange(5)), np.zeros((1, 0), dtype=np.int64)).sum() == 10
    nothing = columns(baskets.take(slice(0, 0)), np.arange(5))
    assert nothing.words.shape == (5, 0)
    assert support_counts(nothing, np.array([[0, 1]])).shape == (1, 0)
    with pytest.raises(ValueError, match="patterns"):
        pattern_counts(nothing, np.zeros((1, 13), dtype=np.int64))
