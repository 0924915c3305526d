"""The policy's clauses as core values."""

from __future__ import annotations

from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.policy import declared_values, gates_of, requirements_of
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate

TEXT = """\
version: 1
name: test
attributes:
  job: {role: quasi_identifier}
  "addr_*": {role: quasi_identifier}
  city: {role: quasi_identifier, hierarchy: {levels: {Paris: [France], Rome: [Italy]}}}
  disease: {role: sensitive, domain: [HIV, flu]}
  income: {role: sensitive}
privacy:
  k_anonymity: {k: 5}
  templates:
    open: {channel: [job, city], sensitive: {disease: [HIV, flu], income: [low]}, confidence: 0.5}
  sensitivities:
    disease: {directions: upward, values: {HIV: {r1: 0.1, r2: 0.25}}, default: {tolerance: 5}}
    income: {default: {r1: 0.1, r2: 0.5}}
gates:
  g: {metric: a.b, min: 1}
releases:
  study: {path: study.csv}
"""


def _declared(loaded):
    return declared_values(loaded.policy, requirements_of(loaded.policy, loaded.places))


def test_every_clause_with_its_id_and_place(read) -> None:
    loaded = read(TEXT)
    k, template, disease, income = requirements_of(loaded.policy, loaded.places)
    assert k == KAnonymity.of("privacy.k_anonymity", k=5, attributes=("job", "addr_*", "city"))
    assert template == InferenceTemplate.of(
        "privacy.templates.open",
        "open",
        channel=("job", "city"),
        sensitive=by_attribute((("disease", "HIV"), ("disease", "flu"), ("income", "low"))),
        confidence=0.5,
    )
    assert isinstance(disease, Sensitivity)
    assert (disease.id, disease.directions, disease.tolerance, disease.fixed, disease.domain) == (
        "privacy.sensitivities.disease",
        "upward",
        5.0,
        None,
        ("HIV", "flu"),
    )
    assert [(b.value, b.r1, b.r2, b.span.line) for b in disease.bounds] == [("HIV", 0.1, 0.25, 14)]
    assert (income.fixed, income.tolerance, income.domain) == ((0.1, 0.5), None, None)
    assert [r.span.line for r in (k, template, disease, income)] == [10, 12, 14, 15]


def test_attributes_of_k_anonymity_may_be_named(read) -> None:
    loaded = read(TEXT.replace("{k: 5}", "{k: 5, attributes: [city]}"))
    assert requirements_of(loaded.policy, loaded.places)[0].attributes == ("city",)


def test_gates(read) -> None:
    loaded = read(TEXT)
    (gate,) = gates_of(loaded.policy, loaded.places)
    assert (gate.id, gate.metric, gate.minimum, gate.maximum, gate.span.line) == ("gates.g", "a.b", 1.0, None, 17)


def test_values_that_the_policy_writes(read) -> None:
    assert _declared(read(TEXT)) == {
        "city": frozenset({"Paris", "Rome", "France", "Italy"}),
        "disease": frozenset({"HIV", "flu"}),
        "income": frozenset({"low"}),
    }


def test_nothing_required(read, start) -> None:
    loaded = read(start)
    assert requirements_of(loaded.policy, loaded.places) == ()
    assert gates_of(loaded.policy, loaded.places) == ()
    assert _declared(loaded) == {}


SEVERAL = """\
version: 1
name: test
attributes:
  disease: {role: sensitive, domain: [HIV, flu, cancer, "0"]}
privacy:
  sensitivities:
    disease:
      groups:
        std: {values: [flu, cancer], r1: 0.02, r2: 0.1}
        clinic: {values: [HIV], r1: 0.3, r2: 0.4, given: patients}
      values:
        HIV: [{r1: 0.02, r2: 0.1}, {r1: 0.05, r2: 0.2, given: donors}]
        "0": {r1: 0.1, r2: 0.3}
releases:
  study: {path: study.csv}
"""


def test_groups_and_several_bounds_with_their_places(read) -> None:
    loaded = read(SEVERAL)
    (requirement,) = requirements_of(loaded.policy, loaded.places)
    assert isinstance(requirement, Sensitivity)
    assert [(b.value, b.r1, b.r2, b.given, b.group, b.span.line) for b in requirement.bounds] == [
        ("HIV", 0.02, 0.1, "", "", 12),
        ("HIV", 0.05, 0.2, "donors", "", 12),
        ("0", 0.1, 0.3, "", "", 13),
        ("flu", 0.02, 0.1, "", "std", 9),
        ("cancer", 0.02, 0.1, "", "std", 9),
        ("HIV", 0.3, 0.4, "patients", "clinic", 10),
    ]
    assert len({b.span for b in requirement.bounds}) == 6
    assert _declared(loaded)["disease"] == {"HIV", "flu", "cancer", "0"}


def test_a_list_of_one_is_the_same_as_a_map(read) -> None:
    single = SEVERAL.replace('"0": {r1: 0.1, r2: 0.3}', '"0": [{r1: 0.1, r2: 0.3}]')
    one, other = (read(text) for text in (SEVERAL, single))
    assert requirements_of(one.policy, one.places) == requirements_of(other.policy, other.places)


def test_faults_among_several_are_drawn_at_their_place(read) -> None:
    loaded = read(SEVERAL.replace("r1: 0.05, r2: 0.2,", "r1: 0.05, r2: 1.2,").replace("r1: 0.1, r2: 0.3", "r1: 0.1"))
    found = [(d.code, d.path, d.span.line) for d in loaded.diagnostics]
    path = ("privacy", "sensitivities", "disease", "values")
    assert found == [("PPF204", (*path, "HIV", "1", "r2"), 12), ("PPF202", (*path, "0", "r2"), 13)]


def test_floors_reach_into_lists(read, codes) -> None:
    floor = 'floors: {privacy.sensitivities.disease.values.HIV.r2: "<= %s"}\n'
    assert codes(read(floor % "0.1" + SEVERAL)) == ["PPF308"]
    assert codes(read(floor % "0.2" + SEVERAL)) == []
    moved = SEVERAL.replace("        HIV: [", "        # HIV: [")
    assert codes(read(floor % "0.2" + moved)) == ["PPF308"]  # a group is no way around a floor on a value
    assert codes(read(floor.replace("values.HIV", "groups.*") % "0.2" + SEVERAL)) == ["PPF308"]


def test_a_child_replaces_the_bound_of_a_value_and_takes_groups_away(read) -> None:
    child = """\
extends: [./base.yaml]
version: 1
name: child
privacy:
  sensitivities:
    disease:
      values: {HIV: {r1: 0.01, r2: 0.02}}
      groups: {clinic: null}
"""
    loaded = read(child, {"base.yaml": SEVERAL})
    (requirement,) = requirements_of(loaded.policy, loaded.places)
    assert [(b.value, b.r2) for b in requirement.bounds if b.value == "HIV"] == [("HIV", 0.02)]
    assert {b.group for b in requirement.bounds} == {"", "std"}
