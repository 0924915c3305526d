"""Top and bottom coding: tails become bounds or means, and means of few rows are refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numeric_tables import FACTS, facts, numbers, people

from ppdm_flow.anonymizers.top_bottom_code.algorithm import quantile
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run

SPEC = registry.load("anonymizers", "top_bottom_code")
FLOAT, INTEGER = AttributeType.FLOAT, AttributeType.INTEGER


def case(table: Table, **params) -> Case:
    return Case(SPEC, {"attributes": ["x"], **params}, table, facts=facts(table))


def coded(table: Table, **params):
    return run(case(table, **params).fit().transform, table)[""]["x"].values


class TestBounds(AnonymizerConformance):
    params = {  # noqa: RUF012 - never changed
        "attributes": ["age"],
        "top": "70",
        "bottom": "20",
    }

    def case(self):
        text = BadInput("city", params={"attributes": ["city"], "top": "3"})
        return Case(SPEC, self.params, people(), facts=FACTS, bad=(text,))


class TestMeansOfQuantiles(TestBounds):
    params = {  # noqa: RUF012 - never changed
        "attributes": ["income", "assets", "age", "birth", "seen"],
        "top": {"quantile": "0.95"},
        "bottom": {"quantile": "0.02"},
        "replace": "mean",
        "min_rows": "5",
    }


class TestFewRows(TestBounds):
    def case(self):
        few = BadInput("x", params={"attributes": ["x"], "top": "98", "replace": "mean"})
        meet = BadInput("x", params={"attributes": ["x"], "top": {"quantile": "0.5"}, "bottom": "90"})
        table = numbers(INTEGER, list(range(101)))
        return Case(SPEC, {"attributes": ["x"], "top": "90"}, table, facts=facts(table), bad=(few, meet))


WHOLE = st.lists(st.integers(-50, 50), min_size=1, max_size=40)


@given(WHOLE, st.integers(-40, 0), st.integers(1, 40), st.sampled_from((FLOAT, INTEGER)))
def test_means_against_fractions(values, bottom, top, kind):
    table = numbers(kind, values)
    tails = [[v for v in values if v > top], [v for v in values if v < bottom]]
    params = {"top": str(top), "bottom": str(bottom), "replace": "mean"}
    if any(0 < len(tail) < 3 for tail in tails):
        with pytest.raises(PluginError) as caught:
            case(table, **params).fit()
        assert caught.value.diagnostics[0].code == "PPF818"
        return
    means = [Fraction(sum(tail), len(tail)) if tail else None for tail in tails]
    expected = [means[0] if v > top else means[1] if v < bottom else Fraction(v) for v in values]
    if kind is INTEGER:
        assert coded(table, **params).tolist() == [round(e) for e in expected]
        shift = abs(sum(round(e) for e in expected) - sum(values))
        assert shift <= Fraction(sum(map(len, tails)), 2)
    else:
        assert coded(table, **params).tolist() == [float(e) for e in expected]
        assert sum(expected) == sum(values)
        assert case(table, **params).fit().figures["x.mean_shift"].value in (None, pytest.approx(0, abs=1e-12))


@given(WHOLE, st.floats(0.01, 0.99), st.booleans())
def test_quantiles_against_counting(values, share, upper):
    cells = [(np.array(values[:3]), None), (np.array(values[3:], dtype=np.int64), None)]
    found = quantile(lambda: cells, share, upper=upper)
    assert found in values
    exact = Fraction(repr(share))
    beyond = sum(v > found if upper else v < found for v in values)
    limit = (1 - exact if upper else exact) * len(values)
    assert beyond <= limit
    nearer = [v for v in values if (v < found if upper else v > found)]
    if nearer:
        next_one = max(nearer) if upper else min(nearer)
        assert sum(v > next_one if upper else v < next_one for v in values) > limit


def test_bounds_of_every_type():
    assert coded(numbers(FLOAT, [1.5, 2.5, 9.0]), top="2.25", bottom=2).tolist() == [2.0, 2.25, 2.25]
    day = numbers(AttributeType.DATE, [0, 400, 20_000])
    assert coded(day, top="1971-01-01", bottom="1970-01-11").tolist() == [10, 365, 365]
    second = numbers(AttributeType.TIMESTAMP, [5, 2_000_000])
    assert coded(second, top="1970-01-01T00:00:01").tolist() == [5, 1_000_000]


def test_weights_count():
    table = numbers(INTEGER, [1, 2, 9, 10], n=Column.of(["90", "7", "2", "1"]))
    known = {**facts(table), "n": AttributeFacts("n", Role.WEIGHT)}
    params = {"attributes": ["x"], "top": {"quantile": "0.97"}, "replace": "mean"}
    fitted = Case(SPEC, params, table, facts=known).fit()
    assert fitted.figures["x.top_rows"].value == 3
    assert run(fitted.transform, table)[""]["x"].values.tolist() == [1, 2, 9, 9]  # (2 * 9 + 10) / 3 = 9.33


def test_large_integers_have_exact_means():
    values = [2**62 + 1, 2**62 + 3, 2**62 + 5, 0]
    assert coded(numbers(INTEGER, values), top="1", replace="mean").tolist() == [2**62 + 3] * 3 + [0]


def test_figures_and_description_tell_no_value():
    table = numbers(FLOAT, [float(i) for i in range(100)])
    fitted = case(table, top={"quantile": "0.9"}, replace="mean").fit()
    assert {name: f.value for name, f in fitted.figures.items()} == {
        "x.top_rows": 10,
        "x.mean_shift": pytest.approx(0.0, abs=1e-15),
        "x.sd_ratio": pytest.approx(np.std([*range(90), *[94.5] * 10]) / np.std(range(100))),
    }
    assert "94.5" not in str(fitted.transform.describe())


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"attributes": ["x"]}, ["PPF782"]),
        ({"attributes": ["x"], "top": 1, "bottom": 1}, ["PPF782"]),
        ({"attributes": ["x"], "top": {"quantile": 0.1}, "bottom": {"quantile": 0.2}}, ["PPF782"]),
        ({"attributes": ["x"], "top": {"quantile": 0.1, "number": "2"}}, ["PPF782"]),
        ({"attributes": ["x"], "top": {}}, ["PPF782"]),
        ({"attributes": ["x"], "top": 5, "min_rows": 9}, ["PPF782"]),
        ({"attributes": ["x"], "top": "much"}, ["PPF782"]),
        ({"attributes": ["word"], "top": 1}, ["PPF848"]),
        ({"attributes": ["x"], "top": 5, "bottom": {"quantile": 0.2}, "replace": "mean", "min_rows": 9}, []),
    ],
)
def test_problems(params, codes):
    known = {"x": AttributeFacts("x", Role.SENSITIVE, INTEGER), "word": AttributeFacts("word", Role.SENSITIVE)}
    found = SPEC.effect(SPEC.params.model_validate(params), Scope("s", known, ()))
    assert [p.code for p in found.problems] == codes


@pytest.mark.parametrize("params", [{"min_rows": 2}, {"top": {"quantile": 1}}, {"top": {"share": 0.1}}])
def test_parameters_out_of_range(params):
    with pytest.raises(ValueError, match="TopBottomParams"):
        SPEC.params.model_validate({"attributes": ["x"], **params})
