"""Order of LKC-privacy: more known attributes, larger groups, lower shares; and how it relates to whole classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Nulls, ValuesAbsent
from ppdm_flow.policy.order.claim import OpaqueClaim
from ppdm_flow.policy.order.classes import contained, unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.requirements.alpha_k.spec import ShareClaim
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.lkc.requirement import LKC


@dataclass(frozen=True, slots=True)
class LkcClaim:
    """A bound on group size: an adversary who knows at most ``l`` of ``attributes`` finds at least ``k`` rows."""

    l: int  # noqa: E741  # the model's own letter
    k: int
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class KnownShare:
    """A bound on shares: of the rows that the adversary finds, at most a share ``c`` has one of ``values``."""

    l: int  # noqa: E741  # the model's own letter
    c: float
    attribute: str
    values: frozenset[str]
    attributes: frozenset[str]
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


def says(requirement: LKC, _frame: PolicyFrame) -> Iterator[LkcClaim | KnownShare | OpaqueClaim]:
    """Yield the group's size, and the share of each attribute's values together; nobody knows what is sensitive."""
    known = frozenset(requirement.attributes) - {a for a, _ in requirement.pairs}
    if requirement.c is None and requirement.pairs:
        yield OpaqueClaim(requirement.kind, repr((requirement.l, requirement.k, sorted(known), requirement.pairs)))
        return
    yield LkcClaim(requirement.l, requirement.k, known)
    if requirement.c is not None:
        for attribute in dict.fromkeys(a for a, _ in requirement.pairs):
            values = frozenset(value for a, value in requirement.pairs if a == attribute)
            yield KnownShare(requirement.l, requirement.c, attribute, values, known, requirement.values_absent)


def known(given: LkcClaim, required: LkcClaim, between: ComparedPolicies) -> str | None:
    """Return why one claim implies another: an adversary who may know more finds fewer rows."""
    if given.l < required.l or given.k < required.k or not _nested(given.attributes, required.attributes, between):
        return None
    return f"knowing {given.l} finds {given.k}, so knowing {required.l} finds {required.k}"


def known_shares(given: KnownShare, required: KnownShare, between: ComparedPolicies) -> str | None:
    """The same of shares, and some of the values are no more of the rows than all.

    With rows in several groups, or in none, of the very same attributes only.
    """
    same = given.attribute == required.attribute and between.about(given.attribute)
    about = same and given.values >= required.values
    if (
        not about
        or given.l < required.l
        or given.c > required.c
        or not given.values_absent.covers(required.values_absent)
    ):
        return None
    nested = _nested(given.attributes, required.attributes, between)
    if not nested or (between.given.nulls is not Nulls.OWN_CATEGORY and given.attributes != required.attributes):
        return None
    return (
        f"at most {given.c:g} is at most {required.c:g}, and {given.l} known attributes are no fewer than {required.l}"
    )


def of_sizes(given: KAnonymity, required: LkcClaim, between: ComparedPolicies) -> str | None:
    """Return why classes of k rows imply it: knowing less finds no fewer, unless unknown attributes link rows."""
    if between.asked.nulls is Nulls.EXCLUDE or given.k < required.k or between.people:
        return None
    holds = contained(given.attributes, required.attributes, between)
    return None if holds is None else f"`k_anonymity` keeps {given.k} rows together; {holds}"


def of_shares(given: ShareClaim, required: KnownShare, between: ComparedPolicies) -> str | None:
    """A share that no whole class exceeds is exceeded by no union of them; m values have at most m such shares.

    Of people more can have a value in any of their rows of a union.
    """
    if between.people:
        return None
    many = len(required.values)
    about = given.attribute == required.attribute and (given.value is None or required.values == {given.value})
    if not about or given.alpha * many > required.c or between.given.nulls is not Nulls.OWN_CATEGORY:
        return None
    if not given.values_absent.covers(required.values_absent):
        return None
    holds = unions(given.attributes, required.attributes, between) if between.about(given.attribute) else None
    kept = f"`alpha_k` keeps {'shares' if many == 1 else f'each of {many} shares'} at {given.alpha:g}"
    return None if holds is None else f"{kept}; {holds}"


def to_sizes(given: LkcClaim, required: KAnonymity, between: ComparedPolicies) -> str | None:
    """Return why it implies classes of k rows: with ``l`` as large as their attributes, all of these may be known."""
    grouping = frozenset(required.attributes)
    few = len(grouping) <= given.l and between.certain(given.attributes, grouping)
    plain = not _patterned(grouping)
    if not few or not plain or given.k < required.k or not _nested(given.attributes, grouping, between):
        return None
    return f"all {len(grouping)} attributes are among the {given.l} that may be known"


def _patterned(names: frozenset[str]) -> bool:
    return any(mark in name for name in names for mark in "*?[")


def _nested(given: frozenset[str], required: frozenset[str], between: ComparedPolicies) -> bool:
    """Whether all that the required clause lets be known is known in the given one, in the same or finer groups."""
    alike = between.given.nulls is between.asked.nulls or unions(given, required, between) is not None
    return alike and between.same_counting and given >= required and between.certain(given, required)


ORDER = Order(
    says=says,
    rules=(
        (LkcClaim, LkcClaim, known),
        (KnownShare, KnownShare, known_shares),
        (KAnonymity, LkcClaim, of_sizes),
        (ShareClaim, KnownShare, of_shares),
        (LkcClaim, KAnonymity, to_sizes),
    ),
    fields=("l", "k", "attributes", "c", "sensitive", "values_absent"),
)
