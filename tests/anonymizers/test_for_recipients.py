"""What the cards of steps tell recipients: every built-in one does, about parameters that it has, in sentences."""

from __future__ import annotations

import re

import pytest

from ppdm_flow.core.recipients.statements import TOPICS, said
from ppdm_flow.policy.language.kind_pages import page_of
from ppdm_flow.policy.language.kinds import built_in
from ppdm_flow.sdk import registry

CARDS = [each.name for each in registry.listed("anonymizers") if each.built_in]
KINDS = {spec.name: spec for spec in built_in() if spec.written}


@pytest.mark.parametrize("name", CARDS)
def test_every_step_says_what_remains_true(name):
    spec = registry.load("anonymizers", name)
    statements = spec.info.recipients
    assert {s.topic for s in statements} & {"true", "not true"}
    assert all(s.text[0] == "`" or s.text[0].isupper() for s in statements)
    assert all(s.text.endswith(".") for s in statements)
    used = {c.parameter for s in statements for c in s.conditions}
    assert used <= spec.params.model_fields.keys()
    for parameter in used:
        told = [c for s in statements for c in s.conditions if c.parameter == parameter]
        _values_exist(str(spec.params.model_fields[parameter].annotation), {v for c in told for v in c.values})


def _values_exist(annotation: str, values: set[str]) -> None:
    words = values - {"set", "unset", "true", "false"}
    assert words <= set(re.findall(r"'(\w+)'", annotation)), (words, annotation)
    assert not values & {"true", "false"} or "bool" in annotation


@pytest.mark.parametrize("name", CARDS)
def test_with_its_defaults_a_step_says_something(name):
    spec = registry.load("anonymizers", name)
    defaults = {
        n: f.get_default(call_default_factory=True) for n, f in spec.params.model_fields.items() if not f.is_required()
    }
    assert any(said(spec.info.recipients, topic, defaults) for topic in TOPICS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_requirement_says_what_it_promises(kind):
    page = page_of(KINDS[kind])
    assert page is not None
    text = page.section("For recipients")
    assert text.endswith(".")
    assert "\n" not in text
    fields = {*KINDS[kind].requirement.model_fields, "bound", "attribute", "attributes"}
    assert set(re.findall(r"\{(\w+)\}", text)) <= fields
