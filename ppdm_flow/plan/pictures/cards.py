"""What stands on each card of the picture, and how large that makes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.plan.graph import SOURCE, release_key
from ppdm_flow.plan.pictures.metrics import fitted, fixed, width, wrapped
from ppdm_flow.plan.pictures.wording import deeds, demands_of, gates_of, measures_of

Document = Mapping[str, Any]

PAD = 13.0
TITLE = 13.5
SMALL = 11.0
STEP_TEXT = 158.0
RELEASE_TEXT = 220.0
INDENT = 14.0
_LEAST = 84.0
_NOUNS = frozenset({"identifier", "quasi-identifier", "target", "weight", "subject"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text: ``look`` is a class of the style sheet; ``bullet`` puts a ring before it."""

    text: str
    look: str
    size: float = SMALL
    gap: float = 0.0
    bullet: bool = False

    @property
    def advance(self) -> float:
        """How far the next baseline lies below the one before this line."""
        return round(self.size * 1.42 + self.gap, 1)

    @property
    def width(self) -> float:
        """Pixels."""
        if self.look == "mono":
            return fixed(self.text, self.size)
        return width(self.text, self.size, bold=self.look == "title") + (INDENT if self.bullet else 0.0)


@dataclass(frozen=True, slots=True)
class Card:
    """A card; ``rule`` counts the lines above a thin rule, 0 for none."""

    key: str
    look: str
    lines: tuple[Line, ...]
    tip: str
    rule: int = 0

    @property
    def width(self) -> float:
        """Pixels."""
        least = 0.0 if self.look == "implicit" else _LEAST
        return max([least, *(line.width for line in self.lines)]) + 2 * PAD

    @property
    def height(self) -> float:
        """Pixels."""
        return sum(line.advance for line in self.lines) + 2 * PAD - 3


def cards(document: Document) -> dict[str, Card]:
    """Return the cards of a plan by the node of the graph."""
    found = [_source(document["source"])]
    found += [_implicit(step) if step["implicit"] else _step(step) for step in document["steps"]]
    found += [_release(document, release) for release in document["releases"]]
    return {card.key: card for card in found}


def _source(source: Document) -> Card:
    name = (source["path"] or "given by --data").rpartition("/")[2]
    roles = Counter(a["role"].replace("_", "-") for a in source["attributes"])
    told = [f"{count} {role}{'s' if count > 1 and role in _NOUNS else ''}" for role, count in roles.items()]
    lines = (
        _title("source"),
        _mono(name, STEP_TEXT),
        *(Line(t, "soft", gap=4.0 * (not i)) for i, t in enumerate(told)),
    )
    return Card(SOURCE, "source", lines, source["path"] or "")


def _step(step: Document) -> Card:
    done = [line for deed in deeds(step) for line in wrapped(deed, SMALL, STEP_TEXT, 2)]
    lines = [_title(step["name"], STEP_TEXT), _mono(step["use"], STEP_TEXT)]
    lines += [Line(text, "plain", gap=4.0 * (not place)) for place, text in enumerate(done)]
    served = [name.removeprefix("privacy.") for name in step["serves"]]
    if served:
        text = f"for {served[0]}" if len(served) == 1 else f"for {len(served)} requirements"
        lines.append(Line(fitted(text, SMALL, STEP_TEXT), "serves", gap=3.0))
    tip = f"{step['name']}: {step['use']} {step['version']}. {step['guarantee']}"
    return Card(step["name"], "random" if step["randomized"] else "step", tuple(lines), tip.strip())


def _implicit(step: Document) -> Card:
    text = "shuffle" if step["rows"] == "reordered" else step["use"]
    return Card(step["name"], "implicit", (Line(text, "soft"),), f"{step['name']}: not written in the policy")


def _release(document: Document, release: Document) -> Card:
    name = release["name"]
    lines = [_title(name, RELEASE_TEXT), _mono(release["path"], RELEASE_TEXT)]
    count = len(release["attributes"])
    lines.append(Line(f"{count} column{'' if count == 1 else 's'}, {release['audience']}", "soft"))
    rule = len(lines)
    lines += _listed("must hold", (*demands_of(document, name), *gates_of(document, name)))
    measures = measures_of(document, name)
    if measures:
        told = wrapped(", ".join(word.replace("_", " ") for word in measures), SMALL, RELEASE_TEXT, 3)
        lines.append(Line("measured too", "label", size=10.0, gap=5.0))
        lines += [Line(text, "soft") for text in told]
    return Card(release_key(name), "release", tuple(lines), release["description"], rule if len(lines) > rule else 0)


def _listed(label: str, items: Iterable[str]) -> list[Line]:
    told = [Line(fitted(item, SMALL, RELEASE_TEXT - INDENT), "plain", bullet=True) for item in items]
    return [Line(label, "label", size=10.0, gap=9.0), *told] if told else []


def _title(text: str, most: float = STEP_TEXT) -> Line:
    return Line(fitted(text, TITLE, most, bold=True), "title", TITLE)


def _mono(text: str, most: float) -> Line:
    room = int(most / fixed("x", SMALL))
    return Line(text if len(text) <= room else f"{text[: room - 1]}…", "mono")
