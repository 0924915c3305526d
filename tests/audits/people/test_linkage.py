"""Linkage where people are counted, against plain Python from the definitions."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.registry import load

ONE = PeopleCount("who", 1)
VALUES = {"q": ["1", "2", "3"], "s": ["x", "y", "z", None]}
LABELS = {"1": {"1"}, "2": {"2"}, "3": {"3"}, "1-2": {"1", "2"}, "*": {"1", "2", "3"}, "⊥": {"1", "2", "3"}}
ROW = st.tuples(
    st.sampled_from(VALUES["q"]),
    st.sampled_from(list(LABELS)),
    st.sampled_from(["a", "b"]),
    st.sampled_from(VALUES["s"]),
)
"""Of each row: the number, the label that is released for it, a letter, and a sensitive value."""
PEOPLE = st.lists(st.lists(ROW, min_size=1, max_size=20), min_size=1, max_size=5)
FEW = st.lists(st.lists(ROW, min_size=1, max_size=3), min_size=1, max_size=7)


def case_of(build, rows, people=ONE, **more):
    before = {
        "who": [r[0] for r in rows],
        "n": [r[1] for r in rows],
        "p": [r[3] for r in rows],
        "s": [r[4] for r in rows],
    }
    after = {"n": [r[2] for r in rows], "p": before["p"], "s": before["s"]}
    changes = {"n": (("coarsen", Change.GENERALIZED),)}
    return build.case(before, after, "uqqs", changes=changes, **more).but(people=people)


def measured(case, **params):
    spec = load("audits", "linkage")
    return spec.load()(spec.params(**params)).measure(*case.args)


def figures(outcome):
    return {n: -1.0 if f.value is None else f.value for n, f in outcome.figures.items()}


def whom(rows, row):
    """Return the released rows that may be this one's."""
    return [r for r in rows if row[1] in LABELS[r[2]] and row[3] == r[3]]


def everybodys(rows):
    """Return the first value that everybody of each class has; a class of one value has that."""
    classes, found = defaultdict(list), {}
    for row in rows:
        classes[row[2:4]].append(row)
    for label, members in classes.items():
        people = {r[0] for r in members}
        values = sorted(
            v for v in {r[4] for r in members} if v is not None and {r[0] for r in members if r[4] == v} == people
        )
        found[label] = values[0] if values else None
    return found


@examples(45)
@given(st.one_of(PEOPLE, FEW), st.sampled_from(list(Nulls)))
def test_against_the_definitions(build, people, nulls):
    rows = [(f"person {i}", *row) for i, own in enumerate(people) for row in own]
    found = figures(measured(case_of(build, rows, nulls=nulls), sample=0))
    sure = everybodys(rows)
    matched, linked, right, learned = set(), set(), set(), set()
    for row in rows:
        fit = whom(rows, row)
        matched |= {row[0]} if fit else set()
        if len({r[0] for r in fit}) == 1:
            linked.add(row[0])
            right |= {row[0]} if fit[0][0] == row[0] else set()
        values = {sure[r[2:4]] for r in fit}
        learned |= {row[0]} if len(values) == 1 and None not in values else set()
    number = len(people)
    assert found["matched"] == pytest.approx(len(matched) / number)
    assert (found["linked"], found["linked_share"]) == (len(linked), pytest.approx(len(linked) / number))
    assert found["learned"] == pytest.approx(len(learned) / number)
    assert found["guessing"] == pytest.approx(1 / number)
    assert found["precision"] == (pytest.approx(len(right) / len(linked)) if linked else -1)
    assert found["recall"] == pytest.approx(len(right) / number)


@examples(30)
@given(st.lists(ROW, min_size=1, max_size=25), st.sampled_from([0, 2000]))
def test_one_row_a_person_is_rows(build, rows, sample):
    table = [(f"person {i}", *row) for i, row in enumerate(rows)]
    people, plain = (measured(case_of(build, table, p), sample=sample) for p in (ONE, None))
    assert figures(people) == pytest.approx(figures(plain), rel=1e-12)
    assert [f.interval for f in people.figures.values()] == [f.interval for f in plain.figures.values()]
    assert len(people.findings) == len(plain.findings)
    assert people.charts[0].series[0].y == pytest.approx(plain.charts[0].series[0].y)


@examples(20)
@given(FEW)
def test_the_nearest_rows_of_one_person(build, people):
    """Labels as they are: the nearest rows are those with the fewest different cells."""
    rows = [(f"person {i}", n, n, p, "x") for i, own in enumerate(people) for n, _, p, _ in own]
    case = case_of(build, rows)
    found = figures(measured(case))
    claims = {r[0] for r in rows if len({o[0] for o in rows if o[1:4] == r[1:4]}) == 1}
    assert found["nearest_recall"] == pytest.approx(len(claims) / len(people))
    assert found["nearest_precision"] == (1.0 if claims else -1)


def test_rows_that_look_alike_are_no_crowd_where_they_are_one_persons(build):
    alone = [(f"guest {i}", "12"[i % 2], "12"[i % 2], "abcd"[i // 2], "x") for i in range(8) for _ in range(5)]
    rows = alone + [(f"person {i}", "3", "3", "a", "xy"[i % 2]) for i in range(8)]
    found = measured(case_of(build, rows))
    assert (figures(found)["linked"], figures(found)["precision"]) == (8, 1.0)
    assert figures(found)["recall"] == pytest.approx(1 / 2)
    assert "released rows of one person only for 8 of 16 people" in found.findings[0].text
    mirror = [(f"visit {i}", *r[1:]) for i, r in enumerate(rows)]
    assert figures(measured(case_of(build, mirror)))["linked"] == 0


@pytest.mark.parametrize("truth", ["who", None])
def test_several_lines_of_a_file_are_one_person(build, tmp_path, truth):
    lines = ["name,n,p", "ann,1,a", "ann,2,a", "bob,2,a", "zoe,3,b"]
    (tmp_path / "known.csv").write_text("\n".join(lines) + "\n")
    rows = [
        ("ann", "1", "1", "a", "x"),
        ("ann", "2", "2", "a", "y"),
        ("bob", "2", "2", "a", "x"),
        ("cyd", "3", "3", "b", "y"),
    ]
    params = {"external": "known.csv", "identity": "name"} | ({"truth": truth} if truth else {})
    found = figures(measured(case_of(build, rows, home=tmp_path), **params))
    assert (found["linked"], found["linked_share"]) == (2, pytest.approx(2 / 3))
    assert found["precision"] == (0.5 if truth else -1)
    assert found["recall"] == (0.5 if truth else -1)


def test_a_value_that_everybody_has_is_learned(build):
    rows = [(f"person {i}", "1", "1", "a", v) for i in range(3) for v in ("x", f"v{i}")]
    assert figures(measured(case_of(build, rows)))["learned"] == 1.0


def test_many_people_are_sampled_by_person(build, monkeypatch):
    monkeypatch.setattr("ppdm_flow.audits.labels.joining.LOOKS", 10)
    monkeypatch.setattr("ppdm_flow.audits.labels.joining.FEWEST", 20)
    rows = [(f"person {i:03}", str(i), str(i), "a", "x") for i in range(100) for _ in range(4)]
    outcome = measured(case_of(build, rows), sample=0)
    figure = outcome.figures["linked_share"]
    assert figure.value == 1.0
    assert figure.sample is not None
    assert 5 <= figure.sample < 100


def test_rows_whose_people_nobody_knows_have_no_figures(build):
    found = measured(case_of(build, [("ann", "1", "1", "a", "x")] * 3, paired=False))
    assert {f.value for f in found.figures.values()} == {None}
    assert not found.findings
