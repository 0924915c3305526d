"""Mask: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ppdm_flow.anonymizers.naming import is_pattern, matching, missing_ones
from ppdm_flow.core.asks import NOTHING
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

FORMATS = {"postal_code": (3, 0), "card_number": (0, 4), "phone": (3, 2)}
"""First and last characters that each format keeps."""


class MaskRule(Params):
    """``first`` and ``last`` are how many letters and digits stay at either end; ``sign`` replaces each other one.

    ``format`` gives these two for texts of a known kind. ``separators: mask`` covers blanks, dashes and the like too.
    ``length`` writes that many signs for a text of any length: else the length reveals something as well.
    """

    format: Literal["postal_code", "card_number", "phone"] | None = None
    first: Annotated[int, Field(ge=0)] | None = None
    last: Annotated[int, Field(ge=0)] | None = None
    sign: Annotated[str, Field(min_length=1, max_length=1)] = "*"
    separators: Literal["keep", "mask"] = "keep"
    length: Annotated[int, Field(ge=1, le=100)] | None = None

    @property
    def ends(self) -> tuple[int, int]:
        """The characters that stay at the start and at the end."""
        first, last = FORMATS.get(self.format or "", (0, 0))
        return (first if self.first is None else self.first, last if self.last is None else self.last)


def _named(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: {"format": rule} if isinstance(rule, str) else rule or {} for name, rule in value.items()}
    return value


class MaskParams(Params):
    """``attributes`` are the attributes (names or globs), each with how it is covered, or with the name of a format."""

    attributes: Annotated[dict[str, MaskRule], BeforeValidator(_named), Field(min_length=1)]

    def covers(self, known: tuple[str, ...]) -> dict[str, MaskRule]:
        """Return the rule of each attribute; an exact name wins."""
        ordered = sorted(self.attributes, key=lambda name: not is_pattern(name))
        return {name: self.attributes[key] for key in ordered for name in matching(key, known)}


def effect(params: MaskParams, scope: Scope) -> Effect:
    """Cover characters: a masked text then fits all texts that look like it."""
    known = tuple(scope.attributes)
    rules = params.covers(known)
    problems: list[Problem] = list(missing_ones(params.attributes, known, ("attributes",)))
    return Effect(
        reads=tuple(rules),
        changes=dict.fromkeys(rules, Change.GENERALIZED),
        derivations=value_maps(rules),
        guarantee="every released text has at least one covered character",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/mask", Kind.ROW_WISE, asks=NOTHING),
    params=MaskParams,
    algorithm="ppdm_flow.anonymizers.mask.algorithm:Mask",
    effect=effect,
)
