"""``${params.name}`` replaced in texts and keys; the place of the use stays, the value's own place goes along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.params.params import ParamValue, Values
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, Scalar, Seq
from ppdm_flow.policy.text.placeholder import PLACEHOLDER

_PREFIX = "params."
_ESCAPED = "$${"
_KEPT = "\ue000\ue001{"


class Substitution:
    """Replaces the references in one file's nodes.

    ``diagnostics`` gathers what is wrong with them, ``used`` the first place that refers to each param.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self.diagnostics: list[Diagnostic] = []
        self.used: dict[str, Span] = {}

    def node(self, node: Node) -> Node:
        """Return the node with every reference replaced."""
        if isinstance(node, Scalar):
            return self._list(node) or self.scalar(node)
        if isinstance(node, Seq):
            return Seq(tuple(self._items(node)), node.span)
        return self.map(node)

    def _items(self, node: Seq) -> Iterator[Node]:
        """Replace each item; a list among them gives its own items."""
        for item in node.items:
            made = self.node(item)
            if isinstance(made, Seq) and isinstance(item, Scalar):
                yield from made.items
            else:
                yield made

    def _list(self, node: Scalar) -> Seq | None:
        """Return the items of a param of type list, where the text is a reference to one and nothing else."""
        only = PLACEHOLDER.fullmatch(node.text.strip()) if node.text and "${" in node.text else None
        value = self._value(only[1]) if only else None
        if only is None or value is None or value.items is None or value.broken:
            return None
        self.used.setdefault(_name(only[1]), node.span)
        origin = node.origin + _origins([value])
        notes = node.notes + ((value.note,) if value.note else ())
        quotable = node.quotable and value.quotable
        items = (Scalar(t, node.span, plain=False, origin=origin, notes=notes, quotable=quotable) for t in value.items)
        return Seq(tuple(items), node.span)

    def map(self, node: Map) -> Map:
        """Return the map with every reference replaced, in keys as well."""
        entries: dict[str, MappingEntry] = {}
        partial = node.partial
        for key, entry in node.entries.items():
            name = key
            if "${" in key:
                made = self.scalar(Scalar(key, entry.key_span))
                if made.broken or not made.text:
                    partial = True
                    continue
                name = made.text
            if name in entries:
                self._twice(name, entries[name], entry)
                continue
            entries[name] = MappingEntry(entry.key_span, self.node(entry.node), entry.plain)
        return Map(entries, node.span, partial)

    def scalar(self, node: Scalar) -> Scalar:
        """Return the text with its references replaced."""
        if node.text is None or "${" not in node.text:
            return node
        used: list[ParamValue] = []
        text = node.text.replace(_ESCAPED, _KEPT)
        made = PLACEHOLDER.sub(lambda m: self._one(m[1], node.span, used), text)
        if "${" in PLACEHOLDER.sub("", text):
            self._malformed(node.span)
            return replace(node, broken=True)
        return replace(
            node,
            text=made.replace(_KEPT, "${"),
            plain=False,
            origin=node.origin + _origins(used),
            notes=node.notes + tuple(dict.fromkeys(v.note for v in used if v.note)),
            quotable=node.quotable and all(v.quotable for v in used),
            broken=node.broken or any(v.broken for v in used),
        )

    def _one(self, reference: str, span: Span, used: list[ParamValue]) -> str:
        value = self._value(reference)
        if value is None:
            self._unknown(reference.strip(), span)
            value = ParamValue(broken=True)
        elif value.items is not None and not value.broken:
            self._misplaced(reference.strip(), span, value)
            value = ParamValue(broken=True)
        self.used.setdefault(_name(reference), span)
        used.append(value)
        return value.text

    def _value(self, reference: str) -> ParamValue | None:
        return self.values.get(_name(reference)) if reference.strip().startswith(_PREFIX) else None

    def _misplaced(self, reference: str, span: Span, value: ParamValue) -> None:
        self.diagnostics.append(
            Diagnostic(
                "PPF318",
                f"`{short(reference)}` is a list, but a single text is expected here",
                span,
                hint="a list stands alone in the place of a whole value",
                related=_origins([value]),
            )
        )

    def _unknown(self, reference: str, span: Span) -> None:
        known = sorted(self.values)
        near = closest(reference.removeprefix(_PREFIX), known)
        self.diagnostics.append(
            Diagnostic(
                "PPF304",
                f"there is no param for `${{{short(reference)}}}`",
                span,
                hint=f"did you mean `${{params.{near}}}`?" if near else None,
                help=f"params: {listed([f'`{n}`' for n in known], 20)}" if known else "declare it under `params:`",
            )
        )

    def _malformed(self, span: Span) -> None:
        self.diagnostics.append(
            Diagnostic(
                "PPF307", "this `${` has no `}`", span, hint="write `${params.name}`, or `$${` for the text `${`"
            )
        )

    def _twice(self, name: str, first: MappingEntry, second: MappingEntry) -> None:
        self.diagnostics.append(
            Diagnostic(
                "PPF107",
                f"the key `{short(name)}` is duplicated here",
                second.key_span,
                hint="remove one of the two",
                related=(RelatedPlace(first.key_span, "first here"),),
            )
        )


def _name(reference: str) -> str:
    return reference.strip().removeprefix(_PREFIX)


def _origins(used: Iterable[ParamValue]) -> tuple[RelatedPlace, ...]:
    places = dict.fromkeys(v.span for v in used if v.span is not None and v.quotable)
    return tuple(RelatedPlace(span, "its value comes from here") for span in places if span is not None)
