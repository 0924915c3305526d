"""The card of the audit `background_knowledge`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.background_knowledge.measures import FIGURES
from ppdm_flow.audits.inference.knowledge import Target, checked
from ppdm_flow.audits.inference.measures import TARGETS
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class BackgroundKnowledgeParams(Params):
    """The attacker can rule out up to ``excludes`` values for a person, whichever they are.

    ``attributes`` tell people apart (all quasi-identifiers if not given), ``sensitive`` are wanted. ``targets`` are
    people by name, with their ``known`` values and those that they ``never`` have.
    """

    excludes: Annotated[int, Field(ge=0, le=1000)] = 1
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    targets: Mapping[str, Target] = Field(default_factory=dict)


SPEC = PluginSpec(
    info=PluginInfo(
        name="background_knowledge",
        kind=Kind.AUDIT,
        summary="for whom a sensitive value becomes certain to someone who can rule some values out",
        reference=(
            "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, ICDE 2006,"
            " section 2.2; Martin, Kifer, Machanavajjhala, Gehrke, Halpern, Worst-case background knowledge, ICDE 2007"
        ),
        cost="one count over the quasi-identifiers and each sensitive attribute",
        example=(
            "audits:\n  informed:\n    use: background_knowledge\n    with:\n      excludes: 1\n      targets:\n"
            '        carl: {known: {zip: "47673", age: "36"}, never: {condition: [Heart Disease]}}\n'
            "gates:\n  nobody-certain: {metric: informed.certain, max: 0}"
        ),
        figures={**FIGURES, **TARGETS},
    ),
    params=BackgroundKnowledgeParams,
    algorithm="ppdm_flow.audits.background_knowledge.algorithm:BackgroundKnowledgeAudit",
    effect=checked,
)
