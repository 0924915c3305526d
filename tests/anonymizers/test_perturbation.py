"""The plugin as the engine drives it: fit, artifacts, findings, and the released cells."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.anonymizers.fine_grain_perturbation.algorithm import FineGrainPerturbation, PerturbTransform
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Directions, Role
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.sdk.anonymizer import Operator, StepContext
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.claims import smallest_p
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView


def fit(table: Table, *requirements: Sensitivity, roles=None, **params):
    view = InMemoryView.of(table, roles)
    facts = {f.name: AttributeFacts(f.name, f.role) for f in view.schema}
    return FineGrainPerturbation(FineGrainParams(**params)).fit(view, StepContext("perturb", facts, requirements))


def sensitivity(attribute="d", *bounds, **rest) -> Sensitivity:
    return Sensitivity.of_bounds(attribute, bounds, Directions.BOTH, **rest)


def code(raised) -> list[str]:
    return [d.code for d in raised.value.diagnostics]


@pytest.mark.parametrize(
    ("directions", "operator", "expected", "utility"),
    [
        (Directions.UPWARD, "fine_grain", {"SARS": 0, "HIV": 1 / 3, "H1N1": 1 / 3, "cancer": 1 / 3}, 0.4375),
        (Directions.BOTH, "fine_grain", {"SARS": 0, "HIV": 1 / 6, "H1N1": 1 / 6, "cancer": 1 / 6}, 0.34375),
        (Directions.BOTH, "uniform", dict.fromkeys(["SARS", "HIV", "H1N1", "cancer"], 1 / 9), 1 / 3),
    ],
)
def test_the_papers_microdata(papers, directions, operator, expected, utility):
    fitted = fit(papers.patients(), papers.disease(directions), operator=operator)
    found = fitted.operators["disease"]
    assert dict(zip(found.domain, found.retention.tolist(), strict=True)) == pytest.approx(expected)
    assert fitted.figures["record_utility"].value == pytest.approx(utility)
    assert fitted.figures["uniform_record_utility"].value == pytest.approx(1 / 3)
    assert found.step == "perturb"


def test_operator_document_is_complete_and_reads_back(papers):
    fitted = fit(papers.patients(), papers.disease())
    document = json.loads(json.dumps(fitted.artifacts["operator.json"], allow_nan=False))
    assert document["version"] == 1
    (entry,) = document["operators"]
    operator = Operator.from_document(entry)
    assert operator.domain == ("H1N1", "HIV", "SARS", "cancer")
    assert operator.retention.tolist() == fitted.operators["disease"].retention.tolist()
    assert entry["directions"] == "both"
    assert {"value": "HIV", "r1": 0.1, "r2": 0.25} in entry["bounds"]["values"]
    assert entry["gamma"] == pytest.approx([9.5, 3, 1.5, 18])  # of H1N1, HIV, SARS, cancer: the paper's Example 2


def test_a_tolerance_is_published_as_written_not_as_exact_frequencies():
    table = Table.of({"d": ["a"] * 3 + ["b"] * 97})
    document = fit(table, sensitivity(tolerance=5.0)).artifacts["operator.json"]
    assert document["operators"][0]["bounds"] == {"values": [], "tolerance": 5.0, "default": None}
    assert document["operators"][0]["gamma"] == [None, None]  # 5 (1 - f) / (1 - 5 f) would tell f


def test_several_attributes_have_an_operator_each_and_their_figures_carry_their_name():
    table = Table.of({"d": ["a", "b"] * 20, "e": ["x", "y"] * 20, "f": ["u"] * 40})
    wanted = (sensitivity("d", default=(0.2, 0.5)), sensitivity("e", default=(0.1, 0.4)))
    fitted = fit(table, *wanted)
    assert set(fitted.operators) == {"d", "e"}
    assert {"d.record_utility", "e.record_utility"} <= set(fitted.figures)
    assert fitted.transform.draws_per_row == 2
    one = fit(table, *wanted, attribute="e")
    assert set(one.operators) == {"e"}
    assert "record_utility" in one.figures


def test_the_declared_domain_is_the_operators_domain():
    fitted = fit(Table.of({"d": ["b", "a"]}), sensitivity(default=(0.2, 0.5), domain=("c", "a", "b")))
    assert fitted.operators["d"].domain == ("a", "b", "c")
    assert not [f for f in fitted.findings if f.code == "PPF794"]


def test_a_value_outside_the_declared_domain_is_refused_without_naming_it():
    with pytest.raises(PluginError) as raised:
        fit(Table.of({"d": ["a", "canary", "canary"]}), sensitivity(default=(0.2, 0.5), domain=("a", "b")))
    assert code(raised) == ["PPF785"]
    assert "`d` has 1 values" in str(raised.value)
    assert "2 rows" in str(raised.value)
    assert "canary" not in str(raised.value)


def test_no_value_is_invented_that_only_a_bound_names():
    fitted = fit(
        Table.of({"d": ["a", "b"]}), sensitivity("d", BoundOfValue("z", 0.1, 0.2), BoundOfValue("a", 0.1, 0.5))
    )
    assert fitted.operators["d"].domain == ("a", "b")
    declared = sensitivity("d", BoundOfValue("z", 0.1, 0.2), domain=("a", "b", "z"))
    assert fit(Table.of({"d": ["a", "b"]}), declared).operators["d"].domain == ("a", "b", "z")


def test_a_missing_value_is_one_more_value():
    table = Table.of({"d": ["a", "b", None, "a"] * 500})
    fitted = fit(table, sensitivity(default=(0.2, 0.5)))
    operator = fitted.operators["d"]
    assert operator.domain == ("a", "b", None)
    released = run(fitted.transform, table)[""]
    assert set(released["d"].texts()) == {"a", "b", None}
    assert smallest_p(table, released, operator) > 1e-6


def test_suppressed_cells_are_refused():
    with pytest.raises(PluginError) as raised:
        fit(Table.of({"d": ["a", "⊥", "b"]}), sensitivity(default=(0.2, 0.5)))
    assert code(raised) == ["PPF783"]
    assert "`d` has 1 suppressed cells" in str(raised.value)


def test_an_attribute_without_a_requirement_is_refused():
    with pytest.raises(PluginError) as raised:
        fit(Table.of({"d": ["a"]}), attribute="d")
    assert code(raised) == ["PPF780"]
    with pytest.raises(PluginError) as raised:
        fit(Table.of({"d": []}), sensitivity(default=(0.2, 0.5)))
    assert code(raised) == ["PPF785"]


def test_cells_that_the_operator_does_not_know_are_refused():
    transform = fit(Table.of({"d": ["a", "b"]}), sensitivity(default=(0.2, 0.5))).transform
    for cell in ("canary", "⊥", None):
        with pytest.raises(PluginError) as raised:
            run(transform, Table.of({"d": ["a", cell]}))
        assert code(raised) == ["PPF785"]
        assert "canary" not in str(raised.value)


def test_weights_count_as_rows():
    table = Table.of({"d": ["a", "b"], "n": ["3", "97"]})
    fitted = fit(table, sensitivity(tolerance=5.0), roles={"n": Role.WEIGHT})
    flat = fit(Table.of({"d": ["a"] * 3 + ["b"] * 97}), sensitivity(tolerance=5.0))
    assert fitted.operators["d"].retention.tolist() == flat.operators["d"].retention.tolist()


def test_values_known_too_well_are_named_only_where_the_policy_names_them():
    table = Table.of({"d": ["HIV"] * 50 + ["canary"] * 49 + ["c"]})
    fitted = fit(table, sensitivity("d", BoundOfValue("HIV", 0.1, 0.25), default=(0.1, 0.3)))
    texts = [f.text for f in fitted.findings if f.code == "PPF741"]
    assert len(texts) == 2
    assert any("`HIV`" in t for t in texts)
    assert any("1 values" in t for t in texts)
    assert not any("canary" in t for t in texts)


def test_an_operator_that_keeps_nothing_is_called_so():
    table = Table.of({"d": [f"v{i}" for i in range(50)]})
    strict = fit(table, sensitivity("d", *[BoundOfValue(f"v{i}", 0.5, 0.5 + 1e-15) for i in range(50)]))
    assert strict.operators["d"].retention.max() < 1e-12
    nothing = PerturbTransform("s", (Operator("d", tuple(f"v{i}" for i in range(50)), np.zeros(50)),))
    assert run(nothing, table)[""]["d"].texts() != table["d"].texts()


@pytest.mark.parametrize("retention", [0.0, 0.3, 0.999, 1 - 2.0**-40, 1.0])
def test_released_frequencies_follow_the_operator(retention):
    rng = np.random.default_rng(1)
    names = [f"v{i}" for i in range(6)]
    table = Table.of({"d": rng.choice(names, 60_000).tolist()})
    operator = Operator("d", tuple(names), np.array([retention, 0.5, 0.5, 0.5, 0.25, 0.0]))
    released = run(PerturbTransform("s", (operator,)), table)[""]
    assert smallest_p(table, released, operator) > 1e-6  # fixed key: the chance that a right transform fails is 6e-6


def test_two_attributes_are_perturbed_independently():
    table = Table.of({"d": ["a"] * 40_000, "e": ["a"] * 40_000})
    operators = tuple(Operator(name, ("a", "b"), np.array([0.2, 0.2])) for name in ("d", "e"))
    released = run(PerturbTransform("s", operators), table)[""]
    both = np.bincount(released["d"].codes * 2 + released["e"].codes, minlength=4)
    assert stats.chi2_contingency(both.reshape(2, 2)).pvalue > 1e-6


def test_replacements_are_even_even_next_to_the_identity():
    """One word would leave 24 bits to choose among five values; two words leave all."""
    names = tuple("abcde")
    operator = Operator("d", names, np.full(5, 1 - 2.0**-40))
    transform = PerturbTransform("s", (operator,))
    assert transform.draws_per_row == 2
    words = Draws(RunKey.from_seed("x").step("s"), 2).words(np.arange(3))
    assert words.shape == (3, 2)
    assert pickle.loads(pickle.dumps(transform)).draws_per_row == 2


def test_a_renamed_attribute_is_still_protected():
    table = Table.of({"illness": ["a", "b"] * 5, "d": ["x", "y"] * 5})
    facts = {
        "illness": AttributeFacts("illness", Role.SENSITIVE, source="d"),
        "d": AttributeFacts("d", Role.TARGET, source="e"),
    }
    context = StepContext("perturb", facts, (sensitivity("d", default=(0.2, 0.6)),))
    fitted = FineGrainPerturbation(FineGrainParams()).fit(InMemoryView.of(table), context)
    assert set(fitted.operators) == {"illness"}
