"""Top and bottom coding: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ppdm_flow.anonymizers.numeric_attributes import Names, of_bounds, of_names, present
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

TOO_FEW = "PPF818"
LEAST_TAIL = 3


class Limit(BaseModel):
    """The begin of a tail: a number as the column writes it, or a ``quantile`` of the column, exactly one of them."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    number: str | None = None
    quantile: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None


def _limit(value: Any) -> Any:
    return {"number": str(value)} if isinstance(value, str | int | float) else value


Bound = Annotated[Limit, BeforeValidator(_limit)]


class TopBottomParams(Params):
    """Numbers of ``attributes`` above ``top`` or below ``bottom`` become the bound, or the mean of their tail."""

    attributes: Names
    top: Bound | None = None
    bottom: Bound | None = None
    replace: Literal["bound", "mean"] = "bound"
    min_rows: Annotated[int, Field(ge=LEAST_TAIL)] = LEAST_TAIL


def effect(params: TopBottomParams, scope: Scope) -> Effect:
    """Replace the tails, by numbers of the same type."""
    there = present(params.attributes, scope)
    tops, bottoms = (None if limit is None else limit.number for limit in (params.top, params.bottom))
    return Effect(
        reads=there,
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=there,
        derivations=value_maps(there),
        problems=(
            *of_names(params.attributes, scope),
            *of_bounds(bottoms, tops, params.attributes, scope, ("bottom", "top")),
            *_contradictions(params),
        ),
    )


def _contradictions(params: TopBottomParams) -> list[Problem]:
    problems = []
    if params.top is None and params.bottom is None:
        problems.append(Problem("PPF782", "neither `top` nor `bottom` is given, so nothing is replaced"))
    for key, limit in (("top", params.top), ("bottom", params.bottom)):
        if limit is not None and (limit.number is None) == (limit.quantile is None):
            problems.append(Problem("PPF782", f"`{key}` is a number or a `quantile`, exactly one of them", (key,)))
    shares = [limit.quantile for limit in (params.bottom, params.top) if limit is not None and limit.quantile]
    if shares != sorted(set(shares)):
        problems.append(Problem("PPF782", "`bottom` must lie below `top`", ("bottom",)))
    if "min_rows" in params.model_fields_set and params.replace != "mean":
        text = "`min_rows` says of how many rows a mean may be released: say `replace: mean`"
        problems.append(Problem("PPF782", text, ("min_rows",)))
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/top_bottom_code", Kind.ROW_WISE, asks=AccessRequirements(DataAccess.ROWS, passes=1, passes_each=4)
    ),
    params=TopBottomParams,
    algorithm="ppdm_flow.anonymizers.top_bottom_code.algorithm:TopBottomCode",
    effect=effect,
)
