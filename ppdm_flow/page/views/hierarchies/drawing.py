"""The pictures of hierarchies: a histogram to put boundaries on, a small tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import networkx as nx
from markupsafe import Markup

from ppdm_flow.core.texts.widths import shortened
from ppdm_flow.mining.hierarchies.intervals import written
from ppdm_flow.page.services.hierarchies.grouping import TOP, ValueGrouping
from ppdm_flow.page.services.hierarchies.spread import CumulativeCounts
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.pictures.charts import Bin, ChartAxis, Plot, histogram
from ppdm_flow.pictures.graphs import Card, graph, title_line
from ppdm_flow.pictures.svg import Caption

_MOST_BOXES = 60
_LONGEST = 100
_WIDEST = 220.0
_WIDTH, _HEIGHT = 640.0, 300.0


def histogram_of(attribute: str, spread: CumulativeCounts, edges: Sequence[float]) -> Markup:
    """Return how the rows of a column of numbers lie."""
    t = catalogue()
    bins = [
        Bin(float(low), float(high), rows, t("hierarchies.bin", low=written(low), high=written(high), rows=f"{rows:,}"))
        for low, high, rows in spread.bins()
    ]
    ends = (edges[0], edges[-1]) if edges else None
    told = t("hierarchies.histogram_told", rows=f"{spread.rows:,}", low=written(spread.low), high=written(spread.high))
    title = t("hierarchies.histogram", name=attribute)
    axes = ChartAxis(attribute), ChartAxis(t("hierarchies.rows"))
    plot = histogram(bins, *axes, plot=Plot(_WIDTH, _HEIGHT), reach=ends)
    return plot.picture(Caption(title, told, "histogram"))


def tree_of(attribute: str, grouping: ValueGrouping) -> Markup | None:
    """Return the tree from the values to the top; None where it has too many boxes to be read."""
    t = catalogue()
    if len(grouping.values) > _MOST_BOXES:
        return None
    ways = [(value, *above) for value, above in grouping.lines().items()]
    levels = [list(dict.fromkeys(level)) for level in zip(*ways, strict=True)]
    if sum(map(len, levels)) > _MOST_BOXES:
        return None
    cards = {
        f"{place} {label}": _card(label, top=label == TOP and place + 1 == len(levels))
        for place, level in enumerate(levels)
        for label in level
    }
    arrows = nx.DiGraph()
    arrows.add_nodes_from(cards)
    arrows.add_edges_from(
        (f"{place} {below}", f"{place + 1} {label}")
        for way in ways
        for place, (below, label) in enumerate(pairwise(way))
    )
    last = [node for node, card in cards.items() if card.look == "release"]
    return graph(arrows, cards, t("hierarchies.tree", name=attribute), last, name="tree")


def _card(label: str, *, top: bool) -> Card:
    text = catalogue()("hierarchies.top") if top else shortened(label, _LONGEST)
    return Card("release" if top else "step", (title_line(text, _WIDEST),), name=text)
