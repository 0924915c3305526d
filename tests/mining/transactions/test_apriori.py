"""Apriori on estimates: without randomization it is exact; with it, estimates and candidates follow their laws."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quest import Quest, quest
from tiers import examples

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.mining.transactions import apriori
from ppdm_flow.mining.transactions.apriori import Level, SearchBounds, joined, mine, places
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.mining.transactions.rules import rules
from ppdm_flow.tables.sets import Baskets, PackedSets

NAMES = list("abcdefg")
ROWS = st.lists(st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=5), min_size=1, max_size=40)


def brute(rows: list[frozenset[str]], least: float) -> dict[tuple[int, ...], float]:
    counts = Counter(s for row in rows for k in range(1, 6) for s in combinations(sorted(row), k))
    return {tuple(NAMES.index(i) for i in s): n / len(rows) for s, n in counts.items() if n / len(rows) >= least}


@pytest.mark.slow
@examples(20)
@given(ROWS, st.sampled_from([0.1, 0.25, 0.5, 1.0]), st.integers(1, 3))
def test_without_randomization_it_is_apriori(rows: list[frozenset[str]], least: float, pieces: int) -> None:
    baskets = Baskets.of(rows, NAMES)
    step = -(-len(rows) // pieces)
    parts = [baskets.take(slice(i, i + step)) for i in range(0, len(rows), step)]
    for threads in (1, 2):
        mined = mine(lambda: parts, TransactionOperator.none(range(6), 7), least, threads=threads)
        found = {
            tuple(itemset): value
            for one in mined.by_size
            for itemset, value in zip(
                one.itemsets[one.frequent].tolist(), one.estimates.value[one.frequent], strict=True
            )
        }
        assert found == pytest.approx(brute(rows, least))
        assert mined.stopped in (apriori.NO_CANDIDATES, apriori.LENGTH)


@examples(20)
@given(
    st.sets(st.sampled_from(list(combinations(range(7), 2)))), st.sets(st.sampled_from(list(combinations(range(7), 3))))
)
def test_candidates_have_only_kept_subsets(pairs: set[tuple[int, ...]], triples: set[tuple[int, ...]]) -> None:
    none = np.zeros((7, 0), dtype=np.int64)
    levels = [Level(np.arange(7)[:, None], np.zeros(7, dtype=np.int64), none, np.ones(7, dtype=bool))]
    for kept in (pairs, triples):
        itemsets, parents = joined(levels, 7)
        size = itemsets.shape[1]
        below = {tuple(i) for i in levels[-1].itemsets[levels[-1].kept].tolist()}
        expected = [i for i in combinations(range(7), size) if all(part in below for part in combinations(i, size - 1))]
        assert [tuple(i) for i in itemsets.tolist()] == expected
        assert (levels[-1].itemsets[parents] == itemsets[:, :-1]).all()
        alive = np.array([tuple(i) in kept for i in itemsets.tolist()], dtype=bool)
        levels.append(Level(itemsets, parents, np.zeros((len(itemsets), 0), dtype=np.int64), alive))
    wanted = np.array(list(combinations(range(7), 3)))
    at = places(levels, wanted, 7)
    assert (levels[2].itemsets[at[at >= 0]] == wanted[at >= 0]).all()
    assert (at >= 0).sum() == len(levels[2].itemsets)


def test_rules_without_randomization_are_exact() -> None:
    rows = [frozenset("ab")] * 6 + [frozenset("a")] * 2 + [frozenset("bc")] * 2
    mined = mine(lambda: [PackedSets.of(Baskets.of(rows, NAMES))], TransactionOperator.none(range(3), 7), 0.1)
    found = {(r.antecedent, r.consequent): r for r in rules(mined)}
    assert set(found) == {((0,), (1,)), ((1,), (0,)), ((1,), (2,)), ((2,), (1,))}
    rule = found[(0,), (1,)]
    assert (rule.support, rule.confidence.value, rule.lift.value) == pytest.approx((0.6, 0.75, 0.6 / 0.64))
    assert (rule.sigma, rule.confidence.sigma) == pytest.approx((0.0, 0.0))
    assert {(r.antecedent, r.consequent) for r in rules(mined, 0.8)} == {((2,), (1,))}


@pytest.fixture(scope="module")
def data() -> Baskets:
    (block,) = quest(Quest(60_000, 40, 3.0, 6, 30, 2.0), 5)
    return block


def operator_for(data: Baskets) -> TransactionOperator:
    sizes = range(1, 7)
    return TransactionOperator.cut_and_paste(dict.fromkeys(sizes, 4), dict.fromkeys(sizes, 0.125), len(data.categories))


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("form", ["packed", "seeded"])
def test_randomized_supports_are_within_their_errors(data: Baskets, form: str) -> None:
    """Each true support of a candidate lies within 5 sigma: 1e-4 of failure in all, for some hundred candidates."""
    operator = operator_for(data)
    make = randomize if form == "packed" else seeded
    draws = Draws(RunKey.from_seed("apriori").step(form), make.draws_per_row(operator))
    rows = np.arange(len(data))
    sets = (
        randomize.randomize(data, operator, draws, rows)
        if form == "packed"
        else seeded.seed(data, operator, draws, rows)
    )
    parts = [sets.take(slice(i, i + 17_000)) for i in range(0, len(data), 17_000)]
    mined = mine(lambda: parts, operator, 0.03, SearchBounds(length=3), threads=2)
    truth = mine(lambda: [data], TransactionOperator.none(range(1, 7), 40), 1e-9, SearchBounds(length=3))
    assert mined.stopped == apriori.LENGTH
    for one in mined.by_size:
        at = places(truth.levels, one.itemsets, 40)
        size = one.itemsets.shape[1]
        true = np.where(at >= 0, truth.by_size[size - 1].estimates.value[at], 0.0)
        assert (np.abs(one.estimates.value - true) < 5 * one.estimates.sigma).all()
        frequent = truth.by_size[size - 1].estimates.value >= 0.03 + 6 * one.estimates.sigma.max()
        wanted = truth.by_size[size - 1].itemsets[frequent]
        assert {tuple(i) for i in wanted.tolist()} <= {tuple(i) for i in one.itemsets[one.frequent].tolist()}
        assert (one.estimates.sigma / one.sigma).min() > 0.3
    for rule in rules(mined, 0.2):
        pair = np.array([sorted(rule.antecedent + rule.consequent)])
        both = truth.by_size[pair.shape[1] - 1].estimates.value[places(truth.levels, pair, 40)][0]
        own = truth.by_size[len(rule.antecedent) - 1].estimates.value
        below = own[places(truth.levels, np.array([rule.antecedent]), 40)][0]
        assert rule.confidence.value is not None
        assert rule.confidence.sigma is not None
        assert abs(rule.confidence.value - both / below) < 5 * rule.confidence.sigma


def test_it_stops_where_precision_is_lost_and_where_seeds_end(data: Baskets) -> None:
    few = data.take(slice(0, 3000))
    operator = operator_for(data)
    draws = Draws(RunKey.from_seed("stop").step("x"), seeded.draws_per_row(operator, 2))
    seeds = seeded.seed(few, operator, draws, np.arange(3000), 2)
    assert mine(lambda: [seeds], operator, 0.001).stopped == apriori.PRECISION
    assert len(mine(lambda: [seeds], operator, 0.001, SearchBounds(precision=0.0)).by_size) == 2
    assert mine(lambda: [seeds], operator, 0.05, SearchBounds(precision=0.0)).stopped == apriori.SEEDS
    assert mine(lambda: [seeds], operator, 0.05, SearchBounds(length=1)).stopped == apriori.LENGTH


def test_refusals(data: Baskets) -> None:
    small = TransactionOperator.none(range(3), 40)
    with pytest.raises(DataError, match="PPF777"):
        mine(lambda: [data], small, 0.1)
    with pytest.raises(PluginError, match="PPF775"):
        mine(lambda: [data], TransactionOperator.none(range(7), 40), 1e-9, SearchBounds(most=10))
    with pytest.raises(ValueError, match="no transactions"):
        mine(list, small, 0.1)
    for wrong in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="support"):
            mine(lambda: [data], small, wrong)
