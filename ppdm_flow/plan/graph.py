"""The plan's document as a directed graph: what can run at once, and where a picture puts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx

SOURCE = "source"


def release_key(name: str) -> str:
    """Return the node of a release: a step may have the same name."""
    return f"release {name}"


def graph(document: Mapping[str, Any]) -> nx.DiGraph:
    """Return the graph; its nodes are ``source``, the names of steps, and ``release NAME``."""
    digraph = nx.DiGraph()
    digraph.add_node(SOURCE)
    for step in document["steps"]:
        digraph.add_edge(_base(step["input"]), step["name"], output=step["input"].partition(".")[2])
    for release in document["releases"]:
        digraph.add_edge(
            _base(release["input"]), release_key(release["name"]), output=release["input"].partition(".")[2]
        )
    return digraph


def levels(document: Mapping[str, Any]) -> list[list[str]]:
    """Return the nodes by distance from the source: those of a level do not depend on each other."""
    return [sorted(level) for level in nx.topological_generations(graph(document))]


def lanes(document: Mapping[str, Any]) -> dict[str, float]:
    """Return the vertical place of each node, in lanes: a leaf has a lane of its own, others the middle of theirs."""
    tree = graph(document)
    order = {node: place for place, node in enumerate(_written(document))}
    places: dict[str, float] = {}
    free = iter(range(len(tree)))
    for node in nx.dfs_postorder_nodes(tree, SOURCE, sort_neighbors=lambda nodes: sorted(nodes, key=order.__getitem__)):
        below = [places[child] for child in tree.successors(node)]
        places[node] = (min(below) + max(below)) / 2 if below else float(next(free))
    return places


def _written(document: Mapping[str, Any]) -> list[str]:
    """Return the nodes in an order for pictures: releases first, so that branches follow the policy's releases."""
    tree = graph(document)
    first: dict[str, int] = {}
    for place, release in enumerate(document["releases"]):
        node = release_key(release["name"])
        for at in (node, *nx.ancestors(tree, node)):
            first.setdefault(at, place)
    return sorted(tree, key=lambda node: (first.get(node, len(first)), node))


def _base(reference: str) -> str:
    return reference.partition(".")[0]
