"""Samples of Adult, whose true risks are known: what Skinner and Shlomo (JASA 103, 2008) found on census samples.

The 32,561 people of Adult are the population. Of models with main effects the estimates are too high, and the
statistics B/sqrt(v) say so; with all two-way interactions they are lower, and near the truth, and the statistics small.
"""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from ppdm_flow.mining.samples import SampleKeys, estimate, individual_risks, main_effects, two_way

AGE, EDUCATION, MARITAL, OCCUPATION, RACE, SEX = 0, 3, 5, 6, 8, 9


@pytest.fixture(scope="module")
def people(data):
    """The cells of Adult as codes, ages by five years; a file of the public data sets."""
    file = data / "adult_uci" / "adult.data.gz"
    if not file.exists():
        pytest.skip("needs adult_uci/adult.data.gz")
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        rows = [[c.strip() for c in row] for row in csv.reader(stream) if len(row) == 15]
    for row in rows:
        row[AGE] = str(int(row[AGE]) // 5)
    return np.stack([np.unique(column, return_inverse=True)[1] for column in zip(*rows, strict=True)], axis=1)


def sampled(people, columns, fraction, seed):
    """The keys of a sample, and the true tau_1 and tau_2."""
    codes = people[:, columns]
    widths = tuple(int(w) for w in codes.max(0) + 1)
    cells = np.ravel_multi_index(codes.T, widths)
    asked = np.random.default_rng(seed).random(len(cells)) < fraction
    population, sample = (np.bincount(c, minlength=int(np.prod(widths))) for c in (cells, cells[asked]))
    on = np.flatnonzero(sample)
    keys = SampleKeys(np.stack(np.unravel_index(on, widths), axis=1), widths, sample[on], sample[on] / fraction)
    there = population[sample == 1]
    return keys, float((there == 1).sum()), float((1 / there).sum())


@pytest.mark.parametrize("columns", [[AGE, SEX, RACE, MARITAL, OCCUPATION], [AGE, SEX, RACE, MARITAL, EDUCATION]])
def test_samples_of_a_fifth(people, columns):
    for seed in range(3):
        keys, first, second = sampled(people, columns, 0.2, seed)
        main, both = (estimate(keys, terms(len(columns))) for terms in (main_effects, two_way))
        assert main.population_uniques > first > both.population_uniques
        assert both.population_uniques == pytest.approx(first, rel=0.15)
        assert both.correct_matches == pytest.approx(second, rel=0.1)
        assert min(f or 0.0 for f in main.fits) > 10
        assert both.misfit < 4


def test_a_model_that_is_too_large_is_seen(people):
    """A sample of a twentieth, six attributes: two-way interactions are too many, estimates too low, B below 0."""
    keys, first, second = sampled(people, [AGE, SEX, RACE, MARITAL, OCCUPATION, EDUCATION], 0.05, 1)
    both = estimate(keys, two_way(6))
    assert both.converged
    assert both.population_uniques < first
    assert both.correct_matches < second
    assert max(f or 0.0 for f in both.fits) < -2
    alone = keys.frequencies == 1
    by_weights = individual_risks(keys.frequencies[alone], keys.populations[alone]).sum()
    assert by_weights < 0.5 * second  # the individual risk takes rare keys for as frequent as all others: see its card
