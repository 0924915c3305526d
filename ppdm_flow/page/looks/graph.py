"""The drawing of a graph without cycles, as of a policy's steps: boxes in layers, arrows, a text for who sees none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from markupsafe import Markup

from ppdm_flow.core.records import dataclass
from ppdm_flow.page.looks.layers import layered
from ppdm_flow.page.looks.svg import element, linked, number, picture
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.plan.pictures.style import fitted, width

_MARGIN, _PAD, _APART, _BETWEEN = 8.0, 12.0, 18.0, 46.0
_TITLE, _LINE = 14.0, 12.0
_LEAST, _MOST = 96.0, 220.0
_TIP = 7.0


@dataclass(frozen=True, slots=True)
class Node:
    """A box: a title, smaller lines below it; ``kind`` is its class, as ``source``, ``step``, ``release``.

    ``address``: the box is a link. ``tip`` is what a pointer over it says.
    """

    key: str
    title: str
    lines: tuple[str, ...] = ()
    kind: str = "step"
    address: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow between two nodes, by their keys."""

    start: str
    end: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def graph(nodes: Sequence[Node], edges: Sequence[Edge], *, name: str, title: str, description: str = "") -> Markup:
    """Return the drawing; ``name`` is its id on the page, ``description`` what it shows in words.

    Without a description the arrows are listed. Raises ValueError for a cycle or an arrow to nowhere.
    """
    by_key = {node.key: node for node in nodes}
    drawn = layered(list(by_key), [(edge.start, edge.end) for edge in edges])
    boxes = _placed([[by_key.get(key, key) for key in layer] for layer in drawn.layers])
    routes = [[boxes[key] for key in route] for route in drawn.routes]
    return picture(
        name,
        max((box.x + box.width for box in boxes.values()), default=0.0) + _MARGIN,
        max((box.y + box.height for box in boxes.values()), default=0.0) + _MARGIN,
        title,
        description or _spoken(by_key, edges),
        *(_arrow(edge, route) for edge, route in zip(edges, routes, strict=True)),
        *(_drawn(node, boxes[node.key]) for node in nodes),
        kind="graph",
        links=any(node.address for node in nodes),
    )


def _spoken(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> str:
    t = catalogue()
    told = [t("pictures.arrow", start=nodes[edge.start].title, end=nodes[edge.end].title) for edge in edges]
    return " ".join(told) or " ".join(node.title for node in nodes.values())


def _placed(layers: Sequence[Sequence[Node | str]]) -> dict[str, _Box]:
    """Return the box of each node, and of each bend of an arrow; every layer is centred."""
    widths = [max(_wide(each) for each in layer) for layer in layers]
    heights = [sum(map(_high, layer)) + _APART * (len(layer) - 1) for layer in layers]
    lefts = accumulate((wide + _BETWEEN for wide in widths), initial=_MARGIN)
    boxes: dict[str, _Box] = {}
    for layer, left, wide, height in zip(layers, lefts, widths, heights, strict=False):
        top = _MARGIN + (max(heights) - height) / 2
        for each in layer:
            boxes[each.key if isinstance(each, Node) else each] = _Box(left, top, wide, _high(each))
            top += _high(each) + _APART
    return boxes


def _wide(each: Node | str) -> float:
    if isinstance(each, str):
        return 0.0
    texts = [width(each.title, _TITLE, bold=True), *(width(line, _LINE) for line in each.lines)]
    return min(_MOST, max(_LEAST, *texts)) + 2 * _PAD


def _high(each: Node | str) -> float:
    return 0.0 if isinstance(each, str) else 2 * _PAD + _TITLE + len(each.lines) * _LINE * 1.4


def _drawn(node: Node, box: _Box) -> Markup:
    room = box.width - 2 * _PAD
    y = box.y + _PAD + _TITLE * 0.85
    texts = [element("text", fitted(node.title, _TITLE, room, bold=True), class_="title", x=box.x + _PAD, y=y)]
    for place, line in enumerate(node.lines, start=1):
        texts.append(element("text", fitted(line, _LINE, room), x=box.x + _PAD, y=y + place * _LINE * 1.4))
    body = element("rect", class_="box", x=box.x, y=box.y, width=box.width, height=box.height, rx=8)
    tip = (element("title", node.tip),) if node.tip else ()
    whole = element("g", *tip, body, *texts, class_=f"node {node.kind}")
    return linked(whole, node.address, " ".join((node.title, *node.lines)))


def _arrow(edge: Edge, route: Sequence[_Box]) -> Markup:
    """Draw an arrow that leaves and arrives level and goes straight through layers that it passes."""
    x, y = route[0].x + route[0].width, route[0].middle
    data = f"M{number(x)} {number(y)}"
    for box in route[1:]:
        to = box.x - (_TIP if box is route[-1] else 0.0)
        curve = ((x + to) / 2, y, (x + to) / 2, box.middle, to, box.middle)
        x, y = box.x + box.width, box.middle
        data += f"C{' '.join(map(number, curve))}H{number(x if box is not route[-1] else to)}"
    end = route[-1].x
    head = element("path", class_="tip", d=f"M{number(end)} {number(y)}l{-_TIP:g} -4v8z")
    label = element("text", edge.label, class_="label", x=end - _TIP, y=y - 6, text_anchor="end")
    line = element("path", class_="edge", d=data)
    return element("g", line, head, *((label,) if edge.label else ()), class_="arrow")
