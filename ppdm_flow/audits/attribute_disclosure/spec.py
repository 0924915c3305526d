"""The card of the audit `attribute_disclosure`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.attribute_disclosure.measures import FIGURES
from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class AttributeDisclosureParams(Params):
    """The attacker knows the attributes ``known`` of a person, and wants each of the attributes ``sensitive``.

    ``sensitive`` are those of that role if not given; ``known`` all quasi-identifiers, or where there are none all
    attributes but the wanted one. ``sample`` bounds the people attacked of each group, ``reference`` the released rows
    that they are looked up in; with a large release fewer people are attacked, so that it takes seconds.

    Cells are compared as they are written, but for numbers and declared intervals. Where the release has labels that
    are nobody's value, the attack has no figures, and no gate on it holds (PPF856).
    """

    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    known: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=1_000_000)] = 20_000
    reference: Annotated[int, Field(ge=10, le=10_000_000)] = 500_000


def effect(params: AttributeDisclosureParams, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have, and of a release without a secret."""
    problems = unknown({"sensitive": params.sensitive or (), "known": params.known or ()}, scope)
    if params.sensitive is None and not any(a.role is Role.SENSITIVE for a in scope.attributes.values()):
        text = "no attribute of the release has the role `sensitive`: say which one to attack with `sensitive:`"
        problems = (*problems, Problem("PPF865", text))
    return Effect(problems=problems)


SPEC = PluginSpec(
    info=PluginInfo(
        name="attribute_disclosure",
        kind=Kind.AUDIT,
        summary="how often an attacker guesses a sensitive value right, for people in the data and for people outside",
        reference=(
            "Giomi, Boenisch, Wehmeyer, Tasnádi, A unified framework for quantifying privacy risk in synthetic data,"
            " PoPETs 2023; l-diversity: Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, ICDE 2006"
        ),
        cost="every person attacked is compared with every row of the reference; seconds",
        example=(
            "audits:\n  disclosure: {use: attribute_disclosure}\n"
            "gates:\n  no-disclosure: {metric: disclosure.risk, max: 0.02}"
        ),
        figures=FIGURES,
    ),
    params=AttributeDisclosureParams,
    algorithm="ppdm_flow.audits.attribute_disclosure.algorithm:AttributeDisclosureAudit",
    effect=effect,
)
