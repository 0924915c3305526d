"""The card of the audit `classification_error`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.learning.catalogue import Option, classifier_problems, targets
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class ClassificationErrorParams(Params):
    """``target`` is the class attribute: the one with the role `target` if not given."""

    target: str | None = None
    classifier: str = "tree"
    options: dict[str, Option] = Field(default_factory=dict)
    test_share: Annotated[float, Field(gt=0.0, lt=1.0)] = 1 / 3
    repeats: Annotated[int, Field(ge=1, le=1000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    removed: tuple[str, ...] | None = None
    rows: Annotated[int, Field(ge=10)] = 200_000


def effect(params: ClassificationErrorParams, scope: Scope) -> Effect:
    """Say what is wrong with the class attribute in this release, if anything."""
    released, problems = targets(params.target, scope)
    changed = [step for a in released for step, _ in a.changes]
    if changed:
        text = f"the class attribute `{released[0].name}` is changed by step `{changed[0]}`: errors cannot be compared"
        problems = (Problem("PPF833", text, ("target",) if params.target else ()),)
    return Effect(problems=(*problems, *classifier_problems(params.classifier, params.options)))


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "audits/classification_error", Kind.AUDIT, asks=AccessRequirements(DataAccess.ROWS, passes=1)
    ),
    params=ClassificationErrorParams,
    algorithm="ppdm_flow.audits.classification_error.algorithm:ClassificationErrorAudit",
    effect=effect,
)
