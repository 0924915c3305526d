"""Resolves the names in parameters and requirements to attributes of a plan, and finds the absent ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Annotated, TypeVar

from pydantic import Field

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Problem

UNKNOWN = "PPF606"
_MAGIC = re.compile(r"[*?\[]")

Attributes = Mapping[str, AttributeFacts]
R = TypeVar("R", bound=Requirement)
Importance = Annotated[float, Field(gt=0.0, le=1e9)]
"""What a lost cell of an attribute costs, beside 1 for one of another attribute."""


def is_pattern(name: str) -> bool:
    """Whether ``name`` is a glob pattern."""
    return _MAGIC.search(name) is not None


def reaches(name: str, known: Iterable[str]) -> bool:
    """Whether an attribute is among ``known``; while the columns are unread, patterns stand among them."""
    names = tuple(known)
    return name in names or any(fnmatchcase(name, k) for k in _patterns(names))


@lru_cache(maxsize=32)
def _patterns(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if is_pattern(name))


def matching(pattern: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the attributes that ``pattern`` means, in the order of ``known``; itself where a known pattern has it."""
    names = tuple(known)
    if pattern in names:
        return (pattern,)
    matches = tuple(k for k in names if fnmatchcase(k, pattern)) if is_pattern(pattern) else ()
    return matches or ((pattern,) if reaches(pattern, names) else ())


def absent(name: str, known: Iterable[str], path: tuple[str, ...]) -> Problem:
    """Say that ``name`` does not reach the step, with the nearest name as hint."""
    near = closest(name, known)
    what = "no attribute that reaches this step matches" if is_pattern(name) else "no such attribute reaches this step:"
    hint = f"did you mean `{near}`?" if near else None
    return Problem(UNKNOWN, f"{what} `{name}`", path, hint=hint, named=path[-1:] == (name,))


def missing_ones(names: Iterable[str], known: Iterable[str], path: tuple[str, ...]) -> tuple[Problem, ...]:
    """Return a problem for every name (of a list or a map, the parameter at ``path``) that does not reach the step."""
    every = tuple(known)
    keyed = isinstance(names, Mapping)
    return tuple(
        absent(name, every, (*path, name if keyed else str(place)))
        for place, name in enumerate(names)
        if not matching(name, every)
    )


def unknown_importance(importance: Iterable[str], names: Iterable[str], what: str) -> tuple[Problem, ...]:
    """Return a problem for every attribute of the parameter ``importance`` that is none of ``names``."""
    known = frozenset(names)
    return tuple(
        Problem(UNKNOWN, f"`{name}` is none of the attributes that {what}", ("importance", name), named=True)
        for name in importance
        if name not in known
    )


def problems_of_strata(within: Iterable[str], changed: Iterable[str], known: Iterable[str]) -> tuple[Problem, ...]:
    """Return what is wrong with the parameter ``within`` of a step that works within strata."""
    names = tuple(within)
    problems = missing_ones(names, known, ("within",))
    both = set(names) & set(changed)
    if both:
        text = f"`{min(both)}` cannot both be changed and divide the rows into strata"
        problems = (*problems, Problem("PPF782", text, ("within",)))
    return problems


def carried(kind: type[R], requirements: Iterable[Requirement], attributes: Attributes) -> tuple[R, ...]:
    """Return the requirements of a kind in present names; not one of whose secrets none reaches the step."""
    present = {facts.source or facts.name: facts.name for facts in attributes.values()}
    renamed = (r.renamed(partial(_name, present)) for r in requirements if isinstance(r, kind))
    return tuple(r for r in renamed if r is not None)


def _name(present: Mapping[str, str], attribute: str) -> str | None:
    """Return the present name, or None; while the columns are unread, a pattern may match the attribute."""
    if attribute in present:
        return present[attribute]
    covered = any(is_pattern(name) and fnmatchcase(attribute, name) for name in present)
    return attribute if covered else None


def subject_of(attributes: Attributes) -> str | None:
    """Return the attribute that says whose row it is, by its present name; None where none reaches the step."""
    return next((name for name, facts in attributes.items() if facts.role is Role.SUBJECT), None)


def changed_subject(attributes: Attributes) -> tuple[Problem, ...]:
    """Return a problem where the subject has other values than the source's: it no longer says whose row it is.

    Pseudonyms are as good: equal ones are those of equal subjects, and no others.
    """
    name = subject_of(attributes)
    changes = () if name is None else attributes[name].changes
    steps = [step for step, change in changes if change is not Change.PSEUDONYMIZED]
    if name is None or not (steps or (attributes[name].derived is not None and not changes)):
        return ()
    by = f"`{steps[0]}` has changed it" if steps else "a step has made it"
    text = f"`{name}` says whose row it is, and no longer does here: {by}"
    return (Problem("PPF783", text, hint="move this step before the one that changes it"),)


def require(patterns: Iterable[str], columns: Iterable[str], step: str) -> None:
    """Raise PluginError for every name or pattern that no column answers to."""
    known = tuple(columns)
    absent = [p for p in patterns if not matching(p, known)]
    if absent:
        raise PluginError([_diagnostic(name, known, step) for name in absent])


def _diagnostic(name: str, known: tuple[str, ...], step: str) -> Diagnostic:
    near = closest(name, known)
    return Diagnostic(
        UNKNOWN, f"step `{step}` finds no column `{name}`", hint=f"did you mean `{near}`?" if near else None
    )
