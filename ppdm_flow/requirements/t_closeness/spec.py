"""The kind of requirement `t_closeness`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.asks import class_counts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.wording import Wording, larger_classes
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.on_sensitive import Path, domain
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.spec import requirement_audit

# What can be wrong with clauses on t-closeness.


def judge(scene: Scene, entries: Mapping[str, TCloseness]) -> Iterator[Diagnostic]:
    """Judge them (PPF501, PPF582, PPF584)."""
    return on_sensitive.judge(scene, "t_closeness", entries, _own)


def _own(scene: Scene, name: str, attribute: Attribute, model: TCloseness, path: Path) -> Iterator[Diagnostic]:
    if model.t >= 1.0:
        yield scene.fault("PPF582", "no distance exceeds 1, so this bound holds of any data", (*path, "t"))
    yield from _order(scene, name, attribute, model, path)


def _order(scene: Scene, name: str, attribute: Attribute, model: TCloseness, path: Path) -> Iterator[Diagnostic]:
    if model.order:
        place = (*path, "order")
        yield from repeats(scene, model.order, place, "`order`", warning=False)
        yield from scene.values(attribute, name, [(v, (*place, str(i))) for i, v in enumerate(model.order)])
        if model.distance is not Distance.ORDERED:
            text = "an `order` has no use with `distance: equal`"
            yield scene.fault("PPF584", text, place, at_key=True, hint="say `distance: ordered`")
        lost = [v for v in attribute.domain or () if v not in model.order]
        if lost:
            text = f"`order` lacks {len(lost)} of the {len(attribute.domain or ())} values of the domain"
            yield scene.fault("PPF584", text, place, at_key=True, related=domain(scene, name))
    elif model.distance is Distance.ORDERED and attribute.type is AttributeType.TEXT and attribute.domain is None:
        text = f"nothing says in which order the values of `{short(name)}` are"
        hint = "give `order: [lowest, …, highest]`, or the attribute's `type`"
        yield scene.fault("PPF584", text, (*path, "distance"), hint=hint)


AUDIT = requirement_audit(
    "t_closeness",
    "ppdm_flow.requirements.t_closeness.algorithm:TClosenessAudit",
    figures=measures,
    asks=class_counts(passes=2),
)


WORDING = Wording(
    label="t-closeness",
    clause=lambda requirement: f"t of {requirement['attribute']} ≤ {requirement['t']:g} ({requirement['distance']})",
    advice=larger_classes,
    section="What can be inferred",
)


SPEC = RequirementSpec(
    name="t_closeness",
    requirement=TCloseness,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.t_closeness.order:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=80,
    aliases=("tcloseness", "closeness"),
    mixes=False,
)
