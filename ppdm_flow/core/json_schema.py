"""Pieces that the JSON Schema of requirements in a plan is made of."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def text(description: str) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": description}


def record(properties: Schema, optional: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object that knows exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }
