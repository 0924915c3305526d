"""Pieces that every published JSON Schema is made of."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def of(definition: str) -> Schema:
    """Return a reference to one of the schema's own definitions."""
    return {"$ref": f"#/definitions/{definition}"}


def list_of(definition: str, description: str) -> Schema:
    """Return the schema of a list of that definition."""
    return {"type": "array", "description": description, "items": of(definition)}


def record(properties: Schema, optional: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object that knows exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }
