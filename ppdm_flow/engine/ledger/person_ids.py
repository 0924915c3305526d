"""When two spellings of an id are of one person: as the policy's ``ledger.ignore`` says.

Source: Unicode Standard, annex 15 (normalization form NFKC), and section 3.13 (case folding).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection

_UNSEEN = "\ufeff\u200b\u200c\u200d\u2060"
"""Characters without width, such as the mark that some programs put at the beginning of a file."""


def spelling(ignore: Collection[str]) -> Callable[[str], str]:
    """Return what maps an id to the same text for all spellings of one person."""

    def same(text: str) -> str:
        if "form" in ignore:
            text = unicodedata.normalize("NFKC", text)
        if "blanks" in ignore:
            text = _trimmed(text)
        if "case" in ignore:
            text = text.casefold()
        return unicodedata.normalize("NFKC", text) if "form" in ignore else text

    return same


def _trimmed(text: str) -> str:
    before = None
    while text != before:
        before, text = text, text.strip().strip(_UNSEEN)
    return text
