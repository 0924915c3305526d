"""Similarity where people are counted, against plain Python from the definition."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.sdk.registry import load

LEVELS = {"ulcer": ("stomach", "ill"), "cancer": ("stomach", "ill"), "flu": ("lungs", "ill"), "burn": ("skin", "ill")}
VALUE = st.sampled_from([*LEVELS, None, "⊥"])
ROW = st.tuples(st.sampled_from("xy"), VALUE)
PEOPLE = st.lists(st.lists(ROW, min_size=1, max_size=20), min_size=1, max_size=4)
FEW = st.lists(st.lists(ROW, min_size=1, max_size=3), min_size=1, max_size=6)


def measured(build, rows, people=PeopleCount("who", 1), **more):  # noqa: B008  # it is frozen
    table = {n: [r[i] for r in rows] for i, n in enumerate(("who", "p", "s"))}
    case = build.case(table, {n: table[n] for n in "ps"}, "uqs", **more).but(people=people)
    own = HierarchySpec(levels=tuple(LEVELS.items()))
    facts = dict(case.ctx.attributes) | {"s": AttributeFacts("s", Role.SENSITIVE, hierarchy=own, source="s")}
    spec = load("audits", "similarity")
    return spec.load()(spec.params()).measure(*case.but(attributes=facts).args)


def kind(value):
    return LEVELS[value][0] if value in LEVELS else None


@examples(36)
@given(st.one_of(PEOPLE, FEW), st.sampled_from(list(Nulls)))
def test_against_the_definition(build, people, nulls):
    rows = [(f"person {i}", *row) for i, own in enumerate(people) for row in own]
    classes, found, number = defaultdict(list), set(), 0
    for row in rows:
        classes[row[1]].append(row)
    for members in classes.values():
        whom = {r[0] for r in members}
        kinds = {kind(r[2]) for r in members} - {None}
        if any({r[0] for r in members if kind(r[2]) == k} == whom for k in kinds):
            found |= whom
            number += 1
    figures = {n: f.value for n, f in measured(build, rows, nulls=nulls).figures.items()}
    if figures["similar"] is None:  # all values that occur are of one kind, or there are none
        return
    assert (figures["similar_rows"], figures["similar_classes"]) == (len(found), number)
    assert figures["similar"] == pytest.approx(len(found) / len(people))


@examples(20)
@given(st.lists(ROW, min_size=1, max_size=20))
def test_one_row_a_person_is_rows(build, rows):
    table = [(f"person {i}", *row) for i, row in enumerate(rows)]
    people, plain = (measured(build, table, p) for p in (PeopleCount("who", 1), None))
    for name, figure in plain.figures.items():
        assert people.figures[name].value == (None if figure.value is None else pytest.approx(figure.value, rel=1e-9))
    assert len(people.findings) == len(plain.findings)


def test_everybody_was_there_for_the_stomach(build):
    rows = [(f"person {i}", "x", v) for i in range(4) for v in (("ulcer", "cancer")[i % 2], "flu")]
    rows[1] = ("person 0", "x", "burn")
    found = measured(build, rows)
    assert found.figures["similar"].value == 1.0
    assert found.figures["similar_rows"].unit == "people"
    assert "4 of 4 people" in found.findings[0].text
    assert measured(build, [(f"visit {i}", *r[1:]) for i, r in enumerate(rows)]).figures["similar"].value == 0
