"""The audit `unsorted_matching`: an unshuffled release is found, a shuffled one raises no alarm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope

SPEC = load("audits", "unsorted_matching")


def measured(case, **params):
    return SPEC.load()(SPEC.params(**params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def people(rng, rows):
    return {
        "age": [str(x) for x in rng.integers(0, 80, rows)],
        "sex": [("m", "f")[x] for x in rng.integers(0, 2, rows)],
        "disease": [f"d{x}" for x in rng.integers(0, 12, rows)],
    }


def shuffled(rng, table):
    order = rng.permutation(len(table["sex"]))
    return {n: [cells[i] for i in order] for n, cells in table.items()}


def coarse(table):
    return {**table, "age": [f"[{int(a) // 20 * 20}, {int(a) // 20 * 20 + 20})" for a in table["age"]]}


def test_an_unshuffled_release_is_found(build):
    table = people(np.random.default_rng(1), 300)
    outcome = measured(build.case(table, coarse(table), "qqs"))
    found = values(outcome)
    assert found["age.agreement"] == found["sex.agreement"] == found["agreement"] == 1
    assert found["by_chance"] < 0.2
    assert found["p_value"] < 1e-50
    assert [f.code for f in outcome.findings] == ["PPF894"]
    assert "order of the original" in outcome.findings[0].text


def test_one_binary_column_is_enough(build):
    rng = np.random.default_rng(2)
    table = people(rng, 200)
    released = {**shuffled(rng, table), "sex": table["sex"]}
    assert [f.code for f in measured(build.case(table, released, "qqs")).findings] == ["PPF894"]


def test_rows_that_were_left_out_shift_the_others(build):
    """Every tenth row is missing: no place fits any more, the correlation of places does."""
    table = people(np.random.default_rng(3), 300)
    fewer = {n: [c for i, c in enumerate(cells) if i % 10] for n, cells in table.items()}
    outcome = measured(build.case(table, fewer, "qqs"))
    found = values(outcome)
    assert found["agreement"] is None
    assert found["rank_correlation"] > 0.9
    low, high = outcome.figures["rank_correlation"].interval
    assert low <= found["rank_correlation"] <= high
    assert [f.code for f in outcome.findings] == ["PPF894"]
    assert "correlation" in outcome.findings[0].text


def test_the_order_backwards_is_an_order(build):
    table = people(np.random.default_rng(4), 300)
    backwards = {n: cells[::-1] for n, cells in table.items()}
    outcome = measured(build.case(table, backwards, "qqs"))
    assert values(outcome)["rank_correlation"] < -0.9
    assert outcome.findings


@pytest.mark.random
def test_shuffled_releases_raise_no_alarm(build):
    """300 releases on fixed keys at 1 in 1000 each: more than 3 are rarer than one in three thousand."""
    alarms = 0
    for key in range(300):
        rng = np.random.default_rng([5, key])
        table = people(rng, 80)
        released = shuffled(rng, coarse(table) if key % 2 else table)
        alarms += bool(measured(build.case(table, released, "qqs")).findings)
    assert alarms <= 3
    assert stats.binom.sf(3, 300, 0.001) < 1 / 3000


@pytest.mark.slow
def test_few_unique_rows_shuffled_raise_no_alarm(build):
    """The Poisson tail holds where one fit is expected: rows that all differ."""
    alarms = 0
    for key in range(300):
        table = {"a": [str(i) for i in range(12)]}
        released = shuffled(np.random.default_rng([6, key]), {**table, "sex": ["m"] * 12})
        alarms += bool(measured(build.case({**table, "sex": ["m"] * 12}, released, "qq")).findings)
    assert alarms <= 3


def test_another_release(build, tmp_path):
    """Two releases of one table, each with what the other hides, in one order."""
    table = people(np.random.default_rng(7), 100)
    lines = [f"{a};{s}" for a, s in zip(table["age"], table["sex"], strict=True)]
    (tmp_path / "earlier.csv").write_text("\n".join(["born;sex", *lines]))
    case = build.case(table, {n: table[n] for n in ("sex", "disease")}, "qqs", home=tmp_path)
    outcome = measured(case, other="earlier.csv", delimiter=";")
    assert values(outcome)["sex.agreement"] == 1
    assert "order of the other release" in outcome.findings[0].text
    with pytest.raises(DataError):
        measured(case, other="none.csv")


def test_random_and_hidden_cells(build):
    """Perturbed values still agree more than by chance; suppressed cells fit anything and prove nothing."""
    rng = np.random.default_rng(8)
    table = people(rng, 400)
    kept = rng.random(400) < 0.4
    noisy = [d if k else f"d{x}" for d, k, x in zip(table["disease"], kept, rng.integers(0, 12, 400), strict=True)]
    released = {"age": ["⊥"] * 400, "sex": ["*"] * 400, "disease": noisy}
    changes = {"disease": (("perturb", Change.PERTURBED),)}
    outcome = measured(build.case(table, released, "qqs", changes=changes))
    assert [f.code for f in outcome.findings] == ["PPF894"]
    assert "`disease`" in outcome.findings[0].text
    blind = measured(build.case(table, {**released, "disease": [None] * 400}, "qqs"))
    assert not blind.findings


def test_labels_of_the_hierarchy_fit(build):
    table = {"p": ["flu", "cut", "cold", "burn"] * 10}
    released = {"p": ["lungs", "skin", "lungs", "skin"] * 10}
    levels = HierarchySpec(levels=tuple((v, (a,)) for v, a in zip(table["p"][:4], released["p"][:4], strict=True)))
    case = build.case(table, released, "q")
    case = case.but(attributes={"p": AttributeFacts("p", Role.QUASI_IDENTIFIER, hierarchy=levels, source="p")})
    assert values(measured(case))["agreement"] == 1


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_hardly_any_rows(build, rows):
    table = people(np.random.default_rng(9), rows)
    outcome = measured(build.case(table, table, "qqs"))
    assert not outcome.findings
    assert all(f.value is not None or f.note for f in outcome.figures.values())


def test_parameters_that_go_nowhere():
    facts = {"p": AttributeFacts("p", Role.QUASI_IDENTIFIER)}
    for params, code in (
        ({"columns": {"p": "q"}}, "PPF782"),
        ({"other": "x.csv", "columns": {"pp": "q"}}, "PPF861"),
        ({"attributes": ["pp"]}, "PPF861"),
    ):
        assert [p.code for p in SPEC.effect(SPEC.params(**params), Scope("", facts, ())).problems] == [code]
