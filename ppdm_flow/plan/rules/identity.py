"""Identifiers and subjects."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Diagnostic, Related
from ppdm_flow.core.roles import Role
from ppdm_flow.core.successive import CumulativeK, FirstDraw
from ppdm_flow.plan.rules.ground import Ground

_REPLACED = (Change.PSEUDONYMIZED, Change.GENERALIZED)


def surviving_identifiers(ground: Ground) -> Iterator[Diagnostic]:
    """An identifier is dropped unless a step asks for it; one that a step took along must have been replaced."""
    for release, fact in ground.published():
        if fact.role not in (Role.IDENTIFIER, Role.SUBJECT) or fact.was(*_REPLACED):
            continue
        named = f"`{fact.source}`" if fact.name == fact.source else f"`{fact.source}`, now named `{fact.name}`,"
        declared = ground.declared(fact)
        yield Diagnostic(
            "PPF550",
            f"the {fact.role} {named} reaches release `{release.name}`",
            ground.origin(release),
            help="drop it, or replace it with `pseudonymize` or `generalize`",
            related=(Related(declared, "declared here"),) if declared else (),
        )


def uncounted_subjects(ground: Ground) -> Iterator[Diagnostic]:
    """Groups are counted in rows; where a person has several rows, that overstates how many people there are."""
    subjects = [name for name, a in ground.policy.attributes.items() if a.role is Role.SUBJECT]
    for requirement in ground.plan.requirements if subjects else ():
        if isinstance(requirement, CumulativeK | FirstDraw):  # these count people
            continue
        yield Diagnostic(
            "PPF562",
            f"`{requirement.id}` counts rows, but `{subjects[0]}` says that a person can have several",
            requirement.span,
            help="aggregate to a row a person first; counting by subject is not supported",
        )
