"""Releases: which files may leave, to whom, and in which order of rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ppdm_flow.core.digests import digest
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.models import AuditEntry, Policy, Release, Step
from ppdm_flow.policy.order.clauses import ChangeVerdict, Clauses, ClauseText, ComparedClause, stronger_word, verdict

Canon = Callable[[str, str, Mapping[str, Any]], str]
"""Returns one text for all spellings of a plugin's parameters, by its group, its name and what the policy gives."""


def paired(old: Policy, new: Policy, canon: Canon) -> Mapping[str, str]:
    """Return the new name of each old release that is still there: by its name, else by what it is."""
    name_of = {name: name for name in old.releases if name in new.releases}
    free = [name for name in new.releases if name not in name_of.values()]
    for name in (n for n in old.releases if n not in name_of):
        alike = [n for n in free if _content(old, name, canon) == _content(new, n, canon)]
        if alike:
            name_of[name] = alike[0]
            free.remove(alike[0])
    return name_of


def _content(policy: Policy, name: str, canon: Canon) -> tuple[object, ...]:
    release = policy.releases[name]
    return (release.audience, release.shuffle, *origin(policy, name, canon))


def origin(policy: Policy, name: str, canon: Canon) -> tuple[object, ...]:
    """Return the steps that make what a release holds, and which output of the last one it is."""
    start = policy.releases[name].from_ or next(reversed(policy.steps), "source")
    step, _, output = start.partition(".")
    return (made_by(policy.steps, step, canon), output)


def releases(old: Clauses, new: Clauses, names: Mapping[str, str]) -> Iterator[ComparedClause]:
    """Yield what has changed about releases; ``names`` pairs old with new ones."""
    for name, release in old.policy.releases.items():
        if name not in names:
            why = "one file fewer may leave"
            yield ComparedClause(f"releases.{name}", ChangeVerdict.STRONGER, why, old.side(("releases", name)), None)
        else:
            yield from _each(name, names[name], release, new.policy.releases[names[name]], old, new)
    for name in new.policy.releases:
        if name not in names.values():
            yield ComparedClause(
                f"releases.{name}", ChangeVerdict.WEAKER, "one more file may leave", None, new.side(("releases", name))
            )


def _each(
    name: str, later: str, before: Release, after: Release, old: Clauses, new: Clauses
) -> Iterator[ComparedClause]:
    if name != later:
        sides = old.side(("releases", name), name), new.side(("releases", later), later)
        yield ComparedClause(f"releases.{later}", ChangeVerdict.NEUTRAL, "renamed", *sides)
    usual = old.policy.source.missing, new.policy.source.missing
    changed = _fields(before, after) | _collapse(old.policy, new.policy, before, after)
    for field, (judged, why) in (changed | _received(before, after, usual)).items():
        paths = ("releases", name, field), ("releases", later, field)
        sides = old.side(paths[0], _text(before, field)), new.side(paths[1], _text(after, field))
        yield ComparedClause(".".join(paths[1]), judged, why, *sides)


def _fields(before: Release, after: Release) -> dict[str, tuple[ChangeVerdict, str]]:
    changed: dict[str, tuple[ChangeVerdict, str]] = {}
    if before.audience != after.audience:
        judged = stronger_word(("releases", "*", "audience"), before.audience, after.audience)
        changed["audience"] = judged, "fewer may have it" if judged is ChangeVerdict.STRONGER else "more may have it"
    if before.shuffle != after.shuffle:
        judged = verdict(forward=after.shuffle, backward=before.shuffle)
        changed["shuffle"] = judged, "the order of rows may tell whose they are"
    if before.into != after.into:
        changed["into"] = ChangeVerdict.INCOMPARABLE, "another database says who can read it"
    for field in ("from_", "path", "format", "partition_by", "with_"):
        if getattr(before, field) != getattr(after, field):
            changed[field.removesuffix("_")] = (
                ChangeVerdict.NEUTRAL,
                "a means: what must hold is measured on every release",
            )
    return changed


def _collapse(old: Policy, new: Policy, before: Release, after: Release) -> dict[str, tuple[ChangeVerdict, str]]:
    """Return what has changed about counting records. Counted records mean the same rows.

    Weighted rows are written out singly before they are counted, and not every figure is known of weighted ones.
    """
    if before.collapse == after.collapse:
        return {}
    weighted = any(a.role is Role.WEIGHT for policy in (old, new) for a in policy.attributes.values())
    if weighted and (before.collapse is None or after.collapse is None):
        return {
            "collapse": (ChangeVerdict.INCOMPARABLE, "weighted rows are released one by one, or with their weights")
        }
    return {
        "collapse": (ChangeVerdict.NEUTRAL, "the same rows: each distinct record is written once, with their number")
    }


def _received(
    before: Release, after: Release, usual: tuple[Sequence[str], Sequence[str]]
) -> dict[str, tuple[ChangeVerdict, str]]:
    """Return what has changed about how `audit` reads a file; ``usual`` is the ``missing`` of the sources.

    With more texts for missing values fewer cells tell people apart. That fewer are stricter is not so of all
    requirements: a value that was missing adds to the diversity of a class.
    """
    if before.received == after.received:
        return {}
    options = [{key: value for key, value in each.received.items() if key != "missing"} for each in (before, after)]
    said = before.received.get("missing"), after.received.get("missing")
    missing = [frozenset(map(str, s if isinstance(s, list) else u)) for s, u in zip(said, usual, strict=True)]
    grows = bool(before.received and after.received) and options[0] == options[1] and missing[0] < missing[1]
    why = "the same file of another tool is another table, of which `audit` may find other figures"
    return {"received": (ChangeVerdict.WEAKER if grows else ChangeVerdict.INCOMPARABLE, why)}


def _text(release: Release, field: str) -> str:
    name = {"from": "from_", "with": "with_"}.get(field, field)
    value = getattr(release, name)
    return {True: "true", False: "false", None: "(by default)"}.get(value, str(value)) if _plain(value) else "{…}"


def _plain(value: object) -> bool:
    return value is None or isinstance(value, str | bool)


# Means, on which nothing that must hold depends: steps, audits and names; and what their parameters come to.


def as_written(_group: str, _name: str, given: Mapping[str, Any]) -> str:
    """Return the parameters as they are written, without the order of their keys."""
    return json.dumps(given, sort_keys=True)


def made_by(steps: Mapping[str, Step], name: str, canon: Canon) -> str:
    """Return the digest of all steps up to one, itself last, without their names; ``""`` for no step."""
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
