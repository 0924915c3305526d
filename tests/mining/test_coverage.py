"""What estimates promise, held against simulated releases on fixed keys.

Each test runs once, on a fixed key, and its limits are exceeded by a correct implementation with probability at most
1e-6 (bounds by Bernoulli's distribution where counts are pooled over independent releases).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from ppdm_flow.mining.reconstruction.estimate import misfit, reconstruct_counts, variances
from ppdm_flow.mining.reconstruction.likelihood import RetentionChannel

RELEASES = 2000
ERROR = 1e-6
ZIPF = np.round(95_946 / np.arange(1, 41) / np.sum(1 / np.arange(1, 41))).astype(int)

TABLES = {
    "one p = 0": ([0, 1 / 3, 1 / 3, 1 / 3], [400, 300, 200, 100]),
    "one p = 0, both directions": ([0, 1 / 6, 1 / 6, 1 / 6], [1000, 900, 700, 1400]),
    "uniform": ([1 / 9] * 4, [1000, 2000, 3000, 4000]),
    "zipf, uniform": ([0.366] * 40, ZIPF),
    "zipf, fine": (np.linspace(0.9, 0.15, 40), ZIPF),
    "hardly retained": (
        [0.0077, 0.877, 0.0131, *[0.877] * 5, 0.0],
        [400, 3000, 1500, 2500, 2000, 5000, 3000, 900, 1700],
    ),
    "rare values": ([0.5] * 10, [3, 5, 8, 13, 21, 34, 55, 500, 2000, 7000]),
}


def limits(trials, level):
    """Two-sided binomial limits at the stated error probability."""
    return binom.ppf(ERROR / 2, trials, level) / trials, binom.isf(ERROR / 2, trials, level) / trials


def releases(dense, name, key):
    kept, counts = (np.asarray(x) for x in TABLES[name])
    return (
        RetentionChannel.of(kept),
        counts,
        dense(kept).draw(np.random.default_rng([key, *map(ord, name)]), counts, RELEASES),
    )


@pytest.mark.parametrize("name", TABLES)
def test_estimates_have_no_bias(dense, name):
    channel, counts, released = releases(dense, name, 1)
    mean = channel.solve(released.astype(float)).mean(axis=0)
    error = np.sqrt(variances(channel, counts.astype(float)) / RELEASES)
    assert np.abs((mean - counts) / error).max() < norm.isf(ERROR / 2 / len(counts))


@pytest.mark.parametrize("name", ["one p = 0", "uniform", "rare values"])
def test_the_covariance_is_that_of_simulated_releases(dense, name):
    """In whitened coordinates the sample covariance is the unit matrix, its entries nearly normal."""
    channel, counts, released = releases(dense, name, 2)
    deviations = channel.solve(released.astype(float)) - counts
    whole = dense(channel.retention).covariance(counts.astype(float))
    values, vectors = np.linalg.eigh(whole)
    keep = values > 1e-9 * values.max()  # the total is fixed: one direction has no variance
    assert keep.sum() == len(counts) - 1
    white = deviations @ vectors[:, keep] / np.sqrt(values[keep])
    sample = white.T @ white / RELEASES - np.eye(keep.sum())
    bound = norm.isf(ERROR / 2 / keep.sum() ** 2)
    assert np.abs(sample).max() < bound * np.sqrt(2 / RELEASES)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("name", TABLES)
def test_intervals_cover_each_value_at_their_rate(dense, name, level):
    """For one value the releases are independent trials; the mean over values varies no more than one value does."""
    channel, counts, released = releases(dense, name, 3)
    found = reconstruct_counts(channel, released, level=level)
    covered = ((found.low <= counts) & (counts <= found.high)).mean(axis=0)
    low, high = limits(RELEASES, level)
    assert low <= covered.mean() <= high
    assert covered.min() >= low
    assert covered.max() <= high


def test_pooled_over_values_and_tables(dense):
    """The issue's promise: all values of all tables together, at 95 %."""
    hits = trials = 0
    for name in TABLES:
        channel, counts, released = releases(dense, name, 4)
        found = reconstruct_counts(channel, released)
        hits += int(((found.low <= counts) & (counts <= found.high)).sum())
        trials += released.size
    low, high = limits(trials, 0.95)
    assert low <= hits / trials <= high


def test_values_without_retention_are_covered_together(dense):
    kept, counts = np.array([0.0, 0.0, 0.4, 0.5]), np.array([700, 300, 1200, 800])
    released = dense(kept).draw(np.random.default_rng(8), counts, RELEASES)
    found = reconstruct_counts(RetentionChannel.of(kept), released)
    both = found.together
    low, high = limits(RELEASES, 0.95)
    assert low <= ((both.low <= 1000) & (both.high >= 1000)).mean() <= high
    single = (found.low <= counts) & (counts <= found.high)
    assert low <= single[:, 2:].mean() <= high
    assert single[:, :2].mean() >= low  # any share of the two is allowed for


def test_groups_are_covered_each(dense):
    """A query's groups: other totals, one operator."""
    kept = np.array([0.0, 0.5, 0.3, 0.7, 0.4])
    tables = np.array([[40, 60, 30, 50, 20], [500, 100, 200, 100, 100], [30, 3000, 700, 200, 70]])
    rng = np.random.default_rng(9)
    released = np.stack([dense(kept).draw(rng, table, RELEASES) for table in tables], axis=1)
    for method in ("inverse", "em"):
        found = reconstruct_counts(RetentionChannel.of(kept), released, method)
        covered = ((found.low <= tables) & (tables <= found.high)).mean(axis=(0, 2))
        low, high = limits(RELEASES, 0.95)
        assert np.all((covered >= low) & (covered <= high))


@pytest.mark.parametrize("name", TABLES)
def test_the_operators_own_releases_fit(dense, name):
    channel, _, released = releases(dense, name, 5)
    assert not any(misfit(channel, counts) for counts in released[:200])


def test_another_operators_release_does_not_fit(dense):
    kept = np.array([0.0, 0.0, 0.4, 0.5])
    counts = np.array([5000, 200, 3000, 2000])
    assert misfit(RetentionChannel.of(kept), counts)  # as if nothing had been perturbed
    assert misfit(RetentionChannel.of(np.full(4, 1 / 9)), [9000, 500, 500, 0])
    assert not misfit(RetentionChannel.of(np.full(4, 1 / 9)), [9, 1, 0, 0])  # too few to tell
