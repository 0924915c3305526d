"""Weights that are fitted to the shares of single values."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from ppdm_flow.mining.generation import RowGenerator

ROWS = 200_000


def people(rows=4000, seed=5):
    """Three columns that hang together, and a common town in whose rows most of the rare rows are."""
    rng = np.random.default_rng(seed)
    town = np.where(rng.random(rows) < 0.7, 0, rng.integers(1, 4, rows))
    job = np.where(town == 0, rng.integers(0, 40, rows), rng.integers(0, 3, rows))
    ill = np.where(rng.random(rows) < 0.7, job % 5, rng.integers(0, 5, rows))
    return {
        "town": [f"town {i}" for i in town],
        "job": [f"job {i}" for i in job],
        "ill": [f"ill {i}" for i in ill],
    }


def distance(one, other):
    """The mean over columns of the total variation distance."""
    each = []
    for name in one.names:
        before, after = Counter(one[name].texts()), Counter(other[name].texts())
        each.append(sum(abs(before[v] / len(one) - after[v] / len(other)) for v in {*before, *after}) / 2)
    return float(np.mean(each))


def rare_rows(table, limit):
    counts = Counter(zip(*(table[n].texts() for n in table.names), strict=True))
    return {row for row, n in counts.items() if n < limit}


@pytest.mark.slow
def test_rejection_takes_frequent_values_away_and_calibration_brings_them_back(bench):
    given = bench(people())
    asked = {"min_support": 12, "blend": "strict"}
    loose, before = given.rows(ROWS, calibrate=False, **asked)
    made, fitted = given.rows(ROWS, **asked)
    assert distance(given.table, loose) > 0.018
    assert distance(given.table, made) < 0.5 * distance(given.table, loose)
    figures = fitted.figures
    assert figures["value_distance_before"].value == pytest.approx(distance(given.table, loose), abs=0.004)
    assert figures["value_distance"].value == pytest.approx(distance(given.table, made), abs=0.004)
    assert figures["value_distance"].sample == 1 << 15
    assert fitted.transform.describe()["calibrated"]
    assert "value_distance" not in before.figures
    assert not before.transform.describe()["calibrated"]


@pytest.mark.slow
def test_no_rare_row_is_made_with_fitted_weights(bench):
    given = bench(people())
    made, _ = given.rows(20_000, min_support=12, blend="strict")
    assert not rare_rows(given.table, 12) & set(zip(*(made[n].texts() for n in made.names), strict=True))


@pytest.mark.slow
def test_where_nothing_is_rejected_it_is_done_if_asked_for(bench):
    rng = np.random.default_rng(1)
    base = rng.integers(0, 3, 3000)
    columns = {
        f"c{i}": [str(v) for v in np.where(rng.random(3000) < 0.75, base, rng.integers(0, 4, 3000))] for i in range(6)
    }
    given = bench(columns)
    plain, fitted = given.rows(ROWS)
    assert "value_distance" not in fitted.figures
    made, fitted = given.rows(ROWS, calibrate=True)
    assert fitted.figures["value_distance"].value < fitted.figures["value_distance_before"].value
    assert distance(given.table, made) < 0.6 * distance(given.table, plain)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(4))
def test_it_never_comes_out_further_than_without(bench, seed):
    """Also where there is nothing to mend but the chance of one sample, and where few drafts may be made."""
    for asked in ({"min_support": 60, "blend": "strict"}, {"calibrate": True, "candidates": "all", "min_support": 1}):
        given = bench(people(300, seed))
        made, fitted = given.rows(ROWS, **asked)
        plain, _ = given.rows(ROWS, **{**asked, "calibrate": False})
        assert fitted.figures["value_distance"].value <= fitted.figures["value_distance_before"].value
        assert distance(given.table, made) < distance(given.table, plain) + 0.003


def test_where_all_drafts_are_rejected_nothing_is_fitted(bench):
    fitted = bench({"a": ["x", "y", "z"]}).fit(blend="strict", min_support=2)
    assert fitted.figures["value_distance"].value is None
    assert fitted.figures["value_distance_before"].value is None


def test_values_of_few_rows_keep_their_weight(bench, monkeypatch):
    """What fewer rows have than an itemset needs is fitted to nobody, however often it is rejected."""
    seen = []
    plain = RowGenerator.of.__func__

    def watched(cls, table, database, laplace, factors=None):
        if factors is not None:
            seen.append((database.supports.copy(), factors.copy()))
        return plain(cls, table, database, laplace, factors)

    monkeypatch.setattr(RowGenerator, "of", classmethod(watched))
    bench(people(400)).fit(min_support=20, blend="strict")
    assert len(seen) > 20
    supports, factors = seen[-1]
    assert (supports < 20).sum() > 5
    assert (factors[supports < 20] == 1).all()
    assert (factors[supports >= 20] != 1).all()
    assert all((f >= 1 / 20.001).all() and (f <= 20.001).all() for _, f in seen)
