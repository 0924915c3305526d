"""The kind of requirement `interval_disclosure`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Draft, DraftFacts, Failure, Wording, listed, stronger_steps
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.marks import order_by_marks
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.policy.text.quoting import plain_or_quoted
from ppdm_flow.requirements.interval_disclosure.requirement import AUDIT, IntervalDisclosure

_NUMBERS = ("integer", "float")

_NO_NUMBERS = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.ITEMS)


def judge(scene: Scene, entries: Mapping[str, IntervalDisclosure]) -> Iterator[Diagnostic]:
    """Judge them (PPF500, PPF502, PPF582, PPF599)."""
    for name, clause in entries.items():
        path = entry_path("interval_disclosure", name)
        attribute, faults = scene.attribute(name, path, at_key=True)
        yield from faults
        kind = AttributeType.FLOAT
        if attribute is not None:
            kind = attribute.type
            if attribute.role in _NO_NUMBERS:
                yield scene.unfit(name, attribute.role, path, "protected as a number", at_key=True)
            elif not kind.is_numeric:
                text = f"`{short(name)}` holds texts, and nothing says how far one is from another"
                hint = "give the attribute `type: integer`, `float`, `date` or `timestamp`"
                declared = ("attributes", scene.declared.key(name) or name)
                yield scene.fault(
                    "PPF599", text, path, at_key=True, hint=hint, related=scene.related(declared, "declared here")
                )
        text = clause.width.fault(kind)
        if text:
            yield scene.fault("PPF599", text, (*path, "width"), at_key=True)
        if clause.max >= 1.0:
            yield scene.fault("PPF582", "no share exceeds 1, so this bound holds of any data", (*path, "max"))


# Interval disclosure: fewer rows within a width that is no smaller.


def _alike(given: IntervalDisclosure, _required: IntervalDisclosure, between: ComparedPolicies) -> bool:
    return between.same_original and between.same_type(given.attribute)


def _why(given: IntervalDisclosure, required: IntervalDisclosure, _between: ComparedPolicies) -> str:
    widths = given.width.size, required.width.size
    return f"at most {given.max:g} within {widths[0]:g} is at most {required.max:g} within {widths[1]:g}"


ORDER = order_by_marks(IntervalDisclosure, alike=_alike, why=_why)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    form, size = next(iter(requirement["width"].items()), ("", 0.0))
    return f"{requirement['attribute']} within {size:g} ({form}) in ≤ {requirement['max']:g} of rows"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    name = failure.requirement["attribute"]
    last = (
        f" Where the sentence says that the median alone is nearer than the bound allows, no change of the numbers"
        f" helps: drop `{name}`, or let the owner of the policy decide whether so wide an interval harms anybody."
    )
    if stronger := stronger_steps(failure, [name]):
        return f"Let the steps change the numbers more: write {listed(stronger)}.{last}"
    if failure.changing.get(name):
        return f"Let the steps change `{name}` more, or drop columns that are computed from the original numbers.{last}"
    numbers = f"attributes: [{plain_or_quoted(name)}]"
    bound = max(0.1, failure.requirement["max"])
    return (
        f"No step changes `{name}`: add `exchange: {{use: rank_swap, with: {{{numbers}, percent: {10 / bound:.0f}}}}}`"
        " before the release, which exchanges each number with one up to so many ranks away and keeps the"
        f" distribution, or `noise: {{use: add_noise, with: {{{numbers}, scale: {0.25 / bound:.2g}}}}}`.{last}"
    )


_MANY_VALUES = 20
"""Numbers with fewer values are categories rather: those who look alike shall have several of them."""


def draft(facts: DraftFacts) -> Draft | None:
    """Show a bound on exact numbers of sensitive attributes; how near is too near, somebody has to say."""
    exact = [c["name"] for c in facts.sensitive if c["type"] in _NUMBERS and c["distinct"] >= _MANY_VALUES]
    reason = "Where exact numbers harm, or find a row, few may stay near the original (with the steps on them below):"
    return Draft(reason, {name: {"width": {"sd": 0.1}, "max": 0.5} for name in exact}, comment=True) if exact else None


WORDING = Wording(
    label="Interval disclosure",
    clause=clause,
    advice=advice,
    section="Numbers near the original ones",
    draft=draft,
)


SPEC = RequirementSpec(
    name="interval_disclosure",
    requirement=IntervalDisclosure,
    entries=Entries.BY_ATTRIBUTE,
    order="ppdm_flow.requirements.interval_disclosure.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=145,
)
