"""Values of a located tree by their keys, each of the kind that its key wants; what does not fit is reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.core.texts.visible import visible_line
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq

_SHOWN = 60


class FieldReader:
    """Reads the fields of maps, remembers which keys were asked for, and collects faults (PPF981)."""

    _TRUTHS: ClassVar = {"true": True, "false": False}

    def __init__(self) -> None:
        self.faults: list[Diagnostic] = []

    def text(self, node: Map, key: str, *, required: bool = False) -> str:
        """Return a text; an empty one where there is none."""
        value = node.get(key)
        if value is None or (isinstance(value, Scalar) and (value.text is None or value.broken)):
            if required:
                self.missing(node, key)
            return ""
        if not isinstance(value, Scalar):
            self.wrong(value, key, "a text")
            return ""
        text = (value.text or "").strip()
        if required and not text:
            self.missing(node, key)
        return text

    def truth(self, node: Map, key: str) -> bool:
        """Return whether a key is true; false where it is missing."""
        value = node.get(key)
        if value is None or (isinstance(value, Scalar) and (value.text is None or value.broken)):
            return False
        known = self._TRUTHS.get((value.text or "").lower()) if isinstance(value, Scalar) else None
        if known is None:
            self.wrong(value, key, "`true` or `false`")
        return bool(known)

    def maps(self, node: Map, key: str) -> Iterator[Map]:
        """Yield the maps of a list; nothing where there is none."""
        for item in self.items(node, key, "a list of maps"):
            if isinstance(item, Map):
                yield item
            else:
                self.wrong(item, key, "a map as each item")

    def texts(self, node: Map, key: str) -> tuple[str, ...]:
        """Return the texts of a list; none where there is no list."""
        texts = []
        for item in self.items(node, key, "a list of texts"):
            if isinstance(item, Scalar):
                texts += [item.text.strip()] if item.text else []
            else:
                self.wrong(item, key, "a text as each item")
        return tuple(texts)

    def items(self, node: Map, key: str, what: str) -> tuple[Node, ...]:
        """Return the items of a list; none where there is none."""
        value = node.get(key)
        if value is None or (isinstance(value, Scalar) and (value.text is None or value.broken)):
            return ()
        if isinstance(value, Seq):
            return value.items
        self.wrong(value, key, what)
        return ()

    def map(self, node: Map, key: str) -> Map | None:
        """Return a map; None where there is none."""
        value = node.get(key)
        if value is None or (isinstance(value, Scalar) and (value.text is None or value.broken)):
            return None
        if isinstance(value, Map):
            return value
        self.wrong(value, key, "a map of keys and values")
        return None

    def missing(self, node: Map, key: str) -> None:
        """Report a key that must be there."""
        at = Span(node.span.file, node.span.line, node.span.column, node.span.line, node.span.column + 1)
        self.faults.append(Diagnostic("PPF981", f"`{key}` is missing here", at, hint="the standard requires it"))

    def wrong(self, value: Node, key: str, wanted: str) -> None:
        """Report a value of another kind."""
        self.faults.append(Diagnostic("PPF981", f"`{key}` must be {wanted}", _begin(value.span)))


def shown(text: str) -> str:
    """Return a contract's own text for a message: on one line, and not long."""
    line = visible_line(" ".join(text.split()))
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}\N{HORIZONTAL ELLIPSIS}"


def _begin(span: Span) -> Span:
    """Return the span, of one of several lines its beginning."""
    if span.line == span.end_line:
        return span
    return Span(span.file, span.line, span.column, span.line, span.column + 1)
