"""The terms of the field, explained where a report uses them."""

from __future__ import annotations

import json
import re
from typing import Any

from ppdm_flow.report.glossary_terms import TERMS

_PARTS = ("requirements", "gates", "metrics", "steps", "findings")

_RANDOMNESS = (
    "Sealed, reproducible",
    (
        "Randomization protects only while its randomness is secret. A sealed run draws a secret key and publishes"
        " a hash of it (the commitment); a reproducible run can be repeated by anyone who has the seed, and is for"
        " tests."
    ),
)
_DIGEST = (
    "Digest (SHA-256)",
    "A fingerprint of a file: if a single byte changes, the digest changes. `ppdm-flow verify` compares them.",
)


def glossary(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (term, explanation) for the terms that this report uses, in a fixed order."""
    text = json.dumps({part: document[part] for part in _PARTS}, ensure_ascii=False).lower()
    found = [(term, words) for term, pattern, words in TERMS if re.search(pattern, text)]
    run = json.dumps(document["run"]).lower()
    if "sealed" in run or "reproducible" in run:
        found.append(_RANDOMNESS)
    if re.search(r"[0-9a-f]{64}", json.dumps([document["run"], document["releases"]])):
        found.append(_DIGEST)
    return found
