"""Colours and fonts of the picture, and how wide text is without a font at hand: on the wide side."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, takewhile
from unicodedata import east_asian_width

LIGHT: Mapping[str, str] = {
    "ink": "#1b1f23",
    "soft": "#5b636b",
    "card": "#ffffff",
    "sunk": "#f2f2ef",
    "strong": "#b9bdb9",
    "line": "#e2e3df",
    "ok": "#146b3f",
    "c0": "#97a0a9",
    "c1": "#2f6cc6",
    "c4": "#8456b0",
}
DARK: Mapping[str, str] = {
    "ink": "#e9ebed",
    "soft": "#a4adb6",
    "card": "#1c2024",
    "sunk": "#22272c",
    "strong": "#4a535c",
    "line": "#30363d",
    "ok": "#6fd39b",
    "c0": "#77828d",
    "c1": "#6ea4f4",
    "c4": "#b48bdb",
}

_RULES = """
.ppdm-plan text{fill:var(--plan-ink);
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif}
.ppdm-plan .pp-title{font-weight:650}
.ppdm-plan .pp-mono{fill:var(--plan-soft);
font-family:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
.ppdm-plan .pp-soft,.ppdm-plan .pp-label{fill:var(--plan-soft)}
.ppdm-plan .pp-label{letter-spacing:.04em}
.ppdm-plan .pp-body{fill:var(--plan-card);stroke:var(--plan-strong);stroke-width:1}
.ppdm-plan .pp-source .pp-body{fill:var(--plan-sunk)}
.ppdm-plan .pp-source .pp-mark{fill:var(--plan-c0)}
.ppdm-plan .pp-step .pp-mark{fill:var(--plan-c1)}
.ppdm-plan .pp-random .pp-mark{fill:var(--plan-c4)}
.ppdm-plan .pp-release .pp-mark{fill:var(--plan-ok)}
.ppdm-plan .pp-release .pp-body{stroke:var(--plan-ok)}
.ppdm-plan .pp-serves{fill:var(--plan-c1)}
.ppdm-plan .pp-random .pp-serves{fill:var(--plan-c4)}
.ppdm-plan .pp-edge{fill:none;stroke:var(--plan-soft);stroke-width:1.4}
.ppdm-plan .pp-tip{fill:var(--plan-soft)}
.ppdm-plan .pp-rule{fill:none;stroke:var(--plan-line)}
.ppdm-plan .pp-ring{fill:none;stroke:var(--plan-ok);stroke-width:1.7}
"""


def _variables(colours: Mapping[str, str]) -> str:
    return ";".join(f"--plan-{name}:var(--{name},{colour})" for name, colour in colours.items())


SMALLEST = 0.78
"""The scale below which a page lets one scroll rather than shrink: text would be too small to read."""


def style(width: float) -> str:
    """Return the style sheet of a picture of that width."""
    least = f"@media screen{{svg.ppdm-plan.ppdm-plan{{min-width:{width * SMALLEST:.0f}px}}}}"
    return f"{_COLOURS}{least}{_RULES}"


_COLOURS = (
    f"\n.ppdm-plan{{{_variables(LIGHT)}}}\n@media (prefers-color-scheme:dark){{.ppdm-plan{{{_variables(DARK)}}}}}\n"
)


_NARROW = frozenset("iljtfrI.,:;'|!()[]/ ")
_WIDE = frozenset("mwMWOQ@%—→≥≤")


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return an upper estimate of the width of ``text`` in a sans-serif font of ``size`` pixels."""
    return sum(_share(letter) for letter in text) * size * (1.13 if bold else 1.0)


def fixed(text: str, size: float) -> float:
    """Return the width of ``text`` in a font of fixed width."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text) * size * 0.62


def fitted(text: str, size: float, most: float, *, bold: bool = False) -> str:
    """Return the text, cut with an ellipsis where it is wider than ``most``."""
    if width(text, size, bold=bold) <= most:
        return text
    widths = accumulate(map(_share, text))
    ending, share = _share("…"), size * (1.13 if bold else 1.0)
    kept = sum(1 for _ in takewhile(lambda so_far: (so_far + ending) * share <= most, widths))
    return f"{text[:kept].rstrip()}…"


def wrapped(text: str, size: float, most: float, lines: int) -> list[str]:
    """Return the text in at most so many lines; the last one is cut where the text is longer."""
    words = text.split()
    wrapped_lines: list[str] = []
    while words and len(wrapped_lines) < lines - 1:
        line = words.pop(0)
        while words and width(f"{line} {words[0]}", size) <= most:
            line += f" {words.pop(0)}"
        wrapped_lines.append(fitted(line, size, most))
    if words:
        wrapped_lines.append(fitted(" ".join(words), size, most))
    return wrapped_lines


def _share(letter: str) -> float:
    if letter in _NARROW:
        return 0.38
    if letter in _WIDE:
        return 0.95
    if letter.isupper():
        return 0.74
    return 1.05 if east_asian_width(letter) in "WF" else 0.62
