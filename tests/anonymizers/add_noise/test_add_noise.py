"""Noise: its law on fixed keys, a plain twin, moments, bounds and decimals."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numeric_tables import FACTS, facts, numbers, people
from scipy import stats

from ppdm_flow.anonymizers.add_noise.algorithm import factor, held_between, open_uniform, share_beyond, standard_noise
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import Draws, RunKey, key_stream
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import KEY, AnonymizerConformance, run

SPEC = registry.load("anonymizers", "add_noise")
FLOAT, INTEGER = AttributeType.FLOAT, AttributeType.INTEGER


def case(table: Table, **params) -> Case:
    return Case(SPEC, {"attributes": ["x"], **params}, table, facts=facts(table))


def released(table: Table, key: RunKey = KEY, **params):
    out = run(case(table, **params).fit().transform, table, key)[""]
    return {name: out[name].values for name in out.names}


def missing_stay(outcome):
    for name in ("income", "age"):
        before, after = (t[name].texts() for t in (outcome.original, outcome.released))
        if [v is None for v in before] != [v is None for v in after]:
            return f"missing cells of {name} changed"
    return None


class TestEveryType(AnonymizerConformance):
    params = {"attributes": ["income", "age", "birth", "seen"], "scale": "0.3"}  # noqa: RUF012 - never changed

    def case(self):
        text = BadInput("city", params={"attributes": ["city"]})
        absent = BadInput("rent", params={"attributes": ["rent"]})
        return Case(SPEC, self.params, people(), facts=FACTS, claims=(missing_stay,), bad=(text, absent))


class TestCorrelated(TestEveryType):
    params = {  # noqa: RUF012 - never changed
        "attributes": ["income", "assets", "age"],
        "correlated": "true",
        "keep_moments": "true",
        "publish": "true",
    }


class TestBounds(TestEveryType):
    params = {  # noqa: RUF012 - never changed
        "attributes": ["income", "age"],
        "distribution": "laplace",
        "sd": "20",
        "min": "30",
        "outside": "clamp",
    }


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=20),
    st.floats(0.1, 50),
    st.sampled_from(("normal", "laplace")),
    st.sampled_from((None, -50)),
    st.sampled_from((None, 60)),
    st.sampled_from(("reflect", "clamp")),
)
def test_against_a_plain_twin(values, sd, distribution, low, high, outside):
    table = numbers(INTEGER, values)
    params = {"sd": str(sd), "distribution": distribution}
    bounds = {k: str(v) for k, v in (("min", low), ("max", high)) if v is not None}
    if bounds:
        params |= {**bounds, "outside": outside}
    found = released(table, **params)["x"].tolist()
    words = key_stream(KEY.step("step"), 0, len(values)).tolist()
    expected = [_plain(v, w, sd, distribution, low, high, outside) for v, w in zip(values, words, strict=True)]
    assert found == expected


def _plain(value, word, sd, distribution, low, high, outside):
    u = ((word >> 12) + 0.5) / 2**52
    if distribution == "normal":
        noise = NormalDist().inv_cdf(u)
    else:
        noise = math.copysign(math.log(2 * min(u, 1 - u)) / math.sqrt(2), u - 0.5)
    new = value + round(sd * noise)
    while (low is not None and new < low) or (high is not None and new > high):
        bound = low if low is not None and new < low else high
        new = bound if outside == "clamp" else 2 * bound - new
    return new


@pytest.mark.parametrize(("distribution", "law"), [("normal", stats.norm()), ("laplace", stats.laplace(0, 0.5**0.5))])
def test_noise_follows_its_distribution(distribution, law):
    noise = standard_noise(Draws(KEY.step("law"), 1).words(np.arange(50_000)), distribution)[:, 0]
    assert stats.kstest(noise, law.cdf).pvalue > 1e-3
    assert np.isfinite(standard_noise(np.array([0, 2**64 - 1], dtype=np.uint64), distribution)).all()


def test_uniforms_have_neither_end_and_are_symmetric():
    ends = open_uniform(np.array([0, 2**64 - 1], dtype=np.uint64))
    assert ends.tolist() == [2.0**-53, 1 - 2.0**-53]


@given(st.integers(1, 5), st.integers(0, 100), st.integers(0, 6))
def test_factors_of_covariances(size, seed, rank):
    loose = np.random.default_rng(seed).standard_normal((size, rank))
    covariance = loose @ loose.T
    lower = factor(covariance)
    assert np.allclose(lower @ lower.T, covariance, atol=1e-5 * max(1.0, covariance.max()))
    assert (np.triu(lower, 1) == 0).all()


def wide(rows: int = 40_000) -> Table:
    """A table of which nothing is rounded by the noise's own decimals."""
    rng = np.random.default_rng(9)
    normal = rng.standard_normal((rows, 2))
    x, y = 10 + 3 * normal[:, 0], -5 + 2 * (0.8 * normal[:, 0] + 0.6 * normal[:, 1])
    return numbers(FLOAT, x.tolist(), y.tolist())


@pytest.mark.parametrize("correlated", ["true", "false"])
@pytest.mark.parametrize("keep", ["true", "false"])
def test_moments_are_the_stated_ones(correlated, keep):
    table, scale = wide(), 0.5
    out = released(table, attributes=["x", "y"], scale=str(scale), correlated=correlated, keep_moments=keep)
    before = np.cov(table["x"].values, table["y"].values)
    growth = np.full((2, 2), 1 + scale**2)
    if correlated == "false":
        growth[0, 1] = growth[1, 0] = 1.0
    if keep == "true":
        growth /= 1 + scale**2
    after = np.cov(out["x"], out["y"])
    rows = len(table)
    for i in range(2):
        for j in range(2):  # five standard errors of a covariance of normal variables
            error = 5 * math.sqrt((before[i, i] * before[j, j] * (1 + scale**2) ** 2 + before[i, j] ** 2) / rows)
            assert after[i, j] == pytest.approx(before[i, j] * growth[i, j], abs=error)
    for name, place in (("x", 0), ("y", 1)):
        assert out[name].mean() == pytest.approx(
            table[name].values.mean(), abs=5 * scale * math.sqrt(before[place, place] / rows)
        )


def test_the_noise_of_kim_restores_moments_in_expectation_exactly():
    """Over the normal law: E[z_i] and E[sample covariance] of z = d1 (x + e) + d2, worked out from what was fitted."""
    table = wide(200)
    fitted = case(table, attributes=["x", "y"], correlated="true", keep_moments="true", scale="0.3").fit()
    data = np.stack([table["x"].values, table["y"].values])
    rows = np.array([a.loadings for a in fitted.transform.attributes])
    shrink = np.array([a.shrink for a in fitted.transform.attributes])
    assert shrink == pytest.approx(np.full(2, 1 / math.sqrt(1.09)))
    expected = np.outer(shrink, shrink) * (np.cov(data) + rows @ rows.T)
    assert expected == pytest.approx(np.cov(data), rel=1e-9)
    none = np.zeros((200, 2))
    means = [(a.change(v, none) + v).mean() for a, v in zip(fitted.transform.attributes, data, strict=True)]
    assert means == pytest.approx(data.mean(axis=1).tolist(), rel=1e-9)


@pytest.mark.parametrize("outside", ["reflect", "clamp"])
@pytest.mark.parametrize("distribution", ["normal", "laplace"])
@pytest.mark.parametrize("distance", [0.0, 0.5, 1.5])
def test_the_bias_of_bounds_is_the_stated_one(outside, distribution, distance):
    rows, sd = 100_000, 2.0
    table = numbers(FLOAT, [distance * sd] * rows)
    out = released(table, sd=str(sd), min="0", outside=outside, distribution=distribution, decimals="9")["x"]
    assert out.min() >= 0
    if distribution == "normal":
        bias = sd * (stats.norm.pdf(distance) - distance * stats.norm.sf(distance))
    else:
        bias = sd * math.exp(-distance * math.sqrt(2)) / (2 * math.sqrt(2))
    bias *= 2 if outside == "reflect" else 1
    assert out.mean() - distance * sd == pytest.approx(bias, abs=5 * sd / math.sqrt(rows))
    share = case(table, sd=str(sd), min="0", distribution=distribution).fit().figures["x.beyond_bounds"].value
    law = stats.norm() if distribution == "normal" else stats.laplace(0, 0.5**0.5)
    assert share == pytest.approx(law.sf(distance))
    assert share_beyond(np.array([-distance]), distribution)[0] == pytest.approx(law.sf(-distance))


@given(st.integers(-(10**6), 10**6), st.integers(-100, 100), st.integers(1, 50))
def test_reflection_within_two_bounds(value, low, width):
    plain = value
    while not low <= plain <= low + width:
        plain = 2 * low - plain if plain < low else 2 * (low + width) - plain
    assert held_between(np.array([value]), low, low + width, "reflect").tolist() == [plain]


def test_decimals():
    table = numbers(FLOAT, [1.25, 2.5, 3.0, 100.75])
    for decimals, places in (("original", 2), ("1", 1), ("0", 0), ("15", 4)):  # 6 digits below an sd of 12
        out = released(table, sd="12", decimals=decimals)["x"]
        assert np.array_equal(np.round(out, places), out)
        assert not np.array_equal(np.round(out, places - 1), out)
    seconds = [s * 1_000_000 for s in (1_700_000_000, 1_700_000_060, 1_700_000_001)]
    assert not (released(numbers(AttributeType.TIMESTAMP, seconds), sd="90")["x"] % 1_000_000).any()
    assert released(numbers(INTEGER, [1, 2, 3]), decimals="3")["x"].dtype == np.int64


def test_dates_move_by_days_and_timestamps_by_seconds():
    rows = 20_000
    for kind, unit, start in ((AttributeType.DATE, 1, 10_000), (AttributeType.TIMESTAMP, 1_000_000, 10**15)):
        out = released(numbers(kind, [start] * rows), sd="30", decimals="3")["x"]
        assert np.std(out - start) / unit == pytest.approx(30, rel=0.03)


def test_artifact_holds_parameters_and_no_figure_of_the_data():
    table = wide(500)
    relative = case(table, scale="0.2", keep_moments="true").fit()
    (entry,) = relative.artifacts["noise.json"]["attributes"]
    assert entry.keys() == {"attribute", "type", "rounded_to_decimals", "multiplied_by"}
    assert entry["multiplied_by"] == pytest.approx(1 / math.sqrt(1.04))
    assert [(f.code, f.severity.value) for f in relative.findings] == [("PPF868", "info")]
    published = case(table, attributes=["x", "y"], scale="0.2", correlated="true", publish="true").fit()
    matrix = np.array(published.artifacts["noise.json"]["covariance"])
    assert matrix == pytest.approx(0.04 * np.cov(table["x"].values, table["y"].values))
    assert [(f.code, f.severity.value) for f in published.findings] == [("PPF868", "warning")]
    absolute = case(table, sd="4").fit()
    assert absolute.artifacts["noise.json"]["attributes"][0]["sd"] == 4.0
    assert not absolute.findings


def test_a_recipient_can_correct_a_variance():
    table = wide()
    fitted = case(table, sd="4").fit()
    out = run(fitted.transform, table)[""]["x"].values
    corrected = out.var() - fitted.artifacts["noise.json"]["attributes"][0]["sd"] ** 2
    assert corrected == pytest.approx(table["x"].values.var(), rel=0.06)


def test_weights_count_in_standard_deviations():
    from ppdm_flow.tables.column import Column

    weighted = numbers(FLOAT, [1.0, 5.0], n=Column.of(["3", "1"]))
    plain = numbers(FLOAT, [1.0, 1.0, 1.0, 5.0])
    known = {**facts(weighted), "n": AttributeFacts("n", Role.WEIGHT)}
    one = Case(SPEC, {"attributes": ["x"]}, weighted, facts=known).fit().transform.attributes[0]
    other = case(plain).fit().transform.attributes[0]
    assert (one.sd, one.mean) == (other.sd, other.mean) == (0.2, 2.0)


def test_noise_relative_to_nothing_is_refused():
    with pytest.raises(PluginError, match="one value only"):
        case(numbers(INTEGER, [7, 7, 7])).fit()
    assert case(numbers(INTEGER, [7, 7, 7]), sd="2").fit().figures["x.noise_to_sd"].value is None


@pytest.mark.parametrize("values", [[2**63 - 1, -(2**63)], [2**63 - 2, 0]])
def test_numbers_beyond_the_type_are_refused(values):
    with pytest.raises(PluginError) as caught:
        released(numbers(INTEGER, values), sd="1000")
    assert caught.value.diagnostics[0].code == "PPF849"
    assert str(values[0]) not in str(caught.value)


def test_floats_without_squares_are_refused():
    with pytest.raises(PluginError, match="beyond 1e150"):
        case(numbers(FLOAT, [1e200, -1e200])).fit()


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"attributes": ["x"], "sd": 1, "scale": 0.1}, ["PPF782"]),
        ({"attributes": ["x"], "sd": 1, "correlated": True}, ["PPF782"]),
        ({"attributes": ["x"], "correlated": True, "distribution": "laplace"}, ["PPF782"]),
        ({"attributes": ["x"], "keep_moments": True, "min": 0}, ["PPF782"]),
        ({"attributes": ["x"], "outside": "clamp"}, ["PPF782"]),
        ({"attributes": ["x"], "min": 3, "max": 3}, ["PPF782"]),
        ({"attributes": ["x"], "min": "low"}, ["PPF782"]),
        ({"attributes": ["x", "day"], "min": "2020-01-01"}, ["PPF782"]),
        ({"attributes": ["word", "label", "gone"]}, ["PPF606", "PPF848", "PPF848"]),
        ({"attributes": ["day"], "min": "2020-01-01", "max": "2021-01-01"}, []),
    ],
)
def test_problems(params, codes):
    known = {
        "x": AttributeFacts("x", Role.SENSITIVE, FLOAT),
        "day": AttributeFacts("day", Role.SENSITIVE, AttributeType.DATE),
        "word": AttributeFacts("word", Role.SENSITIVE),
        "label": AttributeFacts("label", Role.SENSITIVE, INTEGER, labels=True),
    }
    found = SPEC.effect(SPEC.params.model_validate(params), Scope("s", known, ()))
    assert [p.code for p in found.problems] == codes
