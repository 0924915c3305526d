"""Names of a policy: those that reports show wherever they come from, and those that metrics could not tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.policy.language.kinds import Entries
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.requirements import specs_of


def clashes(policy: Policy, implicit: Iterable[str], places: ResolvedPlaces) -> list[Diagnostic]:
    """Return a fault for each audit whose name is also a step's, and each name that an implicit audit needs."""
    diagnostics = []
    for name in policy.audits:
        if name in policy.steps:
            span = places.key("steps", name)
            related = (RelatedPlace(span, f"step `{name}`"),) if span else ()
            text = f"`{name}` is the name of a step and of an audit: their figures could not be told apart"
            diagnostics.append(Diagnostic("PPF616", text, places.key("audits", name), related=related))
    reserved = {*implicit, "privacy", "gates"}
    for section, entries in (("steps", policy.steps), ("audits", policy.audits)):
        for name in entries:
            if name in reserved:
                text = f"`{name}` is the name of an audit that runs by itself: its figures could not be told apart"
                diagnostics.append(Diagnostic("PPF616", text, places.key(section, name)))
    return diagnostics


def names_of(policy: Policy) -> frozenset[str]:
    """Return the names of columns, steps, audits, gates, releases, plugins, files and roles that sign."""
    return frozenset(_names(policy))


def _names(policy: Policy) -> Iterator[str]:
    yield policy.name
    measured = (policy.audits, policy.analyses, policy.gates, policy.waivers)
    for entries in (policy.attributes, policy.steps, *measured, policy.releases):
        yield from entries
    for spec in specs_of(policy):
        yield from policy.privacy.entries(spec.name) if spec.entries is Entries.BY_NAME else ()
    yield from (step.use for step in policy.steps.values())
    yield from (audit.use for audit in policy.audits.values())
    yield from filter(None, (policy.source.path, policy.source.format, *(policy.source.columns or ())))
    for release in policy.releases.values():
        yield from filter(None, (release.path, release.format, release.audience))
    yield from filter(None, (waiver.signed_by for waiver in policy.waivers.values()))
    if policy.approvals is not None:
        yield from (*policy.approvals.roles, policy.approvals.signers)
    for attribute in policy.attributes.values():
        yield attribute.role.value
        if attribute.hierarchy is not None and attribute.hierarchy.csv is not None:
            yield attribute.hierarchy.csv
