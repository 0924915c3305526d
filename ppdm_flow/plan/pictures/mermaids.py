"""The plan as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.plan.pictures.wording import computed, deeds, demands_of, gates_of, measures_of

Document = Mapping[str, Any]

_CLASSES = (
    "  classDef source fill:#eef1f4,stroke:#5b636b,color:#1b1f23",
    "  classDef step fill:#e8f0fc,stroke:#2f6cc6,color:#1b1f23",
    "  classDef random fill:#f2ebf9,stroke:#8456b0,color:#1b1f23",
    "  classDef implicit fill:#ffffff,stroke:#97a0a9,color:#5b636b,stroke-dasharray:4 3",
    "  classDef release fill:#e6f4eb,stroke:#146b3f,color:#1b1f23",
    "  classDef audit fill:#ffffff,stroke:#b4dcc4,color:#1b1f23",
)


def mermaid(document: Document) -> str:
    """Return a flowchart from left to right, audits hanging on their releases."""
    return "\n".join(["flowchart LR", *_nodes(document), *_edges(document), *_CLASSES]) + "\n"


def _nodes(document: Document) -> Iterator[str]:
    source = document["source"]
    yield f"  source[({_label('source', source['path'] or 'given by --data')})]:::source"
    for number, step in enumerate(document["steps"]):
        look = "implicit" if step["implicit"] else "random" if step["randomized"] else "step"
        lines = (step["name"], "" if step["implicit"] else step["use"], *deeds(step))
        yield f"  s{number}[{_label(*lines)}]:::{look}"
    for number, release in enumerate(document["releases"]):
        yield f"  r{number}([{_label(release['name'], release['path'], *computed(release))}]):::release"
        demands = [*demands_of(document, release["name"]), *gates_of(document, release["name"])]
        if demands:
            yield f"  q{number}{{{{{_label('must hold', *demands)}}}}}:::audit"
        measures = measures_of(document, release["name"])
        if measures:
            yield f"  m{number}[{_label('measured too', *measures)}]:::audit"


def _edges(document: Document) -> Iterator[str]:
    keys = {"source": "source"} | {step["name"]: f"s{n}" for n, step in enumerate(document["steps"])}
    for kind, nodes in (("s", document["steps"]), ("r", document["releases"])):
        for number, node in enumerate(nodes):
            base, _, output = node["input"].partition(".")
            arrow = f"-->|{_label(output)}|" if output else "-->"
            yield f"  {keys[base]} {arrow} {kind}{number}"
    for number, release in enumerate(document["releases"]):
        if demands_of(document, release["name"]) or gates_of(document, release["name"]):
            yield f"  r{number} -.- q{number}"
        if measures_of(document, release["name"]):
            yield f"  r{number} -.- m{number}"


def _label(*lines: str) -> str:
    """Return quoted text; Mermaid takes entities of its own form."""
    entities = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;"}
    told = ["".join(entities.get(letter, letter) for letter in line) for line in lines if line]
    return '"' + "<br/>".join(told) + '"'
