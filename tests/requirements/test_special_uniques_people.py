"""Special uniques where people are counted: several rows of one person are no crowd."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.requirements.special_uniques.requirement import FewUniques
from ppdm_flow.sdk.registry import load

SPEC = load("audits", "special_uniques")
AUDIT = SPEC.load()(SPEC.params())
ID = "privacy.special_uniques"


def few(size, attributes=("p", "q", "r")):
    return FewUniques.of(ID, size=size, max_share=0.5, attributes=attributes)


def linked(rows, further):
    """The places of rows that a pseudonym links, or a further column, alone or with all others together."""
    every = set()
    columns = [[row[c] for row in further] for c in range(len(further[0]))] if further and further[0] else []
    repeating = [cells for cells in columns if len(set(cells)) < len(cells)]
    sets = [list(some) for many in range(1, len(repeating) + 1) for some in combinations(repeating, many)]
    for some in sets:
        keys = list(zip(*some, strict=True))
        for key in set(keys):
            places = [i for i, each in enumerate(keys) if each == key and any(cell is not None for cell in key)]
            if len(places) > 1 and len({rows[i][0] for i in places}) == 1:
                every |= set(places)
    return every


def singled_out(rows, links, size, nulls):
    """The people of whom some row has, in some set of at most `size` columns, the values of nobody else's."""

    def fits(other, one, chosen):
        return all(other[i] == one[i] or (nulls is Nulls.WILDCARD and other[i] is None) for i in chosen)

    found = set()
    for chosen in (c for many in range(1, size + 1) for c in combinations(range(1, len(rows[0])), many)):
        known = [i for i, r in enumerate(rows) if nulls is not Nulls.EXCLUDE or all(r[c] is not None for c in chosen)]
        for one in known:
            among = [known, *([[i for i in known if i in links]] if one in links else [])]
            for some in among:
                if {rows[i][0] for i in some if fits(rows[i], rows[one], chosen)} == {rows[one][0]}:
                    found.add(rows[one][0])
    return found


def drawn(draw: Random, people: int, most: int):
    cells = ["a", "b", "c", *([None] if draw.random() < 0.6 else [])]
    return [
        (f"{person}", *(draw.choice(cells) for _ in range(3)))
        for person in range(people)
        for _ in range(draw.randint(1, most))
    ]


def case_of(build, rows, size, nulls, known, further=(), pseudonym=False):
    table = {n: [row[i] for row in rows] for i, n in enumerate(("id", "p", "q", "r"))}
    table |= {f"f{i}": [row[i] for row in further] for i in range(len(further[0]) if further else 0)}
    released = {n: cells for n, cells in table.items() if n != "id"}
    released |= {"name": [f"x{row[0]}" for row in rows]} if pseudonym else {}
    roles = "uqqq" + "x" * (len(table) - 4)
    return build.case(
        table,
        released,
        roles,
        sources={"name": "id"} if pseudonym else None,
        nulls=nulls,
        requirements=(few(size),),
        people=PeopleCount.of("id", known),
    )


@pytest.mark.slow(quick=9)
@pytest.mark.parametrize("seed", range(120))
def test_both_routes_find_whom_brute_force_finds(seed, build, agree):
    draw = Random(seed)
    rows = drawn(draw, draw.randint(1, 7), draw.choice([1, 3, 5]))
    nulls, size = draw.choice(list(Nulls)), draw.randint(1, 3)
    further = [(draw.choice("12345678"),) for _ in rows] if draw.random() < 0.3 else []
    links = linked(rows, further)
    case = case_of(build, rows, size, nulls, "1", further)
    people = {row[0] for row in rows}
    if links and nulls is Nulls.WILDCARD:
        assert not AUDIT.measure(*case.args).measured[0].verifiable
        return
    figures = agree(AUDIT, case, least=2)
    found = singled_out(rows, links, size, nulls)
    assert figures[f"{ID}.rows"] == len(found)
    assert figures[f"{ID}.share"] == pytest.approx(len(found) / len(people))
    sizes = [len(singled_out(rows, links, s, nulls)) for s in range(1, size + 1)]
    assert [figures[f"{ID}.rows_{s}"] for s in range(1, size + 1)] == sizes


@pytest.mark.slow(quick=4)
@pytest.mark.parametrize("seed", range(60))
def test_with_one_row_a_person_people_are_rows(seed, build, agree):
    draw = Random(seed)
    rows = drawn(draw, draw.randint(1, 12), 1)
    nulls, size, known = draw.choice(list(Nulls)), draw.randint(1, 3), draw.choice(["1", "2", "all"])
    of_people = agree(AUDIT, case_of(build, rows, size, nulls, known))
    table = {n: [row[i + 1] for row in rows] for i, n in enumerate("pqr")}
    of_rows = agree(AUDIT, build.case(table, table, "qqq", nulls=nulls, requirements=(few(size),)))
    assert of_people == of_rows
    given = {"id": [row[0] for row in rows], **table}
    cases = (build.case(given, table, "uqqq", nulls=nulls, people=PeopleCount.of("id", known)),)
    cases += (build.case(table, table, "qqq", nulls=nulls),)
    one, other = ({n: f.value for n, f in AUDIT.measure(*each.args).figures.items()} for each in cases)
    assert one == pytest.approx(other)


def test_rows_of_one_person_are_no_crowd(build, agree):
    """Three rows are alike, and one person's; with a row of somebody else among them nobody is singled out."""
    rows = [("1", "a", "x", "m"), ("1", "a", "x", "m"), ("2", "b", "x", "m"), ("3", "b", "x", "m")]
    assert agree(AUDIT, case_of(build, rows, 2, Nulls.OWN_CATEGORY, "1"))[f"{ID}.share"] == pytest.approx(1 / 3)
    hidden = [*rows, ("2", "a", "x", "m")]
    assert agree(AUDIT, case_of(build, hidden, 2, Nulls.OWN_CATEGORY, "1"))[f"{ID}.share"] == 0


def test_several_known_rows_that_are_linked_are_not_counted(build):
    rows = [("1", "a", "x", "m"), ("1", "b", "x", "m"), ("2", "a", "x", "m"), ("3", "b", "x", "m")]
    for known, verifiable in (("1", True), ("2", False), ("all", False)):
        case = case_of(build, rows, 1, Nulls.OWN_CATEGORY, known, pseudonym=True)
        outcome = AUDIT.measure(*case.args)
        assert outcome.measured[0].verifiable == verifiable
        assert (f"{ID}.share" in AUDIT.recheck(*case.args)) == verifiable
        unlinked = AUDIT.measure(*case_of(build, rows, 1, Nulls.OWN_CATEGORY, known).args)
        assert unlinked.measured[0].verifiable


def test_a_linked_row_is_looked_at_among_linked_ones(build, agree):
    """Person 1 is seen to have two rows; who shares its values has rows that nobody links."""
    rows = [("1", "a", "x", "m"), ("1", "b", "x", "m"), ("2", "a", "x", "m"), ("3", "b", "x", "m")]
    seen = [("7",), ("7",), ("8",), ("9",)]
    assert agree(AUDIT, case_of(build, rows, 1, Nulls.OWN_CATEGORY, "1", seen))[f"{ID}.rows"] == 1
    anybody = [("7",), ("7",), ("7",), ("9",)]
    assert agree(AUDIT, case_of(build, rows, 1, Nulls.OWN_CATEGORY, "1", anybody))[f"{ID}.rows"] == 0


def test_the_plain_audit_counts_people_too(build):
    rows = [("1", "a", "x", "m"), ("1", "a", "x", "m"), ("2", "b", "x", "m"), ("3", "b", "x", "m")]
    table = {n: [row[i] for row in rows] for i, n in enumerate(("id", "p", "q", "r"))}
    released = {n: table[n] for n in "pqr"}
    case = build.case(table, released, "uqqq", people=PeopleCount.of("id", "1"))
    figures = AUDIT.measure(*case.args).figures
    assert figures["rows"].value == 1
    assert figures["rows"].unit == "people"
    assert figures["share"].value == pytest.approx(1 / 3)
    assert figures["dis"].value == pytest.approx(0.01 / (0.01 + 0.99 * 2))


def test_without_a_pairing_nothing_is_said(build):
    table = {"id": ["1", "2"], "p": ["a", "b"]}
    case = build.case(
        table, {"p": table["p"]}, "uq", paired=False, requirements=(few(1, ("p",)),), people=PeopleCount.of("id", "1")
    )
    assert not AUDIT.measure(*case.args).measured[0].verifiable
    assert not AUDIT.recheck(*case.args)
