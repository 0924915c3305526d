"""Shadow prices against solving again on both sides."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention, record_utility
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import Prices, shadow_prices
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.requirement import slack_of

DIRECTIONS = [Directions.UPWARD, Directions.BOTH]
STEP = 1e-7


def instance(seed: int):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 13))
    frequency = rng.dirichlet(np.full(m, 10 ** rng.uniform(-1.5, 1)))
    kind = seed % 4
    if kind == 0:
        r1, r2 = np.full(m, 0.1), np.full(m, 0.3)
    elif kind == 1:
        r1 = rng.uniform(0.01, 0.4, m)
        r2 = r1 + rng.uniform(0.01, 0.5, m)
    else:
        r1, r2 = rng.choice([0.1, 0.05], m), rng.choice([0.3, 0.6], m)
    if kind == 3:
        counts = rng.integers(1, 5, m)
        frequency = counts / counts.sum()
    free = rng.random(m) < 0.15
    return frequency, r1, r2, free


def prices(frequency, r1, r2, free, directions) -> Prices:
    slack = slacks(r1, r2, free)
    bound = np.where(free, np.nan, r2)
    return shadow_prices(frequency, slack, bound, directions, optimal_retention(frequency, slack, directions))


def slacks(r1, r2, free) -> np.ndarray:
    pairs = zip(r1.tolist(), r2.tolist(), free.tolist(), strict=True)
    return np.array([np.inf if f else slack_of(a, b) for a, b, f in pairs])


def utility(frequency, r1, r2, free, directions) -> float:
    return record_utility(frequency, optimal_retention(frequency, slacks(r1, r2, free), directions))


@pytest.mark.slow
@pytest.mark.parametrize("directions", DIRECTIONS)
def test_equal_solving_again(directions):
    kinks = positive = single = 0
    for seed in range(240):
        frequency, r1, r2, free = instance(seed)
        if free.all():
            continue
        found = prices(frequency, r1, r2, free, directions)
        now = utility(frequency, r1, r2, free, directions)
        order = np.sort(optimal_retention(frequency, slacks(r1, r2, free), directions))
        single += bool(order[-1] > order[-2] + 1e-9)
        assert np.isnan(found.raising[free]).all()
        for i in np.flatnonzero(~free):
            step = STEP * (np.arange(len(r2)) == i)
            gain = (utility(frequency, r1, r2 + step, free, directions) - now) / STEP
            loss = (now - utility(frequency, r1, r2 - step, free, directions)) / STEP
            assert found.raising[i] == pytest.approx(gain, rel=1e-5, abs=1e-5), seed
            assert found.lowering[i] == pytest.approx(loss, rel=1e-5, abs=1e-5), seed
            kinks += abs(gain - loss) > 1e-4
            positive += gain > 1e-6
    assert kinks >= 100  # degenerate cases are really met
    assert positive >= 100
    assert single >= 5


def test_in_the_papers_example_sars_costs_most():
    """It stands in two places at once: p of SARS is used up at (gamma - 1)/gamma = 1/3, where HIV has its t."""
    r1, r2 = np.array([1 / 10, 1 / 10, 1 / 9, 1 / 8]), np.array([1 / 7, 1 / 4, 19 / 35, 18 / 25])
    found = prices(np.full(4, 0.25), r1, r2, np.zeros(4, dtype=bool), Directions.UPWARD)
    assert int(np.argmax(found.raising)) == 0
    rate = 0.75 * 1.5 / (1 / 7 * 6 / 7) / 1.5**2  # (1 - 1/m) dgamma/dr2 d((gamma - 1)/gamma)/dgamma
    assert found.raising[0] == pytest.approx((2 / 4 - 1 / 4) * rate, rel=1e-5)  # H1N1 and cancer rise, HIV falls
    assert found.lowering[0] == pytest.approx(3 / 4 * rate, rel=1e-5)  # all three fall


def test_a_looser_bound_never_hurts_and_a_thousand_values_are_quick():
    rng = np.random.default_rng(4)
    frequency = rng.dirichlet(np.full(1000, 0.5))
    r1 = rng.uniform(0.001, 0.1, 1000)
    found = prices(frequency, r1, r1 * rng.uniform(1.5, 9, 1000), np.zeros(1000, dtype=bool), Directions.BOTH)
    assert (found.raising >= 0).all()
    assert (found.lowering >= found.raising - 1e-9).all()
    assert found.raising.max() > 0


def test_edges():
    nothing = shadow_prices(np.ones(1), np.array([0.5]), np.array([0.5]), Directions.BOTH, np.ones(1))
    assert np.isnan(nothing.raising).all()
    free = shadow_prices(np.full(2, 0.5), np.full(2, np.inf), np.full(2, np.nan), Directions.BOTH, np.ones(2))
    assert np.isnan(free.lowering).all()
