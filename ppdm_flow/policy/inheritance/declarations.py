"""Declarations of params in several files: the nearest goes before, by the merge rule."""

from __future__ import annotations

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.inheritance.joining import LaidTree, lay
from ppdm_flow.policy.text.nodes import Map

Declarations = dict[str, tuple[Span, Map]]
"""The place of the key and the declaration of each param, by its name."""


def declarations(root: Map) -> Declarations:
    """Return those of one file."""
    params = root.get("params")
    entries = params.entries.items() if isinstance(params, Map) else ()
    return {name: (entry.key_span, entry.node) for name, entry in entries if isinstance(entry.node, Map)}


def over(base: Declarations, nearer: Declarations) -> Declarations:
    """Lay declarations over others: each by the merge rule, in the place of the nearest."""
    laid = dict(base)
    for name, (span, declaration) in nearer.items():
        known = laid.get(name)
        laid[name] = (span, lay(LaidTree(known[1]), declaration).node) if known else (span, declaration)
    return laid


def known(nearer: Declarations, own: Declarations) -> Declarations:
    """Return those of the nearer files that ``own`` declares as well."""
    return {name: declaration for name, declaration in nearer.items() if name in own}
