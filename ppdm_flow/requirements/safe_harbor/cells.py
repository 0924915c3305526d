"""The first route: what the cells of a column of ages, years of birth or ZIP codes tell; Arrow reads their labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.mining.identifiers.cells import Mask, matching
from ppdm_flow.mining.identifiers.patterns import BORN
from ppdm_flow.requirements.safe_harbor import labels

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranges:
    """The numbers that labels stand for, ``low`` to ``high`` and both included; nan for what is no label.

    Open ends are infinite. ``exact``: the cell is the number itself.
    """

    low: Numbers
    high: Numbers
    exact: Mask


def shown(texts: pa.StringArray) -> Mask:
    """Return which texts show anything at all: others are signs that cover what was there."""
    found: Mask = ~matching(texts, labels.COVERED)
    return found


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


def told_births(texts: pa.StringArray, as_of: int) -> Mask:
    """Return which texts tell a year of birth beside a word for it, and by that an age above 89."""
    fields = pc.extract_regex(texts, BORN.replace("((?:18", "(?P<year>(?:18", 1))
    years = pc.cast(pc.if_else(pc.is_valid(fields), fields.field("year"), None), pa.int64())
    early: Mask = pc.less_equal(years, as_of - labels.OLD).fill_null(False).to_numpy(zero_copy_only=False)
    return early


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
