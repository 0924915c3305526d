"""Posteriors counted over pairs, and several bounds of one value."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.algorithm import SensitivitiesAudit
from ppdm_flow.requirements.sensitivities.fit import JointCounts
from ppdm_flow.requirements.sensitivities.judgement import (
    LEVEL,
    amplification,
    clopper_pearson,
    most_telling,
    observe,
    posteriors_at,
)
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.registry import load

AUDIT = SensitivitiesAudit(load("audits", "sensitivities").params())
ID = "privacy.sensitivities.s"
DOMAIN = ("SARS", "HIV", "H1N1", "cancer")
SAFE = np.array([0, 1 / 6, 1 / 6, 1 / 6])


def perturbed(values: np.ndarray, retention: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    stay = rng.random(len(values)) < retention[values]
    return np.where(stay, values, rng.integers(0, len(retention), len(values)))


def joint_of(values: np.ndarray, out: np.ndarray) -> JointCounts:
    pairs, rows = np.unique(np.stack([values, out], axis=1), axis=0, return_counts=True)
    return JointCounts(pairs[:, 0], pairs[:, 1], rows)


def example(build, bounds, rows=20_000, retention=SAFE, seed=1, **more):
    rng = np.random.default_rng(seed)
    values = rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1])
    out = perturbed(values, np.asarray(retention), rng)
    required = Sensitivity.of_bounds("s", bounds, Directions.BOTH)
    return build.case(
        {"s": [DOMAIN[v] for v in values]},
        {"s": [DOMAIN[v] for v in out]},
        "s",
        requirements=(required,),
        operators={"s": Operator("s", DOMAIN, np.asarray(retention), "perturb")},
        changes={"s": (("perturb", Change.PERTURBED),)},
        **more,
    )


@examples(60)
@given(st.data())
def test_the_most_telling_value_against_the_matrix(data):
    m = data.draw(st.integers(1, 6))
    numbers = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
    kept = np.array(data.draw(st.lists(numbers, min_size=m, max_size=m)))
    prior = np.array(data.draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)), dtype=float)
    prior = prior / prior.sum() if prior.sum() else np.full(m, 1 / m)
    told = most_telling(kept, prior)
    matrix = Operator("s", tuple(map(str, range(m))), kept).matrix()
    out = matrix @ prior
    assert told.posterior == pytest.approx(posteriors_at(kept, prior).upward, abs=1e-9)
    for i in range(m):
        j = told.released[i]
        if out[j] > 1e-12:
            assert told.posterior[i] == pytest.approx(matrix[j, i] * prior[i] / out[j], abs=1e-9)


@examples(30)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60))
def test_counts_against_a_loop_over_rows(pairs):
    values, out = (np.array([p[side] for p in pairs], dtype=np.int64) for side in (0, 1))
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    joint = JointCounts(values, out, values) if not pairs else joint_of(values, out)
    found = observe(most_telling(SAFE, prior), joint, np.array([0, 2, 3]))
    told = most_telling(SAFE, prior).released
    for position, i in enumerate((0, 2, 3)):
        trials = sum(1 for _, y in pairs if y == told[i])
        hits = sum(1 for x, y in pairs if y == told[i] and x == i)
        assert (found.trials[position], found.hits[position]) == (trials, hits)
        if trials:
            exact = stats.binomtest(hits, trials).proportion_ci(1 - (1 - LEVEL) / 3, "exact")
            assert found.low[position] == pytest.approx(exact.low)
            assert found.high[position] == pytest.approx(exact.high)
        else:
            assert (found.low[position], found.high[position]) == (0.0, 1.0)
            assert math.isnan(found.share[position])


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [True, False])
def test_intervals_cover_together_at_their_rate(drawn):
    """2,000 releases: more than 2,000 * 5 % misses by chance at most once in 10,000: a limit of 140 by the binomial.

    ``drawn``: the originals are drawn from the prior anew each time; otherwise one table is held fixed.
    """
    rng = np.random.default_rng(29)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    fixed = np.repeat(np.arange(4), (prior * 1000).astype(int))
    missed = 0
    for _ in range(2000):
        values = rng.choice(4, 1000, p=prior) if drawn else fixed
        joint = joint_of(values, perturbed(values, SAFE, rng))
        missed += observe(most_telling(SAFE, prior), joint, np.arange(4)).outside > 0
    assert missed <= stats.binom.isf(1e-4, 2000, 1 - LEVEL)


def test_ends_of_the_interval():
    low, high = clopper_pearson(np.array([0, 10, 0]), np.array([10, 10, 0]), 0.05)
    assert low == pytest.approx([0, 0.6915, 0], abs=1e-4)
    assert high == pytest.approx([0.3085, 1, 1], abs=1e-4)


def test_the_report_says_what_was_counted(build):
    case = example(build, (BoundOfValue("HIV", 0.3, 0.6), BoundOfValue("cancer", 0.1, 0.4)))
    outcome = AUDIT.measure(*case.args)
    counted = outcome.figures[f"{ID}.measured_at_own_prior"]
    predicted = outcome.figures[f"{ID}.highest_at_own_prior"].value
    assert counted.interval[0] < predicted < counted.interval[1]
    assert counted.sample > 1000
    assert outcome.figures[f"{ID}.values_off_prediction"].value == 0
    assert "counted over the rows it is" in outcome.measured[0].sentence
    chart = outcome.charts[1]
    assert chart.id == f"{ID}.s.counted"
    assert len(chart.x) == 2
    assert all(
        lo < y < hi for lo, y, hi in zip(chart.series[0].low, chart.series[1].y, chart.series[0].high, strict=True)
    )


def test_without_pairs_nothing_is_counted(build):
    case = example(build, (BoundOfValue("HIV", 0.3, 0.6),), paired=False)
    figure = AUDIT.measure(*case.args).figures[f"{ID}.measured_at_own_prior"]
    assert (figure.value, figure.note) == (None, "original and released rows cannot be paired")


def test_another_operator_shows_in_the_counts(build):
    case = example(build, (BoundOfValue("HIV", 0.3, 0.6), BoundOfValue("cancer", 0.1, 0.4)))
    stated = {"s": Operator("s", DOMAIN, np.full(4, 0.4), "perturb")}
    outcome = AUDIT.measure(*case.but(operators=stated).args)
    assert outcome.figures[f"{ID}.values_off_prediction"].value == 2
    assert not outcome.measured[0].verifiable


def test_each_of_several_bounds_is_judged(build, agree):
    """The margin is the worst over a value's bounds, whichever comes first; both routes see all of them."""
    loose, strict = BoundOfValue("HIV", 0.1, 0.5), BoundOfValue("HIV", 0.3, 0.35, given="donors")
    alone = {b: agree(AUDIT, example(build, (b,)), least=4)[f"{ID}.margin"] for b in (loose, strict)}
    assert alone[loose] < 0 < alone[strict]
    for both in ((loose, strict), (strict, loose)):
        case = example(build, both)
        assert agree(AUDIT, case, least=4)[f"{ID}.margin"] == alone[strict]
        chart = AUDIT.measure(*case.args).charts[0]
        assert len(chart.x) == 1  # one bar a value, its worst bound
        assert chart.series[0].y == (0.35,)


def test_a_conditional_bound_below_the_share_is_no_finding(build):
    bound = BoundOfValue("HIV", 0.05, 0.2, given="donors")
    codes = {f.code for f in AUDIT.measure(*example(build, (bound,)).args).findings}
    assert "PPF741" not in codes
    codes = {f.code for f in AUDIT.measure(*example(build, (replace(bound, given=""),)).args).findings}
    assert "PPF741" in codes


def test_not_released_with_several_bounds(build, agree):
    bounds = (BoundOfValue("HIV", 0.1, 0.5), BoundOfValue("HIV", 0.3, 0.35))
    case = example(build, bounds)
    gone = build.case({"s": list(DOMAIN), "q": list("abcd")}, {"q": list("abcd")}, "sq")
    agree(AUDIT, gone.but(requirements=case.ctx.requirements))
    (measured,) = AUDIT.measure(*gone.but(requirements=case.ctx.requirements).args).measured
    assert measured.figure.value == pytest.approx(-0.05)


@examples(30)
@given(st.lists(st.floats(0, 0.999), min_size=2, max_size=7))
def test_epsilon_is_the_logarithm_of_the_largest_ratio_in_a_row(kept):
    """Local differential privacy: Pr[y | x] <= e^epsilon Pr[y | x'] for all x, x' and y."""
    matrix = Operator("s", tuple(map(str, range(len(kept)))), np.array(kept)).matrix()
    ratios = [row[i] / row[k] for row in matrix for i in range(len(kept)) for k in range(len(kept))]
    assert amplification(np.array(kept)) == pytest.approx(max(ratios), rel=1e-12)
