"""Clauses that must hold (requirements and gates), each compared with all that the other policy asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.kinds import Entries, spec_of
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.order.claim import Claim, ClaimsBySubject, MetricReader, differences, implied, said
from ppdm_flow.policy.order.clauses import ChangeVerdict, Clauses, ClauseText, ComparedClause, verdict, waived
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame, by_role, obstacles
from ppdm_flow.policy.requirements import gates_of, requirements_by_place, requirements_of

Requirements = tuple[Requirement, ...]


def asked_of(clauses: Clauses) -> Requirements:
    """Return the requirements of a policy; patterns in place of all quasi-identifiers are marked as such."""
    requirements = requirements_of(clauses.policy, clauses.loaded.places)
    return tuple(_marked(requirement, clauses) for requirement in requirements)


def _marked(requirement: Requirement, clauses: Clauses) -> Requirement:
    given = getattr(requirement, "attributes", None)
    if given is None or spec_of(requirement.kind).entries is Entries.IMPLIED or _names_them(requirement, clauses):
        return requirement
    return requirement.changed(attributes=by_role(given))


def _names_them(requirement: Requirement, clauses: Clauses) -> bool:
    """Whether the clause itself says by which attributes it groups."""
    path = path_of(requirement.id)
    usual = spec_of(requirement.kind).implied_by
    if usual and not clauses.has(path):
        path = ("privacy", usual)
    return clauses.has((*path, "attributes"))


def claims_of(clauses: Clauses, frame: PolicyFrame, measuring: MetricReader) -> dict[PolicyPath, list[Claim]]:
    """Return what each clause claims, by its path."""
    claims: dict[PolicyPath, list[Claim]] = {}
    until = waived(clauses.loaded.tree)
    for requirement in measuring.requirements:
        path = path_of(requirement.id)
        hidden, scope = _hides(clauses, requirement, path), measuring.scope(requirement.releases)
        claims.setdefault(path, []).extend(
            Claim(path, each, requirement.span, until.get(requirement.id, ""), hidden, scope)
            for each in said(requirement, frame)
        )
    for gate in gates_of(clauses.policy, clauses.loaded.places):
        path = ("gates", gate.id.removeprefix("gates."))
        days, hidden = until.get(gate.id, ""), clauses.hides(*path)
        claims[path] = [Claim(path, each, gate.span, days, hidden) for each in measuring.says(gate)]
    return claims


def choices(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    """Yield the clauses whose values are chosen from the data: only the very same choice from the same data is equal.

    What is chosen, and so what must hold, depends on the data; nothing is proved by comparing policies.
    """
    before, after = (
        {path: requirement for path, requirement in requirements_by_place(clauses.policy) if requirement.awaits_data}
        for clauses in (old, new)
    )
    grounds = [
        (frame.nulls, [(name, a.role, a.type) for name, a in frame.policy.attributes.items()])
        for frame in between.frames
    ]
    until = [waived(clauses.loaded.tree) for clauses in (old, new)]
    for path in dict.fromkeys((*before, *after)):
        alike = path in before and path in after and before[path].said() == after[path].said()
        alike = alike and len({days.get(".".join(path), "") for days in until}) == 1
        if not (alike and between.same_original and grounds[0] == grounds[1]):
            why = "what it protects is chosen from the data, so that no rule compares it"
            sides = (c.side(path) if c.has(path) else None for c in (old, new))
            yield ComparedClause(".".join(path), ChangeVerdict.INCOMPARABLE, why, *sides)


def _hides(clauses: Clauses, requirement: Requirement, path: PolicyPath) -> bool:
    """Whether a sentence on what a requirement claims could quote the environment."""
    places = [path, ("attributes",)]
    if usual := spec_of(requirement.kind).implied_by:
        places.append(("privacy", usual))
    return any(clauses.hides(*place) for place in places)


def path_of(identifier: str) -> PolicyPath:
    """Return the path of a requirement by its id: names may hold dots."""
    first, _, rest = identifier.partition(".")
    kind, _, name = rest.partition(".")
    return (first, kind, name) if name else (first, kind)


@dataclass(frozen=True)
class ClaimComparison:
    """The claims of two policies, by clause. ``between`` is from the new one to the old one."""

    old: Clauses
    new: Clauses
    before: Mapping[PolicyPath, list[Claim]]
    after: Mapping[PolicyPath, list[Claim]]
    between: ComparedPolicies

    def changes(self) -> Iterator[ComparedClause]:
        """Yield every clause that is not the same, in the order of the policies."""
        names = self._paired()
        known = frozenset(names.values())
        for path, claims in self.before.items():
            later = names.get(path)
            if later is None:
                yield self._removed(path, claims)
            else:
                change = self._kept(path, later)
                if change is not None:
                    yield change
        for path, claims in self.after.items():
            if path not in known:
                yield self._added(path, claims)

    def _paired(self) -> dict[PolicyPath, PolicyPath]:
        """Pair clauses by their path, then templates and gates by what they say."""
        names = {path: path for path in self.before if path in self.after}
        came = {path: _content(claims) for path, claims in self.after.items() if path not in names}
        for path in (p for p in self.before if p not in names):
            said_ = _content(self.before[path])
            alike = next((p for p, content in came.items() if p[:-1] == path[:-1] and content == said_), None)
            if alike is not None:
                names[path] = alike
                del came[alike]
        return names

    def _kept(self, path: PolicyPath, later: PolicyPath) -> ComparedClause | None:
        forward = self._forward(self.before[path])
        backward = self._backward(self.after[later])
        judged = verdict(forward=None not in forward, backward=None not in backward)
        sides = self.old.side(path), self.new.side(later)
        if judged is ChangeVerdict.NEUTRAL:
            if path != later:
                texts = ClauseText(path[-1], sides[0].span), ClauseText(later[-1], sides[1].span)
                return ComparedClause(".".join(later), judged, "renamed", *texts)
            if sides[0].text == sides[1].text or _content(self.before[path]) == _content(self.after[later]):
                return None
            return ComparedClause(".".join(later), judged, "each implies the other", *sides)
        return ComparedClause(".".join(later), judged, self._explain_relation(path, later, forward, backward), *sides)

    def _removed(self, path: PolicyPath, claims: list[Claim]) -> ComparedClause:
        why = _first(self._forward(claims), claims)
        judged = ChangeVerdict.WEAKER if why is None else ChangeVerdict.NEUTRAL
        text = f"removed, and implied by what is left: {why}" if why else "removed: it need not hold any more"
        return ComparedClause(".".join(path), judged, text, self.old.side(path), None)

    def _added(self, path: PolicyPath, claims: list[Claim]) -> ComparedClause:
        why = _first(self._backward(claims), claims)
        judged = ChangeVerdict.STRONGER if why is None else ChangeVerdict.NEUTRAL
        text = f"added, and implied before: {why}" if why else "added: it must hold as well"
        return ComparedClause(".".join(path), judged, text, None, self.new.side(path))

    @cached_property
    def _given(self) -> tuple[ClaimsBySubject, ClaimsBySubject]:
        """All claims of the old policy, and of the new one."""
        old, new = (ClaimsBySubject(chain.from_iterable(some.values())) for some in (self.before, self.after))
        return old, new

    def _forward(self, asked: Sequence[Claim]) -> list[str | None]:
        """Return for each claim of the old policy why the new one implies it, or None."""
        return _reasons(self.after, self._given[1], asked, self.between)

    def _backward(self, asked: Sequence[Claim]) -> list[str | None]:
        """Return for each claim of the new policy why the old one implies it, or None."""
        return _reasons(self.before, self._given[0], asked, self.between.back)

    def _explain_relation(
        self, path: PolicyPath, later: PolicyPath, forward: list[str | None], backward: list[str | None]
    ) -> str:
        """Say what makes a clause stronger, weaker, or what keeps it from being compared."""
        before, after = self.before[path], self.after[later]
        waived_ = "; waived until another day" if len({c.until for c in (*before, *after)}) > 1 else ""
        if None not in forward:
            return f"it implies the old one: {_first(forward, before, _open(backward, after))}{waived_}"
        if None not in backward:
            why = _first(backward, after, _open(forward, before))
            return f"the old one implies it, and not conversely: {why}{waived_}"
        grounds = obstacles(self.between) or differences(before, after)
        because = f": {', and '.join(grounds)}" if grounds else ""
        return f"no rule proves that either implies the other{because}{waived_}"


def _reasons(
    by_clause: Mapping[PolicyPath, list[Claim]],
    given: ClaimsBySubject,
    asked: Sequence[Claim],
    between: ComparedPolicies,
) -> list[str | None]:
    """Return for each claim asked for why it is implied, or None.

    Claims of the same clause come first: a reason that names no other clause is the plainer one.
    """
    return [implied(chain(by_clause.get(claim.clause, ()), given.about(claim)), claim, between) for claim in asked]


def _open(reasons: Sequence[str | None], claims: Sequence[Claim]) -> frozenset[type[Any]]:
    """Return the kinds of claims that are not implied."""
    return frozenset(type(c.says) for c, why in zip(claims, reasons, strict=True) if why is None)


def _first(
    reasons: Sequence[str | None], claims: Sequence[Claim], kinds: frozenset[type[Any]] = frozenset()
) -> str | None:
    """Return the first reason, of claims of these kinds if there is one; None where a claim has none."""
    if None in reasons:
        return None
    known = [why for c, why in zip(claims, reasons, strict=True) if why and type(c.says) in kinds]
    every = [why for why in reasons if why]
    return next(iter((*known, *every)), "it claims nothing")


def _content(claims: list[Claim]) -> tuple[Any, ...]:
    """Return what claims say, without the names of their clauses."""
    return tuple((claim.says, claim.until, claim.scope.names) for claim in claims)
