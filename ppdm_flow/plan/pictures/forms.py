"""Every form of the picture, by name; and the plan as a tree of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
from markupsafe import Markup

from ppdm_flow.core.texts import fitted, fixed, visible_line, wrapped
from ppdm_flow.pictures.graphs import INDENT, Card, Line, graph, graph_file, title_line
from ppdm_flow.plan.dag import SOURCE, document_graph, release_key, sources
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.plan.pictures.wording import (
    columns,
    computed,
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
    """Return a tree from the source to the releases, with the changes of each step and the measurements."""
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
    """Yield the inputs, and the nodes below them."""
    kind = f" ({source['format']})" if source["format"] else ""
    yield f"{node}  {source['path'] or 'given by --data'}{kind}, {columns(len(source['attributes']))}"
    yield from _below(graph, node, "")


def _join(join: Document) -> str:
    return f"{' + '.join(join['releases'])}  joined by person, must hold: {', '.join(join['requirements'])}"


def _below(graph: nx.DiGraph, node: str, indent: str) -> Iterator[str]:
    """Yield the nodes below a node; one that reads several nodes is below the first, and names the others."""
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


# The plan in the languages of Graphviz and Mermaid: from left to right, audits hanging on their releases.


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


# The plan as an SVG: a card for each node, and what must hold, and is measured, on the card of its release.


def svg(document: Document) -> str:
    """Return the picture of a plan as a file."""
    return graph_file(*_graph(document), smallest=_SMALLEST)


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


SMALL = 11.0
MONO = 10.0
_SMALLEST = 0.78
"""The scale below which a screen lets one scroll rather than shrink: text would be too small to read."""
STEP_TEXT = 144.0
RELEASE_TEXT = 216.0
_NOUNS = frozenset({"identifier", "quasi-identifier", "target", "weight", "sampling-weight", "subject"})


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
        **{step["name"]: _cards_step(step) for step in steps},
        **{release_key(release["name"]): _cards_release(document, release) for release in document["releases"]},
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


def _cards_step(step: Document) -> Card:
    done = [line for deed in deeds(step) for line in wrapped(deed, SMALL, STEP_TEXT, 2)]
    lines = [title_line(step["name"], STEP_TEXT), _mono(step["use"], STEP_TEXT)]
    lines += [Line(text, "plain", gap=4.0 * (not place)) for place, text in enumerate(done)]
    served = [name.removeprefix("privacy.") for name in step["serves"]]
    if served:
        text = f"for {served[0]}" if len(served) == 1 else f"for {len(served)} requirements"
        lines.append(Line(fitted(text, SMALL, STEP_TEXT), "serves", gap=3.0))
    tip = f"{step['name']}: {step['use']} {step['version']}. {step['guarantee']}"
    return Card("random" if step["randomized"] else "step", tuple(lines), tip.strip(), name=step["name"])


def _cards_release(document: Document, release: Document) -> Card:
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
