"""Bar charts: vertical for histograms, horizontal where the labels are words."""

from __future__ import annotations

import re

from ppdm_flow.report.plots.drawing import CHARACTER, Drawing
from ppdm_flow.report.plots.fields import ChartDocument
from ppdm_flow.report.plots.frame import WIDTH
from ppdm_flow.report.plots.horizontal_bars import horizontal_bars
from ppdm_flow.report.plots.vertical_bars import vertical_bars

_MAX_HORIZONTAL = 44
_MARGINS = 60.0
_SPACE = 4.0
_ORDERED = re.compile(r"^[\[(<>≤≥]?\s*-?\d")
"""A number or an interval: of such labels some may be left out."""


def bars(chart: ChartDocument) -> Drawing:
    """Return the drawing of a bar chart: groups of bars along ``x``, one bar a series, whiskers for intervals.

    A series with ``limit`` in its name is drawn as ticks across the bars of the series after it.
    """
    labels = chart["x"]
    widest = max((len(label) for label in labels), default=0)
    slot = (WIDTH - _MARGINS) / max(1, len(labels))
    fits = widest * CHARACTER + _SPACE <= slot or all(_ORDERED.match(label) for label in labels)
    return vertical_bars(chart) if fits or len(labels) > _MAX_HORIZONTAL else horizontal_bars(chart)
