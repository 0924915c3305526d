"""Places in a text by its lines."""

from __future__ import annotations

import re

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_BREAKS = ("\n", "\r", "\x85", "\u2028", "\u2029")
_ATTACHED = re.compile(r" *#")


def line_start(text: str, place: int) -> int:
    """Return where the line of a place begins."""
    return 1 + max(text.rfind(each, 0, place) for each in _BREAKS)


def line_end(text: str, end: int) -> int:
    """Return where the last line of something ends, before its break; a text with its line breaks ends behind one."""
    if end and text[end - 1] in _BREAKS:
        return end - (2 if text[end - 2 : end] == "\r\n" else 1)
    match = _BREAK.search(text, end)
    return len(text) if match is None else match.start()


def next_line(text: str, place: int) -> int:
    """Return where the line below that of a place begins; the end of the text where there is none."""
    match = _BREAK.search(text, place)
    return len(text) if match is None else match.end()


def behind_lines(text: str, end: int) -> int:
    """Return where the line below the last one of something begins."""
    return next_line(text, line_end(text, end))


def column(text: str, place: int) -> int:
    """Return how many characters stand before a place on its line."""
    return place - line_start(text, place)


def is_first_on_line(text: str, place: int) -> bool:
    """Whether nothing but spaces stands before a place on its line."""
    return not text[line_start(text, place) : place].strip(" ")


def comments_above(text: str, place: int) -> int:
    """Return where the lines of comment begin that stand directly above the line of a place, as far in as it."""
    start, far = line_start(text, place), column(text, place)
    while start:
        above = line_start(text, line_end(text, start))
        match = _ATTACHED.match(text, above, start)
        if match is None or match.end() - 1 - above != far:
            break
        start = above
    return start


def line_break(text: str) -> str:
    """Return how a text ends its lines."""
    match = _BREAK.search(text)
    return "\n" if match is None else match[0]
