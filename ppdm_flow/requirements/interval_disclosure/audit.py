"""The card of the audit `interval_disclosure`."""

from __future__ import annotations

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.requirements.interval_disclosure.requirement import Width
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class IntervalDisclosureParams(Params):
    """``attribute`` of the source and the ``width`` that counts; a requirement brings its own."""

    attribute: str | None = None
    width: Width | None = None


def _effect(params: IntervalDisclosureParams, scope: Scope) -> Effect:
    """Complain of what is missing, and of an attribute that the release tells nothing of."""
    lacking = [name for name in ("attribute", "width") if getattr(params, name) is None]
    if lacking or params.attribute is None or params.width is None:
        hint = "add `with: {attribute: income, width: {relative: 0.05}}`"
        text = "parameters of `interval_disclosure` are missing: "
        return Effect(problems=(Problem("PPF202", text + ", ".join(f"`{n}`" for n in lacking), hint=hint),))
    carriers = [facts for facts in scope.attributes.values() if facts.carries(params.attribute)]
    if not carriers:
        text = f"the release has nothing that is computed from `{params.attribute}`"
        return Effect(problems=(Problem("PPF861", text, ("attribute",)),))
    types = {facts.type for facts in carriers if facts.source == params.attribute}
    fault = params.width.fault(next(iter(types), AttributeType.FLOAT))
    return Effect(problems=(Problem("PPF599", fault, ("width",)),) if fault else ())


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/interval_disclosure",
        Kind.AUDIT,
        serves=("interval_disclosure",),
        standalone=True,
        asks=AccessRequirements(DataAccess.TABLE, passes=6),
    ),
    params=IntervalDisclosureParams,
    algorithm="ppdm_flow.requirements.interval_disclosure.algorithm:IntervalDisclosureAudit",
    effect=_effect,
)
