"""How wide text is without a font at hand, on the wide side; text cut or wrapped to a width."""

from __future__ import annotations

from itertools import accumulate, takewhile
from unicodedata import east_asian_width

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


def shortened(text: str, most: int) -> str:
    """Return the text, cut in the middle where it is longer than ``most`` characters."""
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


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
