"""Attributes that steps made of others: whoever knows those knows these, so requirements count them as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ppdm_flow.core.anonymity import LKC, AlphaK, BetaLikeness, DeltaDisclosure, LDiversity, TCloseness
from ppdm_flow.core.requirements import KAnonymity, Requirement, Template
from ppdm_flow.core.roles import Role
from ppdm_flow.plan.definition import SOURCE, AuditNode, ReleaseNode, StepNode

Counting = KAnonymity | LDiversity | TCloseness | AlphaK | DeltaDisclosure | BetaLikeness | LKC
Derived = tuple[str, frozenset[str]]
"""The name of an attribute, and those (by their names in the source) that it was made of."""


def counted(
    audits: Iterable[AuditNode], releases: Iterable[ReleaseNode], steps: Mapping[str, StepNode]
) -> tuple[AuditNode, ...]:
    """Return the audits with derived quasi-identifiers added to what their requirements count.

    A class id that is released without the attributes it was made of still says who is in which class.
    """
    known = {release.name: tuple(_derived(release, steps)) for release in releases}
    return tuple(
        replace(audit, requirements=tuple(_extended(r, known.get(audit.release, ())) for r in audit.requirements))
        for audit in audits
    )


def _derived(release: ReleaseNode, steps: Mapping[str, StepNode]) -> Iterator[Derived]:
    """Yield the quasi-identifiers of a release that a step on the way to it added."""
    there = {fact.source for fact in release.attributes if fact.role is Role.QUASI_IDENTIFIER}
    at = release.input
    while at != SOURCE and (step := steps.get(at.partition(".")[0])) is not None:
        source = {fact.name: fact.source or fact.name for fact in step.attributes}
        made_of = frozenset(source.get(name, name) for name in step.effect.reads)
        yield from ((fact.source, made_of) for fact in step.effect.adds if fact.source in there and made_of)
        at = step.input


def _extended(requirement: Requirement, derived: tuple[Derived, ...]) -> Requirement:
    if isinstance(requirement, Template):
        return replace(requirement, channel=_more(requirement.channel, derived))
    if isinstance(requirement, Counting):
        reach = requirement.l if isinstance(requirement, LKC) else None
        return replace(requirement, attributes=_more(requirement.attributes, derived, reach))
    return requirement


def _more(own: tuple[str, ...], derived: tuple[Derived, ...], reach: int | None = None) -> tuple[str, ...]:
    """Add what follows from ``own``, or from at most ``reach`` of them where nobody knows more."""
    known = [name for name, made_of in derived if made_of <= set(own) and (reach is None or len(made_of) <= reach)]
    return tuple(dict.fromkeys((*own, *known)))
