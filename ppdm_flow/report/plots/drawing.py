"""What a picture is made of: a few kinds of marks in one coordinate system."""

from __future__ import annotations

from dataclasses import dataclass, field

CHARACTER = 6.1
"""Mean width of a character of the charts' 11-pixel type."""


@dataclass(slots=True)
class Rect:
    """A filled rectangle; ``tip`` is what a pointer over it says, ``shade`` its opacity in [0, 1]."""

    x: float
    y: float
    width: float
    height: float
    style: str
    tip: str = ""
    shade: float | None = None


@dataclass(slots=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    style: str


@dataclass(slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    style: str
    tip: str = ""


@dataclass(slots=True)
class Path:
    """A curve or an area, as SVG path data made of numbers only."""

    data: str
    style: str


@dataclass(slots=True)
class Label:
    """A text; ``anchor`` is ``start``, ``middle`` or ``end``, ``turn`` an angle in degrees about its place."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    style: str = ""
    turn: int = 0


@dataclass(slots=True)
class Drawing:
    """All marks of one picture, painted in the order of the fields; ``back`` is the grid."""

    width: float
    height: float
    back: list[Line] = field(default_factory=list)
    rects: list[Rect] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)


_BEFORE = frozenset({"original", "before", "base", "prior"})


def style_of(name: str, number: int, before: bool) -> str:
    """Return the style of a series: grey for what was before, colours for all others in turn.

    ``before`` says whether an earlier series of the chart was one of those.
    """
    if name.lower() in _BEFORE:
        return "s0"
    return f"s{(number - before) % 7 + 1}"


def styles(names: list[str]) -> list[str]:
    """Return the styles of all series of a chart."""
    grey = [name.lower() in _BEFORE for name in names]
    return [style_of(name, i, any(grey[:i])) for i, name in enumerate(names)]


def shortened(text: str, most: int) -> str:
    """Return the text, cut in the middle where it is longer than ``most`` characters."""
    if len(text) <= most:
        return text
    head = (most - 1 + 1) // 2
    tail = most - 1 - head
    return f"{text[:head]}…{text[len(text) - tail :]}"
