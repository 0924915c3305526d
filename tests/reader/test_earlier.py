"""Files of earlier runs, as a ledger keeps them: they tell what they would in the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.roles import Nulls
from ppdm_flow.reader.earlier import KeptFile, shows_no_more, unpacked
from ppdm_flow.reader.figures import worst
from ppdm_flow.reader.query.figures import figures
from ppdm_flow.reader.run import EarlierFiles, RunReader
from ppdm_flow.reader.run_files import keep, read_files
from tests.reader.database import DatabaseSql
from tests.reader.releases import Cells, Hashes, made_of, release

SOURCE: dict[str, list[str | None]] = {
    "id": [f"i{n}" for n in range(8)],
    "a": list("xxxxyyyy"),
    "b": list("11221122"),
    "c": list("pqpqpqpq"),
    "s": list("fgfgffgg"),
}
"""Two rows of each ``a`` and ``b``, two of each ``a`` and ``c``, one of each ``a``, ``b`` and ``c``."""
ATTRIBUTES = frozenset(SOURCE)


def shown(name: str, *columns: Any, source: Cells = SOURCE, rows: Sequence[int] = range(8), **more: Any) -> Any:
    """Return a release of attributes as they are, or of cells of a lineage."""
    made = {}
    for column in columns:
        lineage, cells = (made_of(column), source[column]) if isinstance(column, str) else column
        made[f"{name}{len(made)}"] = (lineage, [cells[i] for i in rows])
    return release(name, source, rows, made, **more)


def keyed(attribute: str, key: str, salt: str = "", source: Cells = SOURCE) -> Any:
    return made_of(attribute, kind="keyed", key=key), [f"{salt}{v}" for v in source[attribute]]


def kept(file: Any) -> KeptFile:
    """Return what a ledger has of a file, and look that it has none of its values."""
    data = keep(file, Hashes()).packed()
    assert b"i3" not in data
    return unpacked(file.name, data)


def least(files: Sequence[Any], earlier: Sequence[Any], sensitive: str = "", **more: Any) -> dict[str, Any] | None:
    """Return the worst figures of each file of the run, equal by both routes; None where others tell nothing."""
    people, grouping = more.pop("people", None), more.pop("grouping", ("a", "b"))
    before = EarlierFiles(tuple(earlier), Hashes(), more.pop("attributes", ATTRIBUTES))
    reader = RunReader(files, people, Nulls.OWN_CATEGORY, before=before, **more)
    told = reader.together(grouping, sensitive)
    if told is None:
        return None
    again = reader.together_sql(DatabaseSql(), grouping, sensitive)
    found = {name: worst(views) for name, views in told.views.items()}
    for name, of_file in found.items():
        for figure, value in figures(again[name]).items():
            exactly = of_file[figure] if value is None else pytest.approx(of_file[figure], rel=TOLERANCE)
            assert value == exactly, figure
    return found


FILES: list[tuple[Any, ...]] = [
    ("a", "b"),
    ("a", "b", "s"),
    ("a", "c"),
    ("b", "c", "s"),
    ("b", keyed("id", "k")),
    (keyed("id", "k"), "s"),
    (keyed("c", "k"), "b"),
    ("s", (made_of("c", kind="exchanged"), list("qpqpqpqp"))),
    ("a", (made_of("b", kind="noisy"), list("12212112"))),
    ("s", (made_of("a", "b", kind="class_id"), list("uuvvwwww"))),
    ("a", (made_of("c", hidden_by=frozenset("b")), ["⊥", "⊥", "p", "q", "⊥", "⊥", "p", "q"])),
]


PAIRS = [(i, (i + 3) % len(FILES), "s" if i % 2 else "") for i in range(len(FILES))]


@pytest.mark.random(quick=4)
@pytest.mark.parametrize(("one", "other", "sensitive"), PAIRS)
def test_two_runs_tell_what_one_does(one: int, other: int, sensitive: str) -> None:
    files = [shown("one", *FILES[one]), shown("other", *FILES[other])]
    together = least(files, [], sensitive)
    apart = least([files[1]], [kept(files[0])], sensitive)
    if together is None or apart is None:
        assert together == apart
        return
    for figure, value in apart["other"].items():
        values = [each[figure] for each in together.values() if each[figure] is not None]
        worse = max if figure == "alpha" else min
        assert value == (pytest.approx(worse(values)) if values else None)


@pytest.mark.parametrize(("first", "second"), [("values", "classes"), ("classes", "values")])
def test_the_order_of_runs_makes_no_difference(first: str, second: str) -> None:
    made = {"values": (keyed("id", "k"), "s"), "classes": (keyed("id", "k"), "a", "b")}
    found = least([shown("now", *made[second])], [kept(shown("then", *made[first]))], "s")
    assert found is not None
    assert found["now"]["alpha"] == 1


@pytest.mark.parametrize(("salt", "joined"), [("", True), ("other ", False)])
def test_cells_say_whether_two_keys_are_one(salt: str, joined: bool) -> None:
    """The name of a key may be another, or the same for another key."""
    then = kept(shown("then", keyed("id", "old" if joined else "k"), "s"))
    found = least([shown("now", keyed("id", "k", salt), "a", "b")], [then], "s")
    assert (found is not None and found["now"]["alpha"] == 1) == joined


def test_people_are_found_in_any_order_and_spelling() -> None:
    order = [6, 3, 0, 5, 1, 7, 2, 4]
    source = {name: [cells[i] for i in order] for name, cells in SOURCE.items()}
    source["id"] = [str(each).upper() for each in source["id"]]
    then = kept(shown("then", "a", "c"))
    now = shown("now", "b", "c", source=source)
    assert least([now], [then]) == least([shown("now", "b", "c")], [then])


def test_rows_of_a_person_are_found_by_their_values() -> None:
    people = PeopleCount("id", 1)
    source = SOURCE | {"id": [f"i{n // 2}" for n in range(8)]}
    turned = {name: cells[::-1] for name, cells in source.items()}
    then = kept(shown("then", "a", "c", source=source))
    found = [least([shown("now", "b", "c", source=each)], [then], people=people) for each in (source, turned)]
    assert found[0] == found[1] is not None


def test_who_came_and_who_went() -> None:
    """Those who were not there yet are found among those who may have been."""
    then = kept(shown("then", "a", "c", rows=range(6)))
    found = least([shown("now", "b", "c")], [then])
    assert found is not None
    assert found["now"]["k"] == 2
    assert least([shown("now", "b", "c")], [replace(then, people=then.people + 1)]) is None


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("people", [None, PeopleCount("id", 1)])
@pytest.mark.parametrize(("then", "now"), [(range(8), range(2, 6)), (range(6), range(2, 8)), (range(2, 6), range(8))])
def test_other_people_of_earlier_files_are_there_still(then: range, now: range, people: PeopleCount | None) -> None:
    """As in one run of all people, of whom either file lacks some by chance."""

    def part(name: str, rows: range, *columns: str, whole: bool) -> Any:
        if not whole:
            return shown(name, *columns, rows=rows, left_out_at_random=[i for i in range(8) if i not in rows])
        source = {name: [cells[i] for i in rows] for name, cells in SOURCE.items()}
        return shown(name, *columns, source=source, rows=range(len(rows)))

    for first, second in ((("a", "b", "s"), ("a", "s")), (("a", "c"), ("b", "c", "s"))):
        apart = least(
            [part("now", now, *second, whole=True)], [kept(part("then", then, *first, whole=True))], "s", people=people
        )
        together = least(
            [part(n, r, *c, whole=False) for n, r, c in (("now", now, second), ("then", then, first))],
            [],
            "s",
            people=people,
        )
        assert (apart is None) == (together is None)
        for figure in ("k", "alpha") if apart and together else ():
            worse = max if figure == "alpha" else min
            assert apart["now"][figure] == pytest.approx(
                worse(f[figure] for f in together.values() if f[figure] is not None)
            )


@pytest.mark.parametrize("by_chance", [False, True])
def test_who_is_gone_is_found_by_difference(by_chance: bool) -> None:
    """But not where the later file lacks rows by chance."""
    then = kept(shown("then", "a", "s"))
    later = {name: cells[1:] for name, cells in SOURCE.items()}
    now = shown("now", "a", "s", source=later, rows=range(7))
    if by_chance:
        now = shown("now", "a", "s", rows=range(1, 8), left_out_at_random=[0])
    found = least([now], [then], "s", grouping=("a",))
    assert found is not None
    assert (found["now"]["alpha"] == 1) == (not by_chance)


@pytest.mark.parametrize("by_chance", [False, True])
def test_who_came_is_found_by_difference(by_chance: bool) -> None:
    """But not where the earlier file lacks rows by chance."""
    before = {name: cells[1:] for name, cells in SOURCE.items()}
    then = shown("then", "a", "s", source=before, rows=range(7))
    if by_chance:
        then = shown("then", "a", "s", rows=range(1, 8), left_out_at_random=[0])
    found = least([shown("now", "a", "s")], [kept(then)], "s", grouping=("a",))
    assert found is not None
    assert (found["now"]["alpha"] == 1) == (not by_chance)


def test_values_that_have_changed_restrict_nobody() -> None:
    """Somebody's cells are those that the values of today had then; without any, their own."""
    now = SOURCE | {"c": list("ppqqpqpq")}
    then = kept(shown("then", "a", "c"))
    unchanged = kept(shown("then", "a", "c", source=now))
    today = shown("now", "b", "c", source=now)
    assert least([today], [then]) == least([today], [unchanged])
    new = SOURCE | {"c": list("zqpqpqpq")}
    assert least([shown("now", "b", "c", source=new)], [then]) is not None


@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize("people", [None, PeopleCount("id", 1)])
def test_values_of_others_that_have_changed_are_taken_as_they_were(moved: bool, people: PeopleCount | None) -> None:
    """Somebody of x and 1 is alone if the other one was elsewhere then, whose own row of today fits x."""
    now = {name: cells[:6] for name, cells in SOURCE.items()} | {"a": list("xxxxyy"), "b": list("112222")}
    before = {**now, "a": list("xyxxyy")} if moved else now
    then = kept(shown("then", keyed("id", "k", source=before), "a", source=before, rows=range(6)))
    today = shown("now", keyed("id", "k", source=now), "b", "s", source=now, rows=range(6))
    found = least([today], [then], "s", people=people)
    assert found is not None
    assert found["now"]["k"] == (1 if moved else 2)


@pytest.mark.parametrize("values", ["fffgfg", "fgfgfg"])
def test_who_has_left_has_the_values_that_any_file_tells(values: str) -> None:
    """And not another one of which nobody knows what it is, as a file says that does not show it."""
    source = {name: cells[:6] for name, cells in SOURCE.items()} | {"a": list("xxxyyy"), "s": list(values)}
    then = [
        kept(shown("places", keyed("id", "k", source=source), "a", source=source, rows=range(6))),
        kept(shown("values", keyed("id", "k", source=source), "a", "s", source=source, rows=range(6))),
    ]
    later = {name: cells[1:] for name, cells in source.items()}
    now = shown("now", "b", keyed("id", "k", source=later), source=later, rows=range(5))
    found = [least([now], files, "s", grouping=("a",)) for files in (then, then[::-1], then[1:])]
    assert found[0] is not None
    assert found[0]["now"] == found[1]["now"] == pytest.approx(found[2]["now"])


@pytest.mark.parametrize("first", ["label", "place"])
def test_a_label_of_a_secret_and_of_what_another_run_shows(first: str) -> None:
    source: dict[str, list[str | None]] = SOURCE | {"a": [*"xxyyyyyy"], "c": [*"ppqqqqqq"], "s": [*"ffggffff"]}
    label = made_of("c", "s", kind="class_id"), [*"mmmmmmmm"]
    made = {"label": (label,), "place": ("a", "c")}
    then = kept(shown(first, *made.pop(first), source=source))
    ((name, columns),) = made.items()
    found = least([shown(name, *columns, source=source)], [then], "s", grouping=("a",))
    assert found is not None
    assert found[name]["alpha"] == 1


def test_an_attribute_that_the_source_has_no_more() -> None:
    then = kept(shown("then", "a", "c", "s"))
    source: Mapping[str, Any] = {name: cells for name, cells in SOURCE.items() if name != "c"}
    found = least([shown("now", "a", "b", source=source)], [then], attributes=ATTRIBUTES - {"c"})
    assert found is None or found["now"]["k"] == 2


def test_what_earlier_files_tell_of_each_other_is_no_fault_of_this_one() -> None:
    before = [kept(shown("first", "a", "c")), kept(shown("second", "b", "c"))]
    assert least([shown("now", "s")], before) is None


@pytest.mark.parametrize(
    ("order", "joined"),
    [([0, 1, 2, 3, 4, 5, 6, 7], True), ([0, 1, 2, 3, 4, 6, 5, 7], True), ([0, 4, 1, 6, 2, 5, 3, 7], False)],
    ids=["the same", "two exchanged", "another"],
)
def test_rows_in_the_order_of_the_source_are_joined(order: Sequence[int], joined: bool) -> None:
    kind = {"ordered_by": "source", "in_source_order": True}
    then = kept(shown("then", "a", "b", **kind))
    source = {name: [cells[i] for i in order] for name, cells in SOURCE.items()}
    found = least([shown("now", "s", source=source, **kind)], [then], "s")
    assert (found is not None and found["now"]["alpha"] == 1) == joined
    for one, other in (
        (then, shown("now", "s", source=source)),
        (kept(shown("then", "a", "b")), shown("now", "s", **kind)),
    ):
        found = least([other], [one], "s")
        assert found is None or found["now"]["alpha"] < 1


def test_earlier_files_in_one_order_are_joined() -> None:
    """Though that of the source is another today."""
    kind = {"ordered_by": "source", "in_source_order": True}
    then = [kept(shown("ids", keyed("id", "k"), **kind)), kept(shown("values", "s", **kind))]
    source = {name: [cells[i] for i in (0, 4, 1, 6, 2, 5, 3, 7)] for name, cells in SOURCE.items()}
    now = shown("now", keyed("id", "k", source=source), "a", "b", source=source, **kind)
    found = least([now], then, "s")
    assert found is not None
    assert found["now"]["alpha"] == 1


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("people", [None, PeopleCount("id", 1)])
@pytest.mark.parametrize("first", ["all", "some"])
@pytest.mark.parametrize(("decided", "told"), [("s", True), ("b", False)])
def test_who_is_missing_for_a_value_has_it(decided: str, told: bool, first: str, people: PeopleCount | None) -> None:
    rows = [i for i, v in enumerate(SOURCE[decided]) if v in ("f", "1")]
    made = {
        "all": shown("all", keyed("id", "k"), "a"),
        "some": shown("some", keyed("id", "k"), rows=rows, decided_by=frozenset(decided)),
    }
    then = kept(made.pop(first))
    (now,) = made.values()
    found = least([now], [then], "s", people=people)
    assert found is not None
    assert (found[now.name]["alpha"] == 1) == told


def test_the_same_rows_again_tell_nothing() -> None:
    some = {"rows": [0, 2, 4, 5], "decided_by": frozenset("s")}
    then = kept(shown("then", "a", **some))
    held = read_files([shown("now", "a", **some)], None, frozenset(), [then], Hashes(), ATTRIBUTES)
    assert len(held.files) == 1
    held = read_files([shown("now", "a")], None, frozenset(), [then], Hashes(), ATTRIBUTES)
    assert len(held.files) == 2


@pytest.mark.parametrize(
    ("column", "other"),
    [
        (
            (made_of("c", kind="noisy"), [f"{n}.5" for n in range(8)]),
            (made_of("c", kind="noisy"), [f"{n}.4" for n in range(8)]),
        ),
        ((made_of("b", "c", kind="noisy"), list("12345678")), (made_of("b", "c", kind="noisy"), list("23456781"))),
        (keyed("id", "k", "1 "), keyed("id", "k", "2 ")),
    ],
    ids=["noise", "noise of two", "key"],
)
def test_what_is_drawn_again_shows_more(column: Any, other: Any) -> None:
    first, second = kept(shown("first", "a", column)), kept(shown("second", "a", other))
    assert shows_no_more(first, kept(shown("again", "a", "b", column)))
    assert not shows_no_more(first, second)


def test_the_order_of_the_source_is_more() -> None:
    ordered, shuffled = kept(shown("one", "a", ordered_by="source", in_source_order=True)), kept(shown("other", "a"))
    assert shows_no_more(ordered, ordered)
    assert not shows_no_more(replace(ordered, columns=shuffled.columns), shuffled)


@pytest.mark.parametrize("left", [1, 2])
def test_who_was_missing_for_a_value_and_is_alone_later(left: int) -> None:
    source = SOURCE | {"s": list("fgffffff")}
    some = shown("some", keyed("id", "k"), source=source, rows=[0, *range(2, 8)], decided_by=frozenset("s"))
    later = {name: cells[1 : 1 + left] for name, cells in source.items()}
    now = shown("now", keyed("id", "k", source=later), "a", source=later, rows=range(left))
    found = least([now], [kept(some)], "s")
    assert found is not None
    assert found["now"]["alpha"] == 1


@pytest.mark.parametrize(("key", "joined"), [("12345678", True), ("87654321", False)])
def test_pseudonyms_of_two_lengths_are_joined(key: str, joined: bool) -> None:
    short, long = (
        (made_of("id", kind="keyed", key="k"), [f"{n}{own}"[:length] for n, own in enumerate([of] * 8)])
        for of, length in ((key, 8), ("1234567890", 11))
    )
    found = least([shown("now", short, "a", "b")], [kept(shown("then", long, "s"))], "s")
    assert (found is not None and found["now"]["alpha"] == 1) == joined


@pytest.mark.parametrize("respelled", [5, 8])
def test_pseudonyms_of_ids_that_are_spelled_as_before_are_joined(respelled: int) -> None:
    """Though most others' are other ones now."""
    source = SOURCE | {"id": [str(v).upper() if n < respelled else v for n, v in enumerate(SOURCE["id"])]}
    now = shown("now", keyed("id", "k", source=source), "a", "b", source=source)
    found = least([now], [kept(shown("then", keyed("id", "k"), "s"))], "s")
    assert (found is not None and found["now"]["alpha"] == 1) == (respelled < 8)


@pytest.mark.parametrize(("values", "joined"), [("pqpqpqpq", True), ("pqpqqppq", False), ("xxxxyyyy", False)], ids=str)
def test_an_attribute_that_was_renamed(values: str, joined: bool) -> None:
    """Equal values are one attribute's, under any name; so are those of the id."""
    source = {"pid" if name == "id" else name: cells for name, cells in SOURCE.items() if name != "c"}
    source |= {"d": list(values), "pid": list(SOURCE["id"])}
    then, hashing = kept(shown("then", "c", "a")), Hashes()
    hashing.subject = "pid"
    now = shown("now", "d", "b", source=source)
    held = read_files([now], None, frozenset(), [then], hashing, frozenset(source))
    assert (held.same["d"] in held.files[1].columns[0].carries) == joined


def test_an_attribute_that_the_source_lost_and_few_had_in_a_first_file() -> None:
    source = {name: cells for name, cells in SOURCE.items() if name != "c"}
    then = SOURCE | {"c": list("pqrtuvwx")}
    files = [
        shown("few", "c", source=then, rows=[0]),
        shown("values", "c", "s", source=then),
        shown("ids", "c", keyed("id", "k"), source=then),
    ]
    now = shown("now", keyed("id", "k"), "a", "b", source=source)
    for before in (files, files[1:]):
        found = least([now], list(map(kept, before)), "s", attributes=frozenset(source))
        assert found is not None
        assert found["now"]["alpha"] == 1


@pytest.mark.parametrize(("key", "joined"), [("one", True), ("none of them", False)])
def test_earlier_files_that_this_one_joins(key: str, joined: bool) -> None:
    """Classes beside one pseudonym and values beside another are joined by a file that has both."""
    one, two = keyed("id", "one", "1 "), keyed("id", "two", "2 ")
    then = [kept(shown("first", one, two)), kept(shown("second", two, "s"))]
    for before in (then, then[::-1]):
        found = least([shown("now", keyed("id", key, "1 " if joined else "3 "), "a", "b")], before, "s")
        assert (found is not None and found["now"]["alpha"] == 1) == joined


@pytest.mark.parametrize(
    ("now", "copied"),
    [
        (("a", "b", "s"), True),
        (("a", "b", "c", "s"), True),
        (("a", "b"), False),
        (("a", "b", (made_of("s"), list("hghghhgg"))), True),
        (("a", "b", (made_of("s"), list("hhhhhhhh"))), False),
        (("a", "b", (made_of("s", kind="noisy"), list("hghghhgg"))), False),
    ],
)
def test_the_same_again_tells_nothing(now: tuple[Any, ...], copied: bool) -> None:
    """Other names of the same labels are the same; fewer columns, coarser labels and noise are not."""
    files = [shown("now", *now)]
    held = read_files(files, None, frozenset(), [kept(shown("then", "a", "b", "s"))], Hashes(), ATTRIBUTES)
    assert (len(held.files) == 1) == copied
    fewer = read_files(files, None, frozenset(), [kept(shown("then", "a", rows=range(6)))], Hashes(), ATTRIBUTES)
    assert len(fewer.files) == 2


def test_a_packed_file_is_the_same() -> None:
    file = keep(shown("then", "a", keyed("id", "k"), FILES[-1][1]), Hashes())
    again = unpacked("then", file.packed())
    assert again.packed() == file.packed()
    assert [c.name for c in again.columns] == [c.name for c in file.columns]
    with pytest.raises(ValueError, match=r"."):
        unpacked("then", b"no file")
