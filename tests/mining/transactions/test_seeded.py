"""Seeds: their choice and expansion against plain polynomials, and the operator's law at own and other items.

Statistical tests are chi-square tests on fixed keys, each failing with probability 1e-4 if all is right.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2, norm

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.counting.seeded_field import MODULUS, ORDER, product, tables
from ppdm_flow.mining.transactions.counting.vertical import expand
from ppdm_flow.mining.transactions.estimates import expected_sigma, supports
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.randomize import seeded
from ppdm_flow.tables.sets import Baskets, Expansion, SeededSets

RISK = 1e-4


def slow_product(a: int, b: int) -> int:
    out = 0
    while b:
        out ^= a if b & 1 else 0
        a <<= 1
        a ^= MODULUS if a >> 16 else 0
        b >>= 1
    return out


def slow_value(seed: list[int], item: int) -> int:
    out = 0
    for coefficient in reversed(seed):
        out = slow_product(out, item) ^ coefficient
    return out


def names(items: int) -> pa.StringArray:
    return pa.array([f"{i:05d}" for i in range(items)], pa.string())


def same_baskets(items: list[int], rows: int, alphabet: int) -> Baskets:
    offsets = np.arange(rows + 1, dtype=np.int64) * len(items)
    return Baskets(offsets, np.tile(np.array(items, dtype=np.int32), rows), names(alphabet))


def draws(operator: TransactionOperator, spare: int) -> Draws:
    return Draws(RunKey.from_seed("seeded").step("s"), seeded.draws_per_row(operator, spare))


def fits(observed: np.ndarray, expected: np.ndarray) -> bool:
    assert observed[expected == 0].sum() == 0
    used = expected > 0
    statistic = float((((observed - expected) ** 2)[used] / expected[used]).sum())
    return statistic < float(chi2.isf(RISK, int(used.sum()) - 1))


def test_the_field_is_one() -> None:
    powers, logs = tables()
    assert len(set(powers[:ORDER].tolist())) == ORDER
    assert (logs[powers[:ORDER]] == np.arange(ORDER)).all()
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, ORDER + 1, (2, 300)).astype(np.uint16)
    assert product(a, b).tolist() == [slow_product(int(x), int(y)) for x, y in zip(a, b, strict=True)]


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize("rho", [0.25, 0.5, 1 / 65536, 65535 / 65536, 12345 / 65536])
@pytest.mark.parametrize("spare", [0, 1, 4])
def test_expansion_is_the_polynomial(rho: float, spare: int) -> None:
    rng = np.random.default_rng(3)
    sizes = np.repeat([1, 3, 6], 30).astype(np.int32)
    insertion = tuple(rho if m in (1, 3, 6) else 0.0 for m in range(7))
    expansion = Expansion(insertion, spare)
    seeds = rng.integers(0, 1 << 16, (90, expansion.width)).astype(np.uint16)
    seeds[np.arange(expansion.width) >= sizes[:, None] + spare] = 0
    found = expand(SeededSets(seeds, sizes, names(530), expansion)).baskets()
    for row in range(0, 90, 7):
        has = found.items[found.offsets[row] : found.offsets[row + 1]].tolist()
        level = round(rho * 65536)
        assert has == [x for x in range(530) if slow_value(seeds[row].tolist(), x) < level]


def test_seeds_depend_on_row_numbers_only() -> None:
    baskets = same_baskets([1, 5, 40], 50, 60)
    operator = TransactionOperator.cut_and_paste({3: 1}, {3: 0.25}, 60)
    rows = np.arange(100, 150)
    whole = seeded.seed(baskets, operator, draws(operator, 4), rows)
    assert whole.valid()
    order = np.random.default_rng(0).permutation(50)
    again = seeded.seed(baskets.take(order), operator, draws(operator, 4), rows[order])
    assert (again.seeds == whole.seeds[order]).all()
    half = seeded.seed(baskets.take(slice(25, 50)), operator, draws(operator, 4), rows[25:])
    assert (half.seeds == whole.seeds[25:]).all()


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("others", [(0,), (7, 100), (0, 3, 9), (1, 64, 65, 129)])
def test_own_and_other_items_follow_the_operator(others: tuple[int, ...]) -> None:
    """The joint law on t and as many other items as are spare, all patterns of it."""
    own, rows, rho = [2, 17, 90], 200_000, 20000 / 65536
    operator = TransactionOperator.select_a_size({3: [0.1, 0.2, 0.3, 0.4]}, {3: rho}, 130)
    seeds = seeded.seed(same_baskets(own, rows, 130), operator, draws(operator, 4), np.arange(rows), len(others))
    packed = expand(seeds)
    items = np.array([*own, *others])
    bits = (packed.words[:, items >> 6] >> (items & 63).astype(np.uint64)) & np.uint64(1)
    observed = np.bincount(bits.astype(np.int64) @ (1 << np.arange(len(items))), minlength=1 << len(items))
    law = operator.law(3) / np.array([1, 3, 3, 1])
    expected = np.array(
        [
            law[(u & 7).bit_count()] * rho ** (u >> 3).bit_count() * (1 - rho) ** (len(others) - (u >> 3).bit_count())
            for u in range(1 << len(items))
        ]
    )
    assert fits(observed, expected * rows)


def test_each_matching_seed_is_as_likely() -> None:
    """One item and one spare coefficient: seeds in 64 classes by value at the item, and elsewhere, crossed."""
    rows, level = 400_000, 1 << 14
    operator = TransactionOperator.select_a_size({1: [0.3, 0.7]}, {1: level / 65536}, 10)
    seeds = seeded.seed(same_baskets([6], rows, 10), operator, draws(operator, 1), np.arange(rows), 1).seeds
    at_item = seeds[:, 0] ^ product(seeds[:, 1], np.full(rows, 6, dtype=np.uint16))
    observed = np.bincount((at_item >> 10).astype(np.int64) * 8 + (seeds[:, 1] >> 13), minlength=512)
    share = np.repeat([0.7 / 16, 0.3 / 48], [16 * 8, 48 * 8]) / 8
    assert fits(observed, share * rows)
    constant = np.bincount(seeds[:, 0] >> 10, minlength=64)
    assert fits(constant, np.full(64, rows / 64))


def test_expansions_of_pairs_of_own_items_are_of_one_kind() -> None:
    """Which j of the m items stay: every set of them as often."""
    rows = 60_000
    operator = TransactionOperator.select_a_size({5: [0, 0, 1, 0, 0, 0]}, {5: 0.5}, 40)
    own = [0, 1, 2, 20, 39]
    seeds = seeded.seed(same_baskets(own, rows, 40), operator, draws(operator, 0), np.arange(rows), 0)
    bits = (expand(seeds).words[:, :1] >> np.array(own, dtype=np.uint64)) & np.uint64(1)
    code = bits.astype(np.int64) @ (1 << np.arange(5))
    observed = np.array([(code == (1 << a) + (1 << b)).sum() for a, b in combinations(range(5), 2)])
    assert observed.sum() == rows
    assert fits(observed, np.full(10, rows / 10))


def test_estimates_from_seeds_are_unbiased_with_the_stated_error() -> None:
    """2,000 releases of 150 transactions of two sizes: mean by a z-test, variance by its chi-square law."""
    draw, each = 2000, 150
    own = [[3, 8, 9], [8, 40], [3, 41], [3, 8, 9, 50], [8, 9], [20]] * (each // 6)
    sizes = np.array([len(row) for row in own])
    offsets = np.concatenate([[0], np.cumsum(np.tile(sizes, draw))]).astype(np.int64)
    items = np.tile(np.array([i for row in own for i in row], dtype=np.int32), draw)
    operator = TransactionOperator.cut_and_paste(dict.fromkeys(range(1, 5), 3), dict.fromkeys(range(1, 5), 0.25), 64)
    seeds = seeded.seed(Baskets(offsets, items, names(64)), operator, draws(operator, 3), np.arange(draw * each), 3)
    bits = (expand(seeds).words[:, :1] >> np.array([3, 8, 9], dtype=np.uint64)) & np.uint64(1)
    overlap = bits.sum(axis=1).astype(np.int64).reshape(draw, each)
    held = np.array([len({3, 8, 9} & set(row)) for row in own])
    counts, partial = {}, {}
    for m in range(1, 5):
        counts[m] = np.stack([(overlap[:, sizes == m] == k).sum(axis=1) for k in range(4)], axis=-1)
        partial[m] = np.bincount(held[sizes == m], minlength=4) / (sizes == m).sum()
    found = supports(operator, counts).value
    sigma = float(expected_sigma(operator, partial, {m: float((sizes == m).sum()) for m in range(1, 5)}))
    assert abs(found.mean() - 2 / 6) < float(norm.isf(RISK / 2)) * sigma / np.sqrt(draw)
    spread = float(((found - 2 / 6) ** 2).sum()) / sigma**2
    assert float(chi2.ppf(RISK / 2, draw)) < spread < float(chi2.isf(RISK / 2, draw))


def test_long_and_empty_transactions() -> None:
    sizes = [0, 80, 1]
    rng = np.random.default_rng(1)
    rows = [np.sort(rng.choice(200, m, replace=False)) for m in sizes]
    baskets = Baskets(np.array([0, 0, 80, 81]), np.concatenate(rows).astype(np.int32), names(200))
    operator = TransactionOperator.cut_and_paste({0: 1, 1: 1, 80: 80}, dict.fromkeys(sizes, 0.25), 200)
    found = seeded.seed(baskets, operator, draws(operator, 2), np.arange(3), 2)
    assert found.valid()
    assert found.seeds.shape == (3, 82)
    law = expand(found).baskets()
    assert len(law) == 3


@pytest.mark.parametrize(
    ("operator", "code"),
    [
        (TransactionOperator.uniform([3], 0.5, 60), "PPF778"),
        (TransactionOperator.none([3], 60), "PPF778"),
        (TransactionOperator.cut_and_paste({3: 1}, {3: 0.1}, 60), "PPF778"),
        (TransactionOperator.cut_and_paste({3: 1}, {3: 0.25}, 70_000), "PPF778"),
        (TransactionOperator.cut_and_paste({3: 1}, {3: 0.25}, 61), "PPF777"),
        (TransactionOperator.cut_and_paste({2: 1}, {2: 0.25}, 60), "PPF777"),
    ],
)
def test_refusals(operator: TransactionOperator, code: str) -> None:
    with pytest.raises(DataError, match=code):
        seeded.seed(same_baskets([1, 5, 40], 2, 60), operator, draws(operator, 4), np.arange(2))


@pytest.mark.parametrize("items", [[1, 1, 5], [-1, 2, 3], [3, 2, 1], [1, 2, 60]])
def test_what_is_no_set_of_items(items: list[int]) -> None:
    operator = TransactionOperator.cut_and_paste({3: 1}, {3: 0.25}, 60)
    with pytest.raises(DataError, match="PPF777"):
        seeded.seed(same_baskets(items, 2, 60), operator, draws(operator, 4), np.arange(2))
