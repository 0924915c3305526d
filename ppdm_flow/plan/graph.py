"""The plan's document as trees, for each node has one input: what can run at once, and where a picture puts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SOURCE = "source"


def release_key(name: str) -> str:
    """Return the node of a release: a step may have the same name."""
    return f"release {name}"


def sources(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return what is read, by node: ``source``, or the names of linked tables."""
    tables = {table["name"]: table["source"] for table in document.get("tables", ())}
    return tables or {SOURCE: document.get("source", {})}


def tree(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what each node feeds; the nodes are those of what is read, the names of steps, and ``release NAME``."""
    inputs = _inputs(document)
    below: dict[str, list[str]] = {node: [] for node in (*sources(document), *inputs)}
    for node, base in inputs.items():
        below[base].append(node)
    return below


def levels(document: Mapping[str, Any]) -> list[list[str]]:
    """Return the nodes by distance from the source: those of a level do not depend on each other."""
    below = tree(document)
    found = [list(sources(document))]
    while following := sorted(child for node in found[-1] for child in below[node]):
        found.append(following)
    return found


def lanes(document: Mapping[str, Any]) -> dict[str, float]:
    """Return the vertical place of each node, in lanes: a leaf has a lane of its own, others the middle of theirs."""
    below = tree(document)
    first = _first_releases(document)
    downwards: list[str] = []
    waiting = list(reversed(list(sources(document))))
    while waiting:
        node = waiting.pop()
        downwards.append(node)
        waiting += sorted(below[node], key=lambda child: (first.get(child, len(first)), child), reverse=True)
    leaves = (node for node in downwards if not below[node])
    places = {leaf: float(lane) for lane, leaf in enumerate(leaves)}
    for node in reversed(downwards):
        if below[node]:
            lane = [places[child] for child in below[node]]
            places[node] = (min(lane) + max(lane)) / 2
    return places


def _first_releases(document: Mapping[str, Any]) -> dict[str, int]:
    """Return the place of the first release that a node leads to, so that branches follow the policy's releases."""
    inputs = _inputs(document)
    first: dict[str, int] = {}
    for place, release in enumerate(document["releases"]):
        node: str | None = release_key(release["name"])
        while node is not None and node not in first:
            first[node] = place
            node = inputs.get(node)
    return first


def _inputs(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the node that each node but the source is made from."""
    steps = {step["name"]: step["input"] for step in document["steps"]}
    releases = {release_key(release["name"]): release["input"] for release in document["releases"]}
    return {node: reference.partition(".")[0] for node, reference in {**steps, **releases}.items()}
