"""How figures are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.amounts import amount, between, duration, number, pair


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "share", "not measured"),
        (0, "share", "0%"),
        (1.0, "probability", "100%"),
        (2 / 3, "probability", "66.7%"),
        (0.75, "share", "75%"),
        (0.00012, "share", "0.012%"),
        (-0.012, "share", "−1.2%"),
        (-0.0125, "points", "−1.25\N{NO-BREAK SPACE}points"),
        (30162, "rows", "30,162"),
        (30162.0, "rows", "30,162"),
        (10**18, "rows", "1e+18"),
        (3.14159, "bits", "3.14 bits"),
        (1e-12, "ratio", "1e-12"),
        (0.0345, "seconds", "34 ms"),
        (12.345, "seconds", "12.3 s"),
        (125, "seconds", "2 min 5 s"),
    ],
)
def test_amount(value, unit, text):
    assert amount(value, unit) == text


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from(["share", "rows", "points", "nats"]))
def test_different_figures_look_different(measured, bound, unit):
    left, right = pair(measured, bound, unit)
    if abs(measured - bound) > 1e-9 * max(1, abs(bound)):
        assert left != right
    else:
        assert left == right


def test_rounding_errors_are_not_figures():
    assert pair(-2.2e-16, 0.0, "points") == ("0", "0")
    assert pair(0.75 + 1e-12, 0.75, "probability") == ("75%", "75%")


def test_a_hair_above_the_bound_is_seen():
    assert pair(0.7500001, 0.75, "probability") == ("75.00001%", "75%")
    assert pair(None, 0.75, "probability") == ("not measured", "75%")


@given(st.floats(1e-5, 1e14))
def test_three_digits_are_within_half_a_percent(value):
    assert math.isclose(float(number(value).replace(",", "")), value, rel_tol=0.0051)


def test_the_rest():
    assert between((0.1, 0.25), "share") == "10% to 25%"
    assert between(None, "share") == ""
    assert duration(3600) == "60 min 0 s"


def test_one_of_a_unit():
    assert [amount(n, "people") for n in (0, 1, 2, 1.5)] == ["0 people", "1 person", "2 people", "1.5 people"]
    assert [amount(1, unit) for unit in ("sets", "items", "rows")] == ["1 set", "1 item", "1"]
    assert [amount(1, unit) for unit in ("values", "bases", "correlation")] == ["1 value", "1 basis", "1 correlation"]
