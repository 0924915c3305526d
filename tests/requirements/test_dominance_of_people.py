"""Totals of people with several rows: a person is one contributor, by both routes, against plain fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.class_people.seen import ClassPeople, PersonalClasses
from ppdm_flow.requirements.dominance.algorithm import UndominatedClass
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.sdk.registry import load

QUICK = examples(12)
SPEC = load("audits", "dominance")
AUDIT = SPEC.load()(SPEC.params())
RULES = ("share", "margin", "contributors")
NUMBERS = st.sampled_from([None, "0", "1", "-2", "3", "0.1", "40", "1e-300"])
ROWS = st.lists(
    st.tuples(st.sampled_from("12345"), st.sampled_from(["a", "b", None]), NUMBERS, st.sampled_from("mno")),
    min_size=1,
    max_size=14,
)
"""Of each row: the person, a grouping cell, a number, and a cell of one more column."""


def rule(**fields):
    return Dominance.of("d", "s", **{"attributes": ("p",), "n": 1, "q": 100.0, **fields})


def case_of(build, rows, requirement, *, known=1, names=("p", "s", "x"), pseudonym=False, nulls=Nulls.OWN_CATEGORY):
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "s", "x"))}
    released = {n: before[n] for n in names} | ({"key": [f"k{r[0]}" for r in rows]} if pseudonym else {})
    people = PeopleCount("person", known)
    more = {"sources": {"key": "person"}} if pseudonym else {}
    return build.case(before, released, "uqsx", requirements=(requirement,), people=people, nulls=nulls, **more)


def both(example):
    """The figures, in which the routes do not differ in the last bit; none where nothing can be said."""
    outcome, again = AUDIT.measure(*example.args), AUDIT.recheck(*example.args)
    assert set(again) == {n for n in outcome.figures if not n.endswith("rows_left_out")}
    assert again == {n: outcome.figures[n].value for n in again}
    return outcome, {n.removeprefix("d."): f.value for n, f in outcome.figures.items()}


def plain(rows, n=1, q=100):
    """Share, margin and contributors of rows, each person's numbers added up; None without a total."""
    sums = defaultdict(Fraction)
    for row in rows:
        sums[row[0]] += abs(Fraction(row[2] or "0"))
    falling = sorted((v for v in sums.values() if v), reverse=True)
    if not falling:
        return None
    return sum(falling[:n]) / sum(falling), q * sum(falling[2:]) / falling[0], len(falling)


def worst(groups, **fields):
    own = [f for f in (plain(g, **fields) for g in groups) if f]
    if not own:
        return [None] * 3
    shares, margins, many = zip(*own, strict=True)
    return [float(max(shares)), float(min(margins)), min(many)]


def classes(rows, nulls):
    if nulls is Nulls.EXCLUDE:
        rows = [r for r in rows if r[1] is not None]
    if nulls is Nulls.WILDCARD:
        return [[r for r in rows if r[1] is None or c == r[1]] for c in {r[1] for r in rows}]
    return [[r for r in rows if r[1] == c] for c in {r[1] for r in rows}]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("nulls", list(Nulls))
@QUICK
@given(rows=ROWS, n=st.integers(1, 3))
def test_a_person_is_one_contributor(build, nulls, rows, n):
    """Nothing links rows: all have a number of their own beside them, and the number is judged as it was."""
    requirement = rule(n=n, share=0.9, p=1.0, contributors=2)
    outcome, found = both(case_of(build, rows, requirement, names=("p", "s"), nulls=nulls))
    if nulls is Nulls.WILDCARD and linked(rows, (2,)):
        assert not any(m.verifiable for m in outcome.measured)
        return
    each = classes(rows, nulls)
    assert found["groups"] == len(each)
    expected = worst(each, n=n)
    if expected[0] is None:
        assert [found[name] for name in RULES] == expected
    else:
        assert [found[name] for name in RULES] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def linked(rows, columns):
    """Return the places of rows whose cell of one column, or of all of these, is that of several rows of one person."""
    found = set()
    repeating = [c for c in columns if max(Counter(r[c] for r in rows).values()) > 1]
    for some in [*((c,) for c in columns), *([tuple(repeating)] if repeating else [])]:
        places_of = defaultdict(list)
        for place, row in enumerate(rows):
            places_of[tuple(row[c] for c in some)].append(place)
        for cells, places in places_of.items():
            alone = any(c is not None for c in cells)
            if alone and len(places) > 1 and len({rows[i][0] for i in places}) == 1:
                found |= set(places)
    return found


def groups_of_linked(rows, links, known):
    """Yield the linked rows of the people that are left, for everything that somebody may know of one of them."""
    profile = defaultdict(Counter)
    for place in links:
        profile[rows[place][0]][rows[place][1]] += 1
    for person in profile:
        own = list(profile[person].elements())
        sizes = [len(own)] if known is None else range(1, min(known, len(own)) + 1)
        for told in (Counter(some) for size in sizes for some in combinations(own, size)):
            left = {p for p, had in profile.items() if (had == told if known is None else told <= had)}
            yield [rows[i] for i in links if rows[i][0] in left]


@pytest.mark.slow
@pytest.mark.parametrize("known", [1, 2, 3, None])
@QUICK
@given(rows=ROWS, pseudonym=st.booleans())
def test_linked_people(build, known, rows, pseudonym):
    links = set(range(len(rows))) if pseudonym else linked(rows, (2, 3))
    requirement = rule(n=2, share=0.9, p=1.0, contributors=2)
    _, found = both(case_of(build, rows, requirement, known=known, pseudonym=pseudonym))
    expected = worst(groups_of_linked(rows, links, known), n=2)
    own = [found.get(f"known_rows_{name}") for name in RULES]
    assert own == (expected if expected[0] is None else pytest.approx(expected, rel=1e-12, abs=1e-12))


@pytest.mark.slow
@QUICK
@given(rows=st.lists(st.tuples(st.sampled_from("ab"), NUMBERS), min_size=1, max_size=14))
def test_one_row_a_person_is_as_rows(build, rows):
    table = [(str(i), *row, "m") for i, row in enumerate(rows)]
    _, found = both(case_of(build, table, rule(share=0.5), names=("p", "s")))
    before = {n: [r[i] for r in table] for i, n in enumerate(("person", "p", "s"))}
    alone = build.case(before, {n: before[n] for n in "ps"}, "iqs", requirements=(rule(share=0.5),))
    outcome = AUDIT.measure(*alone.args)
    assert {n.removeprefix("d."): f.value for n, f in outcome.figures.items()} == found


def test_many_rows_of_one_employer_are_one_contributor(build):
    """Five sites of one firm and one of another: by rows nobody dominates."""
    rows = [("1", "a", "10", "m")] * 5 + [("2", "a", "10", "m")]
    _, found = both(case_of(build, rows, rule(share=0.5, p=10.0, contributors=3)))
    assert [found[name] for name in RULES] == [pytest.approx(5 / 6), 0.0, 2]


@QUICK
@given(rows=ROWS, n=st.integers(1, 2), parts=st.integers(2, 3))
def test_classes_of_a_step_are_judged_as_the_audit_judges(rows, n, parts):
    """And what classes keep, their union keeps, where people have rows in both."""
    rows = sorted(rows, key=lambda r: r[0])
    requirement = rule(n=n, share=0.75, p=30.0, contributors=2)
    names = sorted({r[2] or "0" for r in rows})
    numbers = np.array([abs(float(v)) for v in names])
    persons = np.array([int(r[0]) for r in rows])
    values = np.array([names.index(r[2] or "0") for r in rows], dtype=np.int32)
    people = ClassPeople(persons, np.ones(len(rows), dtype=np.int64), (values,), (len(names),))
    model = UndominatedClass(0, requirement, numbers)
    ids = np.arange(len(rows)) % parts
    kept = people.keeps(PersonalClasses.of(ids, parts, persons), [model])[: min(parts, len(rows))]
    whole = people.keeps(PersonalClasses.of(ids * 0, 1, persons), [model])

    def keeps(some):
        figures = plain(some, n=n)
        return figures is None or (figures[0] <= 0.75 and figures[1] >= 30 and figures[2] >= 2)

    assert kept.tolist() == [keeps(rows[i::parts]) for i in range(len(kept))]
    assert whole.tolist() == [keeps(rows)]
    assert whole[0] or not kept.all()
