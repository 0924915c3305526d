"""YAML text to located nodes: the parser's events only, nothing is ever constructed.

The events are walked with a stack of our own, since the composer of libyaml recurses in C and a text of a few
thousand brackets ends the process. Every scalar stays the text that it is in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, Scalar, Seq, UnreadableError

DEPTH_LIMIT = 64
NODE_LIMIT = 100_000

_TAGS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "!"}
_NOTHING = {"", "~", "null", "Null", "NULL"}
_PARSER_LIMIT = "exceeded maximum nesting depth"
"""What libyaml says of more than 1,000 levels since PyYAML 6.0.4."""
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str, file: str) -> tuple[Node | None, list[Diagnostic]]:
    """Return the tree of one document (None for an empty one) and the faults that do not hide the rest.

    Raises
    ------
    UnreadableError
        Where the text is not valid YAML, nests deeper than 64, or holds more than 100,000 values, aliases expanded.
    """
    shielded, marks = shield(text)
    try:
        try:
            reader = _read(shielded, file, marks)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            if error.problem != _PARSER_LIMIT or mark is None:
                raise
            # The parser reads ahead and has met its own limit first. Before that place, only ours can be exceeded.
            reader = _read(shielded[: mark.index], file, marks)
    except yaml.MarkedYAMLError as error:
        raise UnreadableError(explained(error, text, file)) from None
    return reader.root, reader.diagnostics


def _read(text: str, file: str, marks: dict[int, int]) -> _Reader:
    reader = _Reader(file, marks)
    parser = _Parser(text)
    try:
        reader.read(parser)
    finally:
        parser.dispose()
    return reader


@dataclass(slots=True)
class _Frame:
    """A collection being read. ``key`` waits for its value; ``skip`` says that the value is to be thrown away."""

    begin: Any
    is_map: bool
    anchor: str | None
    entries: dict[str, MappingEntry] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    key: Scalar | None = None
    skip: bool = False
    partial: bool = False
    refused: bool = False
    size: int = 1
    height: int = 0

    @property
    def wants_key(self) -> bool:
        return self.is_map and self.key is None and not self.skip


@dataclass(frozen=True, slots=True)
class _SizeGuard:
    node: Node
    size: int
    height: int


class _Reader:
    """Turns one stream of events into nodes."""

    def __init__(self, file: str, marks: dict[int, int]) -> None:
        self.file = file
        self.marks = marks
        self.root: Node | None = None
        self.diagnostics: list[Diagnostic] = []
        self._stack: list[_Frame] = []
        self._anchors: dict[str, _SizeGuard | None] = {}
        self._count = 0
        self._documents = 0

    def read(self, parser: Any) -> None:
        while True:
            event = parser.get_event()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._open(event, is_map=kind is yaml.MappingStartEvent)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                self._document(event)
            elif kind is yaml.StreamEndEvent:
                return

    def _span(self, start: Any, end: Any) -> Span:
        return Span(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def _report(self, code: str, message: str, span: Span, **more: Any) -> None:
        self.diagnostics.append(Diagnostic(code, message, span, **more))

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            span = self._span(event.start_mark, event.end_mark)
            raise UnreadableError(
                Diagnostic("PPF112", "a second document begins here", span, hint="one policy a file: split the file")
            )

    def _tag(self, event: Any) -> bool:
        """Report a tag; whether there is one that is not allowed."""
        if event.tag is None or event.tag in _TAGS:
            return False
        start = event.start_mark
        span = Span(self.file, start.line + 1, start.column + 1, start.line + 1, start.column + 2)
        self._report(
            "PPF108",
            f"the tag `{_short(event.tag.replace('tag:yaml.org,2002:', '!!'))}` is not allowed",
            span,
            hint="remove the tag: every value is text, typed by its key",
            help="another file is brought in by `extends:`" if "include" in event.tag else None,
        )
        return True

    def _scalar(self, event: Any) -> None:
        refused = self._tag(event)
        plain = not event.style
        value: str = event.value
        if self.marks:
            value = value.translate(self.marks)
        span = self._span(event.start_mark, event.end_mark)
        if self._stack and self._stack[-1].wants_key:
            self._add(Scalar(value, span, plain), event.anchor)
            return
        nothing = plain and value in _NOTHING and event.tag is None
        node = Scalar(None if nothing or refused else value, span, plain, broken=refused)
        self._add(node, event.anchor)

    def _open(self, event: Any, *, is_map: bool) -> None:
        refused = self._tag(event)
        if len(self._stack) >= DEPTH_LIMIT:
            self._too_deep(event)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._stack.append(_Frame(event.start_mark, is_map, event.anchor, refused=refused))

    def _close(self, event: Any) -> None:
        frame = self._stack.pop()
        span = self._span(frame.begin, event.end_mark)
        node: Node = Map(frame.entries, span, frame.partial) if frame.is_map else Seq(tuple(frame.items), span)
        if frame.refused:
            node = Scalar(None, span, broken=True)
        self._add(node, frame.anchor, frame.size, frame.height + 1, counted=frame.size - 1)

    def _alias(self, event: Any) -> None:
        name = event.anchor
        span = self._span(event.start_mark, event.end_mark)
        target = self._anchors.get(name)
        if target is None:
            self._dangling(name, span)
            return
        if len(self._stack) + target.height > DEPTH_LIMIT:
            self._too_deep(event)
        self._add(target.node, None, target.size, target.height)

    def _dangling(self, name: str, span: Span) -> None:
        """Report an alias that nothing above explains; as a key it is most often a pattern without quotes."""
        frame = self._stack[-1] if self._stack else None
        as_key = frame is not None and frame.wants_key
        inside = name in self._anchors
        hint = "remove it" if inside else f"nothing above is marked `&{_short(name)}`"
        if as_key and not inside:
            hint = f'put a name that begins with `*` in quotes: "*{_short(name)}"'
        what = "stands inside of what it repeats" if inside else "has no anchor"
        self._report("PPF113", f"the alias `*{_short(name)}` {what}", span, hint=hint)
        if frame is not None and as_key:
            frame.skip = frame.partial = True
        else:
            self._add(Scalar(None, span, broken=True), None)

    def _add(self, node: Node, anchor: str | None, size: int = 1, height: int = 0, *, counted: int = 0) -> None:
        if anchor:
            self._anchors[anchor] = _SizeGuard(node, size, height)
        self._count += size - counted
        if self._count > NODE_LIMIT:
            raise UnreadableError(
                Diagnostic(
                    "PPF114",
                    f"the file has more than {NODE_LIMIT:,} values",
                    node.span,
                    help="aliases count with all that they repeat" if self._anchors else None,
                )
            )
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        frame.size += size
        if height > frame.height:
            frame.height = height
        if not frame.is_map:
            frame.items.append(node)
        elif frame.wants_key:
            self._key(frame, node)
        else:
            self._value(frame, node)

    def _key(self, frame: _Frame, node: Node) -> None:
        if not isinstance(node, Scalar) or not node.text:
            self._report("PPF111", "a key must be a text", node.span, hint="write `key: value` with a name as the key")
            frame.skip = frame.partial = True
        elif node.text == "<<" and node.plain:
            self._report(
                "PPF109",
                "merge keys `<<` are not part of the policy language",
                node.span,
                hint="`extends:` inherits from a file; `*name` repeats a whole value",
            )
            frame.skip = frame.partial = True
        elif node.text in frame.entries:
            first = frame.entries[node.text].key_span
            self._report(
                "PPF107",
                f"the key `{_short(node.text)}` is duplicated here",
                node.span,
                hint="remove one of the two",
                related=(RelatedPlace(first, "first here"),),
            )
            frame.skip = True
        else:
            frame.key = node

    @staticmethod
    def _value(frame: _Frame, node: Node) -> None:
        key, frame.key, frame.skip = frame.key, None, False
        if key is not None and key.text is not None:
            frame.entries[key.text] = MappingEntry(key.span, node, key.plain)

    def _too_deep(self, event: Any) -> None:
        span = self._span(event.start_mark, event.end_mark)
        raise UnreadableError(Diagnostic("PPF115", f"values are nested deeper than {DEPTH_LIMIT} levels", span))


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


PLACEHOLDER = re.compile(r"\$\{([^{}\n\r]*)\}")
"""One reference; group 1 is what stands between the braces."""


def shield(text: str) -> tuple[str, dict[int, int]]:
    """Let ``${params.x}`` stand unquoted within ``{…}`` and ``[…]``: its braces become characters that mean nothing.

    Lengths stay the same, so places do; the second value turns them back.
    """
    if "${" not in text:
        return text, {}
    spare = [c for c in map(chr, range(0xE000, 0xE010)) if c not in text]
    if len(spare) < 2:
        return text, {}
    left, right = spare[:2]
    return PLACEHOLDER.sub(lambda m: f"${left}{m[1]}{right}", text), {ord(left): ord("{"), ord(right): ord("}")}


# What the YAML parser complains of, in words that help.


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
