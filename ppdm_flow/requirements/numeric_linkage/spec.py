"""The kind of requirement `numeric_linkage`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.wording import Failure, Wording, listed, stronger_steps
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.policy.text.quoting import plain_or_quoted
from ppdm_flow.requirements.numeric_linkage.requirement import AUDIT, NumericLinkage

_NO_NUMBERS = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.ITEMS)

_NO_KEYS = (Role.WEIGHT, Role.ITEMS)


def judge(scene: Scene, entries: Mapping[str, NumericLinkage]) -> Iterator[Diagnostic]:
    """Judge them (PPF500, PPF502, PPF582, PPF583, PPF599)."""
    for name, clause in entries.items():
        path = entry_path("numeric_linkage", name)
        yield from repeats(scene, clause.attributes, (*path, "attributes"), "`attributes`")
        types: list[AttributeType] = []
        for i, each in enumerate(clause.attributes):
            here = (*path, "attributes", str(i))
            attribute, faults = scene.attribute(each, here)
            yield from faults
            if attribute is not None and attribute.role in _NO_NUMBERS:
                yield scene.unfit(each, attribute.role, here, "a number that people are found by")
            elif attribute is not None:
                types.append(attribute.type)
        if types and len(types) == len(clause.attributes) and not any(kind.is_numeric for kind in types):
            text = "no attribute holds numbers, so groups of equal values say as much: nothing here is near"
            hint = "give one the `type: integer`, `float`, `date` or `timestamp`, or ask for `k_anonymity`"
            yield scene.fault("PPF599", text, (*path, "attributes"), at_key=True, hint=hint)
        yield from _known(scene, clause, path)
        bounds = {"max": clause.max if clause.max_excess is None else 0.0, "max_excess": clause.max_excess or 0.0}
        for key in (key for key, bound in bounds.items() if bound >= 1.0):
            yield scene.fault("PPF582", "no share exceeds 1, so this bound holds of any data", (*path, key))


def _known(scene: Scene, clause: NumericLinkage, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Judge the key of a file of people whom the intruder knows."""
    if (clause.against is None) != (clause.key is None):
        hint = "`key` is an attribute of the source and a column of the file, by which both are of one person"
        said = (*path, "key" if clause.against is None else "against")
        yield scene.fault("PPF583", "`against` and `key` go together", said, at_key=True, hint=hint)
    if clause.key is None:
        return
    attribute, faults = scene.attribute(clause.key, (*path, "key"))
    yield from faults
    if attribute is not None and attribute.role in _NO_KEYS:
        yield scene.unfit(clause.key, attribute.role, (*path, "key"), "what people are identified by")


# Numeric linkage: fewer records found, in all or beyond chance, with no fewer candidates, by the same attributes.


@dataclass(frozen=True, slots=True)
class IntruderClaim:
    """Whom the intruder looks for by which ``attributes``: a ``sample`` of the source's records, or of a file's."""

    attributes: frozenset[str]
    sample: int
    against: str | None
    key: str | None


@dataclass(frozen=True, slots=True)
class CandidatesClaim:
    """At most a share ``max`` of records is among so many ``candidates``."""

    known: IntruderClaim
    candidates: int
    max: float


@dataclass(frozen=True, slots=True)
class NoBetterThanChance:
    """An intruder who names up to ``candidates`` rows finds at most a share ``max`` of what chance misses."""

    known: IntruderClaim
    candidates: int
    max: float


@dataclass(frozen=True, slots=True)
class NoNearerThanOthers:
    """At most a share ``max`` of what people of the file ``control`` lack is nearer in those of the source."""

    known: IntruderClaim
    control: str
    max: float


Found = CandidatesClaim | NoBetterThanChance
Claim = Found | NoNearerThanOthers


def says(requirement: NumericLinkage, _frame: PolicyFrame) -> Iterator[Claim]:
    """Yield what it claims."""
    known = IntruderClaim(frozenset(requirement.attributes), requirement.sample, requirement.against, requirement.key)
    yield CandidatesClaim(known, requirement.candidates, requirement.max)
    if requirement.max_excess is not None:
        yield NoBetterThanChance(known, requirement.candidates, requirement.max_excess)
        if requirement.control is not None:
            yield NoNearerThanOthers(known, requirement.control, requirement.max_excess)


def unlinked(given: CandidatesClaim, required: CandidatesClaim, between: ComparedPolicies) -> str | None:
    """Return why fewer are found: one of few candidates is one of more; other attributes say nothing."""
    if not _comparable(given, required, between) or given.max > required.max:
        return None
    return f"at most {given.max:g} among {given.candidates} is at most {required.max:g} among {required.candidates}"


def no_better(given: NoBetterThanChance, required: NoBetterThanChance, between: ComparedPolicies) -> str | None:
    """Return why no more is found beyond chance: every number of candidates up to the larger one is bounded."""
    if not _comparable(given, required, between) or given.max > required.max:
        return None
    return f"at most {given.max:g} beyond chance for up to {given.candidates} rows is at most {required.max:g}"


def beyond_chance(given: CandidatesClaim, required: NoBetterThanChance, between: ComparedPolicies) -> str | None:
    """Return why no more is found beyond chance: (share - chance) / (1 - chance) is at most the share."""
    if not _comparable(given, required, between) or given.max > required.max or given.max >= 1.0:
        return None
    return f"at most {given.max:g} in all is at most {required.max:g} beyond chance"


def no_nearer(given: NoNearerThanOthers, required: NoNearerThanOthers, between: ComparedPolicies) -> str | None:
    """Return why no more is nearer: the same people are compared with the same others."""
    if not _alike(given, required, between) or given.max > required.max:
        return None
    if not between.same_file(given.control, required.control):
        return None
    return f"at most {given.max:g} beyond the same control group is at most {required.max:g}"


def _comparable(given: Found, required: Found, between: ComparedPolicies) -> bool:
    return _alike(given, required, between) and given.candidates >= required.candidates


def _alike(given: Claim, required: Claim, between: ComparedPolicies) -> bool:
    one, other = given.known, required.known
    same = one.attributes == other.attributes and one.sample == other.sample and one.key == other.key
    types = all(map(between.same_type, other.attributes))
    alike = between.certain(one.attributes) and between.same_original and types
    return same and alike and between.same_file(one.against, other.against)


ORDER = Order(
    says=says,
    rules=(
        (CandidatesClaim, CandidatesClaim, unlinked),
        (NoBetterThanChance, NoBetterThanChance, no_better),
        (CandidatesClaim, NoBetterThanChance, beyond_chance),
        (NoNearerThanOthers, NoNearerThanOthers, no_nearer),
    ),
    fields=("attributes", "against", "candidates", "control", "key", "max", "max_excess", "sample"),
)


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    most = requirement.get("max_excess")
    beyond = "" if most is None else f", beyond chance ≤ {most:g}"
    whom = "" if requirement.get("against") is None else f" of {requirement['against']}"
    return f"found by {', '.join(requirement['attributes'])}{whom} ≤ {requirement['max']:g}{beyond}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    known = failure.requirement["attributes"]
    names = listed([f"`{name}`" for name in known])
    if stronger := stronger_steps(failure, known):
        return f"Let the steps change the numbers more: write {listed(stronger)}. Or release fewer of {names}."
    if any(failure.changing.get(name) for name in known):
        return f"Let the steps change the numbers of {names} more, or drop some of these columns from the release."
    numbers = f"attributes: [{', '.join(map(plain_or_quoted, known))}]"
    bounds = (failure.requirement.get("max"), failure.requirement.get("max_excess"))
    k = math.ceil(1.5 / max(0.01, min((bound for bound in bounds if bound), default=1.0)))
    return (
        f"No step changes the numbers: add `exchange: {{use: rank_swap, with: {{{numbers}, percent: 20}}}}` before the"
        " release, which exchanges each number with one up to so many ranks away, or `average: {use: microaggregation,"
        f" with: {{{numbers}, k: {max(5, k)}}}}}`, which replaces them by means of groups. Or drop some of these"
        " columns."
    )


WORDING = Wording(label="Numeric linkage", clause=clause, advice=advice, section="Records found by their numbers")


SPEC = RequirementSpec(
    name="numeric_linkage",
    requirement=NumericLinkage,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.numeric_linkage.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=146,
    files=(("control",), ("against",)),
)
