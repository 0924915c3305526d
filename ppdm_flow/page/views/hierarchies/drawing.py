"""The pictures of hierarchies: a histogram to put boundaries on, a small tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from ppdm_flow.mining.hierarchies.intervals import written
from ppdm_flow.page.looks.chart import Axes, Bin, histogram
from ppdm_flow.page.looks.graph import Edge, Node, graph
from ppdm_flow.page.services.hierarchies.grouping import TOP, Grouping
from ppdm_flow.page.services.hierarchies.spread import Spread
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.report.plots.drawing import shortened

_MOST_BOXES = 60
_LONGEST = 100


def histogram_of(attribute: str, spread: Spread, edges: Sequence[float]) -> Markup:
    """Return how the rows of a column of numbers lie."""
    t = catalogue()
    bins = [
        Bin(float(low), float(high), rows, t("hierarchies.bin", low=written(low), high=written(high), rows=f"{rows:,}"))
        for low, high, rows in spread.bins()
    ]
    ends = (edges[0], edges[-1]) if edges else None
    told = t("hierarchies.histogram_told", rows=f"{spread.rows:,}", low=written(spread.low), high=written(spread.high))
    axes = Axes(attribute, t("hierarchies.rows"))
    return histogram(
        bins, axes, name="histogram", title=t("hierarchies.histogram", name=attribute), description=told, reach=ends
    )


def tree_of(attribute: str, grouping: Grouping) -> Markup | None:
    """Return the tree from the values to the top; None where it has too many boxes to be read."""
    t = catalogue()
    if len(grouping.values) > _MOST_BOXES:
        return None
    ways = [(value, *above) for value, above in grouping.lines().items()]
    levels = [list(dict.fromkeys(level)) for level in zip(*ways, strict=True)]
    if sum(map(len, levels)) > _MOST_BOXES:
        return None
    nodes = [
        Node(f"{place} {label}", t("hierarchies.top"), kind="release")
        if label == TOP and place + 1 == len(levels)
        else Node(f"{place} {label}", shortened(label, _LONGEST))
        for place, level in enumerate(levels)
        for label in level
    ]
    edges = {
        (f"{place} {below}", f"{place + 1} {label}"): None
        for way in ways
        for place, (below, label) in enumerate(pairwise(way))
    }
    arrows = [Edge(start, end) for start, end in edges]
    return graph(nodes, arrows, name="tree", title=t("hierarchies.tree", name=attribute))
