"""What the cards of steps tell recipients: every built-in one does, about parameters that it has, in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ppdm_flow.core.card_pages import TOPICS, said
from ppdm_flow.policy.language.kind_pages import page_of
from ppdm_flow.policy.language.kinds import RequirementSpec, built_in
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import PluginSpec

CARDS = [each.name for each in registry.listed("anonymizers") if each.built_in]
KINDS = {spec.name: spec for spec in built_in() if spec.written}


def step_faults(spec: PluginSpec) -> Iterator[str]:
    statements = spec.info.recipients
    if not {s.topic for s in statements} & {"true", "not true"}:
        yield "it does not say what remains true"
    for text in (s.text for s in statements):
        if not (text[0] == "`" or text[0].isupper()) or not text.endswith("."):
            yield f"no sentence: {text}"
    values_of: dict[str, set[str]] = {}
    for condition in (c for s in statements for c in s.conditions):
        values_of.setdefault(condition.parameter, set()).update(condition.values)
    for parameter, values in values_of.items():
        if parameter not in spec.params.model_fields:
            yield f"it has no parameter `{parameter}`"
            continue
        annotation = str(spec.params.model_fields[parameter].annotation)
        words = values - {"set", "unset", "true", "false"}
        if unknown := words - set(re.findall(r"'(\w+)'", annotation)):
            yield f"`{parameter}` cannot be {sorted(unknown)}: {annotation}"
        if values & {"true", "false"} and "bool" not in annotation:
            yield f"`{parameter}` is neither true nor false: {annotation}"
    fields = spec.params.model_fields.items()
    defaults = {n: f.get_default(call_default_factory=True) for n, f in fields if not f.is_required()}
    if not any(said(statements, topic, defaults) for topic in TOPICS):
        yield "with its defaults it says nothing"


def test_every_step_says_what_remains_true():
    faults = [f"{name}: {fault}" for name in CARDS for fault in step_faults(registry.load("anonymizers", name))]
    assert not faults, "\n".join(faults)


def promise_faults(spec: RequirementSpec) -> Iterator[str]:
    page = page_of(spec)
    text = page.section("For recipients") if page is not None else ""
    if not text.endswith(".") or "\n" in text:
        yield f"what it tells recipients is no line that ends with a full stop: {text!r}"
    fields = {*spec.requirement.model_fields, "bound", "attribute", "attributes"}
    if unknown := set(re.findall(r"\{(\w+)\}", text)) - fields:
        yield f"it has no {sorted(unknown)}"


def test_every_kind_of_requirement_says_what_it_promises():
    faults = [f"{kind}: {fault}" for kind, spec in KINDS.items() for fault in promise_faults(spec)]
    assert not faults, "\n".join(faults)
