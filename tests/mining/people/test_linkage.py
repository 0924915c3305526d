"""Linked rows: by pseudonyms, by one column, by all together; what a missing and a suppressed cell do."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.mining.people.linkage import column_sets, linked_lines, linked_rows
from ppdm_flow.tables.column import Column
from ppdm_flow.testing.view import InMemorySql


def linked(people, *columns, pseudonyms=()):
    names, others = ([Column.of(c).codes for c in some] for some in (pseudonyms, columns))
    found = linked_rows(np.array(people), names, others)
    return found, found.rows.astype(int).tolist()


def test_a_cell_of_one_person_links_the_rows_that_have_it_and_no_other_cell_does():
    found, rows = linked([0, 0, 1, 1, 2], ["device 1", "device 1", "x", "y", "x"])
    assert rows == [1, 1, 0, 0, 0]
    assert (found.by_column, found.together, found.total) == ((2,), 0, 2)


def test_a_cell_that_occurs_once_links_nothing():
    assert linked([0, 0, 1], ["a", "b", "c"])[1] == [0, 0, 0]


def test_a_pseudonym_links_every_row_that_has_one_and_a_single_row_too():
    found, rows = linked([0, 0, 1, 2], pseudonyms=[["p", "p", "q", None]])
    assert rows == [1, 1, 1, 0]
    assert found.by_pseudonym == (3,)


def test_cells_that_only_together_are_one_persons_link():
    found, rows = linked([0, 0, 1, 1], ["a", "a", "a", "b"], ["x", "x", "y", "x"])
    assert rows == [1, 1, 0, 0]
    assert (found.by_column, found.together) == ((0, 0), 2)


def test_a_missing_cell_links_nothing_but_is_one_more_value_beside_others():
    assert linked([0, 0, 1], [None, None, "a"])[1] == [0, 0, 0]
    assert linked([0, 0, 1], [None, None, None], [None, None, "a"])[1] == [0, 0, 0]
    assert linked([0, 0, 1, 1], [None, None, "m", "m"], ["x", "x", "x", "z"])[1] == [1, 1, 1, 1]


def test_suppressed_cells_that_only_one_person_has_stand_out():
    assert linked([0, 0, 1], ["⊥", "⊥", "a"])[1] == [1, 1, 0]
    assert linked([0, 0, 1], ["⊥", "⊥", "⊥"])[1] == [0, 0, 0]


def test_a_suppressed_pseudonym_is_none():
    assert linked([0, 1, 1], pseudonyms=[["⊥", "⊥", "p"]])[1] == [0, 0, 1]


def test_a_row_number_does_not_hide_that_other_cells_are_the_same():
    numbers = ["1", "2", "3", "4"]
    assert linked([0, 0, 1, 1], ["a", "a", "a", "b"], ["x", "x", "y", "x"], numbers)[1] == [1, 1, 0, 0]


def test_one_row_no_rows_and_no_columns():
    assert linked([0], ["a"], pseudonyms=[[None]])[1] == [0]
    assert linked([0, 0])[1] == [0, 0]
    assert linked_rows(np.zeros(0, dtype=np.int64), (), [np.zeros(0, dtype=np.int32)]).total == 0


@pytest.mark.parametrize("people", [[0, -1], [0]])
def test_people_and_columns_must_fit(people):
    with pytest.raises(ValueError, match="person"):
        linked(people, ["a", "b"])


CELLS = st.sampled_from([None, "⊥", "a", "b"])


@given(st.lists(st.tuples(st.integers(0, 3), CELLS, CELLS), max_size=12))
def test_the_same_as_looking_at_all_pairs_of_rows(rows):
    people = [r[0] for r in rows]

    def alone(cells, i):
        same = [p for p, c in zip(people, cells, strict=True) if c == cells[i]]
        return len(same) > 1 and len(set(same)) == 1

    columns = [[r[1] for r in rows], [r[2] for r in rows]]
    repeated = [c for c in columns if len(set(c)) < len(c)]
    together = [*zip(*repeated, strict=True)] if repeated else [()] * len(rows)
    expected = [
        any(c[i] is not None and alone(c, i) for c in columns)
        or (any(x is not None for x in together[i]) and alone(together, i))
        for i in range(len(rows))
    ]
    assert linked(people, *columns)[1] == [int(e) for e in expected]


def by_sql(people, columns, pseudonyms=0):
    """Return the same for texts; equal rows are one line with their number."""
    lines = [*zip(people, *columns, strict=True)]
    counts = {line: lines.count(line) for line in lines}
    texts = {f"c{i}": pa.array([line[i + 1] for line in counts], pa.string()) for i in range(len(columns))}
    table = pa.table(
        {"person": pa.array([line[0] for line in counts], pa.int64())} | texts | {"n": pa.array(list(counts.values()))}
    )
    names = list(texts)
    found = linked_lines(
        InMemorySql({}), "SELECT * FROM given", {"given": table}, "person", names[:pseudonyms], names[pseudonyms:]
    )
    cells = zip(*(found[name].to_pylist() for name in ("person", *names, "linked")), strict=True)
    linked_of = {tuple(line[:-1]): line[-1] for line in cells}
    return [int(linked_of[line]) for line in lines]


@given(st.lists(st.tuples(st.integers(0, 2), CELLS, CELLS, CELLS), max_size=9), st.integers(0, 3), st.booleans())
def test_sql_links_the_same_rows(rows, pseudonyms, numbered):
    people = [r[0] for r in rows]
    columns = [[r[i] for r in rows] for i in (1, 2, 3)]
    if numbered:
        columns[2] = [f"row {i}" for i in range(len(rows))]
    expected = linked(people, *columns[pseudonyms:], pseudonyms=columns[:pseudonyms])[1]
    assert by_sql(people, columns, pseudonyms) == expected


def test_sql_without_other_columns_links_nothing():
    assert by_sql([0, 0], []) == [0, 0]


def test_a_nearly_unique_column_does_not_hide_what_two_others_tell():
    one, other = ["a", "a", "a", "b"], ["x", "x", "y", "x"]
    nearly = ["1", "2", "3", "3"]
    assert linked([0, 0, 1, 2], one, other, nearly)[1] == [1, 1, 0, 0]
    assert by_sql([0, 0, 1, 2], [one, other, nearly]) == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("columns", "largest", "number"),
    [(1, [1], 1), (2, [1, 2], 3), (8, [1, 2, 3, 7, 8], 101), (14, [1, 2, 13, 14], 120)],
)
def test_few_columns_are_looked_at_together_and_many_as_well(columns, largest, number):
    sets = column_sets(columns)
    assert sorted({len(each) for each in sets}) == largest
    assert len(sets) == len(set(sets)) == number


SETS = st.lists(st.tuples(st.integers(0, 2), *[st.sampled_from([None, "a", "b"])] * 5), max_size=10)


@pytest.mark.slow
@given(SETS)
def test_any_three_columns_link_by_both_routes(rows):
    people, columns = [r[0] for r in rows], [[r[i] for r in rows] for i in range(1, 6)]
    repeating = [c for c in columns if max([c.count(cell) for cell in c], default=0) > 1]
    expected = [0] * len(rows)
    for size in range(1, len(repeating) + 1):
        for some in combinations(repeating, size):
            cells = [*zip(*some, strict=True)]
            for i, cell in enumerate(cells):
                same = [p for p, c in zip(people, cells, strict=True) if c == cell]
                expected[i] |= any(x is not None for x in cell) and len(same) > 1 and len(set(same)) == 1
    assert linked(people, *columns)[1] == expected
    assert by_sql(people, columns) == expected
