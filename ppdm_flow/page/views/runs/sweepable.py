"""The values of a policy that a sweep may vary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ppdm_flow.policy.loading import load

_ROOTS = ("privacy", "steps", "gates")
_MOST = 200


def sweepable(path: Path) -> list[tuple[str, str]]:
    """Return the places with numbers, and the params of a policy, each with what stands there now."""
    loaded = load(path)
    params = [(f"params.{param.name}", param.texts[0] if len(param.texts) == 1 else "") for param in loaded.params]
    leaves = [each for root in _ROOTS for each in _numbers(loaded.tree.get(root), (root,))]
    return [*params, *leaves][:_MOST]


def policy_name(path: Path) -> str:
    """Return the name that a policy gives itself; empty where it has none."""
    return str(load(path).tree.get("name", ""))


def _numbers(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _numbers(value, (*path, str(key)))
    elif isinstance(node, str) and _is_number(node):
        yield ".".join(path), node


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
