"""GitHub's workflow commands: lines of a log that become annotations on lines of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.report.locations import Locations
from ppdm_flow.report.snippet import printable

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
