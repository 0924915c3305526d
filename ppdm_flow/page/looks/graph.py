"""The drawing of a graph without cycles, as of a policy's steps: boxes in layers, arrows, a text for who sees none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
from markupsafe import Markup

from ppdm_flow.core.graph_drawing import Card, Line, drawn
from ppdm_flow.core.texts.widths import fitted
from ppdm_flow.page.looks.svg import linked, picture
from ppdm_flow.page.texts.catalogue import catalogue

_TITLE, _LINE = 14.0, 12.0
_LEAST, _MOST = 96.0, 220.0


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

    @property
    def card(self) -> Card:
        """What is drawn of it."""
        title = Line(fitted(self.title, _TITLE, _MOST, bold=True), "title", _TITLE)
        lines = (Line(fitted(line, _LINE, _MOST), "plain", _LINE) for line in self.lines)
        return Card(self.kind, (title, *lines), self.tip, least=_LEAST)


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow between two nodes, by their keys."""

    start: str
    end: str
    label: str = ""


def graph(nodes: Sequence[Node], edges: Sequence[Edge], *, name: str, title: str, description: str = "") -> Markup:
    """Return the drawing; ``name`` is its id on the page, ``description`` what it shows in words.

    Releases stand together at the end. Without a description the arrows are listed. Raises NetworkXUnfeasible for a
    cycle, KeyError for an arrow to nowhere.
    """
    by_key = {node.key: node for node in nodes}
    arrows = nx.DiGraph()
    arrows.add_nodes_from(by_key)
    arrows.add_edges_from((edge.start, edge.end, {"outputs": (edge.label,)}) for edge in edges)

    def wrap(key: str, part: str) -> Markup:
        node = by_key[key]
        return linked(Markup(part), node.address, " ".join((node.title, *node.lines)))  # noqa: S704  # all of it is escaped

    last = [node.key for node in nodes if node.kind == "release"]
    parts, wide, high = drawn(arrows, {node.key: node.card for node in nodes}, last, wrap)
    return picture(
        name,
        wide,
        high,
        title,
        description or _spoken(by_key, edges),
        *map(Markup, parts),
        kind="graph",
        links=any(node.address for node in nodes),
    )


def _spoken(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> str:
    t = catalogue()
    told = [t("pictures.arrow", start=nodes[edge.start].title, end=nodes[edge.end].title) for edge in edges]
    return " ".join(told) or " ".join(node.title for node in nodes.values())
