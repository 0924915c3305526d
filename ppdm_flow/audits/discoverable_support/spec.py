"""The card of the audit `discoverable_support`."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from ppdm_flow.audits.records.attributes import named_sets
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec

Share = Annotated[float, Field(gt=0, le=1)]


class DiscoverableSupportParams(Params):
    """Curves are for the breach ``level``, and for itemsets of so many items as ``sizes`` say."""

    level: Annotated[float, Field(gt=0, lt=1)] = 0.5
    sizes: Annotated[tuple[Annotated[int, Field(ge=1, le=6)], ...], Field(min_length=1)] = (1, 2, 3)
    max_supports: Annotated[tuple[Share, ...], Field(min_length=1)] | None = None
    attribute: str | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError("`sizes` are to be ascending, each once")
        if self.max_supports is not None and list(self.max_supports) != sorted(self.max_supports, reverse=True):
            raise ValueError("`max_supports` are not to rise: a larger itemset is no more frequent than its parts")
        return self


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/discoverable_support", Kind.AUDIT, sets="column", asks=AccessRequirements(DataAccess.ROWS, passes=2)
    ),
    params=DiscoverableSupportParams,
    algorithm="ppdm_flow.audits.discoverable_support.algorithm:DiscoverableSupportAudit",
    effect=named_sets,
)
