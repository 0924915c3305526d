"""The card of the audit `cumulative_k`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class CumulativeKParams(Params):
    """Where the policy asks for no cumulative k, ``k`` is the size below which groups of people are told of."""

    k: Annotated[int, Field(ge=2)] | None = None


SPEC = PluginSpec(
    info=PluginInfo(
        name="cumulative_k",
        kind=Kind.AUDIT,
        summary="intersection and difference attack with all earlier releases: the smallest group of people left",
        reference="Ganta, Kasiviswanathan, Smith, Composition attacks and auxiliary information in data privacy,"
        " KDD 2008; Xiao, Tao, m-Invariance, SIGMOD 2007",
        serves=("cumulative_k",),
        cost="one sort of the people of each earlier release",
        figures={
            "k": FigureInfo(
                "the smallest group of people that this and all other releases of the ledger leave together",
                "min over groups of people with the same class in every release, or the same absence",
                "higher",
            ),
            "k_present": FigureInfo(
                "the same of the people who are in this release: found by intersection",
                "min over such groups",
                "higher",
            ),
            "k_gone": FigureInfo(
                "the same of people who are missing from this release, and whom earlier ones do not tell from some who"
                " are in it: found by difference",
                "min over such groups",
                "higher",
            ),
            "people_below": FigureInfo("the people in groups of fewer than the required k", better="lower"),
            "groups": FigureInfo("the groups of people, present or gone", better="lower"),
            "earlier": FigureInfo("the other releases of the ledger, whoever they were made for"),
            "rows": FigureInfo("the rows of this release that are somebody's"),
            "cells": FigureInfo("the classes of this release over all that its people can be told apart by"),
        },
    ),
    params=CumulativeKParams,
    algorithm="ppdm_flow.requirements.cumulative_k.algorithm:CumulativeKAudit",
)
