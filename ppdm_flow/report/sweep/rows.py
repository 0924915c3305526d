"""The points of a sweep as a table for people: short column names, figures in their units, what each point is worth."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ppdm_flow.core.amounts import amount, between, duration, noted
from ppdm_flow.core.phrases import counted
from ppdm_flow.report.sweep.fields import SweepDocument, SweepFigure, SweepMetric, SweepPoint, figure_at, shown_points

_NOISE = 1e-12
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
    return text


def recommended(document: SweepDocument) -> str:
    """Say which point is recommended, and what it gives up against others; nothing where none can be."""
    choice = document.get("recommended")
    if choice is None:
        return ""
    point = next(p for p in document["points"] if p["number"] == choice["point"])
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


def tidy(value: float) -> float:
    """Return a figure without rounding errors about 0, which would be written as if they were something."""
    return 0.0 if abs(value) < _NOISE else value


def standing(point: SweepPoint) -> str:
    """Say where a point stands, whether it has the policy's own values, and whether it is recommended."""
    own = ", the policy's own" if point.get("own") else ""
    return _place(point) + own + (", recommended" if point.get("recommended") else "")


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
