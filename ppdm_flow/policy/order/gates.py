"""Gates: a tighter bound on the same figure, which must be measured in the very same way."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.core.analyses import AUDIT as ANALYSES
from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.model import unordered
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.order.claim import EVERYWHERE, ReleaseScope, Rules
from ppdm_flow.policy.order.frame import ComparedPolicies
from ppdm_flow.policy.order.means import Canon, made_by
from ppdm_flow.policy.order.releases import origin

_WORDS = frozenset({"id", "name", "span", "values_absent", "releases"})
_FREE = frozenset({"uniques", "classes", "distinct"})
"""Figures of requirements that do not depend on a bound, beside those that it bounds."""


@dataclass(frozen=True, slots=True)
class GateClaim:
    """The figure is at most (or at least) ``bound``, on each of the ``releases``; on none where it is a step's.

    Its interval is at most ``max_width`` wide.

    ``figure`` says what it is without any name that could change. ``texts`` are what the audit is told: some of them
    may name files. ``bound_data`` is what those releases hold, by the steps that make it, and ``free_data`` what the
    other releases of the policy hold.
    """

    figure: tuple[object, ...]
    at_most: bool
    bound: float
    releases: frozenset[str]
    max_width: float
    texts: frozenset[str] = frozenset()
    bound_data: frozenset[Hashable] = field(default=frozenset(), compare=False)
    free_data: frozenset[Hashable] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class MetricReader:
    """What says which figure a metric is: the policy, its requirements, and how releases are called in both.

    ``bounds`` are the fields of a kind of requirement that only bound figures of their names.
    """

    policy: Policy
    requirements: Sequence[Requirement]
    releases: Mapping[str, str]
    canon: Canon
    bounds: Callable[[str], frozenset[str]]

    def says(self, gate: FigureGate) -> Iterator[GateClaim]:
        """Yield what a gate claims on each side."""
        figure, texts = self._figure(gate.figure), frozenset(self._texts(gate.figure))
        scope = self.scope(gate.releases)
        where = scope.names or frozenset()
        for bound, at_most in ((gate.minimum, False), (gate.maximum, True)):
            if bound is not None:
                yield GateClaim(figure, at_most, bound, where, gate.max_width, texts, scope.held, scope.free)

    def scope(self, releases: Sequence[str]) -> ReleaseScope:
        """Return these releases as what they hold, and what others hold; all releases where there are none."""
        if not releases:
            return EVERYWHERE
        data = {name: origin(self.policy, name, self.canon) for name in self.policy.releases}
        return ReleaseScope(
            frozenset(self.releases.get(name, name) for name in releases),
            frozenset(content for name, content in data.items() if name in releases),
            frozenset(content for name, content in data.items() if name not in releases),
        )

    def _texts(self, metric: str) -> Iterator[str]:
        owner = metric.partition(".")[0]
        if owner in self.policy.audits:
            yield from _leaves(self.policy.audits[owner].with_)

    def _figure(self, metric: str) -> tuple[object, ...]:
        for requirement in sorted(self.requirements, key=lambda r: -len(r.id)):
            if metric.startswith(f"{requirement.id}."):
                return (
                    "requirement",
                    *_definition(requirement, metric[len(requirement.id) + 1 :], self.bounds(requirement.kind)),
                )
        owner, _, figure = metric.partition(".")
        if owner in self.policy.audits:
            audit = self.policy.audits[owner]
            return ("audit", audit.use, self.canon("audits", audit.use, audit.with_), figure)
        if owner in self.policy.steps:
            return ("step", made_by(self.policy.steps, owner, self.canon), figure)
        if owner == ANALYSES:
            of = figure.partition(".")[0]
            asked = {n: each.model_dump_json() for n, each in self.policy.analyses.items() if of in (n, figure)}
            return ("analyses", tuple(sorted(asked.items())), figure)
        return ("implicit", owner, figure)


def gates(given: GateClaim, asked: GateClaim, between: ComparedPolicies) -> str | None:
    """Return why a gate holds where another does."""
    if given.figure != asked.figure or given.at_most != asked.at_most or not _measured_alike(between):
        return None
    moved = (given.free_data - asked.free_data) & asked.bound_data  # it leaves under a name that no gate is about
    if moved or not given.releases >= asked.releases:
        return None
    if not all(between.same_file(text, text) for text in given.texts & asked.texts):
        return None
    if given.bound > asked.bound if given.at_most else given.bound < asked.bound:
        return None
    if given.max_width > asked.max_width:
        return None
    side = "at most" if given.at_most else "at least"
    narrower = f", {given.max_width:g} wide at most" if given.max_width < asked.max_width else ""
    return f"the same figure, and {side} {given.bound:g}{narrower} is {side} {asked.bound:g}"


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    for item in value if isinstance(value, list | tuple) else ():
        yield from _leaves(item)
    if isinstance(value, str):
        yield value


def _measured_alike(between: ComparedPolicies) -> bool:
    """Whether any audit finds the same on any release: it may look at whatever the policy says of the data."""
    one, other = between.given, between.asked
    described = [
        {n: a.model_copy(update={"description": ""}) for n, a in f.policy.attributes.items()} for f in (one, other)
    ]
    files = [[a.hierarchy.csv for a in f.policy.attributes.values() if a.hierarchy] for f in (one, other)]
    return (
        described[0] == described[1]
        and between.same_roles
        and between.same_original
        and one.nulls is other.nulls
        and one.policy.randomness == other.policy.randomness
        and len(one.policy.releases) == len(other.policy.releases)
        and all(between.same_file(a, b) for a, b in zip(*map(sorted_paths, files), strict=True))
    )


def sorted_paths(paths: Sequence[str | None]) -> list[str]:
    """Return the paths that there are, in order."""
    return sorted(p for p in paths if p is not None)


def _definition(requirement: Requirement, figure: str, bounds: frozenset[str]) -> tuple[Any, ...]:
    """Return what a requirement's figure is: without its bound, where the figure does not depend on it."""
    skipped = _WORDS | (bounds if figure in _FREE | bounds else frozenset())
    given = {name: value for name, value in requirement.said().items() if name not in skipped}
    sets = unordered(type(requirement))
    said = tuple((name, frozenset(value) if name in sets else value) for name, value in given.items())
    return (requirement.kind, said, figure)


RULES: Rules = ((GateClaim, GateClaim, gates),)
