"""Checks, at compile time, of attributes that an audit's parameters name. Imported by specs: light."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Problem, Scope


def named_attributes(params: Any, scope: Scope) -> Effect:
    """Complain of each of ``params.attributes`` that the release does not have, under either of its names."""
    return Effect(problems=unknown({"attributes": params.attributes or ()}, scope))


def unknown(named: Mapping[str, Iterable[str]], scope: Scope) -> tuple[Problem, ...]:
    """Return a problem for each attribute, by parameter, that the release does not have."""
    known = {n for a in scope.attributes.values() for n in (a.name, a.source) if n}
    problems = []
    for parameter, names in named.items():
        for i, name in enumerate(names):
            if name not in known:
                near = closest(name, known)
                hint = f"did you mean `{near}`?" if near else None
                text = f"the release has no attribute `{name}`"
                problems.append(Problem("PPF861", text, (parameter, str(i)), hint))
    return tuple(problems)


def chosen_attributes(params: Any, scope: Scope) -> Effect:
    """Complain of each of ``params.attributes`` that the release does not have, under either of its names."""
    known = {n for a in scope.attributes.values() for n in (a.name, a.source) if n}
    problems = []
    for i, name in enumerate(params.attributes or ()):
        if name not in known:
            near = closest(name, known)
            hint = f"did you mean `{near}`?" if near else None
            problems.append(Problem("PPF861", f"the release has no attribute `{name}`", ("attributes", str(i)), hint))
    return Effect(problems=tuple(problems))


def named_sets(params: Any, scope: Scope) -> Effect:
    """Complain of ``params.attribute`` where the release has no sets of that name, under either of its names."""
    if params.attribute is None:
        return Effect()
    known = {n for a in scope.attributes.values() if a.role is Role.ITEMS for n in (a.name, a.source) if n}
    if params.attribute in known:
        return Effect()
    near = closest(params.attribute, known)
    hint = f"did you mean `{near}`?" if near else None
    return Effect(problems=(Problem("PPF861", f"the release has no sets `{params.attribute}`", ("attribute",), hint),))
