"""Roll up: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.set_columns import chosen, problems
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import value_maps
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, FilePath, Params, PluginSpec, Problem, Scope


class RollUpParams(Params):
    """``level``: how many levels above the items; left out, one above the present one."""

    level: Annotated[int, Field(ge=1)] | None = None
    hierarchy: FilePath | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ";"
    attribute: str | None = None

    def target(self, facts: AttributeFacts) -> int:
        """Return the level that is meant: each step of this kind before went up by one."""
        if self.level is not None:
            return self.level
        return 1 + sum(change is Change.GENERALIZED for _, change in facts.changes)


def effect(params: RollUpParams, scope: Scope) -> Effect:
    """Replace items by their categories."""
    name = chosen(params.attribute, scope.attributes)
    if name is None:
        return Effect(problems=problems(params.attribute, scope.attributes))
    if params.hierarchy is None and scope.attributes[name].hierarchy is None:
        text = f"`{name}` has no hierarchy: give it one, or name a file with `hierarchy:`"
        return Effect(problems=(Problem("PPF780", text),))
    return Effect(
        reads=(name,),
        changes={name: Change.GENERALIZED},
        derivations=value_maps((name,)),
        guarantee="a released set says which categories somebody's items fall into, and no item",
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/roll_up", Kind.ROW_WISE, sets="column", asks=AccessRequirements(DataAccess.ROWS, passes=1)
    ),
    params=RollUpParams,
    algorithm="ppdm_flow.anonymizers.roll_up.algorithm:RollUp",
    effect=effect,
)
