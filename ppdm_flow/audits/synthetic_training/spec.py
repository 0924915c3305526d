"""The card of the audit `synthetic_training`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.learning.catalogue import Option, classifier_problems, targets
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Scope


class SyntheticTrainingParams(Params):
    """``target`` is the class attribute: the one with the role `target` if not given.

    ``classifier`` is ``tree`` (as close to C4.5 as scikit-learn gets), ``forest``, ``naive_bayes``, ``logistic`` or the
    dotted name of a classifier of scikit-learn; ``options`` are arguments that it is made with. It is tested on rows
    that the generator held out. Where there are none, the original is split ``repeats`` times, with ``test_share`` of
    the rows to be tested on; the generator has seen these, which makes the release look better than it is. ``rows``
    bounds the rows of each side.
    """

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
    info=PluginInfo(
        name="synthetic_training",
        kind=Kind.AUDIT,
        summary="error, on real rows, of a classifier that learned from the release, and of one of real rows",
        reference=(
            "Esteban, Hyland, Rätsch, Real-valued (medical) time series generation, 2017, section 4: train on"
            " synthetic, test on real; Nadeau, Bengio, Inference for the generalization error, 2003"
        ),
        cost="two classifiers with a holdout, else one for each repeat and one",
        example=(
            "audits:\n  learning: {use: synthetic_training}\n"
            "gates:\n  still-learnable: {metric: learning.error_increase, max: 0.05}"
        ),
        figures={
            "real": FigureInfo(
                "the error of a classifier that learned from original rows, on original rows that it never saw",
                formula="wrong predictions / rows of the test part",
            ),
            "synthetic": FigureInfo(
                "the error of one that learned from the release, on the same rows",
                formula="wrong predictions / rows of the test part",
                better="lower",
            ),
            "error_increase": FigureInfo(
                "how much more a classifier errs that learned from the release",
                formula="synthetic - real",
                better="lower",
            ),
        },
    ),
    params=SyntheticTrainingParams,
    algorithm="ppdm_flow.audits.synthetic_training.algorithm:SyntheticTrainingAudit",
    effect=effect,
)
