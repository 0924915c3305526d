"""The card of the audit `anonymity_score`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.requirements.anonymity_score.measures import FIGURES
from ppdm_flow.sdk.spec import Params, PluginSpec


class AnonymityScoreParams(Params):
    """It has none: all released attributes that the original has are compared."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="anonymity_score",
        kind=Kind.AUDIT,
        summary="how many original rows occur in the release, the rarer the more they count (AS and NAS)",
        reference="Vreeken, van Leeuwen, Siebes, Preserving privacy through data generation, ICDM 2007",
        serves=("anonymity_score",),
        standalone=True,
        cost="one pass over either table, 24 bytes a row; twice where attributes have intervals",
        example="audits:\n  originals: {use: anonymity_score}\ngates:\n  few: {metric: originals.nas, max: 0.5}",
        figures=FIGURES,
    ),
    params=AnonymityScoreParams,
    algorithm="ppdm_flow.requirements.anonymity_score.algorithm:AnonymityScoreAudit",
)
