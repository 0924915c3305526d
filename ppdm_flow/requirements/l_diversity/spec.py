"""The kind of requirement `l_diversity`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Wording, larger_classes
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.classes import contained, unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.on_sensitive import Path, domain
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.sdk.spec import Params, PluginSpec


def judge(scene: Scene, entries: Mapping[str, LDiversity]) -> Iterator[Diagnostic]:
    """Judge them (PPF580 to PPF583)."""
    return on_sensitive.judge(scene, "l_diversity", entries, _own)


def _own(scene: Scene, name: str, attribute: Attribute, model: LDiversity, path: Path) -> Iterator[Diagnostic]:
    if model.variant is Diversity.RECURSIVE and model.c is None:
        yield scene.fault("PPF583", "`kind: recursive` needs a `c`", path, at_key=True, hint="add `c: …`")
    if model.variant is not Diversity.RECURSIVE and model.c is not None:
        text = f"`c` belongs to `kind: recursive`, and this is `{model.variant.value}`"
        yield scene.fault("PPF583", text, (*path, "c"), at_key=True)
    if model.variant is not Diversity.ENTROPY and model.l != int(model.l):
        text = f"`l` counts values, and {model.l:g} is not a whole number"
        yield scene.fault("PPF583", text, (*path, "l"), hint="only `kind: entropy` takes fractions")
    if attribute.domain is not None and model.l > len(set(attribute.domain)):
        text = f"no class can have {model.l:g} values of `{short(name)}`: its domain has {len(set(attribute.domain))}"
        yield scene.fault("PPF580", text, (*path, "l"), related=domain(scene, name))


# l-diversity: more values, over more attributes; and what one way of counting says of another.
#
# The entropy is concave, and the sum of the l - 1 largest counts is subadditive, so that unions of classes keep entropy
# and recursive diversity (Machanavajjhala and others, ACM TKDD 1(1), 2007, section 4, monotonicity).


@dataclass(frozen=True, slots=True)
class DiversityClaim:
    """Every class over ``attributes`` has ``l`` well-represented values of ``attribute``."""

    attribute: str
    l: float  # noqa: E741  # the model's own letter
    variant: Diversity
    c: float
    attributes: frozenset[str]


def says(requirement: LDiversity, _frame: PolicyFrame) -> Iterator[DiversityClaim]:
    """Yield what it claims."""
    c = requirement.c if requirement.c is not None else 0.0
    yield DiversityClaim(
        requirement.attribute, requirement.l, requirement.variant, c, frozenset(requirement.attributes)
    )


def diverse(given: DiversityClaim, required: DiversityClaim, between: ComparedPolicies) -> str | None:
    """Return why classes are as diverse as asked for."""
    if given.attribute != required.attribute or not between.about(given.attribute):
        return None
    rule = contained if Diversity.DISTINCT in (given.variant, required.variant) else unions
    holds = rule(given.attributes, required.attributes, between)
    counted = _counted(given, required)
    return f"{counted}; {holds}" if holds and counted else None


def _counted(given: DiversityClaim, required: DiversityClaim) -> str | None:
    """Say why one class that keeps the one keeps the other."""
    if given.l < required.l:
        return None
    if given.variant is required.variant:
        if given.variant is Diversity.RECURSIVE and given.c > required.c:
            return None
        return f"l of {given.l:g} is at least {required.l:g}"
    if required.variant is not Diversity.DISTINCT:
        return None
    if given.variant is Diversity.ENTROPY:
        return f"an entropy of log {given.l:g} needs at least {required.l:g} values"
    return f"values from the {given.l:g}th most frequent on are there, so that there are at least {required.l:g}"


ORDER = Order(
    says=says,
    rules=((DiversityClaim, DiversityClaim, diverse),),
    fields=frozenset(
        (
            "attribute",
            "l",
            "attributes",
            "variant",
            "c",
        )
    ),
    bounds=frozenset(("l",)),
)


class LDiversityParams(Params):
    """It has none: the requirement says it all."""


AUDIT = PluginSpec(
    info=PluginInfo.of_page(
        "audits/l_diversity",
        Kind.AUDIT,
        figures=measures,
        serves=("l_diversity",),
        asks=AccessRequirements(
            DataAccess.COUNTS, {"people": DataAccess.TABLE, "together": DataAccess.TABLE}, passes=2
        ),
    ),
    params=LDiversityParams,
    algorithm="ppdm_flow.requirements.l_diversity.algorithm:LDiversityAudit",
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    return f"l of {requirement['attribute']} ≥ {requirement['l']:g} ({requirement['variant']})"


_FEW_VALUES = 4


def draft(facts: DraftFacts) -> Draft | None:
    """Let those who look alike have several values of every sensitive attribute."""
    entry = {c["name"]: {"l": 3 if c["distinct"] >= _FEW_VALUES else 2} for c in facts.sensitive}
    if not entry or not facts.quasi_identifiers:  # without them nobody looks alike
        return None
    return Draft("Those who look alike do not all share one sensitive value.", entry)


WORDING = Wording(
    label="l-diversity", clause=clause, advice=larger_classes, section="What can be inferred", draft=draft
)


SPEC = RequirementSpec(
    name="l_diversity",
    requirement=LDiversity,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.l_diversity.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=70,
    aliases=("ldiversity", "diversity"),
)
