"""The points of a sweep as a table for people: short column names, figures in their units, what each point is worth."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired

from pydantic import Field, NonNegativeInt, PositiveInt
from typing_extensions import TypedDict

from ppdm_flow.core.amounts import amount, between, duration, noted
from ppdm_flow.core.documents import Interval, Randomness, Version, about, one_of
from ppdm_flow.core.phrases import counted, listed

_NOISE = 1e-12
_MOST_NAMES = 10
BETTER = {"min": "smaller is better", "max": "larger is better", None: "not compared"}


@dataclass(frozen=True, slots=True)
class SweepRow:
    """A point: ``values`` at each axis, ``figures`` with ``intervals`` of each metric, and where it stands."""

    number: int
    values: tuple[str, ...]
    verdict: str
    figures: tuple[str, ...]
    intervals: tuple[str, ...]
    standing: str
    time: str
    on_frontier: bool
    failing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepRows:
    """All points. ``axes`` and ``metrics`` are short names, no two alike; ``legend`` says what each metric is."""

    axes: tuple[str, ...]
    metrics: tuple[str, ...]
    legend: tuple[tuple[str, str, str], ...]
    rows: tuple[SweepRow, ...]


def rows(document: SweepDocument) -> SweepRows:
    """Return the table of a sweep's document."""
    paths = [axis["path"] for axis in document["over"]]
    metrics = document["metrics"]
    names = short([m["name"] for m in metrics])
    legend = [(n, m["name"], BETTER[m["direction"]]) for n, m in zip(names, metrics, strict=True)]
    every = [_row(point, paths, metrics) for point in shown_points(document)]
    axes = tuple(f"{axis} (set)" if axis in names else axis for axis in short(paths))
    return SweepRows(axes, names, tuple(legend), tuple(every))


def short(names: Sequence[str]) -> tuple[str, ...]:
    """Return the last parts of dotted names, as many as tell them apart, with their release where that does.

    >>> short(["a/sizes.smallest", "b/sizes.smallest", "b/classifier.error_increase"])
    ('a/smallest', 'b/smallest', 'error_increase')
    """
    owns = [name.rpartition("/")[2] for name in names]
    ends = {own: _shortest(own, set(owns) - {own}) for own in owns}
    several = {own for own in owns if owns.count(own) > 1}
    return tuple(
        f"{name.rpartition('/')[0]}/{ends[own]}" if own in several else ends[own]
        for name, own in zip(names, owns, strict=True)
    )


def said(document: SweepDocument) -> str:
    """Say what a sweep was, in a sentence or two."""
    count, run = len(document["points"]), document["run"]
    times = f", each {run['repeat']} times" if run["repeat"] > 1 else ""
    failed = sum(p["verdict"] == "failed" for p in document["points"])
    best = sum(p["on_frontier"] for p in document["points"])
    text = f"{counted(count, 'point')}{times}, measured in {duration(run['seconds'])}; no data was released."
    if failed:
        text += f" {failed:,} failed."
    if not any(p["verdict"] in ("released", "held") for p in document["points"]):
        text += " None would be released, so none is compared."
    elif any(m["direction"] for m in document["metrics"]):
        text += f" {best:,} {'is' if best == 1 else 'are'} not dominated."
    own = next((p for p in document["points"] if p.get("own")), None)
    if own is not None:
        text += f" The policy's own values are point {own['number']}: {_place(own)}."
    elif left_out := document.get("left_out"):
        names = listed([f"`{name}`" for name in short(left_out)], _MOST_NAMES)
        text += f" No point has the policy's own values, as it leaves out {names}: `--frontier` measures them as well."
    return text


def recommended(document: SweepDocument) -> str:
    """Say which point is recommended, and what it gives up against others; nothing where none can be."""
    choice = document.get("recommended")
    if (by_promise := document.get("recommended_by_promise")) is not None:
        return _of_promises(document, by_promise)
    if choice is None:
        return ""
    point = next(p for p in document["points"] if p["number"] == choice["point"])
    if tied := choice.get("tied"):
        numbers = listed([str(number) for number in (choice["point"], *tied)], _MOST_NAMES)
        share = f"{amount(tidy(choice['kept']), 'share')} of the information each"
        every = f"points {numbers}, all whose requirements hold, keep {share}"
        most = f"points {numbers} keep most of {counted(choice['among'], 'point')} whose requirements hold, {share}"
        text = every if len(tied) + 1 == choice["among"] else most
        return f"None is recommended: {text}, and the other figures do not decide between them."
    paths = [axis["path"] for axis in document["over"]]
    values = ", ".join(f"{name} {point['values'][path]}" for name, path in zip(short(paths), paths, strict=True))
    others = f"the most of {counted(choice['among'], 'point')}" if choice["among"] > 1 else "the only one"
    kept = f"It keeps {amount(tidy(choice['kept']), 'share')} of the information, {others} whose requirements hold."
    text = f"Recommended: point {choice['point']} ({values}). {kept}"
    units = {m["name"]: m["unit"] for m in document["metrics"]}
    names = dict(zip(units, short(list(units)), strict=True))
    losses = [
        f"{names[loss['metric']]} is {amount(tidy(loss['value']), units[loss['metric']])}, and"
        f" {amount(tidy(loss['best']), units[loss['metric']])} at point {loss['point']},"
        f" which keeps {amount(tidy(loss['kept']), 'share')}"
        for loss in choice["gives_up"]
    ]
    return f"{text} It gives up: {'; '.join(losses)}." if losses else f"{text} No other is better in any figure."


def _of_promises(document: SweepDocument, by_promise: PromisedRecommendations) -> str:
    """Say that points differ in what they promise, and which keeps most of those that promise the same."""
    if not by_promise["points"]:
        return ""
    paths = [axis["path"] for axis in document["over"]]
    names = dict(zip(paths, short(paths), strict=True))
    axes = by_promise["axes"] or paths
    text = (
        f"The points differ in what they promise ({', '.join(names[path] for path in axes)}), so none is recommended"
        " over another: choose the bound first, since a looser one keeps more and protects less."
    )
    values = {point["number"]: point["values"] for point in document["points"]}
    for choice in by_promise["points"]:
        bound = ", ".join(f"{names[path]} {values[choice['point']][path]}" for path in axes)
        among = f", the most of {counted(choice['among'], 'point')}" if choice["among"] > 1 else ""
        kept = amount(tidy(choice["kept"]), "share")
        if tied := choice.get("tied"):
            numbers = listed([str(number) for number in (choice["point"], *tied)], _MOST_NAMES)
            among = "" if len(tied) + 1 == choice["among"] else among
            text += f" With {bound}, points {numbers} keep {kept} of the information each{among}."
            continue
        text += f" With {bound}, point {choice['point']} keeps {kept} of the information{among}."
    points_by_share: dict[str, list[str]] = {}
    for choice in by_promise["points"]:
        points_by_share.setdefault(f"{choice['kept']:.9g}", []).append(str(choice["point"]))
    for equal in points_by_share.values():
        if len(equal) > 1:
            text += f" Points {listed(equal, _MOST_NAMES)} keep equally much: there a looser bound gains nothing."
    return text


def tidy(value: float) -> float:
    """Return a figure without rounding errors about 0, which would be written as if they were something."""
    return 0.0 if abs(value) < _NOISE else value


def standing(point: SweepPoint) -> str:
    """Say where a point stands, whether it has the policy's own values, and whether it keeps most."""
    own = ", the policy's own" if point.get("own") else ""
    chosen = ", recommended" if point.get("recommended") else ", keeps most" if point.get("keeps_most") else ""
    return _place(point) + own + chosen


def _place(point: SweepPoint) -> str:
    if point["verdict"] == "failed":
        return point["error"]["code"] if "error" in point else "failed"
    if point["dominated_by"] is not None:
        return f"dominated by {point['dominated_by']}"
    return "frontier" if point["on_frontier"] else "not compared"


def _row(point: SweepPoint, paths: Sequence[str], metrics: Sequence[SweepMetric]) -> SweepRow:
    figures = [(figure_at(point, m["name"]), m["unit"]) for m in metrics]
    verdict = point["verdict"]
    if point["verdict"] == "mixed":
        verdict = f"released {point['released']} of {point['runs']}"
    return SweepRow(
        number=point["number"],
        values=tuple(point["values"][path] for path in paths),
        verdict=verdict,
        figures=tuple(written(f, unit) for f, unit in figures),
        intervals=tuple(between(f.get("interval"), unit) for f, unit in figures),
        standing=standing(point),
        time="" if point["seconds"] is None else duration(point["seconds"]),
        on_frontier=point["on_frontier"],
        failing=tuple(point["failing"]),
    )


def written(figure: SweepFigure, unit: str) -> str:
    """Return a figure in its unit."""
    return noted(None if figure["value"] is None else tidy(figure["value"]), unit, figure.get("note", ""))


def _shortest(name: str, others: AbstractSet[str]) -> str:
    parts = name.split(".")
    ends = (".".join(parts[-count:]) for count in range(1, len(parts)))
    return next((end for end in ends if not any(o == end or o.endswith(f".{end}") for o in others)), name)


# The fields of `sweep.json`, which tables and pictures are made from.


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
    keeps_most: NotRequired[
        Annotated[
            bool, about("That no other point that promises the same keeps more information, where points differ in it.")
        ]
    ]


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
    tied: NotRequired[
        Annotated[list[int], about("Numbers of other points that keep as much: none is recommended over another.")]
    ]
    gives_up: Annotated[list[SweepLoss], about("What other points have more of.")]


class PromisedRecommendations(TypedDict):
    """Where points differ in what they promise: none is recommended over one that promises something else."""

    axes: Annotated[list[str], about("The axes whose values change requirements, gates, or for whom a release is.")]
    points: Annotated[
        list[SweepRecommendation], about("Of each promise the point that keeps most, where one would be released.")
    ]


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
    recommended_by_promise: NotRequired[PromisedRecommendations]
    left_out: NotRequired[
        Annotated[list[str], about("Axes at which the policy writes no value, where no point does what it does.")]
    ]
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
