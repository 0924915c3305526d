"""Changes inside of braces and brackets."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.policy.edit.marked import MarkedMap, MarkedSeq

Span = tuple[int, int]


def is_bracketed(text: str, node: MarkedMap | MarkedSeq) -> bool:
    """Whether it has brackets of its own: ``[a: 1]`` holds a map that has none."""
    return text[node.start : node.start + 1] in ("{", "[")


def inserted(text: str, node: MarkedMap | MarkedSeq, written: str, place: int) -> str:
    """Return the text with one more part at a place among the others."""
    parts = spans(node)
    if not parts:
        return text[: node.start + 1] + written + text[node.start + 1 :]
    if place == 0:
        start = parts[0][0]
        return f"{text[:start]}{written}, {text[start:]}"
    end = parts[place - 1][1]
    return f"{text[:end]}, {written}{text[end:]}"


def without(text: str, node: MarkedMap | MarkedSeq, place: int) -> str:
    """Return the text without a part, and without one comma."""
    parts = spans(node)
    start, end = parts[place]
    if len(parts) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if place + 1 < len(parts):
        return text[:start] + text[parts[place + 1][0] :]
    before = parts[place - 1][1]
    keeps_lines = text[before:start].replace(",", "", 1).strip(" ") != ""
    return text[:start].rstrip(" ") + text[end:] if keeps_lines else text[:before] + text[end:]


def spans(node: MarkedMap | MarkedSeq) -> Sequence[Span]:
    """Return where each part begins and ends."""
    if isinstance(node, MarkedMap):
        return [(entry.key.start, entry.end) for entry in node.entries]
    return [(item.start, item.end) for item in node.items]
