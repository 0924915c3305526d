"""The card of the audit `classification_error`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.classification_error.catalogue import CLASSIFIERS, meant, strange
from ppdm_flow.audits.classification_error.options import Option
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class ClassificationErrorParams(Params):
    """``target`` is the class attribute: the one with the role `target` if not given.

    ``classifier`` is ``tree`` (as close to C4.5 as scikit-learn gets), ``forest``, ``naive_bayes``, ``logistic`` or the
    dotted name of a classifier of scikit-learn; ``options`` are arguments that it is made with. ``removed`` are the
    attributes that the third error does without: the sensitive ones if not given, and where there are none, those
    that the steps changed. ``rows`` bounds the rows looked at.
    """

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
    problem = _problem(params, scope)
    return Effect(problems=(*((problem,) if problem else ()), *_of_classifier(params)))


def _of_classifier(params: ClassificationErrorParams) -> tuple[Problem, ...]:
    name = params.classifier
    if name not in CLASSIFIERS:
        near = meant(name)
        hint = f"did you mean `{near}`?" if near else None
        return (Problem("PPF834", f"`{name}` is no classifier that can be used here", ("classifier",), hint),)
    found = []
    for option in strange(name, params.options):
        near = closest(option, CLASSIFIERS[name])
        hint = f"did you mean `{near}`?" if near else None
        found.append(Problem("PPF835", f"`{name}` has no option `{option}`", ("options", option), hint))
    return tuple(found)


def _problem(params: ClassificationErrorParams, scope: Scope) -> Problem | None:
    every = scope.attributes.values()
    if params.target is None:
        found = [a for a in every if a.role is Role.TARGET]
        if not found:
            return Problem("PPF832", "no attribute of the release has the role `target`: say which one with `target:`")
    else:
        found = [a for a in every if params.target in (a.name, a.source)]
        if not found:
            near = closest(params.target, [a.source or a.name for a in every])
            hint = f"did you mean `{near}`?" if near else None
            return Problem("PPF832", f"the release has no attribute `{params.target}`", ("target",), hint)
    changed = [step for a in found for step, _ in a.changes]
    if changed:
        text = f"the class attribute `{found[0].name}` is changed by step `{changed[0]}`: errors cannot be compared"
        return Problem("PPF833", text, ("target",) if params.target else ())
    return None


SPEC = PluginSpec(
    info=PluginInfo(
        name="classification_error",
        kind=Kind.AUDIT,
        summary="error of a classifier on the original, on the release, and without the sensitive attributes",
        reference=(
            "Wang, Fung, Yu, Template-based privacy preservation in classification problems, ICDM 2005, section 5;"
            " Nadeau, Bengio, Inference for the generalization error, Machine Learning 52, 2003"
        ),
        cost="three classifiers trained for each repeat",
    ),
    params=ClassificationErrorParams,
    algorithm="ppdm_flow.audits.classification_error.algorithm:ClassificationErrorAudit",
    effect=effect,
)
