"""The part of a file that is about other files: ``extends:``, ``params:``, ``floors:``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.language.models import PolicyHeader
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, Scalar, Seq
from ppdm_flow.policy.validate import validate

HEADER = ("extends", "params", "floors")


@dataclass(frozen=True, slots=True)
class Parent:
    """One entry of ``extends:`` as it stands in the file."""

    template: Scalar
    given: Mapping[str, Scalar | Seq]
    key_spans: Mapping[str, Span]


def header_faults(root: Map) -> list[Diagnostic]:
    """Report what is wrong with the shape of a file's header."""
    entries = {k: e for k, e in root.entries.items() if k in HEADER and not _empty(e.node)}
    if not entries:
        return []
    if "extends" in entries:
        entries["extends"] = MappingEntry(entries["extends"].key_span, _listed(entries["extends"].node))
    _, diagnostics = validate(flatten(Map(entries, root.span)), PolicyHeader)
    return diagnostics


def parents_of(root: Map) -> list[Parent]:
    """Return the well-formed entries of ``extends:``, in order."""
    node = root.get("extends")
    if node is None or _empty(node):
        return []
    listed = _listed(node)
    parents = []
    for item in listed.items if isinstance(listed, Seq) else ():
        template = item.get("template") if isinstance(item, Map) else None
        if isinstance(item, Map) and isinstance(template, Scalar) and template.text:
            parents.append(Parent(template, *_given(item)))
    return parents


def _given(item: Map) -> tuple[dict[str, Scalar | Seq], dict[str, Span]]:
    node = item.get("with")
    entries = node.entries.items() if isinstance(node, Map) else ()
    values = {n: e.node for n, e in entries if not isinstance(e.node, Map) and not _empty(e.node)}
    return values, {n: e.key_span for n, e in entries}


def _listed(node: Node) -> Node:
    """``extends: a.yaml`` and ``extends: [a.yaml]`` stand for ``extends: [{template: a.yaml}]``."""
    if isinstance(node, Scalar):
        return Seq((_template(node),), node.span)
    if isinstance(node, Seq):
        return Seq(tuple(_template(i) if isinstance(i, Scalar) else i for i in node.items), node.span)
    return node


def _template(node: Scalar) -> Map:
    return Map({"template": MappingEntry(node.span, node)}, node.span)


def _empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.text is None
