"""The first route: which distinct cells of a column show an identifier; Arrow looks for it, numpy checks digits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.records import dataclass
from ppdm_flow.requirements.safe_harbor import labels
from ppdm_flow.requirements.safe_harbor.kinds import Identifier
from ppdm_flow.requirements.safe_harbor.patterns import CHECKED, GROUPED, LONG, PATTERNS, TOKENS, VIN

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
_VIN_WEIGHTS = np.array([8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2])
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", [*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)], strict=True))
_CHARACTERS = np.zeros(128, dtype=np.int64)
for _digit in range(10):
    _CHARACTERS[ord("0") + _digit] = _digit
for _letter, _value in _VIN_VALUES.items():
    _CHARACTERS[[ord(_letter), ord(_letter.lower())]] = _value


@dataclass(frozen=True, slots=True)
class Ranges:
    """The numbers that labels stand for, ``low`` to ``high`` and both included; nan for what is no label.

    Open ends are infinite. ``exact``: the cell is the number itself.
    """

    low: Numbers
    high: Numbers
    exact: Mask


def seen(texts: pa.StringArray) -> dict[Identifier, Mask]:
    """Return by kind which texts show an identifier by its form, shape (texts,); kinds that none shows are left out."""
    found = {kind: _any(texts, patterns) for kind, patterns in PATTERNS.items()}
    for kind, mask in _checked(texts).items():
        found[kind] = found[kind] | mask
    return {kind: mask for kind, mask in found.items() if mask.any()}


def shown(texts: pa.StringArray) -> Mask:
    """Return which texts show anything at all: others are signs that cover what was there."""
    found: Mask = ~matching(texts, labels.COVERED)
    return found


def matching(texts: pa.StringArray, pattern: str) -> Mask:
    """Return in which texts a pattern is found."""
    mask: Mask = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False).astype(bool)
    return mask


def ranges(texts: pa.StringArray) -> Ranges:
    """Return the numbers that each text stands for: `42`, `>= 90`, `90+`, `[18, 65)`, `18-64`, `< 1935`."""
    stripped = pc.utf8_trim(texts, " ")
    low, high = np.full(len(texts), np.nan), np.full(len(texts), np.nan)
    exact = _number(stripped, labels.EXACT, 1)
    low, high = _where(low, exact), _where(high, exact)
    since, until = _number(stripped, labels.FROM, 2), _number(stripped, labels.UP_TO, 2)
    low, high = _where(low, since), _where(high, until)
    low = _where(low, np.floor(_number(stripped, labels.ABOVE, 1)) + 1)
    high = _where(high, np.ceil(_number(stripped, labels.BELOW, 1)) - 1)
    high = np.where(np.isnan(high) & ~np.isnan(low), np.inf, high)
    low = np.where(np.isnan(low) & ~np.isnan(high), -np.inf, low)
    ends = [_number(stripped, labels.BETWEEN, 2, place) for place in (0, 1)]
    begins, stops = matching(stripped, r"^\("), matching(stripped, r"\)$")
    low = _where(low, np.where(begins, np.floor(ends[0]) + 1, ends[0]))
    high = _where(high, np.where(stops, np.ceil(ends[1]) - 1, ends[1]))
    return Ranges(low, high, ~np.isnan(exact))


def too_old(texts: pa.StringArray, *, coded: bool) -> Mask:
    """Return which cells of a column of ages tell an age above 89 more closely than `90 or older`.

    ``coded``: a step changed the ages, so that a plain 90 may stand for all from there on. What is no label and has
    digits counts: nobody knows what it tells.
    """
    read = ranges(texts)
    old = read.low >= labels.OLD
    category = (read.low == labels.OLD) & (read.high >= labels.OLDEST)
    if coded:
        category |= read.exact & (read.low == labels.OLD)
    found: Mask = (old & ~category) | _unread(texts, read)
    return found


def born_too_early(texts: pa.StringArray, as_of: int) -> Mask:
    """Return which cells of a column of years of birth tell an age above 89 more closely than `90 or older`."""
    read, latest = ranges(texts), as_of - labels.OLD
    category = (read.high == latest) & (read.low <= as_of - labels.OLDEST)
    found: Mask = ((read.high <= latest) & ~category) | _unread(texts, read)
    return found


def too_fine(texts: pa.StringArray, areas: Iterable[str]) -> Mask:
    """Return which cells of a column of ZIP codes tell more than three digits, or those of a small area.

    Fewer than three bare digits are an area whose zeros in front were lost: 36 is 036.
    """
    fine = ~matching(texts, labels.ZIP)
    digits = pc.extract_regex(texts, r"^(?P<d>[0-9]{1,3})").field("d").fill_null("")
    bare = matching(texts, r"^[0-9]+$")
    area = pc.if_else(pa.array(bare), pc.utf8_lpad(digits, 3, "0"), digits)
    small: Mask = pc.is_in(area, pa.array(sorted(areas), pa.string())).to_numpy(zero_copy_only=False)
    found: Mask = (fine | small) & shown(texts)
    return found


def _unread(texts: pa.StringArray, read: Ranges) -> Mask:
    found: Mask = np.isnan(read.low) & np.isnan(read.high) & matching(texts, "[0-9]")
    return found


def _any(texts: pa.StringArray, patterns: Iterable[str]) -> Mask:
    found = np.zeros(len(texts), dtype=bool)
    for pattern in patterns:
        found |= matching(texts, pattern)
    return found


def _number(texts: pa.StringArray, pattern: str, groups: int, place: int | None = None) -> Numbers:
    """Return the number of a pattern's group ``place``, or of the only one of its groups that is filled; else nan."""
    names = [f"g{i}" for i in range(groups)]
    named = pattern
    for name in names:
        named = named.replace("([0-9]", f"(?P<{name}>[0-9]", 1)
    fields = pc.extract_regex(texts, named)
    chosen = names if place is None else [names[place]]
    numbers = np.full(len(texts), np.nan)
    for name in chosen:
        group = fields.field(name)
        filled = pc.if_else(pc.and_(pc.is_valid(fields), pc.not_equal(group, "")), group, None)
        numbers = _where(numbers, pc.cast(filled, pa.float64()).to_numpy(zero_copy_only=False))
    return numbers


def _where(first: Numbers, other: Numbers) -> Numbers:
    return np.where(np.isnan(first), other, first)


def _checked(texts: pa.StringArray) -> dict[Identifier, Mask]:
    """Return by kind which texts have a part whose check digit fits: cards, mobile devices, vehicles."""
    places = np.flatnonzero(matching(texts, LONG))
    plain = texts.take(pa.array(places))
    both = pc.binary_join_element_wise(plain, pc.replace_substring_regex(plain, *GROUPED), " ")
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
