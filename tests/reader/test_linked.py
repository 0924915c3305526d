"""Linked tables as one source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from ppdm_flow.reader.linked import JoinedTables, LinkedTableRows, joined_tables, share_more_than_people
from tests.reader.releases import table_of

HIDDEN = "⊥"


def linked(name: str, columns: Mapping[str, Sequence[str | None]]) -> LinkedTableRows:
    """Return a table whose person is ``id``, one of p, q, r."""
    ids = columns["id"]
    return LinkedTableRows(
        name,
        table_of(columns, range(len(ids))),
        np.array(["pqr".index(i or "") for i in ids], dtype=np.int64),
        "id",
        frozenset(),
    )


def texts(join: JoinedTables, table: str, attribute: str) -> list[str | None]:
    """Return the values of a table's attribute in all joined rows."""
    name = join.names[table, attribute]
    known = [*join.texts[name].to_pylist(), HIDDEN, None]
    return [known[code] for code in join.codes[name].tolist()]


PEOPLE = linked("people", {"id": ["p", "q", "r"], "town": ["t", "u", "t"], "age": ["1", None, "2"]})
VISITS = linked("visits", {"id": ["p", "p", "q"], "town": ["t", "v", "u"], "ward": ["1", "2", HIDDEN]})
TESTS = linked("tests", {"id": ["p", "r", "p"], "ward": ["2", "1", "9"], "value": ["x", "y", "z"]})


def test_rows_are_joined_by_person_and_shared_attributes() -> None:
    """The visit of p to v is beside nobody's town, but beside a test of its ward; a test of r is beside r's own row."""
    join = joined_tables([PEOPLE, VISITS, TESTS])
    rows = {tuple(int(join.places[t][i]) for t in ("people", "visits", "tests")): i for i in range(len(join.person))}
    assert sorted(rows) == [(-1, -1, 2), (-1, 1, 0), (0, 0, -1), (1, 1 + 1, -1), (2, -1, 1)]
    order = [rows[key] for key in sorted(rows)]
    assert join.person[order].tolist() == [0, 0, 0, 1, 2]
    assert [texts(join, "people", "town")[i] for i in order] == [None, "v", "t", "u", "t"]
    assert [texts(join, "people", "age")[i] for i in order] == [None, None, "1", None, "2"]
    assert [texts(join, "visits", "ward")[i] for i in order] == ["9", "2", "1", HIDDEN, "1"]
    assert [texts(join, "tests", "value")[i] for i in order] == ["z", "x", None, None, "y"]
    assert join.names["people", "town"] == join.names["visits", "town"] != join.names["visits", "ward"]
    assert [join.first_of(t).tolist() for t in ("people", "visits", "tests")] == [
        [rows[0, 0, -1], rows[1, 2, -1], rows[2, -1, 1]],
        [rows[0, 0, -1], rows[-1, 1, 0], rows[1, 2, -1]],
        [rows[-1, 1, 0], rows[2, -1, 1], rows[-1, -1, 2]],
    ]


def test_a_row_of_a_table_has_its_first_joined_row() -> None:
    """Without a shared attribute each visit is beside each test of its person."""
    visits = linked("visits", {"id": ["p", "p"], "day": ["1", "2"]})
    tests = linked("tests", {"id": ["p", "p", "q"], "value": ["x", "y", "z"]})
    join = joined_tables([visits, tests])
    assert join.places["visits"].tolist() == [0, 0, 1, 1, -1]
    assert join.places["tests"].tolist() == [0, 1, 0, 1, 2]
    assert (join.first_of("visits").tolist(), join.first_of("tests").tolist()) == ([0, 2], [0, 1, 4])
    empty = joined_tables([linked("visits", {"id": [], "day": []}), tests])
    assert (empty.places["visits"].tolist(), empty.first_of("visits").tolist()) == ([-1, -1, -1], [])
    assert texts(empty, "visits", "day") == [None] * 3


@pytest.mark.parametrize(
    ("mine", "theirs", "shared"),
    [
        (["1", "2", "1"], ["2", "1", "1"], True),
        (["1", "2", "1"], ["2", "2", "2"], False),
        (["1", "1", None], ["1", "2", "9"], True),
        (["1", "1", "2"], ["1", "1", HIDDEN], True),
        (["1", "2", "3"], ["1", "2", "4"], False),
        ([None, None, None], ["1", "2", "4"], False),
        (["1", "2", "2"], ["1", "2", "1"], False),
    ],
)
def test_an_attribute_within_another_is_the_same(
    mine: list[str | None], theirs: list[str | None], *, shared: bool
) -> None:
    """Each value that a person has of one is among that person's values of the other; two rows are of p, one is q's."""
    one, other = (
        linked("one", {"id": ["p", "p", "q"], "a": mine}),
        linked("other", {"id": ["p", "p", "q"], "b": theirs}),
    )
    for pair in ([one, other], [other, one]):
        assert share_more_than_people(pair, {"one": ["a"], "other": ["b"]}) is shared
    assert not share_more_than_people([one, other], {"one": ["id"], "other": ["id", "b"]})
    assert not share_more_than_people([one, other], {"one": ["a"]})


def test_keys_are_shared_with_keys_alone() -> None:
    """An attribute with the name of a key, or its values, is none."""
    one = linked("one", {"id": ["p", "q"], "a": ["p", "q"]})
    other = LinkedTableRows(
        "other", table_of({"who": ["p", "q"], "id": ["p", "q"]}, range(2)), np.array([0, 1]), "who", frozenset()
    )
    assert not share_more_than_people([one, other], {"one": ["a", "id"], "other": ["id", "who"]})
