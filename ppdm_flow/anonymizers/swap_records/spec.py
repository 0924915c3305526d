"""Targeted record swapping: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import CellKind, Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

Some = Annotated[tuple[str, ...], Field(min_length=1)]


class SwapRecordsParams(Params):
    """Rows that fewer than ``k`` share the ``key`` with, in an area of a level of ``areas``, are swapped."""

    areas: Some
    key: Some
    similar: Annotated[tuple[tuple[str, ...], ...], Field(min_length=1)]
    k: Annotated[int, Field(ge=2)] = 3
    swap_rate: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    carry_along: tuple[str, ...] = ()

    @property
    def exchanged(self) -> tuple[str, ...]:
        """The attributes that change places, each once."""
        return tuple(dict.fromkeys((*self.areas, *self.carry_along)))

    @property
    def compared(self) -> tuple[str, ...]:
        """The attributes that define risky and similar records, each once."""
        return tuple(dict.fromkeys((*self.key, *(name for profile in self.similar for name in profile))))


def effect(params: SwapRecordsParams, scope: Scope) -> Effect:
    """Move areas to other rows."""
    known = tuple(scope.attributes)
    exchanged, compared = ([n for n in names if n in known] for names in (params.exchanged, params.compared))
    problems = [
        *missing_ones(params.areas, known, ("areas",)),
        *missing_ones(params.key, known, ("key",)),
        *missing_ones(params.carry_along, known, ("carry_along",)),
        *(p for i, profile in enumerate(params.similar) for p in missing_ones(profile, known, ("similar", str(i)))),
    ]
    if set(params.exchanged) & set(params.compared):
        text = "an attribute cannot both be exchanged and say who is risky or similar"
        problems.append(Problem("PPF782", text, ("areas",)))
    return Effect(
        reads=tuple(dict.fromkeys((*exchanged, *compared))),
        changes=dict.fromkeys(exchanged, Change.OTHER),
        numbers=tuple(exchanged),
        derivations=changed_in_place(
            exchanged, Derivation((), (*exchanged, *compared), within=tuple(compared), kind=CellKind.EXCHANGED)
        ),
        guarantee="each combination of exchanged values is as frequent as before",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/swap_records", Kind.TABLE, randomized=True, asks=AccessRequirements(DataAccess.TABLE, passes=3)
    ),
    params=SwapRecordsParams,
    algorithm="ppdm_flow.anonymizers.swap_records.algorithm:SwapRecords",
    effect=effect,
)
