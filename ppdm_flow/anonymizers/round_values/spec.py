"""Rounding: its card, parameters and effect."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.anonymizers.numeric_attributes import Names, of_names, present
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import CellKind, Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

MOST_DECIMALS = 9
LARGEST = 1_000_000_000


class RoundParams(Params):
    """``attributes`` become multiples of ``base``: the nearest one, a random one, or so that totals are kept."""

    attributes: Names
    base: Annotated[float, Field(gt=0.0, le=LARGEST)]
    how: Literal["nearest", "random", "controlled"] = "nearest"
    by: tuple[str, ...] = ()

    @property
    def exact(self) -> Decimal:
        """The base as it is written."""
        return Decimal(repr(self.base)).normalize()


def effect(params: RoundParams, scope: Scope) -> Effect:
    """Round numbers, which stay numbers."""
    there = present(params.attributes, scope)
    by = present(params.by, scope)
    plain = Derivation((), value_map=True) if params.how == "nearest" else Derivation((), by, kind=CellKind.NOISY)
    totals = f" and by {', '.join(by)}" if by else ""
    return Effect(
        reads=(*there, *(name for name in by if name not in there)),
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=there,
        derivations=changed_in_place(there, plain),
        draws=params.how != "nearest",
        guarantee=f"totals, overall{totals}, change by less than one base" if params.how == "controlled" else "",
        problems=(
            *of_names(params.attributes, scope),
            *missing_ones(params.by, scope.attributes, ("by",)),
            *_contradictions(params, scope),
        ),
    )


def _contradictions(params: RoundParams, scope: Scope) -> list[Problem]:
    problems = []
    if params.by and params.how != "controlled":
        problems.append(Problem("PPF782", "`by` says whose totals are kept: say `how: controlled`", ("by",)))
    if set(params.by) & set(params.attributes):
        problems.append(Problem("PPF782", "an attribute cannot both be rounded and say whose totals are kept", ("by",)))
    decimals = -int(params.exact.as_tuple().exponent)
    if decimals > MOST_DECIMALS:
        problems.append(Problem("PPF782", f"`base` has more than {MOST_DECIMALS} decimals", ("base",)))
    for name in present(params.attributes, scope):
        kind = scope.attributes[name].type
        most = {AttributeType.INTEGER: 0, AttributeType.DATE: 0, AttributeType.TIMESTAMP: 6}.get(kind, MOST_DECIMALS)
        if decimals > most and decimals <= MOST_DECIMALS:
            text = f"multiples of such a `base` are no values of type `{kind}`, which `{name}` is of"
            problems.append(Problem("PPF782", text, ("base",)))
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/round_values",
        Kind.TABLE,
        randomized=True,
        asks=AccessRequirements(DataAccess.TABLE, passes=1, passes_each=2),
    ),
    params=RoundParams,
    algorithm="ppdm_flow.anonymizers.round_values.algorithm:RoundValues",
    effect=effect,
)
