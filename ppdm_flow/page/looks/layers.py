"""Where the boxes of a graph without cycles lie: layers from left to right, few crossings, no arrow through a box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from statistics import fmean

from ppdm_flow.core.records import dataclass

_SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Layers:
    """``layers`` hold nodes and the bends of edges that pass a layer; ``routes`` are what each edge goes through."""

    layers: tuple[tuple[str, ...], ...]
    routes: tuple[tuple[str, ...], ...]


def layered(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> Layers:
    """Put every node into the layer after the last of those that lead to it, near what it hangs on.

    Raises ValueError for a cycle, and for an edge whose end is no node.
    """
    before: dict[str, list[str]] = {node: [] for node in nodes}
    for start, end in edges:
        if start not in before or end not in before:
            raise ValueError("an edge of the graph leads to or from a node that is not there")
        before[end].append(start)
    depth = _depths(before)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    routes = []
    for place, (start, end) in enumerate(edges):
        bends = [f"\0{place} {layer}" for layer in range(depth[start] + 1, depth[end])]
        for layer, bend in enumerate(bends, start=depth[start] + 1):
            layers[layer].append(bend)
        routes.append((start, *bends, end))
    _uncross(layers, routes)
    return Layers(tuple(map(tuple, layers)), tuple(routes))


def _depths(before: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return how many edges the longest way to each node has."""
    try:
        order = tuple(TopologicalSorter(before).static_order())
    except CycleError:
        raise ValueError("the graph has a cycle") from None
    depth: dict[str, int] = {}
    for node in order:
        depth[node] = 1 + max((depth[each] for each in before[node]), default=-1)
    return depth


def _uncross(layers: list[list[str]], routes: Sequence[Sequence[str]]) -> None:
    """Sort the layers forwards and backwards, each by the mean place of what its nodes hang on."""
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for route in routes:
        for start, end in pairwise(route):
            before.setdefault(end, []).append(start)
            after.setdefault(start, []).append(end)
    for sweep in range(_SWEEPS):
        _sort(*((layers, before) if sweep % 2 == 0 else (layers[::-1], after)))


def _sort(layers: Sequence[list[str]], neighbours: Mapping[str, Sequence[str]]) -> None:
    place: dict[str, float] = {}
    for layer in layers:
        own = {node: (position + 0.5) / len(layer) for position, node in enumerate(layer)}
        means = {n: fmean(place[each] for each in neighbours[n]) if n in neighbours else own[n] for n in layer}
        layer.sort(key=means.__getitem__)
        place |= {node: (position + 0.5) / len(layer) for position, node in enumerate(layer)}
