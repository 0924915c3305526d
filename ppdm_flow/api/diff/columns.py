"""Which columns leave, and how those of identifiers are replaced: what steps alone decide, and nothing measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppdm_flow.api.diff.policies import LoadedPolicy, canonical, ordered
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.roles import Role
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.order import ChangeVerdict, ClauseText, ComparedClause, PolicyComparison
from ppdm_flow.policy.order.clauses import relation
from ppdm_flow.policy.order.releases import paired

_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})
_UNKNOWN = "`check` finds errors in the {} policy, so that nobody knows which columns leave"
_REPLACED = "nothing measures how an identifier was replaced: its steps alone protect it, and they are others"


def compared(old: LoadedPolicy, new: LoadedPolicy) -> PolicyComparison:
    """Return the comparison of two policies, with the columns that leave."""
    order = ordered(old, new)
    changes = (*order.changes, *columns(old, new))
    return PolicyComparison(relation(changes), changes, order.governance)


def columns(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[ComparedClause]:
    """Yield what has changed about the columns of releases that both policies have."""
    before, after = _PolicyPlan.of(old), _PolicyPlan.of(new)
    if before is None or after is None:
        if before is not None or after is not None:
            which = "old" if before is None else "new"
            yield ComparedClause("releases", ChangeVerdict.INCOMPARABLE, _UNKNOWN.format(which))
        return
    for name, later in paired(before.policy, after.policy, canonical).items():
        yield from _each(before, after, name, later)


@dataclass(frozen=True, slots=True)
class _PolicyPlan:
    """A policy with its plan."""

    read: LoadedPolicy
    policy: Policy
    plan: Plan

    @classmethod
    def of(cls, read: LoadedPolicy) -> _PolicyPlan | None:
        return None if read.plan is None or read.loaded.policy is None else cls(read, read.loaded.policy, read.plan)

    def released(self, name: str) -> dict[str, AttributeFacts]:
        """Return the columns of a release by the names that they have in the data, or that a step gave them."""
        return {f.source or f.name: f for f in self.facts(name)}

    def facts(self, name: str) -> tuple[AttributeFacts, ...]:
        """Return the columns of a release."""
        return next(r for r in self.plan.releases if r.name == name).attributes

    def sources(self, name: str) -> dict[str, bool]:
        """Return the attributes that the columns of a release are computed from, and whether all under a secret key."""
        every = [f.lineage for f in self.facts(name)]
        names = sorted(frozenset[str]().union(*(lineage.computed_from for lineage in every)))
        return {n: all(n in each.keyed for each in every if n in each.computed_from) for n in names}

    def personal(self, name: str) -> bool:
        attribute = self.policy.attributes.get(name)
        return attribute is not None and attribute.role in _PERSONAL

    def replaced(self, fact: AttributeFacts) -> list[tuple[str, str]]:
        """Return what the steps that changed a column do."""
        steps = [self.policy.steps[name] for name, _ in fact.changes if name in self.policy.steps]
        return [(step.use, canonical("anonymizers", step.use, step.with_)) for step in steps]

    def side(self, release: str, names: list[str]) -> ClauseText:
        return ClauseText(", ".join(names) or "-", self.read.loaded.places.key("releases", release))


def _each(before: _PolicyPlan, after: _PolicyPlan, name: str, later: str) -> Iterator[ComparedClause]:
    one, other = before.released(name), after.released(later)
    clause = f"releases.{later}.columns"
    more = [c for c in other if c not in one and _comparable(c, before, after)]
    fewer = [c for c in one if c not in other and _comparable(c, before, after)]
    for names, verdict, word in ((more, ChangeVerdict.WEAKER, "more"), (fewer, ChangeVerdict.STRONGER, "fewer")):
        if names:
            why = f"{counted(len(names), 'column')} {word} may leave: {', '.join(f'`{c}`' for c in names)}"
            yield ComparedClause(clause, verdict, why, before.side(name, list(one)), after.side(later, list(other)))
    yield from _carried(before, after, name, later)
    for column in (c for c in one if c in other and before.personal(c) and after.personal(c)):
        if before.replaced(one[column]) != after.replaced(other[column]):
            path = f"{clause}.{column}"
            sides = (
                p.side(r, [use for use, _ in p.replaced(f)])
                for p, r, f in ((before, name, one[column]), (after, later, other[column]))
            )
            yield ComparedClause(path, ChangeVerdict.INCOMPARABLE, _REPLACED, *sides)


def _carried(before: _PolicyPlan, after: _PolicyPlan, name: str, later: str) -> Iterator[ComparedClause]:
    """Yield attributes that columns of other names are computed from, or that no longer leave under a key alone."""
    one, other = before.sources(name), after.sources(later)
    listed = {f.source for f in (*before.facts(name), *after.facts(later))}  # these came or went as columns
    sides = before.side(name, _names(one)), after.side(later, _names(other))
    for verdict, verb, more, fewer in (
        (ChangeVerdict.WEAKER, "now", other, one),
        (ChangeVerdict.STRONGER, "no longer", one, other),
    ):
        came = {a for a in more if a not in fewer and a not in listed}
        freed = {a for a in more if a in fewer and fewer[a] and not more[a]}
        carried = {a: more[a] for a in sorted(came | freed) if _comparable(a, before, after)}
        if carried:
            why = f"columns are {verb} computed from {', '.join(_names(carried))}"
            yield ComparedClause(f"releases.{later}.carried", verdict, why, *sides)


def _names(keyed_by_name: Mapping[str, bool]) -> list[str]:
    return [f"`{name}`{' under a key' if keyed else ''}" for name, keyed in keyed_by_name.items()]


def _comparable(column: str, before: _PolicyPlan, after: _PolicyPlan) -> bool:
    """Whether the declarations of a column say nothing of it yet: it is in both, and its role keeps it back in both."""
    there = [column in p.policy.attributes for p in (before, after)]
    return there[0] == there[1] and before.personal(column) == after.personal(column)
