"""Dates count as numbers in audits: every figure is that of the days since 1970, and labels of dates are read."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from ppdm_flow.audits.labels.forms import are_dates, between, covered, numbers
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn, texts_of
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import Table

DATE, INTEGER, TIMESTAMP = AttributeType.DATE, AttributeType.INTEGER, AttributeType.TIMESTAMP
AUDITS = (
    "closest_record", "membership_inference", "singling_out", "attribute_disclosure", "linkage", "unsorted_matching",
    "information_loss", "marginals", "propensity",
)  # fmt: skip


def days(seed: int, rows: int = 240) -> np.ndarray:
    return 18_000 + np.random.default_rng(seed).integers(0, 900, rows)


def table(numbers_of_days, kind: AttributeType, *, typed: bool = True) -> Table:
    rng = np.random.default_rng(9)
    values = np.asarray(numbers_of_days, dtype=np.int64)
    column = NumericColumn(values, kind)
    text = Column.of(texts_of(values, kind).to_pylist())
    towns = Column.of([f"town{t}" for t in rng.integers(0, 4, len(values))])
    ill = Column.of([f"ill{t}" for t in rng.integers(0, 3, len(values))])
    columns = {"day": column if typed else text, "town": towns, "ill": ill}
    return Table(columns, np.arange(len(values), dtype=np.int64))


def measured(build, name, before, after, kind, *, typed=True, **more):
    case = build.case(table(before, kind), table(after, kind, typed=typed), "qqs", **more)
    fields = case.original.schema
    schema = Schema((Field("day", fields["day"].role, kind), fields["town"], fields["ill"]))
    spec = load("audits", name)
    args = build.View(case.original.whole, schema), case.candidate, case.ctx
    return {n: f.value for n, f in spec.load()(spec.params()).measure(*args).figures.items()}


@pytest.mark.parametrize("name", AUDITS)
def test_dates_have_the_figures_of_their_days(build, name):
    """Noise of some days on a released table that was read as texts, as an audited file is."""
    before = days(1)
    after = before + np.rint(np.random.default_rng(2).normal(0, 30, len(before))).astype(np.int64)
    more = {"paired": False, "holdout": Holdout(0.5)} if name == "membership_inference" else {}
    expected = measured(build, name, before, after, INTEGER, **more)
    assert any(v is not None for v in expected.values())
    for typed in (True, False):
        assert measured(build, name, before, after, DATE, typed=typed, **more) == pytest.approx(expected, nan_ok=True)


def test_a_released_outlier_does_not_shrink_distances(build):
    """The median date is two of ten days off, for any other released dates."""
    before = [18_000 + d for d in (0, 10, 3, 4, 1)]
    for kind in (DATE, INTEGER):
        case = build.case(table(before, kind), table([18_006, 18_006, 30_000], kind), "qqs", paired=False)
        fields = case.original.schema
        schema = Schema((Field("day", fields["day"].role, kind), fields["town"], fields["ill"]))
        spec = load("audits", "closest_record")
        args = build.View(case.original.whole, schema), case.candidate, case.ctx
        found = spec.load()(spec.params(attributes=["day"])).measure(*args).figures
        assert found["training_median"].value == pytest.approx(0.2)
        assert found["training_copies"].value == 0


def test_a_constant_column_has_distances(build):
    for after, median in (([18_000] * 5, 0.0), ([18_001] * 5, 1.0)):
        found = measured(build, "closest_record", [18_000] * 5, after, DATE, paired=False)
        assert found["training_median"] == pytest.approx(median / 3)


def iso(day: float) -> str:
    return (dt.date(1970, 1, 1) + dt.timedelta(days=day)).isoformat()


@pytest.mark.parametrize(
    ("label", "first", "last"),
    [
        ("2020-01-05", "2020-01-05", "2020-01-05"),
        ("[2020-01-05, 2020-02-01]", "2020-01-05", "2020-02-01"),
        ("[2020-01-05, 2020-02-01)", "2020-01-05", "2020-01-31"),
        ("(2020-01-05..2020-02-01]", "2020-01-06", "2020-02-01"),
        ("2020", "2020-01-01", "2020-12-31"),
        ("2020-02", "2020-02-01", "2020-02-29"),
        ("2020-Q4", "2020-10-01", "2020-12-31"),
        ("2020s", "2020-01-01", "2029-12-31"),
    ],
)
def test_labels_of_dates_are_ranges_of_days(label, first, last):
    span = between(label, dates=True)
    low, high = np.ceil(span.low), np.floor(span.high)
    assert (iso(low), iso(high)) == (first, last)
    values = pa.array(["1999-12-31", first, last, "2031-01-01"])
    value, _ = covered([label], values)
    assert set(value.tolist()) == {1, 2}


@pytest.mark.parametrize("label", ["2020-13", "[2020-02-30, 2020-03-01]", "18000", "[1, 5]", "spring"])
def test_what_is_no_date_is_no_range_of_dates(label):
    assert between(label, dates=True) is None


def test_a_column_is_of_dates_where_all_of_its_values_are():
    assert are_dates(pa.array(["2020-01-01", "2020-01-02T10:00:00"]))
    assert not are_dates(pa.array(["2020-01-01", "2020"]))
    assert not are_dates(pa.array([], pa.string()))
    assert numbers(pa.array(["1970-01-02", "1970-01-02 12:00"])).tolist() == [1.0, 1.5]
    assert np.isnan(numbers(pa.array(["1970-01-02", "x"]))).all()
