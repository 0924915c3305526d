"""Suppression where people count: classes of k people, and k people for all that several rows of a person reveal."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.people_judging import linked
from adversary.people_trials import broken, case_of, of_suppress, released, standing_out, trial, with_cards

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity


def some(seed):
    rng = random.Random(seed)
    told = trial(rng)
    params = of_suppress(rng)
    return (with_cards(told) if rng.random() < 0.3 else told), params


@pytest.mark.slow(quick=31)
@pytest.mark.parametrize("seed", range(100))
def test_what_is_left_keeps_what_is_claimed(seed):
    told, params = some(seed)
    case = case_of("suppress", params, told)
    assert case.effect.serves == ("privacy.k_anonymity",)
    rows = released(case, told)
    assert broken(case, told, rows) == standing_out(told, rows) == []
    if params["linked"] == "drop":
        assert still_linked(case, told, rows) == []


def still_linked(case, told, rows):
    """Return the requirements for which some row is linked, rows with a missing cell left out or not."""
    found = []
    for requirement in told.requirements:
        names = requirement.attributes
        outside = [n for n in ("age", "town", "ill", "ward") if n not in names]
        for needed in (names, (*names, *requirement.secrets)) if told.nulls is Nulls.EXCLUDE else ((),):
            some = [r for r in rows if all(r[n] is not None for n in needed)]
            cards = [n for n in case.table.names if n == "card"]
            found += [requirement.id] if any(linked(some, outside, cards)) else []
    return found


@pytest.mark.slow(quick=29)
@pytest.mark.parametrize("seed", range(60))
def test_no_row_is_linked_for_any_requirement(seed):
    told, params = some(seed)
    case = case_of("suppress", params | {"linked": "drop", "small": "keep", "rare": {}}, told)
    rows = released(case, told)
    assert still_linked(case, told, rows) == []
    assert len(rows) > 0 or "card" in case.table.names or len(told.rows) < 50


def test_linked_rows_that_are_kept_stand_out():
    """The test above finds what it looks for."""
    found = 0
    for seed in range(40):
        told, params = some(seed)
        rows = released(case_of("suppress", params | {"linked": "keep"}, told), told)
        found += bool(standing_out(told, rows))
    assert found > 10


@pytest.mark.parametrize("seed", range(20))
def test_one_row_a_person_is_as_rows(seed):
    rng = random.Random(1000 + seed)
    told = trial(rng, once=True)
    given = of_suppress(rng)
    of_rows = {name: value for name, value in given.items() if name != "linked"}
    by_people = released(case_of("suppress", given, told), told)
    assert by_people == released(case_of("suppress", of_rows, told, counted=False), told)


def test_the_size_of_a_class_is_its_people():
    told = trial(random.Random(4), missing=False)
    told.rows[:] = [
        {"who": f"p{person}", "age": age, "town": "N1", "ill": "abc"[row % 3], "ward": "xyz"[person % 3]}
        for age, people in (("1", 4), ("2", 1))
        for person in range(people)
        for row in range(5)
    ]
    told.requirements, told.people = (KAnonymity.of("k", k=2, attributes=("age", "town")),), PeopleCount("who", 1)
    told.nulls = Nulls.OWN_CATEGORY
    rows = released(case_of("suppress", {"small": "rows"}, told), told)
    assert {r["age"] for r in rows} == {"1"}
    assert len(rows) == 20


def test_nothing_is_one_persons_where_nobody_is_counted():
    told = trial(random.Random(1))
    (problem,) = case_of("suppress", {"linked": "drop"}, told, counted=False).effect.problems
    assert (problem.code, problem.path) == ("PPF782", ("linked",))
