"""Rounding: multiples alone, no bias, totals within a base; each against plain arithmetic."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numeric_tables import FACTS, facts, numbers, people
from scipy import stats

from ppdm_flow.anonymizers.round_values.algorithm import RoundingGrid, at_random, controlled, nearest
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import KEY, AnonymizerConformance, run

SPEC = registry.load("anonymizers", "round_values")
FLOAT, INTEGER = AttributeType.FLOAT, AttributeType.INTEGER


def case(table: Table, **params) -> Case:
    return Case(SPEC, {"attributes": ["x"], **params}, table, facts=facts(table))


def rounded(table: Table, key: RunKey = KEY, name: str = "x", **params):
    return run(case(table, **params).fit().transform, table, key)[""][name].values


def multiples(base, *names):
    def claim(outcome):
        for name in names:
            off = [t for t in outcome.released[name].texts() if t is not None and Fraction(t) % Fraction(base)]
            if off:
                return f"{len(off)} values of {name} are no multiples"
        return None

    return claim


class TestRandom(AnonymizerConformance):
    params = {"attributes": ["income", "age"], "base": "5", "how": "random"}  # noqa: RUF012 - never changed
    names = ("income", "age")

    def case(self):
        text = BadInput("city", params={**self.params, "attributes": ["city"]})
        claims = (multiples(self.params["base"], *self.names),)
        return Case(SPEC, self.params, people(), facts=FACTS, claims=claims, bad=(text,))


class TestControlled(TestRandom):
    params = {  # noqa: RUF012 - never changed
        "attributes": ["income", "assets", "age", "birth"],
        "base": "100",
        "how": "controlled",
        "by": ["city"],
    }
    names = ("income", "assets", "age")


class TestNearest(TestRandom):
    params = {"attributes": ["income", "seen"], "base": "0.5"}  # noqa: RUF012 - never changed
    names = ("income",)

    def test_draws_are_declared(self):
        """The card says that the step draws, since it does in its other ways."""
        assert self.case().fit().transform.draws_per_row == 0


BASES = st.sampled_from(("1", "2", "7", "10", "0.5", "0.25", "0.1"))
TENTHS = st.integers(-(10**6), 10**6).map(lambda n: n / 100)


@given(st.lists(TENTHS, min_size=1, max_size=30), BASES, st.sampled_from(("nearest", "random", "controlled")))
def test_against_fractions(values, base, how):
    table = numbers(FLOAT, values)
    found = rounded(table, base=base, how=how)
    step = Fraction(base)
    for value, new in zip(values, found.tolist(), strict=True):
        exact, multiple = Fraction(str(value)), Fraction(str(new))
        assert multiple % step == 0
        assert abs(multiple - exact) < step
        if how == "nearest":
            assert multiple == round(exact / step) * step  # halves to even
    if how == "controlled":
        total = sum(map(Fraction, map(str, values)), Fraction(0))
        assert abs(sum(map(Fraction, map(str, found.tolist()))) - total) < step


@given(st.lists(st.tuples(st.integers(-99, 99), st.sampled_from("abc")), min_size=1, max_size=40), st.integers(2, 12))
def test_totals_of_groups(rows, base):
    table = numbers(INTEGER, [v for v, _ in rows], g=Column.of([g for _, g in rows]))
    found = rounded(table, base=str(base), how="controlled", by=["g"]).tolist()
    change = defaultdict(int)
    for (value, group), new in zip(rows, found, strict=True):
        change[group] += new - value
        change[""] += new - value
        assert new % base == 0
        assert abs(new - value) < base
    assert all(abs(c) < base for c in change.values())


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.floats(0, 1, exclude_max=True)), max_size=30),
    st.floats(0, 1, exclude_max=True),
)
def test_systematic_sampling_against_a_plain_twin(rows, start):
    remainders, groups = (np.array([r[i] for r in rows], dtype=np.int64) for i in range(2))
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    keys = np.array([r[2] for r in rows])
    first = {g: min(k for k, h in zip(keys, groups, strict=True) if h == g) for g in set(groups.tolist())}
    order = sorted(range(len(rows)), key=lambda i: (first[int(groups[i])], keys[i], i))
    expected, filled = [False] * len(rows), int(start * 7)
    for i in order:
        filled += int(remainders[i])
        expected[i] = filled >= 7
        filled %= 7
    if len(set(first.values())) == len(first):  # else two groups are mixed, which draws of 53 bits are not
        assert controlled(remainders, 7, groups, keys, start).tolist() == expected


def test_each_number_goes_up_with_its_remainder_as_probability():
    """Exactly: systematic sampling with every start that there is, for a fixed order."""
    remainders = np.array([3, 1, 9, 0, 5, 5, 8])
    keys = np.array([0.3, 0.1, 0.9, 0.2, 0.5, 0.7, 0.4])
    groups = np.array([0, 0, 1, 1, 1, 0, 0])
    ups = sum(controlled(remainders, 10, groups, keys, (u + 0.5) / 10).astype(int) for u in range(10))
    assert ups.tolist() == remainders.tolist()


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("how", ["random", "controlled"])
def test_there_is_no_bias(how):
    values = [3, 17, 20, 28, 41, 55, 69]
    table = numbers(INTEGER, values)
    ups = np.zeros(len(values))
    for seed in range(600):
        ups += rounded(table, RunKey.from_seed(str(seed)), base="10", how=how) > np.array(values)
    for value, up in zip(values, ups.astype(int).tolist(), strict=True):
        assert stats.binomtest(up, 600, (value % 10) / 10).pvalue > 1e-4 if value % 10 else up == 0


def test_random_rounding_takes_the_remainder_exactly():
    uniform = np.arange(40) / 40
    ups = at_random(np.zeros(40, dtype=np.int64), np.full(40, 3, dtype=np.int64), 8, uniform)
    assert ups.sum() == 15
    assert not at_random(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), 8, np.zeros(1)).any()


def test_large_numbers():
    large = [2**62 + 7, -(2**62) + 3]
    assert rounded(numbers(INTEGER, large), base="10").tolist() == [(v + 5) // 10 * 10 for v in large]
    with pytest.raises(PluginError) as caught:
        rounded(numbers(INTEGER, [2**63 - 1]), base="1000000")
    assert caught.value.diagnostics[0].code == "PPF849"
    seconds = numbers(AttributeType.TIMESTAMP, [1_700_000_000_000_000 + i for i in range(1000)])
    total = rounded(seconds, base="1000000000", how="controlled")
    assert set((total % 10**15).tolist()) == {0}
    assert abs(int((total - seconds["x"].values).sum())) < 10**15 * 1.01


def test_floats_whose_digits_do_not_fit():
    values = [1e14 + 0.123, 1 / 3, 2.0, 0.30000000000000004]
    grid = RoundingGrid.of("x", FLOAT, SPEC.params(attributes=("x",), base=0.1).exact, 15, 1e14)
    assert not grid.exact
    quotients, remainders = grid.split(np.array(values[1:]))
    assert quotients.tolist() == [3, 20, 3]
    assert remainders[1:].tolist() == [0, 0]
    assert remainders[0] / grid.modulus == pytest.approx(1 / 3)
    assert nearest(quotients, remainders, grid.modulus).tolist() == [3, 20, 3]
    assert rounded(numbers(FLOAT, values), base="0.1").tolist() == [1e14 + 0.1, 0.3, 2.0, 0.3]


def test_dates_and_timestamps():
    assert rounded(numbers(AttributeType.DATE, [1, 10, 11, 364]), base="7").tolist() == [0, 7, 14, 364]
    assert rounded(numbers(AttributeType.TIMESTAMP, [1_600_000, 400_000]), base="0.5").tolist() == [1_500_000, 500_000]


def test_figures():
    figures = case(numbers(INTEGER, [0, 3, 10, 17]), base="10").fit().figures
    assert figures["x.rounded"].value == 0.5
    assert figures["x.shift"].value == pytest.approx((-0.3 + 0.3) / 4)
    assert figures["x.base_to_sd"].value == pytest.approx(10 / np.std([0, 3, 10, 17], ddof=1))
    assert case(numbers(INTEGER, [1, 3, 11]), base="10").fit().figures["x.shift"].value == pytest.approx(-0.5 / 3)


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"attributes": ["x"], "base": 0.5}, ["PPF782"]),
        ({"attributes": ["y"], "base": 1e-10}, ["PPF782"]),
        ({"attributes": ["y"], "base": 10, "by": ["word"]}, ["PPF782"]),
        ({"attributes": ["y"], "base": 10, "how": "controlled", "by": ["y"]}, ["PPF782"]),
        ({"attributes": ["y"], "base": 10, "how": "controlled", "by": ["nobody"]}, ["PPF606"]),
        ({"attributes": ["word"], "base": 10}, ["PPF848"]),
        ({"attributes": ["x", "y"], "base": 10, "how": "controlled", "by": ["word"]}, []),
    ],
)
def test_problems(params, codes):
    known = {
        "x": AttributeFacts("x", Role.SENSITIVE, INTEGER),
        "y": AttributeFacts("y", Role.SENSITIVE, FLOAT),
        "word": AttributeFacts("word", Role.SENSITIVE),
    }
    found = SPEC.effect(SPEC.params.model_validate(params), Scope("s", known, ()))
    assert [p.code for p in found.problems] == codes
