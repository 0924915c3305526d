"""Sizes of classes and risks of re-identification where people are counted, against plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.class_sizes.algorithm import ClassSizesAudit
from ppdm_flow.audits.reidentification_risk.algorithm import ReidentificationRiskAudit
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.registry import load

SIZES = ClassSizesAudit(load("audits", "class_sizes").params())
RISK = ReidentificationRiskAudit(load("audits", "reidentification_risk").params(threshold="0.4"))
CELL = st.sampled_from(["a", "b", "⊥", None])
PEOPLE = st.lists(
    st.lists(st.tuples(CELL, CELL, st.sampled_from("xyz")), min_size=1, max_size=20), min_size=1, max_size=6
)
"""Each person's rows: two grouping cells and another one."""
ONE = PeopleCount("who", 1)


def rows_of(people):
    return [(f"person {i}", *row) for i, rows in enumerate(people) for row in rows]


def case_of(build, rows, people, **more):
    before = {n: [r[i] for r in rows] for i, n in enumerate(("who", "p", "q", "s"))}
    after = {n: [r[i] for r in rows] for i, n in enumerate(("who", "p", "q", "s")) if n != "who"}
    return build.case(before, after, "uqqx", **more).but(people=people)


def figures(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def classes(rows):
    found = defaultdict(set)
    for row in rows:
        found[row[1:3]].add(row[0])
    return {c: len(whose) for c, whose in found.items()}


@examples(25)
@given(PEOPLE, st.sampled_from(list(Nulls)))
def test_sizes_are_different_people(build, agree, people, nulls):
    rows = rows_of(people)
    case = case_of(build, rows, ONE, nulls=nulls)
    found = agree(SIZES, case, 7)
    sizes = classes(rows)
    assert found["classes"] == len(sizes)
    assert (found["smallest"], found["largest"]) == (min(sizes.values()), max(sizes.values()))
    assert found["median"] == median(sizes.values())
    assert found["mean"] == pytest.approx(mean(sizes.values()))
    assert found["mean_of_a_row"] == pytest.approx(mean(sizes[r[1:3]] for r in rows))
    assert found["uniques"] == len({r[0] for r in rows if sizes[r[1:3]] == 1})
    outcome = SIZES.measure(*case.args)
    assert {outcome.figures[n].unit for n in ("smallest", "largest", "uniques")} == {"people"}
    assert [sum(series.y) for series in outcome.charts[1].series] == [len(people)] * 2


def linked(rows):
    """Return the rows whose further cell occurs twice or more, and only with one person."""
    whose, many = defaultdict(set), Counter(r[3] for r in rows)
    for row in rows:
        whose[row[3]].add(row[0])
    return [r for r in rows if many[r[3]] > 1 and len(whose[r[3]]) == 1]


def combined(rows, known):
    """Return the largest risk of each linked person, over multisets of classes of linked rows."""
    held = defaultdict(Counter)
    for row in linked(rows):
        held[row[0]][row[1:3]] += 1
    if known is None:
        profiles = Counter(frozenset(c.items()) for c in held.values())
        return {who: 1 / profiles[frozenset(c.items())] for who, c in held.items()}
    out = {}
    for who, own in held.items():
        every = {
            frozenset(Counter(some).items())
            for size in range(1, known + 1)
            for some in combinations(own.elements(), size)
        }
        out[who] = max(1 / sum(all(other[c] >= n for c, n in some) for other in held.values()) for some in every)
    return out


FEW = st.lists(st.lists(st.tuples(CELL, CELL, st.sampled_from("xyz")), min_size=1, max_size=8), min_size=1, max_size=6)


@pytest.mark.slow
@examples(36)
@given(st.one_of(PEOPLE, FEW), st.sampled_from([1, 2, 3, None]), st.sampled_from(list(Nulls)))
def test_risks_are_the_largest_over_the_rows_of_a_person(build, agree, people, known, nulls):
    rows = rows_of(people)
    found = agree(RISK, case_of(build, rows, PeopleCount("who", known), nulls=nulls))
    sizes = classes(rows)
    risk = {who: max(1 / sizes[r[1:3]] for r in rows if r[0] == who) for who in {r[0] for r in rows}}
    if len(rows) > len(people):
        for who, more in combined(rows, known).items():
            risk[who] = max(risk[who], more)
    highest = max(risk.values())
    for attacker in ("prosecutor", "journalist"):
        assert found[f"{attacker}_highest"] == pytest.approx(highest)
        assert found[f"{attacker}_average"] == pytest.approx(mean(risk.values()))
        assert found[f"{attacker}_at_risk"] == pytest.approx(mean(r > 0.4 for r in risk.values()))
    assert found["prosecutor_at_highest"] == pytest.approx(mean(r == highest for r in risk.values()))
    assert found["marketer_average"] == found["journalist_average"]


@examples(20)
@given(st.lists(st.tuples(CELL, CELL, st.sampled_from("xyz")), min_size=1, max_size=25), st.sampled_from([1, 2, None]))
def test_one_row_a_person_is_rows(build, rows, known):
    table = [(f"person {i}", *r) for i, r in enumerate(rows)]
    for audit in (SIZES, RISK):
        counted = audit.measure(*case_of(build, table, PeopleCount("who", known)).args)
        plain = audit.measure(*case_of(build, table, None).args)
        assert figures(counted) == pytest.approx(figures(plain), rel=1e-12)
        bars = [[y for c in outcome.charts for s in c.series for y in s.y] for outcome in (counted, plain)]
        assert bars[0] == pytest.approx(bars[1], rel=1e-12)


def test_one_person_with_many_rows_is_no_crowd(build):
    """Five rows that look alike and are one person's: k = 5 rows, and a risk of 1."""
    rows = [("ann", "a", "a", "x")] * 5 + [(f"person {i}", "b", "b", "x") for i in range(5)]
    alone, mirror = case_of(build, rows, ONE), case_of(build, [(f"p{i}", *r[1:]) for i, r in enumerate(rows)], ONE)
    assert figures(RISK.measure(*alone.args))["prosecutor_highest"] == 1.0
    assert figures(RISK.measure(*mirror.args))["prosecutor_highest"] == 0.2
    assert figures(SIZES.measure(*alone.args))["uniques"] == 1
    assert figures(SIZES.measure(*mirror.args))["uniques"] == 0


def test_rows_that_are_seen_to_be_one_persons_tell_more(build):
    """Everybody has a row in two of three classes; which two is only one person's, and a column links the rows."""
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    rows = [(f"person {i}", cell, "q", f"visit {i}") for i, own in enumerate(pairs) for cell in own]
    found = {m: figures(RISK.measure(*case_of(build, rows, PeopleCount("who", m)).args)) for m in (1, 2, None)}
    assert [found[m]["prosecutor_highest"] for m in (1, 2, None)] == [0.5, 1.0, 1.0]
    mirror = [(*r[:3], "visit") for r in rows]
    assert figures(RISK.measure(*case_of(build, mirror, PeopleCount("who", 2)).args))["prosecutor_highest"] == 0.5


@examples(12)
@given(FEW, st.integers(0, 3))
def test_a_sample_has_the_people_of_the_original(build, people, left_out):
    """Rows are left out, cells are as they were: a journalist knows the people of the original."""
    rows = rows_of([[(p, q, "x") for p, q, _ in own] for own in people])
    kept = rows[left_out:]
    if not kept or not left_out:
        return
    case = case_of(build, rows, ONE)
    fewer = build.view(
        case.candidate.whole.take(range(left_out, len(rows))),
        dict.fromkeys("pq", build.roles["q"]) | {"s": build.roles["x"]},
    )
    pairs = build.Pairs(case.original.whole, fewer.whole)
    found = figures(RISK.measure(case.original, fewer, replace(case.ctx, pairs=pairs)))
    own, whole = classes(kept), classes(rows)
    whom = sorted({r[0] for r in kept})
    assert found["prosecutor_highest"] == pytest.approx(max(1 / n for n in own.values()))
    if len(whom) == len(kept) or len({r[0] for r in kept}) > 1:
        risk = [max(1 / whole[r[1:3]] for r in kept if r[0] == who) for who in whom]
        assert found["journalist_average"] == pytest.approx(mean(risk))


def test_a_population_file_has_a_line_for_each_person(build, tmp_path):
    (tmp_path / "people.csv").write_text("q,p\nx,a\nx,a\nx,a\nx,a\nx,b\n")
    audit = ReidentificationRiskAudit(load("audits", "reidentification_risk").params(population="people.csv"))
    rows = [("ann", "a", "x", "s")] * 3 + [("bob", "a", "x", "s"), ("bob", "b", "x", "s")]
    found = figures(audit.measure(*case_of(build, rows, ONE, home=tmp_path).args))
    assert (found["journalist_highest"], found["journalist_average"]) == (1.0, (1 / 4 + 1) / 2)


def test_rows_whose_people_nobody_knows_have_no_figures(build):
    case = case_of(build, [("ann", "a", "a", "x")] * 3, ONE, paired=False)
    for audit in (SIZES, RISK):
        outcome = audit.measure(*case.args)
        assert {f.value for f in outcome.figures.values()} == {None}
        assert all("people cannot be counted" in f.note for f in outcome.figures.values())
        assert audit.recheck(*case.args) == {}


def test_generated_rows_are_nobodys(build):
    changes = {"p": (("make", Change.GENERATED),)}
    case = case_of(build, [("ann", "a", "a", "x")] * 3, ONE, paired=False, changes=changes)
    outcome = SIZES.measure(*case.args)
    assert (outcome.figures["smallest"].value, outcome.figures["smallest"].unit) == (3, "rows")
    assert "counts rows" in outcome.figures["smallest"].note
    assert "counts rows" in RISK.measure(*case.args).figures["prosecutor_highest"].note
