"""The kind of requirement `alpha_k`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppdm_flow.core.asks import class_counts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.policy.order.classes import bounded
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.on_sensitive import Path, domain
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.sdk.spec import requirement_audit


def judge(scene: Scene, entries: Mapping[str, AlphaK]) -> Iterator[Diagnostic]:
    """Judge them (PPF580 to PPF583)."""
    yield from on_sensitive.judge(scene, "alpha_k", entries, _own)
    if entries and not scene.policy.privacy.entries("k_anonymity") and not scene.lacks("privacy"):
        text = "`alpha_k` bounds shares alone: the k of (alpha, k)-anonymity is `k_anonymity`, which is not asked for"
        yield scene.fault(
            "PPF583", text, ("privacy", "alpha_k"), at_key=True, warning=True, hint="add `k_anonymity: {k: …}`"
        )


def _own(scene: Scene, name: str, attribute: Attribute, model: AlphaK, path: Path) -> Iterator[Diagnostic]:
    if model.alpha >= 1.0:
        yield scene.fault("PPF582", "no share exceeds 1, so this bound holds of any data", (*path, "alpha"))
    place = (*path, "values")
    yield from repeats(scene, model.values, place, "`values`")
    for i, value in enumerate(model.values):
        if value == SUPPRESSED:
            yield suppressed(scene, (*place, str(i)))
    yield from scene.values(attribute, name, [(v, (*place, str(i))) for i, v in enumerate(model.values)])
    values = len(set(attribute.domain or ()))
    if values and not model.values and model.alpha * values < 1.0:
        text = f"of {values} values one has a share of at least 1/{values}, so no class keeps {model.alpha:g}"
        yield scene.fault("PPF580", text, (*path, "alpha"), related=domain(scene, name))


# Bounds on the share of a value: a lower one, of more values, over more attributes.


@dataclass(frozen=True, slots=True)
class ShareClaim:
    """In no class is the share of ``value`` above ``alpha``; of any value, where it is None."""

    attribute: str
    value: str | None
    alpha: float
    attributes: frozenset[str]
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


def says(requirement: AlphaK, _frame: PolicyFrame) -> Iterator[ShareClaim]:
    """Yield what alpha claims: of each value that it names, or of any."""
    for value in requirement.values or (None,):
        absent = requirement.values_absent if requirement.values else ValuesAbsent.ERROR
        yield ShareClaim(requirement.attribute, value, requirement.alpha, frozenset(requirement.attributes), absent)


def shares(given: ShareClaim, required: ShareClaim, between: ComparedPolicies) -> str | None:
    """A bound on all values is one on each, and a lower one is a higher one."""
    if given.value not in (None, required.value) or not given.values_absent.covers(required.values_absent):
        return None
    return bounded(given, required, given.alpha, required.alpha, between)


ORDER = Order(
    says=says,
    rules=((ShareClaim, ShareClaim, shares),),
    fields=("attribute", "alpha", "attributes", "values", "values_absent"),
    bounds=("alpha",),
)


AUDIT = requirement_audit(
    "alpha_k", "ppdm_flow.requirements.alpha_k.algorithm:AlphaKAudit", figures=measures, asks=class_counts(passes=2)
)


WORDING = Wording(
    label="(α, k)-anonymity",
    clause=lambda requirement: f"share of a value of {requirement['attribute']} ≤ {requirement['alpha']:g}",
    advice=larger_classes,
    section="What can be inferred",
)


SPEC = RequirementSpec(
    name="alpha_k",
    requirement=AlphaK,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.alpha_k.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=90,
    holds_by_rows=lambda _entry: True,
)
