"""A sweep as pictures: for each figure, what it comes to at each value; and the edit that takes a point's values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import cast

from markupsafe import Markup

from ppdm_flow.api.sweep.grid import Axis
from ppdm_flow.api.sweep.places import AxisPlaces, places
from ppdm_flow.core.amounts import amount
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.page.views.runs.mending import proposed
from ppdm_flow.pictures.charts import ChartAxis, ChartPoint, Plot, PointLine, point_chart
from ppdm_flow.pictures.svg import Caption
from ppdm_flow.policy.edit.changes import PolicyEdit, put
from ppdm_flow.policy.loading import load
from ppdm_flow.report.sweep.rows import (
    SweepDocument,
    SweepMetric,
    SweepPoint,
    SweepRows,
    figure_at,
    recommended,
    rows,
    said,
    short,
    tidy,
)

_MOST = 8
_WIDTH, _HEIGHT = 640.0, 300.0
_SHARES = frozenset({"share", "probability"})


@dataclass(frozen=True, slots=True)
class FrontierPicture:
    """The chart of one figure."""

    title: str
    drawing: Markup


@dataclass(frozen=True, slots=True)
class ShownSweep:
    """What the page of a sweep shows of it. ``points`` are addresses of edits by the number of their point."""

    sentence: str
    recommended: str
    table: SweepRows
    points: Mapping[int, str]
    pictures: Sequence[FrontierPicture]


def shown_sweep(file: Path, path: Path | None, policy: str, back: str) -> ShownSweep:
    """Return what is shown of the sweep in a file; no edits where there is no policy at the path."""
    document = cast("SweepDocument", json.loads(file.read_text(encoding="utf-8")))
    addresses = {} if path is None else _points(path, policy, document, back)
    return ShownSweep(said(document), recommended(document), rows(document), addresses, pictures(document, addresses))


def _points(path: Path, policy: str, document: SweepDocument, back: str) -> dict[int, str]:
    """Return the address of the edit that takes each point's values; none where the policy is another one by now."""
    axes = [Axis(axis["path"], tuple(axis["values"])) for axis in document["over"]]
    try:
        found = places_in(path, axes)
    except PpdmError:
        return {}
    return {point["number"]: proposed(policy, _changes(point["values"], found), back) for point in document["points"]}


def places_in(path: Path, axes: Sequence[Axis]) -> AxisPlaces:
    """Return the places that axes vary in the policy at a path. Raises PolicyError where it has none of them."""
    return places(axes, load(path), {})


def _changes(values: Mapping[str, str], found: AxisPlaces) -> list[PolicyEdit]:
    params = [put(("params", name, "default"), values[axis]) for axis, name in found.params.items()]
    return [*params, *(put(path, values[axis]) for axis, path in found.paths.items())]


def pictures(document: SweepDocument, addresses: Mapping[int, str]) -> list[FrontierPicture]:
    """Return a chart for each figure that differs between points."""
    names = short([metric["name"] for metric in document["metrics"]])
    drawn = (
        _picture(document, metric, name, addresses, place)
        for place, (metric, name) in enumerate(zip(document["metrics"], names, strict=True))
        if len(_values(document, metric)) > 1
    )
    return list(islice(drawn, _MOST))


def _values(document: SweepDocument, metric: SweepMetric) -> set[float]:
    found = (figure_at(point, metric["name"])["value"] for point in document["points"])
    return {tidy(value) for value in found if value is not None}


def _picture(
    document: SweepDocument, metric: SweepMetric, name: str, addresses: Mapping[int, str], place: int
) -> FrontierPicture:
    first, *others = [axis["path"] for axis in document["over"]]
    values = document["over"][0]["values"]
    places = {value: float(value if _all_numbers(values) else number) for number, value in enumerate(values)}
    lines: dict[str, list[ChartPoint]] = {}
    for point in document["points"]:
        value = figure_at(point, metric["name"])["value"]
        if value is not None:
            line = ", ".join(f"{path} {point['values'][path]}" for path in others)
            lines.setdefault(line, []).append(_point(point, metric, name, places[point["values"][first]], addresses))
    series = [
        PointLine(line, tuple(sorted(some, key=lambda p: p.x)), f"s{i % 7 + 1}")
        for i, (line, some) in enumerate(lines.items())
    ]
    axes = ChartAxis(first), ChartAxis(metric["name"], "share" if metric["unit"] in _SHARES else "")
    plot = point_chart(series, *axes, plot=Plot(_WIDTH, _HEIGHT), words=() if _all_numbers(values) else values)
    if others:
        plot.keys((f"circle dot {each.style}", each.name) for each in series)
    told = "; ".join(point.tip for each in series for point in each.points)
    title = catalogue()("runs.sweep_chart", figure=metric["name"], place=first)
    return FrontierPicture(title, plot.picture(Caption(title, told, f"sweep-{place}")))


def _point(point: SweepPoint, metric: SweepMetric, name: str, place: float, addresses: Mapping[int, str]) -> ChartPoint:
    figure = figure_at(point, metric["name"])
    value = tidy(figure["value"] or 0.0)
    where = ", ".join(f"{path} {text}" for path, text in point["values"].items())
    verdict = catalogue()(f"runs.point_{point['verdict']}")
    tip = f"{where}: {name} {amount(value, metric['unit'])}, {verdict}"
    interval = figure.get("interval")
    released, withheld = (point["verdict"] == verdict for verdict in ("released", "withheld"))
    address = addresses.get(point["number"], "")
    return ChartPoint(place, value, tip, interval, address=address, hollow=not released, square=withheld)


def _all_numbers(texts: Sequence[str]) -> bool:
    try:
        return all(abs(float(text)) < float("inf") for text in texts)
    except ValueError:
        return False
