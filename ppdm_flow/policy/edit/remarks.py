"""Reads the comments directly above entries of a policy's text."""

from __future__ import annotations

from ppdm_flow.policy.edit.lines import comments_above, is_first_on_line, line_start
from ppdm_flow.policy.edit.marked import MarkedMap, MarkedValue, marked
from ppdm_flow.policy.text.nodes import PolicyPath


def remarks(text: str, path: PolicyPath) -> dict[str, str]:
    """Return the comment above each entry of the map at a path, in one line; entries without one are left out.

    The text is one that `tree_of` reads.
    """
    node = marked(text)
    for part in path:
        node = _below(node, part)
    if not isinstance(node, MarkedMap) or node.flow:
        return {}
    comments = {entry.name: _comment(text, entry.key.start) for entry in node.entries}
    return {name: comment for name, comment in comments.items() if comment}


def _below(node: MarkedValue | None, part: str) -> MarkedValue | None:
    entries = node.entries if isinstance(node, MarkedMap) else ()
    return next((entry.value for entry in entries if entry.name == part), None)


def _comment(text: str, place: int) -> str:
    if not is_first_on_line(text, place):
        return ""
    lines = text[comments_above(text, place) : line_start(text, place)].splitlines()
    return " ".join(line.strip().removeprefix("#").strip() for line in lines)
