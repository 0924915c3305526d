"""The plan as an SVG: a card for each node, and what must hold, and is measured, on the card of its release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import networkx as nx
from markupsafe import Markup

from ppdm_flow.core.texts.widths import fitted, fixed, wrapped
from ppdm_flow.pictures.graphs import INDENT, Card, Line, graph, graph_file, title_line
from ppdm_flow.plan.dag import document_graph, release_key, sources
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.plan.pictures.wording import computed, deeds, demands_of, gates_of, held_of, measures_of

Document = Mapping[str, Any]

SMALL = 11.0
MONO = 10.0
_SMALLEST = 0.78
"""The scale below which a screen lets one scroll rather than shrink: text would be too small to read."""
STEP_TEXT = 144.0
RELEASE_TEXT = 216.0
_NOUNS = frozenset({"identifier", "quasi-identifier", "target", "weight", "sampling-weight", "subject"})


def svg(document: Document) -> str:
    """Return the picture of a plan as a file."""
    return graph_file(*_graph(document), smallest=_SMALLEST)


def drawing(document: Document) -> Markup:
    """Return the picture of a plan for a page that has the style sheet of pictures and allows styles."""
    return graph(*_graph(document), smallest=_SMALLEST)


def linked_drawing(document: Document, address_of: Callable[[Document], str], *, name: str) -> Markup:
    """Return the picture of a plan for a page where ``name`` is its id; steps are links."""
    arrows, every, title, last = _graph(document)
    shown = [step for step in document["steps"] if step["name"] in every]
    every |= {step["name"]: replace(every[step["name"]], address=address_of(step)) for step in shown}
    return graph(arrows, every, title, last, name=name)


def _graph(document: Document) -> tuple[nx.DiGraph, dict[str, Card], str, tuple[str, ...]]:
    return shown_graph(document), cards(document), f"Plan of {document['policy']}", last_layer(document)


def last_layer(document: Document) -> tuple[str, ...]:
    """Return the nodes that stand together at the end: the releases."""
    return tuple(release_key(release["name"]) for release in document["releases"])


def shown_graph(document: Document) -> nx.DiGraph:
    """Return the plan's graph past the steps that have no card."""
    shown = document_graph(document)
    for step in folded(document):
        for before, _, data in list(shown.in_edges(step, data=True)):
            shown.add_edges_from((before, after, data) for after in list(shown.succ[step]))
        shown.remove_node(step)
    return shown


def cards(document: Document) -> dict[str, Card]:
    """Return the cards of a plan by the node of the graph."""
    steps = [step for step in document["steps"] if step["name"] not in folded(document)]
    return {
        **{node: _source(node, source) for node, source in sources(document).items()},
        **{step["name"]: _step(step) for step in steps},
        **{release_key(release["name"]): _release(document, release) for release in document["releases"]},
    }


def folded(document: Document) -> set[str]:
    """Return the steps without a card of their own: the shuffles that the plan put before releases."""
    return {step["name"] for step in document["steps"] if step["implicit"] and step["rows"] == "reordered"}


def _source(node: str, source: Document) -> Card:
    name = (source["path"] or "given by --data").rpartition("/")[2]
    roles = Counter(a["role"].replace("_", "-") for a in source["attributes"])
    counts = [f"{count} {role}{'s' if count > 1 and role in _NOUNS else ''}" for role, count in roles.items()]
    lines = (
        title_line(node, STEP_TEXT),
        _mono(name, STEP_TEXT),
        *(Line(t, "soft", gap=4.0 * (not i)) for i, t in enumerate(counts)),
    )
    return Card("source", lines, source["path"] or "", name=node)


def _step(step: Document) -> Card:
    done = [line for deed in deeds(step) for line in wrapped(deed, SMALL, STEP_TEXT, 2)]
    lines = [title_line(step["name"], STEP_TEXT), _mono(step["use"], STEP_TEXT)]
    lines += [Line(text, "plain", gap=4.0 * (not place)) for place, text in enumerate(done)]
    served = [name.removeprefix("privacy.") for name in step["serves"]]
    if served:
        text = f"for {served[0]}" if len(served) == 1 else f"for {len(served)} requirements"
        lines.append(Line(fitted(text, SMALL, STEP_TEXT), "serves", gap=3.0))
    tip = f"{step['name']}: {step['use']} {step['version']}. {step['guarantee']}"
    return Card("random" if step["randomized"] else "step", tuple(lines), tip.strip(), name=step["name"])


def _release(document: Document, release: Document) -> Card:
    name = release["name"]
    lines = [title_line(name, RELEASE_TEXT), _mono(release["path"], RELEASE_TEXT)]
    count = len(release["attributes"])
    shuffled = ", shuffled" if release["input"] in folded(document) else ""
    lines.append(Line(f"{count} column{'' if count == 1 else 's'}, {release['audience']}{shuffled}", "soft"))
    lines += [Line("each distinct record once", "soft")] * (COLLAPSE in release["options"])
    lines += [Line(t, "soft") for clause in computed(release) for t in wrapped(clause, SMALL, RELEASE_TEXT, 2)]
    lines += [Line(text, "soft") for text in _together(document, name)]
    lines += [Line(text, "soft") for held in held_of(document) for text in wrapped(held, SMALL, RELEASE_TEXT, 3)]
    rule = len(lines)
    lines += _listed("must hold", (*demands_of(document, name), *gates_of(document, name)))
    measures = measures_of(document, name)
    if measures:
        measured = wrapped(", ".join(word.replace("_", " ") for word in measures), SMALL, RELEASE_TEXT, 3)
        lines.append(Line("measured too", "label", size=10.0, gap=5.0))
        lines += [Line(text, "soft") for text in measured]
    return Card("release", tuple(lines), release["description"], rule if len(lines) > rule else 0, name=name)


def _together(document: Document, name: str) -> list[str]:
    """Return with which releases this one is judged as one table, and by which of its columns."""
    lines = ["never beside another release"] if "recipients" in document else []
    for link in document.get("joined_by", ()):
        if name in link["releases"]:
            side = link["releases"].index(name)
            columns = ", ".join(pair[side] for pair in link["columns"])
            lines += wrapped(f"joined with {link['releases'][1 - side]} by {columns}", SMALL, RELEASE_TEXT, 2)
    return lines


def _listed(label: str, items: Iterable[str]) -> list[Line]:
    lines = [
        Line(text, "plain", item=True, bullet=not place)
        for item in items
        for place, text in enumerate(wrapped(item, SMALL, RELEASE_TEXT - INDENT, 2))
    ]
    return [Line(label, "label", size=10.0, gap=9.0), *lines] if lines else []


def _mono(text: str, most: float) -> Line:
    room = int(most / fixed("x", MONO))
    return Line(text if len(text) <= room else f"{text[: room - 1]}…", "mono", MONO)
