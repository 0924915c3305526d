"""The source and the files of a run, as they are read from rows of releases beside those of the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import AttributeType, Nulls
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.files import SourceRows
from ppdm_flow.reader.linked import LinkedTableRows
from ppdm_flow.reader.run_files import RunFiles, read_files, read_linked_files, show_equal_attributes
from tests.reader.releases import made_of, release, table_of

HIDDEN = "⊥"
"""How a suppressed cell is written."""


def as_written(read: RunFiles, names: Sequence[str], number: int) -> dict[str, Any]:
    """Return one file with the attributes by their own names, and its columns' cells by the columns' names.

    ``names`` are those of the attributes that were read: in tables they are called by their places in the alphabet.
    """
    file, back = read.files[number], {f"({i})": name for i, name in enumerate(sorted(names))}

    def own(attributes: Any) -> list[str]:
        return sorted(back.get(a, a) for a in attributes)

    columns: dict[str, Any] = {}
    for c in file.columns:
        marks = [m for m, has in (("hidden", c.hidden), ("virtual", c.virtual)) if has]
        more = [x for x in (c.key, c.hidden_for) if x]
        columns[" ".join([c.name, *marks])] = (c.cells.tolist(), own(c.carries), c.kind.value, *more)
    return {
        "place": file.place.tolist(),
        "absent": file.absent.tolist(),
        "decided": None if file.decided is None else own(file.decided),
        "sampled": file.sampled,
        "moved": [own(m) for m in file.moved],
        "columns": columns,
    }


def codes(source: SourceRows) -> dict[str, list[int]]:
    """Return the codes of a source's attributes."""
    return {name: cells.tolist() for name, cells in source.codes.items()}


def test_files_are_read_beside_the_rows_of_the_source() -> None:
    """Row 1 is in no file, ``b`` is ``a``; the first file lacks row 5 by chance, rows 1, 2 and 4 for another reason."""
    source = {
        "a": ["x", "x", "x", "y", HIDDEN, None],
        "b": ["x", "x", "x", "y", HIDDEN, None],
        "c": ["1", "1", "2", "1", "3", "3"],
    }
    one = release(
        "one",
        source,
        [3, 0],
        {
            "a": (made_of("a"), ["Y", "X"]),
            "exchanged": (made_of("c", kind="exchanged"), ["1", "7"]),
            "drawn": (made_of("a", "b", kind="generated", carried=frozenset()), ["g", "h"]),
        },
        decided_by=frozenset({"c"}),
        left_out_at_random=[5],
    )
    other = release(
        "other",
        source,
        [0, 2, 3, 4, 5],
        {
            "b": (made_of("b"), ["p", "p", "q", "r", None]),
            "key": (made_of("c", kind="keyed", key="k"), ["K1", "K2", "K1", "K3", "K3"]),
        },
        decided_by=frozenset({"a"}),
    )
    read = read_files([one, other], None, frozenset())
    assert read.same == {"a": "(0)", "b": "(0)", "c": "(2)"}
    assert codes(read.source) == {"(0)": [0, 0, 0, 1, 2, -1], "(2)": [0, 0, 1, 0, 2, 2]}
    assert (read.source.unit.tolist(), read.source.weight.tolist()) == ([0, 1, 2, 3, 4, 5], [1] * 6)
    assert (read.source.subject, read.texts_of("b").to_pylist()) == ("", ["x", "y"])
    assert read.texts_of("z").to_pylist() == []
    assert as_written(read, "abc", 0) == {
        "place": [1, 2, 3, 0, 4, -1],
        "absent": [False, False, True, True, True],
        "decided": ["c"],
        "sampled": True,
        "moved": [],
        "columns": {
            "a": ([1, 0, -2, -2, -2], ["a"], "map"),
            "exchanged": (
                [0, 5, -2, -2, -2],
                ["c"],
                "exchanged",
            ),  # 7 is none of three values, nor the code of a hidden one
            "present virtual": ([1, 1, 0, 0, 0], ["c"], "map"),
        },
    }
    assert as_written(read, "abc", 1) == {
        "place": [0, 5, 1, 2, 3, 4],
        "absent": [*[False] * 5, True],
        "decided": ["a"],
        "sampled": False,
        "moved": [],
        "columns": {
            "b": ([0, 0, 1, 2, -1, -2], ["a"], "map"),
            "key": ([0, 1, 0, 2, 2, -2], ["c"], "keyed", "k"),
            "rows of key virtual": ([2, 1, 2, 2, 2, -2], ["c"], "map"),
            "present virtual": ([1, 1, 1, 1, 1, 0], ["a"], "map"),
        },
    }
    assert read.question(["b", "a", "z"], "c", Nulls.EXCLUDE) == read.question(["a"], "c", Nulls.EXCLUDE)
    question = read.question(["z", "b"], "z", Nulls.EXCLUDE)
    assert (question.grouping, question.sensitive, question.nulls) == (("(0)",), "", "exclude")


def test_keyed_cells_of_a_file_that_lacks_rows_are_counted_unless_by_chance() -> None:
    """Absent rows are not counted, but have no cell of the count either."""
    source = {"a": ["1", "1", "2", "2"]}
    key = made_of("a", kind="keyed", key="k")
    every = release("every", source, [0, 1, 2, 3], {"a": (made_of("a"), ["1", "1", "2", "2"])})
    for by_chance, counts in ([], [2, 2, 1, -2]), ([3], None):
        file = release("file", source, [0, 1, 2], {"key": (key, ["K", "K", "L"])}, left_out_at_random=by_chance)
        columns = as_written(read_files([every, file], None, frozenset()), "a", 1)["columns"]
        assert columns.get("rows of key virtual", [None])[0] == counts


def test_cells_hidden_by_class_are_columns_of_their_own() -> None:
    """Shown cells carry what classes go by but the sensitive attribute; a column without hidden cells is one."""
    source = {"a": ["x", "y", "y"], "c": ["1", "2", "3"], "s": ["f", "f", "g"], "t": ["u", "v", "w"]}
    by_class = made_of("a", hidden_by=frozenset("c"), hidden_for=frozenset("st"))
    file = release(
        "file",
        source,
        [0, 1, 2],
        {
            "some": (by_class, ["x", HIDDEN, "y"]),
            "none": (by_class, ["x", "y", "y"]),
            "own": (made_of("a"), ["x", HIDDEN, HIDDEN]),
        },
    )
    read = read_files([file], None, frozenset())
    assert as_written(read, "acst", 0)["columns"] == {
        "some": ([0, -2, 1], ["a", "c"], "map"),
        "some hidden": ([-2, 2, -2], ["a", "c", "s", "t"], "map", "s, t"),
        "none": ([0, 1, 1], ["a"], "map"),
        "own": ([0, 1, 1], ["a"], "map"),
    }


def test_people_and_weights_come_from_the_source_and_the_release() -> None:
    """The first file that has a row says how many units it counts."""
    source = {"a": ["x", "y", "z"], "who": ["q", "p", "q"]}
    weighed = release(
        "weighed",
        source,
        [2, 0],
        {"a": (made_of("a"), ["z", "x"]), "n": (made_of("n"), ["5", "4"])},
        weight="n",
    )
    plain = release("plain", source, [0, 1], {"a": (made_of("a"), ["x", "y"])})
    read = read_files([weighed, plain], PeopleCount("who", 1), frozenset())
    assert read.source.weight.tolist() == [4, 1, 5]
    assert (read.source.unit.tolist(), read.source.subject) == ([1, 0, 1], "(1)")
    assert read_files([plain, weighed], None, frozenset()).source.weight.tolist() == [1, 1, 5]


def test_known_attributes_are_read_though_no_file_shows_them() -> None:
    source = {"a": ["x", "y"], "b": ["1", "2"], "c": ["u", "u"]}
    file = release("file", source, [0, 1], {"a": (made_of("a"), ["x", "y"])}, decided_by=frozenset({"c"}))
    assert read_files([file], None, frozenset({"b"})).same == {"a": "(0)", "b": "(1)", "c": "(2)"}


def test_rows_by_sets_of_items_are_not_verified() -> None:
    file = release("file", {"a": ["x"]}, [0], {"a": (made_of("a", "items"), ["x"])})
    with pytest.raises(NotVerifiedError, match="rows of `file` go by sets of items"):
        read_files([file], None, frozenset())


def test_a_common_order_is_an_attribute_of_its_own() -> None:
    """Two files in one order have it, a third in an order of its own does not."""
    source = {"a": ["x", "y", "x"]}
    files = [
        release(name, source, rows, {"a": (made_of("a"), [source["a"][i] for i in rows])}, ordered_by=by)
        for name, rows, by in (("one", [2, 0], "sort"), ("two", [2, 1, 0], "sort"), ("three", [0, 1, 2], "other"))
    ]
    read = read_files(files, None, frozenset())
    assert codes(read.source) == {"(0)": [0, 1, 0], "(order) sort": [0, 1, 2]}
    orders = [as_written(read, "a", i)["columns"].get("(order)  virtual") for i in range(3)]
    assert orders == [([0, 1, -2], ["(order) sort"], "map"), ([0, 1, 2], ["(order) sort"], "map"), None]


def test_rows_in_the_order_of_the_source_show_their_blocks() -> None:
    """``a`` lies in blocks, ``b`` does not, ``c`` is another in each row, and ``d`` the same in all."""
    source = {"a": ["x", "x", "z", "y"], "b": ["1", "2", "1", "1"], "c": ["1", "2", "3", "4"], "d": ["0"] * 4}
    columns = {name: (made_of(name), [cells[i] for i in (1, 2, 3)]) for name, cells in source.items()}
    file = release("file", source, [1, 2, 3], columns, in_source_order=True)
    every = release("every", source, range(4), {"a": (made_of("a"), source["a"])})
    read = read_files([file, every], None, frozenset())
    places = {n: c for n, c in as_written(read, "abcd", 0)["columns"].items() if n.startswith("place")}
    assert places == {
        "place of (0) virtual": ([0, 1, 2, -2], ["a"], "map"),
        "place of (3) virtual": ([0, 0, 0, -2], ["d"], "map"),
    }
    assert not any(n.startswith("place") for n in as_written(read, "abcd", 1)["columns"])


def test_cells_moved_by_one_draw_keep_their_differences() -> None:
    """A day and a moment, both moved: a day lies between them in the first two rows, and two in the third."""
    source = {"born": ["1", "2", "3", "4"], "seen": ["1", "2", "3", "4"], "paid": ["5", "6", "7", "8"]}
    days = ["2024-01-02", "2024-01-05", "2024-01-05", None]
    moments = ["2024-01-01T00:00:00", "2024-01-04T00:00:00", "2024-01-03T00:00:00", "2024-01-03T00:00:00"]
    moved = {"moved_by": frozenset({"shift"}), "kind": "noisy"}
    columns = {
        "born": (made_of("born", **moved), days),
        "seen": (made_of("seen", **moved), moments),
        "paid": (made_of("paid", kind="noisy", moved_by=frozenset({"other"})), days),
    }
    types = {"born": AttributeType.DATE, "seen": AttributeType.TIMESTAMP, "paid": AttributeType.DATE}
    file = release("file", source, range(4), columns, types=types)
    read = read_files([file], None, frozenset())
    written = as_written(read, ["born", "paid", "seen"], 0)
    assert written["moved"] == [["born"]]  # `seen` is the same attribute
    assert written["columns"]["difference of born, seen virtual"][0] == [0, 0, 1, -1]
    assert written["columns"]["difference of born, seen virtual"][1] == ["born"]
    assert sum(name.startswith("difference") for name in written["columns"]) == 1
    for kind, cells in (AttributeType.TEXT, days), (AttributeType.DATE, ["early", "late", "late", None]):
        labels = release(
            "labels",
            source,
            range(4),
            columns | {"born": (made_of("born", **moved), cells)},
            types={**types, "born": kind},
        )
        with pytest.raises(NotVerifiedError, match="were moved by one draw, and their differences are not known"):
            read_files([labels], None, frozenset())


@pytest.mark.parametrize("kind", ["map", "class_id", "keyed", "noisy"])
def test_other_cells_where_all_is_equal_are_not_verified(kind: str) -> None:
    """Noise may differ where what it carries is equal; a function may not, but of what is different."""
    source = {"a": ["x", "x", "y"], "b": ["1", "2", "1"]}
    file = release("file", source, [0, 1, 2], {"cell": (made_of("a", kind=kind), ["1", "2", "1"])})
    fine = release("file", source, [0, 1, 2], {"cell": (made_of("a", "b", kind=kind), ["1", "2", "1"])})
    read_files([fine], None, frozenset())
    if kind == "noisy":
        read_files([file], None, frozenset())
        return
    with pytest.raises(NotVerifiedError, match="`cell` of `file` has different cells where all is equal"):
        read_files([file], None, frozenset())


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (["x", "y", None], ["x", "y", None], True),
        (["x", "y", "z"], ["x", "y", "y"], False),
        (["x", HIDDEN, "z"], ["x", None, "z"], False),
        (["x", HIDDEN, "z"], ["x", HIDDEN, "z"], True),
        (["q", "w", "w"], ["x", None, None], False),
    ],
)
def test_equal_attributes_are_found_by_their_cells(
    one: list[str | None], other: list[str | None], *, equal: bool
) -> None:
    source = {"a": one, "b": other, "c": ["1", "2", "2"]}
    files = [
        release("one", source, [0, 1, 2], {"a": (made_of("a"), one), "c": (made_of("c"), source["c"])}),
        release("other", source, [0, 1, 2], {"b": (made_of("b"), other), "c": (made_of("c"), source["c"])}),
    ]
    assert show_equal_attributes(files) is equal


def test_attributes_of_no_row_may_be_equal() -> None:
    """Sets of items are no columns: who shows them may show anything."""
    for absent in ("a", "b"):
        source = {n: ["x", "y"] for n in "ab" if n != absent}
        assert show_equal_attributes([release(n, source, [0, 1], {n: (made_of(n), ["x", "y"])}) for n in "ab"])
    files = [release(n, {}, [], {n: (made_of(n), [])}) for n in "ab"]
    assert show_equal_attributes(files)
    assert not show_equal_attributes([release(n, {}, [], {n: (made_of("a"), [])}) for n in "ab"])


def test_files_alone_tell_more_than_equal_cells() -> None:
    """They hide by class, move by one draw, mix what is known with what is not, or something determines something."""
    source = {"a": ["x", "y"], "b": ["1", "2"], "q": ["1", "2"], "s": ["1", "1"]}
    moved = {"moved_by": frozenset({"shift"}), "kind": "noisy"}
    days = ["2024-01-02", "2024-01-05"]
    source["b"], source["q"] = ["1", "1"], ["2", "1"]
    files = [
        release("plain", source, [0, 1], {"a": (made_of("a"), ["x", "y"]), "s": (made_of("s"), ["1", "1"])}),
        release("hiding", source, [0, 1], {"a": (made_of("a", hidden_by=frozenset("a")), ["x", HIDDEN])}),
        release(
            "moved",
            source,
            [0, 1],
            {n: (made_of(n, **moved), days) for n in "bs"},
            types=dict.fromkeys("bs", AttributeType.DATE),
        ),
        release("mixed", source, [0, 1], {"class": (made_of("a", "b"), ["1", "2"])}),
        release("by quasi-identifiers", source, [0, 1], {"class": (made_of("a", "q"), ["1", "2"])}),
        release("closed", source, [0, 1], {"class": (made_of("b", "s"), ["1", "1"])}),
        release("ordered", source, [1], {"a": (made_of("a"), ["y"])}, decided_by=frozenset("ab")),
    ]
    read = read_files(files, None, frozenset())
    question = read.question(["a"], "s", Nulls.OWN_CATEGORY)
    assert read.read_alone(question, ["q", "z"], determined=False, several=False) == [1, 2, 3]
    assert read.read_alone(question, [], determined=False, several=False) == [1, 2, 3, 4]
    assert read.read_alone(question, ["q"], determined=True, several=False) == [*range(7)]
    assert read.by_name({0: ["v"], 1: ["w"]}, "s") == {"plain": ("v", "w"), "hiding": ("w",)}
    assert read.by_name({0: ["v"], 1: ["w"]}, "z") == {"plain": ("v",), "hiding": ("w",)}
    assert read.by_name({0: ["v"], 1: ["w"]}, "") == {"plain": ("v",), "hiding": ("w",)}


def test_files_that_say_what_is_steady_tell_more_where_several_rows_are_known() -> None:
    """The town of a person is always the same, the day is not; town may be what is known of the rows."""
    source = {"who": ["p", "p", "q", "q"], "town": ["t", "t", "u", "u"], "day": ["1", "2", "1", "2"]}
    shown = {"town": {"town": (made_of("town"), source["town"])}, "day": {"day": (made_of("day"), source["day"])}}
    pseudonym = {"who": (made_of("who", kind="keyed", key="k"), ["a", "a", "b", "b"])}
    shown["named"] = {**shown["town"], **pseudonym}  # whose rows are whose is seen anyway
    files = [release(name, source, [0, 1, 2, 3], columns) for name, columns in shown.items()]
    read = read_files(files, PeopleCount.of("who", 2), frozenset())
    about_day, about_town = (read.question([each], "", Nulls.OWN_CATEGORY) for each in ("day", "town"))
    assert read.read_alone(about_day, [], determined=False, several=True) == [0]
    assert read.read_alone(about_town, [], determined=False, several=True) == []
    assert read.read_alone(about_day, [], determined=False, several=False) == []


def test_files_of_linked_tables_are_read_beside_their_join() -> None:
    """Two people, one with two visits; ``town`` is in both tables, and the second visit of the first is absent.

    Files of visits have one order, with which that of the people has nothing in common.
    """
    people = table_of({"id": ["p", "q"], "town": ["t", "u"], "age": ["1", "2"]}, [0, 1])
    visits = table_of({"id": ["p", "p", "q"], "town": ["t", "t", "u"], "ill": ["f", "g", "f"]}, [0, 1, 2])
    tables = [
        LinkedTableRows("people", people, np.array([0, 1]), "id", frozenset()),
        LinkedTableRows("visits", visits, np.array([0, 0, 1]), "id", frozenset({"people"})),
    ]
    of_people = {n: c.texts() for n, c in people.columns.items()}
    of_visits = {n: c.texts() for n, c in visits.columns.items()}
    files = [
        release(
            "one",
            of_people,
            [1, 0],
            {"home": (made_of("town"), ["U", "T"])},
            table="people",
            ordered_by="sort",
            in_source_order=True,
        ),
        release(
            "other",
            of_visits,
            [0, 2],
            {"place": (made_of("town"), ["T", "U"]), "ill": (made_of("ill"), ["f", "f"])},
            table="visits",
            decided_by=frozenset({"ill"}),
            ordered_by="sort",
            in_source_order=True,
        ),
        release(
            "third", of_visits, [0, 1, 2], {"ill": (made_of("ill"), ["f", "g", "f"])}, table="visits", ordered_by="sort"
        ),
    ]
    read = read_linked_files(files, PeopleCount("people.id", 1), tables)
    who, town, age, ill = (read.same[n] for n in ("people.id", "people.town", "people.age", "visits.ill"))
    assert (read.same["visits.id"], read.same["visits.town"]) == (who, town)
    of_person = {name: [0, 0, 1] for name in (who, town, age)}
    assert codes(read.source) == of_person | {ill: [0, 1, 0], "(order) visits.sort": [0, 1, 2]}
    assert (read.source.unit.tolist(), read.source.subject, read.source.weight.tolist()) == ([0, 0, 1], who, [1, 1, 1])
    one, other, third = read.files
    assert [(f.table, sorted(f.refers)) for f in read.files] == [
        ("people", []),
        ("visits", ["people"]),
        ("visits", ["people"]),
    ]
    assert [f.place.tolist() for f in read.files] == [[1, 1, 0], [0, 2, 1], [0, 1, 2]]
    assert [f.decided for f in read.files] == [None, frozenset({ill}), None]
    assert {c.name: c.cells.tolist() for c in one.columns} == {"home": [1, 0]}
    assert {c.name: c.cells.tolist() for c in other.columns} == {
        "place": [0, 1, -2],
        "ill": [0, 0, -2],
        "(order) ": [0, 1, -2],
        f"place of {who}": [0, 1, -2],
        f"place of {town}": [0, 1, -2],
        "present": [1, 1, 0],
    }
    assert [c.name for c in third.columns] == ["ill", "(order) "]
    assert read_linked_files(files, None, tables).source.subject == ""
    assert read_linked_files(files, None, tables).source.unit.tolist() == [0, 1, 2]
