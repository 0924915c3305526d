"""Checks, at compile time, of attributes that an audit's parameters name."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Problem, Scope


def chosen_attributes(params: Any, scope: Scope) -> Effect:
    """Complain of each of ``params.attributes`` that the release does not have, under either of its names."""
    known = {n for a in scope.attributes.values() for n in (a.name, a.source) if n}
    problems = []
    for i, name in enumerate(params.attributes or ()):
        if name not in known:
            near = closest(name, known)
            hint = f"did you mean `{near}`?" if near else None
            problems.append(Problem("PPF842", f"the release has no attribute `{name}`", ("attributes", str(i)), hint))
    return Effect(problems=tuple(problems))
