"""Which texts show a direct identifier: Arrow looks for the forms, numpy checks the digits.

All texts are normalized first, so that an address written with a full-width sign or a number with typographic dashes
is the same text as the plain one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.identifiers.check_digits import NATIONAL, iban
from ppdm_flow.mining.identifiers.patterns import CHECKED, GROUPED, LONG, NO_NAMES, PATTERNS, TOKENS, VIN, Identifier
from ppdm_flow.tables.spelling import INVISIBLE

Mask = npt.NDArray[np.bool_]

_BLANKS = r"[\p{Z}\t\n\v\f\r]+"
_FOLDED = (
    (r"[\p{Pd}\x{2212}\x{2043}\x{02D7}]", "-"),
    (r"[\x{2018}\x{2019}\x{201B}\x{02BC}\x{02B9}\x{2032}`]", "'"),
    (r"[\x{00B7}\x{2022}\x{2027}\x{30FB}\x{3002}]", "."),
    (r"[\x{2044}\x{2215}]", "/"),
)
_FOREIGN_DIGIT = r"[^\P{Nd}0-9]"
_VIN_WEIGHTS = np.array([8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2])
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", [*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)], strict=True))
_CHARACTERS = np.zeros(128, dtype=np.int64)
T = TypeVar("T")

for _digit in range(10):
    _CHARACTERS[ord("0") + _digit] = _digit
for _letter, _value in _VIN_VALUES.items():
    _CHARACTERS[[ord(_letter), ord(_letter.lower())]] = _value


def normalized(texts: pa.StringArray) -> pa.StringArray:
    r"""Return texts as patterns expect them: NFKC, no invisible characters, one kind of dash, blank and digit.

    Shape (texts,); null stays null. Several blanks become one, those at both ends go.

    Examples
    --------
    >>> normalized(pa.array(["617\u2011253\u20131000", " jo\uff20ex\u200bample.com", "\u0661\u0662"])).to_pylist()
    ['617-253-1000', 'jo@example.com', '12']
    """
    if pc.all(pc.string_is_ascii(texts)).as_py() is False:
        texts = pc.utf8_normalize(texts, "NFKC")
        texts = pc.replace_substring_regex(texts, _BLANKS, " ")
        texts = pc.replace_substring_regex(texts, INVISIBLE, "")
        for pattern, plain in _FOLDED:
            texts = pc.replace_substring_regex(texts, pattern, plain)
        texts = _ascii_digits(texts)
    elif pc.any(pc.match_substring_regex(texts, r"[\x00-\x1f\x7f]|  ")).as_py():
        texts = pc.replace_substring_regex(texts, r"[ \t\n\v\f\r]+", " ")
        texts = pc.replace_substring_regex(texts, r"[\x00-\x1f\x7f]+", "")
    return pc.utf8_trim(texts, " ")


def seen(texts: pa.StringArray) -> dict[Identifier, Mask]:
    """Return by kind which normalized texts show an identifier by its form, shape (texts,).

    Kinds that none shows are left out.
    """
    masks = {k: names(texts) if k == "names" else matching_any(texts, patterns) for k, patterns in PATTERNS.items()}
    for kind, mask in _checked(texts).items():
        masks[kind] = masks[kind] | mask
    return {kind: masks[kind] for kind in PATTERNS if masks[kind].any()}


def names(texts: pa.StringArray) -> Mask:
    """Return which normalized texts have a title and a name."""
    return matching_any(pc.replace_substring_regex(texts, NO_NAMES, " "), PATTERNS["names"])


def cards(texts: pa.StringArray) -> Mask:
    """Return which normalized texts have the number of a payment card, whose check digit fits."""
    return _checked(texts)["accounts"]


def matching(texts: pa.StringArray, pattern: str) -> Mask:
    """Return in which texts a pattern is found."""
    mask: Mask = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False).astype(bool)
    return mask


def matching_any(texts: pa.StringArray, patterns: Iterable[str]) -> Mask:
    """Return in which texts one of the patterns is found."""
    mask = np.zeros(len(texts), dtype=bool)
    for pattern in patterns:
        mask |= matching(texts, pattern)
    return mask


def _ascii_digits(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with the decimal digits of all scripts as ASCII ones: NFKC leaves them."""
    foreign = pc.match_substring_regex(texts, _FOREIGN_DIGIT)
    if not pc.any(foreign).as_py():
        return texts
    plain = ["".join(str(unicodedata.decimal(c, c)) for c in t) for t in texts.filter(foreign).to_pylist()]
    return pc.replace_with_mask(texts, foreign.fill_null(False), pa.array(plain, pa.string()))


def _checked(texts: pa.StringArray) -> dict[Identifier, Mask]:
    """Return by kind which texts have a part whose check digit fits: cards, mobile devices, vehicles."""
    places = np.flatnonzero(matching(texts, LONG))
    plain = texts.take(pa.array(places))
    joined = pc.replace_substring_regex(pc.replace_substring_regex(plain, *GROUPED), *GROUPED)
    both = pc.binary_join_element_wise(plain, joined, " ")
    parts = pc.split_pattern_regex(both, TOKENS)
    tokens = pc.list_flatten(parts)
    owner = places[pc.list_parent_indices(parts).to_numpy(zero_copy_only=False)] if len(places) else places
    masks: dict[Identifier, Mask] = {}
    for kind, pattern in CHECKED.items():
        formed = np.flatnonzero(matching(tokens, pattern))
        fits = _vin(tokens.take(pa.array(formed))) if pattern is VIN else _luhn(tokens.take(pa.array(formed)))
        mask = np.zeros(len(texts), dtype=bool)
        mask[owner[formed[fits]]] = True
        masks[kind] = mask
    return masks


def _luhn(numbers: pa.StringArray) -> Mask:
    """Return which numbers their last digit checks (ISO/IEC 7812-1, annex B)."""
    if not len(numbers):
        return np.zeros(0, dtype=bool)
    digits = _codes(pc.utf8_lpad(numbers, 20, "0"), 20)
    doubled = digits[:, ::2] * 2
    total = digits[:, 1::2].sum(axis=1) + (doubled - 9 * (doubled > 9)).sum(axis=1)
    mask: Mask = total % 10 == 0
    return mask


def _vin(numbers: pa.StringArray) -> Mask:
    """Return which vehicle numbers their ninth character checks."""
    if not len(numbers):
        return np.zeros(0, dtype=bool)
    upper = pc.utf8_upper(numbers)
    rest = (_codes(upper, 17) @ _VIN_WEIGHTS) % 11
    ninth = pc.utf8_slice_codeunits(upper, 8, 9)
    check = pc.if_else(pc.equal(ninth, "X"), "10", ninth)
    mask: Mask = pc.cast(check, pa.int64()).to_numpy(zero_copy_only=False) == rest
    return mask


def _codes(texts: pa.StringArray, width: int) -> npt.NDArray[np.int64]:
    """Return the value of each character, shape (texts, width)."""
    _, ends, characters = texts.buffers()
    starts = np.frombuffer(ends, dtype=np.int32)[texts.offset : texts.offset + len(texts)]
    raw = np.frombuffer(characters, dtype=np.uint8)
    values: npt.NDArray[np.int64] = _CHARACTERS[raw[starts[:, None] + np.arange(width)]]
    return values


# The form that nearly all values of a column have: addresses, numbers with check digits, free text.
#
# A number of nine digits fits the check digit of some country by chance once in ten. A single cell cannot tell whether
# it is one; the column can.


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
