"""The corners: right rows, or a clear error."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.anonymizers.krimp_generator import material
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.tables.table import Table


def test_no_correction(bench):
    made, _ = bench({"a": ["x", "y"] * 30, "b": ["u", "v"] * 30}).rows(1000, laplace=0)
    assert set(zip(made["a"].texts(), made["b"].texts(), strict=True)) == {("x", "u"), ("y", "v")}


def test_a_large_correction_makes_everything_likely(bench):
    made, _ = bench({"a": ["x", "y"] * 30, "b": ["u", "v"] * 30}).rows(1000, laplace=10_000)
    assert len(set(zip(made["a"].texts(), made["b"].texts(), strict=True))) == 4


def test_a_support_above_the_rows_draws_independently_and_says_so(bench):
    made, fitted = bench({"a": ["x", "y"] * 30, "b": ["u", "v"] * 30}).rows(1000, min_support=61)
    assert len(set(zip(made["a"].texts(), made["b"].texts(), strict=True))) == 4
    assert {f.code for f in fitted.findings} == {"PPF748", "PPF749"}
    assert fitted.figures["candidates"].value == 0


def test_a_single_row(bench):
    made, _ = bench({"a": ["x"], "b": [None]}).rows(20)
    assert set(made["a"].texts()) == {"x"}
    assert set(made["b"].texts()) == {None}


def test_a_constant_column(bench):
    made, _ = bench({"a": ["x"] * 40, "b": ["u", "v"] * 20}).rows(200)
    assert set(made["a"].texts()) == {"x"}
    assert set(made["b"].texts()) == {"u", "v"}


def test_one_column(bench):
    made, fitted = bench({"a": ["x"] * 30 + ["y"] * 10}).rows(4000)
    assert abs(made["a"].texts().count("x") / 4000 - 0.75) < 0.031
    assert fitted.figures["compression"].value >= 1


@pytest.mark.slow
def test_three_hundred_columns_with_slim(bench):
    rng = np.random.default_rng(2)
    base = rng.integers(0, 2, 60)
    table = {f"c{i}": [str(v) for v in (base ^ (rng.random(60) < 0.1))] for i in range(300)}
    made, _ = bench(table).rows(100, algorithm="slim", min_support=20)
    assert len(made.names) == 300
    assert all(set(made[n].texts()) <= {"0", "1"} for n in made.names)


def test_too_many_itemsets_give_advice(bench, monkeypatch):
    monkeypatch.setattr(material, "MOST_CANDIDATES", 10_000)  # twenty million take seconds to find
    table = {f"c{i}": ["0"] * 5 for i in range(300)}
    with pytest.raises(PluginError) as caught:
        bench(table).fit(candidates="all")
    assert caught.value.diagnostics[0].code == "PPF775"
    assert "closed" in caught.value.diagnostics[0].help
    made, fitted = bench(table).rows(3)
    assert len(made.names) == 300
    assert fitted.transform.describe()["candidates"] == "closed itemsets"


def test_fifty_thousand_values(bench):
    size = 50_000
    table = {"a": [f"v{i}" for i in range(size)], "b": [str(i % 3) for i in range(size)]}
    made, fitted = bench(table).rows(3000, min_support=2)
    assert len(set(made["a"].texts())) > 2700
    assert "PPF749" in {f.code for f in fitted.findings}


def test_fifty_thousand_values_are_too_many_for_slim(bench):
    with pytest.raises(PluginError) as caught:
        bench({"a": [f"v{i}" for i in range(50_000)]}).fit(algorithm="slim")
    assert caught.value.diagnostics[0].code == "PPF776"


def test_one_text_in_two_columns_is_two_values(bench):
    made, _ = bench({"a": ["x", "y"] * 20, "b": ["y", "z"] * 20}).rows(200)
    assert set(made["a"].texts()) == {"x", "y"}
    assert set(made["b"].texts()) == {"y", "z"}


def test_suppressed_and_missing_are_two_values(bench):
    made, _ = bench({"a": ["⊥", None, "x"] * 20}).rows(300)
    assert set(made["a"].texts()) == {"⊥", None, "x"}


def test_no_column_is_an_error(bench):
    with pytest.raises(PluginError) as caught:
        bench({"a": ["x"]}, {"a": Role.IDENTIFIER}).fit()
    assert caught.value.diagnostics[0].code == "PPF780"


def test_no_row_is_an_error(bench):
    with pytest.raises(PluginError) as caught:
        bench(Table.of({"a": []})).fit()
    assert caught.value.diagnostics[0].code == "PPF745"


def test_names_that_are_not_there(bench):
    for params in ({"attributes": ["aa"]}, {"remove": [["a", "bb"]]}):
        with pytest.raises(PluginError, match="PPF606"):
            bench({"a": ["x"], "b": ["y"]}).fit(**params)
