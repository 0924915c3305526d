"""The audit `information_loss`: known changes of numbers, beside what halves of the original differ by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ppdm_flow.audits.information_loss.algorithm import InformationLossAudit
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

SPEC = load("audits", "information_loss")
ROWS = 4000


def table(rows=ROWS, **columns):
    known = {n: v if isinstance(v, Column) else NumericColumn(v, AttributeType.FLOAT) for n, v in columns.items()}
    return Table(known, np.arange(rows))


def correlated(rows=ROWS):
    rng = np.random.default_rng(5)
    x = rng.normal(50, 10, rows)
    return {"x": x, "y": 2 * x + rng.normal(0, 5, rows), "z": rng.exponential(3, rows)}


def figures(build, before, after, roles="xxx", **params):
    more = {k: params.pop(k) for k in ("paired",) if k in params}
    case = build.case(table(len(before["x"]), **before), after, roles, **more)
    return InformationLossAudit(SPEC.params(**params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def test_an_unchanged_copy_loses_nothing(build):
    before = correlated()
    found = values(figures(build, before, table(**before)))
    for name, value in found.items():
        if not name.endswith(".baseline"):
            assert value == pytest.approx(0, abs=1e-12), name
    assert 0 < found["largest_kolmogorov_smirnov.baseline"] < 0.1
    assert 0 < found["largest_correlation_change.baseline"] < 0.1


def test_rows_of_unlike_people_differ_as_two_draws_do(build):
    """E|x - x'| / (sqrt(2) sd) of two independent normal draws is sqrt(2 / pi)."""
    found = values(figures(build, correlated(), table(**correlated())))
    assert found["x.il1s.baseline"] == pytest.approx(math.sqrt(2 / math.pi), abs=0.03)


def test_more_noise_loses_more(build):
    before = correlated()
    noise = np.random.default_rng(6).normal(size=ROWS)
    seen = [
        values(figures(build, before, table(**before | {"x": before["x"] + scale * noise}))) for scale in (0, 1, 3, 10)
    ]
    for name in ("x.il1s", "x.variance_change", "x.wasserstein", "largest_correlation_change", "eigenvalue_change"):
        one_by_one = [s[name] for s in seen]
        assert one_by_one == sorted(one_by_one), name
        assert one_by_one[-1] > one_by_one[0], name
    assert seen[-1]["x.variance_change"] == pytest.approx(1.0, abs=0.1)
    assert seen[-1]["x.il1s"] == pytest.approx(math.sqrt(2 / math.pi) / math.sqrt(2), abs=0.03)


def test_a_shuffled_column_breaks_correlations_and_is_named(build):
    before = correlated()
    after = table(**before | {"y": np.random.default_rng(7).permutation(before["y"])})
    outcome = figures(build, before, after)
    figure = outcome.figures["largest_correlation_change"]
    assert figure.value > 0.9
    assert "`y`" in figure.note
    assert outcome.figures["largest_il1s"].note == "`y`"
    assert outcome.figures["y.il1s"].value == pytest.approx(outcome.figures["y.il1s.baseline"].value, abs=0.05)
    assert values(outcome)["y.kolmogorov_smirnov"] == 0
    matrix = {c.id: c for c in outcome.charts}["correlation_change"]
    assert matrix.series[0].y[1] < -0.9


def test_without_pairs_there_is_no_il1s(build):
    before = correlated()
    outcome = figures(build, before, table(**before), paired=False)
    assert outcome.figures["mean_il1s"].value is None
    assert "paired" in outcome.figures["x.il1s"].note
    assert values(outcome)["mean_wasserstein"] == 0


def test_labels_are_listed_and_not_compared(build):
    before = correlated(100)
    after = table(100, x=Column.of(["low" if v < 50 else "high" for v in before["x"]]), y=before["y"])
    outcome = figures(build, before, after)
    assert outcome.figures["columns_not_comparable"].value == 1
    assert "`x`" in outcome.figures["columns_not_comparable"].note
    assert "x.il1s" not in outcome.figures
    assert outcome.figures["mean_correlation_change"].value is None
    nothing = figures(build, before, table(100, x=after["x"]))
    assert nothing.figures["mean_il1s"].value is None


def test_missing_cells_and_weights(build):
    numbers, weights = np.array([1.0, 2, 3, 4]), NumericColumn(np.array([1, 2, 1, 4]), AttributeType.INTEGER)
    gone = NumericColumn(numbers + 2, AttributeType.FLOAT, np.array([False, False, False, True]))
    case = build.case(
        table(4, x=numbers, w=weights), table(4, x=gone, w=weights), {"x": build.roles["x"], "w": build.roles["w"]}
    )
    found = values(InformationLossAudit(SPEC.params()).measure(*case.args))
    repeated = np.repeat(numbers, [1, 2, 1, 4])
    assert found["x.missing_change"] == 0.5
    assert found["x.mean_change"] == pytest.approx((4 - repeated.mean()) / repeated.std(ddof=1))
    assert found["x.il1s"] == pytest.approx(2 / (math.sqrt(2) * repeated.std(ddof=1)))


def test_a_sample_is_told(build):
    before = correlated()
    outcome = figures(build, before, table(**before), rows=100)
    assert outcome.figures["x.wasserstein"].sample == 100
    assert not any("50." in label for chart in outcome.charts for label in chart.x)


def test_numbers_beside_suppressed_cells_are_compared(build):
    before = {"x": np.arange(1.0, 101.0)}
    after = Column.of(["⊥" if v > 90 else f"{v:.0f}" for v in before["x"]])
    outcome = figures(build, before, table(100, x=after), "x")
    found = values(outcome)
    assert found["columns_not_comparable"] == 0
    assert found["x.il1s"] == 0
    assert found["x.missing_change"] == pytest.approx(0.1)
    assert found["x.mean_change"] == pytest.approx(5 / before["x"].std(ddof=1))


def test_labels_of_generalized_columns_are_no_numbers(build):
    before = {"x": np.arange(1.0, 101.0)}
    after = table(100, x=Column.of([f"{v // 10 * 10:.0f}" for v in before["x"]]))
    case = build.case(table(100, **before), after, "x", changes={"x": (("coarsen", Change.GENERALIZED),)})
    outcome = InformationLossAudit(SPEC.params()).measure(*case.args)
    assert outcome.figures["columns_not_comparable"].value == 1


def test_densities_are_shares_in_units_of_the_deviation(build):
    before = {"x": np.append(np.arange(100.0), 1e6)}
    outcome = figures(build, before, table(101, x=np.append(np.arange(100.0), 2e6)), "x")
    density = {c.id: c for c in outcome.charts}["x.density"]
    original, released = (series.y for series in density.series)
    assert original == released
    assert 0.95 <= sum(original) < 1  # the far value is left out
    assert max(original) <= 6 / 101
    assert not any("e+" in label or "1000000" in label for label in density.x)


def test_a_column_of_one_value_has_no_density(build):
    outcome = figures(build, {"x": np.array([1.0, 1, 1, 1])}, table(4, x=np.arange(4.0)), "x")
    assert not any(c.id.endswith(".density") for c in outcome.charts)
