"""The audit `sensitivities` where a person has several rows: draws of people, and planted faults."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import Directions, Role
from ppdm_flow.requirements.sensitivities.algorithm import SensitivitiesAudit
from ppdm_flow.requirements.sensitivities.judgement import PersonRows, draws_among
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.registry import load

AUDIT = SensitivitiesAudit(load("audits", "sensitivities").params())
ID = "privacy.sensitivities.s"
ILLS = ("HIV", "cold", "flu", "ok")
R1, R2 = 0.05, 0.25
GAMMA = R2 * (1 - R1) / (R1 * (1 - R2))
ROLES = {"who": Role.SUBJECT, "s": Role.SENSITIVE}
ASKED = Sensitivity.of_bounds("s", (BoundOfValue("HIV", R1, R2),), Directions.BOTH)


def operator(values: int, made_for: int | None = None) -> Operator:
    """The best one for people with ``values`` different values."""
    root = GAMMA ** (1 / values)
    kept = np.full(4, (root - 1) / (root - 1 + 4))
    return Operator("s", ILLS, kept, "perturb", values if made_for is None else made_for or None)


def drawn(people: list[list[int]], channel: Operator, rng, *, by_row: bool = False):
    """Rows (who, original, released) of people with these values; one draw a different value unless ``by_row``."""
    matrix = channel.matrix()
    rows = []
    for number, values in enumerate(people):
        shown: dict[int, int] = {}
        for value in values:
            if by_row or value not in shown:
                shown[value] = int(rng.choice(4, p=matrix[:, value]))
            rows.append((f"p{number}", ILLS[value], ILLS[shown[value]]))
    return rows


def example(build, rows, channel, **more):
    who, before, after = (list(column) for column in zip(*rows, strict=True))
    told = {
        "requirements": (ASKED,),
        "operators": {"s": channel},
        "changes": {"s": (("perturb", Change.PERTURBED),)},
        **more,
    }
    return build.case({"who": who, "s": before}, {"s": after}, ROLES, **told)


def some_people(rng, most: int, number: int = 1500) -> list[list[int]]:
    people = []
    for _ in range(number):
        own = rng.choice(4, size=int(rng.integers(1, most + 1)), replace=False)
        people.append([int(v) for v in rng.choice(own, size=int(rng.integers(len(own), 8)))] + own.tolist())
    return people


def sentence(case) -> str:
    (measured,) = AUDIT.measure(*case.args).measured
    assert not measured.verifiable
    return measured.sentence


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_faithful_release_holds(build, agree, most):
    rng = np.random.default_rng(most)
    channel = operator(most)
    case = example(build, drawn(some_people(rng, most), channel, rng), channel)
    found = agree(AUDIT, case, least=6)
    assert found[f"{ID}.margin"] == pytest.approx(0, abs=1e-12)
    assert found[f"{ID}.values_per_person"] == most
    assert found[f"{ID}.unequal_draws"] == 0
    figures = AUDIT.measure(*case.args).figures
    assert figures[f"{ID}.epsilon"].value == pytest.approx(math.log(GAMMA))
    assert figures[f"{ID}.p_value"].value > 1e-6
    assert figures[f"{ID}.values_off_prediction"].value == 0
    (measured,) = AUDIT.measure(*case.args).measured
    assert measured.verifiable
    assert measured.figure.value <= 1e-9
    assert "show one draw" in measured.sentence


def test_counts_of_rows_would_not_fit_where_draws_are_shared(build, agree):
    """One person with most of the rows: a test of rows would refuse what a test of draws accepts."""
    rng = np.random.default_rng(3)
    channel = operator(1)
    people = [[0] * 3000, *([i % 4] for i in range(200))]
    case = example(build, drawn(people, channel, rng), channel)
    assert agree(AUDIT, case, least=6)[f"{ID}.margin"] == pytest.approx(0, abs=1e-12)
    assert AUDIT.measure(*case.args).measured[0].verifiable
    rows = replace(case.ctx, original_attributes={"s": case.ctx.original_attributes["s"]})
    assert not AUDIT.measure(case.original, case.candidate, rows).measured[0].verifiable


def test_rows_that_draw_by_themselves_are_withheld(build, agree):
    rng = np.random.default_rng(4)
    people = [[i % 4] * 5 for i in range(200)]
    for channel in (operator(1), operator(1, 0)):
        case = example(build, drawn(people, channel, rng, by_row=True), channel)
        found = agree(AUDIT, case, least=6)
        assert found[f"{ID}.unequal_draws"] > 50
        assert "drawn apart" in sentence(case)


def test_one_row_a_person_needs_no_draws_of_people(build, agree):
    rng = np.random.default_rng(5)
    channel = operator(1, 0)
    case = example(build, drawn([[i % 4] for i in range(500)], channel, rng), channel)
    agree(AUDIT, case, least=6)
    assert AUDIT.measure(*case.args).measured[0].verifiable


def test_an_operator_for_rows_is_refused_however_the_draws_fell(build, agree):
    """Retention 0.999: the rows of a person happen to be alike, and nothing says that they always are."""
    channel = Operator("s", ILLS, np.full(4, 0.999), "perturb")
    case = example(build, [("a", "ok", "ok"), ("a", "ok", "ok"), ("b", "flu", "flu")], channel)
    agree(AUDIT, case, least=6)
    assert "drawn for itself" in sentence(case)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("matrix", [False, True])
def test_an_operator_for_fewer_values_than_people_have_is_withheld(build, agree, matrix):
    rng = np.random.default_rng(6)
    channel = operator(1)
    rows = drawn(some_people(rng, 2), channel, rng)
    if matrix:
        channel = MatrixOperator("s", ILLS, channel.matrix().T, "perturb", 1)
    case = example(build, rows, channel)
    found = agree(AUDIT, case, least=6)
    assert found[f"{ID}.values_per_person"] == 2
    assert found[f"{ID}.margin"] == pytest.approx((R1 * GAMMA**2) / (R1 * GAMMA**2 + 1 - R1) - R2)
    assert "made for 1 at most" in sentence(case)


def test_an_operator_that_claims_more_than_it_keeps_breaches(build, agree):
    """Each value's own gamma to the root, unbounded values among them: it says 2 and is judged over all pairs."""
    rng = np.random.default_rng(7)
    channel = Operator("s", ILLS, np.array([0.2, 0.9, 0.9, 0.9]), "perturb", 2)
    case = example(build, drawn(some_people(rng, 2), channel, rng), channel)
    found = agree(AUDIT, case, least=6)
    assert found[f"{ID}.margin"] > 0.5
    identity = Operator("s", ILLS, np.ones(4), "perturb", 2)
    case = example(build, drawn(some_people(rng, 2), identity, rng), identity)
    assert agree(AUDIT, case, least=6)[f"{ID}.margin"] == pytest.approx(1 - R2)


def test_draws_of_another_operator_are_found(build):
    rng = np.random.default_rng(8)
    channel, other = operator(2), Operator("s", ILLS, np.full(4, 0.6))
    case = example(build, drawn(some_people(rng, 2), other, rng), channel)
    assert "do not follow the operator" in sentence(case)


def test_rows_that_cannot_be_traced_are_withheld(build):
    rng = np.random.default_rng(9)
    channel = operator(2)
    rows = drawn(some_people(rng, 2), channel, rng)
    assert "cannot be traced" in sentence(example(build, rows, channel, paired=False))
    assert "cannot be traced" in sentence(example(build, [*rows, (None, "ok", "ok")], channel))


def test_people_who_share_draws_are_found(build, agree):
    """The operator read a coarser subject: a reader who knows the value of one reads the other's off the draws."""
    rng = np.random.default_rng(10)
    channel = operator(2)
    case = example(build, drawn(some_people(rng, 2, 100), channel, rng), channel)
    before = case.original.whole
    for names, fault in ((["x"] * len(before), True), ([f"{t}'" for t in before["who"].texts()], False)):
        table = build.view({"id": names, "s": before["s"].texts()}, {"id": Role.SUBJECT, "s": Role.SENSITIVE})
        ctx = replace(case.ctx, operator_inputs={"s": table})
        mine = replace(case, ctx=ctx)
        agree(AUDIT, mine, least=6)
        assert AUDIT.measure(*mine.args).measured[0].verifiable is not fault
        if fault:
            assert "share draws" in sentence(mine)


def test_a_recoded_attribute_is_judged_by_what_was_drawn(build, agree):
    """Two originals of one recoded value are one draw."""
    channel = Operator("s", ("ill", "ok"), np.full(2, 0.5), "perturb", 1)
    rng = np.random.default_rng(11)
    rows = []
    for i in range(300):
        out = "ill" if rng.random() < 0.75 else "ok"
        rows += [(f"p{i}", "HIV", "ill", out), (f"p{i}", "flu", "ill", out)]
    who, source, given_values, out = (list(c) for c in zip(*rows, strict=True))
    requirement = Sensitivity.of_bounds("s", (), Directions.BOTH, default=(0.2, 0.6))
    case = build.case(
        {"who": who, "s": source},
        {"s": out},
        ROLES,
        requirements=(requirement,),
        operators={"s": channel},
        operator_inputs={"s": build.view({"who": who, "s": given_values}, ROLES)},
        changes={"s": (("recode", Change.GENERALIZED), ("perturb", Change.PERTURBED))},
    )
    found = agree(AUDIT, case, least=6)
    assert found[f"{ID}.values_per_person"] == 1
    assert AUDIT.measure(*case.args).measured[0].verifiable


def slow_draws(rows):
    """Count by the definition, with dictionaries."""
    shown: dict = {}
    for who, value, out in rows:
        shown.setdefault((who, value), set()).add(out)
    values: dict = {}
    for who, value in shown:
        values.setdefault(who, set()).add(value)
    joint: dict = {}
    for (_, value), every in shown.items():
        for out in every:
            joint[value, out] = joint.get((value, out), 0) + 1
    return max(map(len, values.values())), sum(len(v) > 1 for v in shown.values()), joint, len(rows) > len(shown)


@examples(20)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25))
def test_draws_are_counted_as_by_the_definition(rows):
    person, value, released = (np.array(c, dtype=np.int64) for c in zip(*rows, strict=True))
    found = draws_among(PersonRows(person, value, released), 4)
    joint = found.joint
    mine = dict(
        zip(zip(joint.original.tolist(), joint.released.tolist(), strict=True), joint.rows.tolist(), strict=True)
    )
    assert (found.most, found.unequal, mine, found.repeated) == slow_draws(rows)


@pytest.mark.parametrize("missing", [False, True])
def test_a_tolerance_is_of_shares_among_people(build, agree, missing):
    """One person with most rows: of 100 draws one is HIV, so r1 = 0.01 and not 0.97."""
    rng = np.random.default_rng(12)
    channel = Operator("s", (*ILLS[:3], None) if missing else ILLS, np.full(4, 0.1), "perturb", 1)
    rows = drawn([[0] * 3000, *([1 + i % 3] for i in range(99))], channel, rng)
    if missing:
        rows = [(who, *(None if cell == "ok" else cell for cell in cells)) for who, *cells in rows]
    asked = Sensitivity.of_bounds("s", (), Directions.BOTH, tolerance=1.5)
    case = example(build, rows, channel, requirements=(asked,))
    found = agree(AUDIT, case, least=6)
    keep, leave = 0.1 + 0.9 / 4, 0.9 / 4
    worst = max(f * keep / (f * keep + (1 - f) * leave) - 1.5 * f for f in (0.01, 0.33))
    assert found[f"{ID}.upward_margin"] == pytest.approx(worst)
