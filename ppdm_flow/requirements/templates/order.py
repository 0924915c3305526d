"""Inference templates: Lemma 3.1 of Wang, Fung, Yu (ICDM 2005) for channels and thresholds, and what supports say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import Nulls, ValuesAbsent
from ppdm_flow.policy.order.classes import MERGED, SAME, contained, unions
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate


@dataclass(frozen=True, slots=True)
class ConfidenceClaim:
    """No group over ``channel`` lets one infer the value, or not having it, with more than ``confidence``."""

    attribute: str
    value: str
    negated: bool
    channel: frozenset[str]
    confidence: float
    values_absent: ValuesAbsent = ValuesAbsent.ERROR


@dataclass(frozen=True, slots=True)
class SupportClaim:
    """No group over ``channel`` has fewer rows than ``rows``, if one of ``protected`` is released."""

    channel: frozenset[str]
    rows: int
    protected: frozenset[str]


def says(requirement: InferenceTemplate, _frame: PolicyFrame) -> Iterator[ConfidenceClaim | SupportClaim]:
    """Yield a template for each value, never their union, and the support apart; nothing before values are chosen."""
    if requirement.awaits_data:
        return
    channel = frozenset(requirement.channel)
    for attribute, value in requirement.pairs:
        shown = requirement.confidence, requirement.values_absent
        yield ConfidenceClaim(attribute, value, requirement.negated, channel, *shown)
    if requirement.smallest_group > 1:
        yield SupportClaim(channel, requirement.smallest_group, frozenset(a for a, _ in requirement.pairs))


def inferences(given: ConfidenceClaim, required: ConfidenceClaim, between: ComparedPolicies) -> str | None:
    """A group over fewer attributes mixes groups over more: its confidence is a weighted mean of theirs."""
    about = [(i.attribute, i.value, i.negated) for i in (given, required)]
    if about[0] != about[1] or given.confidence > required.confidence or not _named_alike(given, between):
        return None
    if not given.values_absent.covers(required.values_absent):
        return None
    holds = unions(given.channel, required.channel, between) or _complete(given, required, between)
    if holds is None:
        return None
    first = f"at most {given.confidence:g} is at most {required.confidence:g}"
    return first if holds == SAME else f"{first}; {holds} (Lemma 3.1)"


def supports(given: SupportClaim, required: SupportClaim, between: ComparedPolicies) -> str | None:
    """A support over more attributes, of a template that protects at least as much."""
    if (
        given.rows < required.rows
        or not given.protected >= required.protected
        or not between.certain(required.protected)
    ):
        return None
    holds = contained(given.channel, required.channel, between)
    return None if holds is None else f"groups of {given.rows} rows or more; {holds}"


def supports_of_sizes(given: KAnonymity, required: SupportClaim, between: ComparedPolicies) -> str | None:
    """Classes of k rows make groups of at least as many."""
    if given.k < required.rows:
        return None
    holds = contained(given.attributes, required.channel, between)
    return None if holds is None else f"`k_anonymity` keeps {given.k} rows together; {holds}"


def _named_alike(given: ConfidenceClaim, between: ComparedPolicies) -> bool:
    """Whether each released value that may hide the required claim's sensitive value does so in the given claim."""
    if not between.about(given.attribute):
        return False
    known = between.given.domain(given.attribute), between.asked.domain(given.attribute)
    return given.negated or (between.same_original and known[0] <= known[1])


def _complete(given: ConfidenceClaim, required: ConfidenceClaim, between: ComparedPolicies) -> str | None:
    """Without rows that lack something of the channel, the groups that are left are whole groups."""
    nulls = between.given.nulls, between.asked.nulls
    fits = (
        given.channel >= required.channel and between.same_counting and between.certain(given.channel, required.channel)
    )
    fits = fits and not between.people
    return MERGED if fits and nulls == (Nulls.OWN_CATEGORY, Nulls.EXCLUDE) else None


ORDER = Order(
    says=says,
    rules=(
        (ConfidenceClaim, ConfidenceClaim, inferences),
        (SupportClaim, SupportClaim, supports),
        (KAnonymity, SupportClaim, supports_of_sizes),
    ),
    fields=("channel", "sensitive", "confidence", "negated", "min_support", "values_absent", "chosen_by"),
    bounds=("confidence", "min_support"),
)
