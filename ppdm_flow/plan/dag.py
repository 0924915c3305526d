"""The plan as a directed graph: what is read, steps, releases, audits, requirements and gates, and what flows where.

Nodes are texts, and have their ``kind``: what is read is called as the policy does (``source``, or a linked table), a
step by its name, an audit ``RELEASE/NAME``, a requirement and a gate by their id, a release ``release NAME``, for a
step may have the same name. An edge says what flows: ``outputs`` of a step (``""`` is its own table), ``reads`` the
``original`` or the ``candidate``, or a ``figure``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import networkx as nx

from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.requirement import Requirement

SOURCE = "source"


def release_key(name: str) -> str:
    """Return the node of a release."""
    return f"release {name}"


def audit_key(release: str, name: str) -> str:
    """Return the node of an audit of a release."""
    return f"{release}/{name}"


def base(reference: str) -> str:
    """Return the step (or ``source``) of a reference such as ``step.output``."""
    return reference.partition(".")[0]


def inputs_of(step: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a step of a plan's document reads: one reference, or a list of them."""
    given = step["input"]
    return (given,) if isinstance(given, str) else tuple(given)


def flow_graph(
    roots: Iterable[str], steps: Mapping[str, Iterable[str]], releases: Mapping[str, Iterable[str]]
) -> nx.DiGraph:
    """Return what is read (``roots``), steps and releases, each with the references that it reads."""
    graph = nx.DiGraph()
    graph.add_nodes_from(roots, kind="source")
    graph.add_nodes_from(steps, kind="step")
    graph.add_nodes_from(map(release_key, releases), kind="release")
    for node, references in (*steps.items(), *((release_key(name), read) for name, read in releases.items())):
        for reference in references:
            start, _, output = reference.partition(".")
            outputs = graph.edges[start, node]["outputs"] if graph.has_edge(start, node) else ()
            graph.add_edge(start, node, outputs=(*outputs, output))
    return graph


def sources(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return what is read, by node: ``source``, or the names of linked tables."""
    tables = {table["name"]: table["source"] for table in document.get("tables", ())}
    return tables or {SOURCE: document.get("source", {})}


def document_graph(document: Mapping[str, Any]) -> nx.DiGraph:
    """Return the inputs, steps and releases in a plan's document."""
    steps = {step["name"]: inputs_of(step) for step in document["steps"]}
    return flow_graph(sources(document), steps, {r["name"]: (r["input"],) for r in document["releases"]})


def steps_before(document: Mapping[str, Any], releases: Iterable[str]) -> list[Mapping[str, Any]]:
    """Return the steps that these releases of a plan's document come from, in its order."""
    graph = document_graph(document)
    behind: set[str] = set().union(*(nx.ancestors(graph, release_key(name)) for name in releases))
    return [step for step in document["steps"] if step["name"] in behind]


def with_audits(
    flow: nx.DiGraph,
    audits: Mapping[str, tuple[Iterable[str], Iterable[str]]],
    requirements: Sequence[Requirement],
    gates: Iterable[FigureGate],
) -> nx.DiGraph:
    """Return a flow with what is measured: audits and requirements read original and candidate, gates read figures.

    ``audits`` have, by their nodes, the names of the releases that they read and the ids of requirements they measure.
    """
    graph = flow.copy()
    graph.add_nodes_from((requirement.id for requirement in requirements), kind="requirement")
    graph.add_nodes_from(audits, kind="audit")
    kinds = flow.nodes(data="kind")
    releases = [node for node, kind in kinds if kind == "release"]
    for requirement in requirements:
        about = [release_key(name) for name in requirement.releases] or releases
        graph.add_edges_from(_read_by(requirement.id, about, flow))
    for node, (names, measured) in audits.items():
        graph.add_edges_from(_read_by(node, map(release_key, names), flow))
        graph.add_edges_from((node, each, {"figure": each}) for each in measured if each in graph)
    owners: dict[str, list[tuple[str | None, str]]] = {
        node: [(None, node)] for node, kind in graph.nodes(data="kind") if kind in ("requirement", "step")
    }
    for node in audits:
        release, _, name = node.rpartition("/")
        owners.setdefault(name, []).append((release, node))
    for gate in gates:
        graph.add_node(gate.id, kind="gate")
        ends = [place for place, letter in enumerate(gate.figure) if letter == "."]
        where = {None, *gate.releases}
        for end in reversed(ends):  # the longest name that has a node for these releases
            nodes = [node for release, node in owners.get(gate.figure[:end], ()) if release in where]
            if nodes:
                figure = {"figure": gate.figure[end + 1 :]}
                graph.add_edges_from((node, gate.id, figure) for node in nodes)
                break
    return graph


def _read_by(reader: str, releases: Iterable[str], flow: nx.DiGraph) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the edges to what reads these releases: from each candidate, and from the originals they come from.

    A part of a plan may be without some of them.
    """
    for release in (node for node in releases if node in flow):
        yield release, reader, {"reads": "candidate"}
        for node in nx.ancestors(flow, release):
            if flow.nodes[node].get("kind") == "source":
                yield node, reader, {"reads": "original"}
