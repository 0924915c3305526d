"""Homogeneity and background knowledge where people are counted, against plain Python from the definitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.registry import load

CELL = st.sampled_from(["a", "b", "⊥", None])
ROW = st.tuples(CELL, st.sampled_from(["x", "y", "z", None, "⊥"]))
PEOPLE = st.lists(st.lists(ROW, min_size=1, max_size=20), min_size=1, max_size=6)
FEW = st.lists(st.lists(ROW, min_size=1, max_size=3), min_size=1, max_size=8)
ONE = PeopleCount("who", 1)


def case_of(build, rows, people=ONE, **more):
    table = {n: [r[i] for r in rows] for i, n in enumerate(("who", "p", "s"))}
    return build.case(table, {n: table[n] for n in "ps"}, "uqs", **more).but(people=people)


def by_links(rows, known):
    """Return who is found by linked rows, and the highest share: here only the sensitive cells may link them."""
    if len(rows) == len({r[0] for r in rows}):
        return set(), 0.0
    held, told = defaultdict(Counter), defaultdict(list)
    for row in rows:
        same = [r for r in rows if r[2] == row[2]]
        if row[2] is not None and len(same) > 1 and len({r[0] for r in same}) == 1:
            held[row[0]][row[1]] += 1
            told[row[0]].append(row[2])
    groups = []
    if known is None:
        profiles = defaultdict(set)
        for who, own in held.items():
            profiles[frozenset(own.items())].add(who)
        groups = list(profiles.values())
    else:
        for own in held.values():
            every = {
                frozenset(Counter(some).items())
                for size in range(1, known + 1)
                for some in combinations(sorted(own.elements(), key=str), size)
            }
            groups += [{w for w, c in held.items() if all(c[k] >= n for k, n in some)} for some in every]
    found, worst = set(), 0.0
    for people in groups:
        values = [v for who in people for v in told[who]]
        for value in {v for v in values if shown(v)}:
            share = sum(value in told[who] for who in people) / len(people)
            worst = max(worst, share, values.count(value) / len(values))
            found |= people if share == 1 else set()
    return found, worst


def audit(name, **params):
    spec = load("audits", name)
    return spec.load()(spec.params(**params))


def figures(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def known(outcome):
    return {n: -1.0 if value is None else value for n, value in figures(outcome).items()}


def shown(value):
    return value not in (None, "⊥")


def judged(rows, excluded):
    """Return who is found, the certain classes and the worst share; values that most people have are ruled out."""
    classes, found, sure, worst = defaultdict(list), set(), 0, None
    for row in rows:
        classes[row[1]].append(row)
    for members in classes.values():
        holders = {v: {r[0] for r in members if r[2] == v} for v in {r[2] for r in members if shown(r[2])}}
        many = Counter(r[2] for r in members)
        order = sorted(holders, key=lambda v: (-len(holders[v]), v))
        for value in holders:
            for number in range(excluded + 1):
                out = [v for v in order if v != value][:number]
                left = {r[0] for r in members if r[2] not in out}
                share = len(holders[value]) / len(left)
                by_rows = [v for v, _ in many.most_common() if v != value and shown(v)][:number]
                of_rows = many[value] / sum(n for v, n in many.items() if v not in by_rows)
                worst = max(worst or 0, share, of_rows)
                if share == 1:
                    found |= {who for who in left if not any(who in holders[v] for v in out)}
                    sure += number == 0
        sure -= max(0, sum(len(h) == len({r[0] for r in members}) for h in holders.values()) - 1)
    return found, sure, worst


def by_any_knowledge(rows, excluded):
    """Return who has a value that is certain by ruling out any set of others at most."""
    classes, found = defaultdict(list), set()
    for row in rows:
        classes[row[1]].append(row)
    for members in classes.values():
        values = {r[2] for r in members if shown(r[2])}
        for value in values:
            for number in range(excluded + 1):
                for out in combinations(sorted(values - {value}), number):
                    left = {r[0] for r in members if r[2] not in out}
                    if all(any(r[0] == who and r[2] == value for r in members) for who in left):
                        found |= {who for who in left if not any(r[0] == who and r[2] in out for r in members)}
    return found


@pytest.mark.slow
@examples(30)
@given(st.one_of(PEOPLE, FEW), st.integers(0, 3), st.sampled_from(list(Nulls)), st.sampled_from([1, 2, 3, None]))
def test_against_the_definitions(build, agree, people, excluded, nulls, known):
    rows = [(f"person {i}", *row) for i, own in enumerate(people) for row in own]
    case = case_of(build, rows, PeopleCount("who", known), nulls=nulls)
    found, sure, worst = judged(rows, excluded)
    assert found <= by_any_knowledge(rows, excluded)
    linked, share = by_links(rows, known)
    found, worst = found | linked, worst if worst is None else max(worst, share)
    told = agree(audit("background_knowledge", excludes=excluded), case, 0)
    assert told["certain"] == pytest.approx(len(found) / len(people))
    assert told["worst_posterior"] == (None if worst is None else pytest.approx(worst))
    nothing, sure, _ = judged(rows, 0)
    nothing |= linked
    assert told["certain_uninformed"] == pytest.approx(len(nothing) / len(people))
    alike = agree(audit("homogeneity"), case, 1)
    assert (alike["certain_rows"], alike["certain_classes"]) == (len(nothing), sure)
    assert alike["certain"] == pytest.approx(len(nothing) / len(people))


@examples(25)
@given(st.lists(ROW, min_size=1, max_size=20), st.integers(0, 3))
def test_one_row_a_person_is_rows(build, rows, excluded):
    table = [(f"person {i}", *row) for i, row in enumerate(rows)]
    targets = {"bob": {"known": {"p": "a"}, "never": {"s": ["x"]}}}
    for one in (
        audit("homogeneity", targets=targets),
        audit("background_knowledge", excludes=excluded, targets=targets),
    ):
        people, plain = (one.measure(*case_of(build, table, p).args) for p in (ONE, None))
        assert known(people) == pytest.approx(known(plain), rel=1e-9)
        assert len(people.findings) == len(plain.findings)
        bars = [[y for c in o.charts for s in c.series for y in s.y] for o in (people, plain)]
        assert bars[0] == pytest.approx(bars[1], rel=1e-9)


def test_what_chance_would_do(build):
    """Ann has two rows and is alone in a class; Bob and Cyd have one each, with half the values x.

    Ann has some value; if Bob has one, one of the three others is like it.
    """
    rows = [("ann", "a", "x"), ("ann", "a", "y"), ("bob", "b", "x"), ("cyd", "b", "y")]
    found = figures(audit("homogeneity").measure(*case_of(build, rows).args))
    assert found["by_chance"] == pytest.approx(mean([1.0, 1 / 3, 1 / 3]))


def test_a_value_that_everybody_has_is_certain(build):
    """No class has rows of one value; all people of one have been there for x."""
    rows = [(f"person {i}", "a", v) for i in range(4) for v in ("x", f"v{i}")]
    found = audit("homogeneity", targets={"bob": {"known": {"p": "a"}}}).measure(*case_of(build, rows).args)
    assert figures(found)["certain"] == 1.0
    assert (figures(found)["target.bob.s.rows"], figures(found)["target.bob.s.values"]) == (4, 1)
    assert [f.code for f in found.findings] == ["PPF892", "PPF892"]
    assert "4 of 4 people" in found.findings[0].text
    mirror = [(f"visit {i}", *r[1:]) for i, r in enumerate(rows)]
    assert figures(audit("homogeneity").measure(*case_of(build, mirror).args))["certain"] == 0.0


def test_many_rows_of_one_person_are_one_found(build):
    """Nine visits of Ann and one of each of nine others: one person of ten is found, not nine rows of eighteen."""
    rows = [("ann", "a", "x")] * 9 + [(f"person {i}", "b", "xyz"[i % 3]) for i in range(9)]
    found = audit("homogeneity").measure(*case_of(build, rows).args)
    assert figures(found)["certain"] == pytest.approx(0.1)
    assert found.figures["certain_rows"].unit == "people"


@pytest.mark.parametrize("name", ["homogeneity", "background_knowledge"])
def test_rows_whose_people_nobody_knows_have_no_figures(build, name):
    case = case_of(build, [("ann", "a", "x")] * 3, paired=False)
    found = audit(name, targets={"bob": {"known": {"p": "a"}}}).measure(*case.args)
    assert {f.value for f in found.figures.values()} == {None}
    assert not found.findings


def test_two_visits_tell_the_illness_where_rows_are_linked(build):
    """Each class has three illnesses; who went to a and b is one person only, and a column shows whose the rows are."""
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    rows = [(f"person {i}", p, "xyz"[i], f"file {i}") for i, own in enumerate(pairs) for p in own]
    table = {n: [r[i] for r in rows] for i, n in enumerate(("who", "p", "s", "file"))}
    for known, people in ((1, 0), (2, 3)):
        case = build.case(table, {n: table[n] for n in ("p", "s", "file")}, "uqsx").but(
            people=PeopleCount("who", known)
        )
        outcome = audit("homogeneity").measure(*case.args)
        assert outcome.figures["certain_rows"].value == people
        assert bool(outcome.findings) == bool(people)
    one_file = {**table, "s": list("xyyxxy"), "file": ["f"] * 6}
    mirror = build.case(one_file, {n: one_file[n] for n in ("p", "s", "file")}, "uqsx").but(
        people=PeopleCount("who", 2)
    )
    assert audit("homogeneity").measure(*mirror.args).figures["certain_rows"].unit == "people"


def test_too_many_combinations_have_no_figure(build, monkeypatch):
    monkeypatch.setattr("ppdm_flow.mining.people.known_rows.MOST_COMBINATIONS", 3)
    rows = [(f"person {i}", p, f"v{i}") for i in range(3) for p in "abcd"]
    case = case_of(build, rows, PeopleCount("who", 2))
    for name in ("homogeneity", "background_knowledge"):
        figure = audit(name).measure(*case.args).figures["certain"]
        assert figure.value is None
        assert figure.note == "what linked rows of people tell together is not counted"
