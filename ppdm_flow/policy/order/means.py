"""Means, on which nothing that must hold depends: steps, audits and names; and what their parameters come to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ppdm_flow.policy.language.models import Audit, Policy, Step
from ppdm_flow.policy.order.clauses import Change, Clauses, Side, Verdict

Canon = Callable[[str, str, Mapping[str, Any]], str]
"""Returns one text for all spellings of a plugin's parameters, by its group, its name and what the policy gives."""


def as_written(_group: str, _name: str, given: Mapping[str, Any]) -> str:
    """Return the parameters as they are written, without the order of their keys."""
    return json.dumps(given, sort_keys=True)


def chain(steps: Mapping[str, Step], name: str, canon: Canon) -> tuple[object, ...]:
    """Return what happens up to a step, itself last, without any names of steps."""
    order = list(steps)
    links: list[object] = []
    at: str | None = name
    while at is not None and at in steps and len(links) <= len(order):
        step = steps[at]
        output = (step.input or "").partition(".")[2]
        links.append((step.use, canon("anonymizers", step.use, step.with_), output))
        before = order.index(at) - 1
        given = (step.input or "").partition(".")[0]
        at = given or (order[before] if before >= 0 else None)
    return tuple(reversed(links))


_STEPS = "how to get there, not what must hold: every requirement is measured again on what is released"
_AUDITS = "measured beside the requirements; gates on its figures are judged apart"
_WORDS = ("name", "description", "owner")
Content = tuple[object, ...]


def means(old: Clauses, new: Clauses, canon: Canon) -> Iterator[Change]:
    """Yield changed steps and audits, and changed words."""
    for word in _WORDS:
        if getattr(old.policy, word) != getattr(new.policy, word):
            path = (word,)
            yield Change(word, Verdict.NEUTRAL, "words for readers", old.side(path), new.side(path))
    yield from _named("steps", old, new, _of_steps(old.policy.steps, canon), _of_steps(new.policy.steps, canon), _STEPS)
    audits = _of_audits(old.policy.audits, canon), _of_audits(new.policy.audits, canon)
    yield from _named("audits", old, new, *audits, _AUDITS)
    yield from _named("analyses", old, new, _of_analyses(old.policy), _of_analyses(new.policy), _AUDITS)


def _of_steps(steps: Mapping[str, Step], canon: Canon) -> dict[str, Content]:
    return {n: (s.use, s.input, canon("anonymizers", s.use, s.with_)) for n, s in steps.items()}


def _of_analyses(policy: Policy) -> dict[str, Content]:
    return {name: (analysis.model_dump_json(),) for name, analysis in policy.analyses.items()}


def _of_audits(audits: Mapping[str, Audit], canon: Canon) -> dict[str, Content]:
    return {n: (a.use, a.release, canon("audits", a.use, a.with_)) for n, a in audits.items()}


def _named(
    section: str, old: Clauses, new: Clauses, before: dict[str, Content], after: dict[str, Content], why: str
) -> Iterator[Change]:
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
            yield Change(f"{section}.{name}", Verdict.NEUTRAL, why, side, None)
        elif later != name:
            texts = Side(name, side.span), Side(later, new.span((section, later)))
            yield Change(f"{section}.{later}", Verdict.NEUTRAL, "renamed", *texts)
        elif after[later] != content:
            yield Change(f"{section}.{name}", Verdict.NEUTRAL, why, side, new.side((section, later)))
    for name in (n for n in after if n not in names.values()):
        yield Change(f"{section}.{name}", Verdict.NEUTRAL, why, None, new.side((section, name)))
