"""The audit `propensity`: copies, samples, noise and a planted column."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.audits.propensity.algorithm import PropensityAudit
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

SPEC = load("audits", "propensity")


def people(rng, rows=1500):
    x = rng.normal(50, 10, rows)
    job = np.where(rng.random(rows) < 1 / (1 + np.exp((50 - x) / 5)), "old job", "young job")
    return {"x": x, "y": x + rng.normal(0, 4, rows), "job": job.tolist()}


def table(columns, start=0):
    made = {
        n: Column.of(v) if isinstance(v, list) else NumericColumn(np.asarray(v), AttributeType.FLOAT)
        for n, v in columns.items()
    }
    return Table(made, np.arange(start, start + len(columns["x"])))


def measured(build, before, after, *, more=None, **params):
    roles = dict.fromkeys(before, build.roles["x"])
    case = build.case(table(before), table(after), roles, **(more or {}))
    return PropensityAudit(SPEC.params(**params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def test_a_copy_cannot_be_told(build):
    before = people(np.random.default_rng(0))
    found = values(measured(build, before, before))
    for name in ("logistic.pmse", "tree.pmse", "x.ratio", "job.ratio", "largest_column_ratio"):
        assert found[name] == pytest.approx(0, abs=1e-12), name
    assert found["columns_not_comparable"] == 0
    assert 0 < found["logistic.ratio.baseline"] < 5
    assert 0.5 < found["tree.ratio.baseline"] < 1.6


def test_another_sample_of_the_population_is_as_far_as_halves_are(build):
    rng = np.random.default_rng(1)
    found = values(measured(build, people(rng), people(rng)))
    assert 0.5 < found["logistic.ratio"] < 5
    assert 0.6 < found["tree.ratio"] < 1.5
    assert abs(found["tree.standardized"]) < 5


@pytest.mark.slow
def test_more_noise_is_told_more_easily(build):
    rng = np.random.default_rng(2)
    before, noise = people(rng), rng.normal(size=1500)
    seen = [values(measured(build, before, before | {"x": before["x"] + s * noise})) for s in (0, 3, 10, 30)]
    for name in ("logistic.pmse", "logistic.ratio", "tree.pmse"):
        assert [s[name] for s in seen] == sorted(s[name] for s in seen), name
    assert seen[-1]["tree.ratio"] > 3


def test_a_shifted_column_is_named(build):
    before = people(np.random.default_rng(3))
    outcome = measured(build, before, before | {"y": before["y"] + 20})
    assert outcome.figures["largest_column_ratio"].note == "`y`"
    found = values(outcome)
    assert found["y.importance"] == max(found[f"{n}.importance"] for n in before)
    assert found["logistic.ratio"] > 100
    assert outcome.charts[0].x[0] == "y"


@pytest.mark.slow
def test_a_shuffled_column_is_told_by_products_of_two(build):
    rng = np.random.default_rng(4)
    before = people(rng)
    after = before | {"y": rng.permutation(before["y"])}
    with_pairs = values(measured(build, before, after))
    without = values(measured(build, before, after, interactions=0))
    assert without["logistic.pmse"] == pytest.approx(0, abs=1e-12)
    assert with_pairs["logistic.ratio"] > 20
    assert with_pairs["largest_column_ratio"] == pytest.approx(0, abs=1e-9)


def test_generalized_columns_are_compared_at_the_released_level(build):
    before = people(np.random.default_rng(5))
    bands = ["low" if v < 50 else "high" for v in before["x"]]
    more = {"changes": {"x": (("coarsen", Change.GENERALIZED),)}}
    outcome = measured(build, before, before | {"x": bands}, more=more)
    assert outcome.figures["columns_not_comparable"].value == 0
    assert values(outcome)["logistic.pmse"] == pytest.approx(0, abs=1e-12)
    apart = measured(build, before, before | {"x": bands}, more={**more, "paired": False})
    assert "`x`" in apart.figures["columns_not_comparable"].note
    assert values(apart)["logistic.pmse"] == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_so_are_the_bounds_of_intervals_which_are_numbers(build):
    """A number below which a person's own one lies tells nobody apart; other numbers than the true ones do."""
    before = people(np.random.default_rng(6))
    low = np.floor(before["x"] / 10) * 10
    bounds = measured(build, before, before | {"x": low}, more={"changes": {"x": (("coarsen", Change.GENERALIZED),)}})
    assert bounds.figures["columns_not_comparable"].value == 0
    assert values(bounds)["logistic.pmse"] == pytest.approx(0, abs=1e-12)
    rounded = measured(build, before, before | {"x": low}, more={"changes": {"x": (("cut", Change.OTHER),)}})
    assert values(rounded)["logistic.ratio"] > 20


def test_nothing_to_compare_and_samples(build):
    outcome = measured(build, {"x": np.zeros(0)}, {"x": np.zeros(0)})
    assert outcome.figures["logistic.pmse"].value is None
    constant = measured(build, {"x": np.ones(50)}, {"x": np.ones(50)})
    assert constant.figures["logistic.ratio"].value is None
    assert constant.figures["tree.pmse"].value == 0
    rng = np.random.default_rng(6)
    assert measured(build, people(rng), people(rng), rows=100).figures["tree.ratio"].sample == 100
