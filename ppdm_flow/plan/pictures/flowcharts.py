"""The plan in the languages of Graphviz and Mermaid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.plan.dag import SOURCE, document_graph, release_key, sources
from ppdm_flow.plan.pictures.wording import computed, deeds, demands_of, gates_of, held_of, measures_of

Document = Mapping[str, Any]

_CLASSES = (
    "  classDef source fill:#eef1f4,stroke:#5b636b,color:#1b1f23",
    "  classDef step fill:#e8f0fc,stroke:#2f6cc6,color:#1b1f23",
    "  classDef random fill:#f2ebf9,stroke:#8456b0,color:#1b1f23",
    "  classDef implicit fill:#ffffff,stroke:#97a0a9,color:#5b636b,stroke-dasharray:4 3",
    "  classDef release fill:#e6f4eb,stroke:#146b3f,color:#1b1f23",
    "  classDef audit fill:#ffffff,stroke:#b4dcc4,color:#1b1f23",
)


def dot(document: Document) -> str:
    """Return a digraph from left to right, audits hanging on their releases."""
    head = (
        f"digraph {_quoted(document['policy'])} {{",
        "  rankdir=LR; bgcolor=transparent;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];',
        '  node [fillcolor="#e8f0fc", color="#2f6cc6"];',
        '  edge [color="#5b636b", fontname="Helvetica", fontsize=10];',
    )
    return "\n".join([*head, *_dot_nodes(document), *_dot_edges(document), "}"]) + "\n"


def _dot_nodes(document: Document) -> Iterator[str]:
    for key, (node, source) in zip(_source_keys(document).values(), sources(document).items(), strict=True):
        label = _quoted(node, source["path"] or "given by --data")
        yield f'  {key} [label={label}, shape=cylinder, fillcolor="#eef1f4", color="#5b636b"];'
    for number, step in enumerate(document["steps"]):
        lines = (step["name"], "" if step["implicit"] else step["use"], *deeds(step))
        yield f"  s{number} [label={_quoted(*lines)}{_dot_look(step)}];"
    for number, release in enumerate(document["releases"]):
        label = _quoted(release["name"], release["path"], *computed(release), *held_of(document))
        yield f'  r{number} [label={label}, fillcolor="#e6f4eb", color="#146b3f"];'
        demands = [*demands_of(document, release["name"]), *gates_of(document, release["name"])]
        notes = (("q", "must hold", demands), ("m", "measured too", measures_of(document, release["name"])))
        for key, title, items in notes:
            if items:
                yield f'  {key}{number} [label={_quoted(title, *items)}, shape=note, fillcolor="#ffffff"];'


def _dot_look(step: Document) -> str:
    if step["implicit"]:
        return ', style="rounded,dashed", color="#97a0a9"'
    return ', fillcolor="#f2ebf9", color="#8456b0"' if step["randomized"] else ""


def _dot_edges(document: Document) -> Iterator[str]:
    for start, end, output in _inputs(document):
        yield f"  {start} -> {end}{f' [label={_quoted(output)}]' if output else ''};"
    for release, note in _notes(document):
        yield f"  {release} -> {note} [dir=none, style=dashed];"


def mermaid(document: Document) -> str:
    """Return a flowchart from left to right, audits hanging on their releases."""
    return "\n".join(["flowchart LR", *_mermaid_nodes(document), *_mermaid_edges(document), *_CLASSES]) + "\n"


def _mermaid_nodes(document: Document) -> Iterator[str]:
    for key, (node, source) in zip(_source_keys(document).values(), sources(document).items(), strict=True):
        yield f"  {key}[({_label(node, source['path'] or 'given by --data')})]:::source"
    for number, step in enumerate(document["steps"]):
        look = "implicit" if step["implicit"] else "random" if step["randomized"] else "step"
        lines = (step["name"], "" if step["implicit"] else step["use"], *deeds(step))
        yield f"  s{number}[{_label(*lines)}]:::{look}"
    for number, release in enumerate(document["releases"]):
        label = _label(release["name"], release["path"], *computed(release), *held_of(document))
        yield f"  r{number}([{label}]):::release"
        demands = [*demands_of(document, release["name"]), *gates_of(document, release["name"])]
        if demands:
            yield f"  q{number}{{{{{_label('must hold', *demands)}}}}}:::audit"
        measures = measures_of(document, release["name"])
        if measures:
            yield f"  m{number}[{_label('measured too', *measures)}]:::audit"


def _mermaid_edges(document: Document) -> Iterator[str]:
    for start, end, output in _inputs(document):
        yield f"  {start} {f'-->|{_label(output)}|' if output else '-->'} {end}"
    for release, note in _notes(document):
        yield f"  {release} -.- {note}"


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


def _notes(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the keys of each release and of the notes beside it: what must hold of it, and what is measured too."""
    for number, release in enumerate(document["releases"]):
        name = release["name"]
        if demands_of(document, name) or gates_of(document, name):
            yield f"r{number}", f"q{number}"
        if measures_of(document, name):
            yield f"r{number}", f"m{number}"


def _quoted(*lines: str) -> str:
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines if line]
    return '"' + "\\n".join(escaped) + '"'


def _label(*lines: str) -> str:
    """Return quoted text; Mermaid takes entities of its own form."""
    entities = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;"}
    escaped = ["".join(entities.get(letter, letter) for letter in line) for line in lines if line]
    return '"' + "<br/>".join(escaped) + '"'
