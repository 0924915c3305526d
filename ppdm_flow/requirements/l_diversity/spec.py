"""The kind of requirement `l_diversity`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core import phrases
from ppdm_flow.core.asks import class_counts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Wording, larger_classes
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.order.classes import contained, unions
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.on_sensitive import Path, domain
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.sdk.spec import requirement_audit


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


def diverse(given: LDiversity, required: LDiversity, between: ComparedPolicies) -> str | None:
    """Return why classes are as diverse as asked for."""
    if given.attribute != required.attribute or not between.about(given.attribute):
        return None
    rule = contained if Diversity.DISTINCT in (given.variant, required.variant) else unions
    holds = rule(given.attributes, required.attributes, between)
    counted = _counted(given, required)
    return f"{counted}; {holds}" if holds and counted else None


def _counted(given: LDiversity, required: LDiversity) -> str | None:
    """Say why one class that keeps the one keeps the other."""
    if given.l < required.l:
        return None
    if given.variant is required.variant:
        if given.variant is Diversity.RECURSIVE and (given.c or 0.0) > (required.c or 0.0):
            return None
        return f"l of {given.l:g} is at least {required.l:g}"
    if required.variant is not Diversity.DISTINCT:
        return None
    if given.variant is Diversity.ENTROPY:
        return f"an entropy of log {given.l:g} needs at least {required.l:g} values"
    return f"values from the {given.l:g}th most frequent on are there, so that there are at least {required.l:g}"


ORDER = Order(
    rules=((LDiversity, LDiversity, diverse),),
    fields=("attribute", "l", "attributes", "variant", "c"),
    bounds=("l",),
)


AUDIT = requirement_audit(
    "l_diversity",
    "ppdm_flow.requirements.l_diversity.algorithm:LDiversityAudit",
    figures=measures,
    asks=class_counts(passes=2),
)


_FEW_VALUES = 4
_NEARLY_ONE = 0.95


def draft(facts: DraftFacts) -> Draft | None:
    """Let those who look alike have several values of every sensitive attribute."""
    entry = {c["name"]: {"l": 3 if c["distinct"] >= _FEW_VALUES else 2} for c in facts.sensitive}
    if not entry or not facts.quasi_identifiers:  # without them nobody looks alike
        return None
    reason = "Those who look alike do not all share one sensitive value."
    skewed = [f"`{c['name']}`" for c in facts.sensitive if c.get("largest_share", 0.0) >= _NEARLY_ONE]
    if skewed:
        reason += (
            f" Nearly all rows have one value of {phrases.listed(skewed)}, so that classes must be large to have"
            " another. Where only the rare values harm, `alpha_k` on these keeps more."
        )
    return Draft(reason, entry)


WORDING = Wording(
    label="l-diversity",
    clause=lambda requirement: f"l of {requirement['attribute']} ≥ {requirement['l']:g} ({requirement['variant']})",
    advice=larger_classes,
    section="What can be inferred",
    draft=draft,
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
    holds_by_rows=lambda entry: entry.get("kind", Diversity.DISTINCT) == Diversity.DISTINCT,
)
