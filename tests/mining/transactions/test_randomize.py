"""Randomized bits: each against its words, and all against the operator's law (risk 1e-4 a test, fixed keys)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.operators import TransactionOperator, pattern_transition
from ppdm_flow.mining.transactions.randomize.randomize import draws_per_row, insertion_levels, randomize, thresholds
from ppdm_flow.tables.sets import Baskets, PackedSets

RISK = 1e-4


def baskets(rows: list[list[int]], alphabet: int) -> Baskets:
    offsets = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
    items = np.array([i for r in rows for i in r], dtype=np.int32)
    return Baskets(offsets, items, pa.array([f"{i:05d}" for i in range(alphabet)], pa.string()))


def draws(operator: TransactionOperator) -> Draws:
    return Draws(RunKey.from_seed("randomize").step("r"), draws_per_row(operator))


def run(rows: list[list[int]], operator: TransactionOperator) -> PackedSets:
    return randomize(baskets(rows, operator.alphabet), operator, draws(operator), np.arange(len(rows)))


def plain(row: list[int], words: list[int], operator: TransactionOperator) -> set[int]:
    """Read one row's words as the docstrings say they are read."""
    size, longest = len(row), operator.sizes[-1]
    law = np.round(np.cumsum(operator.law(size)) * 2.0**53)
    left = sum(1 for t in law[:-1] if (words[0] >> 11) >= t)
    levels, planes = insertion_levels(operator)
    width = -(-operator.alphabet // 64)
    inside = set()
    for item in range(operator.alphabet):
        place, bit = divmod(item, 64)
        number = sum(((words[1 + longest + p * width + place] >> bit) & 1) << p for p in range(planes))
        if number < int(levels[size]):
            inside.add(item)
    for i, item in enumerate(row):
        if (words[1 + i] >> 16) * (size - i) < left << 48:
            left -= 1
            inside.add(item)
        else:
            inside.discard(item)
    return inside


@pytest.mark.parametrize("alphabet", [3, 64, 70, 200])
@pytest.mark.parametrize("rho", [0.25, 0.3, 1e-3])
def test_bits_are_what_the_words_say(alphabet: int, rho: float) -> None:
    operator = TransactionOperator.cut_and_paste({1: 0, 2: 2, 3: 1}, {1: rho, 2: rho / 2, 3: 0.5}, alphabet)
    rows = [[0], [0, 2], [0, 1, 2], [1, 2], [2]] * 4
    found = run(rows, operator)
    assert found.valid()
    words = draws(operator).words(np.arange(len(rows))).tolist()
    got = found.baskets()
    for r, row in enumerate(rows):
        assert set(got.items[got.offsets[r] : got.offsets[r + 1]].tolist()) == plain(row, words[r], operator)


def test_levels_are_exact_and_short() -> None:
    levels, planes = insertion_levels(TransactionOperator.cut_and_paste({1: 0, 3: 1}, {1: 0.25, 3: 0.375}, 10))
    assert (levels.tolist(), planes) == ([0, 2, 0, 3], 3)
    assert insertion_levels(TransactionOperator.none([1], 5))[1] == 0
    levels, planes = insertion_levels(TransactionOperator.cut_and_paste({1: 0}, {1: 0.1}, 10))
    assert planes <= 32
    assert levels[1] / 2**planes == pytest.approx(0.1, abs=2.0**-33)


def test_what_has_no_probability_is_never_drawn() -> None:
    limits = thresholds(TransactionOperator.select_a_size({3: [0, 0.3, 0.7, 0]}, {3: 0.5}, 10))
    assert limits[3, 0] == 0
    assert limits[3, 2] == limits[3, 3] == 1 << 53


def patterns(found: PackedSets, items: list[int]) -> np.ndarray:
    at = np.array(items)
    bits = (found.words[:, at >> 6] >> (at & 63).astype(np.uint64)) & np.uint64(1)
    return np.bincount(bits.astype(np.int64) @ (1 << np.arange(len(at))), minlength=1 << len(at))


@pytest.mark.parametrize(
    "operator",
    [
        TransactionOperator.cut_and_paste({5: 3}, {5: 0.2}, 90),
        TransactionOperator.select_a_size({5: [0.1, 0.1, 0.2, 0.3, 0.2, 0.1]}, {5: 0.4}, 90),
        TransactionOperator.uniform([5], 0.3, 12),
        TransactionOperator.uniform([5], 0.3, 14, 3),
    ],
)
def test_patterns_follow_the_transition_matrix(operator: TransactionOperator) -> None:
    """Four items, of which the transaction has two."""
    rows, own = 100_000, [0, 3, 7, 8, 10]
    observed = patterns(run([own] * rows, operator), [3, 10, 1, 11])
    expected = pattern_transition(operator, 5, 4)[:, 0b0011] * rows
    statistic = float(((observed - expected) ** 2 / expected).sum())
    assert statistic < float(chi2.isf(RISK, 15))


def test_uniform_keeps_the_size() -> None:
    found = run([[0, 3], [1, 2], [5, 9]] * 200, TransactionOperator.uniform([2, 4], 0.3, 10)).baskets()
    assert set(found.sizes.tolist()) == {2}
    assert found.valid()


def test_inserted_items_come_in_for_every_set() -> None:
    rows = [[0, 3], [], [5, 9]] * 200
    packed = run(rows, TransactionOperator.uniform([0, 2, 4], 0.3, 12, 4))
    found = packed.baskets()
    assert found.sizes.tolist() == [6, 4, 6] * 200
    assert packed.sizes.tolist() == [2, 0, 2] * 200
    kept = [len(set(before) & {int(name) for name in after}) for before, after in zip(rows, found.texts(), strict=True)]
    assert set(kept) == {0, 1, 2}


def test_none_changes_nothing() -> None:
    rows = [[], [1], [0, 69]]
    found = run(rows, TransactionOperator.none([0, 1, 2], 70)).baskets()
    assert found.texts() == baskets(rows, 70).texts()


def test_rows_are_addressed_by_number() -> None:
    operator = TransactionOperator.cut_and_paste({2: 1}, {2: 0.3}, 130)
    data = baskets([[i % 60, 60 + i % 70] for i in range(50)], 130)
    rows = np.arange(1000, 1050)
    whole = randomize(data, operator, draws(operator), rows)
    order = np.random.default_rng(0).permutation(50)
    again = randomize(data.take(order), operator, draws(operator), rows[order])
    assert (again.words == whole.words[order]).all()
    assert len(randomize(data.take(slice(0, 0)), operator, draws(operator), rows[:0])) == 0


@pytest.mark.parametrize("row", [[1, 1], [-1, 2], [2, 1], [1, 60], [1], [1, 2, 3]])
def test_refusals(row: list[int]) -> None:
    with pytest.raises(DataError, match="PPF777"):
        run([row], TransactionOperator.cut_and_paste({2: 1}, {2: 0.3}, 60))
