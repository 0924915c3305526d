"""The audit `perturbation_utility`: the paper's figures, and reconstruction against plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.perturbation_utility.algorithm import (
    PerturbationUtilityAudit,
    aggregate_utility,
    by_inverse,
    by_iteration,
    distribution_utility,
)
from ppdm_flow.core.attributes import Change
from ppdm_flow.mining.reconstruction.likelihood import RetentionChannel
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.registry import load

AUDIT = PerturbationUtilityAudit(load("audits", "perturbation_utility").params())
DISEASES = ("SARS", "HIV", "H1N1", "cancer")


def operator(kept, domain=DISEASES):
    return Operator("s", domain, np.asarray(kept, dtype=float), "perturb")


@pytest.mark.parametrize(
    ("kept", "expected"),
    [([1 / 9] * 4, 1 / 3), ([0, 1 / 3, 1 / 3, 1 / 3], 0.4375), ([0, 1 / 6, 1 / 6, 1 / 6], 0.34375)],
)
def test_the_papers_record_utility(build, kept, expected):
    cells = {"s": [d for d in DISEASES for _ in range(2)]}
    case = build.case(cells, cells, "s", operators={"s": operator(kept)})
    assert AUDIT.measure(*case.args).figures["expected_record_utility"].value == pytest.approx(expected, abs=1e-15)


@examples(30)
@given(st.lists(st.floats(0.05, 1), min_size=2, max_size=8), st.data())
def test_inverse_is_the_inverse(kept, data):
    kept = np.array(kept)
    weights = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=len(kept), max_size=len(kept))))
    shares = weights / weights.sum()
    if data.draw(st.booleans()):
        kept[0] = 0.0  # one value without retention can still be solved for
    released = operator(kept, tuple(map(str, range(len(kept))))).matrix() @ shares
    assert by_inverse(RetentionChannel.of(kept), released) == pytest.approx(shares, abs=1e-9)
    assert by_inverse(RetentionChannel.of(kept), released) == pytest.approx(
        np.linalg.lstsq(operator(kept, tuple(map(str, range(len(kept))))).matrix(), released, rcond=None)[0], abs=1e-6
    )


def test_values_that_cannot_be_told_apart_share_equally():
    kept, shares = np.array([0.0, 0.0, 0.5]), np.array([0.5, 0.1, 0.4])
    released = operator(kept, ("a", "b", "c")).matrix() @ shares
    assert by_inverse(RetentionChannel.of(kept), released) == pytest.approx([0.3, 0.3, 0.4])
    assert by_inverse(RetentionChannel.of(np.zeros(3)), np.array([0.2, 0.3, 0.5])) == pytest.approx([1 / 3] * 3)


@examples(10)
@given(st.lists(st.floats(0.2, 1), min_size=2, max_size=5), st.data())
def test_iteration_is_plain_em(kept, data):
    kept = np.array(kept)
    m = len(kept)
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=m, max_size=m)), dtype=float)
    released = weights / weights.sum()
    matrix = operator(kept, tuple(map(str, range(m)))).matrix()
    shares = np.full(m, 1 / m)
    for _ in range(50):
        joint = matrix * shares
        shares = (joint / joint.sum(axis=1, keepdims=True) * released[:, None]).sum(axis=0)
    assert by_iteration(RetentionChannel.of(kept), released, 50) == pytest.approx(shares, abs=1e-8)


def test_iteration_finds_what_was_there():
    kept, shares = np.array([0.3, 0.5, 0.4, 0.2]), np.array([0.5, 0.3, 0.15, 0.05])
    assert by_iteration(RetentionChannel.of(kept), operator(kept).matrix() @ shares, 100_000) == pytest.approx(
        shares, abs=1e-5
    )


def test_realised_utility_and_pictures(build):
    rng = np.random.default_rng(1)
    kept = np.array([0.2, 0.5, 0.5, 0.6])
    values = rng.choice(4, 40_000, p=[0.4, 0.3, 0.2, 0.1])
    out = np.where(rng.random(40_000) < kept[values], values, rng.integers(0, 4, 40_000))
    case = build.case(
        {"s": [DISEASES[c] for c in values]},
        {"s": [DISEASES[c] for c in out]},
        "s",
        operators={"s": operator(kept)},
        declared={"s": frozenset(["HIV"])},
    )
    outcome = AUDIT.measure(*case.args)
    found = {n: f.value for n, f in outcome.figures.items()}
    assert found["record_utility"] == (values == out).mean()
    assert found["record_utility"] == found["s.record_utility"]
    assert found["record_utility"] == pytest.approx(found["expected_record_utility"], abs=5 * 0.5 / 200)
    assert found["distribution_utility"] > 0.97
    assert found["inverse_distribution_utility"] > 0.97
    assert found["aggregate_utility"] == pytest.approx(1 - (1 - found["distribution_utility"]) * 2 / 4)
    assert found["inverse_aggregate_utility"] == pytest.approx(1 - (1 - found["inverse_distribution_utility"]) / 2)
    (chart,) = outcome.charts
    assert chart.x == ("value 1", "HIV", "value 3", "value 4")
    assert [s.name for s in chart.series] == ["original", "released", "reconstructed"]
    truth, found = chart.series[0], chart.series[2]
    assert all(low <= y <= high for low, y, high in zip(found.low, found.y, found.high, strict=True))
    assert all(low - 0.02 < y < high + 0.02 for low, y, high in zip(found.low, truth.y, found.high, strict=True))
    assert all(0 < high - low < 0.1 for low, high in zip(found.low, found.high, strict=True))


def test_without_pairs_or_operator(build):
    cells = {"s": list(DISEASES)}
    case = build.case(cells, cells, "s", operators={"s": operator([0.5] * 4)}, paired=False)
    assert AUDIT.measure(*case.args).figures["record_utility"].value is None
    assert AUDIT.measure(*case.but(operators={}).args).figures["aggregate_utility"].value is None


def test_an_attribute_changed_before_has_no_realised_utility(build):
    cells = {"s": list(DISEASES)}
    changes = {"s": (("coarsen", Change.GENERALIZED), ("perturb", Change.PERTURBED))}
    case = build.case(cells, cells, "s", operators={"s": operator([0.5] * 4)}, changes=changes)
    figure = AUDIT.measure(*case.args).figures["record_utility"]
    assert (figure.value, figure.note) == (None, "the attribute was changed before it was perturbed")


def test_definition_2_and_total_variation():
    disjoint, halves, quarters = (np.array(s) for s in ([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], [0.25, 0.75]))
    assert (aggregate_utility(*disjoint), distribution_utility(*disjoint)) == (0, 0)
    assert (aggregate_utility(halves, quarters), distribution_utility(halves, quarters)) == (0.75, 0.75)
    many = np.eye(40)  # nothing in common, and still 0.95
    assert (aggregate_utility(many[0], many[1]), distribution_utility(many[0], many[1])) == (0.95, 0)


def test_record_utility_of_steps_without_an_operator(build):
    """Cells that a swap or a recoding left, counted by hand; a suppressed cell is never kept, a missing one is."""
    before = ["a", "b", "c", None, "a", "b", "c", "c"]
    after = ["a", "c", "b", None, "⊥", "b", "d", None]
    changes = {"s": (("swap", Change.OTHER),)}
    figures = AUDIT.measure(*build.case({"s": before}, {"s": after}, "s", changes=changes).args).figures
    assert figures["s.record_utility"].value == figures["record_utility"].value == 3 / 8
    assert {n for n, f in figures.items() if f.value is not None} == {"s.record_utility", "record_utility"}
    unpaired = AUDIT.measure(*build.case({"s": before}, {"s": after}, "s", changes=changes, paired=False).args).figures
    assert unpaired["s.record_utility"].value is None
    generated = {"s": (("make", Change.GENERATED),)}
    figures = AUDIT.measure(*build.case({"s": before}, {"s": after}, "s", changes=generated).args).figures
    assert "s.record_utility" not in figures
    unchanged = AUDIT.measure(*build.case({"s": before}, {"s": before}, "s").args).figures
    assert "s.record_utility" not in unchanged


def test_a_bare_figure_is_of_columns_with_an_operator(build):
    cells = {"s": ["SARS", "HIV"], "t": ["x", "y"]}
    changes = {"s": (("perturb", Change.PERTURBED),), "t": (("swap", Change.OTHER),)}
    out = {"s": ["SARS", "HIV"], "t": ["y", "x"]}
    case = build.case(cells, out, "ss", operators={"s": operator([0.5] * 4)}, changes=changes)
    figures = AUDIT.measure(*case.args).figures
    assert [figures[n].value for n in ("record_utility", "s.record_utility", "t.record_utility")] == [1, 1, 0]


def test_a_matrix_of_any_form(build):
    """Exact frequencies of what is expected: the record utility is f . diag R, the aggregate utilities are 1."""
    matrix = np.array([[0.7, 0.2, 0.1, 0.0], [0.0, 0.9, 0.1, 0.0], [0.3, 0.1, 0.6, 0.0], [0.0, 0.0, 0.5, 0.5]])
    counts = np.array([100, 50, 30, 20])
    before = [d for d, n in zip(DISEASES, counts, strict=True) for _ in range(n)]
    after = [d for d, n in zip(DISEASES, np.rint(counts @ matrix).astype(int), strict=True) for _ in range(n)]
    told = {"operators": {"s": MatrixOperator("s", DISEASES, matrix, "perturb")}}
    figures = AUDIT.measure(*build.case({"s": before}, {"s": after}, "s", **told).args).figures
    assert figures["expected_record_utility"].value == pytest.approx((counts / 200) @ np.diag(matrix))
    assert figures["inverse_aggregate_utility"].value == pytest.approx(1.0)
    assert figures["aggregate_utility"].value == pytest.approx(1.0, abs=1e-4)
    told = {"operators": {"s": MatrixOperator("s", DISEASES, np.full((4, 4), 0.25), "perturb")}}
    figures = AUDIT.measure(*build.case({"s": before}, {"s": after}, "s", **told).args).figures
    assert figures["inverse_aggregate_utility"].value is figures["aggregate_utility"].value is None
    assert figures["expected_record_utility"].value == pytest.approx(0.25)
