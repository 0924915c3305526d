"""In which of the cases of a plugin's card a step or an audit of a plan is, and which columns it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import Role
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode, StepNode
from ppdm_flow.plan.together import read_together


def of_columns(plan: Plan, columns: Iterable[AttributeFacts]) -> frozenset[str]:
    """Return the cases that the columns are in, and whether people are counted."""
    return frozenset(_of_columns(plan, tuple(columns)))


def _of_columns(plan: Plan, columns: tuple[AttributeFacts, ...]) -> Iterator[str]:
    if plan.people is not None or any(a.role is Role.SUBJECT for a in plan.source.attributes):
        yield "people"
    if any(a.is_numeric for a in columns):
        yield "numbers"
    if any(a.role is Role.ITEMS for a in columns):
        yield "sets"
    if any(a.role is Role.WEIGHT for a in columns):
        yield "weights"


def of_release(plan: Plan, release: ReleaseNode) -> frozenset[str]:
    """Return the cases that audits of a release are in."""
    cases = of_columns(plan, (*plan.source.attributes, *release.attributes))
    hides = any(a.lineage.hidden_by or a.lineage.moved_by for a in release.attributes)
    return cases | {"together"} if hides or others(plan, release) else cases


def others(plan: Plan, release: ReleaseNode) -> int:
    """Return how many other releases may be read with it, of those whose rows are people's."""
    if not read_together(plan) or is_generated(release):
        return 0
    return sum(not is_generated(other) for other in plan.releases if other.name != release.name)


def is_generated(release: ReleaseNode) -> bool:
    """Whether the rows of a release are nobody's."""
    return bool(release.attributes) and all(a.was(Change.GENERATED) for a in release.attributes)


def held_after(plan: Plan, reference: str) -> bool:
    """Whether the driver holds, or makes, the rows at a place: a step on the way took them all."""
    return any(takes_all(node) for node in plan.upstream(reference))


def takes_all(node: StepNode) -> bool:
    """Whether a step takes the whole table, or makes rows."""
    info = node.bound.info
    return info.kind in (Kind.TABLE, Kind.GENERATOR) or info.asks.takes_the_table(node.bound.document)


def columns_of(plan: Plan, node: AuditNode, release: ReleaseNode) -> tuple[AttributeFacts, ...]:
    """Return the columns of a release that an audit reads at the most: of requirements those that they are about."""
    if not node.requirements:
        return release.attributes
    named: set[str] = set()
    for requirement in node.requirements:
        named |= {*requirement.grouping, *requirement.secrets, *requirement.numbers}
    subject = () if plan.people is None else (plan.people.subject,)
    own = tuple(a for a in release.attributes if a.lineage.computed_from & {*named, *subject} or a.name in named)
    return own or release.attributes
