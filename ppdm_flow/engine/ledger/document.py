"""A release ledger as a JSON document, and its schema (draft-07)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.json_schema import Schema, list_of, record
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.ledger.entry import PENDING, RELEASED, Entry

IDENTITY = "https://ppdm-flow.example/schemas/ledger.v1.json"
VERSION = 1


def document(
    place: str,
    entries: Sequence[Entry],
    confirmed: Sequence[int],
    dropped: Sequence[int],
    strangers: Mapping[str, str],
    *,
    checked: bool,
) -> dict[str, Any]:
    """Return the document: no hash of a person or class is in it."""
    return {
        "version": VERSION,
        "ledger": place,
        "releases": [_release(entry) for entry in entries],
        "confirmed": list(confirmed),
        "dropped": list(dropped),
        "checked": checked,
        "strangers": [{"run": run, "reason": reason} for run, reason in strangers.items()],
    }


def schema() -> Schema:
    """Return the schema of what a ledger holds, version 1."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": "A release ledger of ppdm-flow",
        "description": "What was released so far, without the hashes of who it is about.",
        **record(
            {
                "version": {"const": VERSION, "description": "Version of this document's form."},
                "ledger": _text("Its path as it was given, or host and database."),
                "releases": list_of("release", "Every release, oldest first; pending ones count as released."),
                "confirmed": _numbers("Pending releases that were found to be out just now."),
                "dropped": _numbers("Pending releases that were found never to have been, just now."),
                "checked": {
                    "type": "boolean",
                    "description": "Whether the chain of its entries was held against the key: it is whole then.",
                },
                "strangers": list_of("stranger", "Runs that say they used this ledger, and that it does not know."),
            }
        ),
        "definitions": {
            "release": record(_fields()),
            "column": record(_column()),
            "stranger": record({"run": _text("Its directory."), "reason": _text("What does not fit.")}),
        },
    }


def _release(entry: Entry) -> dict[str, Any]:
    columns = [{"name": n, "source": s, "role": r, "changes": list(c)} for n, s, r, c in entry.columns]
    return {
        "number": entry.number,
        "state": entry.state,
        "policy": entry.policy,
        "release": entry.name,
        "audience": entry.audience,
        "time": entry.time,
        "folder": entry.folder,
        "run": entry.run,
        "plan": entry.plan,
        "manifest": entry.manifest,
        "file": entry.file,
        "rows": entry.rows,
        "people": entry.people,
        "generated": entry.generated,
        "columns": columns,
    }


def _fields() -> Schema:
    return {
        "number": {"type": "integer", "minimum": 1, "description": "Given once, never again."},
        "state": {"enum": [PENDING, RELEASED], "description": "Pending: written down, and not yet said to be out."},
        "policy": _text("Name of the policy."),
        "release": _text("Name of the release in the policy."),
        "audience": _text("Whom it was made for."),
        "time": _text("When the run began, as ISO 8601."),
        "folder": _text("The folder of the policy's runs, on the machine of the run."),
        "run": _text("The run's directory in that folder."),
        "plan": _text("Digest of the plan."),
        "manifest": _text("SHA-256 of the run's manifest."),
        "file": _text("SHA-256 of the released file."),
        "rows": {"type": "integer", "minimum": 0, "description": "Released rows."},
        "people": {"type": ["integer", "null"], "description": "Whom they are about; null where nothing tells."},
        "generated": {"type": "boolean", "description": "Whether every row is nobody's."},
        "columns": list_of("column", "The released columns."),
    }


def _column() -> Schema:
    return {
        "name": _text("Its name in the release."),
        "source": _text("Its name in the source."),
        "role": {"enum": [role.value for role in Role], "description": "What it is to the release."},
        "changes": {
            "type": "array",
            "items": {"enum": [change.value for change in Change]},
            "description": "What was done to its values.",
        },
    }


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _numbers(description: str) -> Schema:
    return {"type": "array", "items": {"type": "integer", "minimum": 1}, "description": description}
