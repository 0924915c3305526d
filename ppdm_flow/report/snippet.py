"""Lines of files as a terminal shows them, and text as Markdown shows it: nothing of it is markup."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.core.texts import MARK, visible_line
from ppdm_flow.report.locations import Locations

WIDTH = 100
"""Columns of the screen that a line may take."""

TAB = 4

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """``line`` as it is to be printed; the marks go to columns ``offset`` to ``offset + length`` of the screen."""

    line: str
    offset: int
    length: int


def lines_of(text: str) -> list[str]:
    """Split a text at the line breaks that YAML knows."""
    return _BREAK.split(text)


def printable(text: str) -> str:
    """Return a text in which nothing can move the cursor or turn the direction of writing."""
    return visible_line(text.replace("\t", " " * TAB))


def mark_line(line: str, column: int, end: int, width: int = WIDTH) -> MarkedLine:
    """Lay out ``line`` with characters ``column`` to ``end`` (from 1, exclusive) marked, cut to ``width`` columns.

    Tabs take 4 columns, wide characters 2, combining ones none. What could move the cursor is shown as U+FFFD.
    """
    cells = [_cell(c) for c in line]
    begin = min(max(column - 1, 0), len(cells))
    stop = min(max(end - 1, begin), len(cells))
    first, last = _window([w for _, w in cells], begin, stop, width)
    head, tail = ("…" if first else ""), ("…" if last < len(cells) else "")
    shown = "".join(text for text, _ in cells[first:last])
    offset = len(head) + sum(w for _, w in cells[first:begin])
    length = sum(w for _, w in cells[begin : min(stop, last)])
    return MarkedLine(head + shown + tail, offset, max(1, length))


def _cell(character: str) -> tuple[str, int]:
    """What to print for a character, and how many columns it takes."""
    if character == "\t":
        return " " * TAB, TAB
    category = unicodedata.category(character)
    if visible_line(character) != character:
        return MARK, 1
    if category in ("Mn", "Me", "Cf"):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _window(widths: list[int], begin: int, stop: int, width: int) -> tuple[int, int]:
    """The stretch of cells to show: all, or ``width`` columns around the marked ones."""
    if sum(widths) <= width:
        return 0, len(widths)
    first = begin
    room = max(width - 2 - sum(widths[begin:stop]), 0) // 2
    while first > 0 and widths[first - 1] <= room:
        first -= 1
        room -= widths[first]
    last, room = first, width - 2
    while last < len(widths) and widths[last] <= room:
        room -= widths[last]
        last += 1
    return first, last


_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_CALLS = re.compile(r"([@#])(?=\w)")  # people and issues that a forge would link and tell
_LINKS = re.compile(r"(?i)(https?|ftp|www)([:.])")
_LONGEST_CELL = 600


def escaped(text: str) -> str:
    """Return text that Markdown and HTML show as it is, on one line, in a table cell too."""
    line = printable(" ".join(text.split()))
    if len(line) > _LONGEST_CELL:
        line = line[: _LONGEST_CELL - 1] + "\N{HORIZONTAL ELLIPSIS}"
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _SPECIAL.sub(r"\\\1", line)
    line = _CALLS.sub(r"\1<!-- -->", line)
    return _LINKS.sub(lambda match: f"{match[1]}&#{ord(match[2])};", line)


# GitHub's workflow commands: lines of a log that become annotations on lines of files.


MOST = 10
"""GitHub shows no more of a kind for each step, and drops the rest without a word."""

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_ORDER = tuple(_COMMAND)


@dataclass(frozen=True, slots=True)
class Annotation:
    """``lines`` are the paragraphs of the message, ``file`` a path from the repository's root (or empty)."""

    severity: Severity
    title: str
    lines: tuple[str, ...]
    file: str = ""
    span: Span | None = None

    def command(self) -> str:
        """Return ``::error file=…,line=…,title=…::message``; nothing in it can end the command or begin another."""
        about = [f"file={_property(self.file)}"] if self.file else []
        if self.file and self.span is not None:
            about += [f"line={self.span.line}", f"endLine={self.span.end_line}"]
            if self.span.line == self.span.end_line:  # GitHub ignores columns of longer stretches
                about += [f"col={self.span.column}", f"endColumn={max(self.span.column, self.span.end_column - 1)}"]
        about.append(f"title={_property(self.title)}")
        message = "\n".join(printable(line) for line in self.lines if line)
        return f"::{_COMMAND[self.severity]} {','.join(about)}::{_data(message)}\n"


def annotated(diagnostic: Diagnostic, places: Locations, file: str = "") -> Annotation:
    """Return a diagnostic as an annotation; ``file`` is where it is drawn if it has no place."""
    hint = (f"hint: {diagnostic.hint}",) if diagnostic.hint else ()
    help_ = (f"help: {diagnostic.help}",) if diagnostic.help else ()
    notes = tuple(f"note: {note}" for note in diagnostic.notes)
    more = f"more: ppdm-flow explain {diagnostic.code}"
    where = diagnostic.span.file if diagnostic.span else file
    lines = (diagnostic.message, *hint, *help_, *notes, more)
    shown = places.shown(where) if where else ""
    return Annotation(diagnostic.severity, diagnostic.code, lines, shown, diagnostic.span)


def commands(annotations: Iterable[Annotation], most: int = MOST) -> str:
    """Return the commands, errors first, at most so many of a kind, and a line that counts the rest."""
    every = list(annotations)
    parts: list[str] = []
    for severity in _ORDER:
        parts += [a.command() for a in [a for a in every if a.severity is severity][:most]]
    tally = Counter(_COMMAND[a.severity] for a in every)
    rest = [
        f"{count - most:,} more {kind}{'s' if count - most > 1 else ''}"
        for kind, count in tally.items()
        if count > most
    ]
    if rest:
        parts.append(f"… and {', '.join(rest)}: GitHub shows {most} of a kind; the step summary has them\n")
    return "".join(parts)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(" ".join(text.split()))).replace(":", "%3A").replace(",", "%2C")
