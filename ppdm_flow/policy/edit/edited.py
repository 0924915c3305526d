"""A policy's text with changes in it: all bytes but those of the changed values are as before.

What the new text says is held against the same changes made on what the old text says: where the two differ, there is
no new text.
"""

from __future__ import annotations

from collections.abc import Iterable

from ppdm_flow.policy.edit.changes import PolicyEdit, Tree
from ppdm_flow.policy.edit.marked import marked
from ppdm_flow.policy.edit.rewriting import ValuePlace, rewritten_once
from ppdm_flow.policy.edit.tree import changed, same, tree_of, unwritable

_MOST = 10_000
"""Single edits of one text: no text that can be read needs as many."""


def edited(text: str, changes: Iterable[PolicyEdit], file: str = "policy.yaml") -> str:
    """Return a policy's text with changes in it, made one after the other.

    Raises
    ------
    PolicyError
        Where the text cannot be read (with all its faults), where a path leads nowhere, or where a change would have
        to touch anything else: anchors and aliases, and forms of YAML that policies hardly have (PPF127).
    """
    before = tree_of(text, file)
    wanted = before
    for change in changes:
        wanted = changed(wanted, change)
    return text if same(before, wanted) else rewritten(text, wanted, file)


def rewritten(text: str, wanted: Tree, file: str = "policy.yaml") -> str:
    """Return the text changed so that it says ``wanted``, with as few changes as there are differences.

    Raises PolicyError as `edited` does.
    """
    for _ in range(_MOST):
        tree = tree_of(text, file)
        if same(tree, wanted):
            return text
        root = marked(text)
        new = rewritten_once(text, root, tree, wanted, ValuePlace())
        try:
            tree_of(new, file)
        except Exception:  # noqa: BLE001  # whatever is wrong with a text that nobody sees
            break
        if new == text:
            break
        text = new
    raise unwritable((), "the way in which it is written cannot be changed piece by piece")
