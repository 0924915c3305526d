"""Attribute disclosure where people are counted: one row of each is attacked."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.registry import load

NAMES = ("a", "b", "c", "s")


def visits(rng, people, each, values=8):
    """Everybody has own values, and a sensitive one that has nothing to do with them: each visit has the same."""
    cells = np.repeat(rng.integers(0, [values, values, values, 4], (people, len(NAMES))), each, axis=0)
    return np.repeat(np.arange(people), each), cells


def measured(build, who, cells, released, people=PeopleCount("who", 1)):  # noqa: B008  # it is frozen
    columns = {n: [str(v) for v in cells[:, i].tolist()] for i, n in enumerate(NAMES)}
    made = {n: [str(v) for v in released[:, i].tolist()] for i, n in enumerate(NAMES)}
    case = build.case({"who": [f"p{w}" for w in who.tolist()]} | columns, made, "uqqqs", paired=False)
    holdout = Holdout(0.5)
    if people is not None:
        holdout = holdout.by_person(case.original.partitions(["who"]), "who")
    spec = load("audits", "attribute_disclosure")
    return spec.load()(spec.params()).measure(*case.but(people=people, holdout=holdout).args), holdout


def test_a_copy_of_members_is_found_and_counts_people(build):
    who, cells = visits(np.random.default_rng(3), 400, 4, 30)
    _, holdout = measured(build, who, cells, cells)
    found, _ = measured(build, who, cells, cells[~holdout.held_out(np.arange(len(who)))])
    assert found.figures["s.success"].value > 0.9
    assert found.figures["risk"].interval[0] > 0.5
    assert found.findings
    asked = found.figures["s.success"].sample + found.figures["s.control"].sample
    assert asked == 400


@pytest.mark.slow
def test_rows_that_depend_on_each_other_are_no_alarm(build):
    """Ten equal visits each: by rows a few lucky guesses would look like many."""
    alarms = 0
    for key in range(40):
        rng = np.random.default_rng(key)
        who, cells = visits(rng, 60, 10, 4)
        _, others = visits(rng, 30, 10, 4)
        found = measured(build, who, cells, others)[0]
        assert found.figures["s.success"].value is not None
        alarms += any(f.code == "PPF863" for f in found.findings)
    assert alarms <= 1


@pytest.mark.parametrize("key", range(5))
def test_one_row_a_person_is_rows(build, key):
    rng = np.random.default_rng(key)
    who, cells = visits(rng, 80, 1)
    _, others = visits(rng, 60, 1)
    people, plain = (measured(build, who[::-1], cells, others, p)[0] for p in (PeopleCount("who", 1), None))
    assert people.figures == plain.figures
    assert people.findings == plain.findings
