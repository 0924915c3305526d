"""The card of the audit `class_sizes`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ClassSizesParams(Params):
    """``attributes`` are those that form the classes: all quasi-identifiers if not given."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


SPEC = PluginSpec(
    info=PluginInfo.of_page("audits/class_sizes", Kind.AUDIT, asks=AccessRequirements(DataAccess.COUNTS, passes=1)),
    params=ClassSizesParams,
    algorithm="ppdm_flow.audits.class_sizes.algorithm:ClassSizesAudit",
    effect=chosen_attributes,
    counts_people=True,
)
