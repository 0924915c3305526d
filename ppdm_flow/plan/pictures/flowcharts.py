"""The plan in the languages of Graphviz and Mermaid: from left to right, audits hanging on their releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.plan.dag import SOURCE, document_graph, release_key, sources
from ppdm_flow.plan.pictures.wording import computed, deeds, demands_of, gates_of, held_of, measures_of

Document = Mapping[str, Any]

_DOT_LOOKS = {
    "source": ', shape=cylinder, fillcolor="#eef1f4", color="#5b636b"',
    "step": "",
    "random": ', fillcolor="#f2ebf9", color="#8456b0"',
    "implicit": ', style="rounded,dashed", color="#97a0a9"',
    "release": ', fillcolor="#e6f4eb", color="#146b3f"',
    "demands": ', shape=note, fillcolor="#ffffff"',
    "measures": ', shape=note, fillcolor="#ffffff"',
}
_MERMAID_SHAPES = {"source": ("[(", ")]"), "release": ("([", "])"), "demands": ("{{", "}}")}
_MERMAID_CLASSES = {"demands": "audit", "measures": "audit"}
_CLASSES = (
    "  classDef source fill:#eef1f4,stroke:#5b636b,color:#1b1f23",
    "  classDef step fill:#e8f0fc,stroke:#2f6cc6,color:#1b1f23",
    "  classDef random fill:#f2ebf9,stroke:#8456b0,color:#1b1f23",
    "  classDef implicit fill:#ffffff,stroke:#97a0a9,color:#5b636b,stroke-dasharray:4 3",
    "  classDef release fill:#e6f4eb,stroke:#146b3f,color:#1b1f23",
    "  classDef audit fill:#ffffff,stroke:#b4dcc4,color:#1b1f23",
)


@dataclass(frozen=True, slots=True)
class _FlowNode:
    """A node: its key, its look and its lines; ``note_of`` is the key of the release that it hangs on."""

    key: str
    look: str
    lines: tuple[str, ...]
    note_of: str = ""


def dot(document: Document) -> str:
    """Return the plan as a digraph of Graphviz."""
    lines = [
        f"digraph {_quoted(document['policy'])} {{",
        "  rankdir=LR; bgcolor=transparent;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];',
        '  node [fillcolor="#e8f0fc", color="#2f6cc6"];',
        '  edge [color="#5b636b", fontname="Helvetica", fontsize=10];',
    ]
    nodes = list(_nodes(document))
    lines += [f"  {node.key} [label={_quoted(*node.lines)}{_DOT_LOOKS[node.look]}];" for node in nodes]
    for start, end, output in _inputs(document):
        lines.append(f"  {start} -> {end}{f' [label={_quoted(output)}]' if output else ''};")
    lines += [f"  {node.note_of} -> {node.key} [dir=none, style=dashed];" for node in nodes if node.note_of]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(document: Document) -> str:
    """Return the plan as a flowchart of Mermaid."""
    lines, nodes = ["flowchart LR"], list(_nodes(document))
    for node in nodes:
        before, after = _MERMAID_SHAPES.get(node.look, ("[", "]"))
        look = _MERMAID_CLASSES.get(node.look, node.look)
        lines.append(f"  {node.key}{before}{_label(*node.lines)}{after}:::{look}")
    for start, end, output in _inputs(document):
        lines.append(f"  {start} {f'-->|{_label(output)}|' if output else '-->'} {end}")
    lines += [f"  {node.note_of} -.- {node.key}" for node in nodes if node.note_of]
    return "\n".join([*lines, *_CLASSES]) + "\n"


def _nodes(document: Document) -> Iterator[_FlowNode]:
    for key, (node, source) in zip(_source_keys(document).values(), sources(document).items(), strict=True):
        yield _FlowNode(key, "source", (node, source["path"] or "given by --data"))
    for number, step in enumerate(document["steps"]):
        look = "implicit" if step["implicit"] else "random" if step["randomized"] else "step"
        yield _FlowNode(f"s{number}", look, (step["name"], "" if step["implicit"] else step["use"], *deeds(step)))
    for number, release in enumerate(document["releases"]):
        key, name = f"r{number}", release["name"]
        yield _FlowNode(key, "release", (name, release["path"], *computed(release), *held_of(document)))
        demands = (*demands_of(document, name), *gates_of(document, name))
        if demands:
            yield _FlowNode(f"q{number}", "demands", ("must hold", *demands), key)
        measures = measures_of(document, name)
        if measures:
            yield _FlowNode(f"m{number}", "measures", ("measured too", *measures), key)


def _inputs(document: Document) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of two nodes of which one reads the other, and which outputs of a step that has several."""
    keys = _source_keys(document) | {step["name"]: f"s{n}" for n, step in enumerate(document["steps"])}
    keys |= {release_key(release["name"]): f"r{n}" for n, release in enumerate(document["releases"])}
    for start, end, outputs in document_graph(document).edges(data="outputs"):
        yield keys[start], keys[end], ", ".join(filter(None, outputs))


def _source_keys(document: Document) -> dict[str, str]:
    """Return the key of each node that is read."""
    nodes = list(sources(document))
    return {SOURCE: SOURCE} if nodes == [SOURCE] else {node: f"t{number}" for number, node in enumerate(nodes)}


def _quoted(*lines: str) -> str:
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines if line]
    return '"' + "\\n".join(escaped) + '"'


def _label(*lines: str) -> str:
    """Return quoted text; Mermaid takes entities of its own form."""
    entities = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;"}
    escaped = ["".join(entities.get(letter, letter) for letter in line) for line in lines if line]
    return '"' + "<br/>".join(escaped) + '"'
