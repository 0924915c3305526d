"""Which attributes of a plan a parameter means: exact names, and glob patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Problem

UNKNOWN = "PPF781"


def is_pattern(name: str) -> bool:
    """Whether ``name`` is a glob pattern."""
    return any(mark in name for mark in "*?[")


def reaches(name: str, known: Iterable[str]) -> bool:
    """Whether an attribute is among ``known``; while the columns are unread, patterns stand among them."""
    names = tuple(known)
    return name in names or any(is_pattern(k) and fnmatchcase(name, k) for k in names)


def matching(pattern: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the attributes that ``pattern`` means, in the order of ``known``; itself where a known pattern has it."""
    names = tuple(known)
    if pattern in names:
        return (pattern,)
    found = tuple(k for k in names if is_pattern(pattern) and fnmatchcase(k, pattern))
    return found or ((pattern,) if reaches(pattern, names) else ())


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
