"""Shuffle rows: its card and effect; it has no parameters."""

from __future__ import annotations

from ppdm_flow.core.asks import NOTHING
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope


class ShuffleParams(Params):
    """None."""


def effect(_params: ShuffleParams, _scope: Scope) -> Effect:
    """Put the rows in random order."""
    return Effect(rows="reordered", guarantee="the order of rows tells nothing")


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/shuffle_rows", Kind.ORDER, randomized=True, asks=NOTHING),
    params=ShuffleParams,
    algorithm="ppdm_flow.anonymizers.shuffle_rows.algorithm:ShuffleRows",
    effect=effect,
)
