"""Two policies held against each other: read, put in order, and turned into a document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from pathlib import Path
from typing import Any

from ppdm_flow.api.diff.revisions import PolicyPlace
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, has_errors
from ppdm_flow.core.errors import PluginError, PolicyError, UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.order import ClauseText, ComparedClause, PolicyComparison, compare
from ppdm_flow.policy.order.frame import Contents
from ppdm_flow.policy.order.releases import as_written
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
    def plan(self) -> Plan | None:
        """What the policy compiles to; None where that has errors. One whose waivers have expired has a plan too."""
        return compile_policy(self.loaded, digested=False, clock=None).plan

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
