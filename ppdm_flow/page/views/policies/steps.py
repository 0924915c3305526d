"""The steps of a policy as a drawn graph."""

from __future__ import annotations

from markupsafe import Markup

from ppdm_flow.page.looks.graph import Edge, Node, graph
from ppdm_flow.page.services.policies.checks import PolicyCheck
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.plan.dag import document_graph, release_key, sources

_ARROW = "policies.graph_arrow"


_MOST_NODES = 300
"""A drawing with more of them is no help, and takes long."""


def drawing_of(checked: PolicyCheck) -> Markup | None:
    """Return the drawing of what is read, done and released; None where the text has errors, or too many steps."""
    about = checked.plan
    if about is None or len(about["steps"]) + len(about["releases"]) > _MOST_NODES:
        return None
    t = catalogue()
    nodes = [
        Node(node, node, (source.get("path") or t("policies.graph_given"),), "source")
        for node, source in sources(about).items()
    ]
    for step in about["steps"]:
        lines = () if step["implicit"] else (step["use"],)
        address = "" if step["implicit"] else f"/explain/{step['use']}"
        nodes.append(Node(step["name"], step["name"], lines, "step", address))
    for release in about["releases"]:
        name = release["name"]
        nodes.append(Node(release_key(name), name, (t("policies.graph_release"), release["format"]), "release"))
    edges = [
        Edge(start, end, ", ".join(filter(None, outputs)))
        for start, end, outputs in document_graph(about).edges(data="outputs")
    ]
    titles = {node.key: node.title for node in nodes}
    told = " ".join(t(_ARROW, start=titles[edge.start], end=titles[edge.end]) for edge in edges)
    return graph(nodes, edges, name="steps", title=t("policies.graph"), description=told)
