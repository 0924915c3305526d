"""Which values labels cover that are written as intervals, masks, sets or parts of dates: of all labels together.

Values are sorted or hashed once, so that many labels over many values cost little more than what they cover.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.labels.forms import ISO, MASK, are_dates, between, members, months, numbers

Integers = npt.NDArray[np.int64]
Pairs = tuple[Integers, Integers]
Span = tuple[float, float]


def covered(labels: Sequence[str], values: pa.StringArray, mask: str = MASK, *, padded: bool = False) -> Pairs:
    """Return the pairs of positions (value, label) where the label covers the value by its form; none comes for others.

    A pair may come twice. Where labels are ``padded``, masks at the end stand for so many characters, or for fewer.
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
    found: Integers = pc.index_in(texts, value_set=among).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return found
