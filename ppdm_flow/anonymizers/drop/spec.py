"""Drop: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import matching, missing_ones
from ppdm_flow.core.asks import NOTHING
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope


class DropParams(Params):
    """Names or glob patterns of the attributes that go."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)]

    def chosen(self, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return the attributes to drop, each once."""
        return tuple(dict.fromkeys(name for pattern in self.attributes for name in matching(pattern, known)))


def effect(params: DropParams, scope: Scope) -> Effect:
    """Take the attributes out of the table."""
    known = tuple(scope.attributes)
    return Effect(drops=params.chosen(known), problems=missing_ones(params.attributes, known, ("attributes",)))


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/drop", Kind.ROW_WISE, asks=NOTHING),
    params=DropParams,
    algorithm="ppdm_flow.anonymizers.drop.algorithm:Drop",
    effect=effect,
)
