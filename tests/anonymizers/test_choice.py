"""What the step reports of its operator, of the others, and of the price of each bound."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.anonymizers.fine_grain_perturbation.algorithm import FineGrainPerturbation
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams, effect
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Directions, Role
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

ERRORS = (
    "expected_reconstruction_error",
    "uniform_expected_reconstruction_error",
    "record_expected_reconstruction_error",
)


def fit(table: Table, requirement: Sensitivity, **params) -> Fitted:
    view = InMemoryView.of(table)
    facts = {f.name: AttributeFacts(f.name, f.role) for f in view.schema}
    return FineGrainPerturbation(FineGrainParams(**params)).fit(view, StepContext("perturb", facts, (requirement,)))


def zipf(size: int, rows: int = 4000) -> Table:
    share = 1 / np.arange(1, size + 1)
    counts = np.maximum(1, share / share.sum() * rows).astype(int)
    return Table.of({"d": [f"canary{i:04d}" for i, n in enumerate(counts.tolist()) for _ in range(n)]})


def tolerance(theta: float, **rest) -> Sensitivity:
    return Sensitivity.of_bounds("d", (), Directions.BOTH, tolerance=theta, **rest)


def test_the_papers_example(papers):
    figures = fit(papers.patients(), papers.disease(Directions.UPWARD)).figures
    assert figures["record_utility"].value == pytest.approx(0.4375)
    assert figures["general_record_utility"].value == pytest.approx(0.471814, abs=1e-6)
    assert figures["restriction_cost"].value == pytest.approx(0.034314, abs=1e-6)
    assert figures["shadow_price.SARS"].interval == pytest.approx((0.01 * 1.02083, 0.01 * 3.0625), rel=1e-4)
    assert figures["shadow_price.cancer"].value == 0.0
    # The record optimum never keeps SARS; one such value can still be told apart.
    assert figures["expected_reconstruction_error"].value == figures["record_expected_reconstruction_error"].value


def test_the_aggregate_objective():
    record = fit(zipf(12), tolerance(6.0))
    aggregate = fit(zipf(12), tolerance(6.0), objective="aggregate")
    for name in (*ERRORS[1:], "aggregate_expected_reconstruction_error", "uniform_record_utility"):
        assert aggregate.figures[name].value == record.figures[name].value
    mine = aggregate.figures["expected_reconstruction_error"].value
    assert mine == aggregate.figures["aggregate_expected_reconstruction_error"].value
    assert mine < aggregate.figures["uniform_expected_reconstruction_error"].value
    assert mine < record.figures["expected_reconstruction_error"].value
    assert aggregate.figures["record_utility"].value < record.figures["record_utility"].value
    assert aggregate.figures["aggregate_gap"].value <= 1e-5
    assert not [name for name in aggregate.figures if name.startswith("shadow_price")]  # prices of another objective
    assert not aggregate.charts


def test_prices_name_only_what_the_policy_names():
    fitted = fit(zipf(60), tolerance(6.0))
    assert not [name for name in fitted.figures if name.startswith("shadow_price")]
    (chart,) = fitted.charts
    assert len(chart.x) == 40
    assert "canary" not in repr((chart, fitted.findings, fitted.figures))
    (finding,) = [f for f in fitted.findings if f.code == "PPF770"]
    assert "percentage points" in finding.text
    gains = chart.series[0].y
    assert list(gains) == sorted(gains, reverse=True)
    domain = tuple(f"canary{i:04d}" for i in range(60))
    named = fit(zipf(60), tolerance(6.0, domain=domain))
    assert any(name.startswith("shadow_price.canary") for name in named.figures)
    assert named.charts[0].x[0] in domain


def test_large_domains_leave_out_what_would_be_slow():
    figures = fit(zipf(120), tolerance(6.0)).figures
    assert figures["general_record_utility"].value is None
    assert "120 values" in figures["general_record_utility"].note
    assert figures["restriction_cost"].value is None
    assert "aggregate_expected_reconstruction_error" not in figures
    assert fit(zipf(120), tolerance(6.0), objective="aggregate").figures["aggregate_gap"].value <= 1e-5


def test_values_that_are_never_kept_have_no_error_to_report():
    bounds = (BoundOfValue("a", 0.1, 0.1001), BoundOfValue("b", 0.1, 0.1001))
    table = Table.of({"d": ["c"] * 90 + ["e"] * 8 + ["a", "b"]})
    figures = fit(table, Sensitivity.of_bounds("d", bounds, Directions.UPWARD)).figures
    assert figures["lowest_retention"].value == 0.0
    assert figures["expected_reconstruction_error"].value is None
    assert figures["expected_reconstruction_error"].note
    assert figures["aggregate_expected_reconstruction_error"].value > 0


def test_a_single_value_and_no_bound():
    one = fit(Table.of({"d": ["a", "a"]}), tolerance(2.0))
    assert one.figures["expected_reconstruction_error"].value == 0.0
    assert not one.charts
    free = fit(Table.of({"d": ["a", "b"]}), Sensitivity.of_bounds("d", (), Directions.BOTH))
    assert free.figures["record_utility"].value == 1.0
    assert free.figures["restriction_cost"].value == 0.0


def test_uniform_operators_have_no_objective(papers):
    facts = {"disease": AttributeFacts("disease", Role.SENSITIVE)}
    scope = Scope("perturb", attributes=facts, requirements=(papers.disease(),))
    wrong = effect(FineGrainParams(operator="uniform", objective="aggregate"), scope)
    assert [p.code for p in wrong.problems] == ["PPF782"]
    assert not effect(FineGrainParams(operator="uniform"), scope).problems
    assert not effect(FineGrainParams(objective="aggregate"), scope).problems
