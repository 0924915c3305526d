"""Singling out where people are counted, against plain Python from the definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.table import Table

ONE = PeopleCount("who", 1)
NAMES = ("a", "b", "c")
CELL = st.sampled_from(["u", "v", "w", None, "⊥"])
PEOPLE = st.lists(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=20), min_size=1, max_size=5)
FEW = st.lists(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=3), min_size=1, max_size=7)


def case_of(build, rows, people=ONE, **more):
    before = {"who": [r[0] for r in rows]} | {n: [r[i + 1] for r in rows] for i, n in enumerate(NAMES)}
    return build.case(before, {n: before[n] for n in NAMES}, "uqqq", **more).but(people=people)


def measured(case, **params):
    spec = load("audits", "singling_out")
    return spec.load()(spec.params(**params)).measure(*case.args)


def exhaustive(rows, combined):
    """All conditions on ``combined`` attributes that fit the rows of one person only, read off rows that do so too."""
    seen = set()
    for columns in combinations(range(1, 1 + len(NAMES)), combined):
        for row in rows:
            whole = {other[0] for other in rows if other[1:] == row[1:]}
            some = {other[0] for other in rows if all(other[c] == row[c] for c in columns)}
            if len(whole) == len(some) == 1:
                seen.add((columns, tuple(row[c] for c in columns)))
    return len(seen)


@examples(25)
@given(st.one_of(PEOPLE, FEW))
def test_the_figure_is_the_share_of_conditions_that_fit_one_person(build, people):
    rows = [
        (f"person {i}", *(c if c and c != "⊥" else "x" for c in row)) for i, own in enumerate(people) for row in own
    ]
    figures = measured(case_of(build, rows), combined=2, attempts=1000).figures
    many = exhaustive(rows, 2)
    assert figures["multivariate.success"].value == (1.0 if many else 0.0)
    assert figures["multivariate.success"].sample == (many or None)


@examples(20)
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=30), st.sampled_from(list(Nulls)), st.booleans())
def test_one_row_a_person_is_rows(build, cells, nulls, controlled):
    rows = [(f"person {99 - i}", *row) for i, row in enumerate(cells)]
    more = {"nulls": nulls} | ({"holdout": Holdout(0.5)} if controlled else {})
    people, plain = (measured(case_of(build, rows, p, **more)) for p in (ONE, None))
    assert people.figures == plain.figures
    assert people.findings == plain.findings


def test_conditions_are_drawn_by_person(build):
    """More conditions than are tried: with one row a person the same are drawn as of rows."""
    rng = np.random.default_rng(4)
    rows = [(f"person {i}", *(str(v) for v in rng.integers(0, 30, 3))) for i in range(600)]
    people, plain = (measured(case_of(build, rows, p), attempts=20) for p in (ONE, None))
    assert people.figures == plain.figures
    many = [r for r in rows[:300] for _ in range(3)]
    assert measured(case_of(build, many), attempts=20).figures["multivariate.success"].value == 1.0


def test_all_rows_of_one_person_are_one_person(build):
    """Nobody's rows are alone, since each person has five that are alike: people are singled out all the same."""
    rng = np.random.default_rng(1)
    cells = [tuple(str(v) for v in rng.integers(0, 9, 3)) for _ in range(60)]
    rows = [(f"person {i}", *own) for i, own in enumerate(cells) for _ in range(5)]
    assert measured(case_of(build, rows, None)).figures["risk"].value == 0
    leak = measured(case_of(build, rows))
    assert leak.figures["multivariate.success"].value == 1.0
    assert [f.code for f in leak.findings if f.code == "PPF897"]
    mirror = [(f"visit {i}", *r[1:]) for i, r in enumerate(rows)]
    safe = measured(case_of(build, mirror))
    assert safe.figures["risk"].value == 0
    assert not [f for f in safe.findings if f.code == "PPF897"]


def test_a_generator_that_knows_people_is_judged_by_others(build):
    """Generated rows are nobody's: people of the original are in or out with all their rows."""
    rng = np.random.default_rng(2)
    cells = [tuple(str(v) for v in rng.integers(0, 12, 3)) for _ in range(240)]
    rows = [(f"person {i // 4}", *own) for i, own in enumerate(cells)]
    case = case_of(build, rows, paired=False)
    holdout = Holdout(0.5).by_person([case.original.whole], "who")
    inside = ~holdout.held_out(np.arange(len(rows)))
    released = case.candidate.whole.take(np.flatnonzero(inside))
    view = build.view(Table(released.columns, np.arange(len(released))), dict.fromkeys(NAMES, build.roles["q"]))
    spec = load("audits", "singling_out")
    found = spec.load()(spec.params()).measure(case.original, view, case.but(holdout=holdout).ctx)
    assert found.figures["multivariate.success"].value == pytest.approx(1.0, abs=0.1)
    assert found.figures["risk"].interval[0] > 0.3
    assert [f.code for f in found.findings] == ["PPF897"] * len(found.findings)
    assert found.findings
