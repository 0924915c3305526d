"""The card of the audit `singling_out`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.audits.singling_out.measures import FIGURES
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class SinglingOutParams(Params):
    """``attributes`` are those that the attacker makes conditions of.

    If not given they are all but identifiers where rows were held out; elsewhere the quasi-identifiers, since a
    condition on what only the release tells is nobody's to check.

    ``attempts`` is the number of guesses of each kind, at most: only conditions that fit exactly one released row are
    guesses. ``combined`` is how many attributes a multivariate one takes.
    ``reference`` bounds the original rows of a group that the guesses are tried on.

    Where there is something to guess and labels of the release cannot be read, the attack has no figures, and no gate
    on it holds (PPF856).
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    attempts: Annotated[int, Field(ge=10, le=100_000)] = 500
    combined: Annotated[int, Field(ge=2, le=20)] = 3
    reference: Annotated[int, Field(ge=10, le=10_000_000)] = 1_000_000


SPEC = PluginSpec(
    info=PluginInfo(
        name="singling_out",
        kind=Kind.AUDIT,
        summary="how often a condition read off the release fits exactly one person of the original",
        reference=(
            "Giomi, Boenisch, Wehmeyer, Tasnádi, A unified framework for quantifying privacy risk in synthetic data,"
            " PoPETs 2023; Cohen, Nissim, Towards formalizing the GDPR's notion of singling out, PNAS 117, 2020"
        ),
        cost="every guess is tried on every row of the reference until it fits a second one; seconds",
        example=("audits:\n  alone: {use: singling_out}\ngates:\n  nobody-alone: {metric: alone.risk, max: 0.05}"),
        figures=FIGURES,
    ),
    params=SinglingOutParams,
    algorithm="ppdm_flow.audits.singling_out.algorithm:SinglingOutAudit",
    effect=named_attributes,
)
