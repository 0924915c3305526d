"""Two policies held against each other: read, put in order, and turned into a document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from pathlib import Path
from typing import Any

from ppdm_flow.api.diff.revisions import PolicyPlace
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, has_errors
from ppdm_flow.core.errors import PluginError, PolicyError, UsageError
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.roles import Role
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.order import ChangeVerdict, ClauseText, ComparedClause, PolicyComparison, compare
from ppdm_flow.policy.order.clauses import relation
from ppdm_flow.policy.order.frame import Contents
from ppdm_flow.policy.order.releases import as_written, paired
from ppdm_flow.policy.requirements import specs_of
from ppdm_flow.report.diff.fields import ClauseChange, ClauseSide, PolicyPair
from ppdm_flow.sdk import registry


@dataclass(frozen=True)
class LoadedPolicy:
    """A valid policy, where it is, and which params that ``--set`` gives it does not have."""

    loaded: PolicyReading
    place: PolicyPlace
    foreign: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The policy's file as people know it."""
        return self.place.shown(str(self.loaded.file))

    @cached_property
    def compiled(self) -> CompileResult:
        """What the policy compiles to. Waivers are not judged: one whose waivers have expired has a plan too."""
        return compile_policy(self.loaded, digested=False, clock=None)

    @property
    def plan(self) -> Plan | None:
        """The plan of the policy; None where compiling it finds errors."""
        return self.compiled.plan

    @property
    def contents(self) -> Contents:
        """What tells the content of files that the policy names, relative to itself."""
        home = Path(self.loaded.file).absolute().parent

        @cache
        def digest(path: str) -> str | None:
            content = self.place.content(home / path)
            return None if content is None else hashlib.sha256(content).hexdigest()

        return digest


def named_files(policy: LoadedPolicy) -> tuple[str, ...]:
    """Return the paths of the files that a policy names beside its data, such as hierarchies and signers."""
    typed = policy.loaded.policy
    if typed is None:
        return ()
    paths = [a.hierarchy.csv for a in typed.attributes.values() if a.hierarchy and a.hierarchy.csv]
    for spec in specs_of(typed):
        for clause in typed.privacy.entries(spec.name).values():
            paths += [str(reduce(getattr, place, clause)) for place in spec.files]
    paths += [typed.source.operator] if typed.source.operator else []
    paths += [typed.approvals.signers] if typed.approvals else []
    return tuple(dict.fromkeys(paths))


def read(path: Path, where: PolicyPlace, sets: Mapping[str, str], library: Library | None = None) -> LoadedPolicy:
    """Return a policy, with the values of ``sets`` for params that it has. Raises PolicyError where it is not valid.

    A ``library`` may have its files already.
    """
    library = library or where.library()
    loaded = load(path, sets, library=library)
    foreign = frozenset(name for name in sets if any(_is_unknown(d, name) for d in loaded.diagnostics))
    if foreign:
        loaded = load(path, {name: value for name, value in sets.items() if name not in foreign}, library=library)
    if has_errors(loaded.diagnostics):
        raise policy_error(loaded, where)
    return LoadedPolicy(loaded, where, foreign)


def reject_unknown_params(policies: Iterable[LoadedPolicy]) -> None:
    """Raise UsageError for values of ``--set`` whose param no policy has."""
    lost = frozenset[str].intersection(*(each.foreign for each in policies))
    if lost:
        names = ", ".join(f"`{name}`" for name in sorted(lost))
        raise UsageError(Diagnostic("PPF310", f"--set: no policy has a param {names}"))


def _is_unknown(each: Diagnostic, name: str) -> bool:
    return each.code == "PPF310" and each.span is None and each.message.endswith(f" `{short(name)}`")


def policy_error(loaded: PolicyReading, where: PolicyPlace) -> PolicyError:
    """Return what is wrong with a policy, under the names that people know."""
    sources = {where.shown(file): text for file, text in loaded.sources.items()}
    return PolicyError([_shown(d, where) for d in loaded.diagnostics], sources)


def ordered(old: LoadedPolicy, new: LoadedPolicy) -> PolicyComparison:
    """Return the comparison of two policies."""
    return compare(old.loaded, new.loaded, canonical, (old.contents, new.contents))


def canonical(group: str, name: str, given: Mapping[str, Any]) -> str:
    """Return one text for all spellings of a plugin's parameters; as they stand, where its model cannot read them."""
    try:
        params = registry.load(group, name).params.model_validate(given)
        return json.dumps(params.model_dump(mode="json", by_alias=True), sort_keys=True)
    except (PluginError, ValueError, TypeError):
        return as_written(group, name, given)


def pair(old: LoadedPolicy, new: LoadedPolicy, order: PolicyComparison) -> PolicyPair:
    """Return two policies and what changed between them, as JSON."""
    return {
        "old": old.name,
        "new": new.name,
        "relation": order.relation.value,
        "changes": _changes(order.changes, old, new),
        "governance": _changes(order.governance, old, new),
    }


def _changes(changes: Iterable[ComparedClause], old: LoadedPolicy, new: LoadedPolicy) -> list[ClauseChange]:
    return [
        {
            "clause": each.clause,
            "verdict": each.verdict.value,
            "why": each.why,
            "old": _side(each.old, old.place),
            "new": _side(each.new, new.place),
        }
        for each in changes
    ]


def _side(side: ClauseText | None, where: PolicyPlace) -> ClauseSide | None:
    if side is None:
        return None
    if side.span is None:
        return {"text": side.text}
    file = where.shown(side.span.file)
    return {"text": side.text, "file": file, "line": side.span.line, "column": side.span.column}


def _shown(each: Diagnostic, where: PolicyPlace) -> Diagnostic:
    message = each.message.replace(f"{where.folder}/", f"{where.revision}:") if where.folder else each.message
    related = tuple(RelatedPlace(_span(r.span, where) or r.span, r.text) for r in each.related)
    return replace(each, span=_span(each.span, where), message=message, related=related)


def _span(span: Span | None, where: PolicyPlace) -> Span | None:
    return None if span is None else replace(span, file=where.shown(span.file))


# Which columns leave, and how those of identifiers are replaced: what steps alone decide, and nothing measures.


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
