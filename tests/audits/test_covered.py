"""Which values labels cover by their form: all labels together as each by itself."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.audits.labels.forms import between, covered, everything, has_shape, one_width

EPOCH = datetime.fromisoformat("1970-01-01")


def plain(label, value, mask, padded, of_dates):
    """Whether one label covers one value, None where the label has no such form."""
    if of_dates:
        span = between(label, dates=True)
        days = (datetime.fromisoformat(value) - EPOCH) / timedelta(days=1)
        return (span is not None and span.low <= days <= span.high) or bool(shaped(label, value, mask, padded))
    span = None if label.isdecimal() else between(label)
    number = re.fullmatch(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?", value)
    near = span is not None and number is not None and span.low <= float(value) <= span.high
    return near or bool(shaped(label, value, mask, padded))


def is_date(value):
    """Whether a value is an ISO date or timestamp."""
    try:
        return len(value) >= 10 and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def shaped(label, value, mask, padded):
    if mask in label:
        begin = label.rstrip(mask) if padded else label
        pattern = "".join("." if c == mask else re.escape(c) for c in begin)
        return re.fullmatch(pattern + f".{{0,{len(label) - len(begin)}}}", value, re.DOTALL) is not None
    if label.startswith("{") and label.endswith("}") and len(label) > 1:
        return value in [m.strip() for m in re.split(r"[,;|]", label[1:-1])]
    if not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return None
    if re.fullmatch(r"[0-9]{4}(-[0-9]{2})?", label):
        return value.startswith(label + "-")
    if re.fullmatch(r"[0-9]{3}0s", label):
        return value[:3] == label[:3]
    if re.fullmatch(r"[0-9]{4}-Q[1-4]", label):
        return value[:4] == label[:4] and value[5:7] in {f"{3 * int(label[-1]) - i:02d}" for i in range(3)}
    return None


DATES = st.from_regex(r"\A(19|20)[0-2][0-2]-(0[0-9]|1[0-4])-(0[1-9]|[12][0-9])( 10:00)?\Z")
VALUES = st.one_of(
    DATES,
    st.text("01.-", max_size=4),
    st.text("ab*#é\n{,", max_size=4),
    st.integers(-30, 30).map(str),
    st.sampled_from(["1e3", "nan", "0.5", "2001", "02174", ""]),
)
LABELS = st.one_of(
    VALUES,
    st.text("01*#", max_size=4),
    st.text("ab*#é", max_size=4),
    st.lists(VALUES, max_size=3).map(lambda m: "{" + ", ".join(m) + "}"),
    st.from_regex(r"\A[\[(]-?[0-9]{1,2}, -?[0-9]{1,2}[)\]]\Z"),
    st.from_regex(r"\A(<=|>=|<|>)-?[0-9]{1,2}\Z"),
    st.from_regex(r"\A(19|20)[0-2][0-2](-Q[1-4]|-0[0-9]|-1[0-2])?\Z"),
    st.sampled_from(["2000s", "1990s", "1-3", "0.5-20", "40+"]),
)


@given(st.lists(LABELS, max_size=8, unique=True), st.lists(VALUES, max_size=8, unique=True), st.sampled_from("*#"),
       st.booleans())  # fmt: skip
def test_all_labels_together_cover_what_each_covers(labels, values, mask, padded):
    labels = [t for t in labels if t and t.replace(mask, "")]
    value, label = covered(labels, pa.array(values, pa.string()), mask, padded=padded)
    of_dates = bool(values) and all(is_date(value) for value in values)
    expected = {
        (v, k)
        for k, text in enumerate(labels)
        for v, cell in enumerate(values)
        if plain(text, cell, mask, padded, of_dates)
    }
    assert set(zip(value.tolist(), label.tolist(), strict=True)) == expected


@given(st.lists(LABELS, max_size=8), st.sampled_from("*#"))
def test_what_labels_are(labels, mask):
    texts = pa.array(labels, pa.string())
    assert everything(texts, mask).tolist() == [bool(t) and not t.replace(mask, "") for t in labels]
    ends = [t for t in labels if t.endswith(mask) and mask not in t.rstrip(mask)]
    assert one_width(texts, mask) == (len({len(t) for t in ends}) == 1)
    dates = [re.fullmatch(r"[0-9]{4}(-[0-9]{2}|-Q[1-4])?|[0-9]{3}0s", t) is not None for t in labels]
    sets = [len(t) > 1 and t[0] == "{" and t[-1] == "}" for t in labels]
    for text, date, listed in zip(labels, dates, sets, strict=True):
        assert has_shape(text, mask) == (mask in text or date or listed)


@pytest.mark.slow
def test_many_labels_over_many_values():
    """Each label by itself would look at all values: hours for these."""
    days = pc.cast(pa.array(np.arange(-200_000, 100_000, dtype=np.int32)).cast(pa.date32()), pa.string())
    months = sorted({d[:7] for d in days.to_pylist()})
    value, label = covered(months, days, padded=False)
    assert len(value) == len(days)
    assert len(np.unique(label)) == len(months)
    numbers = pa.array([str(i) for i in range(200_000)])
    bands = [f"[{i}, {i + 4})" for i in range(0, 200_000, 4)]
    assert len(covered(bands, numbers)[0]) == len(numbers)
    masked = [f"{i:05d}*" for i in range(20_000)]
    assert len(covered(masked, pa.array([f"{i:06d}" for i in range(200_000)]), padded=True)[0]) == 200_000
