"""The fields of ``sweep.json``, which tables and pictures are made from."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field, NonNegativeInt, PositiveInt
from typing_extensions import TypedDict

from ppdm_flow.core.documents import Interval, Randomness, Version, about, one_of


class SweepAxis(TypedDict):
    """What was varied."""

    path: Annotated[str, about("Place in the policy, as it was given.")]
    values: Annotated[list[str], Field(min_length=1)]


class SweepMetric(TypedDict):
    """A figure that was looked at."""

    name: Annotated[str, about("Full name of the figure, as in `metrics` of a run's report.")]
    unit: Annotated[str, about("Its unit.")]
    direction: Annotated[
        Annotated[str, one_of(("min", "max"))] | None,
        about("The better side; null where the frontier does not regard the figure."),
    ]
    requirement: Annotated[bool, about("Whether the policy requires a bound on it.")]


class SweepFigure(TypedDict):
    """A figure at a point."""

    value: Annotated[float | None, about("The figure; null where some run does not have it.")]
    interval: NotRequired[
        Annotated[Interval, about("95 %: of the mean over repetitions, or the figure's own where there was one run.")]
    ]
    values: NotRequired[Annotated[list[float], about("The figure of each run.")]]
    note: NotRequired[Annotated[str, about("Why there is no value, or how to read it.")]]


class SweepError(TypedDict):
    """Why a point has no figures."""

    code: Annotated[str, about("Diagnostic code of the failure.")]
    message: Annotated[str, about("What failed.")]
    exit_status: Annotated[int, Field(json_schema_extra={"enum": [2, 3]}), about("What a run would have ended with.")]


class MeasuredPoint(TypedDict):
    """A point by itself."""

    number: Annotated[PositiveInt, about("The point's number, from 1.")]
    values: Annotated[dict[str, str], about("The value at each axis, by its path.")]
    verdict: Annotated[
        str,
        one_of(("released", "withheld", "mixed", "failed")),
        about("What runs would have come to; `mixed` where repetitions differ."),
    ]
    released: Annotated[NonNegativeInt, about("How many of the runs would have released.")]
    runs: Annotated[PositiveInt, about("How often it was run.")]
    failing: Annotated[list[str], about("Requirements and gates that did not hold in some run.")]
    seconds: Annotated[float | None, about("Mean time of a run, without reading the data.")]
    metrics: Annotated[dict[str, SweepFigure], about("The figures by name; a value is the mean over the runs.")]
    error: NotRequired[SweepError]
    own: NotRequired[Annotated[bool, about("That these are the values that the policy itself has.")]]
    recommended: NotRequired[Annotated[bool, about("That it is the recommended point.")]]


class SweepPoint(MeasuredPoint):
    """A point among the others."""

    on_frontier: Annotated[bool, about("Whether it would be released, and no other point that would be dominates it.")]
    dominated_by: Annotated[
        int | None,
        about(
            "Number of a point on the frontier that is at least as good in every compared figure, and better in one."
        ),
    ]


class SweepLoss(TypedDict):
    """A figure in which another point that would be released is better than the recommended one."""

    metric: Annotated[str, about("Full name of the figure.")]
    value: Annotated[float, about("The figure at the recommended point.")]
    best: Annotated[float, about("The best figure of all points that would be released.")]
    point: Annotated[PositiveInt, about("Number of the point that has it.")]
    kept: Annotated[float, about("Information that this other point keeps, in [0, 1].")]


class SweepRecommendation(TypedDict):
    """The point that keeps the most information among those whose requirements and gates hold."""

    point: Annotated[PositiveInt, about("Its number.")]
    kept: Annotated[float, about("Information that it keeps, in [0, 1]: the mean over releases and runs.")]
    among: Annotated[PositiveInt, about("How many points were compared.")]
    gives_up: Annotated[list[SweepLoss], about("What other points have more of.")]


class SweepRun(TypedDict):
    """How the sweep was carried out."""

    started: Annotated[str, about("When, as ISO 8601.")]
    finished: Annotated[str, about("When, as ISO 8601.")]
    seconds: Annotated[float, about("How long it took.")]
    repeat: Annotated[PositiveInt, about("How often each point was run.")]
    workers: Annotated[PositiveInt, about("How many runs were carried out at once.")]
    randomness: Annotated[Randomness, about("Mode of the policy's randomness.")]
    versions: dict[str, str]


class SweepDocument(TypedDict):
    """A ppdm-flow sweep.

    One policy, measured at many values of its parameters: figures only, no data was released.
    """

    version: Version
    policy: Annotated[str, about("Name of the release policy.")]
    over: Annotated[list[SweepAxis], about("What was varied; the points are all combinations of the values.")]
    metrics: Annotated[list[SweepMetric], about("The figures that were looked at.")]
    points: Annotated[list[SweepPoint], about("The points, the last axis varying fastest.")]
    recommended: NotRequired[SweepRecommendation]
    shown: NotRequired[
        Annotated[Literal["frontier"], about("That tables and pictures show no point but those of the frontier.")]
    ]
    run: SweepRun


def shown_points(document: SweepDocument) -> list[SweepPoint]:
    """Return the points that tables and pictures show."""
    only = document.get("shown") == "frontier"
    return [point for point in document["points"] if point["on_frontier"] or not only]


def figure_at(point: MeasuredPoint, name: str) -> SweepFigure:
    """Return a figure of a point; one without a value where the point has none of this name."""
    return point["metrics"].get(name, {"value": None})
