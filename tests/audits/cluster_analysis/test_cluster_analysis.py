"""The audit `cluster_analysis`: clusters and frequencies, before and after."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.audits.cluster_analysis.algorithm import ClusterAnalysisAudit, points
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.table import Table

SPEC = load("audits", "cluster_analysis")
ROLES = {"x": Role.INSENSITIVE, "g": Role.INSENSITIVE, "c": Role.QUASI_IDENTIFIER}


def audit(**params):
    return ClusterAnalysisAudit(SPEC.params(**params))


def clouds(rows: int = 300) -> dict[str, list[str | None]]:
    """Three groups far from each other, of 1/2, 1/3 and 1/6 of the rows."""
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1, 2], [rows // 2, rows // 3, rows - rows // 2 - rows // 3])
    numbers = [f"{v:.3f}" for v in 100 * group + rng.normal(size=rows)]
    return {"x": numbers, "g": [f"group {g}" for g in group], "c": [str(i % 5) for i in range(rows)]}


def test_an_unchanged_release(build):
    table = clouds()
    outcome = audit(clusters=3, attributes=("x", "g"), within="c").measure(*build.case(table, table, ROLES).args)
    found = {n: f.value for n, f in outcome.figures.items()}
    assert found["agreement"] == 1.0
    assert found["size_change"] == 0.0
    assert found["class_frequency_change"] == 0.0
    assert found["explained_original"] == found["explained_released"] > 0.99
    sizes, moves = outcome.charts
    assert sizes.series[0].y == pytest.approx((1 / 2, 1 / 3, 1 / 6))
    assert [row.y for row in moves.series] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_rows_that_change_places_keep_sizes_and_lose_agreement(build):
    table = clouds()
    order = np.random.default_rng(1).permutation(300)
    moved = {**table, "x": [table["x"][i] for i in order], "g": [table["g"][i] for i in order]}
    found = audit(clusters=3, attributes=("x", "g"), within="c").measure(*build.case(table, moved, ROLES).args).figures
    assert found["size_change"].value == 0.0
    assert abs(found["agreement"].value) < 0.1
    assert found["class_frequency_change"].value > 0.5  # x is nearly unique, so classes have other values


def test_frequencies_within_classes(build):
    before = {"x": ["1", "1", "2", "2"], "g": ["a", "b", "a", "b"], "c": ["p", "p", "q", "q"]}
    after = {**before, "g": ["b", "a", "b", "b"]}
    figure = audit(attributes=("g",), within="c").measure(*build.case(before, after, ROLES).args).figures
    assert figure["class_frequency_change"].value == 0.5  # class q: {a, b} became {b, b}


def test_without_pairs_only_sizes_are_compared(build):
    table = clouds()
    outcome = audit(clusters=3, attributes=("x", "g")).measure(*build.case(table, table, ROLES, paired=False).args)
    assert outcome.figures["agreement"].value is None
    assert outcome.figures["size_change"].value == 0.0
    assert len(outcome.charts) == 1


def test_large_tables_are_sampled(build):
    table = clouds(600)
    found = audit(clusters=3, attributes=("x", "g"), sample=100).measure(*build.case(table, table, ROLES).args).figures
    assert found["agreement"].value == 1.0
    assert found["agreement"].sample == 100


def test_points():
    table = Table.of({"n": ["1", "3", None], "t": ["a", "b", "⊥"], "many": ["p", "q", "r"]})
    found = points(table, ["n", "t", "many"], 2)
    assert found.shape == (3, 1 + 4)
    assert found[:, 0] == pytest.approx([-np.sqrt(1.5), np.sqrt(1.5), 0])
    assert np.linalg.norm(found[0, 1:] - found[1, 1:]) == pytest.approx(1.0)


def test_nothing_to_compare(build):
    table = {"x": ["1"], "g": ["a"], "c": ["p"]}
    assert audit().measure(*build.case(table, table, ROLES).args).figures["agreement"].value is None
