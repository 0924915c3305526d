"""What ``check`` and ``plan`` load."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.plugins import Change, Effect, Kind, Params, PluginInfo, PluginSpec, Problem, Scope


class RoundingParams(Params):
    """``attribute`` holds whole numbers; ``base`` is what they are rounded to multiples of."""

    attribute: str
    base: Annotated[int, Field(ge=2)] = 3


def effect(params: RoundingParams, scope: Scope) -> Effect:
    problems = ()
    if params.attribute not in scope.attributes:
        problems = (Problem("ACME1", f"no attribute `{params.attribute}` to round", ("attribute",)),)
    return Effect(
        reads=(params.attribute,),
        changes={params.attribute: Change.OTHER},
        guarantee=f"numbers are multiples of {params.base}, and their mean does not move",
        problems=problems,
    )


SPEC = PluginSpec(
    info=PluginInfo(
        name="acme_rounding",
        kind=Kind.ROW_WISE,
        summary="Rounds whole numbers up or down at random, without bias.",
        version="2.1.0",
        reference="Nargundkar, Saveland, Random rounding to prevent statistical disclosures, 1972",
        guarantees=("the expected value of every cell is its original",),
        randomized=True,
    ),
    params=RoundingParams,
    algorithm="acme_rounding.algorithm:Rounding",
    effect=effect,
)
