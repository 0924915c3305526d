"""Recode: its card, parameters and effect."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.asks import NOTHING
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Range = tuple[float, float]


class RecodeRule(Params):
    """Either ``ranges``, which maps each new value to its numbers [from, below), or ``values``, which maps old to new.

    ``other`` is the new value of all else. Without it a value that nothing covers is an error, unless
    ``keep_others`` lets it stay as it is.
    """

    ranges: Annotated[dict[str, Range], Field(min_length=1)] | None = None
    values: Annotated[dict[str, str], Field(min_length=1)] | None = None
    other: str | None = None
    keep_others: bool = False


class RecodeParams(Params):
    """``attributes`` are the attributes to recode, by name."""

    attributes: Annotated[dict[str, RecodeRule], Field(min_length=1)]


def effect(params: RecodeParams, scope: Scope) -> Effect:
    """Replace values as the policy writes them down."""
    known = tuple(scope.attributes)
    there = tuple(name for name in params.attributes if name in scope.attributes)
    problems = [*missing_ones(params.attributes, known, ("attributes",))]
    for name, rule in params.attributes.items():
        problems += [Problem(p.code, p.message, ("attributes", name, *p.path), p.hint) for p in _of_rule(name, rule)]
        fact = scope.attributes.get(name)
        if fact is not None and fact.role in (Role.IDENTIFIER, Role.SUBJECT):
            text = f"`{name}` identifies people: other values for them, one by one, identify them as well"
            problems.append(Problem("PPF826", text, ("attributes", name), "use `pseudonymize`, `mask` or `drop`"))
    return Effect(
        reads=there,
        changes=dict.fromkeys(there, Change.GENERALIZED),
        derivations=value_maps(there),
        guarantee="every released value is one that the policy writes down, unless `keep_others` is said",
        problems=tuple(problems),
        recodes={name: rule.values for name in there if (rule := params.attributes[name]).values is not None},
    )


def _of_rule(name: str, rule: RecodeRule) -> list[Problem]:
    if (rule.ranges is None) == (rule.values is None):
        return [Problem("PPF782", f"`{name}` is recoded by `ranges` or by `values`: give one of them")]
    if rule.other is not None and rule.keep_others:
        return [Problem("PPF782", "`other` replaces what `keep_others` would leave: give one of them", ("other",))]
    spans = list((rule.ranges or {}).values())
    if any(low >= high for low, high in spans):
        return [Problem("PPF826", "a range goes from a lower number to a higher one, which it leaves out", ("ranges",))]
    if any(max(a[0], b[0]) < min(a[1], b[1]) for a, b in combinations(spans, 2)):
        return [Problem("PPF826", "two ranges have numbers in common, so these have two new values", ("ranges",))]
    return []


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/recode", Kind.ROW_WISE, asks=NOTHING),
    params=RecodeParams,
    algorithm="ppdm_flow.anonymizers.recode.algorithm:Recode",
    effect=effect,
)
