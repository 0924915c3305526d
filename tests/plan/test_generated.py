"""Requirements on whole rows, and releases of generated rows, in a plan."""

from __future__ import annotations

import json

import jsonschema
import pytest

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.wording import demand
from ppdm_flow.plan.schemas import schema
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.sdk.spec import Effect

ATTRIBUTES = """attributes:
  age: {role: quasi_identifier}
  city: {role: quasi_identifier}
"""
PRIVACY = "privacy: {anonymity_score: {max: 0.5}, blend: {min_support: {ratio: 0.02}, max: 0.03}}\n"
RELEASE = "releases: {r: {path: r.csv}}\n"
GENERATED = Effect(changes={"age": Change.GENERATED, "city": Change.GENERATED}, rows="generated")
STEP = "steps: {g: {use: maker}}\n"


def names(compiled, text):
    return {a.name for a in compiled(text).plan.audits}


def test_requirements_with_their_units(compiled):
    plan = compiled(ATTRIBUTES + PRIVACY + RELEASE, columns=("age", "city")).plan
    assert plan.requirements == (
        AnonymityScore.of("privacy.anonymity_score", max=0.5),
        Blend.of("privacy.blend", min_support=SupportBound(ratio=0.02), max=0.03),
    )
    assert [r.span.line for r in plan.requirements] == [7, 7]
    written = document(plan)
    assert written["requirements"][1]["min_support"] == {"ratio": 0.02}
    jsonschema.Draft7Validator(schema()).validate(json.loads(json.dumps(written)))
    assert [demand(r) for r in written["requirements"]] == ["NAS ≤ 0.5", "blend (support below 2%) ≤ 0.03"]


def test_they_count_every_attribute(codes):
    """So no quasi-identifier is left uncounted (PPF552), and no group leaves rows out (PPF565)."""
    assert codes(ATTRIBUTES + PRIVACY + RELEASE) == []
    assert codes("nulls: exclude\n" + ATTRIBUTES + PRIVACY + RELEASE) == []
    assert "PPF552" in codes(ATTRIBUTES + "privacy: {k_anonymity: {k: 3, attributes: [age]}}\n" + RELEASE)


def test_they_protect_no_sensitive_value(codes):
    assert codes(
        ATTRIBUTES.replace("city: {role: quasi_identifier}", "city: {role: sensitive}") + PRIVACY + RELEASE
    ) == ["PPF551"]


def test_the_usual_audits_of_generated_rows(compiled, fakes):
    """Whose row it is cannot be asked of rows that belong to nobody; whether they are original ones can."""
    fakes.add("maker", GENERATED, kind=Kind.GENERATOR)
    plain = names(compiled, ATTRIBUTES + RELEASE)
    made = names(compiled, ATTRIBUTES + STEP + RELEASE)
    assert made - plain == {"anonymity_score"}
    assert plain - made == {"reidentification_risk", "information_kept"}
    required = compiled(ATTRIBUTES + "privacy: {anonymity_score: {max: 0.5}}\n" + STEP + RELEASE).plan
    assert [bool(a.requirements) for a in required.audits if a.name == "anonymity_score"] == [True]


@pytest.mark.parametrize("use", ["anonymity_score", "blend, with: {min_support: 20}"])
def test_an_audit_may_measure_without_a_bound(compiled, use):
    plan = compiled(ATTRIBUTES + f"audits: {{rows: {{use: {use}}}}}\n" + RELEASE).plan
    (found,) = (a for a in plan.audits if a.name == "rows")
    assert not found.requirements


def test_blend_without_a_support_has_nothing_to_measure(compiled):
    def found(use: str) -> list[str]:
        return [d.code for d in compiled(ATTRIBUTES + f"audits: {{rows: {{use: {use}}}}}\n" + RELEASE).diagnostics]

    assert "PPF202" in found("blend")
    assert "PPF203" in found("blend, with: {min_support: lots}")
