"""The audit `sensitivities`: the paper's example, brute force, and planted faults."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.algorithm import SensitivitiesAudit
from ppdm_flow.requirements.sensitivities.fit import JointCounts, joint_fit, retention_marginal_fit
from ppdm_flow.requirements.sensitivities.judgement import (
    PosteriorBounds,
    amplification,
    posteriors_at,
    worst_posteriors,
)
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.requirements.sensitivities.second_route import brute_posteriors
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.registry import load

AUDIT = SensitivitiesAudit(load("audits", "sensitivities").params())
ID = "privacy.sensitivities.s"
DISEASES = ("SARS", "HIV", "H1N1", "cancer")
BOUNDS = ((F(1, 10), F(1, 7)), (F(1, 10), F(1, 4)), (F(1, 9), F(19, 35)), (F(1, 8), F(18, 25)))


def requirement(directions: Directions = Directions.BOTH, **more) -> Sensitivity:
    bounds = tuple(BoundOfValue(v, float(a), float(b)) for v, (a, b) in zip(DISEASES, BOUNDS, strict=True))
    return Sensitivity.of_bounds("s", **{"directions": directions, "bounds": bounds, **more})


def perturbed(values: np.ndarray, retention: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    m = len(retention)
    stay = rng.random(len(values)) < retention[values]
    return np.where(stay, values, rng.integers(0, m, len(values)))


def texts(codes: np.ndarray, domain=DISEASES) -> list[str | None]:
    return [domain[c] for c in codes]


def example(build, retention, rows=20_000, seed=1, release=None, domain=DISEASES, operator=None, **more):
    """A table whose column s was perturbed as stated, unless ``release`` says otherwise."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, len(domain), rows)
    retention = np.asarray(retention, dtype=float)
    out = perturbed(values, retention, rng) if release is None else release(values, retention, rng)
    out = texts(out, domain) if isinstance(out, np.ndarray) else out
    return build.case(
        {"s": texts(values, domain)},
        {"s": out},
        "s",
        **{
            "requirements": (requirement(),),
            "operators": {"s": operator or Operator("s", domain, retention, "perturb")},
            "changes": {"s": (("perturb", Change.PERTURBED),)},
            **more,
        },
    )


PAPER = np.array([0, 1 / 3, 1 / 3, 1 / 3])
SAFE = np.array([0, 1 / 6, 1 / 6, 1 / 6])


def test_the_papers_operator_breaches_downward(build, agree):
    case = example(build, PAPER)
    found = agree(AUDIT, case, least=4)
    assert found[f"{ID}.worst_downward"] == pytest.approx(1 / 13, abs=1e-15)
    assert found[f"{ID}.margin"] == pytest.approx(1 / 10 - 1 / 13, abs=1e-15)
    assert found[f"{ID}.upward_margin"] == pytest.approx(0, abs=1e-15)
    bounds = PosteriorBounds(*(np.array([float(b[i]) for b in BOUNDS]) for i in (0, 1)))
    upward = worst_posteriors(PAPER, bounds).upward
    assert upward == pytest.approx([1 / 7, 1 / 4, 3 / 11, 3 / 10], abs=1e-12)
    (measured,) = AUDIT.measure(*case.args).measured
    assert measured.verifiable
    assert "`SARS`" in measured.sentence
    assert measured.metric == f"{ID}.margin"


def test_gamma_of_each_value_is_the_papers(build):
    """Example 2: 1.5, 3, 9.5 and 18; the strictest of several bounds counts, and values that nobody named stay so."""
    figures = AUDIT.measure(*example(build, PAPER).args).figures
    gammas = dict(zip(DISEASES, (1.5, 3, 9.5, 18), strict=True))
    assert {v: figures[f"{ID}.gamma.{v}"].value for v in DISEASES} == pytest.approx(gammas)
    assert figures[f"{ID}.gamma"].value == pytest.approx(1.5)
    twice = tuple(BoundOfValue("HIV", *b) for b in ((0.1, 0.25), (0.2, 0.3)))
    wanted = Sensitivity.of_bounds("s", twice, Directions.BOTH, default=(0.5, 0.75))
    figures = AUDIT.measure(*example(build, SAFE, requirements=(wanted,)).args).figures
    assert figures[f"{ID}.gamma.HIV"].value == pytest.approx(0.3 * 0.8 / (0.2 * 0.7))
    assert not [n for n in figures if "gamma" in n and any(d in n for d in ("SARS", "H1N1", "cancer"))]
    nothing = Sensitivity.of_bounds("s", (), Directions.BOTH, tolerance=5.0)  # each value is a quarter: above 1/5
    assert AUDIT.measure(*example(build, SAFE, requirements=(nothing,)).args).figures[f"{ID}.gamma"].value is None


def test_upward_only_accepts_it_and_still_tells_the_other_way(build, agree):
    case = example(build, PAPER, requirements=(requirement(Directions.UPWARD),))
    found = agree(AUDIT, case, least=3)
    assert found[f"{ID}.margin"] <= 1e-9
    assert found[f"{ID}.worst_downward"] == pytest.approx(1 / 13)


def test_the_repaired_operator_holds_both_ways(build, agree):
    found = agree(AUDIT, example(build, SAFE))
    assert found[f"{ID}.margin"] <= 1e-9
    assert found[f"{ID}.epsilon"] == pytest.approx(math.log((1 / 6 + 5 / 24) / (5 / 24)))


def test_uniform_operator(build, agree):
    found = agree(AUDIT, example(build, np.full(4, 1 / 9)))
    assert found[f"{ID}.upward_margin"] == pytest.approx(0, abs=1e-12)
    assert found[f"{ID}.epsilon"] == pytest.approx(math.log(1.5))


probabilities = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1, allow_nan=False))


@examples(45)
@given(st.data())
def test_closed_forms_against_every_entry(data):
    m = data.draw(st.integers(1, 7))
    kept = np.array(data.draw(st.lists(probabilities, min_size=m, max_size=m)))
    r1 = np.array(data.draw(st.lists(st.floats(0.01, 0.4), min_size=m, max_size=m)))
    bounds = PosteriorBounds(r1, r1 + 0.3)
    bounds.r1[data.draw(st.integers(0, m - 1))] = np.nan
    mine = worst_posteriors(kept, bounds)
    pairs = [None if np.isnan(a) else (a, b) for a, b in zip(bounds.r1, bounds.r2, strict=True)]
    exact = brute_posteriors(kept.tolist(), pairs)
    judged = bounds.judged
    assert mine.upward[judged] == pytest.approx(np.array(exact[0])[judged], abs=1e-12)
    assert mine.downward[judged] == pytest.approx(np.array(exact[1])[judged], abs=1e-12)
    matrix = Operator("s", tuple(map(str, range(m))), kept).matrix()
    prior = np.array(data.draw(st.lists(st.integers(0, 5), min_size=m, max_size=m)), dtype=float)
    prior = prior / prior.sum() if prior.sum() else np.full(m, 1 / m)
    out = matrix @ prior
    table = (matrix * prior)[out > 1e-300] / out[out > 1e-300, None]
    at = posteriors_at(kept, prior)
    assert at.upward == pytest.approx(table.max(axis=0), abs=1e-9)
    assert at.downward == pytest.approx(table.min(axis=0), abs=1e-9)
    if m > 1 and matrix.min() > 0:
        assert amplification(kept) == pytest.approx((matrix.max(axis=1) / matrix.min(axis=1)).max())


@examples(20)
@given(st.lists(st.floats(0.0, 0.99), min_size=2, max_size=5), st.lists(st.floats(0.001, 1), min_size=5, max_size=5))
def test_no_prior_does_better_than_the_worst_case(kept, weights):
    """Any prior with exactly r1 on a value stays at or below the bound; the planted worst one reaches it."""
    kept = np.array(kept)
    m = len(kept)
    matrix = Operator("s", tuple(map(str, range(m))), kept).matrix()
    bounds = PosteriorBounds(np.full(m, 0.2), np.full(m, 0.6))
    worst = worst_posteriors(kept, bounds)
    for i in range(m):
        rest = np.array(weights[:m]) * (np.arange(m) != i)
        up, down = ((1 - r) * rest / rest.sum() + r * (np.arange(m) == i) for r in (0.2, 0.6))
        assert ((matrix[:, i] * 0.2) / (matrix @ up)).max() <= worst.upward[i] + 1e-12
        assert ((matrix[:, i] * 0.6) / (matrix @ down)).min() >= worst.downward[i] - 1e-12


@pytest.mark.slow
def test_blocks_of_rows_agree_with_the_closed_form():
    rng = np.random.default_rng(3)
    kept = rng.random(3000)
    kept[:2] = kept[2]
    bounds = PosteriorBounds(np.full(3000, 0.1), np.full(3000, 0.3))
    mine = worst_posteriors(kept, bounds)
    upward, downward = brute_posteriors(kept.tolist(), [(0.1, 0.3)] * 3000)
    assert mine.upward == pytest.approx(upward, rel=1e-12)
    assert mine.downward == pytest.approx(downward, rel=1e-12)


def test_a_domain_of_a_million_takes_no_matrix():
    rng = np.random.default_rng(4)
    found = worst_posteriors(rng.random(1_000_000), PosteriorBounds(np.full(1_000_000, 0.1), np.full(1_000_000, 0.3)))
    assert len(found.upward) == len(found.downward) == 1_000_000  # a matrix of 8 TB could not even be had


# The bytes. A faithful release is refused once in a million; keys are fixed.

RETENTIONS = [PAPER, SAFE, np.full(4, 0.5), np.array([0.9, 0.0, 0.3, 1.0]), np.ones(4), np.zeros(4)]


@pytest.mark.slow(quick=9)
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("retention", RETENTIONS)
@pytest.mark.parametrize("rows", [0, 1, 8, 300, 30_000])
def test_faithful_bytes_pass(build, paired, retention, rows):
    for seed in range(3):
        outcome = AUDIT.measure(*example(build, retention, rows, seed, paired=paired).args)
        assert outcome.measured[0].verifiable, outcome.measured[0].sentence


def unperturbed(values, retention, rng):
    return values


def one_value_unperturbed(values, retention, rng):
    return np.where(values == 1, values, perturbed(values, retention, rng))


def other_operator(values, retention, rng):
    return perturbed(values, np.full(4, 0.25), rng)


def moved_by_frequency(values, retention, rng):
    stay = rng.random(len(values)) < retention[values]
    return np.where(stay, values, rng.choice(4, len(values), p=[0.4, 0.3, 0.2, 0.1]))


def always_the_next(values, retention, rng):
    """The right share stays, the right share arrives everywhere: only the pairs show it."""
    q = (1 - retention) / 4
    stay = rng.random(len(values)) < (retention + q)[values]
    return np.where(stay, values, (values + 1) % 4)


def half_the_rows_only(values, retention, rng):
    return np.where(np.arange(len(values)) < len(values) // 2, values, perturbed(values, retention, rng))


@pytest.mark.parametrize(
    "fault",
    [unperturbed, one_value_unperturbed, other_operator, moved_by_frequency, always_the_next, half_the_rows_only],
)
def test_planted_faults_are_found_in_pairs(build, fault):
    outcome = AUDIT.measure(*example(build, SAFE, 20_000, release=fault).args)
    assert not outcome.measured[0].verifiable
    assert outcome.findings[0].code == "PPF811"
    assert outcome.figures[f"{ID}.p_value"].value < 1e-6
    assert "do not follow the operator" in outcome.measured[0].sentence


@pytest.mark.parametrize("fault", [moved_by_frequency, one_value_unperturbed])
def test_planted_faults_are_found_in_frequencies(build, fault):
    outcome = AUDIT.measure(*example(build, SAFE, 20_000, release=fault, paired=False).args)
    assert not outcome.measured[0].verifiable
    assert outcome.figures[f"{ID}.p_value"].note == "frequencies"


def test_an_unperturbed_release_is_found_in_frequencies_too(build):
    rng = np.random.default_rng(8)
    values = rng.choice(4, 20_000, p=[0.7, 0.1, 0.1, 0.1])
    cells = {"s": texts(values)}
    case = build.case(
        cells,
        cells,
        "s",
        paired=False,
        requirements=(requirement(),),
        operators={"s": Operator("s", DISEASES, SAFE, "perturb")},
    )
    assert not AUDIT.measure(*case.args).measured[0].verifiable


@pytest.mark.parametrize("stranger", ["measles", None, "⊥"])
def test_cells_outside_the_domain(build, agree, stranger):
    def spoilt(values, retention, rng):
        cells = texts(perturbed(values, retention, rng))
        return [stranger, *cells[1:]]

    case = example(build, SAFE, release=spoilt)
    assert agree(AUDIT, case, least=4)[f"{ID}.outside_cells"] == 1
    outcome = AUDIT.measure(*case.args)
    assert not outcome.measured[0].verifiable
    assert outcome.findings[0].code == "PPF812"
    assert "measles" not in outcome.measured[0].sentence


def test_missing_may_be_a_value(build, agree):
    domain = (*DISEASES, None)
    bound = requirement(default=(0.3, 0.6))
    case = example(build, np.full(5, 0.05), domain=domain, requirements=(bound,))
    assert agree(AUDIT, case)[f"{ID}.outside_cells"] == 0
    assert AUDIT.measure(*case.args).measured[0].verifiable


def test_no_operator_is_unverifiable(build):
    case = example(build, SAFE, operators={})
    outcome = AUDIT.measure(*case.args)
    assert not outcome.measured[0].verifiable
    assert outcome.measured[0].figure.value is None
    assert [f.code for f in outcome.findings] == ["PPF810"]
    assert not AUDIT.recheck(*case.args)


def test_a_second_perturbation_is_unverifiable(build, agree):
    changes = {"s": (("perturb", Change.PERTURBED), ("again", Change.PERTURBED))}
    case = example(build, SAFE, changes=changes)
    agree(AUDIT, case)
    outcome = AUDIT.measure(*case.args)
    assert not outcome.measured[0].verifiable
    assert outcome.findings[0].code == "PPF816"


@pytest.mark.parametrize("more", [{}, {"tolerance": 3.0}, {"default": (0.2, 0.3)}, {"bounds": ()}])
def test_not_released_holds(build, agree, more):
    cells = {"s": [*DISEASES, "flu", None, "flu"], "q": ["a"] * 7}
    case = build.case(cells, {"q": ["a"] * 7}, "sq", requirements=(requirement(**more),))
    agree(AUDIT, case)
    (measured,) = AUDIT.measure(*case.args).measured
    assert measured.verifiable
    assert measured.figure.value == (-1.0 if "bounds" in more else pytest.approx(1 / 10 - 1 / 7))
    assert "not released" in measured.sentence


def test_a_prior_above_r2_is_a_warning(build):
    outcome = AUDIT.measure(*example(build, SAFE, 20_000).args)
    (finding,) = outcome.findings
    assert (finding.code, str(finding.severity)) == ("PPF741", "warning")
    assert "`SARS`" in finding.text


def test_few_rows_are_told(build):
    outcome = AUDIT.measure(*example(build, SAFE, 8).args)
    assert "PPF814" in [f.code for f in outcome.findings]


def test_a_bound_on_an_unknown_value_is_told(build):
    odd = requirement(bounds=(BoundOfValue("SRAS", 0.1, 0.2),))
    outcome = AUDIT.measure(*example(build, SAFE, requirements=(odd,)).args)
    assert [f.code for f in outcome.findings] == ["PPF815"]


def test_tolerance(build, agree):
    """r1 = f and r2 = theta f, from the original's own frequencies; theta f >= 1 is no bound."""
    values = np.repeat(np.arange(4), [6000, 3000, 900, 100])
    rng = np.random.default_rng(2)
    retention = np.full(4, 0.2)
    cells = texts(perturbed(values, retention, rng))
    tolerant = requirement(bounds=(), tolerance=5.0)
    case = build.case(
        {"s": texts(values)},
        {"s": cells},
        "s",
        requirements=(tolerant,),
        operators={"s": Operator("s", DISEASES, retention)},
    )
    found = agree(AUDIT, case, least=4)
    f, q, d = 0.01, 0.2, 0.4
    assert found[f"{ID}.upward_margin"] == pytest.approx(
        max(x * d / (x * d + (1 - x) * q) - 5 * x for x in (0.01, 0.09))
    )
    assert found[f"{ID}.worst_downward"] == pytest.approx(5 * f * q / (5 * f * q + (1 - 5 * f) * d))


def test_a_sample_taken_after_the_operator(build):
    """Without pairs, fewer released rows are judged as a sample; a biased choice of them is found."""
    rng = np.random.default_rng(11)
    values = rng.choice(4, 40_000, p=[0.4, 0.3, 0.2, 0.1])
    out = perturbed(values, SAFE, rng)
    operators = {"s": Operator("s", DISEASES, SAFE)}
    for chosen, faithful in ((rng.permutation(40_000)[:15_000], True), (np.argsort(out)[:15_000], False)):
        case = build.case(
            {"s": texts(values)},
            {"s": texts(out[chosen])},
            "s",
            paired=False,
            requirements=(requirement(),),
            operators=operators,
        )
        assert AUDIT.measure(*case.args).measured[0].verifiable is faithful


def test_generalized_before_perturbed_uses_the_operators_input(build, agree):
    fine = np.random.default_rng(1).integers(0, 8, 20_000)
    coarse = fine // 2
    out = perturbed(coarse, SAFE, np.random.default_rng(2))
    before = {"s": [f"v{c}" for c in fine]}
    changes = {"s": (("coarsen", Change.GENERALIZED), ("perturb", Change.PERTURBED))}
    case = build.case(
        before,
        {"s": texts(out)},
        "s",
        changes=changes,
        requirements=(requirement(),),
        operators={"s": Operator("s", DISEASES, SAFE, "perturb")},
    )
    inputs = build.case({"s": texts(coarse)}, {}, "s").original
    assert not AUDIT.measure(*case.args).measured[0].verifiable
    case = case.but(operator_inputs={"s": inputs})
    agree(AUDIT, case, least=4)
    outcome = AUDIT.measure(*case.args)
    assert outcome.measured[0].verifiable
    assert outcome.figures[f"{ID}.p_value"].note == "frequencies"


def test_renamed_and_weighted(build, agree):
    case = build.case(
        {"s": ["SARS", "HIV"], "n": ["3", "5"]},
        {"illness": ["SARS", "HIV"], "n": ["3", "5"]},
        "sw",
        sources={"illness": "s"},
        requirements=(requirement(bounds=(), tolerance=1.5),),
        operators={"illness": Operator("s", ("HIV", "SARS"), np.array([0.5, 0.5]))},
    )
    found = agree(AUDIT, case, least=4)
    share, d, q = 3 / 8, 0.75, 0.25
    assert found[f"{ID}.upward_margin"] == pytest.approx(
        max(x * d / (x * d + (1 - x) * q) - 1.5 * x for x in (share, 5 / 8))
    )


# How often a faithful release is refused, and how the statistics are distributed.


@pytest.mark.slow
def test_p_values_of_faithful_releases_are_not_small():
    """Bonferroni's p-values below 0.01 in at most 1 % of runs: of 600 at most 18 with error probability 1e-4."""
    rng = np.random.default_rng(17)
    kept = np.array([0.1, 0.5, 0.3, 0.0, 0.7, 0.2])
    small = {"joint": 0, "marginal": 0}
    for _ in range(600):
        values = rng.choice(6, 2000, p=[0.3, 0.3, 0.2, 0.1, 0.07, 0.03])
        out = perturbed(values, kept, rng)
        pairs, rows = np.unique(values * 6 + out, return_counts=True)
        small["joint"] += joint_fit(kept, JointCounts(pairs // 6, pairs % 6, rows)) < 0.01
        n, r = np.bincount(values, minlength=6), np.bincount(out, minlength=6)
        small["marginal"] += retention_marginal_fit(kept, n, r) < 0.01
    assert small["joint"] <= 18
    assert small["marginal"] <= 18


@pytest.mark.slow
def test_covariance_of_the_frequencies():
    """The quadratic form is chi-square distributed: its mean over 800 runs within 5 standard errors of its freedom."""
    from ppdm_flow.requirements.sensitivities import fit as module

    rng = np.random.default_rng(23)
    kept = np.array([0.1, 0.5, 0.3, 0.9])
    counts = np.array([4000, 3000, 2000, 1000])
    values = np.repeat(np.arange(4), counts)
    for after in (10_000, 4000):
        tails = []
        for _ in range(800):
            out = perturbed(values, kept, rng)
            if after < 10_000:
                out = rng.permutation(out)[:after]
            leave = (1 - kept) / 4
            expected = kept * counts + leave @ counts
            deviation = np.bincount(out, minlength=4) - after * expected / 10_000
            tails.append(module._marginal_together(kept, leave, counts, deviation, after, np.ones(4, dtype=bool)))
        assert stats.kstest(tails, "uniform").pvalue > 1e-4


def test_tails_are_valid():
    """Exact tails and bounds are at least the true probabilities; Fisher's joins what single ones cannot see."""
    from ppdm_flow.requirements.sensitivities.fit import bennett, binomial, fisher

    hits = np.arange(41)
    exact = stats.binom.pmf(hits, 40, 0.03)
    for level in (0.1, 0.01, 1e-4, 1e-6):
        assert exact[binomial(hits, np.full(41, 40), 0.03) <= level].sum() <= level
        assert exact[bennett(hits - 1.2, 40 * 0.03 * 0.97) <= level].sum() <= level
    assert bennett(np.array([0.0, 0.5]), np.array([0.0, 0.0])).tolist() == [1.0, 0.0]
    assert fisher(np.full(200, 0.1)) < 1e-20
    assert (fisher(np.zeros(0)), fisher(np.array([0.0, 1.0]))) == (1.0, 0.0)


@pytest.mark.slow
def test_many_values(build):
    rng = np.random.default_rng(5)
    m = 2000
    domain = tuple(f"v{i:04}" for i in range(m))
    kept = rng.random(m) * 0.5
    values = rng.zipf(1.5, 100_000) % m
    case = build.case(
        {"s": texts(values, domain)},
        {"s": texts(perturbed(values, kept, rng), domain)},
        "s",
        requirements=(requirement(bounds=(), tolerance=4.0),),
        operators={"s": Operator("s", domain, kept)},
    )
    outcome = AUDIT.measure(*case.args)
    assert outcome.measured[0].verifiable
    again = AUDIT.recheck(*case.args)
    assert again[f"{ID}.margin"] == pytest.approx(outcome.figures[f"{ID}.margin"].value, abs=1e-12)
    assert len(outcome.charts[0].x) == 20
    assert not set(outcome.charts[0].x) & set(domain)
