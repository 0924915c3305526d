"""Baselines of utility where people are counted: two halves of the people, not of their rows."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.mining.utility.sides import half
from ppdm_flow.sdk.registry import load


def case_of(build, people, each, counted=True):
    """Everybody has a value of their own, in all rows."""
    rng = np.random.default_rng(people)
    who = np.repeat(np.arange(people), each)
    cells = np.repeat(rng.integers(0, 40, people), each)
    columns = {"who": [f"p{w}" for w in who.tolist()], "a": [f"v{c}" for c in cells.tolist()]}
    return build.case(columns, {"a": columns["a"]}, "uq").but(people=PeopleCount("who", 1) if counted else None)


def measured(name, case):
    spec = load("audits", name)
    return spec.load()(spec.params()).measure(*case.args).figures


def test_no_person_is_in_both_halves(build):
    case = case_of(build, 60, 5)
    first = half(case.original, case.ctx).held_out(np.arange(300)).reshape(60, 5)
    assert (first.all(axis=1) | ~first.any(axis=1)).all()


def test_two_samples_of_people_differ_more_than_two_of_rows(build):
    """By rows everybody would be in both halves, and hardly any difference be expected."""
    people, rows = (measured("marginals", case_of(build, 60, 20, counted)) for counted in (True, False))
    name = "one_way.mean_total_variation.baseline"
    assert people[name].value > 3 * rows[name].value


@pytest.mark.parametrize("name", ["marginals", "propensity", "information_loss"])
def test_one_row_a_person_is_rows(build, name):
    people, rows = (measured(name, case_of(build, 200, 1, counted)) for counted in (True, False))
    assert people == rows
