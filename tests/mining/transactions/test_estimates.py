"""Estimates over many randomizations of one fixed original, all with fixed keys.

z-tests: below 5 standard errors of the mean, an error probability of 6e-7 each. Covers: binomial limits at 1e-4.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.mining.transactions.estimates import (
    covariances,
    expected_sigma,
    feasible,
    partial_supports,
    supports,
)
from ppdm_flow.mining.transactions.operators import (
    TransactionOperator,
    members,
    pattern_transition,
    recovery,
    transition,
)
from ppdm_flow.mining.transactions.rules import confidence, lift, reading, subsets

DRAWS = 2000
LENGTH = 3
INDEX = np.arange(1 << LENGTH)
INSIDE = (INDEX[:, None] & INDEX) == INDEX[:, None]  # [X, u]: X ⊆ u

OPERATORS = {
    "cut_and_paste": TransactionOperator.cut_and_paste({2: 7, 5: 4, 9: 6}, {2: 0.3, 5: 0.2, 9: 0.15}, 100),
    "select_a_size": TransactionOperator.select_a_size(
        {2: [0.2, 0.3, 0.5], 5: [0.1, 0.1, 0.2, 0.2, 0.2, 0.2], 9: np.full(10, 0.1)}, {2: 0.1, 5: 0.3, 9: 0.2}, 100
    ),
    "uniform": TransactionOperator.uniform([2, 5, 9], 0.6, 30),
    "inserted": TransactionOperator.uniform([2, 5, 9], 0.6, 30, 4),
}
ORIGINALS = {
    2: np.array([900, 300, 250, 60, 280, 50, 60, 0]),
    5: np.array([1500, 500, 400, 220, 450, 210, 240, 300]),
    9: np.array([300, 150, 140, 120, 150, 110, 130, 250]),
}
TOTAL = sum(int(given.sum()) for given in ORIGINALS.values())


def drawn(operator, seed):
    """Return counts by pattern of all randomizations: m -> (draws, 2^k)."""
    rng = np.random.default_rng([772, seed])
    found = {}
    for m, given in ORIGINALS.items():
        chance = pattern_transition(operator, m, LENGTH)
        chance = chance / np.where(given > 0, chance.sum(axis=0), 1)
        found[m] = sum(rng.multinomial(n, chance[:, u], size=DRAWS) for u, n in enumerate(given) if n)
    return found


def overlaps(counts):
    place = members(INDEX)[:, None] == np.arange(LENGTH + 1)
    return {m: given @ place.astype(float) for m, given in counts.items()}


def exact_covariances(operator, originals):
    """The covariance of `partial_supports` for ``originals``: m -> transactions with |t ∩ A| = l."""
    length = len(next(iter(originals.values()))) - 1
    summed = np.zeros((length + 1, length + 1))
    for m, here in originals.items():
        undo = recovery(operator, m, length)
        spread = (undo * (here @ transition(operator, m, length).T)) @ undo.T
        summed += spread - np.diag(here)
    return summed / sum(here.sum() for here in originals.values()) ** 2


def unbiased(found, truth, spread):
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - truth), 5 * spread / np.sqrt(DRAWS) + 1e-12)


def covers(low, high, truth):
    hits = int(np.sum((low <= truth) & (truth <= high)))
    return binom.ppf(5e-5, DRAWS, 0.95) <= hits <= binom.ppf(1 - 5e-5, DRAWS, 0.95)


@pytest.fixture(scope="module", params=sorted(OPERATORS))
def experiment(request):
    operator = OPERATORS[request.param]
    return operator, drawn(operator, sorted(OPERATORS).index(request.param))


def test_supports(experiment):
    operator, counts = experiment
    truth = sum(given[7] for given in ORIGINALS.values()) / TOTAL
    found = supports(operator, overlaps(counts))
    originals = overlaps(ORIGINALS)
    exact = np.sqrt(exact_covariances(operator, originals)[LENGTH, LENGTH])
    unbiased(found.value, truth, exact)
    assert found.value.std() == pytest.approx(exact, rel=0.08)
    unbiased(found.sigma**2, exact**2, np.std(found.sigma**2))
    assert covers(found.low, found.high, truth)
    shares = {m: given / given.sum() for m, given in originals.items()}
    numbers = {m: float(given.sum()) for m, given in originals.items()}
    assert expected_sigma(operator, shares, numbers) == pytest.approx(exact)


def test_partial_supports(experiment):
    operator, counts = experiment
    truth = sum(overlaps(ORIGINALS).values()) / TOTAL
    found, spread = partial_supports(operator, overlaps(counts)), covariances(operator, overlaps(counts))
    exact = exact_covariances(operator, overlaps(ORIGINALS))
    unbiased(found, truth, np.sqrt(np.diag(exact)))
    np.testing.assert_allclose(spread.mean(axis=0), exact, atol=0.03 * np.abs(exact).max())
    np.testing.assert_allclose(np.cov(found.T), exact, atol=0.12 * np.abs(exact).max())
    value = supports(operator, overlaps(counts)).value
    np.testing.assert_allclose(found[:, LENGTH], value, atol=1e-9)


def test_exact_covariance_is_that_of_multinomials(experiment):
    operator, _ = experiment
    originals = overlaps(ORIGINALS)
    only = {5: originals[5]}
    matrix = np.zeros((4, 4))
    for column, number in enumerate(originals[5]):
        point = np.array([float(overlap == column) for overlap in range(4)])
        matrix += number * exact_covariances(operator, {5: point})
    np.testing.assert_allclose(exact_covariances(operator, only), matrix / originals[5].sum() ** 2)


def test_subsets(experiment):
    operator, counts = experiment
    truth = sum(INSIDE @ given for given in ORIGINALS.values()) / TOTAL
    each = [subsets(operator, {m: given[i] for m, given in counts.items()}) for i in range(400)]
    values = np.array([found.value for found in each])
    exact = np.zeros((8, 8))
    for m, given in ORIGINALS.items():
        read, chance = reading(operator, m, LENGTH), pattern_transition(operator, m, LENGTH)
        held = INSIDE.astype(float)
        np.testing.assert_allclose((read @ chance)[:, given > 0], held[:, given > 0], atol=1e-9)
        exact += (read * (chance @ given)) @ read.T - (held * given) @ held.T
    exact /= TOTAL**2
    spread = np.sqrt(np.diag(exact))
    np.testing.assert_array_less(np.abs(values.mean(axis=0) - truth), 5 * spread / 20 + 1e-12)
    scale = np.outer(spread, spread)[1:, 1:]
    mean = np.mean([found.covariance for found in each], axis=0)
    np.testing.assert_allclose(mean[1:, 1:] / scale, exact[1:, 1:] / scale, atol=0.05)
    np.testing.assert_allclose(np.cov(values.T)[1:, 1:] / scale, exact[1:, 1:] / scale, atol=0.35)
    whole = supports(operator, {m: given[0] for m, given in overlaps(counts).items()})
    assert each[0].value[7] == pytest.approx(float(whole.value))
    assert each[0].variance(np.eye(8)[7]) == pytest.approx(float(whole.sigma) ** 2)


@pytest.mark.parametrize(("measure", "name"), [(confidence, "confidence"), (lift, "lift")])
def test_rules_cover(measure, name):
    """The delta method leaves a bias of order 1/N: intervals at large N."""
    operator = OPERATORS["cut_and_paste"]
    big = {m: given * 40 for m, given in ORIGINALS.items()}
    rng = np.random.default_rng(773)
    hits = 0
    truth = sum(INSIDE @ given for given in big.values()) / (40 * TOTAL)
    wanted = truth[7] / truth[3] if name == "confidence" else truth[7] / truth[3] / truth[4]
    chance = {m: pattern_transition(operator, m, LENGTH) for m in big}
    for _ in range(400):
        counts = {
            m: sum(rng.multinomial(n, chance[m][:, u]) for u, n in enumerate(given) if n) for m, given in big.items()
        }
        ratio = measure(subsets(operator, counts), 3, 4)
        hits += ratio.low <= wanted <= ratio.high
    assert binom.ppf(5e-5, 400, 0.95) <= hits <= binom.ppf(1 - 5e-5, 400, 0.95)


def test_rules_over_supports_that_may_be_zero():
    operator = TransactionOperator.cut_and_paste({5: 4}, {5: 0.3}, 100)
    counts = {5: pattern_transition(operator, 5, 3)[:, 0] * 200}
    found = subsets(operator, counts)
    told = confidence(found, 3, 4)
    assert (told.value, told.sigma, told.low, told.high) == (None, None, 0.0, 1.0)
    told = lift(found, 1, 2)
    assert (told.value, told.sigma, told.low, told.high) == (None, None, 0.0, None)
    for antecedent, consequent in [(0, 1), (1, 0), (1, 3), (1, 8), (-1, 1)]:
        with pytest.raises(ValueError, match="a rule needs"):
            confidence(found, antecedent, consequent)


def test_without_randomization_everything_is_exact():
    operator = TransactionOperator.none([2, 5, 9], 100)
    found = subsets(operator, ORIGINALS)
    np.testing.assert_allclose(found.value, sum(INSIDE @ given for given in ORIGINALS.values()) / TOTAL)
    np.testing.assert_allclose(found.covariance, 0, atol=1e-15)
    told = confidence(found, 1, 2)
    assert told.value == pytest.approx(found.value[3] / found.value[1])
    assert told.low == told.high == told.value


def test_variance_is_never_below_what_it_can_be():
    """In 40 transactions that show nothing of the itemset the unbiased estimate is negative."""
    operator = TransactionOperator.cut_and_paste({5: 5}, {5: 0.1}, 100)
    counts = {5: np.array([40.0, 0, 0])}
    assert supports(operator, counts).sigma > 0
    found = subsets(operator, {5: np.array([40.0, 0, 0, 0])})
    assert found.covariance[3, 3] < 0 < found.variance(np.eye(4)[3])


def test_intervals_are_cut_to_what_can_be():
    operator = OPERATORS["cut_and_paste"]
    counts = {2: [50.0, 0, 0, 0], 5: [0.0, 0, 0, 50]}
    found = supports(operator, counts, 0.99)
    assert found.low <= found.high == 0.5
    assert found.value > 0.5
    few = supports(operator, {2: [50.0, 0, 0, 0]})
    assert (few.value, few.sigma, few.low, few.high) == (0, 0, 0, 0)


def test_many_itemsets_at_once():
    operator, rng = OPERATORS["select_a_size"], np.random.default_rng(5)
    counts = {m: rng.multinomial(500, [0.4, 0.3, 0.2, 0.1], size=(3, 4)) for m in (2, 5)}
    together = supports(operator, counts)
    for i, j in np.ndindex(3, 4):
        alone = supports(operator, {m: given[i, j] for m, given in counts.items()})
        for name in ("value", "sigma", "low", "high"):
            assert getattr(together, name)[i, j] == pytest.approx(float(getattr(alone, name)))
    assert partial_supports(operator, counts).shape == (3, 4, 4)
    assert covariances(operator, counts).shape == (3, 4, 4, 4)


def test_feasible():
    given = np.array([[1.2, -0.1, -0.1], [0.5, 0.3, 0.2], [-1, 0.6, 1.4]])
    np.testing.assert_allclose(feasible(given), [[1, 0, 0], [0.5, 0.3, 0.2], [0, 0.1, 0.9]])


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({}, "one array for each"),
        ({5: [1.0, 2], 2: [1.0, 2, 3]}, "same shape"),
        ({5: 3.0}, "one array for each"),
        ({5: [-1.0, 2]}, "numbers from 0"),
        ({5: [np.nan, 2]}, "numbers from 0"),
        ({5: [0.0, 0]}, "no transactions"),
        ({5: [3.0]}, "one item at least"),
        ({5: [[1.0, 2], [2, 2]]}, "same sum"),
    ],
)
def test_bad_counts(counts, words):
    with pytest.raises(ValueError, match=words):
        supports(OPERATORS["uniform"], counts)


def test_bad_requests():
    with pytest.raises(DataError, match="PPF777"):
        supports(OPERATORS["uniform"], {3: [1.0] * 5})
    with pytest.raises(PluginError, match="PPF869"):
        supports(OPERATORS["cut_and_paste"], {5: [1.0] * 6})
    with pytest.raises(ValueError, match="level"):
        supports(OPERATORS["uniform"], {5: [1.0, 2]}, 1.0)
    for shape in [(7,), (1,), (2, 4), (1 << 11,)]:
        with pytest.raises(ValueError, match="by pattern"):
            subsets(OPERATORS["uniform"], {5: np.ones(shape)})
