"""Log-linear models and the population uniques: closed forms, simulated populations, plain twins."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining.samples import SampleKeys, estimate, fit, fit_statistics, main_effects, two_way

tables = st.lists(st.integers(0, 9), min_size=24, max_size=24).map(lambda v: np.array(v, dtype=float).reshape(2, 3, 4))


def keys_of(sample, weights=None, fraction=None):
    """The keys of a table of sample frequencies, with the sums of weights."""
    places = np.argwhere(sample > 0)
    frequencies = sample[tuple(places.T)].astype(np.int64)
    people = frequencies / fraction if weights is None else weights[tuple(places.T)]
    return SampleKeys(places, sample.shape, frequencies, people)


def plain_independence(table):
    out = np.zeros(table.shape)
    for cell in itertools.product(*map(range, table.shape)):
        margins = [table.take(i, axis).sum() for axis, i in enumerate(cell)]
        out[cell] = math.prod(margins) / table.sum() ** (table.ndim - 1) if table.sum() else 0.0
    return out


@examples(30)
@given(tables)
def test_main_effects_are_products_of_margins(table):
    found = fit(table, main_effects(3))
    assert found.converged
    assert found.cells == pytest.approx(plain_independence(table), abs=1e-9)


@examples(20)
@given(tables)
def test_two_way_margins_are_kept_and_no_third_order_is_added(table):
    found = fit(table + 0.5, two_way(3))
    cells = found.cells
    assert found.converged
    for axis in range(3):
        assert cells.sum(axis) == pytest.approx((table + 0.5).sum(axis), rel=1e-4)
    logs = np.log(cells)  # no three-way interaction: all third differences of the logarithms are 0
    for axis in range(3):
        logs = np.diff(logs, axis=axis)
    assert np.abs(logs).max() < 1e-6


def plain_estimate(sample, people, lam):
    """tau_1 and tau_2, cell by cell, with the chances summed by their definitions."""
    first = second = 0.0
    for cell in np.argwhere(sample == 1):
        rest = lam[tuple(cell)] * (1 - 1 / people[tuple(cell)])
        chance = math.exp(-rest)
        first += chance
        for others in range(400):
            second += chance / (1 + others)
            chance *= rest / (others + 1)
    return first, second


def plain_fit(observed, expected, people, slope, curve):
    """B/sqrt(v) of one tau, with derivatives in lambda by finite differences of ``slope`` and ``curve``."""
    bias = variance = 0.0
    for f, mu, lam in zip(observed, expected, people, strict=True):
        if mu <= 0 or lam <= 0:
            continue
        rate = min(1.0, mu / lam)
        weight = rate * lam * math.exp(-rate * lam)
        a, c = -weight * slope(lam, rate) / rate, weight * curve(lam, rate) / (2 * rate**2)
        bias += a * (f - mu) + c * ((f - mu) ** 2 - f)
        variance += a * a * mu + 2 * c * c * mu * mu
    return bias / math.sqrt(variance)


def by_differences(h):
    def slope(lam, rate):
        e = 1e-5 * max(1.0, lam)
        return (h(lam + e, rate) - h(lam - e, rate)) / (2 * e)

    def curve(lam, rate):
        e = 1e-3 * max(1.0, lam)
        return (h(lam + e, rate) - 2 * h(lam, rate) + h(lam - e, rate)) / (e * e)

    return slope, curve


@examples(12)
@given(tables.filter(lambda t: (t == 1).any()), st.floats(0.02, 0.6))
def test_estimates_and_statistics_are_those_of_plain_twins(table, fraction):
    found = estimate(keys_of(table, fraction=fraction), main_effects(3))
    expected = plain_independence(table)
    taus = plain_estimate(table, table / fraction, expected / fraction)
    assert (found.population_uniques, found.correct_matches) == pytest.approx(taus, rel=1e-6)
    first = plain_fit(
        table.ravel(),
        expected.ravel(),
        expected.ravel() / fraction,
        *by_differences(lambda lam, rate: math.exp(-lam * (1 - rate))),
    )
    second = plain_fit(
        table.ravel(),
        expected.ravel(),
        expected.ravel() / fraction,
        *by_differences(lambda lam, rate: -math.expm1(-lam * (1 - rate)) / (lam * (1 - rate))),
    )
    assert found.fits == pytest.approx((first, second), rel=1e-3, abs=1e-4)


SHAPE = (12, 9, 8, 6)
CROSSED = (6, 6, 5, 5)


def main_effect_means(rng, total, shape=SHAPE):
    margins = [rng.dirichlet(np.full(n, 0.6)) for n in shape]
    means = total * margins[0]
    for margin in margins[1:]:
        means = means[..., None] * margin
    return means


def interacting_means(rng, total):
    means = main_effect_means(rng, 1.0, CROSSED)
    for pair in itertools.combinations(range(4), 2):
        shape = [n if axis in pair else 1 for axis, n in enumerate(CROSSED)]
        means = means * np.exp(rng.normal(0, 0.7, shape))
    return total * means / means.sum()


def simulated(means, fraction, seed):
    rng = np.random.default_rng(seed)
    population = rng.poisson(means)
    sample = rng.binomial(population, fraction)
    alone = sample == 1
    return sample, float((population[alone] == 1).sum()), float((1 / population[alone]).sum())


@pytest.mark.parametrize(
    ("kind", "fraction"), [("main", 0.02), ("main", 0.1), ("interactions", 0.1), ("interactions", 0.2)]
)
def test_simulated_populations(kind, fraction):
    """Means over 40 populations: the error is below 4 standard errors and 15 %.

    The 15 % are for the bias of a model with many parameters: it takes sample uniques for more frequent than they are.
    """
    means = (main_effect_means if kind == "main" else interacting_means)(np.random.default_rng(3), 200_000)
    terms = (main_effects if kind == "main" else two_way)(4)
    off1, off2, truths, fits = [], [], [], []
    for seed in range(40):
        sample, first, second = simulated(means, fraction, 1000 + seed)
        found = estimate(keys_of(sample, fraction=fraction), terms)
        off1.append(found.population_uniques - first)
        off2.append(found.correct_matches - second)
        truths.append((first, second))
        fits.append(found.fits)
    for off, truth in zip((off1, off2), np.mean(truths, axis=0), strict=True):
        assert abs(np.mean(off)) < 4 * np.std(off) / math.sqrt(len(off)) + 0.15 * truth
    assert np.quantile(np.abs(np.array(fits)), 0.5) < 2


def test_a_model_that_is_too_simple_is_seen():
    """Interactions that a model of main effects does not have: tau is off, and the statistics say so."""
    means = interacting_means(np.random.default_rng(3), 200_000)
    for seed in range(10):
        sample, _, second = simulated(means, 0.1, seed)
        main, both = (estimate(keys_of(sample, fraction=0.1), terms(4)) for terms in (main_effects, two_way))
        assert min(f for f in main.fits if f is not None) > 3
        assert abs(both.correct_matches - second) < abs(main.correct_matches - second)
        assert both.misfit < 3


@pytest.mark.slow
def test_statistics_are_standard_normal_under_the_model():
    """With the true means, over 400 samples: mean and variance within 4 standard errors."""
    rng = np.random.default_rng(11)
    people = main_effect_means(rng, 50_000).ravel()
    drawn = [fit_statistics(rng.poisson(0.05 * people).astype(float), 0.05 * people, people) for _ in range(400)]
    for each in np.array(drawn).T:
        assert abs(each.mean()) < 4 / math.sqrt(400)
        assert abs(each.var() - 1) < 4 * math.sqrt(2 / 400) * 1.5


def test_unequal_weights():
    """Regions that were asked at different rates: the weighted table tells the population, the sample does not."""
    means = main_effect_means(np.random.default_rng(5), 200_000)
    rates = np.linspace(0.01, 0.2, SHAPE[0]).reshape(-1, 1, 1, 1)
    off, plain_off, truths = [], [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        population = rng.poisson(means)
        sample = rng.binomial(population, np.broadcast_to(rates, SHAPE))
        alone = sample == 1
        truth = float((1 / population[alone]).sum())
        off.append(estimate(keys_of(sample, sample / rates), main_effects(4)).correct_matches - truth)
        overall = sample.sum() / (sample / rates).sum()
        plain_off.append(estimate(keys_of(sample, fraction=overall), main_effects(4)).correct_matches - truth)
        truths.append(truth)
    assert abs(np.mean(off)) < 4 * np.std(off) / math.sqrt(len(off)) + 0.05 * np.mean(truths)
    assert abs(np.mean(plain_off)) > 3 * abs(np.mean(off))


def test_a_census():
    table = np.array([[1.0, 2.0], [1.0, 0.0]])
    found = estimate(keys_of(table, fraction=1.0), main_effects(2))
    assert (found.population_uniques, found.correct_matches) == (2.0, 2.0)
    assert found.fits == (None, None)
    with pytest.raises(ValueError, match="without rows"):
        estimate(keys_of(np.zeros((2, 2)), fraction=0.5), main_effects(2))
