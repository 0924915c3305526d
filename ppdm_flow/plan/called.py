"""What things of a policy are called: that is shown wherever they are spoken of, even if it comes from a param."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.policy.language.kinds import Entries
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.requirements import specs_of


def names_of(policy: Policy) -> frozenset[str]:
    """Return the names of columns, steps, audits, gates, releases, plugins and files."""
    return frozenset(_names(policy))


def _names(policy: Policy) -> Iterator[str]:
    yield policy.name
    for entries in (policy.attributes, policy.steps, policy.audits, policy.gates, policy.releases, policy.waivers):
        yield from entries
    for spec in specs_of(policy):
        yield from policy.privacy.entries(spec.name) if spec.entries is Entries.BY_NAME else ()
    yield from (step.use for step in policy.steps.values())
    yield from (audit.use for audit in policy.audits.values())
    yield from filter(None, (policy.source.path, policy.source.format, *(policy.source.columns or ())))
    for release in policy.releases.values():
        yield from filter(None, (release.path, release.format, release.audience))
    for attribute in policy.attributes.values():
        yield attribute.role.value
        if attribute.hierarchy is not None and attribute.hierarchy.csv is not None:
            yield attribute.hierarchy.csv
