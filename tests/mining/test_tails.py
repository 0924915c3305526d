"""Binomial tails agree with those of scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.mining.tails import above, at_most


@pytest.mark.parametrize("largest", [5, 1_000, 10_000_000])
def test_tails_agree_with_those_of_the_distribution(largest):
    rng = np.random.default_rng(largest)
    trials = rng.integers(0, largest, 2_000, endpoint=True)
    chance = rng.random(2_000) ** rng.integers(1, 9, 2_000)
    chance[:20], chance[20:40] = 0.0, 1.0
    hits = np.clip(rng.binomial(trials, chance) + rng.integers(-3, 4, 2_000), -1, trials)
    np.testing.assert_allclose(at_most(hits, trials, chance), stats.binom.cdf(hits, trials, chance), 1e-8, 1e-300)
    np.testing.assert_allclose(above(hits, trials, chance), stats.binom.sf(hits, trials, chance), 1e-8, 1e-300)


def test_tails_broadcast_and_tell_nothing_of_what_is_no_probability():
    assert above(np.array([[-1], [0], [3]]), 3, np.array([0.5, 1.0])).tolist() == [[1, 1], [0.875, 1], [0, 0]]
    assert np.isnan(at_most([0, 3, 9], 3, [np.nan, 1.5, -0.1])).all()
