"""The card of the audit `blend`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import Supported
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class BlendParams(Params):
    """``min_support``: below it a row is rare; a ratio is one of each table's rows. A requirement brings its own."""

    min_support: Supported | None = None


def _effect(params: BlendParams, _scope: Scope) -> Effect:
    if params.min_support is not None:
        return Effect()
    text = "`min_support` is missing in the parameters of `blend`"
    return Effect(problems=(Problem("PPF202", text, hint="add `with: {min_support: {count: 20}}`"),))


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/blend",
        Kind.AUDIT,
        serves=("blend",),
        standalone=True,
        asks=AccessRequirements(DataAccess.TABLE, passes=6),
    ),
    params=BlendParams,
    algorithm="ppdm_flow.requirements.blend.algorithm:BlendAudit",
    effect=_effect,
)
