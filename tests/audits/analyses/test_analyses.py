"""The audit `analyses`: an unchanged copy loses nothing, noise does, and a sign that flips is found and named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

SPEC = load("audits", "analyses")
ROLES = {
    "age": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE, "wage": Role.TARGET,
    "w": Role.SAMPLING_WEIGHT,
}  # fmt: skip
WAGE = {"regression": "wage", "on": ["age", "sex"]}
ILL = {"regression": "ill", "model": "logistic", "positive": "yes", "on": ["age", "sex"]}
MEANS = {"mean": "wage", "by": ["sex"]}
TABLE = {"table": ["sex", "ill"]}
ALL = {"wage": WAGE, "ill": ILL, "means": MEANS, "cells": TABLE}


def people(rows=3000, seed=1):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 70, rows), rng.integers(0, 2, rows)
    wage = 10 + 0.2 * age + 2.0 * sex + rng.normal(0, 3, rows)
    ill = rng.random(rows) < 1 / (1 + np.exp(3 - 0.05 * age))
    return {"age": age, "sex": sex, "ill": ill, "wage": wage, "w": rng.uniform(1, 5, rows)}


def table(cells, **replaced):
    cells = cells | replaced
    columns = {
        "age": NumericColumn(cells["age"].astype(np.int64), AttributeType.INTEGER),
        "sex": Column.of([("f", "m")[s] for s in cells["sex"]]),
        "ill": Column.of([("no", "yes")[int(i)] for i in cells["ill"]]),
        "wage": NumericColumn(cells["wage"].astype(float), AttributeType.FLOAT),
        "w": NumericColumn(cells["w"].astype(float), AttributeType.FLOAT),
    }
    return Table(columns, np.arange(len(cells["age"]), dtype=np.int64))


def measured(build, released, analyses=ALL, **more):
    case = build.case(table(people()), released, ROLES, **more)
    audit = SPEC.load()(SPEC.params(analyses=analyses))
    return audit.measure(*case.args)


def values(outcome):
    return {name: figure.value for name, figure in outcome.figures.items()}


def test_an_unchanged_copy_loses_nothing(build):
    outcome = measured(build, table(people()))
    got = values(outcome)
    for name in ("wage", "ill", "means"):
        assert got[f"{name}.least_overlap"] == got[f"{name}.mean_overlap"] == pytest.approx(1.0)
        assert got[f"{name}.largest_difference"] == got[f"{name}.mean_difference"] == 0.0
        assert got[f"{name}.same_conclusions"] == 1.0
        assert 0.0 < got[f"{name}.least_overlap_of_halves"] < 1.0
        assert got[f"{name}.lost_terms"] == 0
    assert got["cells.total_variation"] == got["cells.largest_relative_error"] == 0.0
    assert 0 < got["cells.total_variation_of_halves"] < 0.1
    assert got["worst_overlap"] == pytest.approx(1.0)
    assert outcome.findings == ()
    assert {c.id for c in outcome.charts} == {"wage.estimates", "ill.estimates", "means.estimates"}


def test_noise_lowers(build):
    rng, cells = np.random.default_rng(2), people()
    worst = []
    for scale in (0.0, 5.0, 20.0):
        noisy = table(cells, age=cells["age"] + np.round(rng.normal(0, 1, 3000) * scale))
        worst.append(values(measured(build, noisy, {"wage": WAGE}))["wage.least_overlap"])
    assert worst[0] == pytest.approx(1.0)
    assert worst[1] < 0.5
    assert worst[2] == 0.0


def test_a_sign_that_flips_is_named(build):
    cells = people()
    outcome = measured(build, table(cells, sex=1 - cells["sex"]), {"wage": WAGE})
    assert values(outcome)["wage.least_overlap"] == 0.0
    assert values(outcome)["wage.same_conclusions"] == pytest.approx(2 / 3)
    (finding,) = outcome.findings
    assert finding.code == "PPF657"
    assert "`sex`: value" in finding.text
    assert "opposite sign" in finding.text
    assert finding.subject == "public.wage"


def test_a_lost_category_is_named(build):
    cells = people()
    released = table(cells)
    women = cells["sex"] == 0
    sex = Column(np.where(women, np.int32(-2), released["sex"].codes).astype(np.int32), released["sex"].categories)
    outcome = measured(build, released.replaced({"sex": sex}), {"wage": WAGE, "cells": TABLE})
    got = values(outcome)
    assert got["wage.lost_terms"] == 1
    assert got["wage.least_overlap"] == 0.0
    assert got["wage.largest_difference"] is None
    assert got["wage.complete_rows"] == pytest.approx(1 - women.mean())
    assert got["cells.largest_relative_error"] == 1.0
    assert got["cells.total_variation"] == pytest.approx(cells["w"][women].sum() / cells["w"].sum())
    assert "has no estimate" in outcome.findings[0].text


def test_renamed_columns_are_found(build):
    released = table(people())
    renamed = Table({f"r_{n}": released[n] for n in ROLES}, released.rows)
    outcome = measured(build, renamed, sources={f"r_{n}": n for n in ROLES})
    assert values(outcome)["worst_overlap"] == pytest.approx(1.0)


def test_a_generalized_attribute_is_compared_at_the_released_level(build):
    cells = people()
    bands = Column.of([f"{a // 10}0s" for a in cells["age"]])
    changes = {"age": (("g", Change.GENERALIZED),)}
    outcome = measured(build, table(cells).replaced({"age": bands}), {"wage": WAGE}, changes=changes)
    assert values(outcome)["wage.least_overlap"] == pytest.approx(1.0)
    assert values(outcome)["wage.coarser_attributes"] == 1
    assert "`age`" in outcome.figures["wage.coarser_attributes"].note


@pytest.mark.parametrize("paired", [True, False])
def test_labels_that_no_map_leads_to_have_no_figures(build, paired):
    cells = people()
    mixed = Column.of([f"{a // (10 + s)}" + "x" for a, s in zip(cells["age"], cells["sex"], strict=True)])
    changes = {"age": (("m", Change.GENERALIZED),)}
    released = table(cells).replaced({"age": mixed})
    outcome = measured(build, released, {"wage": WAGE, "means": MEANS}, changes=changes, paired=paired)
    assert outcome.figures["wage.least_overlap"].value is None
    assert "`age`" in outcome.figures["wage.least_overlap"].note
    assert values(outcome)["means.least_overlap"] == pytest.approx(1.0)
    assert values(outcome)["worst_overlap"] is None


def test_numbers_with_suppressed_cells_stay_numbers(build):
    cells = people()
    texts = [None if i < 5 else str(a) for i, a in enumerate(cells["age"])]
    texts[7] = "⊥"
    changes = {"age": (("s", Change.SUPPRESSED),)}
    outcome = measured(build, table(cells).replaced({"age": Column.of(texts)}), {"wage": WAGE}, changes=changes)
    assert values(outcome)["wage.least_overlap"] > 0.95
    assert values(outcome)["wage.coarser_attributes"] == 0
    assert values(outcome)["wage.complete_rows"] == pytest.approx(1 - 6 / 3000)


def test_weights_change_what_is_estimated(build):
    cells = people()
    flat = table(cells, w=np.ones(3000))
    assert values(measured(build, flat, {"wage": WAGE}))["wage.least_overlap"] < 1.0
    assert values(measured(build, flat, {"wage": WAGE | {"weighted": "false"}}))["wage.least_overlap"] == 1.0
    gone = table(cells).select(["age", "sex", "ill", "wage"])
    outcome = measured(build, gone, {"wage": WAGE})
    assert "not released" in outcome.figures["wage.coarser_attributes"].note


@pytest.mark.parametrize(
    ("released", "why"),
    [({"wage": Column.of(["low"] * 3000)}, "labels"), ({"sex": Column.of(["x"] * 3000)}, "in both")],
)
def test_what_cannot_be_run_has_a_note(build, released, why):
    outcome = measured(build, table(people()).replaced(released), {"wage": WAGE})
    assert why in outcome.figures["wage.least_overlap"].note
    assert values(outcome)["worst_overlap"] is None


def test_a_release_without_the_attribute_has_no_figures(build):
    outcome = measured(build, table(people()).select(["age", "sex"]), ALL)
    assert "not released" in outcome.figures["cells.total_variation"].note


def test_a_table_by_hand(build):
    before = {"a": ["x"] * 6 + ["y"] * 4}
    after = {"a": ["x"] * 5 + ["y"] * 4 + ["⊥"]}
    case = build.case(before, after, {"a": Role.QUASI_IDENTIFIER})
    audit = SPEC.load()(SPEC.params(analyses={"t": {"table": ["a"], "least_count": "5"}}))
    figures = audit.measure(*case.args).figures
    assert figures["t.total_variation"].value == pytest.approx(0.1)
    assert figures["t.largest_relative_error"].value == pytest.approx(1 / 6)


def scope():
    facts = {n: AttributeFacts(n, r, source=n) for n, r in ROLES.items()}
    facts["wage"] = replace(facts["wage"], type=AttributeType.FLOAT)
    facts["ill"] = replace(facts["ill"], domain=("no", "yes"))
    return Scope("analyses", facts, (), source_roles=ROLES | {"id": Role.IDENTIFIER, "gone": Role.TARGET})


@pytest.mark.parametrize(
    ("analysis", "path", "words"),
    [
        ({}, (), "none of them"),
        ({"table": ["sex"], "mean": "wage"}, (), "`table` and `mean`"),
        ({"mean": "wage", "on": ["sex"]}, ("on",), "says nothing"),
        ({"regression": "wage"}, (), "needs `on`"),
        ({"regression": "wage", "on": ["wage"]}, ("on",), "itself"),
        ({"regression": "ill", "on": ["age"], "model": "logistic"}, (), "needs `positive`"),
        ({"regression": "wage", "on": ["age"], "positive": "1"}, ("positive",), "logistic"),
        ({"table": ["sexx"]}, ("table", "0"), "no attribute `sexx`"),
        ({"table": ["id"]}, ("table", "0"), "role"),
        ({"mean": "sex"}, ("mean",), "no numbers"),
        (ILL | {"positive": "maybe"}, ("positive",), "domain"),
    ],
)
def test_wrong_forms_and_unknown_attributes_are_told(analysis, path, words):
    (problem,) = SPEC.effect(SPEC.params(analyses={"x": analysis}), scope()).problems
    assert problem.path == ("analyses", "x", *path)
    assert words in problem.message
    assert not problem.warning


def test_an_attribute_that_is_not_released_is_warned_of():
    (problem,) = SPEC.effect(SPEC.params(analyses={"x": {"table": ["gone"]}}), scope()).problems
    assert problem.warning


def test_right_forms_have_no_problems():
    assert SPEC.effect(SPEC.params(analyses=ALL), scope()).problems == ()
