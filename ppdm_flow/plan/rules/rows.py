"""Identifiers and subjects, held-out rows, and weights, which count people."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.plan.definition import ReleaseNode, StepNode
from ppdm_flow.plan.flow import by_name
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow

_PERSONAL = (Role.IDENTIFIER, Role.SUBJECT)


def surviving_identifiers(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """An identifier is dropped unless a step asks for it; what is computed from one needs a secret key."""
    source = by_name(flow.plan.source.attributes)
    for release, fact in flow.published():
        for name in sorted(fact.lineage.computed_from - fact.lineage.keyed):
            person = source.get(name)
            if person is not None and person.role in _PERSONAL:
                yield _surviving(flow, release, fact, person)


def _surviving(flow: CompiledFlow, release: ReleaseNode, fact: AttributeFacts, person: AttributeFacts) -> Diagnostic:
    declared = flow.declared(person)
    named = f"`{person.name}`"
    if fact.source != person.name:
        named = f"{named} is what `{fact.name}` is computed from, which"
    elif fact.name != person.name:
        named = f"{named}, now named `{fact.name}`,"
    return Diagnostic(
        "PPF550",
        f"the {person.role} {named} reaches release `{release.name}`",
        flow.origin(release),
        help="drop it, or replace it with `pseudonymize`: other values for it, one by one, identify as well",
        related=(RelatedPlace(declared, "declared here"),) if declared else (),
    )


def uncounted_subjects(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Groups are counted in rows; where a person has several rows, that overstates how many people there are."""
    people = flow.plan.people
    for requirement in flow.plan.requirements if people is not None else ():
        if people is None or requirement.successive or requirement.counts_people:
            continue
        yield Diagnostic(
            "PPF562",
            f"`{requirement.id}` counts rows, but `{people.subject}` says that a person can have several",
            requirement.span,
            help="bring the table to a row for each person first: this kind of requirement cannot count people",
        )


def uncounted_wildcards(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Where a missing value may be any, rows have no classes that several known ones could be looked up in."""
    people = flow.plan.people
    if people is None or flow.plan.nulls is not Nulls.WILDCARD:
        return
    linked = any(people.subject in fact.lineage.computed_from for r in flow.plan.releases for fact in r.attributes)
    for requirement in flow.plan.requirements:
        if requirement.counts_people and requirement.on_groups and (linked or _of_several(requirement, people)):
            why = "rows leave with a pseudonym" if linked else f"`known_rows` is {people.written}"
            yield Diagnostic(
                "PPF579",
                f"`{requirement.id}` cannot be measured with `nulls: wildcard` where {why}, so nothing is released",
                requirement.span,
                severity=Severity.WARNING,
                help="say `nulls: own_category`, or release no pseudonym and say `known_rows: 1`",
            )


def _of_several(requirement: Requirement, people: PeopleCount) -> bool:
    return people.known_rows != 1 and requirement.bounds_confidence


def other_rows(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A step that holds out rows of the source, and reads rows of other numbers."""
    for step in flow.plan.steps:
        before = flow.plan.upstream(step.name)[:-1]
        cause = next((s for s in before if s.effect.rows == "generated" or s.expands), None)
        if not step.effect.holds_out or cause is None:
            continue
        yield Diagnostic(
            "PPF743",
            f"step `{step.name}` holds out rows of the source, and does not read them: {_why(cause)}",
            flow.places.value("steps", step.name, "with", "holdout") or flow.use(step.name),
            help="take the generator before it, or leave `holdout` out",
        )


def _why(cause: StepNode) -> str:
    if cause.effect.rows == "generated":
        return f"step `{cause.name}` made other ones"
    return f"step `{cause.name}` writes each weighted row out, under numbers of its own"


def changed_weights(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A group of one that is rounded to five would be measured as five people."""
    for step in flow.plan.steps:
        for fact in step.attributes:
            change = next((c for s, c in fact.changes if s == step.name), None)
            if fact.role is Role.WEIGHT and change is not None and step.name in flow.clean:
                declared = flow.declared(fact)
                yield Diagnostic(
                    "PPF563",
                    f"`{fact.source}` holds the weights of rows, and step `{step.name}` leaves it {change}",
                    flow.use(step.name),
                    help="groups would be measured by changed numbers of people: drop it, or leave it as it is",
                    related=(RelatedPlace(declared, "declared here"),) if declared else (),
                )
