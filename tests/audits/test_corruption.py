"""The audit `corruption`: the paper's Figure 1, a plain adversary, planted dependence."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.corruption.algorithm import CorruptionAudit, NeighbourDependence, highest, highest_of_matrix
from ppdm_flow.audits.corruption.algorithm import _compare as compare_rows
from ppdm_flow.core.attributes import Change
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.registry import load

SPEC = load("audits", "corruption")
DOMAIN = ("SARS", "HIV", "H1N1", "cancer")
AGES = ["21", "25", "26", "28", "32", "34", "36", "39"]
SEXES = ["M", "F", "F", "M", "F", "F", "M", "M"]
DISEASES = ["SARS", "HIV", "SARS", "HIV", "H1N1", "cancer", "H1N1", "cancer"]
ORIGINAL = {"age": AGES, "sex": SEXES, "disease": DISEASES}
FIGURE_1C = {
    "age": ["[21-25]", "[21-25]", "[26-30]", "[26-30]", "[31-35]", "[31-35]", "[36-40]", "[36-40]"],
    "sex": ["*", "*", "*", "*", "F", "F", "M", "M"],
    "disease": DISEASES,
}


def audit(**params) -> CorruptionAudit:
    return CorruptionAudit(SPEC.params(**params))


def values(outcome) -> dict[str, float | None]:
    return {name: figure.value for name, figure in outcome.figures.items()}


def test_figure_1c_knowing_fiona_reveals_eva(build, agree):
    case = build.case(ORIGINAL, FIGURE_1C, "qqs")
    found = agree(audit(), case, least=4)
    assert found["worst_posterior"] == 0.5
    assert found["certain"] == 0
    assert found["worst_after_corruption"] == 1.0
    assert found["certain_after_corruption"] == 1.0
    finding = audit().measure(*case.args).findings[0]
    assert finding.code == "PPF850"
    assert "one other person" in finding.text
    assert "100.00%" in finding.text


def test_perturbation_withstands_the_same_adversary(build, agree):
    """Figure 2's operators: the posterior of every person is the same for any knowledge of the others."""
    for retention in (np.full(4, 1 / 9), np.array([0, 1 / 3, 1 / 3, 1 / 3]), np.array([0, 1 / 6, 1 / 6, 1 / 6])):
        operators = {"disease": Operator("disease", DOMAIN, retention, "perturb")}
        for corrupted in ("0", "1", "all"):
            case = build.case(ORIGINAL, ORIGINAL, "qqs", operators=operators)
            found = agree(audit(corrupted=corrupted), case, least=2)
            assert found["worst_after_corruption"] == found["worst_posterior"] < 0.55
            assert found["certain_after_corruption"] == 0
            assert not [f for f in audit().measure(*case.args).findings if f.code == "PPF850"]


def everyone(retention, prior, known: dict[int, int], released, target: int):
    """Pr[x_target | all released values, the true values of ``known``], by enumerating all tables."""
    m, n = len(prior), len(released)
    total, own = F(0), [F(0)] * m
    for table in product(range(m), repeat=n):
        if any(table[i] != x for i, x in known.items()):
            continue
        weight = F(1)
        for x, y in zip(table, released, strict=True):
            weight *= prior[x] * ((retention[x] if x == y else 0) + (1 - retention[x]) / m)
        total += weight
        own[table[target]] += weight
    return [part / total for part in own]


def test_no_subset_of_the_others_changes_a_posterior():
    """All tables of four people and three values, all subsets of known others, exactly."""
    retention, prior = (F(0), F(1, 3), F(1, 2)), (F(1, 2), F(1, 3), F(1, 6))
    released, truth = (2, 1, 0, 2), (2, 0, 1, 1)
    alone = everyone(retention, prior, {}, released, 0)
    for size in range(4):
        for others in combinations(range(1, 4), size):
            known = {i: truth[i] for i in others}
            assert everyone(retention, prior, known, released, 0) == alone
    mine = highest(np.array([float(p) for p in retention]), np.array([float(f) for f in prior]))
    every = [everyone(retention, prior, {}, (y,), 0) for y in range(3)]
    assert mine == pytest.approx([float(max(e[i] for e in every)) for i in range(3)], abs=1e-12)


def test_figure_1d_perturbed_generalization(build, agree):
    """p = 1/3, k = 2, one record sampled a group; Fiona's cancer is known.

    Eva's own value is shown, kept as it is, with probability 1/2 * 1/3 = 1/6 (the paper's figure). The posterior of
    H1N1 after a released H1N1 is 2/5 from a prior of 1/4 with Fiona known, and 3/8 without: never certain.
    """
    keep, m = F(1, 3), 4
    shown = F(0)
    after = {"H1N1": [F(0), F(0)], "any": [F(0), F(0)]}
    for owner, eva, kept, drawn in product(("Eva", "Fiona"), range(m), (True, False), range(m)):
        chance = F(1, 2) * F(1, m) * (keep if kept else 1 - keep) * F(1, m)
        released = (eva if owner == "Eva" else 3) if kept else drawn
        if owner == "Eva" and kept and eva == 2:
            shown += chance * m  # given that Eva has H1N1
        if released == 2:
            after["H1N1"][0] += chance * (eva == 2)
            after["H1N1"][1] += chance
    assert shown == F(1, 6)
    assert after["H1N1"][0] / after["H1N1"][1] == F(2, 5)

    operators = {"disease": Operator("disease", DOMAIN, np.full(4, 1 / 3), "perturb")}
    sampled = {name: [column[i] for i in (0, 2, 4, 6)] for name, column in FIGURE_1C.items()}
    case = build.case(ORIGINAL, sampled, "qqs", operators=operators, paired=False)
    found = agree(audit(sampled="2"), case, least=2)
    assert found["exposure"] == pytest.approx(1 / 6, abs=1e-15)
    assert found["worst_posterior"] == pytest.approx(3 / 8)
    assert found["worst_after_corruption"] == pytest.approx(2 / 5)
    assert found["certain_after_corruption"] == 0


def plain_beliefs(classes, cells, weights, known):
    """Try every set of known others in every class."""
    people = [(c, s) for c, s, w in zip(classes, cells, weights, strict=True) for _ in range(w)]
    best, sure = 0.0, 0
    for i, (mine, own) in enumerate(people):
        others = [s for j, (c, s) in enumerate(people) if c == mine and j != i]
        if own in (None, "⊥"):
            continue
        most = len(others) if known is None else min(known, len(others))
        posterior = 0.0
        for size in range(most + 1):
            for chosen in combinations(others, size):
                left = [own, *others]
                for s in chosen:
                    left.remove(s)
                posterior = max(posterior, left.count(own) / len(left))
        best, sure = max(best, posterior), sure + (posterior == 1.0)
    return best, sure / len(people)


@pytest.mark.slow
@examples(20)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["x", "y", None, "⊥"]), st.sampled_from(["a", "b", "c", None, "⊥"]), st.integers(0, 2)
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([0, 1, 2, "all"]),
)
def test_classes_against_an_adversary_who_tries_everything(build, agree, rows, corrupted):
    table = {"c": [r[0] for r in rows], "s": [r[1] for r in rows], "n": [str(r[2]) for r in rows]}
    case = build.case(table, table, "qsw")
    found = agree(audit(corrupted=str(corrupted)), case, least=2)
    if not sum(r[2] for r in rows) or not [r for r in rows if r[1] not in (None, "⊥") and r[2]]:
        assert found["worst_after_corruption"] is None
        return
    known = None if corrupted == "all" else corrupted
    best, sure = plain_beliefs(*zip(*rows, strict=True), known)
    assert found["worst_after_corruption"] == pytest.approx(best)
    assert found["certain_after_corruption"] == pytest.approx(sure)
    before, certain = plain_beliefs(*zip(*rows, strict=True), 0)
    assert (found["worst_posterior"], found["certain"]) == (pytest.approx(before), pytest.approx(certain))


@examples(45)
@given(st.data())
def test_any_operator_and_sampling_against_bayes(data):
    m = data.draw(st.integers(1, 5))
    numbers = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1))
    kept = np.array(data.draw(st.lists(numbers, min_size=m, max_size=m)))
    prior = np.array(data.draw(st.lists(st.integers(0, 4), min_size=m, max_size=m)), dtype=float)
    prior = prior / prior.sum() if prior.sum() else np.full(m, 1 / m)
    k = data.draw(st.integers(1, 4))
    known = data.draw(st.integers(0, 5))
    matrix = Operator("s", tuple(map(str, range(m))), kept).matrix()
    expected = np.zeros(m)
    for row in matrix:
        out = float(row @ prior)
        if out <= 1e-12:
            continue
        c = min(known, k - 1)
        own = out / (out * (k - c) + c * row.min())
        expected = np.maximum(expected, own * row * prior / out + (1 - own) * prior)
    assert highest(kept, prior, k, known) == pytest.approx(expected, abs=1e-9)


def perturbed_case(build, release, rows=20_000, seed=5):
    rng = np.random.default_rng(seed)
    original = rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1])
    retention = np.array([0.3, 0.4, 0.5, 0.6])
    out = release(original, retention, rng)
    return build.case(
        {"s": [DOMAIN[v] for v in original]},
        {"s": [DOMAIN[v] for v in out]},
        "s",
        operators={"s": Operator("s", DOMAIN, retention, "perturb")},
        changes={"s": (("perturb", Change.PERTURBED),)},
    )


def faithful(original, retention, rng):
    stay = rng.random(len(original)) < retention[original]
    return np.where(stay, original, rng.integers(0, 4, len(original)))


def shared_draws(original, retention, rng):
    """Every two rows share their draws: each row alone follows the operator."""
    stay = np.repeat(rng.random(len(original) // 2), 2) < retention[original]
    return np.where(stay, original, np.repeat(rng.integers(0, 4, len(original) // 2), 2))


def the_neighbours_value(original, retention, rng):
    """A value that is not kept becomes the next row's own."""
    stay = rng.random(len(original)) < retention[original]
    return np.where(stay, original, np.roll(original, -1))


@pytest.mark.parametrize("rows", [1, 2, 50, 20_000])
def test_independent_rows_raise_no_alarm(build, rows):
    """Error probability: a p-value below 1e-6 at most once in a million releases; keys are fixed."""
    for seed in range(5):
        outcome = audit().measure(*perturbed_case(build, faithful, rows, seed).args)
        assert not outcome.findings
        assert outcome.figures["s.independence_p"].value > 1e-4
        assert outcome.figures["s.independence_p"].sample == rows - 1


@pytest.mark.parametrize("fault", [shared_draws, the_neighbours_value])
def test_rows_that_depend_on_others_are_found(build, fault):
    outcome = audit().measure(*perturbed_case(build, fault).args)
    assert [f.code for f in outcome.findings] == ["PPF851"]
    assert outcome.figures["independence_p"].value < 1e-6


def test_the_variances_are_those_of_a_faithful_operator() -> None:
    """8,000 draws of 40 rows: a sample variance is off by 8 % with a probability below 1e-6. Retention near 1/2."""
    rng = np.random.default_rng(29)
    original = rng.choice(4, 40, p=[0.4, 0.3, 0.2, 0.1]).astype(np.int64)
    operator = Operator("s", DOMAIN, np.full(4, 1 / 3), "perturb")  # a value is kept with 1/3 + 1/6
    kept, taken = [], []
    for _ in range(8_000):
        found = NeighbourDependence()
        compare_rows(operator, original, faithful(original, operator.retention, rng), found)
        kept.append(found.kept)
        taken.append(found.taken)
    assert np.var(kept) == pytest.approx(found.kept_variance, rel=0.08)
    assert np.var(taken) == pytest.approx(found.taken_variance, rel=0.08)
    assert abs(np.mean(kept)) < 5 * (found.kept_variance / 8_000) ** 0.5
    assert abs(np.mean(taken)) < 5 * (found.taken_variance / 8_000) ** 0.5


def test_a_value_that_no_other_becomes_is_certain(build, agree):
    """All but `SARS` stay as they are, so a person released with `SARS` has it: two of eight people."""
    operator = Operator("disease", (*DOMAIN, "none of all"), np.array([1 / 3, 1.0, 1.0, 1.0, 1.0]), "perturb")
    for corrupted in ("0", "all"):
        case = build.case(ORIGINAL, ORIGINAL, "qqs", operators={"disease": operator})
        found = agree(audit(corrupted=corrupted), case, least=2)
        assert found["worst_posterior"] == found["worst_after_corruption"] == 1.0
        assert found["certain"] == found["certain_after_corruption"] == 0.25


def test_without_pairs_independence_is_not_measured(build):
    case = perturbed_case(build, faithful).but(pairs=None)
    figure = audit().measure(*case.args).figures["independence_p"]
    assert figure.value is None
    assert "no released attribute has it" in figure.note


def test_nothing_sensitive(build):
    case = build.case({"q": ["a"]}, {"q": ["a"]}, "q")
    outcome = audit().measure(*case.args)
    assert values(outcome)["worst_after_corruption"] is None
    assert not outcome.charts


def test_a_domain_of_a_hundred_thousand_takes_no_matrix():
    rng = np.random.default_rng(1)
    kept, prior = rng.random(100_000), rng.dirichlet(np.ones(100_000))
    found = highest(kept, prior)  # a matrix of 80 GB could not even be had
    assert np.all((found > 0.0) & (found <= 1.0 + 1e-12))


@pytest.mark.parametrize("bad", [{"corrupted": "-1"}, {"corrupted": "some"}, {"sampled": "0"}, {"attributes": []}])
def test_parameters_are_checked(bad):
    with pytest.raises(ValueError, match="validation error"):
        SPEC.params(**bad)


MATRIX = np.array([[0.7, 0.2, 0.1, 0.0], [0.05, 0.9, 0.05, 0.0], [0.3, 0.1, 0.6, 0.0], [0.25, 0.25, 0.25, 0.25]])


@examples(20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_a_matrix_is_attacked_like_the_form_that_it_has(kept, data):
    kept = np.array(kept)
    m = len(kept)
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=m, max_size=m).filter(any)), dtype=float)
    prior, drawn = weights / weights.sum(), data.draw(st.integers(1, 4))
    known = data.draw(st.integers(0, drawn))
    whole = np.diag(kept) + ((1 - kept) / m)[:, None]
    assert highest_of_matrix(whole, prior, drawn, known) == pytest.approx(highest(kept, prior, drawn, known), abs=1e-9)


def test_both_routes_agree_on_a_matrix_and_its_rows_are_tested(build, agree):
    rng = np.random.default_rng(4)
    original = rng.integers(0, 4, 3000)
    released = np.array([rng.choice(4, p=MATRIX[v]) for v in original])
    cells = [{"s": [DOMAIN[v] for v in column]} for column in (original, released)]
    told = {"operators": {"s": MatrixOperator("s", DOMAIN, MATRIX, "p")}}
    told["changes"] = {"s": (("p", Change.PERTURBED),)}
    for corrupted in (1, "all"):
        found = agree(audit(corrupted=corrupted, sampled=2), build.case(*cells, "s", **told), least=2)
        assert found["worst_after_corruption"] > found["worst_posterior"]
    figures = audit().measure(*build.case(*cells, "s", **told).args).figures
    assert figures["independence_p"].value > 1e-6
    assert figures["exposure"].value is None
    moved = [cells[0], {"s": [*cells[1]["s"][1:], "SARS"]}]  # each row shows what the next one drew
    assert audit().measure(*build.case(*moved, "s", **told).args).figures["independence_p"].value < 1e-6
