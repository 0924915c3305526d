"""The card of the audit `corruption`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.audits.corruption.measures import FIGURES
from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class CorruptionParams(Params):
    """``corrupted`` is how many others the adversary knows, in the target's class: a number, or ``all`` of them.

    ``attributes`` are all sensitive ones if not given. ``sampled`` is for perturbed attributes: each released row was
    drawn from that many records of its class (perturbed generalization); 1 where every record is released.
    """

    corrupted: Annotated[int, Field(ge=0)] | Literal["all"] = 1
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sampled: Annotated[int, Field(ge=1)] = 1


SPEC = PluginSpec(
    info=PluginInfo(
        name="corruption",
        kind=Kind.AUDIT,
        summary="what someone learns of a person who knows the true values of some of the others",
        reference=(
            "Tao, Xiao, Li, Zhang, On anti-corruption privacy preserving publication, ICDE 2008;"
            " Chaytor, Wang, Fine grain perturbation for privacy preserving data publishing, Figure 1"
        ),
        cost="one count over the quasi-identifiers and each sensitive attribute; one pass over pairs if perturbed",
        figures=FIGURES,
    ),
    params=CorruptionParams,
    algorithm="ppdm_flow.audits.corruption.algorithm:CorruptionAudit",
    effect=chosen_attributes,
)
