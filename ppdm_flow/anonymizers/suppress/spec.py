"""Suppress: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.naming import carried, missing_ones
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import Supported
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Names = Annotated[tuple[str, ...], Field(min_length=1)]
Importance = Annotated[float, Field(gt=0.0, le=1e9)]


class SuppressParams(Params):
    """What becomes of rare values, and of classes of fewer than k rows."""

    rare: dict[str, Supported] = Field(default_factory=dict)
    small: Literal["cells", "rows", "keep"] = "cells"
    attributes: Names | None = None
    k: Annotated[int, Field(ge=2)] | None = None
    importance: dict[str, Importance] = Field(default_factory=dict)


def chosen(params: SuppressParams, scope: Scope) -> tuple[tuple[str, ...], int | None]:
    """Return the attributes that classes are over, and k; none where there is nothing to do about classes."""
    requirements = carried(KAnonymity, scope.requirements, scope.attributes)
    names = params.attributes or tuple(dict.fromkeys(a for r in requirements for a in r.attributes))
    k = params.k or max((r.k for r in requirements), default=None)
    return ((), None) if params.small == "keep" or k is None else (names, k)


def served(params: SuppressParams, scope: Scope) -> tuple[KAnonymity, ...]:
    """Return what holds afterwards: k-anonymity over no other attributes than those of the classes."""
    names, k = chosen(params, scope)
    requirements = carried(KAnonymity, scope.requirements, scope.attributes)
    return tuple(
        r for r in requirements if k is not None and r.attributes and set(r.attributes) <= set(names) and r.k <= k
    )


def effect(params: SuppressParams, scope: Scope) -> Effect:
    """Suppress cells, drop rows."""
    names, k = chosen(params, scope)
    held = served(params, scope)
    cells = names if params.small == "cells" else ()
    return Effect(
        reads=tuple(dict.fromkeys((*names, *params.rare))),
        changes=dict.fromkeys((*cells, *params.rare), Change.SUPPRESSED),
        derivations=value_maps((*cells, *params.rare), (*names, *params.rare)),
        rows="fewer" if names else "same",
        serves=tuple(r.id for r in held),
        guarantee=f"every class over {', '.join(names)} has at least {k} rows" if held else "",
        problems=_problems(params, scope, names),
    )


def _problems(params: SuppressParams, scope: Scope, names: tuple[str, ...]) -> tuple[Problem, ...]:
    problems = list(missing_ones(params.attributes or (), scope.attributes, ("attributes",)))
    for name in params.rare:
        problems += [
            Problem(p.code, p.message, ("rare", name), p.hint, named=True)
            for p in missing_ones([name], scope.attributes, ())
        ]
    for name in params.importance:
        if name not in names:
            text = f"`{name}` is none of the attributes that classes are over"
            problems.append(Problem("PPF781", text, ("importance", name), named=True))
    if not names and not params.rare:
        problems.append(
            Problem("PPF780", "nothing to suppress: no `rare` values, and no k with attributes for classes")
        )
    return tuple(problems)


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/suppress", Kind.ROW_WISE, serves=("k_anonymity",)),
    params=SuppressParams,
    algorithm="ppdm_flow.anonymizers.suppress.algorithm:Suppress",
    effect=effect,
)
