"""Distributions from noisy numbers: the law of the noise, the exact likelihood on small grids, and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from ppdm_flow.mining.reconstruction.additive_noise import (
    NoiseLaw,
    chances,
    maximum_likelihood,
    profile_intervals,
    reconstruct_density,
)

LAWS = {
    "normal": NoiseLaw("normal", 1.7, step=1.0),
    "laplace": NoiseLaw("laplace", 1.7, step=1.0),
    "clamped": NoiseLaw("normal", 1.7, 0.0, 6.0, clamp=True, step=1.0),
    "clamped below": NoiseLaw("laplace", 1.7, 0.0, None, clamp=True, step=1.0),
    "reflected": NoiseLaw("normal", 1.7, 0.0, 6.0, step=1.0),
    "reflected below": NoiseLaw("normal", 1.7, 0.0, None, step=1.0),
    "reflected above": NoiseLaw("laplace", 1.7, None, 6.0, step=1.0),
}


def noisy(law: NoiseLaw, x: np.ndarray, seed: int) -> np.ndarray:
    """Return released whole numbers, as `add_noise` makes them."""
    rng = np.random.default_rng(seed)
    e = rng.normal(0, law.sd, len(x)) if law.distribution == "normal" else rng.laplace(0, law.sd / np.sqrt(2), len(x))
    z = x + np.rint(e)
    for _ in range(20):
        if law.low is not None:
            z = np.maximum(z, law.low) if law.clamp else np.where(z < law.low, 2 * law.low - z, z)
        if law.high is not None:
            z = np.minimum(z, law.high) if law.clamp else np.where(z > law.high, 2 * law.high - z, z)
    return z


@pytest.mark.parametrize("name", LAWS)
def test_probabilities_are_those_of_the_noise(name: str) -> None:
    """Each against 200,000 draws, at 5 standard errors: a chance of 1e-4 to fail over all."""
    law = LAWS[name]
    released = np.arange(-12.5, 20.0)
    matrix = chances(law, released, np.arange(-0.5, 7.0))
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0)
    for x in (0, 1, 6):
        seen = np.histogram(noisy(law, np.full(200_000, float(x)), x), np.r_[-np.inf, released[1:-1], np.inf])[0] / 2e5
        error = np.sqrt(matrix[:, x] * (1 - matrix[:, x]) / 2e5) + 1e-6
        rounded = law.low is not None and not law.clamp  # noise is rounded before it is mirrored: at a bound, once
        assert (np.abs(seen - matrix[:, x]) < 5 * error)[~np.isin(released[:-1] + 0.5, [0, 6] if rounded else [])].all()


@pytest.mark.parametrize("name", ["normal", "laplace", "clamped"])
def test_the_iteration_ends_at_the_exact_maximum_of_the_likelihood(name: str) -> None:
    """On a grid of four whole numbers: another optimizer, on the likelihood written out from the noise's law."""
    law = LAWS[name]
    truth = np.array([500.0, 20.0, 300.0, 180.0])
    x = np.repeat([0.0, 2.0, 4.0, 6.0], truth.astype(int))
    values, rows = np.unique(noisy(law, x, 4), return_counts=True)
    cdf = stats.norm(0, law.sd).cdf if law.distribution == "normal" else stats.laplace(0, law.sd / np.sqrt(2)).cdf
    law_of = np.array([[cdf(z + 0.5 - c) - cdf(z - 0.5 - c) for c in (0, 2, 4, 6)] for z in values])
    if law.clamp:
        law_of[0], law_of[-1] = cdf(0.5 - np.array([0, 2, 4, 6])), 1 - cdf(5.5 - np.array([0, 2, 4, 6]))

    def minus_likelihood(shares: np.ndarray) -> float:
        return -float(rows @ np.log(law_of @ shares))

    total = {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    best = optimize.minimize(
        minus_likelihood, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=[total], method="SLSQP", tol=1e-13
    )
    n, _, gap = maximum_likelihood(law_of, rows.astype(float))
    assert gap <= 0.05
    assert -minus_likelihood(n / n.sum()) >= -best.fun - 0.051
    np.testing.assert_allclose(n / n.sum(), best.x, atol=0.01)


@pytest.mark.slow
def test_the_distribution_comes_back_and_intervals_hold_it() -> None:
    """Two groups a noise apart: 20 samples, five cells each; at 95 % no more than 13 of 100 miss (chance 1e-3)."""
    law, edges = NoiseLaw("normal", 4.0, step=1.0), np.arange(-0.5, 51.0, 10.0)
    missed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = np.concatenate([rng.integers(5, 10, 1500), rng.integers(30, 40, 1500)]).astype(float)
        truth = np.histogram(x, edges)[0]
        values, rows = np.unique(noisy(law, x, seed), return_counts=True)
        found = reconstruct_density(values, rows, law, edges, 0.95)
        assert found.estimate.sum() == pytest.approx(3000)
        assert np.abs(found.estimate - truth).max() < np.abs(found.released - truth).max()
        missed += int(((truth < found.low - 1e-6) | (truth > found.high + 1e-6)).sum())
    assert missed <= 13


def test_intervals_are_those_of_the_exact_profile() -> None:
    """On a grid of three: for each count of a cell the likelihood is maximized over the two others, point by point."""
    law, centres = NoiseLaw("normal", 2.0, step=1.0), np.array([0.0, 3.0, 6.0])
    x = np.repeat(centres, [250, 100, 50])
    values, rows = np.unique(noisy(law, x, 9), return_counts=True)
    law_of = stats.norm(0, 2).cdf(values[:, None] + 0.5 - centres) - stats.norm(0, 2).cdf(
        values[:, None] - 0.5 - centres
    )
    shares = np.linspace(0, 1, 401)
    first, second = np.meshgrid(shares, shares, indexing="ij")
    grid = np.stack([first, second, 1 - first - second], axis=-1)[first + second <= 1 + 1e-12]
    likelihood = np.log(np.maximum(np.maximum(grid, 0) @ law_of.T, 1e-300)) @ rows
    kept = grid[likelihood >= likelihood.max() - stats.chi2(1).ppf(0.95) / 2]
    n, _, _ = maximum_likelihood(law_of, rows.astype(float))
    low, high = profile_intervals(law_of, rows.astype(float), n, 1, 0.95)
    np.testing.assert_allclose(low / 400, kept.min(axis=0), atol=0.01)
    np.testing.assert_allclose(high / 400, kept.max(axis=0), atol=0.01)


def test_many_distinct_numbers_are_grouped_without_bias() -> None:
    law, edges = NoiseLaw("laplace", 0.5), np.linspace(0, 4, 5)
    x = np.random.default_rng(3).choice([0.5, 2.5], 20_000, p=[0.7, 0.3]) + np.random.default_rng(4).uniform(
        -0.5, 0.5, 20_000
    )
    z = x + np.random.default_rng(5).laplace(0, 0.5 / np.sqrt(2), 20_000)
    values, rows = np.unique(z, return_counts=True)
    found = reconstruct_density(values, rows, law, edges, 0.95)
    np.testing.assert_allclose(found.estimate / 20_000, [0.7, 0, 0.3, 0], atol=0.04)
