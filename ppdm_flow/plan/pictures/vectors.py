"""The plan as an SVG: a card for each node, and what must hold, and is measured, on the card of its release."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import networkx as nx

from ppdm_flow.core.graph_drawing import drawn, escaped, number
from ppdm_flow.plan.dag import document_graph, release_key
from ppdm_flow.plan.pictures.cards import cards, folded
from ppdm_flow.plan.pictures.style import style

Document = Mapping[str, Any]


def svg(document: Document) -> str:
    """Return a self-contained SVG. Its colours are the page's variables, or its own in light and dark."""
    parts, wide, high = drawn(shown_graph(document), cards(document), last_layer(document))
    title = f"Plan of {document['policy']}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ppdm-plan" viewBox="0 0 {number(wide)} {number(high)}"'
        f' width="{number(wide)}" height="{number(high)}" role="img" aria-label="{escape(title)}">'
    )
    return "\n".join([head, f"<title>{escaped(title)}</title>", f"<style>{style(wide)}</style>", *parts, "</svg>\n"])


def last_layer(document: Document) -> tuple[str, ...]:
    """Return the nodes that stand together at the end: the releases."""
    return tuple(release_key(release["name"]) for release in document["releases"])


def shown_graph(document: Document) -> nx.DiGraph:
    """Return the plan's graph past the steps that have no card."""
    graph = document_graph(document)
    for step in folded(document):
        for before, _, data in list(graph.in_edges(step, data=True)):
            graph.add_edges_from((before, after, data) for after in list(graph.succ[step]))
        graph.remove_node(step)
    return graph
