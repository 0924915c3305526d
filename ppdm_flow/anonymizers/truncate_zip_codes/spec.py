"""Truncate ZIP codes: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import matching, missing_ones
from ppdm_flow.core.asks import NOTHING
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.requirements.safe_harbor.requirement import LISTS, WRITTEN
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class TruncateZipCodesParams(Params):
    """``attributes`` are names or globs of columns of ZIP codes.

    ``small_areas`` are those whose digits become 000: ``census_2000``, ``census_2020``, or areas by three digits.
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)]
    small_areas: Annotated[tuple[Annotated[str, Field(pattern=WRITTEN)], ...], Field(min_length=1)] = LISTS

    def columns(self, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return the attributes that are meant, each once."""
        return tuple(dict.fromkeys(name for each in self.attributes for name in matching(each, known)))


def effect(params: TruncateZipCodesParams, scope: Scope) -> Effect:
    """Keep three digits, or none."""
    known = tuple(scope.attributes)
    columns = params.columns(known)
    problems: list[Problem] = list(missing_ones(params.attributes, known, ("attributes",)))
    return Effect(
        reads=columns,
        changes=dict.fromkeys(columns, Change.GENERALIZED),
        derivations=value_maps(columns),
        guarantee="a released cell has three digits of a ZIP code or 000, and those of no small area",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/truncate_zip_codes", Kind.ROW_WISE, asks=NOTHING),
    params=TruncateZipCodesParams,
    algorithm="ppdm_flow.anonymizers.truncate_zip_codes.algorithm:TruncateZipCodes",
    effect=effect,
)
