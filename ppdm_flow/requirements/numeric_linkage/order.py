"""Numeric linkage: fewer records found, in all or beyond chance, with no fewer candidates, by the same attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.policy.order.claim import Order
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage


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
    """At most a share ``max`` of what chance misses is found, by whoever names up to so many ``candidates``."""

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
    """Return why fewer are found: whoever is among few candidates is among more; other attributes say nothing."""
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
    types = all(between.given.type(a) is between.asked.type(a) for a in other.attributes)
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
    fields=frozenset(("attributes", "against", "candidates", "control", "key", "max", "max_excess", "sample")),
)
