"""The JSON Schema (draft-07) of a template, which is a policy for others to extend: any part may be missing."""

from __future__ import annotations

from typing import Any

from ppdm_flow.policy.language import schemas

IDENTITY = schemas.IDENTITY.replace("policy.v1", "template.v1")


def schema() -> dict[str, Any]:
    """Return the schema of a template file, version 1: what a policy that extends something may hold."""
    full = schemas.schema()
    used = _used("Policy.child", full["definitions"])
    definitions = {n: d for n, d in full["definitions"].items() if n in used}
    return {
        "$schema": full["$schema"],
        "$id": IDENTITY,
        "title": "ppdm-flow policy template",
        "description": "What policies share: any part of a policy, with params and with floors that no child lowers.",
        "type": "object",
        "allOf": [{"$ref": "#/definitions/Policy.child"}],
        "definitions": definitions,
    }


def _used(name: str, definitions: dict[str, Any]) -> set[str]:
    """Return the definitions that one refers to, directly or through others, and itself."""
    used: set[str] = set()
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each not in used:
            used.add(each)
            waiting.extend(_references(definitions[each]))
    return used


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for item in node for name in _references(item)]
    if not isinstance(node, dict):
        return []
    own = node.get("$ref")
    below = [name for value in node.values() for name in _references(value)]
    return [*([own.rpartition("/")[2]] if isinstance(own, str) else []), *below]
