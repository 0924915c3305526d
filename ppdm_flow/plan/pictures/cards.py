"""What stands on each card of the picture, and how large that makes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ppdm_flow.core.graph_drawing import INDENT, Card, Line
from ppdm_flow.core.texts.widths import fitted, fixed, wrapped
from ppdm_flow.plan.dag import release_key, sources
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.plan.pictures.wording import computed, deeds, demands_of, gates_of, held_of, measures_of

Document = Mapping[str, Any]

TITLE = 13.5
SMALL = 11.0
MONO = 10.0
STEP_TEXT = 144.0
RELEASE_TEXT = 216.0
_NOUNS = frozenset({"identifier", "quasi-identifier", "target", "weight", "sampling-weight", "subject"})


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
        _title(node),
        _mono(name, STEP_TEXT),
        *(Line(t, "soft", gap=4.0 * (not i)) for i, t in enumerate(counts)),
    )
    return Card("source", lines, source["path"] or "")


def _step(step: Document) -> Card:
    done = [line for deed in deeds(step) for line in wrapped(deed, SMALL, STEP_TEXT, 2)]
    lines = [_title(step["name"], STEP_TEXT), _mono(step["use"], STEP_TEXT)]
    lines += [Line(text, "plain", gap=4.0 * (not place)) for place, text in enumerate(done)]
    served = [name.removeprefix("privacy.") for name in step["serves"]]
    if served:
        text = f"for {served[0]}" if len(served) == 1 else f"for {len(served)} requirements"
        lines.append(Line(fitted(text, SMALL, STEP_TEXT), "serves", gap=3.0))
    tip = f"{step['name']}: {step['use']} {step['version']}. {step['guarantee']}"
    return Card("random" if step["randomized"] else "step", tuple(lines), tip.strip())


def _release(document: Document, release: Document) -> Card:
    name = release["name"]
    lines = [_title(name, RELEASE_TEXT), _mono(release["path"], RELEASE_TEXT)]
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
    return Card("release", tuple(lines), release["description"], rule if len(lines) > rule else 0)


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


def _title(text: str, most: float = STEP_TEXT) -> Line:
    return Line(fitted(text, TITLE, most, bold=True), "title", TITLE)


def _mono(text: str, most: float) -> Line:
    room = int(most / fixed("x", MONO))
    return Line(text if len(text) <= room else f"{text[: room - 1]}…", "mono", MONO)
