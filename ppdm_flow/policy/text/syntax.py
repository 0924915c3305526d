"""What the YAML parser complains of, in words that help."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.spans import Span

_EXPLAINED = {
    "mapping values are not allowed in this context": (
        "a `:` is not allowed here",
        "quote a text that contains `: `, or check the indentation",
    ),
    "could not find expected ':'": ("expected `key: value`", "a `:` is missing"),
    "did not find expected ',' or '}'": ("this `{` list of keys is not closed properly", "a `,` or `}` is missing"),
    "did not find expected ',' or ']'": ("this `[` list is not closed properly", "a `,` or `]` is missing"),
    "found unexpected end of stream": ("the quoted text has no end", "the closing quote is missing"),
    "did not find expected key": ("the indentation does not fit", "align it with the keys above it"),
    "did not find expected '-' indicator": (
        "the indentation of this list does not fit",
        "align it with the items above",
    ),
    "did not find expected node content": ("a value is missing here", "write one, or remove what stands before it"),
    "did not find expected comment or line break": (
        "`|` and `>` begin a block of text, which goes on the next line",
        "put a text that begins with `>` or `|` in quotes",
    ),
    "found unexpected ':'": ("a `:` stands in the wrong place", "put the text in quotes, or a space behind the `:`"),
    "did not find expected alphabetic or numeric character": (
        "`*` begins an alias and `&` an anchor",
        "put a text that begins with `*` or `&` in quotes",
    ),
    "could not find expected directive name": ("a line that begins with `%` is a directive", "put the text in quotes"),
    "found unexpected non-alphabetical character": ("invalid directive", "remove the line"),
    "block sequence entries are not allowed in this context": (
        "a list item `-` is not allowed here",
        "put it on its own line below the key",
    ),
    "mapping keys are not allowed in this context": ("a key is not allowed here", "put a `?` in quotes"),
    "found unknown escape character": ("`\\` begins an escape that YAML does not know", "use single quotes"),
    "did not find expected <document start>": (
        "the document has already ended here",
        "something is closed or unindented too early",
    ),
    "did not find expected whitespace or line break": ("a space is missing here", None),
}
_CONTEXT = {
    "while parsing a flow mapping": "the `{` stands here",
    "while parsing a flow sequence": "the `[` stands here",
    "while scanning a quoted scalar": "the quote opens here",
    "while parsing a block mapping": "the keys begin here",
    "while parsing a block collection": "the list begins here",
    "while scanning a simple key": "this line",
}
_AT_CONTEXT = {"could not find expected ':'", "found unexpected end of stream"}


def explained(error: Any, text: str, file: str) -> Diagnostic:
    """Turn a ``MarkedYAMLError`` into a diagnostic (PPF104; PPF105 for tabs)."""
    lines = text.splitlines()
    span = _span(error.problem_mark or error.context_mark, file, lines)
    tab = _tab(span, lines)
    if tab is not None:
        return Diagnostic("PPF105", "a tab stands where YAML wants spaces", tab, hint="indent with spaces")
    problem = error.problem or "the text is not valid YAML"
    if problem == "found character that cannot start any token":
        return _bad_start(span, lines)
    message, hint = _EXPLAINED.get(problem, (problem, None))
    related: tuple[RelatedPlace, ...] = ()
    if error.context_mark is not None and error.context in _CONTEXT:
        first = _span(error.context_mark, file, lines)
        if first != span:
            related = (RelatedPlace(first, _CONTEXT[error.context]),)
    if problem in _AT_CONTEXT and related:
        span, related = related[0].span, ()
    return Diagnostic("PPF104", message, span, hint=hint, related=related)


def _bad_start(span: Span, lines: list[str]) -> Diagnostic:
    character = lines[span.line - 1][span.column - 1 : span.column]
    return Diagnostic("PPF104", f"a value cannot begin with `{character}`", span, hint="put the value in quotes")


def _span(mark: Any, file: str, lines: list[str]) -> Span:
    """One character at the mark; a mark behind the end of the text falls on its last line."""
    line, column = mark.line + 1, mark.column + 1
    if line > len(lines):
        line = max(1, len(lines))
        column = len(lines[-1]) + 1 if lines else 1
    return Span(file, line, column, line, column + 1)


def _tab(span: Span, lines: list[str]) -> Span | None:
    """The first tab in the indentation of the line at fault or the one before it."""
    for number in (span.line, span.line - 1):
        if not 1 <= number <= len(lines):
            continue
        line = lines[number - 1]
        indentation = line[: len(line) - len(line.lstrip())]
        if "\t" in indentation:
            column = indentation.index("\t") + 1
            return Span(span.file, number, column, number, column + 1)
    return None
