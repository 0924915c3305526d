"""Which texts show a direct identifier: Arrow looks for the forms, numpy checks the digits.

All texts are normalized first, so that an address written with a full-width sign or a number with typographic dashes
is the same text as the plain one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.identifiers.kinds import Identifier
from ppdm_flow.mining.identifiers.patterns import CHECKED, GROUPED, LONG, NO_NAMES, PATTERNS, TOKENS, VIN
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
    found = {k: names(texts) if k == "names" else matching_any(texts, patterns) for k, patterns in PATTERNS.items()}
    for kind, mask in _checked(texts).items():
        found[kind] = found[kind] | mask
    return {kind: found[kind] for kind in PATTERNS if found[kind].any()}


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
    found = np.zeros(len(texts), dtype=bool)
    for pattern in patterns:
        found |= matching(texts, pattern)
    return found


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
    found: dict[Identifier, Mask] = {}
    for kind, pattern in CHECKED.items():
        formed = np.flatnonzero(matching(tokens, pattern))
        fits = _vin(tokens.take(pa.array(formed))) if pattern is VIN else _luhn(tokens.take(pa.array(formed)))
        mask = np.zeros(len(texts), dtype=bool)
        mask[owner[formed[fits]]] = True
        found[kind] = mask
    return found


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
