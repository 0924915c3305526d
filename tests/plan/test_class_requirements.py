"""Requirements on classes and sets in a plan: patterns, audits, document, pictures, warnings."""

from __future__ import annotations

import json

import jsonschema
import pytest

from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.wording import demand
from ppdm_flow.plan.schemas import schema

ATTRIBUTES = """attributes:
  id: {role: identifier}
  "q*": {role: quasi_identifier}
  "s*": {role: sensitive, domain: [flu, hiv]}
"""
RELEASE = "releases:\n  r: {path: r.csv}\n"
COLUMNS = ("id", "q1", "q2", "s1", "s2")
ASKED = {
    "l_diversity": '{"s*": {l: 2}, s2: {l: 1.5, kind: entropy}}',
    "t_closeness": '{"s*": {t: 0.2, distance: ordered}}',
    "alpha_k": "{s1: {alpha: 0.6, values: [hiv]}}",
    "delta_disclosure": "{s1: {delta: 2}}",
    "beta_likeness": "{s1: {beta: 2}}",
    "k_map": "{k: 5, population: {path: people.csv, columns: {q1: Q}}}",
    "lkc": '{l: 1, k: 5, c: 0.5, sensitive: {"s*": [hiv]}}',
}


def plan_of(compiled, privacy: str):
    found = compiled(ATTRIBUTES + f"privacy: {privacy}\n" + RELEASE, columns=COLUMNS)
    assert found.plan is not None, found.diagnostics
    return found.plan


def test_patterns_mean_every_column(compiled):
    plan = plan_of(compiled, f"{{l_diversity: {ASKED['l_diversity']}, lkc: {ASKED['lkc']}}}")
    one, two, lkc = sorted(plan.requirements, key=lambda r: r.id)
    assert [(r.id, r.l, r.attributes) for r in (one, two)] == [
        ("privacy.l_diversity.s1", 2.0, ("q1", "q2")),
        ("privacy.l_diversity.s2", 1.5, ("q1", "q2")),
    ]
    assert lkc.attributes == ("q1", "q2")
    assert lkc.pairs == (("s1", "hiv"), ("s2", "hiv"))


@pytest.mark.slow(quick=4)
@pytest.mark.parametrize("kind", ASKED)
def test_audit_document_and_picture(compiled, kind):
    plan = plan_of(compiled, f"{{{kind}: {ASKED[kind]}}}")
    (node,) = [a for a in plan.audits if a.requirements]
    assert node.bound.info.name == kind
    told = json.loads(json.dumps(document(plan)))
    jsonschema.validate(told, schema())
    for requirement in told["requirements"]:
        assert requirement["kind"] == kind
        assert demand(requirement) != requirement["id"].removeprefix("privacy.")


def test_sets(compiled):
    text = "attributes:\n  basket: {role: items}\nprivacy: {km_anonymity: {k: 5, m: 2}}\n"
    head = "version: 1\nname: shop\nsource: {path: shop.parquet}\n"
    found = compiled(text + "releases:\n  r: {path: r.parquet}\n", columns=("basket",), head=head)
    assert found.plan is not None
    told = document(found.plan)
    jsonschema.validate(json.loads(json.dumps(told)), schema())
    assert demand(told["requirements"][0]) == "k of 2 items of basket ≥ 5"


@pytest.mark.parametrize("kind", ["l_diversity", "t_closeness", "delta_disclosure"])
def test_what_protects_a_sensitive_attribute(compiled, kind):
    privacy = f"{{k_anonymity: {{k: 5}}, {kind}: {{s1: {{{kind[0]}: 2}}}}}}".replace("t: 2", "t: 0.2")
    privacy = privacy.replace("{d: 2}", "{delta: 2}")
    found = compiled(ATTRIBUTES + f"privacy: {privacy}\n" + RELEASE, columns=COLUMNS)
    open_ = [d.message for d in found.diagnostics if d.code == "PPF551"]
    assert len(open_) == 1
    assert "`s2`" in open_[0]


def test_a_name_that_no_column_has(compiled):
    found = compiled(
        ATTRIBUTES + "privacy: {l_diversity: {s9: {l: 2}}, k_anonymity: {k: 5}}\n" + RELEASE, columns=COLUMNS
    )
    assert "PPF619" in {d.code for d in found.diagnostics}
