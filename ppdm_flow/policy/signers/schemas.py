"""The JSON Schema (draft-07) of a list of signers, for editors and for CI without this package."""

from __future__ import annotations

from typing import Any

from ppdm_flow.policy.language.descriptions import descriptions
from ppdm_flow.policy.language.schemas import Writer
from ppdm_flow.policy.signers.models import SignersFile

IDENTITY = "https://ppdm-flow.example/schemas/signers.v1.json"
PAGE = "keys/signers"
"""The page on the keys of a list of signers."""
_WHAT = "Who may sign runs, in which roles, with which key."


def schema() -> dict[str, Any]:
    """Return the schema of a list of signers."""
    writer = Writer(descriptions(PAGE))
    document = writer.document(SignersFile, IDENTITY, "ppdm-flow list of signers", _WHAT)
    document["definitions"]["SignerEntry"]["oneOf"] = [{"required": ["key"]}, {"required": ["pem"]}]
    return document
