"""Directed graphs as SVG: cards in layers from left to right, few crossings, no arrow through a card.

networkx says which layer a node belongs to. Its layouts order the nodes of a layer by their hash, and arrows cross; so
that order, and the height at which each card lies, are found here (barycentres, Sugiyama, Tagawa and Toda 1981).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean
from typing import Any

import networkx as nx
from markupsafe import Markup

from ppdm_flow.core.texts import fitted, fixed, width
from ppdm_flow.pictures.svg import Caption, element, file, linked, number, picture, tipped

PAD = 12.0
INDENT = 14.0
MARGIN = 16.0
_APART, _NARROW, _BETWEEN, _STRAIGHT = 22.0, 9.0, 30.0, 9.0
"""Pixels between cards, between arrows, between layers, and before the tip of an arrow."""
_LABEL = 10.0
_TITLE = 13.5
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text of the style ``look``; ``item`` indents it, ``bullet`` puts a ring before it."""

    text: str
    look: str
    size: float = 11.0
    gap: float = 0.0
    item: bool = False
    bullet: bool = False

    @property
    def advance(self) -> float:
        """How far the next baseline lies below the one before this line."""
        return round(self.size * 1.42 + self.gap, 1)

    @property
    def width(self) -> float:
        """Pixels."""
        if self.look == "mono":
            return fixed(self.text, self.size)
        return width(self.text, self.size, bold=self.look == "title") + (INDENT if self.item else 0.0)


def title_line(text: str, most: float) -> Line:
    """Return the first line of a card, at most so wide."""
    return Line(fitted(text, _TITLE, most, bold=True), "title", _TITLE)


@dataclass(frozen=True, slots=True)
class Card:
    """What stands on a node. ``look`` is its kind, ``tip`` what a pointer says, ``rule`` how many lines have one below.

    ``least`` is the least width of its text. ``address``: the card is a link. ``name`` is what its first line may be
    too narrow for.
    """

    look: str
    lines: tuple[Line, ...]
    tip: str = ""
    rule: int = 0
    least: float = 84.0
    address: str = ""
    name: str = ""

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or self.lines[0].text

    @property
    def width(self) -> float:
        """Pixels."""
        return max([self.least, *(line.width for line in self.lines)]) + 2 * PAD

    @property
    def height(self) -> float:
        """Pixels."""
        return sum(line.advance for line in self.lines) + 2 * PAD - 3


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a card lies, or an arrow passes a layer: left end, width of its layer, middle height, its own height."""

    left: float
    width: float
    middle: float
    height: float

    @property
    def right(self) -> float:
        """The right end."""
        return self.left + self.width

    @property
    def top(self) -> float:
        """The upper end."""
        return self.middle - self.height / 2


@dataclass(frozen=True, slots=True)
class Layers:
    """``layers`` hold nodes and the bends of edges that pass a layer; ``routes`` are what each edge goes through."""

    layers: tuple[tuple[Hashable, ...], ...]
    routes: Mapping[tuple[str, str], tuple[Hashable, ...]]


def layered(graph: nx.DiGraph, last: Sequence[str] = ()) -> Layers:
    """Put every node into the layer after the last of those that lead to it, near what it hangs on.

    The nodes ``last`` stand in a layer of their own at the end. Raises NetworkXUnfeasible for a cycle.
    """
    depth = {node: number for number, level in enumerate(nx.topological_generations(graph)) for node in level}
    depth |= dict.fromkeys(last, 1 + max((depth[node] for node in depth if node not in last), default=-1))
    place = _depth_first(graph, last)
    routes: dict[tuple[str, str], tuple[Hashable, ...]] = {
        (start, end): (start, *((start, end, d) for d in range(depth[start] + 1, depth[end])), end)
        for start, end in graph.edges
    }
    members: dict[Hashable, tuple[int, int]] = {node: (depth[node], place[node]) for node in graph}
    for (start, end), route in routes.items():
        members |= {bend: (d, place[end]) for d, bend in enumerate(route[1:-1], depth[start] + 1)}
    layers: list[list[Hashable]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for node in sorted(members, key=members.__getitem__):
        layers[members[node][0]].append(node)
    uncrossed = _uncrossed(layers, [pair for route in routes.values() for pair in pairwise(route)])
    return Layers(tuple(map(tuple, uncrossed)), routes)


def _depth_first(graph: nx.DiGraph, last: Sequence[str]) -> dict[str, int]:
    """Number the nodes in depth first order, in which no arrows of a tree cross; branches as the ends they lead to."""
    first: dict[str, int] = {}
    for rank, sink in enumerate((*last, *(node for node in graph if not graph.succ[node]))):
        for node in (sink, *nx.ancestors(graph, sink)):
            first.setdefault(node, rank)
    order = nx.dfs_preorder_nodes(graph, sort_neighbors=lambda nodes: sorted(nodes, key=first.__getitem__))
    return {node: number for number, node in enumerate(order)}


def _uncrossed(layers: list[list[Hashable]], pairs: Sequence[tuple[Hashable, Hashable]]) -> list[list[Hashable]]:
    """Sort the layers forwards and backwards, each by the mean place of what its nodes hang on; return the best."""
    links = nx.DiGraph(pairs)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, links)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        forwards = sweep % 2 == 0
        _sort(layers if forwards else layers[::-1], links.pred if forwards else links.succ)
        if (crossings := _crossings(layers, links)) < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return best


def _sort(layers: Sequence[list[Hashable]], neighbours: Mapping[Hashable, Mapping[Hashable, object]]) -> None:
    place: dict[Hashable, float] = {}
    for layer in layers:
        own = {node: (position + 0.5) / len(layer) for position, node in enumerate(layer)}
        means = {n: fmean(place[each] for each in neighbours[n]) if neighbours.get(n) else own[n] for n in layer}
        layer.sort(key=means.__getitem__)
        place |= {node: (position + 0.5) / len(layer) for position, node in enumerate(layer)}


def _crossings(layers: Sequence[Sequence[Hashable]], links: nx.DiGraph) -> int:
    """Count the pairs of arrows that cross between two layers."""
    crossings = 0
    for before, after in pairwise(layers):
        place = {node: number for number, node in enumerate(after)}
        ends: list[int] = []
        for node in before:
            own = sorted(place[end] for end in (links.succ[node] if node in links else ()))
            crossings += sum(len(ends) - bisect_right(ends, end) for end in own)
            for end in own:
                insort(ends, end)
    return crossings


def placed(
    graph: nx.DiGraph, cards: Mapping[Any, Card], last: Sequence[str] = ()
) -> tuple[dict[Hashable, Spot], Layers]:
    """Return where each card lies, and where arrows pass a layer; no two cards overlap."""
    layers = layered(graph, last)
    heights = {node: cards[node].height if node in cards else 0.0 for layer in layers.layers for node in layer}
    middles = _middles(layers, heights)
    top = min((middles[node] - heights[node] / 2 for node in heights), default=0.0)
    spots: dict[Hashable, Spot] = {}
    left = MARGIN
    for layer in layers.layers:
        labels = [_label(graph, edge) for node in layer if node in cards for edge in graph.in_edges(node)]
        left += max([0.0, *(width(label, _LABEL) + 20 - _BETWEEN for label in labels if label)])
        wide = max([0.0, *(cards[node].width for node in layer if node in cards)])
        spots |= {node: Spot(left, wide, middles[node] - top + MARGIN, heights[node]) for node in layer}
        left += wide + _BETWEEN
    return spots, layers


def _middles(layers: Layers, heights: Mapping[Hashable, float]) -> dict[Hashable, float]:
    """Return the middle height of each node: near the mean of those of its neighbours, in the order of its layer."""
    links = nx.DiGraph([pair for route in layers.routes.values() for pair in pairwise(route)])
    middles: dict[Hashable, float] = {}
    for layer in layers.layers:
        offsets = _offsets(layer, heights)
        middles |= {node: offset - offsets[-1] / 2 for node, offset in zip(layer, offsets, strict=True)}
    for sweep in range(2 * _SWEEPS):
        forwards = sweep % 2 == 0
        neighbours = links.pred if forwards else links.succ
        for layer in layers.layers if forwards else layers.layers[::-1]:
            wanted = [
                fmean(middles[each] for each in neighbours[n]) if neighbours.get(n) else middles[n] for n in layer
            ]
            middles |= zip(layer, _spread(wanted, _offsets(layer, heights)), strict=True)
    return middles


def _offsets(layer: Sequence[Hashable], heights: Mapping[Hashable, float]) -> list[float]:
    """Return how far each node of a layer lies below the first where all of them are as near as they may be."""
    steps = [
        (heights[above] + heights[below]) / 2 + (_APART if heights[above] or heights[below] else _NARROW)
        for above, below in pairwise(layer)
    ]
    return list(accumulate(steps, initial=0.0))


def _spread(wanted: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """Return the places nearest to those wanted that keep the order and the distances (pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []  # the mean of each, and of how many
    for want, offset in zip(wanted, offsets, strict=True):
        blocks.append((want - offset, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, n), (other, m) = blocks[-2:]
            blocks[-2:] = [((one * n + other * m) / (n + m), n + m)]
    starts = [mean for mean, number in blocks for _ in range(number)]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]


def graph(
    arrows: nx.DiGraph,
    cards: Mapping[Any, Card],
    title: str,
    last: Sequence[str] = (),
    *,
    name: str = "",
    smallest: float = 0.0,
) -> Markup:
    """Return the picture of a graph for a page, where ``name`` is its id; its description lists the arrows.

    ``arrows`` has a card for each node; an edge may have ``outputs``, which stand at its arrow. The nodes ``last``
    stand together at the end. ``smallest`` is the share of its size below which it is not shrunk on a screen. Raises
    NetworkXUnfeasible for a cycle, KeyError for a node without a card, ValueError for a link to elsewhere.
    """
    parts, wide, high = drawn(arrows, cards, last)
    links = any(card.address for card in cards.values())
    caption = Caption(title, _describe_graph(arrows, cards), name)
    return picture(parts, wide, high, caption, "graph", links=links, style=_least(wide * smallest))


def graph_file(
    arrows: nx.DiGraph, cards: Mapping[Any, Card], title: str, last: Sequence[str] = (), *, smallest: float = 0.0
) -> str:
    """Return the picture as a file; the rest is as for :func:`graph`."""
    parts, wide, high = drawn(arrows, cards, last)
    return file(parts, wide, high, Caption(title, _describe_graph(arrows, cards)), "graph", _least(wide * smallest))


def _describe_graph(arrows: nx.DiGraph, cards: Mapping[Any, Card]) -> str:
    """Return the graph in words."""
    sentences = [f"{cards[start].title} leads to {cards[end].title}." for start, end in arrows.edges]
    return " ".join(sentences or (card.title for card in cards.values()))


def _least(wide: float) -> str:
    return f"@media screen {{ svg.graph.graph {{ min-width: {wide:.0f}px; }} }}" if wide else ""


def drawn(arrows: nx.DiGraph, cards: Mapping[Any, Card], last: Sequence[str] = ()) -> tuple[list[Markup], float, float]:
    """Return the elements of the drawing, arrows first, with its width and height."""
    spots, layers = placed(arrows, cards, last)
    wide = max((spots[node].right for node in arrows), default=0.0) + MARGIN
    high = max((spot.top + spot.height for spot in spots.values()), default=0.0) + MARGIN
    parts = [_arrow([spots[node] for node in layers.routes[edge]], _label(arrows, edge)) for edge in arrows.edges]
    return [*parts, *(_card(cards[node], spots[node]) for node in arrows)], wide, high


def _label(graph: nx.DiGraph, edge: tuple[str, str]) -> str:
    return ", ".join(filter(None, graph.edges[edge].get("outputs", ())))


def _arrow(route: Sequence[Spot], label: str) -> Markup:
    """Draw an arrow that leaves and arrives level and goes straight through layers that it passes."""
    end = route[-1]
    x, y = route[0].right, route[0].middle
    path = f"M{number(x)} {number(y)}"
    for spot in route[1:]:
        turn, to = spot.left - _STRAIGHT, spot.middle
        if abs(y - to) > 0.05:
            points = ((x + turn) / 2, y, (x + turn) / 2, to, turn, to)
            path += f"C{' '.join(map(number, points))}"
        x, y = end.left - 7 if spot is end else spot.right, to
        path += f"H{number(x)}"
    parts = [element("path", class_="pp-edge", d=path)]
    parts.append(element("path", class_="pp-tip", d=f"M{number(end.left - 1)} {number(y)}l-7 -4v8z"))
    if label:  # on the side from which the arrow does not come
        base = y + 13 if route[-2].middle < y - 0.05 else y - 6
        at = end.left - 10
        parts.append(element("text", label, class_="pp-label", x=at, y=base, font_size=_LABEL, text_anchor="end"))
    return element("g", *parts, class_="pp-arrow")


def _card(card: Card, spot: Spot) -> Markup:
    body = (
        element("rect", class_="pp-body", x=spot.left, y=spot.top, width=spot.width, height=spot.height, rx=9),
        element("rect", class_="pp-mark", x=spot.left, y=spot.top + 12, width=3.5, height=spot.height - 24, rx=1.75),
    )
    drawing = tipped("g", card.tip, *body, *_text(card, spot), class_=f"pp-{card.look}")
    return linked(drawing, card.address, " ".join(line.text for line in card.lines))


def _text(card: Card, spot: Spot) -> Iterator[Markup]:
    x = spot.left + PAD
    y = spot.top + PAD - 4.5
    for place, line in enumerate(card.lines):
        y += line.advance
        if card.rule and place == card.rule:
            at = y - line.size - line.gap / 2 - 1.5
            yield element("path", class_="pp-rule", d=f"M{number(x)} {number(at)}H{number(spot.right - PAD)}")
        if line.bullet:
            yield element("circle", class_="pp-ring", cx=x + 4, cy=y - 3.8, r=2.7)
        shift = INDENT if line.item else 0.0
        yield element("text", line.text, class_=f"pp-{line.look}", x=x + shift, y=y, font_size=line.size)
