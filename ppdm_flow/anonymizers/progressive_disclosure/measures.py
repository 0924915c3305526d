"""What the figures of `progressive_disclosure` say."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.plugin_info import FigureInfo

FIGURES: Mapping[str, FigureInfo] = {
    "suppressed_cells": FigureInfo("the cells that the step replaced by ⊥", better="lower"),
    "suppressed_share": FigureInfo(
        "their share of the cells of attributes that could have been suppressed",
        formula="suppressed cells / cells",
        better="lower",
    ),
    "disclosed_values": FigureInfo("the distinct values that the search could disclose again", better="higher"),
    "suppressed_values": FigureInfo("the distinct values that are suppressed wherever they occur", better="lower"),
    "generalized_cells": FigureInfo("the cells that show a coarser value", better="lower"),
    "generalized_share": FigureInfo(
        "their share of the cells of attributes that could have been suppressed",
        formula="generalized cells / cells",
        better="lower",
    ),
    "generalized_values": FigureInfo("the distinct values that show as a coarser one", better="lower"),
    "disclosures": FigureInfo("the steps of the search, each of which disclosed a value"),
    "information_kept": FigureInfo(
        "what the disclosure keeps: the information of the class and each attribute's cells, summed, in bits a row",
        formula="sum over attributes of the mutual information of class and cells; without a target, the"
        " entropy of the cells",
        better="higher",
    ),
    "information_kept_greedy": FigureInfo(
        "what the greedy search alone would have kept", formula="the same sum", better="higher"
    ),
    "information_gained_by_search": FigureInfo(
        "what `search: beam` or `lookahead` keeps beyond the greedy search",
        formula="`information_kept` - `information_kept_greedy`",
        better="higher",
    ),
    "redundant_templates": FigureInfo(
        "the templates that hold wherever another one does, and so cost nothing more",
        formula="Lemma 3.1: a channel that contains the other's, with at most its confidence",
    ),
}
