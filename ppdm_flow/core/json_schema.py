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


def text(description: str) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": description}


def waiver() -> Schema:
    """Return the properties of a waiver; ``at`` is optional."""
    return {
        "name": text("Its name in the policy."),
        "of": text("The id, code or hash of what is waived."),
        "at": text("With a code: the place that it is waived at."),
        "reason": text("Why."),
        "owner": text("Who answers for it."),
        "until": {"type": "string", "format": "date", "description": "The last day that it counts on, UTC."},
    }


def record(properties: Schema, optional: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object that knows exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }
