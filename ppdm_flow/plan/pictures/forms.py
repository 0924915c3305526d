"""Every form of the picture, by name; and the plan as a tree of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import networkx as nx

from ppdm_flow.core.texts.visible import visible_line
from ppdm_flow.plan.dag import document_graph, release_key, sources
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.plan.pictures.cards import svg
from ppdm_flow.plan.pictures.flowcharts import dot, mermaid
from ppdm_flow.plan.pictures.wording import (
    columns,
    deeds,
    demands_of,
    derived,
    gates_of,
    held_of,
    judged_releases,
    measures_of,
)

Document = Mapping[str, Any]


def text(document: Document) -> str:
    """Return a tree from the source to the releases, with what each step does and what is measured."""
    bare = "" if document["requirements"] else "WITHOUT REQUIREMENTS, "
    plan = f"plan {document.get('digest', '')[:12]}, {document['randomness']} randomness"
    head = [f"{document['policy']}: {bare}{plan}", ""]
    graph = document_graph(document)
    for step in document["steps"]:
        graph.nodes[step["name"]]["lines"] = _step(step)
    for release in document["releases"]:
        graph.nodes[release_key(release["name"])]["lines"] = _release(document, release)
    trees = [line for node, source in sources(document).items() for line in _tree(graph, node, source)]
    joins = [_join(join) for join in document.get("joins", ())]
    waived = [_waived(waiver) for waiver in document.get("waivers", ())]
    return "\n".join([*head, *trees, *joins, *waived, *_held(document)]) + "\n"


def _waived(waiver: Document) -> str:
    at = " at one place" if "at" in waiver else ""
    signed = f", signed by {waiver['signed_by']}" if "signed_by" in waiver else ""
    return f"waived until {waiver['until']}: {waiver['of']}{at} (waiver {waiver['name']}{signed})"


def _held(document: Document) -> Iterator[str]:
    """Yield what a run that holds waits for."""
    for held in held_of(document):
        approvals = document["approvals"]
        people = "all different people" if approvals["distinct"] else "all but the author perhaps one person"
        yield f"{held}: {people}, of {approvals['signers']}"


def _tree(graph: nx.DiGraph, node: str, source: Document) -> Iterator[str]:
    """Yield what is read, and what is made of it."""
    kind = f" ({source['format']})" if source["format"] else ""
    yield f"{node}  {source['path'] or 'given by --data'}{kind}, {columns(len(source['attributes']))}"
    yield from _below(graph, node, "")


def _join(join: Document) -> str:
    return f"{' + '.join(join['releases'])}  joined by person, must hold: {', '.join(join['requirements'])}"


def _below(graph: nx.DiGraph, node: str, indent: str) -> Iterator[str]:
    """Yield what is made of a node; what reads several nodes stands below the first, and names the others."""
    children = [child for child in graph.succ[node] if next(iter(graph.pred[child])) == node]
    for place, child in enumerate(children):
        last = place == len(children) - 1
        twig, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
        lines = graph.nodes[child]["lines"]
        if others := [other for other in graph.pred[child] if other != node]:
            lines = [*lines, f"reads too: {', '.join(others)}"]
        yield f"{indent}{twig}{lines[0]}"
        for line in lines[1:]:
            more = "│  " if graph.succ[child] else "   "
            yield f"{indent}{rest}{more}{line}".rstrip()
        yield from _below(graph, child, indent + rest)


def _step(step: Document) -> list[str]:
    use = "" if step["implicit"] else f"  {step['use']} {step['version']}"
    done = "; ".join(deeds(step))
    lines = [f"{step['name']}{use}" + (f": {done}" if done else "")]
    if step["serves"]:
        lines.append(f"for {', '.join(step['serves'])}")
    if step["guarantee"] and not step["implicit"]:
        lines.append(f"claims: {step['guarantee']}")
    return lines


def _release(document: Document, release: Document) -> list[str]:
    names = ", ".join(a["name"] for a in release["attributes"])
    lines = [f"release {release['name']}  {release['path']} ({release['format']}), {release['audience']}: {names}"]
    counts = release["options"].get(COLLAPSE)
    rows = (
        ("each distinct record once, rows in", [counts] if counts else []),
        ("columns", derived(release)),
        ("must hold", demands_of(document, release["name"])),
        ("gates", gates_of(document, release["name"])),
        ("measured too", measures_of(document, release["name"])),
    )
    if document["requirements"] and release["name"] not in judged_releases(document):
        lines.append("WITHOUT REQUIREMENTS")
    return [*lines, *(f"{what}: {'; '.join(items)}" for what, items in rows if items)]


FORMS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {"text": text, "mermaid": mermaid, "dot": dot, "svg": svg}


def draw(form: str, document: Mapping[str, Any]) -> str:
    """Return the picture of that form, with control characters made visible. Raises KeyError for an unknown one."""
    return FORMS[form](_shown(document))


def _shown(value: Any) -> Any:
    """Return the document with every text as it may stand on a line."""
    if isinstance(value, str):
        return visible_line(value)
    if isinstance(value, Mapping):
        return {_shown(key): _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list | tuple) else value
