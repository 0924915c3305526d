"""The plan in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.plan.pictures.wording import computed, deeds, demands_of, gates_of, measures_of

Document = Mapping[str, Any]


def dot(document: Document) -> str:
    """Return a digraph from left to right, audits hanging on their releases."""
    head = (
        f"digraph {_quoted(document['policy'])} {{",
        "  rankdir=LR; bgcolor=transparent;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];',
        '  node [fillcolor="#e8f0fc", color="#2f6cc6"];',
        '  edge [color="#5b636b", fontname="Helvetica", fontsize=10];',
    )
    return "\n".join([*head, *_nodes(document), *_edges(document), "}"]) + "\n"


def _nodes(document: Document) -> Iterator[str]:
    source = document["source"]
    label = _quoted("source", source["path"] or "given by --data")
    yield f'  source [label={label}, shape=cylinder, fillcolor="#eef1f4", color="#5b636b"];'
    for number, step in enumerate(document["steps"]):
        lines = (step["name"], "" if step["implicit"] else step["use"], *deeds(step))
        yield f"  s{number} [label={_quoted(*lines)}{_look(step)}];"
    for number, release in enumerate(document["releases"]):
        label = _quoted(release["name"], release["path"], *computed(release))
        yield f'  r{number} [label={label}, fillcolor="#e6f4eb", color="#146b3f"];'
        demands = [*demands_of(document, release["name"]), *gates_of(document, release["name"])]
        told = (("q", "must hold", demands), ("m", "measured too", measures_of(document, release["name"])))
        for key, title, items in told:
            if items:
                yield f'  {key}{number} [label={_quoted(title, *items)}, shape=note, fillcolor="#ffffff"];'


def _look(step: Document) -> str:
    if step["implicit"]:
        return ', style="rounded,dashed", color="#97a0a9"'
    return ', fillcolor="#f2ebf9", color="#8456b0"' if step["randomized"] else ""


def _edges(document: Document) -> Iterator[str]:
    keys = {"source": "source"} | {step["name"]: f"s{n}" for n, step in enumerate(document["steps"])}
    for kind, nodes in (("s", document["steps"]), ("r", document["releases"])):
        for number, node in enumerate(nodes):
            base, _, output = node["input"].partition(".")
            label = f" [label={_quoted(output)}]" if output else ""
            yield f"  {keys[base]} -> {kind}{number}{label};"
    for number, release in enumerate(document["releases"]):
        name = release["name"]
        if demands_of(document, name) or gates_of(document, name):
            yield f"  r{number} -> q{number} [dir=none, style=dashed];"
        if measures_of(document, name):
            yield f"  r{number} -> m{number} [dir=none, style=dashed];"


def _quoted(*lines: str) -> str:
    told = [line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines if line]
    return '"' + "\\n".join(told) + '"'
