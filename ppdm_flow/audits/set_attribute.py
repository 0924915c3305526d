"""The check, at compile time, of a parameter that names sets. Imported by specs: light."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Problem, Scope


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
