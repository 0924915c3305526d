"""Counting prevalent itemsets and what they expose, against plain enumeration of every itemset there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from ppdm_flow.mining.transactions import exposure
from ppdm_flow.mining.transactions import prevalent as prevalent_module
from ppdm_flow.mining.transactions.breaches import Event, likelihoods
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.prevalent import SizePool, pools, prevalent
from ppdm_flow.tables.sets import Baskets, gathered

ITEMS = 9
SIZES = (1, 2, 3, 4)
OPERATORS = [
    TransactionOperator.cut_and_paste({m: m + 3 for m in SIZES}, {m: 0.1 + 0.05 * m for m in SIZES}, ITEMS),
    TransactionOperator.uniform(SIZES, 0.6, ITEMS),
    TransactionOperator.select_a_size(
        {m: np.full(m + 1, 1 / (m + 1)) for m in SIZES}, dict.fromkeys(SIZES, 0.3), ITEMS
    ),
]


def baskets(rows: int = 400, seed: int = 5) -> tuple[Baskets, list[frozenset[int]]]:
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, ITEMS + 1)
    sets = []
    for _ in range(rows):
        size = int(rng.integers(0, 5))
        pattern = [0, 1, 2][:size] if rng.random() < 0.3 else []
        rest = [i for i in rng.choice(ITEMS, ITEMS, replace=False, p=weights / weights.sum()) if i not in pattern]
        sets.append(frozenset([*pattern, *rest][:size]))
    row = [i for i, s in enumerate(sets) for _ in s]
    item = [i for s in sets for i in sorted(s)]
    names = pa.array([f"i{i}" for i in range(ITEMS)], pa.string())
    return gathered(np.array(row), np.array(item), rows, names)[0], sets


def counted(column: Baskets, together: tuple[SizePool, ...], longest: int = 4):
    halves = [column.take(slice(0, 150)), column.take(slice(150, len(column)))]
    return prevalent(lambda: iter(halves), together, ITEMS, longest)


def test_pools() -> None:
    assert pools({0: 50, 1: 10, 2: 5, 3: 4, 7: 9, 8: 3}, 9) == (
        SizePool((1,), 10),
        SizePool((2, 3), 9),
        SizePool((7, 8), 12),
    )
    assert pools({1: 3, 5: 2}, 100) == (SizePool((1, 5), 5),)
    assert pools({0: 3}, 1) == ()
    assert pools({2: 1, 1: 1}, 1) == (SizePool((1,), 1), SizePool((2,), 1))
    assert [p.name for p in pools({1: 5, 2: 1, 3: 4}, 5)] == ["1", "2-3"]


def test_every_itemset_is_counted_where_there_are_few() -> None:
    column, sets = baskets()
    together = pools({m: sum(len(s) == m for s in sets) for m in SIZES}, 120)
    found = counted(column, together)
    assert not found.floors.any()
    for k in range(1, 5):
        level = found.levels[k - 1]
        seen = {tuple(s): c for s, c in zip(level.itemsets.tolist(), level.counts.tolist(), strict=True)}
        for itemset in combinations(range(ITEMS), k):
            plain = [sum(set(itemset) <= s for s in sets if len(s) in p.sizes) for p in together]
            assert seen.get(itemset, [0] * len(together)) == plain
        most = np.array(list(seen.values())).max(axis=0) / found.rows
        np.testing.assert_allclose(found.maxima()[k - 1], np.maximum(most, prevalent_module.TINY))


def test_what_is_left_out_is_below_the_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prevalent_module, "_items", lambda _pools: 4)
    monkeypatch.setattr(prevalent_module, "LEAST_ITEMSETS", 3)
    monkeypatch.setattr(prevalent_module, "ITEMSETS", 3)
    column, sets = baskets()
    together = pools({m: sum(len(s) == m for s in sets) for m in SIZES}, 120)
    found = counted(column, together)
    assert found.floors[1:].any()
    for k in range(1, 5):
        seen = {tuple(s) for s in found.levels[k - 1].itemsets.tolist()}
        for itemset in combinations(range(ITEMS), k):
            plain = np.array([sum(set(itemset) <= s for s in sets if len(s) in p.sizes) for p in together])
            assert itemset in seen or (plain <= found.floors[k - 1]).all()
            assert (plain / found.rows <= found.maxima()[k - 1] + 1e-12).all()


def plain_levels(sets, together, operator, k, event=Event.ALL):
    """Yield (posterior, m, A, z) for all A and z by summing over transactions one by one."""
    for pool in together:
        inner = [s for s in sets if len(s) in pool.sizes]
        for m in pool.sizes:
            ruled = likelihoods(operator, m, k, event)
            for itemset in combinations(range(ITEMS), k):
                weight = [ruled[len(s & set(itemset))] for s in inner]
                if sum(weight) > 0:
                    for z in range(ITEMS):
                        hit = sum(w for w, s in zip(weight, inner, strict=True) if z in s)
                        yield hit / sum(weight), m, itemset, z


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.family)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_worst_itemset_is_found(operator: TransactionOperator, k: int) -> None:
    column, sets = baskets(250)
    together = pools({m: sum(len(s) == m for s in sets) for m in SIZES}, 90)
    found = counted(column, together)
    every = list(plain_levels(sets, together, operator, k))
    for exposed in exposure.inside(operator, found, k):
        worst = max((p for p, m, a, z in every if m == exposed.size and z in a), default=0.0)
        assert exposed.level == pytest.approx(worst, rel=1e-9)
        if not exposed.itemset:
            continue
        itself = next(p for p, m, a, z in every if (m, a, z) == (exposed.size, exposed.itemset, exposed.item))
        assert exposed.level == pytest.approx(itself, rel=1e-9)
        inner = [s for s in sets if len(s) in together[exposed.pool].sizes]
        assert exposed.prior == pytest.approx(sum(exposed.item in s for s in inner) / len(inner))
    for exposed in exposure.outside(operator, found, k):
        worst = max((p for p, m, a, z in every if m == exposed.size and z not in a), default=0.0)
        rarer = exposure.rest(operator, found, [k])  # A with items that never occur together is not looked at by itself
        assert exposed.level <= worst + 1e-12
        assert worst <= max(exposed.level, rarer) + 1e-12


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.family)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_worst_certainty_of_a_whole_itemset_is_found(operator: TransactionOperator, k: int) -> None:
    """Against every itemset, transaction by transaction."""
    column, sets = baskets(250)
    together = pools({m: sum(len(s) == m for s in sets) for m in SIZES}, 90)
    found = counted(column, together)
    for exposed in exposure.whole_itemset_exposures(operator, found, k):
        inner = [s for s in sets if len(s) in together[exposed.pool].sizes]
        ruled = likelihoods(operator, exposed.size, k)
        worst = 0.0
        for itemset in combinations(range(ITEMS), k):
            weight = [ruled[len(s & set(itemset))] for s in inner]
            hit = sum(w for w, s in zip(weight, inner, strict=True) if set(itemset) <= s)
            worst = max(worst, hit / sum(weight) if sum(weight) else 0.0)
        assert exposed.level == pytest.approx(worst, rel=1e-9)
        if exposed.itemset:
            held = sum(set(exposed.itemset) <= s for s in inner) / len(inner)
            assert (exposed.item, exposed.prior) == (-1, pytest.approx(held))
    for one, single in zip(
        exposure.whole_itemset_exposures(operator, found, 1), exposure.inside(operator, found, 1), strict=True
    ):
        assert one.level == pytest.approx(single.level)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.family)
def test_nothing_exceeds_what_was_found_and_the_rest(
    operator: TransactionOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prevalent_module, "_items", lambda _pools: 3)
    monkeypatch.setattr(prevalent_module, "LEAST_ITEMSETS", 2)
    monkeypatch.setattr(prevalent_module, "ITEMSETS", 2)
    column, sets = baskets(250, 8)
    together = pools({m: sum(len(s) == m for s in sets) for m in SIZES}, 90)
    found = counted(column, together)
    sizes = (1, 2, 3)
    seen = max(
        e.level for k in sizes for e in (*exposure.inside(operator, found, k), *exposure.outside(operator, found, k))
    )
    rest = exposure.rest(operator, found, sizes)
    worst = max(p for k in sizes for p, *_ in plain_levels(sets, together, operator, k))
    assert seen <= worst + 1e-12
    assert worst <= max(seen, rest) + 1e-9
    assert exposure.rest(operator, found, sizes, dict.fromkeys(SIZES, (0.9, 0.5, 0.4))) <= rest + 1e-12


def test_absence_and_known_items() -> None:
    operator, (column, sets) = OPERATORS[0], baskets(250)
    together = pools({m: sum(len(s) == m for s in sets) for m in SIZES}, 90)
    found = counted(column, together)
    every = list(plain_levels(sets, together, operator, 2, Event.NONE))
    worst = max(e.level for e in exposure.inside(operator, found, 2, Event.NONE))
    # pairs that never occur together are not looked at: their items are looked at in others
    occurring = {tuple(s) for s in found.levels[1].itemsets.tolist()}
    assert worst == pytest.approx(max(p for p, _, a, z in every if z in a and a in occurring), rel=1e-9)
    for known in (1, 2):
        exposed = exposure.knowing(operator, found, (1, 2), known)
        assert exposed is not None
        assert 0.0 < exposed.level <= 1.0 + 1e-12
        assert exposed.item in exposed.itemset
        limited = exposure.knowing(operator, found, (1, 2), known, 0.4)
        assert limited is not None
        assert limited.prior <= 0.4
        assert limited.level <= exposed.level
    assert exposure.knowing(operator, found, (3,), 2) is None


def chance_of_two(operator: TransactionOperator, m: int, seen: int, *, own: bool) -> float:
    """Return Pr[an item z of t (or not) is in t', and another one of t is (seen = 1) or not]."""
    total = 0.0
    for j, p in enumerate(operator.law(m)):
        both = j * (j - 1) / (m * (m - 1)) if m > 1 else 0.0
        if own:
            total += p * (both if seen else j / m - both)
        else:
            total += p * (j / m if seen else 1 - j / m) * operator.rho(m)
    return total


def test_known_items_against_a_formula() -> None:
    """Who knows that 0 is in t, and sees 1 in t': the posterior of 1 among sets with 0, by what is seen of 0."""
    operator, (column, sets) = OPERATORS[0], baskets(250)
    together = pools({m: sum(len(s) == m for s in sets) for m in SIZES}, 10_000)
    found = counted(column, together)
    exposed = exposure.knowing(operator, found, (1,), 1)
    assert exposed is not None
    m = exposed.size
    best = 0.0
    for known in range(ITEMS):
        inner = [s for s in sets if known in s]
        for z in set(range(ITEMS)) - {known}:
            for seen in (0, 1):
                hit = sum(z in s for s in inner) * chance_of_two(operator, m, seen, own=True) if m > 1 else 0.0
                miss = sum(z not in s for s in inner) * chance_of_two(operator, m, seen, own=False)
                best = max(best, hit / (hit + miss) if hit + miss else 0.0)
    assert exposed.level == pytest.approx(best, rel=1e-9)
