"""What every kind of chart says of one of its marks, and which series of bars are limits."""

from __future__ import annotations

from ppdm_flow.report.amounts import amount, between
from ppdm_flow.report.plots.drawing import styles
from ppdm_flow.report.plots.fields import ChartDocument, SeriesDocument


def tip(chart: ChartDocument, series: SeriesDocument, index: int, unit: str) -> str:
    """Say in words what one mark shows."""
    name = f"{series['name']}: " if series.get("name") and len(chart["series"]) > 1 else ""
    text = f"{chart['x'][index]} \N{MIDDLE DOT} {name}{amount(series['y'][index], unit)}"
    found = ends(series, index)
    return f"{text} ({between(found, unit)})" if found else text


def ends(series: SeriesDocument, index: int) -> tuple[float, float] | None:
    """Return the interval of one mark, if it has one."""
    low, high = series.get("low", ()), series.get("high", ())
    return (low[index], high[index]) if index < min(len(low), len(high)) else None


def points(chart: ChartDocument, series: SeriesDocument) -> range:
    """Return the positions that have both a label and a value."""
    return range(min(len(chart["x"]), len(series["y"])))


def is_limit(series: SeriesDocument) -> bool:
    """Whether a series is a limit, which is drawn as a tick across the bars of the series after it."""
    return "limit" in series["name"].lower()


def colours(chart: ChartDocument) -> list[str]:
    """Return the style of each series of a bar chart."""
    names = iter(styles([series["name"] for series in chart["series"] if not is_limit(series)]))
    return ["limit" if is_limit(series) else next(names) for series in chart["series"]]


def lanes(chart: ChartDocument) -> tuple[list[int], int]:
    """Return the lane of each series within a group of bars, and how many lanes there are."""
    found, lane = [], 0
    for series in chart["series"]:
        found.append(lane)
        lane += not is_limit(series)
    count = max(1, lane)
    return [min(one, count - 1) for one in found], count
