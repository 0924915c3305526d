"""Did you mean?: the known word that a misspelt one most likely stands for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

ALIASES: Mapping[str, str] = {
    "qi": "quasi_identifier",
    "qid": "quasi_identifier",
    "quasi": "quasi_identifier",
    "id": "identifier",
    "pii": "identifier",
    "class": "target",
    "label": "target",
    "secret": "sensitive",
    "sa": "sensitive",
    "public": "insensitive",
    "other": "insensitive",
    "min_support": "minsup",
    "h": "confidence",
    "threshold": "confidence",
    "ic": "channel",
    "columns": "attributes",
    "requirements": "privacy",
    "anonymizer": "use",
    "params": "with",
    "parameters": "with",
    "separator": "delimiter",
    "sep": "delimiter",
    "na": "missing",
    "null": "missing",
    "outputs": "releases",
    "release": "releases",
    "pipeline": "steps",
    "type": "format",
}
"""Words that people bring from other tools, and ours for them."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that ``word`` most likely meant, or None."""
    candidates = sorted(set(known))
    lowered = word.strip().lower().replace("-", "_").replace(" ", "_")
    for name in candidates:
        if name.lower().replace("-", "_") == lowered:
            return name
    alias = ALIASES.get(lowered)
    if alias in candidates:
        return alias
    near = difflib.get_close_matches(lowered, [c.lower() for c in candidates], n=1, cutoff=0.6)
    if near:
        return next(c for c in candidates if c.lower() == near[0])
    return None
