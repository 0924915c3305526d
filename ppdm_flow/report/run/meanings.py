"""The terms of the field that a report explains."""

from __future__ import annotations

import json
import re

from ppdm_flow.core.pages import read
from ppdm_flow.report.run.fields import ReportDocument

PAGE = "glossary"
RANDOMNESS, DIGEST = "Sealed, reproducible", "Digest (SHA-256)"
"""Terms that no pattern finds: they are in what a report says of the run itself."""
_PARTS = ("requirements", "gates", "metrics", "steps", "findings")


def glossary(document: ReportDocument) -> list[tuple[str, str]]:
    """Return (term, explanation) for the terms that this report uses, in a fixed order."""
    text = json.dumps({part: value for part, value in document.items() if part in _PARTS}, ensure_ascii=False).lower()
    page = read(PAGE)
    terms = [term for term, pattern in page.entry("patterns").items() if re.search(pattern, text)]
    run = json.dumps(document["run"]).lower()
    if "sealed" in run or "reproducible" in run:
        terms.append(RANDOMNESS)
    if re.search(r"[0-9a-f]{64}", json.dumps([document["run"], document["releases"]])):
        terms.append(DIGEST)
    return [(term, page.section(term)) for term in terms]
