"""The input of the flow rules: a compiled plan with its policy and the places in its file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from ppdm_flow.core import phrases
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.patterns import is_pattern, matches
from ppdm_flow.policy.loaded import ResolvedPlaces


@dataclass(frozen=True)
class CompiledFlow:
    """A compiled flow. ``clean`` names the steps whose attributes are certain: what a broken one feeds is not."""

    plan: Plan
    policy: Policy
    places: ResolvedPlaces
    clean: frozenset[str]

    @cached_property
    def releases(self) -> tuple[ReleaseNode, ...]:
        """The releases whose attributes are certain."""
        uncertain = {step.name for step in self.plan.steps if not step.implicit} - self.clean
        return tuple(
            release
            for release in self.plan.releases
            if not any(step.name in uncertain for step in self.plan.upstream(release.input))
        )

    def published(self) -> Iterator[tuple[ReleaseNode, AttributeFacts]]:
        """Every attribute of every release."""
        for release in self.releases:
            for fact in release.attributes:
                yield release, fact

    def rejoins(self) -> Iterator[AuditNode]:
        """The audits that measure two releases together."""
        return (audit for audit in self.plan.audits if audit.bound.info.name == "rejoin")

    def use(self, step: str) -> Span | None:
        """Where a step names its plugin."""
        return self.places.value("steps", step, "use")

    def origin(self, release: ReleaseNode) -> Span | None:
        """The place of a release's input, or of its name."""
        path = ("releases", release.name)
        written = self.policy.releases[release.name].from_ is not None
        return self.places.value(*path, "from") if written else self.places.key(*path)

    def declared(self, fact: AttributeFacts) -> Span | None:
        """Where the policy gives the attribute's role: under its own name, or under the first pattern that fits."""
        written = (path[1] for path in self.places.keys if len(path) == 2 and path[0] == "attributes")
        fitting = (n for n in written if is_pattern(n) and matches(n, fact.source))
        name = fact.source if ("attributes", fact.source) in self.places.keys else next(fitting, None)
        span = self.places.value("attributes", name, "role") if name and fact.source in self.policy.attributes else None
        return span or fact.span


def perturbers(fact: AttributeFacts) -> tuple[str, ...]:
    """Return the steps that perturbed the attribute, oldest first."""
    return tuple(step for step, change in fact.changes if change is Change.PERTURBED)


def covers(names: Collection[str], fact: AttributeFacts) -> bool:
    """Whether one of ``names`` (patterns while the columns are unread) means the attribute."""
    return fact.source in names or fact.name in names or any(matches(name, fact.source) for name in names)


def listed(names: list[str]) -> str:
    """Return names for a sentence."""
    return phrases.listed([f"`{name}`" for name in names])
