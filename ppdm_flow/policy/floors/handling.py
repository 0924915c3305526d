"""Whether steps of a policy handle an attribute otherwise than by dropping it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.policy.language.patterns import is_pattern, matches

_DROP = "drop"


def handled(name: str, tree: Any) -> bool:
    """Whether a step names the attribute ``name`` (or, for a pattern, one that fits it): then its column may pass."""
    steps = tree.get("steps") if isinstance(tree, Mapping) else None
    each = steps.values() if isinstance(steps, Mapping) else ()
    return any(
        _names(step.get("with"), name) for step in each if isinstance(step, Mapping) and step.get("use") != _DROP
    )


def _names(tree: Any, name: str) -> bool:
    if isinstance(tree, str):
        return tree == name or (is_pattern(name) and matches(name, tree))
    if isinstance(tree, Mapping):
        return any(_names(key, name) or _names(below, name) for key, below in tree.items())
    return isinstance(tree, list) and any(_names(item, name) for item in tree)
