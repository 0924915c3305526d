"""The policy's clauses as core values."""

from __future__ import annotations

from ppdm_flow.core.requirements import KAnonymity, Sensitivity, Template
from ppdm_flow.policy import declared_values, gates_of, requirements_of

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


def test_every_clause_with_its_id_and_place(read) -> None:
    loaded = read(TEXT)
    k, template, disease, income = requirements_of(loaded.policy, loaded.places)
    assert k == KAnonymity("privacy.k_anonymity", 5, ("job", "addr_*", "city"))
    assert template == Template(
        "privacy.templates.open",
        "open",
        ("job", "city"),
        (("disease", "HIV"), ("disease", "flu"), ("income", "low")),
        0.5,
    )
    assert isinstance(disease, Sensitivity)
    assert (disease.id, disease.directions, disease.tolerance, disease.default, disease.domain) == (
        "privacy.sensitivities.disease",
        "upward",
        5.0,
        None,
        ("HIV", "flu"),
    )
    assert [(b.value, b.r1, b.r2, b.span.line) for b in disease.bounds] == [("HIV", 0.1, 0.25, 14)]
    assert (income.default, income.tolerance, income.domain) == ((0.1, 0.5), None, None)
    assert [r.span.line for r in (k, template, disease, income)] == [10, 12, 14, 15]


def test_attributes_of_k_anonymity_may_be_named(read) -> None:
    loaded = read(TEXT.replace("{k: 5}", "{k: 5, attributes: [city]}"))
    assert requirements_of(loaded.policy, loaded.places)[0].attributes == ("city",)


def test_gates(read) -> None:
    loaded = read(TEXT)
    (gate,) = gates_of(loaded.policy, loaded.places)
    assert (gate.id, gate.metric, gate.minimum, gate.maximum, gate.span.line) == ("gates.g", "a.b", 1.0, None, 17)


def test_values_that_the_policy_writes(read) -> None:
    assert declared_values(read(TEXT).policy) == {
        "city": frozenset({"Paris", "Rome", "France", "Italy"}),
        "disease": frozenset({"HIV", "flu"}),
        "income": frozenset({"low"}),
    }


def test_nothing_required(read, start) -> None:
    loaded = read(start)
    assert requirements_of(loaded.policy, loaded.places) == ()
    assert gates_of(loaded.policy, loaded.places) == ()
    assert declared_values(loaded.policy) == {}
