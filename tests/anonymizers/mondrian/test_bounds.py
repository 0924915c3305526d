"""Ends of intervals: round ones cover the values of a class and do not overlap, others are told where few have them."""

from __future__ import annotations

import itertools
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.anonymizers.interval_bounds.algorithm import bounds
from ppdm_flow.anonymizers.mondrian.bounds import cells_of_hierarchy, cells_of_moments, cells_of_numbers
from ppdm_flow.anonymizers.mondrian.spec import EVERY, IntervalEnds, MondrianParams
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk import registry
from ppdm_flow.tables.numeric.column import numbers_among
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Case

INTEGER, FLOAT, DATE, TIMESTAMP = (
    AttributeType.INTEGER,
    AttributeType.FLOAT,
    AttributeType.DATE,
    AttributeType.TIMESTAMP,
)
ENDS = st.one_of(
    st.sampled_from([0.1, 0.25, 1.0, 5.0, 1000.0]).map(lambda n: IntervalEnds(round=n)),
    st.integers(1, 4).map(lambda n: IntervalEnds(significant=n)),
)
NUMBERS = st.decimals(-(10**6), 10**6, places=3) | st.sampled_from([Decimal(n) for n in (0, -1000, 1000, -10, 10)])


@examples(90)
@given(st.lists(NUMBERS, min_size=1, max_size=12), ENDS, st.booleans())
def test_cells_cover_their_numbers_and_do_not_overlap(numbers, ends, integers):
    numbers = [n.to_integral_value() for n in numbers] if integers else numbers
    cells = cells_of_numbers([format(n, "f") for n in numbers], ends, integers=integers)
    for number, cell in zip(numbers, cells, strict=True):
        assert cell.low <= number < cell.high
        assert (Decimal(cell.begin), Decimal(cell.end)) == (cell.low, cell.high)
        assert cell.alone is None or Decimal(cell.alone) == number
    for one, other in itertools.combinations(set(cells), 2):
        assert one.high <= other.low or other.high <= one.low


@pytest.mark.parametrize(
    ("text", "ends", "begin", "end"),
    [
        ("23", {"round": 5}, "20", "25"),
        ("-23", {"round": 5}, "-25", "-20"),
        ("34567", {"significant": 2}, "34000", "35000"),
        ("0.0123", {"significant": 2}, "0.012", "0.013"),
        ("7", {"significant": 1}, "7", "8"),
    ],
)
def test_ends_of_numbers(text, ends, begin, end):
    (cell,) = cells_of_numbers([text], IntervalEnds(**ends), integers="." not in text)
    assert (cell.begin, cell.end) == (begin, end)


@pytest.mark.parametrize(
    ("text", "kind", "ends", "begin", "end"),
    [
        ("2024-05-17", DATE, {"significant": 2}, "2024-05-01", "2024-06-01"),
        ("2024-05-17", DATE, {"round": 7}, "2024-05-16", "2024-05-23"),
        ("2024-05-17T10:20:30", TIMESTAMP, {"round": 3600}, "2024-05-17T10:00:00", "2024-05-17T11:00:00"),
        ("2024-12-31T23:59:59", TIMESTAMP, {"significant": 1}, "2024-12-01T00:00:00", "2025-01-01T00:00:00"),
        ("9999-12-31", DATE, {"significant": 2}, "9999-12-01", None),
        ("0001-01-01", DATE, {"round": 7}, None, "0001-01-04"),
    ],
)
def test_ends_of_moments(text, kind, ends, begin, end):
    (cell,) = cells_of_moments([text], IntervalEnds(**ends), kind)
    assert (cell.begin, cell.end) == (begin, end)


def test_ends_of_a_hierarchy():
    cells = cells_of_hierarchy(["-5", "0", "7", "12"], (0.0, 10.0), "both")
    assert [(c.begin, c.end) for c in cells] == [(None, "0"), ("0", "10"), ("0", "10"), ("10", None)]


def fit(column, kind, params, *, k=3, hierarchy=None, **more):
    facts = {"x": AttributeFacts("x", Role.QUASI_IDENTIFIER, kind, hierarchy=hierarchy), **more.pop("facts", {})}
    table = Table.of({"x": column, **more.pop("columns", {})})
    requirements = (KAnonymity.of("k", k=k, attributes=("x",)),)
    case = Case(registry.load("anonymizers", "mondrian"), params, table, requirements=requirements, facts=facts, **more)
    fitted = case.fit()
    return fitted, fitted.transform.apply(table, None)["x"].texts()


def test_released_intervals_cover_people_and_stay_apart():
    values = np.random.default_rng(1).integers(18, 90, 300)
    fitted, labels = fit([str(v) for v in values], INTEGER, {"labels": {"round": "5"}})
    spans = set()
    for value, label in zip(values.tolist(), labels, strict=True):
        low, high = map(int, re.fullmatch(r"\[(\d+), (\d+)\)", label).groups())
        assert low <= value < high
        assert low % 5 == high % 5 == 0
        spans.add((low, high))
    assert len(spans) > 5
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(sorted(spans)))
    assert fitted.findings == ()


def test_wider_grids_lose_more():
    values = [str(v) for v in np.random.default_rng(1).integers(18, 90, 300)]
    losses = [
        fit(values, INTEGER, p)[0].figures["ncp"].value
        for p in ({}, {"labels": {"round": "5"}}, {"labels": {"round": "20"}})
    ]
    assert losses == sorted(losses)
    assert losses[0] < losses[2] <= 1


def test_bounds_of_the_hierarchy_are_joined():
    edges = HierarchySpec(intervals=(0.0, 10.0, 20.0, 30.0), open_ends="above")
    values = ["1", "2", "11", "12", "13", "21", "40", "41", "42"]
    _, labels = fit(values, INTEGER, {"labels": {"x": "bounds"}}, hierarchy=edges, k=4)
    assert labels == ["[0, 20)"] * 5 + [">= 20"] * 4


def test_a_whole_number_alone_is_written_as_it_is():
    _, labels = fit(["3", "3", "3", "5", "6", "7"], INTEGER, {"labels": {"significant": "2"}})
    assert labels == ["3"] * 3 + ["[5, 8)"] * 3


def test_missing_cells_keep_company():
    _, labels = fit(["1", "2", "3", None, None, None], INTEGER, {"labels": {"round": "5"}})
    assert labels == ["[0, 5)"] * 3 + [None] * 3


def test_ends_that_few_have_are_told():
    fitted, labels = fit(["1", "2", "3", "7", "8", "9"], INTEGER, {})
    assert labels == ["[1, 3]"] * 3 + ["[7, 9]"] * 3
    (finding,) = fitted.findings
    assert finding.code == "PPF946"
    assert "4 of `x`" in finding.text
    assert "fewer than 3 people" in finding.text


def test_ends_that_many_have_are_not():
    fitted, labels = fit(["1"] * 3 + ["3"] * 3, INTEGER, {}, k=3)
    assert labels == ["1"] * 3 + ["3"] * 3
    assert fitted.findings == ()


def test_ends_are_counted_by_people():
    """Four rows of one person are one person."""
    owners = ["a", "a", "a", "a", "b", "c", "d", "e", "f", "g"]
    values = ["1", "1", "1", "1", "2", "3", "3", "3", "3", "3"]
    people = PeopleCount("who", 1)
    fitted, _ = fit(
        values,
        INTEGER,
        {},
        k=4,
        people=people,
        columns={"who": owners},
        facts={"who": AttributeFacts("who", Role.SUBJECT)},
    )
    (finding,) = fitted.findings
    assert "1 of `x`" in finding.text


def test_what_is_said_of_all_and_of_one():
    read = MondrianParams.model_validate({"labels": {"round": "5", "x": {"significant": "2"}, "y": "sets"}}).labels
    assert read == {EVERY: IntervalEnds(round=5), "x": IntervalEnds(significant=2), "y": "sets"}


@pytest.mark.parametrize("kind", [DATE, TIMESTAMP])
def test_bounds_of_dates_are_read_again(kind):
    first, after = numbers_among(["2020-01-01", "2020-02-01"], kind).tolist()
    assert bounds("[2020-01-01, 2020-02-01)", kind) == (first, after - 1)
    assert bounds("[2020-01-01, 2020-02-01]", kind) == (first, after)
