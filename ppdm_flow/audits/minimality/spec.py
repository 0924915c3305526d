"""The card of the audit `minimality`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.inference.knowledge import checked
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class MinimalityParams(Params):
    """The attacker knows that groups were merged only where a sensitive value had more than ``confidence`` of a group.

    ``k``: groups of fewer people than that were merged anyway, and tell nothing. ``values`` are the protected values of
    each attribute; of an attribute that is not named each value is taken for the one that was protected, which
    overstates what is learned. ``attributes`` tell people apart, ``sensitive`` are wanted. ``sample`` bounds the pairs
    of a class and a value that are looked at, ``largest`` the rows of a class.
    """

    confidence: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.5
    k: Annotated[int, Field(ge=1)] = 1
    values: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=1_000_000)] = 20_000
    largest: Annotated[int, Field(ge=2, le=10_000)] = 500


SPEC = PluginSpec(
    info=PluginInfo(
        name="minimality",
        kind=Kind.AUDIT,
        summary="what someone learns who knows that nothing was generalized without need",
        reference="Wong, Fu, Wang, Pei, Minimality attack in privacy preserving data publishing, VLDB 2007",
        cost="one pass over the pairs of rows; a product of polynomials for each kind of class",
        example=(
            "audits:\n  undone: {use: minimality, with: {confidence: 0.5, k: 5}}\n"
            "gates:\n  not-undone: {metric: undone.breached, max: 0}"
        ),
        figures={
            "breached": FigureInfo(
                "the share of people whose sensitive value is inferred beyond the bound by one who knows"
                " that classes were merged no further than needed",
                formula="people beyond the bound, which their class keeps / people looked at",
                better="lower",
            ),
            "worst_posterior": FigureInfo(
                "the highest such belief", formula="max over classes of P(value | release, method)", better="lower"
            ),
            "worst_before": FigureInfo(
                "the highest belief from the shares in the classes alone",
                formula="max over classes of the value's share",
            ),
        },
    ),
    params=MinimalityParams,
    algorithm="ppdm_flow.audits.minimality.algorithm:MinimalityAudit",
    effect=checked,
)
