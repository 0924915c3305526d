"""Membership inference where people are counted: somebody is in with all rows, or out with all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.membership_inference.algorithm import read
from ppdm_flow.audits.records.columns import beside
from ppdm_flow.audits.records.person_samples import original_people
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load

NAMES = ("a", "b", "c")
SPEC = load("audits", "membership_inference")


def visits(rng, people, each=5, values=12):
    """Everybody has values of their own, and of five visits each differs from them in one place at most."""
    own = rng.integers(0, values, (people, len(NAMES)))
    cells = np.repeat(own, each, axis=0)
    cells[np.arange(len(cells)), rng.integers(0, len(NAMES), len(cells))] = rng.integers(0, values, len(cells))
    return np.repeat(np.arange(people), each), cells


def texts(who, cells):
    columns = {n: [str(v) for v in cells[:, i].tolist()] for i, n in enumerate(NAMES)}
    return ({} if who is None else {"who": [f"person {i}" for i in who.tolist()]}) | columns


def case_of(build, who, cells, released, known=1, people=True, share=0.5):
    case = build.case(texts(who, cells), texts(None, released), "uxxx", paired=False)
    holdout = Holdout(share)
    if people:
        holdout = holdout.by_person(case.original.partitions(["who"]), "who")
    return case.but(people=PeopleCount("who", known) if people else None, holdout=holdout)


def measured(case, **params):
    return SPEC.load()(SPEC.params(**params)).measure(*case.args)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("known", [1, 2, None])
def test_copies_of_members_are_found(build, known):
    who, cells = visits(np.random.default_rng(3), 300)
    case = case_of(build, who, cells, cells, known)
    inside = ~case.ctx.holdout.held_out(np.arange(len(who)))
    leak = measured(case_of(build, who, cells, cells[inside], known))
    assert leak.figures["auc"].value > 0.8
    assert leak.findings
    assert leak.figures["distance.auc"].sample == 300


@pytest.mark.slow
def test_rows_of_other_people_are_no_alarm(build):
    """What is released is like everybody's rows, and nobody's: rows of one person depend on each other."""
    alarms, covered = 0, 0
    for key in range(30):
        rng = np.random.default_rng(key)
        who, cells = visits(rng, 120)
        _, others = visits(rng, 60)
        found = measured(case_of(build, who, cells, others, known=None))
        alarms += bool(found.findings)
        low, high = found.figures["distance.auc"].interval
        covered += low <= 0.5 <= high
    assert alarms <= 1
    assert covered >= 24


def test_the_groups_have_no_person_in_common(build):
    who, cells = visits(np.random.default_rng(5), 80)
    case = case_of(build, who, cells, cells)
    columns = [*NAMES, "who"]
    groups = [original_people(case.original, columns, case.ctx, outside=side) for side in (False, True)]
    people = [set(g.table["who"].texts()) for g in groups]
    assert not people[0] & people[1]
    assert len(people[0] | people[1]) == 80
    assert [len(p) for p in people] == [g.available for g in groups]


PERSONS = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@examples(20)
@given(PERSONS, st.sampled_from([1, 2, 3, None]), st.integers(1, 12))
def test_people_come_with_as_many_rows_as_are_known(build, persons, known, most):
    cells = np.arange(3 * len(persons)).reshape(-1, 3)
    case = case_of(build, np.array(persons), cells, cells, known)
    for side in (False, True):
        found = original_people(case.original, ["who", "a"], case.ctx, outside=side, most_people=most, known_rows=known)
        names = found.table["who"].texts()
        inside = [p for i, p in enumerate(persons) if bool(case.ctx.holdout.held_out(np.array([i]))[0]) == side]
        assert found.available == len(set(inside))
        assert found.people == len(set(names)) == min(most, found.available)
        for name in set(names):
            rows = inside.count(int(name.removeprefix("person ")))
            assert names.count(name) == (rows if known is None else min(rows, known))
            assert len({found.whose[i] for i, n in enumerate(names) if n == name}) == 1


@examples(10)
@given(st.integers(0, 1000), st.integers(20, 60), st.sampled_from([1, 2, None]))
def test_one_row_a_person_is_rows(build, key, rows, known):
    rng = np.random.default_rng(key)
    cells, released = rng.integers(0, 4, (rows, 3)), rng.integers(0, 4, (rows, 3))
    who = np.arange(rows)[::-1]
    people, plain = (measured(case_of(build, who, cells, released, known, people=p), sample=15) for p in (True, False))
    assert people.figures == plain.figures
    assert people.findings == plain.findings


def test_the_score_of_a_person_is_the_mean_of_those_of_its_rows(build):
    who = np.array([0, 0, 1, 2, 2, 2, *range(3, 40)])
    cells = np.arange(3 * len(who)).reshape(-1, 3)
    case = case_of(build, who, cells, cells, known=None)
    known = read(
        case.original, case.candidate, case.ctx, beside(case.original, case.candidate, case.ctx), SPEC.params()
    )
    assert known is not None
    score = np.arange(len(known.records), dtype=np.float64)
    found = known.by_person(score)
    plain = [score[known.whose == p].mean() for p in range(known.people)]
    assert found.tolist() == pytest.approx(plain)
    assert known.people == 40


def test_few_people_with_many_rows_are_too_few(build):
    who, cells = visits(np.random.default_rng(2), 6, each=30)
    found = measured(case_of(build, who, cells, cells))
    assert found.figures["auc"].value is None
