"""The plan as an SVG: layers from left to right, a card for each node, what must hold on the card of its release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from html import escape
from math import ceil, floor
from typing import Any

from ppdm_flow.core.records import dataclass
from ppdm_flow.plan.graph import lanes, levels, release_key
from ppdm_flow.plan.pictures.cards import INDENT, PAD, Card, cards, folded
from ppdm_flow.plan.pictures.style import style, width

Document = Mapping[str, Any]

_MARGIN = 16.0
_BETWEEN = 30.0
_APART = 22.0
_STRAIGHT = 9.0
_escaped = partial(escape, quote=False)


_TIP = (
    '<defs><marker id="ppdm-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto-start-reverse"><path class="pp-tip" d="M0.5 0.8 7 4 0.5 7.2z"/></marker></defs>'
)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a card lies: its left end, its width there, its middle height."""

    card: Card
    left: float
    width: float
    middle: float

    @property
    def right(self) -> float:
        """The right end."""
        return self.left + self.width

    @property
    def top(self) -> float:
        """The upper end."""
        return self.middle - self.card.height / 2


def svg(document: Document) -> str:
    """Return a self-contained SVG. Its colours are the page's variables, or its own in light and dark."""
    spots = placed(document)
    wide = max(spot.right for spot in spots.values()) + _MARGIN
    high = max(spot.top + spot.card.height for spot in spots.values()) + _MARGIN
    title = f"Plan of {document['policy']}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ppdm-plan" viewBox="0 0 {_n(wide)} {_n(high)}"'
        f' width="{_n(wide)}" height="{_n(high)}" role="img" aria-label="{escape(title)}">'
    )
    parts = [
        head,
        f"<title>{_escaped(title)}</title>",
        f"<style>{style(wide)}</style>",
        _TIP,
        *_edges(document, spots),
        *(part for spot in spots.values() for part in _drawn(spot)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def placed(document: Document) -> dict[str, Spot]:
    """Return where each node's card lies; no two cards overlap."""
    every = cards(document)
    rows = lanes(document)
    across: dict[str, tuple[float, float]] = {}
    left = _MARGIN
    for column in _columns(document):
        wide = max(every[key].width for key in column)
        across |= dict.fromkeys(column, (left, wide))
        left += wide + _BETWEEN
    middles = _middles(every, {key: rows[key] for key in every})
    top = min(middles[key] - every[key].height / 2 for key in every)
    return {key: Spot(card, *across[key], middles[key] - top + _MARGIN) for key, card in every.items()}


def _columns(document: Document) -> list[list[str]]:
    """Return the nodes by layer; all releases stand in the last one."""
    releases = [release_key(release["name"]) for release in document["releases"]]
    apart = {*releases, *folded(document)}
    layers = [[key for key in level if key not in apart] for level in levels(document)]
    return [layer for layer in (*layers, releases) if layer]


def _middles(every: Mapping[str, Card], rows: Mapping[str, float]) -> dict[str, float]:
    """Return the middle height of each card; a lane is as high as the highest card that lies in it or half in it."""
    count = floor(max(rows.values())) + 1
    highs = [0.0] * count
    for key, row in rows.items():
        for lane in {floor(row), ceil(row)}:
            highs[lane] = max(highs[lane], every[key].height + _APART)
    centres: list[float] = []
    top = 0.0
    for high in highs:
        centres.append(top + high / 2)
        top += high
    return {
        key: centres[floor(row)] + (centres[ceil(row)] - centres[floor(row)]) * (row - floor(row))
        for key, row in rows.items()
    }


def _edges(document: Document, spots: Mapping[str, Spot]) -> Iterator[str]:
    for reference, key in _targets(document):
        base, _, output = reference.partition(".")
        start, end = spots[base], spots[key]
        x0, y0, x1, y1 = start.right, start.middle, end.left - 1, end.middle
        turn = min(x0 + _BETWEEN, x1) - _STRAIGHT
        bend = (turn - x0) / 2
        path = f"M{_n(x0)} {_n(y0)}"
        if abs(y0 - y1) > 0.05:
            path += f"C{_n(x0 + bend)} {_n(y0)} {_n(turn - bend)} {_n(y1)} {_n(turn)} {_n(y1)}"
        yield f'<path class="pp-edge" d="{path}H{_n(x1)}" marker-end="url(#ppdm-tip)"/>'
        if output:
            x = x1 - 10 - width(output, 10.0)
            yield f'<text class="pp-label" x="{_n(x)}" y="{_n(y1 - 5)}" font-size="10">{_escaped(output)}</text>'


def _targets(document: Document) -> Iterator[tuple[str, str]]:
    """Yield what each card reads, past the steps that have none."""
    passed = {step["name"]: step["input"] for step in document["steps"] if step["name"] in folded(document)}
    for step in document["steps"]:
        if step["name"] not in passed:
            yield step["input"], step["name"]
    for release in document["releases"]:
        yield passed.get(release["input"], release["input"]), release_key(release["name"])


def _drawn(spot: Spot) -> Iterator[str]:
    card = spot.card
    yield f'<g class="pp-{card.look}">'
    if card.tip:
        yield f"<title>{_escaped(card.tip)}</title>"
    yield (
        f'<rect class="pp-body" x="{_n(spot.left)}" y="{_n(spot.top)}" width="{_n(spot.width)}"'
        f' height="{_n(card.height)}" rx="9"/>'
    )
    yield (
        f'<rect class="pp-mark" x="{_n(spot.left)}" y="{_n(spot.top + 12)}" width="3.5"'
        f' height="{_n(card.height - 24)}" rx="1.75"/>'
    )
    yield from _text(spot)
    yield "</g>"


def _text(spot: Spot) -> Iterator[str]:
    card = spot.card
    x = spot.left + PAD
    y = spot.top + PAD - 4.5
    for place, line in enumerate(card.lines):
        y += line.advance
        shift = INDENT if line.item else 0.0
        if card.rule and place == card.rule:
            at = y - line.size - line.gap / 2 - 1.5
            yield f'<path class="pp-rule" d="M{_n(x)} {_n(at)}H{_n(spot.right - PAD)}"/>'
        if line.bullet:
            yield f'<circle class="pp-ring" cx="{_n(x + 4)}" cy="{_n(y - 3.8)}" r="2.7"/>'
        yield (
            f'<text class="pp-{line.look}" x="{_n(x + shift)}" y="{_n(y)}" font-size="{_n(line.size)}">'
            f"{_escaped(line.text)}</text>"
        )


def _n(number: float) -> str:
    """Return a coordinate with one decimal at most."""
    return f"{round(number, 1):g}"
