"""Generalize: its card, parameters and effect."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ppdm_flow.anonymizers.naming import absent, is_pattern, matching, reaches
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change, HierarchySpec
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import label_words
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope

METHODS = ("intervals", "prefix", "hierarchy", "round", "date")


class GeneralizationRule(Params):
    """How one attribute is generalized. None of the methods means: by its own hierarchy, to ``level``.

    ``intervals`` are ascending edges of half-open intervals [a, b); ``open_ends`` lets values lie outside of them.
    ``prefix`` keeps so many characters and writes ``mask`` for the others, up to the length of the longest value.
    ``hierarchy`` is a CSV file relative to the policy, leaf first. ``round`` gives the nearest multiple. ``bottom`` and
    ``top`` code what is not between them, and go together with ``round`` for what is; ``coded: number`` writes the end
    itself (90 for all from 90 on) in place of ``>= 90``, so that later steps read nothing but numbers. ``date``
    truncates; ``format`` is how dates are written (strptime), ISO 8601 if left out.
    """

    intervals: Annotated[tuple[float, ...], Field(min_length=2)] | None = None
    open_ends: Literal["none", "below", "above", "both"] = "none"
    prefix: Annotated[int, Field(ge=0)] | None = None
    mask: Annotated[str, Field(min_length=1, max_length=1)] = "*"
    hierarchy: FilePath | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ";"
    level: Annotated[int, Field(ge=0)] = 1
    round: Annotated[float, Field(gt=0.0)] | None = None
    bottom: float | None = None
    top: float | None = None
    coded: Literal["label", "number"] = "label"
    date: Literal["year", "month", "quarter", "decade"] | None = None
    format: str | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that are given; ``bottom`` and ``top`` are one, with ``round`` or without."""
        given = tuple(m for m in METHODS if getattr(self, m) is not None)
        if self.bottom is None and self.top is None:
            return given
        return (*(m for m in given if m != "round"), "coding")


def _as_map(value: Any) -> Any:
    """Read a list of names, and names without a rule, as: by the attribute's own hierarchy."""
    if isinstance(value, list | tuple):
        return {name: {} for name in value}
    if isinstance(value, dict):
        return {name: {} if rule is None else rule for name, rule in value.items()}
    return value


class GeneralizeParams(Params):
    """A rule by attribute (names or globs). Left out: every attribute that has a hierarchy goes to its level 1."""

    attributes: Annotated[dict[str, GeneralizationRule], BeforeValidator(_as_map), Field(min_length=1)] | None = None

    def rules(self, own: dict[str, HierarchySpec | None]) -> dict[str, GeneralizationRule]:
        """Return the rule of each attribute; ``own`` are the hierarchies of all attributes. An exact name wins."""
        if self.attributes is None:
            return {name: GeneralizationRule() for name, hierarchy in own.items() if hierarchy is not None}
        ordered = sorted(self.attributes, key=lambda name: not is_pattern(name))
        return {name: self.attributes[key] for key in ordered for name in matching(key, own)}


def effect(params: GeneralizeParams, scope: Scope) -> Effect:
    """Replace values by coarser ones."""
    single = {name: facts.role is not Role.ITEMS for name, facts in scope.attributes.items()}
    own = {name: facts.hierarchy if single[name] else None for name, facts in scope.attributes.items()}
    rules = params.rules(own)
    return Effect(
        reads=tuple(rules),
        changes=dict.fromkeys(rules, Change.GENERALIZED),
        derivations=value_maps(rules),
        guarantee="a released value covers at least all values of its group in the hierarchy",
        told={name: note for name, rule in rules.items() if (note := _describe_labels(rule, own.get(name)))},
        problems=tuple(_problems(params, own)),
    )


def _describe_labels(rule: GeneralizationRule, own: HierarchySpec | None) -> str:
    """Return how recipients read the labels of a rule."""
    if "coding" in rule.methods:
        return f"{_CODED}, or were rounded." if rule.round else f"{_CODED}."
    if rule.intervals is not None:
        return label_words.INTERVALS
    if rule.prefix is not None:
        kept = counted(rule.prefix, "character")
        return f"Of each value only the first {kept} were kept: the others are written as `{rule.mask}`."
    if rule.round is not None:
        return "Each number was rounded to the nearest multiple of a base."
    if rule.date is not None:
        return f"Each date was cut to its {rule.date}."
    if rule.hierarchy is not None:
        return label_words.CATEGORIES
    return "" if own is None or rule.level == 0 else label_words.of_hierarchy(own)


_CODED = "Values beyond a bound are one value; those within are as they were"


def _problems(params: GeneralizeParams, own: dict[str, HierarchySpec | None]) -> list[Problem]:
    if params.attributes is None:
        none = not any(h is not None for h in own.values())
        return [Problem("PPF780", "nothing to generalize: no attribute here has a hierarchy")] if none else []
    problems: list[Problem] = []
    for name, rule in params.attributes.items():
        if not matching(name, own):
            problems.append(absent(name, own, ("attributes", name)))
        problems += _of_rule(name, rule, own)
    return problems


def _of_rule(name: str, rule: GeneralizationRule, own: dict[str, HierarchySpec | None]) -> list[Problem]:
    path = ("attributes", name)
    problems: list[Problem] = []
    if len(rule.methods) > 1:
        text = f"one way to generalize an attribute, not several: {', '.join(rule.methods)}"
        problems.append(Problem("PPF782", text, path))
    if not rule.methods and reaches(name, own) and any(own.get(n) is None for n in matching(name, own)):
        problems.append(Problem("PPF780", f"`{name}` has no hierarchy, and no other way is given", path))
    edges = rule.intervals or ()
    if any(a >= b for a, b in pairwise(edges)):
        problems.append(Problem("PPF782", "the edges of intervals must ascend", (*path, "intervals")))
    if rule.coded == "number" and "coding" not in rule.methods:
        problems.append(
            Problem("PPF782", "`coded` says how `bottom` and `top` are written, and there is neither", path)
        )
    if rule.bottom is not None and rule.top is not None and rule.bottom >= rule.top:
        problems.append(Problem("PPF782", "`bottom` must lie below `top`", (*path, "bottom")))
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/generalize", Kind.ROW_WISE, asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=GeneralizeParams,
    algorithm="ppdm_flow.anonymizers.generalize.algorithm:Generalize",
    effect=effect,
)
