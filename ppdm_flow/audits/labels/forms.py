"""The forms of labels: masks, intervals, sets, parts of dates, and the label for everything."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.roles import AttributeType
from ppdm_flow.tables.numeric.column import parsed

Truths = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
_PLAIN = re.compile(rf"^{_NUMBER}$")
_BETWEEN = re.compile(rf"^([\[(]) *({_NUMBER}) *(?:,|\.\.|;) *({_NUMBER}) *([\])])$")
_DASHED = re.compile(r"^([0-9]+(?:\.[0-9]+)?) *[-–] *([0-9]+(?:\.[0-9]+)?)$")
_BEYOND = re.compile(rf"^(<=|>=|<|>|≤|≥) *({_NUMBER})$")
_UPWARD = re.compile(r"^([0-9]+(?:\.[0-9]+)?)\+$")
_LISTED = re.compile(r"^\{(.*)\}$", re.DOTALL)
_SEPARATOR = re.compile(r"[,;|]")
_SEPARATOR_OUTSIDE_QUOTES = re.compile(r'[,;|](?=(?:[^"]*"[^"]*")*[^"]*$)')
_DECADE = re.compile(r"^([0-9]{3})0s$")
_QUARTER = re.compile(r"^([0-9]{4})-Q([1-4])$")
_PART = re.compile(r"^([0-9]{4})(?:-([0-9]{2}))?$")
_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?"
_BETWEEN_DATES = re.compile(rf"^([\[(]) *({_MOMENT}) *(?:,|\.\.|;) *({_MOMENT}) *([\])])$")
_BEYOND_DATE = re.compile(rf"^(<=|>=|<|>|≤|≥)? *({_MOMENT})$")
_MICROSECONDS_OF_DAY = 86_400_000_000
ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
"""How a date begins."""
SPECIAL = r"[*]|^[\[({<>≤≥]|^[0-9.]+ *[-–] *[0-9.]+$|^[0-9.]+\+$|^[0-9]{3}0s$|^[0-9]{4}$|^[0-9]{4}-Q[1-4]$"
"""Pattern that every label fits which may hide other values than itself."""
MASK = "*"
Integers = npt.NDArray[np.int64]
Pairs = tuple[Integers, Integers]
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class NumberInterval:
    """Numbers from ``low`` to ``high``, ends included (an excluded end is moved by the least step)."""

    low: float
    high: float

    def covers(self, numbers: Floats) -> Truths:
        """Return which numbers lie within; one that is none (NaN) does not."""
        within: Truths = (numbers >= self.low) & (numbers <= self.high)
        return within


def between(label: str, *, dates: bool = False) -> NumberInterval | None:
    """Read ``[20, 30)``, ``20-29``, ``>= 40``, ``40+`` or a number; None for what is no range of numbers.

    Of ``dates`` the ends are ISO dates or timestamps, in days since 1970, and a part of dates (``2024-05``) is a range.
    """
    if dates:
        return _between_dates(label)
    if _PLAIN.match(label):
        return NumberInterval(float(label), float(label))
    if match := _BETWEEN.match(label):
        low, high = float(match[2]), float(match[3])
        return NumberInterval(low if match[1] == "[" else _after(low), high if match[4] == "]" else _before(high))
    if match := _DASHED.match(label):
        return NumberInterval(float(match[1]), float(match[2]))
    if match := _UPWARD.match(label):
        return NumberInterval(float(match[1]), math.inf)
    if match := _BEYOND.match(label):
        return _beyond(match[1], float(match[2]))
    return None


def _between_dates(label: str) -> NumberInterval | None:
    if (part := months(label)) is not None:
        return _days_of_months(*part)
    if match := _BETWEEN_DATES.match(label):
        ends = numbers(pa.array([match[2], match[3]], pa.string()), dates=True).tolist()
        low = ends[0] if match[1] == "[" else _after(ends[0])
        high = ends[1] if match[4] == "]" else _before(ends[1])
    elif match := _BEYOND_DATE.match(label):
        edge = float(numbers(pa.array([match[2]], pa.string()), dates=True)[0])
        low, high = (edge, edge) if match[1] is None else _ends(_beyond(match[1], edge))
    else:
        return None
    return None if math.isnan(low) or math.isnan(high) else NumberInterval(low, high)


def _ends(span: NumberInterval) -> tuple[float, float]:
    return span.low, span.high


def _days_of_months(first: float, last: float) -> NumberInterval | None:
    """Return the days of months as :func:`months` counts them."""
    month = [max(1, min(12, int(m) % 100)) for m in (first, last)]
    if not 100 <= first <= last < 1_000_000 or (last % 100 not in (99, month[1])):
        return None
    begin = np.datetime64(f"{int(first) // 100:04d}-{month[0]:02d}", "M")
    end = np.datetime64(f"{int(last) // 100:04d}-{month[1]:02d}", "M") + np.timedelta64(1, "M")
    low, high = (float(m.astype("datetime64[D]").astype(np.int64)) for m in (begin, end))
    return NumberInterval(low, _before(high))


def _beyond(sign: str, edge: float) -> NumberInterval:
    match sign:
        case "<=" | "≤":
            return NumberInterval(-math.inf, edge)
        case ">=" | "≥":
            return NumberInterval(edge, math.inf)
        case "<":
            return NumberInterval(-math.inf, _before(edge))
        case _:
            return NumberInterval(_after(edge), math.inf)


def _after(edge: float) -> float:
    return math.nextafter(edge, math.inf)


def _before(edge: float) -> float:
    return math.nextafter(edge, -math.inf)


def are_dates(values: pa.StringArray) -> bool:
    """Whether all values are ISO dates or timestamps, and there are some."""
    return len(values) > 0 and bool(re.match(ISO, values[0].as_py())) and not np.isnan(_days(values)).any()


def _days(values: pa.StringArray) -> Floats:
    read = parsed(values, AttributeType.TIMESTAMP)
    days: Floats = np.where(read.bad | read.missing, np.nan, read.values / _MICROSECONDS_OF_DAY)
    return days


def numbers(values: pa.StringArray, *, dates: bool | None = None) -> Floats:
    """Return the values as numbers, NaN where one is none.

    ISO dates and timestamps are days since 1970, where they are ``dates``: by default where all of them are.
    """
    if are_dates(values) if dates is None else dates:
        return _days(values)
    kept = pc.if_else(pc.match_substring_regex(values, _PLAIN.pattern), values, None)
    floats: Floats = kept.cast(pa.float64()).fill_null(math.nan).to_numpy(zero_copy_only=False)
    return floats


def everything(labels: pa.StringArray, mask: str = MASK) -> Truths:
    """Return which labels are nothing but mask: they say nothing of their person."""
    said = pc.replace_substring(labels, pattern=mask, replacement="")
    return _truths(pc.and_(pc.equal(said, ""), pc.not_equal(labels, "")))


def one_width(labels: pa.StringArray, mask: str = MASK) -> bool:
    """Whether all labels that end in masks, and hold no other, are of one length: then values are padded to it.

    A prefix is; what covers a text sign by sign leaves every text its own length.
    """
    ending = labels.filter(pc.ends_with(labels, mask)).to_pylist()
    kept = ((len(label), label.rstrip(mask)) for label in ending)
    return len({length for length, begin in kept if mask not in begin}) == 1


def has_shape(label: str, mask: str = MASK) -> bool:
    """Whether a label is written like a mask, a set or a part of a date."""
    return mask in label or members(label) is not None or months(label) is not None


def members(label: str) -> list[str] | None:
    """Return the members of a set written ``{a, b}``; None for what is none.

    A member between quotes may have the signs that are between members.
    """
    match = _LISTED.match(label)
    if match is None:
        return None
    if '"' not in match[1] or match[1].count('"') % 2:
        return [member.strip() for member in _SEPARATOR.split(match[1])]
    parts = (member.strip() for member in _SEPARATOR_OUTSIDE_QUOTES.split(match[1]))
    return [part[1:-1] if len(part) > 1 and part[0] == part[-1] == '"' else part for part in parts]


def months(label: str) -> tuple[float, float] | None:
    """Return the first and the last month of a part of dates, each as year * 100 + month; None for another label."""
    if match := _PART.match(label):
        year = int(match[1]) * 100
        return (year, year + 99) if match[2] is None else (year + int(match[2]), year + int(match[2]))
    if match := _DECADE.match(label):
        return int(match[1]) * 1000, int(match[1]) * 1000 + 999
    if match := _QUARTER.match(label):
        first = int(match[1]) * 100 + 3 * int(match[2]) - 2
        return first, first + 2
    return None


def plain_numbers(labels: pa.StringArray, *, dates: bool = False) -> Truths:
    """Return which labels are numbers, or ``dates``, and nothing more."""
    if dates:
        return ~np.isnan(_days(labels))
    return _truths(pc.match_substring_regex(labels, _PLAIN.pattern))


def _truths(mask: pa.BooleanArray) -> Truths:
    truths: Truths = mask.to_numpy(zero_copy_only=False).astype(np.bool_)
    return truths


# Which values labels cover that are written as intervals, masks, sets or parts of dates: of all labels together.
#
# Values are sorted or hashed once, so that many labels over many values cost little more than what they cover.


def covered(labels: Sequence[str], values: pa.StringArray, mask: str = MASK, *, padded: bool = False) -> Pairs:
    """Return the pairs of positions (value, label) where the label covers the value by its form; none comes for others.

    A pair may come twice. Where labels are ``padded``, masks at the end cover as many characters, or fewer.
    """
    spans: dict[int, Span] = {}
    dates: dict[int, Span] = {}
    masks, sets = [], {}
    of_dates = are_dates(values)
    for place, label in enumerate(labels):
        # 2174 is no other way to write the postal code 02174
        span = None if label.isdecimal() and not of_dates else between(label, dates=of_dates)
        if span is not None:
            spans[place] = (span.low, span.high)
        if mask in label:
            masks.append(place)
        elif (listed := members(label)) is not None:
            sets[place] = listed
        elif not of_dates and (part := months(label)) is not None:
            dates[place] = part
    pairs = [_masked(labels, masks, values, mask, padded=padded), _listed(sets, values)]
    if spans:
        pairs.append(_within(spans, numbers(values, dates=of_dates)))
    if dates:
        pairs.append(_within(dates, _months_of(values)))
    value, label_of = (np.concatenate(side).astype(np.int64) for side in zip(*pairs, strict=True))
    return value, label_of


def _within(spans: dict[int, Span], numbers_of_values: npt.NDArray[np.float64]) -> Pairs:
    """Find the numbers of each span, ends included, in their order; NaN lies in none."""
    order = np.argsort(numbers_of_values, kind="stable")
    known = numbers_of_values[order[: len(order) - int(np.isnan(numbers_of_values).sum())]]
    ends = np.array(list(spans.values()), dtype=np.float64)
    begin, end = np.searchsorted(known, ends[:, 0], side="left"), np.searchsorted(known, ends[:, 1], side="right")
    many = np.maximum(end - begin, 0)
    skipped = np.repeat(begin - (np.cumsum(many) - many), many)
    return order[skipped + np.arange(len(skipped))], np.repeat(np.array(list(spans), dtype=np.int64), many)


def _months_of(values: pa.StringArray) -> npt.NDArray[np.float64]:
    """Return the month of each date, as :func:`ppdm_flow.audits.labels.forms.months` counts; NaN for what is none."""
    dates = pc.if_else(pc.match_substring_regex(values, ISO), values, None)
    year, month = (pc.utf8_slice_codeunits(dates, a, b).cast(pa.float64()) for a, b in ((0, 4), (5, 7)))
    counted: npt.NDArray[np.float64] = (
        pc.add(pc.multiply(year, 100.0), month).fill_null(np.nan).to_numpy(zero_copy_only=False)
    )
    return counted


def _listed(sets: dict[int, list[str]], values: pa.StringArray) -> Pairs:
    owner = np.repeat(np.array(list(sets), dtype=np.int64), [len(m) for m in sets.values()])
    place = _places(pa.array([m for each in sets.values() for m in each], pa.string()), values)
    return place[place >= 0], owner[place >= 0]


def _masked(labels: Sequence[str], places: Sequence[int], values: pa.StringArray, mask: str, *, padded: bool) -> Pairs:
    """Compare what is not masked: labels with masks at the same places and of one length are looked up together."""
    groups: dict[tuple[int, int, tuple[tuple[int, int], ...]], list[tuple[int, str]]] = defaultdict(list)
    for place in places:
        begin = labels[place].rstrip(mask) if padded else labels[place]
        key = (len(labels[place]), len(begin), _runs(begin, mask))
        groups[key].append((place, begin.replace(mask, "")))
    lengths = pc.utf8_length(values).to_numpy(zero_copy_only=False)
    none = np.zeros(0, dtype=np.int64)
    pairs = [(none, none)]
    for (longest, shortest, runs), shown in groups.items():
        inside = np.flatnonzero((lengths >= shortest) & (lengths <= longest))
        texts = values.take(pa.array(inside))
        slices = [pc.utf8_slice_codeunits(texts, a, b) for a, b in runs]
        left = pc.binary_join_element_wise(*slices, "") if slices else pa.array([""] * len(texts), pa.string())
        place_of = _places(left, pa.array([text for _, text in shown], pa.string()))
        fits = place_of >= 0
        pairs.append((inside[fits], np.array([p for p, _ in shown], dtype=np.int64)[place_of[fits]]))
    return np.concatenate([v for v, _ in pairs]), np.concatenate([label for _, label in pairs])


def _runs(text: str, mask: str) -> tuple[tuple[int, int], ...]:
    """Return where a text is not masked, as ranges of characters."""
    there = np.array([False, *(c != mask for c in text), False])
    ends = np.flatnonzero(there[1:] != there[:-1]).tolist()
    return tuple(zip(ends[::2], ends[1::2], strict=True))


def _places(texts: pa.StringArray, among: pa.StringArray) -> Integers:
    """Return where each text stands among others, -1 for one that does not."""
    places: Integers = pc.index_in(texts, value_set=among).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places
