"""What the values of a column look like, on a sample of its distinct values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ppdm_flow.mining.profiling.check_digits import NATIONAL, card, iban

SHARE = 0.9
"""The share of the distinct values looked at that must fit."""
_FEWEST = 3
_WORDS = 4
_LENGTH = 30

_BLANKS = re.compile(r"[\s\u00a0]+")
_EMAIL = re.compile(r"[^@\s,;<>\"]{1,64}@[^@\s,;<>\"]+\.[A-Za-z]{2,24}")
_PHONE = re.compile(r"(?=(?:\D*\d){7,15}\D*$)(?:\+|00|\(|0)[\d\s()./-]{6,22}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_NETWORK = re.compile(
    rf"(?:{_OCTET}\.){{3}}{_OCTET}|(?:[0-9a-fA-F]{{2}}[:-]){{5}}[0-9a-fA-F]{{2}}|(?=(?:.*:){{3}})[0-9a-fA-F:]{{6,39}}"
)
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_POSTAL = re.compile(
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|\d{4} ?[A-Z]{2}|\d{2}-\d{3}|\d{5}-\d{3,4}|\d{4}-\d{3}"
    r"|\d{3}-\d{4}|\d{3} \d{2}"
)
_COORDINATES = re.compile(r"-?\d{1,2}\.\d{3,},\s*-?\d{1,3}\.\d{3,}")
_FORMATTED = re.compile(r"[+()/.\s-]")


def _free(text: str) -> bool:
    return len(text) >= _LENGTH and len(text.split()) > _WORDS


_FORMS: Mapping[str, Callable[[str], object]] = {
    "email": _EMAIL.fullmatch,
    "uuid": _UUID.fullmatch,
    "network": _NETWORK.fullmatch,
    "url": _URL.match,
    "iban": lambda text: iban(_BLANKS.sub("", text).upper()),
    "card": lambda text: card(_BLANKS.sub("", text)),
    "coordinates": _COORDINATES.fullmatch,
    "postal_code": _POSTAL.fullmatch,
    "phone": lambda text: _PHONE.fullmatch(text) and _FORMATTED.search(text),
    "free_text": _free,
}


def shaped(sample: Sequence[str]) -> tuple[str, str] | None:
    """Return the kind that nearly all values have by their form, and a word on it; None where they have none.

    Identifiers with check digits go first: a number of nine digits fits those of a country by chance once in ten.
    """
    texts = [text.strip() for text in sample]
    if len(texts) < _FEWEST:
        return None
    bare = [_BLANKS.sub("", text) for text in texts]
    for country, fits in NATIONAL.items():
        if _most(fits, bare):
            return "national_id", country
    for kind, looks in _FORMS.items():
        if _most(looks, texts):
            return kind, ""
    return None


def _most(fits: Callable[[str], object], texts: Sequence[str]) -> bool:
    """Whether enough texts fit; given up as soon as too many do not."""
    allowed = int((1 - SHARE) * len(texts) + 1e-9)
    for text in texts:
        if not fits(text):
            allowed -= 1
            if allowed < 0:
                return False
    return True
