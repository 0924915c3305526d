"""The classifiers that a policy may name and their options, known without importing scikit-learn.

A closed list: only classifiers on the page beside this module are imported. Left out are classifiers made of other
classifiers, and options that are objects, talk, or take processor cores; the audit gives `random_state` itself. A test
compares the list with scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.pages import read_of_package
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Problem, Scope

_PAGE = read_of_package("ppdm_flow.audits.learning:classifiers.md")
CLASSIFIERS: Mapping[str, frozenset[str]] = {n: frozenset(o.split()) for n, o in _PAGE.sections.items() if n}
"""Options by the name of the classifier."""

Option = str | tuple[str, ...]
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


def meant(name: str) -> str | None:
    """Return the name that was probably meant: a misspelt one, or the class without its module."""
    by_class = {n.rpartition(".")[2]: n for n in CLASSIFIERS}
    near = closest(name.rpartition(".")[2], by_class)
    return by_class[near] if near else closest(name, CLASSIFIERS)


def strange(name: str, options: Iterable[str]) -> tuple[str, ...]:
    """Return the options that a classifier does not have."""
    return tuple(o for o in options if o not in CLASSIFIERS[name])


def classifier_problems(name: str, options: Iterable[str]) -> tuple[Problem, ...]:
    """Say what is wrong with a classifier's name or with the names of its options."""
    if name not in CLASSIFIERS:
        near = meant(name)
        hint = f"did you mean `{near}`?" if near else None
        return (Problem("PPF834", f"`{name}` is no classifier that can be used here", ("classifier",), hint),)
    problems = []
    for option in strange(name, options):
        near = closest(option, CLASSIFIERS[name])
        hint = f"did you mean `{near}`?" if near else None
        problems.append(Problem("PPF834", f"`{name}` has no option `{option}`", ("options", option), hint))
    return tuple(problems)


def targets(target: str | None, scope: Scope) -> tuple[list[AttributeFacts], tuple[Problem, ...]]:
    """Return the released attributes that are the class attribute, and what is wrong where there is none."""
    every = scope.attributes.values()
    if target is None:
        matches = [a for a in every if a.role is Role.TARGET]
        text = "no attribute of the release has the role `target`: say which one with `target:`"
        return matches, () if matches else (Problem("PPF861", text),)
    matches = [a for a in every if target in (a.name, a.source)]
    if matches:
        return matches, ()
    near = closest(target, [a.source or a.name for a in every])
    hint = f"did you mean `{near}`?" if near else None
    return matches, (Problem("PPF861", f"the release has no attribute `{target}`", ("target",), hint),)


def typed(option: Option) -> Any:
    """Return the value of a text: truth, nothing, a number, or a word; lists item by item.

    >>> typed("3"), typed("0.5"), typed("true"), typed("none"), typed("entropy"), typed(("20", "5"))
    (3, 0.5, True, None, 'entropy', (20, 5))
    """
    if not isinstance(option, str):
        return tuple(typed(item) for item in option)
    if option.lower() in _WORDS:
        return _WORDS[option.lower()]
    for kind in (int, float):
        try:
            return kind(option)
        except ValueError:
            continue
    return option
