"""The JSON Schema (draft-07) of ``manifest.json``."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.json_schema import record, text

IDENTITY = "https://ppdm-flow.example/schemas/manifest.v1.json"

_Schema = dict[str, Any]


def schema() -> _Schema:
    """Return the schema of a run's manifest, version 1."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": "Manifest of a ppdm-flow run",
        "description": "What a run consists of, hashed, and what it was made from. `ppdm-flow verify` checks it.",
        **record(_top(), optional=("waivers", "lock", "ledger")),
        "definitions": {
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256, in hexadecimal."},
            "file": record({"bytes": _count("Size."), "sha256": _digest("Hash of the file's bytes.")}),
        },
    }


def _top() -> _Schema:
    return {
        "version": {"const": 1, "description": "Version of this document's form."},
        "policy": text("Name of the release policy."),
        "verdict": {"enum": ["released", "withheld"], "description": "What became of the candidates."},
        "started": text("When the run began, UTC, ISO 8601."),
        "finished": text("When the manifest was written, UTC, ISO 8601."),
        "digests": record(
            {
                "policy": text("Of the resolved policy: comments and the order of keys do not change it."),
                "plan": text("Of the plan."),
                "schema": _digest("Of the data's column names and how the policy declares them."),
                "input": _digest("Of the data file's bytes."),
            }
        ),
        "input": record(
            {"name": text("The data file's name."), "bytes": _count("Its size."), "sha256": _digest("Its hash.")}
        ),
        "randomness": record(
            {
                "mode": {"enum": ["sealed", "reproducible"], "description": "Where the key came from."},
                "commitment": _digest("A hash that proves the key later and reveals nothing of it now."),
            }
        ),
        "checks": record(
            {
                "total": _count("How many requirements and gates were judged."),
                "failed": _count("How many of them do not hold and are not waived."),
                "waived": _count("How many of them do not hold and are waived."),
            },
            optional=("waived",),
        ),
        "waivers": {
            "type": "array",
            "description": "The policy's waivers, if it has any.",
            "items": record(
                {
                    "name": text("Its name in the policy."),
                    "of": text("The id, code or hash of what is waived."),
                    "until": {"type": "string", "format": "date", "description": "Its last day, UTC."},
                    "covers": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "What it was needed for; empty where nothing needed it.",
                    },
                }
            ),
        },
        "versions": {
            "type": "object",
            "description": "Versions of the programs that a result can depend on.",
            "additionalProperties": {"type": "string"},
        },
        "files": {
            "type": "object",
            "description": "Every other file of the run by its path, with `/`.",
            "additionalProperties": {"$ref": "#/definitions/file"},
        },
        "ledger": record(
            {
                "key": _digest("The commitment of the ledger's key, by which the ledger is known."),
                "position": _count("The last entry of the ledger's chain when the run was judged; 0 for none."),
                "chain": {"type": "string", "description": "That entry's hash; empty where there was none."},
                "releases": {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1},
                    "description": "The numbers of this run's releases in the ledger; none where it is withheld.",
                },
            }
        ),
        "lock": record(
            {
                "locked": {"const": True, "description": "Templates, definitions and plugins were as in the lock."},
                "sha256": _digest("Of the lock file's bytes."),
            }
        ),
    }


def _count(description: str) -> _Schema:
    return {"type": "integer", "minimum": 0, "description": description}


def _digest(description: str) -> _Schema:
    return {"allOf": [{"$ref": "#/definitions/digest"}], "description": description}
