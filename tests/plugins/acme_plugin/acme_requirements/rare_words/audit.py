"""The card of the audit."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import UNRELEASED
from ppdm_flow.sdk.spec import Params, PluginSpec

SPEC = PluginSpec(
    info=PluginInfo(
        name="acme_rare_words",
        kind=Kind.AUDIT,
        summary="share of released texts with a word that few rows of the original have",
        version="2.1.0",
        reference="Sweeney, Replacing personally-identifying information in medical records, AMIA 1996",
        serves=("acme_rare_words",),
        figures={
            "columns": UNRELEASED,
            "rare": FigureInfo(
                "the share of released cells with a rare word",
                "released cells with a word of 1 to min_count - 1 rows of the original / released cells",
                "lower",
            ),
            "rare_cells": FigureInfo("how many they are", "their number", "lower"),
        },
    ),
    params=Params,
    algorithm="acme_requirements.rare_words.algorithm:RareWordsAudit",
)
