"""Checks, at compile time, of the classifier and the class attribute that a policy names. Imported by specs: light."""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.audits.learning.catalogue import CLASSIFIERS, meant, strange
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Problem, Scope


def classifier_problems(name: str, options: Iterable[str]) -> tuple[Problem, ...]:
    """Say what is wrong with a classifier's name or with the names of its options."""
    if name not in CLASSIFIERS:
        near = meant(name)
        hint = f"did you mean `{near}`?" if near else None
        return (Problem("PPF834", f"`{name}` is no classifier that can be used here", ("classifier",), hint),)
    found = []
    for option in strange(name, options):
        near = closest(option, CLASSIFIERS[name])
        hint = f"did you mean `{near}`?" if near else None
        found.append(Problem("PPF835", f"`{name}` has no option `{option}`", ("options", option), hint))
    return tuple(found)


def targets(target: str | None, scope: Scope) -> tuple[list[AttributeFacts], tuple[Problem, ...]]:
    """Return the released attributes that are the class attribute, and what is wrong where there is none."""
    every = scope.attributes.values()
    if target is None:
        found = [a for a in every if a.role is Role.TARGET]
        text = "no attribute of the release has the role `target`: say which one with `target:`"
        return found, () if found else (Problem("PPF832", text),)
    found = [a for a in every if target in (a.name, a.source)]
    if found:
        return found, ()
    near = closest(target, [a.source or a.name for a in every])
    hint = f"did you mean `{near}`?" if near else None
    return found, (Problem("PPF832", f"the release has no attribute `{target}`", ("target",), hint),)
