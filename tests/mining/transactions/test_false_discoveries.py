"""Expected false positives and false drops against what really is false; operators of another release."""

from __future__ import annotations

import numpy as np
import pytest
from quest import Quest, quest

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.transactions import apriori
from ppdm_flow.mining.transactions.apriori import CountProgress, SearchBounds, mine
from ppdm_flow.mining.transactions.false_discoveries import ExpectedErrors, doubts, misfit
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.mining.transactions.rules import rules


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.0])
def test_expected_errors_are_near_the_real_ones(spread: float) -> None:
    """Over 40 sets of candidates; the real number of errors has a spread of its own, of about its root."""
    rng = np.random.default_rng(7)
    real, expected = np.zeros(2), np.zeros(2)
    for _ in range(40):
        true = np.where(rng.random(3000) < 0.9, 0.0, rng.exponential(spread, 3000))
        value = true + rng.normal(0.0, 0.3, 3000)
        found = doubts(value, np.full(3000, 0.3), 1.0)
        expected += found.false_positives, found.false_drops
        real += np.sum((value >= 1.0) & (true < 1.0)), np.sum((value < 1.0) & (true >= 1.0))
    assert (np.abs(expected - real) < 0.12 * real + 5.0 * np.sqrt(real)).all()


def test_many_candidates_around_the_minimum_support() -> None:
    """Ten thousand candidates, of which nine hundred are about as frequent as asked for; 4 sets of them."""
    rng = np.random.default_rng(11)
    real, expected = np.zeros(2), np.zeros(2)
    for _ in range(4):
        true = np.concatenate([np.zeros(9_000), rng.exponential(0.9, 1_000), rng.uniform(50.0, 60.0, 100)])
        value = true + rng.normal(0.0, 0.13, len(true))
        found = doubts(value, np.full(len(true), 0.13), 1.0)
        expected += found.false_positives, found.false_drops
        real += np.sum((value >= 1.0) & (true < 1.0)), np.sum((value < 1.0) & (true >= 1.0))
    assert (np.abs(expected - real) < 0.15 * real + 5.0 * np.sqrt(real)).all()
    assert (np.abs(expected - real) < 0.5 * real).all()


def test_nothing_is_in_doubt_without_noise_or_candidates() -> None:
    none = np.zeros(0)
    assert doubts(none, none, 0.1) == ExpectedErrors(0.0, 0.0)
    assert doubts(np.array([0.2, 0.05]), np.zeros(2), 0.1) == ExpectedErrors(0.0, 0.0)
    far = doubts(np.array([0.9, 0.0]), np.full(2, 0.01), 0.5)
    assert far.false_positives < 1e-6
    assert far.false_drops < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_no_expected_number_is_below_zero(seed: int) -> None:
    """Where nothing is in doubt shares add up to 1 but for rounding: it must not come out as -0."""
    value = np.random.default_rng(seed).uniform(0.3, 1.0, 200)
    for least in (0.1, 1.5):
        found = doubts(value, np.full(200, 0.01), least)
        assert f"{found.false_positives:.0f} {found.false_drops:.0f}" == "0 0"
        assert min(found.false_positives, found.false_drops) >= 0.0


def test_all_that_is_chance_is_told() -> None:
    """Ten thousand candidates that do not occur: what is found at three errors is expected to be false, nearly all."""
    value = np.random.default_rng(3).normal(0.0, 1.0, 10_000)
    found = doubts(value, np.ones(10_000), 3.0)
    number = int((value >= 3.0).sum())
    assert 0.8 * number < found.false_positives <= number


@pytest.fixture(scope="module")
def randomized():
    (data,) = quest(Quest(50_000, 40, 3.0, 6, 30, 2.0), 5)
    operator = TransactionOperator.cut_and_paste(dict.fromkeys(range(1, 7), 4), dict.fromkeys(range(1, 7), 0.125), 40)
    draws = Draws(RunKey.from_seed("doubts").step("packed"), randomize.draws_per_row(operator))
    packed = randomize.randomize(data, operator, draws, np.arange(len(data)))
    again = Draws(RunKey.from_seed("doubts").step("seeded"), seeded.draws_per_row(operator))
    return operator, packed, seeded.seed(data, operator, again, np.arange(len(data)))


@pytest.mark.slow
def test_another_release_s_operator_is_noticed(randomized) -> None:
    operator, packed, seeds = randomized
    for sets in (packed, seeds):
        assert not misfit(mine(lambda sets=sets: [sets], operator, 0.05, SearchBounds(length=1)))
    other = TransactionOperator.cut_and_paste(dict.fromkeys(range(1, 7), 4), dict.fromkeys(range(1, 7), 0.13), 40)
    assert misfit(mine(lambda: [packed], other, 0.05, SearchBounds(length=1)))
    assert misfit(
        mine(lambda: [packed], TransactionOperator.uniform(range(1, 7), 0.3, 40), 0.05, SearchBounds(length=1))
    )
    assert misfit(mine(lambda: [packed], TransactionOperator.none(range(1, 7), 40), 0.05, SearchBounds(length=1)))


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("form", ["packed", "seeded"])
def test_what_is_held_changes_nothing(randomized, form: str) -> None:
    operator, packed, seeds = randomized
    sets = packed if form == "packed" else seeds
    read = []

    def partitions():
        read.append(1)
        return [sets.take(slice(i, i + 9_000)) for i in range(0, len(sets), 9_000)]

    heard: list[CountProgress] = []
    held = mine(partitions, operator, 0.02, SearchBounds(length=3), 2, heard.append)
    assert len(read) == 2
    again = mine(partitions, operator, 0.02, SearchBounds(length=3, memory=0))
    assert len(read) == 5
    for one, other in zip(held.levels, again.levels, strict=True):
        assert (one.itemsets == other.itemsets).all()
        assert (one.counts == other.counts).all()
    by_size = {k: sum(c.rows for c in heard if c.size == k) for k in (1, 2, 3)}
    assert by_size == dict.fromkeys((1, 2, 3), len(sets))
    assert {c.size: c.candidates for c in heard} == {k: len(one.itemsets) for k, one in enumerate(held.levels, 1)}


@pytest.mark.slow
def test_rules_look_only_where_they_can_be_confident(randomized) -> None:
    operator, packed, _ = randomized
    mined = mine(lambda: [packed], operator, 0.02, SearchBounds(length=3))
    every = list(rules(mined))
    assert every
    for least in (0.2, 0.5, 0.9):
        wanted = [r for r in every if r.confidence.value is not None and r.confidence.value >= least]
        assert [(r.antecedent, r.consequent) for r in rules(mined, least)] == [
            (r.antecedent, r.consequent) for r in wanted
        ]


def test_it_ends_where_the_operator_keeps_too_little(randomized) -> None:
    _, packed, _ = randomized
    few = TransactionOperator.cut_and_paste(dict.fromkeys(range(1, 7), 1), dict.fromkeys(range(1, 7), 0.125), 40)
    mined = mine(lambda: [packed], few, 0.05, SearchBounds(precision=0.0))
    assert (mined.stopped, len(mined.by_size)) == (apriori.LOST, 1)


def test_an_error_in_a_partition_ends_the_search(randomized) -> None:
    operator, packed, _ = randomized

    def partitions():
        yield packed
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        mine(partitions, operator, 0.05, threads=2)
