"""The individual risk: closed forms, the hypergeometric function, simulated populations."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from tiers import examples

from ppdm_flow.mining.samples import individual_risks


def risk(f: int, people: float) -> float:
    return float(individual_risks(np.array([f]), np.array([float(people)]))[0])


def plain(f: int, p: Decimal) -> Decimal:
    """E(1/F | f) by its definition: the sum over h of 1/h C(h-1, f-1) p^f (1-p)^(h-f)."""
    total, chance = Decimal(0), p**f
    for h in range(f, 10**6):
        total += chance / h
        if chance / h < Decimal(10) ** -22 and h > f / p:
            break
        chance *= Decimal(h) / Decimal(h - f + 1) * (1 - p)
    return total


FRACTIONS = [(1, 2), (2, 5), (3, 5), (7, 8), (1, 20), (49, 100), (51, 100), (99, 100), (1, 100)]


@pytest.mark.slow(quick=73)
@pytest.mark.parametrize("f", [1, 2, 3, 4, 7, 20, 63, 64, 65, 66, 200])
@pytest.mark.parametrize(("above", "below"), FRACTIONS)
def test_it_is_the_mean_of_one_over_f(f, above, below):
    with localcontext() as context:
        context.prec = 40
        expected = float(plain(f, Decimal(above) / Decimal(below)))
    assert risk(f, f * below / above) == pytest.approx(expected, rel=1e-10)


@examples(60)
@given(st.floats(1e-6, 1 - 1e-3))
def test_closed_forms(p):
    """Franconi, Polettini 2004, for one, two and three respondents with a key."""
    q = 1.0 - p
    assert risk(1, 1 / p) == pytest.approx(p / q * math.log(1 / p), rel=1e-10)
    if p < 0.9:  # the closed forms lose digits beside 1
        assert risk(2, 2 / p) == pytest.approx(p / q**2 * (p * math.log(p) + q), rel=1e-9)
        third = p / (2 * q**3) * (q * (3 * q - 2) - 2 * p**2 * math.log(p))
        assert risk(3, 3 / p) == pytest.approx(third, rel=1e-8)


@examples(45)
@given(st.integers(1, 500), st.floats(0.001, 0.999))
def test_the_hypergeometric_function_by_its_integral(f, p):
    """p^f/f 2F1(f, f; f+1; 1-p) is the integral of v^(f-1) p / (p + (1-p) v) over v from 0 to 1."""
    value, error = integrate.quad(
        lambda v: v ** (f - 1) * p / (p + (1 - p) * v), 0, 1, epsabs=0, epsrel=1e-12, limit=400
    )
    assert risk(f, f / p) == pytest.approx(value, rel=1e-10, abs=10 * error)


def test_extremes():
    assert risk(1, 1) == 1.0
    assert risk(1, 0.3) == 1.0  # a weight below 1 represents nobody else
    assert risk(4, 4) == 0.25
    assert risk(1, 1e9) == pytest.approx(1e-9 * math.log(1e9), rel=1e-8)
    assert risk(10**9, 1e12) == pytest.approx(1e-12, rel=1e-6)
    assert len(individual_risks(np.array([], dtype=np.int64), np.array([]))) == 0
    with pytest.raises(ValueError, match="at least once"):
        individual_risks(np.array([0]), np.array([3.0]))


@examples(30)
@given(st.integers(1, 100), st.floats(1, 1000), st.floats(1.01, 3))
def test_more_people_are_less_risk(f, factor, more):
    assert risk(f, f * factor * more) < risk(f, f * factor) <= 1 / f
    assert risk(f, f * factor) >= 1 / (f * factor) * (1 - 1e-12)  # the mean of 1/F is at least 1 over that of F


@pytest.mark.parametrize(("f", "p"), [(1, 0.05), (2, 0.05), (3, 0.4), (10, 0.2)])
def test_a_simulated_superpopulation(f, p):
    """F given f drawn from the negative binomial: the mean of 1/F within 4 standard errors (one in 15,000 beyond)."""
    rng = np.random.default_rng(20261122 + f)
    inverse = 1.0 / (f + stats.nbinom.rvs(f, p, size=400_000, random_state=rng))
    error = inverse.std() / math.sqrt(len(inverse))
    assert abs(inverse.mean() - risk(f, f / p)) < 4 * error


@pytest.mark.slow
def test_a_simulated_sample_of_a_population():
    """Franconi and Polettini's model from its start: 1/F of keys that occur f times in a Bernoulli sample.

    The prior of F is improper, proportional to 1/F; here it is cut off at 20,000, far beyond f/p.
    """
    rng = np.random.default_rng(7)
    p, most = 0.02, 20_000
    sizes = np.exp(rng.uniform(0, np.log(most + 1), 3_000_000)).astype(np.int64)  # floor of log-uniform: ~ log(1 + 1/F)
    chances = np.log1p(1.0 / sizes)
    asked = rng.binomial(sizes, p)
    for f in (1, 2, 5):
        there = asked == f
        weight = (1.0 / sizes[there]) / chances[there]  # to the prior 1/F
        inverse = 1.0 / sizes[there]
        mean = float(np.average(inverse, weights=weight))
        spread = math.sqrt(float((weight**2 * (inverse - mean) ** 2).sum())) / float(weight.sum())
        assert abs(mean - risk(f, f / p)) < 4 * spread
