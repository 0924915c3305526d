"""Somebody who holds all files of a run: when these tell more together, and what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import AttributeType, Nulls
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.figures import worst
from ppdm_flow.reader.query.figures import figures
from ppdm_flow.reader.run import RunReader
from tests.reader.database import DatabaseSql
from tests.reader.releases import made_of, release

SOURCE: dict[str, list[str | None]] = {
    "a": ["x", "x", "y", "y"],
    "b": ["1", "2", "1", "2"],
    "c": ["p", "q", "r", "s"],
    "d": ["p", "q", "r", "s"],
    "s": ["f", "f", "g", "f"],
}
"""Two rows of each ``a`` and of each ``b``, one of each combination; ``d`` is ``c``."""


def shown(name: str, *columns: Any, **more: Any) -> Any:
    """Return a release of attributes as they are, or of columns with their lineage, which show what they carry."""
    rows = more.pop("rows", range(4))
    made: dict[str, Any] = {}
    for column in columns:
        lineage = made_of(column) if isinstance(column, str) else column
        cells = zip(*(SOURCE[a] for a in sorted(lineage.carries)), strict=True)
        every = ["".join(c or "" for c in cell) for cell in cells]
        made["".join(sorted(lineage.carries))] = (lineage, [every[i] for i in rows])
    return release(name, SOURCE, rows, made, **more)


def sizes(
    files: Sequence[Any], grouping: Sequence[str] = "ab", people: Any = None, **more: Any
) -> dict[str, Any] | None:
    """Return the least size in each file, equal by both routes; None where files tell no more than each by itself."""
    reader = RunReader(files, people, Nulls.OWN_CATEGORY, **more)
    told = reader.together(grouping)
    if told is None:
        return None
    again = reader.together_sql(DatabaseSql(), grouping)
    found = {name: worst(views)["k"] for name, views in told.views.items()}
    assert {name: figures(again[name])["k"] for name in found} == found
    return found


def keyed(attribute: str, key: str) -> Any:
    return made_of(attribute, kind="keyed", key=key)


BOTH = {"one": 1, "other": 1}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"columns": "a"}, {"columns": "b"}, None),
        ({"columns": "ac"}, {"columns": "bc"}, BOTH),
        ({"columns": "ac"}, {"columns": "bd"}, BOTH),
        ({"columns": ["a", keyed("c", "k")]}, {"columns": ["b", keyed("c", "k")]}, BOTH),
        ({"columns": ["a", keyed("c", "k")]}, {"columns": ["b", keyed("c", "l")]}, None),
        ({"columns": "a", "ordered_by": "o"}, {"columns": "b", "ordered_by": "o"}, BOTH),
        ({"columns": "a", "ordered_by": "o"}, {"columns": "b", "ordered_by": "p"}, None),
        ({"columns": "a", "ordered_by": "o"}, {"columns": "b"}, None),
        ({"columns": "a"}, {"columns": "b", "rows": [0, 1, 2], "decided_by": frozenset("a")}, {"one": 2, "other": 1}),
    ],
)
def test_files_tell_more_together_by_what_they_have_in_common(
    one: Mapping[str, Any], other: Mapping[str, Any], expected: dict[str, int] | None
) -> None:
    """An attribute, one that is equal, a key, an order, or that a file lacks rows for what another shows."""
    files = [
        shown(name, *of["columns"], **{k: v for k, v in of.items() if k != "columns"})
        for name, of in (("one", one), ("other", other))
    ]
    assert sizes(files) == expected


@pytest.mark.parametrize("also", [(), ("unlinked",)])
def test_which_others_tell_something_of_a_file(also: Sequence[str]) -> None:
    files = [shown("one", "a", "c"), shown("other", "b", "c"), *(shown(name, "s") for name in also)]
    reader = RunReader(files, None, Nulls.OWN_CATEGORY)
    told = reader.together(["a", "b"], "s")
    assert told is not None
    assert told is reader.together(("a", "b"), "s")
    assert told is not reader.together(["a", "b"])
    assert told.linked == {"one": ("other",), "other": ("one",)} | dict.fromkeys(also, ())
    assert told.names.to_pylist() == (["f", "g"] if also else [])
    assert set(told.views) == {"one", "other"}
    assert reader.together_sql(sql := DatabaseSql(), ["a", "b"]) is reader.together_sql(sql, ["a", "b"])


def test_rows_that_may_all_belong_together_tell_something_by_their_chances() -> None:
    """Each label is one of ``a`` in three rows of four, so that who sees ``a`` knows more of the label."""
    source: dict[str, list[str | None]] = {"a": [*"xxxyxyyy"], "c": [*"12345678"]}
    files = [
        release("one", source, range(8), {"label": (made_of("a", "c"), [*"KKKKLLLL"])}),
        release("other", source, range(8), {"a": (made_of("a"), source["a"])}),
    ]
    told = RunReader(files, None, Nulls.OWN_CATEGORY).together("a")
    assert told is not None
    assert told.linked == {"one": ("other",), "other": ("one",)}


@pytest.mark.parametrize(("attribute", "linked"), [("s", True), ("b", False)])
def test_a_file_limits_what_another_tells_of_a_secret(attribute: str, linked: bool) -> None:
    """The file that shows ``s`` reveals people who have one of its values that a label covers."""
    label = release("label", SOURCE, range(4), {"label": (made_of(attribute), [*"mmmm"])})
    told = RunReader([shown("plain", "a", "s", attribute), label], None, Nulls.OWN_CATEGORY).together("a", "s")
    assert (told is not None) == linked


@pytest.mark.parametrize("pseudonym", [False, True])
@pytest.mark.parametrize(("other", "alpha"), [("x", 1), ("y", None)])
def test_a_file_limits_a_secret_by_what_was_made_into_one_cell_with_it(
    other: str, alpha: float | None, pseudonym: bool
) -> None:
    """One label covers all values of ``s`` and ``x``: who has one of ``x`` has one of ``s``."""
    source: dict[str, list[str | None]] = {
        "a": [*"ppqqqq"], "x": [*"112222"], "y": [*"121212"], "s": [*"ffggff"], "id": [*"abcdef"]
    }  # fmt: skip
    key = {"id": (keyed("id", "k"), source["id"])} if pseudonym else {}
    files = [
        release("one", source, range(6), {"a": (made_of("a"), source["a"]), "x": (made_of("x"), source["x"])} | key),
        release("other", source, range(6), {"label": (made_of(other, "s"), [*"mmmmmm"])} | key),
    ]
    reader = RunReader(files, None, Nulls.OWN_CATEGORY)
    told = reader.together("a", "s")
    if told is None:
        assert alpha is None
        return
    found = worst(told.views["other"])["alpha"]
    assert figures(reader.together_sql(DatabaseSql(), "a", "s")["other"])["alpha"] == pytest.approx(
        found, rel=TOLERANCE
    )
    assert (found == pytest.approx(1)) == (alpha == 1)


def test_a_single_file_without_more_to_tell_is_not_read() -> None:
    """It would be refused: its rows go by sets of items."""
    file = release("file", SOURCE, [0], {"b": (made_of("b", "items"), ["1"])}, decided_by=frozenset("b"))
    assert RunReader([file], None, Nulls.OWN_CATEGORY).together("a") is None


HIDING = made_of("a", hidden_by=frozenset("s"))


@pytest.mark.parametrize(
    ("file", "more", "size"),
    [
        (shown("file", "a", "b"), {}, None),
        (shown("file", "a", "b"), {"determined": True}, 1),
        (shown("file", "a", rows=[0, 1, 2], decided_by=frozenset("s")), {}, None),
        (
            release("file", SOURCE, range(4), {"a": (HIDING, ["x", "x", "⊥", "y"]), "s": (made_of("s"), SOURCE["s"])}),
            {},
            2,
        ),
        (shown("file", made_of("a", "s")), {}, 2),
        (shown("file", made_of("a", "s")), {"quasi_identifiers": frozenset("s")}, None),
        (shown("file", made_of("c", "s")), {}, None),
        (
            release(
                "file",
                SOURCE,
                range(4),
                {
                    name: (made_of(name, kind="noisy", moved_by=frozenset({"shift"})), [f"2024-01-{d}" for d in days])
                    for name, days in (("a", ("11", "12", "13", "14")), ("b", ("01", "02", "02", "03")))
                },
                types=dict.fromkeys("ab", AttributeType.DATE),
            ),
            {"grouping": "a"},
            1,
        ),
    ],
    ids=["plain", "determined", "lacking", "hiding", "mixed", "by quasi-identifiers", "closed", "moved"],
)
def test_a_single_file_may_tell_more_than_equal_cells(file: Any, more: dict[str, Any], size: int | None) -> None:
    assert sizes([file], **more) == (None if size is None else {"file": size})


@pytest.mark.parametrize(("known_rows", "size"), [(1, 2), (2, 1), (None, 1)])
def test_as_many_rows_of_a_person_are_known_as_the_policy_says(known_rows: int | None, size: int) -> None:
    """Two people have each town, and no two people the same two towns; a pseudonym says whose rows are whose."""
    source: dict[str, list[str | None]] = {
        "who": ["p", "p", "q", "q", "r", "r"],
        "town": ["x", "y", "x", "z", "y", "z"],
    }
    cells = [f"{w}!" for w in source["who"]]
    file = release(
        "file", source, range(6), {"who": (keyed("who", "k"), cells), "town": (made_of("town"), source["town"])}
    )
    assert sizes([file], ["town"], PeopleCount("who", known_rows), determined=True) == {"file": size}


def test_what_is_known_is_read_where_some_file_lacks_rows() -> None:
    """Nobody shows ``s``; the file that lacks rows makes it known."""
    for decided, names in (frozenset("a"), ["f", "g"]), (frozenset[str](), []):
        files = [shown("one", "a", "c"), shown("other", "b", "c", rows=[0, 1, 2], decided_by=decided)]
        told = RunReader(files, None, Nulls.OWN_CATEGORY, frozenset("s")).together("ab", "s")
        assert told is not None
        assert told.names.to_pylist() == names


def test_what_is_not_accounted_for_is_not_verified_each_time() -> None:
    with pytest.raises(NotVerifiedError, match="for a reason"):
        RunReader([shown("file", "a")], None, Nulls.OWN_CATEGORY, unverified="for a reason").together("a")
    label = made_of("a", kind="noisy", moved_by=frozenset({"shift"}))
    reader = RunReader([shown("file", label, made_of("b", moved_by=frozenset({"shift"})))], None, Nulls.OWN_CATEGORY)
    for _ in range(2):
        with pytest.raises(NotVerifiedError, match="their differences are not known"):
            reader.together("a")
