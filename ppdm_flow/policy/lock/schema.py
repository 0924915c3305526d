"""The JSON Schema (draft-07) of the lock file."""

from __future__ import annotations

from ppdm_flow.core.json_schema import Schema, record
from ppdm_flow.policy.lock.model import FILE, VERSION

IDENTITY = "https://ppdm-flow.example/schemas/lock.v1.json"


def schema() -> Schema:
    """Return the schema of the lock file, version 1."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": f"The lock file of release policies: {FILE}",
        "description": "Which bytes and which versions stand behind each policy. `ppdm-flow lock` writes it.",
        **record(
            {
                "lock": {"const": int(VERSION), "description": "Version of this file's form."},
                "language": {"type": "integer", "minimum": 1, "description": "Version of the policy language."},
                "templates": _by_name(_template(), "Templates: `builtin:NAME`, `pkg:DISTRIBUTION/NAME`, or a path."),
                "files": _by_name(record(_digest()), "Files with definitions by their paths: hierarchies."),
                "plugins": _by_name(record(_release()), "Plugins: `anonymizers/NAME`, `audits/NAME` and so on."),
                "policies": _by_name(record(_uses()), "Policies by their paths, with what each of them uses."),
            }
        ),
    }


def _by_name(of: Schema, description: str) -> Schema:
    return {"type": "object", "description": description, "additionalProperties": of}


def _template() -> Schema:
    return record(_release() | _digest(), optional=tuple(_release()))


def _release() -> Schema:
    return {
        "distribution": {"type": "string", "minLength": 1, "description": "The installed package that brings it."},
        "version": {"type": "string", "minLength": 1, "description": "The package's version."},
    }


def _digest() -> Schema:
    return {"sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "Of the file's bytes."}}


def _uses() -> Schema:
    words = {"templates": "Templates above.", "files": "Files above.", "plugins": "Plugins above."}
    return {kind: {"type": "array", "description": text, "items": {"type": "string"}} for kind, text in words.items()}
