"""Diagnostics for people and for programs: snippets with a caret, one line each, or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Severity, Sources, in_order
from ppdm_flow.core.spans import Span
from ppdm_flow.core.texts import json_text
from ppdm_flow.report.snippet import MarkedLine, lines_of, mark_line, printable

LIMIT = 50
"""How many are drawn at most, errors before warnings; the rest is counted."""

_COLORS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}
_FRAME = "1;34"


def render(diagnostics: Iterable[Diagnostic], sources: Sources, *, color: bool = False, limit: int = LIMIT) -> str:
    """Draw each diagnostic with its line, a caret, what to do and where to read more; ends with a newline.

    Parameters
    ----------
    diagnostics
        In any order; they are drawn by place.
    sources
        Text of the files that spans name; a place in another file is given without its line.
    color
        Whether to write ANSI colours.
    limit
        How many to draw at most.
    """
    ordered = in_order(diagnostics)
    shown, left = _limited(ordered, limit)
    texts = {file: lines_of(text) for file, text in sources.items()}
    blocks = ["\n".join(_block(d, texts, _Ink(color))) for d in shown]
    if left:
        blocks.append(f"… and {len(left)} more ({summary(left)})")
    return "\n\n".join(blocks) + "\n" if blocks else ""


def concise(diagnostics: Iterable[Diagnostic]) -> str:
    """One line each: ``file:line:column: error[CODE]: message (hint)``."""
    rows = []
    for each in in_order(diagnostics):
        place = f"{each.span}: " if each.span else ""
        hint = f" ({each.hint})" if each.hint else ""
        rows.append(printable(f"{place}{each.severity}[{each.code}]: {each.message}{hint}") + "\n")
    return "".join(rows)


def as_json(diagnostics: Iterable[Diagnostic], waived: Mapping[Diagnostic, str] = {}) -> str:
    """Return a JSON object with ``diagnostics`` (sorted by place) and their numbers by severity.

    Those that are ``waived`` (by the waiver of that name) are there too, and counted apart.
    """
    ordered = in_order(diagnostics)
    tally = Counter(d.severity for d in ordered if d not in waived)
    document = {
        "diagnostics": [_document(d) | ({"waived_by": waived[d]} if d in waived else {}) for d in ordered],
        "errors": tally[Severity.ERROR],
        "warnings": tally[Severity.WARNING],
        "waived": sum(d in waived for d in ordered),
    }
    return json_text(document)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """Return ``2 errors, 1 warning``; an empty text for none."""
    tally = Counter(d.severity for d in diagnostics)
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    return ", ".join(f"{tally[s]} {w}{'s' if tally[s] != 1 else ''}" for s, w in words.items() if tally[s])


@dataclass(frozen=True, slots=True)
class _Ink:
    color: bool

    def __call__(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text


def _limited(ordered: tuple[Diagnostic, ...], limit: int) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """Errors come before the rest where not all fit; the order by place stays."""
    if len(ordered) <= limit:
        return list(ordered), []
    ranked = sorted(range(len(ordered)), key=lambda i: (ordered[i].severity is not Severity.ERROR, i))
    chosen = set(ranked[:limit])
    return [d for i, d in enumerate(ordered) if i in chosen], [d for i, d in enumerate(ordered) if i not in chosen]


def _block(each: Diagnostic, texts: dict[str, list[str]], ink: _Ink) -> Iterator[str]:
    color = _COLORS[each.severity]
    yield f"{ink(f'{each.severity}[{each.code}]', color)}{ink(f': {printable(each.message)}', '1')}"
    places = ([each.span] if each.span else []) + [r.span for r in each.related]
    width = max((len(str(s.line)) for s in places), default=1)
    if each.span is not None:
        yield f"{ink(' ' * width + '-->', _FRAME)} {printable(str(each.span))}"
        yield from _snippet(each.span, each.hint or "", "^", texts, width, ink, color)
    for second in each.related:
        yield f"{ink(' ' * width + ':::', _FRAME)} {printable(second.span.file)}:{second.span.line}"
        yield from _snippet(second.span, second.text, "-", texts, width, ink, _FRAME)
    yield from _footer(each, texts, " " * width + " =", ink)


def _footer(each: Diagnostic, texts: dict[str, list[str]], edge: str, ink: _Ink) -> Iterator[str]:
    drawn = each.span is not None and _line(each.span, texts) is not None
    if each.hint and not drawn:
        yield f"{ink(edge, _FRAME)} hint: {printable(each.hint)}"
    if each.help:
        yield f"{ink(edge, _FRAME)} help: {printable(each.help)}"
    for note in each.notes:
        yield f"{ink(edge, _FRAME)} note: {printable(note)}"
    yield f"{ink(edge, _FRAME)} more: ppdm-flow explain {each.code}"


def _line(span: Span, texts: dict[str, list[str]]) -> str | None:
    lines = texts.get(span.file, [])
    return lines[span.line - 1] if 0 < span.line <= len(lines) else None


def _snippet(
    span: Span, text: str, mark: str, texts: dict[str, list[str]], width: int, ink: _Ink, color: str
) -> Iterator[str]:
    line = _line(span, texts)
    edge = ink(" " * width + " |", _FRAME)
    if line is None:
        if text and mark == "-":
            yield f"{edge} {printable(text)}"
        return
    end = span.end_column if span.end_line == span.line else len(line) + 1
    drawn: MarkedLine = mark_line(line, span.column, end)
    pointer = ink(f"{mark * drawn.length} {printable(text)}".rstrip(), color)
    yield edge
    yield f"{ink(f'{span.line:>{width}} |', _FRAME)} {drawn.line}".rstrip()
    yield f"{edge} {' ' * drawn.offset}{pointer}"


def _document(each: Diagnostic) -> dict[str, Any]:
    return {
        "code": each.code,
        "severity": str(each.severity),
        "message": each.message,
        **_place(each.span),
        "hint": each.hint,
        "help": each.help,
        "notes": list(each.notes),
        "related": [{**_place(r.span), "text": r.text} for r in each.related],
        "path": list(each.path),
    }


def _place(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {"file": None, "line": None, "column": None, "end_line": None, "end_column": None}
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
