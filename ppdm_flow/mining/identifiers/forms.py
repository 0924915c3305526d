"""The form that nearly all values of a column have: addresses, numbers with check digits, free text.

A number of nine digits fits the check digit of some country by chance once in ten, so that what a single cell cannot
tell is told by the column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import pyarrow as pa

from ppdm_flow.mining.identifiers.cells import Mask, cards, matching_any, normalized
from ppdm_flow.mining.identifiers.check_digits import NATIONAL, iban
from ppdm_flow.mining.identifiers.patterns import PATTERNS

T = TypeVar("T")
SHARE = 0.9
"""The share of the distinct values looked at that must fit."""

_FEWEST = 3
_WORDS = 4
_LENGTH = 30

_UNMISTAKABLE = (
    "Italian codice fiscale", "Swiss AHV number", "French NIR", "Brazilian CPF", "Swedish personnummer",
    "Finnish henkilötunnus", "Chinese resident id",
)  # fmt: skip
_DIALLED = re.compile(r"00(?:1[2-9]\d{9}|(?:2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])\d{8,11})")
"""A number as it is dialled abroad, with the code of a country of two digits or of North America (ITU-T E.164)."""
_SEPARATORS = re.compile(r"[ ./_-]+")
_PHONE = re.compile(r"(?!0\.\d*$|\d{4,5}-\d{3,4}-\d{1,2}$)(?=(?:\D*\d){7,15}\D*$)(?:\+|00|\(|0)[\d\s()./-]{6,22}")
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


def is_prose(text: str) -> bool:
    """Whether a text has the length of a sentence: more than a label has."""
    return len(text) >= _LENGTH and len(text.split()) > _WORDS


def shaped(sample: Sequence[str]) -> tuple[str, str] | None:
    """Return the kind that nearly all values have by their form, and a word on it; None where they have none.

    Identifiers with check digits go first.
    """
    array = normalized(pa.array(list(sample), pa.string()))
    texts = array.to_pylist()
    if len(texts) < _FEWEST:
        return None
    country = national(texts)
    if country is not None:
        return "national_id", country
    kind = next((kind for kind in _ORDER if _is_mostly(kind, array, texts)), None)
    return None if kind is None else (kind, "")


def national(texts: Sequence[str], numbers: Mapping[str, Callable[[str], bool]] = NATIONAL) -> str | None:
    """Return the country whose national identifiers nearly all of these normalized texts are."""
    spellings = [_spellings(text) for text in texts]
    return next((country for country, fits in numbers.items() if _most(partial(_any_fits, fits), spellings)), None)


def is_national(text: str) -> bool:
    """Whether one normalized text is a national number of a form that few other numbers have, and its check fits."""
    return any(_any_fits(NATIONAL[country], _spellings(text)) for country in _UNMISTAKABLE)


def _any_fits(fits: Callable[[str], bool], spellings: Sequence[str]) -> bool:
    return any(map(fits, spellings))


def _spellings(text: str) -> tuple[str, ...]:
    """Return a number as it may be written: as it is, without any separator, with dashes alone."""
    upper = text.upper()
    bare = upper.replace(" ", "")
    if not any(c in upper for c in " ._/"):
        return (bare, upper.replace("-", "")) if "-" in upper else (bare,)
    return bare, _SEPARATORS.sub("", upper), _SEPARATORS.sub("-", upper)


def is_iban(text: str) -> bool:
    """Whether a normalized text is the number of a bank account, whose check digits fit."""
    return iban(_SEPARATORS.sub("", text).upper())


_FORMS: Mapping[str, Callable[[str], object]] = {
    "uuid": _UUID.fullmatch,
    "network": _NETWORK.fullmatch,
    "url": _URL.match,
    "iban": is_iban,
    "coordinates": _COORDINATES.fullmatch,
    "postal_code": _POSTAL.fullmatch,
    "phone": lambda text: (_PHONE.fullmatch(text) and _FORMATTED.search(text)) or _DIALLED.fullmatch(text),
    "free_text": is_prose,
}
_FOUND: Mapping[str, Callable[[pa.StringArray], Mask]] = {
    "email": lambda texts: matching_any(texts, PATTERNS["emails"]),
    "card": cards,
    "phone": lambda texts: matching_any(texts, PATTERNS["phones"]),
}
_ORDER = ("email", "uuid", "network", "url", "iban", "card", "coordinates", "postal_code", "phone", "free_text")
"""Kinds, the most telling first."""


def _is_mostly(kind: str, array: pa.StringArray, texts: Sequence[str]) -> bool:
    """Whether nearly all texts are of a kind, by their whole form or by what is found in them."""
    if kind in _FORMS and _most(_FORMS[kind], texts):
        return True
    return kind in _FOUND and int(_FOUND[kind](array).sum()) >= SHARE * len(texts) - 1e-9


def _most(fits: Callable[[T], object], texts: Sequence[T]) -> bool:
    """Whether enough texts fit; given up as soon as too many do not."""
    allowed = int((1 - SHARE) * len(texts) + 1e-9)
    for text in texts:
        if not fits(text):
            allowed -= 1
            if allowed < 0:
                return False
    return True
