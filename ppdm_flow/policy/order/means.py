"""Means, on which nothing that must hold depends: steps, audits and names; and what their parameters come to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ppdm_flow.core.digests import digest
from ppdm_flow.policy.language.models import AuditEntry, Policy, Step
from ppdm_flow.policy.order.clauses import ChangeVerdict, Clauses, ClauseText, ComparedClause

Canon = Callable[[str, str, Mapping[str, Any]], str]
"""Returns one text for all spellings of a plugin's parameters, by its group, its name and what the policy gives."""


def as_written(_group: str, _name: str, given: Mapping[str, Any]) -> str:
    """Return the parameters as they are written, without the order of their keys."""
    return json.dumps(given, sort_keys=True)


def made_by(steps: Mapping[str, Step], name: str, canon: Canon) -> str:
    """Return the digest of what happens up to a step, itself last, whatever steps are called; ``""`` for no step."""
    before = dict(zip(steps, ("", *steps), strict=False))
    reads: dict[str, list[tuple[str, str]]] = {}
    waiting = [name]
    while waiting:
        at = waiting.pop()
        if at in steps and at not in reads:
            references = [reference.partition(".") for reference in steps[at].input or (before[at],)]
            reads[at] = [(base, output) for base, _, output in references]
            waiting += [base for base, _ in reads[at]]
    done = {at: [steps[at].use, canon("anonymizers", steps[at].use, steps[at].with_)] for at in reads}
    order = TopologicalSorter({at: [base for base, _ in read if base in reads] for at, read in reads.items()})
    made: dict[str, str] = {}
    try:
        for at in order.static_order():
            made[at] = digest([[(made.get(base, ""), output) for base, output in reads[at]], *done[at]])
    except CycleError:  # of which no plan is made: by the names of steps
        return digest([[at, reads[at], *done[at]] for at in reads])
    return made.get(name, "")


_STEPS = "how to get there, not what must hold: every requirement is measured again on what is released"
_AUDITS = "measured beside the requirements; gates on its figures are judged apart"
_WORDS = ("name", "description", "owner")
Content = tuple[object, ...]


def means(old: Clauses, new: Clauses, canon: Canon) -> Iterator[ComparedClause]:
    """Yield changed steps and audits, and changed words."""
    for word in _WORDS:
        if getattr(old.policy, word) != getattr(new.policy, word):
            path = (word,)
            yield ComparedClause(word, ChangeVerdict.NEUTRAL, "words for readers", old.side(path), new.side(path))
    yield from _named("steps", old, new, _of_steps(old.policy.steps, canon), _of_steps(new.policy.steps, canon), _STEPS)
    audits = _of_audits(old.policy.audits, canon), _of_audits(new.policy.audits, canon)
    yield from _named("audits", old, new, *audits, _AUDITS)
    yield from _named("analyses", old, new, _of_analyses(old.policy), _of_analyses(new.policy), _AUDITS)


def _of_steps(steps: Mapping[str, Step], canon: Canon) -> dict[str, Content]:
    return {n: (s.use, s.input, canon("anonymizers", s.use, s.with_)) for n, s in steps.items()}


def _of_analyses(policy: Policy) -> dict[str, Content]:
    return {name: (analysis.model_dump_json(),) for name, analysis in policy.analyses.items()}


def _of_audits(audits: Mapping[str, AuditEntry], canon: Canon) -> dict[str, Content]:
    return {n: (a.use, a.release, canon("audits", a.use, a.with_)) for n, a in audits.items()}


def _named(
    section: str, old: Clauses, new: Clauses, before: dict[str, Content], after: dict[str, Content], why: str
) -> Iterator[ComparedClause]:
    """Pair by name, then by content: what is left was added or removed."""
    names = {n: n for n in before if n in after}
    for name in (n for n in before if n not in names):
        free = [n for n in after if n not in names.values() and after[n] == before[name]]
        if free:
            names[name] = free[0]
    for name, content in before.items():
        later = names.get(name)
        side = old.side((section, name))
        if later is None:
            yield ComparedClause(f"{section}.{name}", ChangeVerdict.NEUTRAL, why, side, None)
        elif later != name:
            texts = ClauseText(name, side.span), ClauseText(later, new.span((section, later)))
            yield ComparedClause(f"{section}.{later}", ChangeVerdict.NEUTRAL, "renamed", *texts)
        elif after[later] != content:
            yield ComparedClause(f"{section}.{name}", ChangeVerdict.NEUTRAL, why, side, new.side((section, later)))
    for name in (n for n in after if n not in names.values()):
        yield ComparedClause(f"{section}.{name}", ChangeVerdict.NEUTRAL, why, None, new.side((section, name)))
