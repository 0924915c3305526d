"""Sets that clients randomized: the card and parameters."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class RandomizedSetsParams(Params):
    """The ``operator.json`` by which the clients randomized their sets, and its attribute, if it has several."""

    operator: str
    attribute: str | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page("sources/randomized_sets", Kind.SOURCE, sets="only"),
    params=RandomizedSetsParams,
    algorithm="ppdm_flow.sources.randomized_sets.algorithm:RandomizedSetsSource",
)
