"""The audit `individual_risk`: plain twins, planted rows, weights that are dropped, scaled or told."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.individual_risk.algorithm import UNPAIRED
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.samples import individual_risks
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope

SPEC = load("audits", "individual_risk")
QI, WEIGHT = Role.QUASI_IDENTIFIER, Role.SAMPLING_WEIGHT
ROLES = {"a": QI, "b": QI, "w": WEIGHT}
rows = st.lists(
    st.tuples(
        st.sampled_from([None, "⊥", "x", "y"]), st.sampled_from("pqr"), st.sampled_from(["1", "2.5", "40", "1e2"])
    ),
    min_size=1,
    max_size=40,
)


def audit(**params):
    return SPEC.load()(SPEC.params(**params))


def table(cells, names="abw"):
    return {n: [r[i] for r in cells] for i, n in enumerate(names)}


def figures(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


@examples(25)
@given(rows, st.booleans())
def test_figures_are_those_of_a_plain_twin(build, cells, dropped):
    """The weights are those of the original rows, released or not."""
    released = table(cells, "ab") if dropped else table(cells)
    found = figures(audit(threshold="0.3").measure(*build.case(table(cells), released, ROLES).args))
    sizes, people = Counter(), defaultdict(float)
    for a, b, w in cells:
        sizes[a, b] += 1
        people[a, b] += float(w)
    risks = [float(individual_risks(np.array([sizes[a, b]]), np.array([people[a, b]]))[0]) for a, b, _ in cells]
    assert found["highest"] == pytest.approx(max(risks))
    assert found["expected_reidentifications"] == pytest.approx(sum(risks))
    assert found["global_risk"] == pytest.approx(sum(risks) / len(risks))
    assert found["at_risk"] == sum(r > 0.3 for r in risks)
    assert found["at_risk_share"] == pytest.approx(found["at_risk"] / len(risks))
    assert found["sample_uniques"] == sum(n == 1 for n in sizes.values())
    assert found["population"] == pytest.approx(sum(people.values()))
    alone = Counter(cells)
    told = None if dropped else sum(alone[r] == 1 and sizes[r[0], r[1]] > 1 for r in cells)
    assert found.get("told_apart_by_weight") == told


def test_who_stands_for_nobody_else_is_found_for_certain(build):
    """A respondent of weight 1 who is alone with the key is the only one of the population."""
    cells = [("x", "p", "1"), *[("y", "q", "50")] * 9]
    found = figures(audit().measure(*build.case(table(cells), table(cells), ROLES).args))
    assert found["highest"] == 1.0
    assert found["at_risk"] == 1


def survey(rng, size, weight):
    """Respondents of a few large groups."""
    draws = zip(rng.integers(0, 3, size), rng.integers(0, 4, size), rng.integers(0, 3, size), strict=True)
    return [(f"a{a}", f"b{b}", f"c{c}", str(weight)) for a, b, c in draws]


CROSSED = ROLES | {"c": QI}


def test_planted_rows_are_found_and_a_safe_table_raises_nothing(build):
    rng = np.random.default_rng(4)
    safe = survey(rng, 4000, 80)
    outcome = audit(threshold="0.05").measure(*build.case(table(safe, "abcw"), table(safe, "abcw"), CROSSED).args)
    clean = figures(outcome)
    assert clean["at_risk"] == clean["sample_uniques"] == clean["population_uniques"] == 0
    assert clean["highest"] < 1 / 80 < 0.05
    assert not outcome.findings
    planted = [(f"rare{i}", "b1", "c2", "12") for i in range(7)]
    rich = [*safe, *planted]
    found = figures(
        audit(threshold="0.05").measure(*build.case(table(rich, "abcw"), table(rich, "abcw"), CROSSED).args)
    )
    assert found["at_risk"] == found["sample_uniques"] == 7
    assert found["highest"] == pytest.approx(1 / 11 * math.log(12))
    assert found["expected_reidentifications"] - clean["expected_reidentifications"] == pytest.approx(
        7 / 11 * math.log(12), abs=0.01
    )
    assert found["population_uniques"] <= found["correct_matches"] <= 7


def test_generalized_rows_are_measured_by_the_weights_of_their_originals(build):
    cells = [("x1", "p", "3"), ("x2", "p", "4"), ("y", "q", "50"), ("y", "q", "50")]
    labels = [("x*", "p"), ("x*", "p"), ("y", "q"), ("y", "q")]
    case = build.case(table(cells), table(labels, "ab"), ROLES, changes={"a": (("step", Change.GENERALIZED),)})
    expected = float(individual_risks(np.array([2]), np.array([7.0]))[0])
    assert figures(audit().measure(*case.args))["highest"] == pytest.approx(expected)


def test_rows_without_their_originals(build):
    """A released weight speaks for them; where it was changed or is not there, nothing does."""
    cells = [("x", "p", "3"), ("y", "q", "50"), ("y", "q", "50")]
    alone = build.case(table(cells), table(cells), ROLES, paired=False)
    paired = build.case(table(cells), table(cells), ROLES)
    assert figures(audit().measure(*alone.args)) == figures(audit().measure(*paired.args))
    rounded = build.case(
        table(cells), table(cells), ROLES, paired=False, changes={"w": (("round", Change.GENERALIZED),)}
    )
    for case in (rounded, build.case(table(cells), table(cells, "ab"), ROLES, paired=False)):
        outcome = audit().measure(*case.args)
        told = {n: f.value for n, f in outcome.figures.items() if f.value is not None}
        assert told == ({"told_apart_by_weight": 0} if case is rounded else {})
        assert outcome.figures["global_risk"].note == UNPAIRED


def test_a_sampling_fraction_stands_for_weights(build):
    cells = [("x", "p"), ("y", "q"), ("y", "q")]
    plain = {"a": QI, "b": QI}
    case = build.case(table(cells, "ab"), table(cells, "ab"), plain)
    found = figures(audit(sampling_fraction="0.02").measure(*case.args))
    assert found["highest"] == pytest.approx(1 / 49 * math.log(50))
    assert found["population"] == pytest.approx(150)
    with pytest.raises(DataError, match="sampling_fraction"):
        audit().measure(*case.args)


def test_the_size_of_the_population_is_said_once():
    def codes(roles, **params):
        return [p.code for p in SPEC.effect(SPEC.params(**params), Scope("x", {}, (), source_roles=roles)).problems]

    assert codes({"a": QI, "w": WEIGHT}) == []
    assert codes({"a": QI}) == ["PPF841"]
    assert codes({"a": QI}, sampling_fraction="0.1") == []
    assert codes({"a": QI, "w": WEIGHT}, sampling_fraction="0.1") == ["PPF841"]
    assert codes({"w": WEIGHT}, attributes=["b"]) == ["PPF861"]


def test_findings_on_weights(build):
    scaled = [("x", "p", "0.5"), ("x", "p", "1.5"), ("y", "q", "1"), ("y", "q", "1")]
    outcome = audit().measure(*build.case(table(scaled), table(scaled), ROLES).args)
    assert {f.code for f in outcome.findings} >= {"PPF844", "PPF846"}
    assert outcome.figures["told_apart_by_weight"].value == 2
    assert outcome.figures["highest"].value == 0.5  # as in a census
    assert all("0.5" not in f.text and "1.5" not in f.text for f in outcome.findings)


def test_randomized_cells_are_measured_from_above(build):
    cells = [("x", "p", "3"), ("y", "q", "50")]
    case = build.case(table(cells), table(cells), ROLES, changes={"a": (("swap", Change.PERTURBED),)})
    assert audit().measure(*case.args).figures["global_risk"].note.startswith("at most")


def correlated(rng, size):
    """Three attributes of eight values, each two of them mostly alike."""
    base = rng.integers(0, 8, size)
    columns = [np.where(rng.random(size) < 0.8, base, rng.integers(0, 8, size)) for _ in "abc"]
    return [(*(f"v{x}" for x in row), "20") for row in zip(*columns, strict=True)]


def test_the_model_is_the_simplest_that_fits(build):
    rng = np.random.default_rng(9)
    cells = correlated(rng, 3000)
    case = build.case(table(cells, "abcw"), table(cells, "abcw"), CROSSED)
    simple = audit(model="main_effects").measure(*case.args)
    assert simple.figures["fit_correct_matches"].value > 3
    assert [f.code for f in simple.findings] == ["PPF847"]
    fitting = audit().measure(*case.args)
    assert "two-way" in fitting.figures["correct_matches"].note
    assert figures(fitting)["fit_correct_matches"] < figures(simple)["fit_correct_matches"]
    independent = [(f"v{a}", f"v{b}", f"v{c}", "20") for a, b, c in rng.integers(0, 12, (3000, 3)).tolist()]
    case = build.case(table(independent, "abcw"), table(independent, "abcw"), CROSSED)
    assert "main effects" in audit().measure(*case.args).figures["correct_matches"].note


def test_without_sample_uniques_there_is_nothing_to_estimate(build):
    cells = [(a, b, c, "20") for a in "xy" for b in "pq" for c in "uv"] * 2
    found = audit().measure(*build.case(table(cells, "abcw"), table(cells, "abcw"), CROSSED).args).figures
    assert (found["population_uniques"].value, found["correct_matches"].value) == (0.0, 0.0)
    assert found["fit_correct_matches"].value is None
    assert "no sample uniques" in found["fit_correct_matches"].note


def test_without_a_model(build):
    """One quasi-identifier is no table to learn from; nor is one with too many possible keys."""
    cells = [("x", "p", "3"), ("y", "p", "50")]
    outcome = audit(attributes=["a"]).measure(*build.case(table(cells), table(cells), ROLES).args)
    assert outcome.figures["population_uniques"].value is None
    assert "more quasi-identifiers" in outcome.figures["population_uniques"].note
    many = [(f"a{i}", f"b{i}", "3") for i in range(2100)]
    outcome = audit().measure(*build.case(table(many), table(many), ROLES).args)
    assert "too many possible keys" in outcome.figures["fit_correct_matches"].note
    assert outcome.figures["sample_uniques"].value == 2100


def test_the_picture_compares_with_the_original(build):
    cells = [("x1", "p", "3"), ("x2", "p", "4"), ("y", "q", "5000"), ("y", "q", "5000")]
    labels = [("x*", "p"), ("x*", "p"), ("y", "q"), ("y", "q")]
    (chart,) = audit().measure(*build.case(table(cells), table(labels, "ab"), ROLES).args).charts
    before, after = chart.series
    assert sum(before.y) == sum(after.y) == 4
    assert before.y[-2:] == (1.0, 1.0)
    assert after.y[-3:] == (2.0, 0.0, 0.0)
