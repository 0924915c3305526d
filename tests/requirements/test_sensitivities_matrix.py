"""The audit `sensitivities` on matrices of any form: grids of priors, fractions, planted faults, the policy's seed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.anonymizers.pram.algorithm import PramTransform, on_grid
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities import judgement, judging
from ppdm_flow.requirements.sensitivities.algorithm import SensitivitiesAudit
from ppdm_flow.requirements.sensitivities.fit import JointCounts, marginal_fit, matrix_joint_fit
from ppdm_flow.requirements.sensitivities.fit import retention_marginal_fit as fine_grain_marginal_fit
from ppdm_flow.requirements.sensitivities.judgement import PosteriorBounds
from ppdm_flow.requirements.sensitivities.replay import replay
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.requirements.sensitivities.second_route import brute_posteriors_of_matrix
from ppdm_flow.sdk.audit import PublicSeed, SeededStep
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.table import Table

AUDIT = SensitivitiesAudit(load("audits", "sensitivities").params())
ID = "privacy.sensitivities.s"
VALUES = ("a", "b", "c")
MATRIX = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.3, 0.1, 0.6]])


def fine_grain(kept):
    return np.diag(kept) + ((1 - kept) / len(kept))[:, None]


@st.composite
def matrices(draw, least=1, most=5):
    """Random ones, with zeros."""
    m = draw(st.integers(least, most))
    entry = st.one_of(st.just(0.0), st.floats(0.01, 1.0))
    rows = [draw(st.lists(entry, min_size=m, max_size=m).filter(any)) for _ in range(m)]
    matrix = np.array(rows)
    return matrix / matrix.sum(axis=1, keepdims=True)


def grid(m, steps=12):
    """Every prior over m values in steps."""
    for parts in product(range(steps + 1), repeat=m - 1):
        if sum(parts) <= steps:
            yield np.array([*parts, steps - sum(parts)]) / steps


@examples(10)
@given(matrices(least=2, most=3), st.sampled_from([3, 4]), st.sampled_from([6, 9]))
def test_the_worst_posterior_is_that_of_the_worst_prior_of_a_grid(matrix, low, high):
    """The grid holds the worst priors: r1 or r2 on the value, the rest on one other. Found by looking at all."""
    m, steps = len(matrix), 12
    r1, r2 = low / steps, high / steps
    highest, lowest = np.zeros(m), np.ones(m)
    for prior in grid(m, steps):
        out = prior @ matrix
        for j in np.flatnonzero(out > 0):
            after = prior * matrix[:, j] / out[j]
            up, down = prior <= r1 + 1e-12, prior >= r2 - 1e-12
            highest[up] = np.maximum(highest[up], after[up])
            lowest[down] = np.minimum(lowest[down], after[down])
    found = judging.worst_matrix_posteriors(matrix, PosteriorBounds(np.full(m, r1), np.full(m, r2)))
    assert found.upward == pytest.approx(highest, abs=1e-9)
    assert found.downward == pytest.approx(lowest, abs=1e-9)


@examples(30)
@given(matrices(), st.data())
def test_the_two_routes_agree(matrix, data):
    m = len(matrix)
    r1 = np.array(data.draw(st.lists(st.floats(0.01, 0.4), min_size=m, max_size=m)))
    r1[data.draw(st.integers(0, m - 1))] = np.nan
    bounds = PosteriorBounds(r1, r1 + 0.3)
    mine = judging.worst_matrix_posteriors(matrix, bounds)
    pairs = [None if np.isnan(a) else (a, b) for a, b in zip(bounds.r1, bounds.r2, strict=True)]
    upward, downward = brute_posteriors_of_matrix(matrix.T.tolist(), pairs)
    assert mine.upward == pytest.approx(upward, abs=1e-12, nan_ok=True)
    assert mine.downward == pytest.approx(downward, abs=1e-12, nan_ok=True)


def test_large_matrices_agree_as_well():
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(90), size=90)
    found = judging.worst_matrix_posteriors(matrix, PosteriorBounds(np.full(90, 0.1), np.full(90, 0.3)))
    upward, downward = brute_posteriors_of_matrix(matrix.T.tolist(), [(0.1, 0.3)] * 90)
    assert found.upward == pytest.approx(upward, abs=1e-12)
    assert found.downward == pytest.approx(downward, abs=1e-12)


@examples(30)
@given(st.lists(st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0)), min_size=1, max_size=6), st.data())
def test_the_fine_grain_form_is_a_special_case(kept, data):
    kept = np.array(kept)
    m, matrix = len(kept), fine_grain(np.array(kept))
    bounds = PosteriorBounds(np.full(m, 0.2), np.full(m, 0.6))
    mine, other = judging.worst_matrix_posteriors(matrix, bounds), judgement.worst_posteriors(kept, bounds)
    assert mine.upward == pytest.approx(other.upward, abs=1e-9)
    assert mine.downward == pytest.approx(other.downward, abs=1e-9)
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=m, max_size=m).filter(any)), dtype=float)
    prior = weights / weights.sum()
    at, too = judging.matrix_posteriors_at(matrix, prior), judgement.posteriors_at(kept, prior)
    assert at.upward == pytest.approx(too.upward, abs=1e-9)
    assert at.downward == pytest.approx(too.downward, abs=1e-9)
    told = judging.most_telling_row(matrix, prior)
    assert told.posterior == pytest.approx(judgement.most_telling(kept, prior).posterior, abs=1e-9)
    if m > 1 and matrix.min() > 0:
        assert judging.matrix_amplification(matrix) == pytest.approx(judgement.amplification(kept))


def test_a_released_value_that_nobody_becomes_breaches_nothing():
    matrix = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.5, 0.5, 0.0]])
    found = judging.worst_matrix_posteriors(matrix, PosteriorBounds(np.full(3, 0.2), np.full(3, 0.6)))
    assert found.upward.max() < 0.25
    assert found.downward.min() > 0.5
    assert judging.matrix_amplification(matrix) == pytest.approx(1.25)
    one_sided = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.4, 0.5, 0.1]])  # c tells itself
    assert judging.matrix_amplification(one_sided) == float("inf")
    assert (
        judging.worst_matrix_posteriors(one_sided, PosteriorBounds(np.full(3, 0.2), np.full(3, 0.6))).upward[2] == 1.0
    )


def drawn(values, matrix, rng):
    return np.array([rng.choice(len(matrix), p=matrix[v]) for v in values])


def example(build, matrix=MATRIX, stated=None, rows=4000, release=None, **more):
    """A column randomized by ``matrix`` whose operator says ``stated``."""
    rng = np.random.default_rng(11)
    values = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    out = drawn(values, matrix, rng) if release is None else release(values, rng)
    return build.case(
        {"s": [VALUES[v] for v in values]},
        {"s": [VALUES[v] for v in out]},
        "s",
        **{
            "requirements": (Sensitivity.of_bounds("s", (), Directions.BOTH, default=(0.3, 0.9)),),
            "operators": {"s": MatrixOperator("s", VALUES, matrix if stated is None else stated, "p")},
            "changes": {"s": (("p", Change.PERTURBED),)},
            **more,
        },
    )


def test_bounds_that_hold_and_bounds_that_do_not(build, agree):
    """Of a: 0.3 * 0.7 / (0.3 * 0.7 + 0.7 * 0.05) = 6/7; of c: 0.3 * 0.6 / (0.3 * 0.6 + 0.7 * 0.05) = 36/43."""
    found = agree(AUDIT, example(build), least=4)
    assert found[f"{ID}.worst_upward"] == pytest.approx(6 / 7)
    assert found[f"{ID}.margin"] <= 1e-9
    assert found[f"{ID}.values_off_prediction"] == 0
    tight = Sensitivity.of_bounds("s", (BoundOfValue("a", 0.3, 0.85),), Directions.UPWARD)
    breached = agree(AUDIT, example(build, requirements=(tight,)), least=3)
    assert breached[f"{ID}.margin"] == pytest.approx(6 / 7 - 0.85)
    (measured,) = AUDIT.measure(*example(build, requirements=(tight,)).args).measured
    assert measured.verifiable
    downward = Sensitivity.of_bounds("s", (BoundOfValue("b", 0.7, 0.75),))  # 0.75 * 0.05 / (0.75 * 0.05 + 0.25 * 0.7)
    assert agree(AUDIT, example(build, requirements=(downward,)))[f"{ID}.worst_downward"] == pytest.approx(3 / 17)


@pytest.mark.parametrize(
    "release",
    [
        lambda values, rng: values,
        lambda values, rng: drawn(values, MATRIX[[1, 0, 2]], rng),
        lambda values, rng: drawn(values, np.eye(3) * 0.2 + MATRIX * 0.8, rng),
        lambda values, rng: rng.permutation(drawn(values, MATRIX, rng)),
    ],
    ids=["as it is", "rows exchanged", "a fifth kept", "paired with others"],
)
def test_bytes_of_another_channel_are_not_verified(build, release):
    (measured,) = AUDIT.measure(*example(build, release=release).args).measured
    assert not measured.verifiable


def test_a_cell_that_the_matrix_forbids_is_found(build):
    stated = np.array([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])

    def release(values, rng):
        out = drawn(values, stated, rng)
        out[np.flatnonzero(values == 0)[0]] = 2
        return out

    (measured,) = AUDIT.measure(*example(build, stated=stated, release=release).args).measured
    assert not measured.verifiable


@examples(10)
@given(matrices(least=2, most=4), st.integers(0, 1000))
def test_faithful_draws_are_not_refused(matrix, seed):
    """80 draws over 20 matrices: none below 1e-6, which happens by chance less than once in 10,000 such runs."""
    rng = np.random.default_rng(seed)
    m = len(matrix)
    for _ in range(4):
        original = rng.integers(0, 600, m)
        table = np.stack([rng.multinomial(n, row) for n, row in zip(original, matrix, strict=True)])
        before, after = (a.ravel() for a in np.indices((m, m)))
        kept = table.ravel() > 0
        joint = JointCounts(before[kept], after[kept], table.ravel()[kept].astype(np.int64))
        assert matrix_joint_fit(matrix, joint) > 1e-6
        assert marginal_fit(matrix, original, table.sum(axis=0)) > 1e-6


def test_frequencies_are_tested_like_those_of_the_fine_grain_form():
    kept = np.array([0.2, 0.5, 0.4, 0.7])
    original = np.array([4000, 2500, 800, 2700])
    rng = np.random.default_rng(2)
    for part in (1.0, 0.6):
        for shift in (0.0, 0.02):
            made = np.clip(original / original.sum() @ fine_grain(kept) + shift * np.array([1, -1, 0, 0]), 0, 1)
            released = rng.multinomial(int(10_000 * part), made / made.sum())
            mine = marginal_fit(fine_grain(kept), original, released)
            other = fine_grain_marginal_fit(kept, original, released)
            assert (mine < 1e-6) == (other < 1e-6)
            assert mine == pytest.approx(other, rel=1e-6, abs=1e-12)
    with pytest.raises(ValueError, match="more rows"):
        marginal_fit(MATRIX, np.array([1, 1, 1]), np.array([2, 2, 2]))
    assert marginal_fit(MATRIX, np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)) == 1.0


def test_the_seed_gives_away_what_it_gives_away(build):
    """Twin: every value tried in every row, with the transform itself."""
    operator = MatrixOperator("s", VALUES, on_grid(MATRIX), "p")
    transform = PramTransform("p", (operator,))
    draws = Draws(RunKey.from_seed("paper").step("p"), 1)
    codes = np.random.default_rng(3).integers(0, 3, 800)
    before = Table.of({"s": [VALUES[c] for c in codes]})
    after = transform.apply(before, draws)
    case = build.case(
        before,
        after,
        {"s": build.roles["s"]},
        operators={"s": operator},
        changes={"s": (("p", Change.PERTURBED),)},
        seeded=PublicSeed("paper", (SeededStep("p", "pram", "same"),)),
    )
    original, candidate, ctx = case.args
    found = replay(operator, "s", original, candidate, ctx)
    fits = sum(
        np.array(transform.apply(Table.of({"s": [v] * 800}), draws)["s"].texts()) == np.array(after["s"].texts())
        for v in VALUES
    )
    assert found.rows == 800
    assert found.recovered == int((fits == 1).sum()) > 0
