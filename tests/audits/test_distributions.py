"""The audit `distributions`: distances and associations against plain twins."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.audits.distributions.algorithm import (
    DistributionsAudit,
    Shares,
    chart,
    cramers_v,
    edges,
    interval_shares,
)
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

SPEC = load("audits", "distributions")
AUDIT = DistributionsAudit(SPEC.params())
cells = st.lists(st.sampled_from([None, "⊥", "a", "b", "c"]), min_size=6, max_size=6)


@examples(30)
@given(before=cells, after=cells, weights=st.lists(st.integers(1, 4), min_size=6, max_size=6))
def test_total_variation(before, after, weights, build):
    w = [str(n) for n in weights]
    case = build.case({"p": before, "w": w}, {"p": after, "w": w}, "qw")
    found = AUDIT.measure(*case.args).figures
    mine, theirs = Counter(), Counter()
    for a, b, n in zip(before, after, weights, strict=True):
        mine[a] += n
        theirs[b] += n
    distance = sum(abs(mine[v] - theirs[v]) for v in {*mine, *theirs}) / (2 * sum(weights))
    assert found["p.total_variation"].value == pytest.approx(distance, abs=1e-12)
    assert found["p.suppressed"].value == pytest.approx(theirs["⊥"] / sum(weights))


def test_an_unchanged_release_has_not_moved(build):
    table = {"p": ["a", "b", "a", None], "q": ["x", "y", "x", "y"], "i": ["1", "2", "3", "4"]}
    case = build.case(table, {n: table[n] for n in ("p", "q")}, "qqi")
    found = AUDIT.measure(*case.args).figures
    assert {n: f.value for n, f in found.items()} == {
        **{f"{c}.{n}": 0.0 for c in "pq" for n in ("total_variation", "generalization_loss", "suppressed")},
        "mean_total_variation": 0.0,
        "largest_total_variation": 0.0,
        "mean_generalization_loss": 0.0,
        "largest_generalization_loss": 0.0,
        "rows_lost": 0.0,
        "suppressed_cells": 0.0,
        "mean_association_change": 0.0,
        "largest_association_change": 0.0,
    }


def test_shuffling_one_column_destroys_association_only(build):
    rng = np.random.default_rng(0)
    p = rng.integers(0, 3, 3000)
    table = {"p": [f"{v}" for v in p], "q": [f"{v}" for v in p]}
    case = build.case(table, {"p": table["p"], "q": [table["q"][i] for i in rng.permutation(3000)]}, "qq")
    found = AUDIT.measure(*case.args).figures
    assert found["q.total_variation"].value == 0
    assert found["largest_association_change"].value > 0.9


@examples(20)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=40))
def test_cramers_v(rows):
    left, right = np.array(rows, dtype=np.int32).T
    table = np.zeros((4, 5), dtype=int)
    np.add.at(table, (left, right), 1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    mine = cramers_v(left, right, np.ones(len(rows)))
    expected = stats.contingency.association(table) if min(table.shape) > 1 else 0.0
    assert mine == pytest.approx(expected, abs=1e-7)
    weights = np.arange(1.0, len(rows) + 1)
    repeated = np.repeat(np.arange(len(rows)), weights.astype(int))
    assert cramers_v(left, right, weights) == pytest.approx(
        cramers_v(left[repeated], right[repeated], np.ones(len(repeated))), abs=1e-7
    )


def test_many_values_and_labels(build):
    table = {"p": [f"secret{i % 50}" for i in range(400)], "q": ["a", "b"] * 200}
    case = build.case(table, table, "qq", declared={"q": frozenset("a")})
    charts = {c.id: c for c in AUDIT.measure(*case.args).charts}
    assert len(charts["p.shares"].x) == 20
    assert "30 further values" in charts["p.shares"].note
    assert not any("secret" in label for chart in charts.values() for label in chart.x)
    assert charts["q.shares"].x == ("a", "value 2")  # numbered by share
    assert charts["association_after"].kind == "matrix"


def test_samples_and_limits_are_told(build):
    rng = np.random.default_rng(0)
    table = {n: [str(v) for v in rng.integers(0, 3, 500)] for n in "pqr"}
    audit = DistributionsAudit(SPEC.params(pair_rows=100, pair_columns=2))
    found = audit.measure(*build.case(table, table, "qqq").args).figures
    assert found["mean_association_change"].sample == 100
    assert "first 2 columns" in found["mean_association_change"].note
    assert found["p.total_variation"].sample is None


def test_renamed_and_recoded(build):
    table = {"p": ["a", "b"]}
    changes = {"place": (("coarsen", Change.GENERALIZED),)}
    case = build.case(table, {"place": ["*", "*"]}, "q", sources={"place": "p"}, changes=changes, paired=False)
    figure = AUDIT.measure(*case.args).figures["place.total_variation"]
    assert (figure.value, "new names" in figure.note) == (1.0, True)


@examples(30)
@given(
    rows=st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=12),
    hidden=st.sets(st.integers(0, 11)),
)
def test_recoded_columns_are_compared_at_the_released_level(rows, hidden, build):
    coarse = {"a": "ab", "b": "ab", "c": "cd", "d": "cd", None: None}
    after = ["⊥" if i in hidden else coarse[v] for i, v in enumerate(rows)]
    changes = {"p": (("coarsen", Change.GENERALIZED),)}
    case = build.case({"p": rows}, {"p": after}, "q", changes=changes, paired=True)
    figures = AUDIT.measure(*case.args).figures
    seen = {v for i, v in enumerate(rows) if i not in hidden}
    mine = Counter(coarse[v] if v in seen else v for v in rows)
    theirs = Counter(after)
    distance = sum(abs(mine[v] - theirs[v]) for v in {*mine, *theirs}) / (2 * len(rows))
    assert figures["p.total_variation"].value == pytest.approx(distance, abs=1e-12)
    assert "released level" in figures["p.total_variation"].note
    if not hidden & set(range(len(rows))):
        assert distance == 0


def test_a_value_that_became_several_is_compared_as_it_stands(build):
    changes = {"p": (("coarsen", Change.GENERALIZED),)}
    case = build.case({"p": ["a", "a"]}, {"p": ["x", "y"]}, "q", changes=changes, paired=True)
    assert AUDIT.measure(*case.args).figures["p.total_variation"].value == 1.0


def test_nothing_to_compare(build):
    case = build.case({"p": [], "q": []}, {"p": [], "q": []}, "qq")
    assert AUDIT.measure(*case.args).figures["p.total_variation"].value == 0
    assert (
        AUDIT.measure(*build.case({"i": ["1"]}, {"i": ["1"]}, "i").args).figures["mean_total_variation"].value is None
    )


@pytest.mark.slow
def test_a_column_of_single_values(build):
    rows = 300_000
    names = Column.of([f"{v:07}" for v in range(rows)]).categories
    table = Table({"p": Column(np.arange(rows, dtype=np.int32), names)}, np.arange(rows))
    case = build.case(table, table.take(np.arange(0, rows, 2)), "q")
    found = AUDIT.measure(*case.args).figures
    assert found["p.total_variation"].value == pytest.approx(0.5)


def entropy(values):
    counts = Counter(values)
    return -sum(n / len(values) * math.log(n / len(values)) for n in counts.values())


@examples(30)
@given(rows=st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.booleans()), min_size=1, max_size=12))
@pytest.mark.parametrize("known", [True, False])
def test_generalization_loss(rows, known, build):
    """Of a declared recoding, which is compared at the released level, and of labels that nobody explains."""
    coarse = {"a": "ab", "b": "ab", "c": "c", None: None}
    before = [v for v, _ in rows]
    after = ["⊥" if hidden else coarse[v] for v, hidden in rows]
    changes = {"p": (("coarsen", Change.GENERALIZED),)} if known else None
    found = AUDIT.measure(*build.case({"p": before}, {"p": after}, "q", changes=changes).args).figures
    told = [v for v in after if v != "⊥"]
    kept = len(told) / len(rows) * entropy(told) if told else 0.0
    whole = entropy(before)
    loss = 1 - kept / whole if whole > 1e-12 else 1 - len(told) / len(rows)
    assert found["p.generalization_loss"].value == pytest.approx(min(1.0, max(0.0, loss)), abs=1e-9)


def test_a_release_of_one_label_reads_as_such(build):
    table = {"p": ["a", "b", "a", "c"], "q": ["x", "y", "x", "y"]}
    changes = {"p": (("coarsen", Change.GENERALIZED),)}
    case = build.case(table, {"p": ["*"] * 2, "q": ["x", "y"]}, "qq", changes=changes)
    found = AUDIT.measure(*case.args).figures
    assert found["p.total_variation"].value == 0
    assert found["p.generalization_loss"].value == 1
    assert (found["largest_generalization_loss"].value, found["largest_generalization_loss"].note) == (1, "`p`")
    assert found["mean_generalization_loss"].value == 0.5
    assert found["rows_lost"].value == 0.5
    weighted = build.case({"p": ["a", "b"], "w": ["3", "1"]}, {"p": ["a"], "w": ["3"]}, "qw")
    assert AUDIT.measure(*weighted.args).figures["rows_lost"].value == 0.25


def test_intervals_of_numbers_are_named_in_their_order(build):
    numbers = np.arange(1000.0) ** 2
    column = NumericColumn(np.append(numbers, 0.0), AttributeType.FLOAT, np.arange(1001) == 1000)
    table = Table({"x": column}, np.arange(1001))
    view = build.view(table, {"x": build.roles["x"]})
    found = interval_shares(view, "x", view, "x", edges(view, "x"))
    bars = chart("x", "x", found, AuditContext("public", {}, {}))
    assert bars.x == (*(f"interval {i}" for i in range(1, 21)), "missing")
    assert bars.series[0].y == bars.series[1].y
    assert all(0.04 < y < 0.06 for y in bars.series[0].y[:-1])


def test_intervals_have_their_bounds_where_values_may_be_shown():
    shares = Shares(pa.array(["below 3.5", "from 3.5"]), np.full(4, 0.25), np.full(4, 0.25), intervals=True)
    shown = [AuditContext("public", {}, {}, show_values=each) for each in (True, False)]
    assert chart("x", "x", shares, shown[0]).x == ("below 3.5", "from 3.5", "suppressed", "missing")
    assert chart("x", "x", shares, shown[1]).x == ("interval 1", "interval 2", "suppressed", "missing")


def test_labels_of_local_recoding_count_for_what_they_cover(build):
    """Categories: a set counts evenly for its members, `*` for all values; a suppressed cell is one."""
    before = ["a"] * 4 + ["b"] * 2 + ["c"] * 2
    after = ["{a, b}"] * 2 + ["a"] * 2 + ["{a, b}"] * 2 + ["*"] * 2
    case = build.case({"p": before}, {"p": after}, "q", changes={"p": (("coarsen", Change.GENERALIZED),)}, paired=True)
    found = AUDIT.measure(*case.args)
    released = np.array([2 + 2 + 2 / 3, 2 + 2 / 3, 2 / 3]) / 8
    distance = 0.5 * np.abs(released - np.array([4, 2, 2]) / 8).sum()
    assert found.figures["p.total_variation"].value == pytest.approx(distance)
    assert "counts evenly" in found.figures["p.total_variation"].note
    (chart,) = (each for each in found.charts if each.id == "p.shares")
    assert len(chart.x) == 3
    assert [sum(series.y) for series in chart.series] == pytest.approx([1.0, 1.0])


def test_intervals_of_local_recoding_are_compared_over_intervals(build):
    ages = list(range(20, 80)) * 2
    before = Table({"p": NumericColumn(np.array(ages), AttributeType.INTEGER)}, np.arange(120))
    widths = [30 if i < 60 else 10 for i in range(len(ages))]
    lows = [age // width * width for age, width in zip(ages, widths, strict=True)]
    labels = [f"[{low}, {low + width})" for low, width in zip(lows, widths, strict=True)]
    after = Table({"p": Column.of(labels)}, np.arange(120))
    case = build.case(before, after, "q", changes={"p": (("coarsen", Change.GENERALIZED),)}, paired=True)
    facts = {"p": replace(case.ctx.original_attributes["p"], type=AttributeType.INTEGER)}
    found = AUDIT.measure(*case.but(original_attributes=facts).args)
    assert found.figures["p.total_variation"].value < 0.1
    (chart,) = (each for each in found.charts if each.id == "p.shares")
    assert len(chart.x) == 20
    assert [sum(series.y) for series in chart.series] == pytest.approx([1.0, 1.0])
