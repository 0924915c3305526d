"""What attacks on generated data are made of: samples, distances, intervals, held against plain computations."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.audits.records import distances
from ppdm_flow.audits.records.columns import beside
from ppdm_flow.audits.records.counting import databases
from ppdm_flow.audits.records.distances import FAR, RecordPoints, guesses, narrow, nearest, within
from ppdm_flow.audits.records.gathering import distinct, gather
from ppdm_flow.audits.records.intervals import labelled
from ppdm_flow.audits.records.proportions import newcombe, wilson
from ppdm_flow.audits.records.sampling import held_out, sampled, training
from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import Table

NUMBERS = [-float(FAR), float(FAR), 0.0, 0.25, 0.5, 1.0]


@st.composite
def points(draw, nominal, numeric):
    rows = draw(st.integers(1, 12))
    codes = draw(
        st.lists(st.lists(st.integers(0, 3), min_size=rows, max_size=rows), min_size=nominal, max_size=nominal)
    )
    numbers = draw(
        st.lists(st.lists(st.sampled_from(NUMBERS), min_size=rows, max_size=rows), min_size=numeric, max_size=numeric)
    )
    return RecordPoints(
        narrow(np.array(codes, dtype=np.int32).reshape(nominal, rows)),
        np.array(numbers, dtype=np.float32).reshape(numeric, rows),
    )


def plain(a, i, b, j):
    """One distance, by its definition."""
    nominal = sum(int(a.codes[c, i]) != int(b.codes[c, j]) for c in range(len(a.codes)))
    far = 0.0
    for c in range(len(a.numbers)):
        x, y = float(a.numbers[c, i]), float(b.numbers[c, j])
        far += float(x != y) if abs(x) > 2 or abs(y) > 2 else abs(x - y)
    return nominal + far


@examples(30)
@given(st.data(), st.sampled_from([(3, 0), (0, 2), (2, 2), (1, 0)]), st.sampled_from([1, 3, 512]))
def test_distances(data, shape, tile):
    """However many records stand together: those that are not looked at are none of the nearest."""
    queries, reference = data.draw(points(*shape)), data.draw(points(*shape))
    every = np.array([[plain(queries, i, reference, j) for j in range(len(reference))] for i in range(len(queries))])
    with mock.patch.object(distances, "TILE", tile):
        best, where = nearest(queries, reference)
    assert best == pytest.approx(every.min(axis=1))
    assert where.tolist() == every.argmin(axis=1).tolist()
    weights = np.arange(1, len(reference) + 1)
    assert within(queries, reference, weights, 1.25).tolist() == ((every <= 1.25) * weights).sum(axis=1).tolist()
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(reference), max_size=len(reference))))
    far, label, kinds = guesses(queries, reference, weights, labels)
    for i, row in enumerate(every):
        at = np.flatnonzero(row == row.min())
        tally = {v: int(weights[at][labels[at] == v].sum()) for v in set(labels[at].tolist())}
        assert far[i] == pytest.approx(row.min())
        assert label[i] == min(tally, key=lambda v: (-tally[v], v))
        assert kinds[i] == len(tally)


@pytest.mark.parametrize(("nominal", "numeric"), [(3, 0), (2, 3), (0, 4)])
def test_no_nearest_record_is_passed_over(nominal, numeric):
    """All distances to 5,000 records, as the same floats; the first of the nearest."""
    draws = np.random.default_rng([81, nominal, numeric])

    def some(rows):
        hidden = draws.normal(size=rows)
        codes = np.array([np.round(hidden + draws.normal(size=rows)).clip(-3, 3) + 3 for _ in range(nominal)])
        lines = np.array([hidden / 9 + draws.normal(size=rows) / 20 for _ in range(numeric)]).reshape(numeric, rows)
        lines = np.where(draws.random(lines.shape) < 0.05, FAR, lines.round(2)).astype(np.float32)
        return RecordPoints(narrow(codes.reshape(nominal, rows).astype(np.int32)), lines)

    queries, reference = some(300), some(5000)
    every = np.zeros((300, 5000), dtype=np.float32)
    for mine, theirs in zip(queries.codes, reference.codes, strict=True):
        every += mine[:, None] != theirs
    for mine, theirs in zip(queries.numbers, reference.numbers, strict=True):
        every += np.minimum(np.float32(1), np.abs(theirs - mine[:, None]))
    best, where = nearest(queries, reference)
    assert (best == every.min(axis=1)).all()
    assert (where == every.argmin(axis=1)).all()


@pytest.mark.slow
def test_distances_of_many_columns_and_values():
    """Counts above 255 and codes above 65,535 need wider integers."""
    wide = RecordPoints(narrow(np.arange(600, dtype=np.int32).reshape(300, 2)), np.zeros((0, 2), dtype=np.float32))
    assert nearest(wide.take(np.array([0])), wide.take(np.array([1])))[0].tolist() == [300]
    byte = RecordPoints(
        narrow(np.arange(510, dtype=np.int32).reshape(255, 2) % 256), np.zeros((0, 2), dtype=np.float32)
    )
    assert [x.tolist() for x in nearest(byte.take(np.array([0])), byte.take(np.array([1, 1])))] == [[255], [0]]
    many = RecordPoints(narrow(np.array([[0, 65_536]], dtype=np.int32)), np.zeros((0, 2), dtype=np.float32))
    assert nearest(many.take(np.array([0])), many)[1].tolist() == [0]
    small = RecordPoints(narrow(np.array([[1]], dtype=np.int32)), np.zeros((0, 1), dtype=np.float32))
    assert nearest(small, many)[0].tolist() == [1]


def test_an_empty_reference_is_refused():
    one = RecordPoints(np.zeros((1, 1), dtype=np.uint8), np.zeros((0, 1), dtype=np.float32))
    none = one.take(np.zeros(0, dtype=np.int64))
    with pytest.raises(ValueError, match="`reference` must have a record"):
        nearest(one, none)
    with pytest.raises(ValueError, match="`reference` must have a record"):
        guesses(one, none, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@examples(15)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_distinct_rows(rows):
    first, copies, place = distinct(np.array(rows, dtype=np.int32))
    found = [rows[i] for i in first]
    assert len(set(found)) == len(found) == len(set(rows))
    assert [found[p] for p in place] == rows
    assert copies.tolist() == [rows.count(r) for r in found]


def numbered(build, rows, weights=None, partition=7):
    table = {"x": [str(i) for i in range(rows)]}
    roles = {"x": Role.INSENSITIVE}
    if weights is not None:
        table["w"] = [str(w) for w in weights]
        roles["w"] = Role.WEIGHT
    whole = Table.of(table)
    return build.View(whole, Schema(tuple(Field(n, roles[n]) for n in whole.names)), partition)


@examples(20)
@given(st.integers(0, 60), st.integers(1, 40), st.integers(1, 11))
def test_samples_are_even_and_the_same_for_any_partitions(build, rows, limit, partition):
    found = sampled(numbered(build, rows, partition=partition), ["x"], limit)
    numbers = [int(x) for x in found.table["x"].texts()]
    assert found.available == rows
    assert numbers == [k * rows // min(rows, limit) for k in range(min(rows, limit))] if rows else numbers == []


@examples(20)
@given(st.lists(st.integers(0, 5), max_size=25), st.integers(1, 40), st.integers(1, 9))
def test_samples_of_weighted_rows_are_of_persons(build, weights, limit, partition):
    found = sampled(numbered(build, len(weights), weights, partition), ["x"], limit)
    persons = [i for i, w in enumerate(weights) for _ in range(w)]
    size = min(len(persons), limit)
    wanted = [persons[k * len(persons) // size] for k in range(size)]
    assert [int(x) for x in found.table["x"].texts()] == wanted
    assert found.available == len(persons)


def test_the_two_groups_share_nobody(build):
    view, holdout = numbered(build, 300), Holdout(0.4)
    inside = {int(x) for x in training(view, ["x"], 1000, holdout).table["x"].texts()}
    outside = {int(x) for x in held_out(view, ["x"], 1000, holdout).table["x"].texts()}
    assert not inside & outside
    assert inside | outside == set(range(300))
    assert outside == set(np.flatnonzero(holdout.held_out(np.arange(300))).tolist())
    assert len(training(view, ["x"], 10, holdout)) == 10
    assert training(view, ["x"], 1000, None).available == 300


def test_numbers_become_declared_intervals():
    column = Column.of(["5", "18", "17.5", "-1", "90", "[18, 65)", "many", None, "⊥", "1e1"])
    found = labelled(column, (0, 18, 65)).texts()
    assert found == ["[0, 18)", "[18, 65)", "[0, 18)", "< 0", ">= 65", "[18, 65)", "many", None, "⊥", "[0, 18)"]
    assert labelled(Column.of([]), (0, 1)).texts() == []


def facts(name, edges=None):
    hierarchy = HierarchySpec(intervals=edges) if edges else None
    return AttributeFacts(name, Role.INSENSITIVE, AttributeType.INTEGER, hierarchy=hierarchy, source=name)


def with_numbers(build, original, released, edges):
    case = build.case(original, released, "xx", paired=False)
    schema = Schema(tuple(Field(f.name, f.role, AttributeType.INTEGER) for f in case.original.schema))
    numeric = build.View(case.original.whole, schema)
    known = {n: facts(n, edges) for n in original}
    return numeric, case.candidate, case.but(original_attributes=known).ctx


def test_itemsets_are_of_declared_intervals(build):
    args = with_numbers(build, {"a": ["1", "12"], "b": ["x", "x"]}, {"a": ["3", "15"], "b": ["x", "y"]}, (0, 10, 20))
    found = databases(args[0], args[1], beside(*args), 100)
    assert found.original.items == 4  # two intervals, x and y
    assert found.original.supports.sum() == found.released.supports.sum() == 4
    assert sorted(found.original.supports.tolist()) == [0, 1, 1, 2]


def test_released_intervals_stand_beside_original_numbers(build):
    args = with_numbers(
        build, {"a": ["1", "12"], "b": ["5", "6"]}, {"a": ["[0, 10)", "3"], "b": ["5", None]}, (0, 10, 20)
    )
    found = gather(*args, beside(*args), 100, 100)
    assert [i for i, _ in found.released.numbers] == [1]  # a holds intervals, so its numbers are taken for theirs
    assert found.released.cells[0, 0] == found.released.cells[1, 0] == found.training.cells[0, 0]
    reach = dict(found.training.numbers)[1]
    assert reach[2:].tolist() == [0, 1]
    far, _ = nearest(found.released.points([1]), found.training.points([1]))
    assert far.tolist() == [0, 1]


def test_columns_by_source_name_without_identifiers(build):
    case = build.case(
        {"i": ["1"], "a": ["x"], "b": ["y"]},
        {"i": ["1"], "c": ["y"], "b": ["x"]},
        "ixx",
        sources={"c": "b", "b": "a"},
        paired=False,
    )
    assert [(c.column, c.source) for c in beside(*case.args)] == [("c", "b"), ("b", "a")]
    assert [c.column for c in beside(*case.args, ["a"])] == ["b"]
    assert [c.column for c in beside(*case.args, ["c"])] == ["c"]


@examples(20)
@given(st.integers(1, 200), st.data())
def test_intervals_of_proportions(size, data):
    hits = data.draw(st.integers(0, size))
    expected = stats.binomtest(hits, size).proportion_ci(0.95, "wilson")
    assert wilson(hits / size, size) == pytest.approx((expected.low, expected.high))
    low, high = newcombe(hits / size, size, 0.5, size)
    assert -1 <= low <= hits / size - 0.5 <= high <= 1


def test_newcombe_against_its_paper():
    """Table II of Newcombe 1998, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/20."""
    assert newcombe(56 / 70, 70, 48 / 80, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert newcombe(0.9, 10, 0.3, 10) == pytest.approx((0.1705, 0.8090), abs=5e-5)
    assert newcombe(1.0, 10, 0.0, 20) == pytest.approx((0.6791, 1.0000), abs=5e-5)
    assert wilson(0.5, 0) == (0, 1)
