"""The JSON Schema (draft-07) of a list of signers, for editors and for CI without this package."""

from __future__ import annotations

from typing import Any

from ppdm_flow.policy.language.descriptions import descriptions
from ppdm_flow.policy.language.schemas import Writer
from ppdm_flow.policy.language.shape import shape_of
from ppdm_flow.policy.signers.models import SignersFile

IDENTITY = "https://ppdm-flow.example/schemas/signers.v1.json"
PAGE = "keys/signers"
"""The page on the keys of a list of signers."""


def schema() -> dict[str, Any]:
    """Return the schema of a list of signers."""
    writer = Writer(descriptions(PAGE))
    top = writer.reference(shape_of(SignersFile))
    entry = writer.definitions["SignerEntry"]
    writer.definitions["SignerEntry"] = {**entry, "oneOf": [{"required": ["key"]}, {"required": ["pem"]}]}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": "ppdm-flow list of signers",
        "description": "Who may sign runs, in which roles, with which key.",
        "type": "object",
        "allOf": [top],
        "definitions": {
            "placeholder": {"not": {}, "description": "A list of signers has no params: nothing fits."},
            **writer.definitions,
        },
    }
