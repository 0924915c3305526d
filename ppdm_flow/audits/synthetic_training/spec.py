"""The card of the audit `synthetic_training`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.learning.catalogue import Option, classifier_problems, targets
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope


class SyntheticTrainingParams(Params):
    """``target`` is the class attribute: the one with the role `target` if not given."""

    target: str | None = None
    classifier: str = "tree"
    options: dict[str, Option] = Field(default_factory=dict)
    test_share: Annotated[float, Field(gt=0.0, lt=1.0)] = 1 / 3
    repeats: Annotated[int, Field(ge=2, le=1000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    rows: Annotated[int, Field(ge=10)] = 200_000


def effect(params: SyntheticTrainingParams, scope: Scope) -> Effect:
    """Say what is wrong with the class attribute or the classifier, if anything."""
    _, problems = targets(params.target, scope)
    return Effect(problems=(*problems, *classifier_problems(params.classifier, params.options)))


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/synthetic_training", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=6)
    ),
    params=SyntheticTrainingParams,
    algorithm="ppdm_flow.audits.synthetic_training.algorithm:SyntheticTrainingAudit",
    effect=effect,
)
