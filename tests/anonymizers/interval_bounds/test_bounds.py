"""Labels as two numbers: what each form of label covers, and what leaves."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.interval_bounds.algorithm import bounds
from ppdm_flow.core.roles import AttributeType

INTEGER, FLOAT = AttributeType.INTEGER, AttributeType.FLOAT
DATE, TIMESTAMP = AttributeType.DATE, AttributeType.TIMESTAMP


def day(text: str) -> int:
    return (dt.date.fromisoformat(text) - dt.date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("label", "kind", "ends"),
    [
        ("[18, 25)", INTEGER, (18, 24)),
        ("[18, 25]", INTEGER, (18, 25)),
        ("[17.5, 24.5)", INTEGER, (18, 24)),
        ("< 18", INTEGER, (None, 17)),
        ("<= 18", INTEGER, (None, 18)),
        ("> 65", INTEGER, (66, None)),
        (">= 65.5", INTEGER, (66, None)),
        ("[0.5, 1.5)", FLOAT, (0.5, 1.5)),
        ("7", INTEGER, (7, 7)),
        ("*", FLOAT, (None, None)),
        ("[2020-01-05, 2020-02-29]", DATE, (day("2020-01-05"), day("2020-02-29"))),
        ("2020-02", DATE, (day("2020-02-01"), day("2020-02-29"))),
        ("2019", DATE, (day("2019-01-01"), day("2019-12-31"))),
        ("1970", TIMESTAMP, (0, 365 * 86_400_000_000 - 1)),
        ("{1, 5}", INTEGER, None),
        ("old", INTEGER, None),
        ("2020-13", DATE, None),
        ("[2020-01-05, soon]", DATE, None),
    ],
)
def test_what_a_label_stands_for(label, kind, ends):
    assert bounds(label, kind) == ends


@given(st.integers(-50, 50), st.integers(1, 30), st.integers(-100, 100))
def test_whole_numbers_lie_between_the_bounds_just_where_the_interval_has_them(low, width, number):
    least, greatest = bounds(f"[{low}, {low + width})", INTEGER)
    assert (least <= number <= greatest) == (low <= number < low + width)
