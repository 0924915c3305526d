"""Rank swapping: every number stays as often as it was, none moves far, partners are even."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numeric_tables import FACTS, facts, numbers, people
from scipy import stats

from ppdm_flow.anonymizers.rank_swap.algorithm import correlation, partners, ranked, reach_of, sources
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run

SPEC = registry.load("anonymizers", "rank_swap")
FLOAT, INTEGER = AttributeType.FLOAT, AttributeType.INTEGER
UNIFORM = st.floats(0, 1, exclude_max=True)


def same_numbers(*names):
    def claim(outcome):
        for name in names:
            before, after = (t[name].texts() for t in (outcome.original, outcome.released))
            if Counter(before) != Counter(after):
                return f"the numbers of {name} are not the same ones"
            if [v is None for v in before] != [v is None for v in after]:
                return f"missing cells of {name} changed"
        return None

    return claim


class TestSwapping(AnonymizerConformance):
    params = {"attributes": ["income", "age", "birth", "seen"], "percent": "4"}  # noqa: RUF012 - never changed

    def case(self):
        text = BadInput("city", params={"attributes": ["city"]})
        near = BadInput("income", params={"attributes": ["income"], "percent": "0.1"})
        claims = (same_numbers(*self.params["attributes"]),)
        return Case(SPEC, self.params, people(), facts=FACTS, claims=claims, bad=(text, near))


class TestOne(TestSwapping):
    params = {"attributes": ["assets"], "percent": "100"}  # noqa: RUF012 - never changed


class TestWithin(TestSwapping):
    params = {"attributes": ["income", "age"], "percent": "10", "within": ["city"]}  # noqa: RUF012 - never changed

    def case(self):
        by_city = (_numbers_of_cities,)
        near = BadInput("income", params={"attributes": ["income"], "percent": "0.3", "within": ["city"]})
        return Case(SPEC, self.params, people(), facts=FACTS, claims=by_city, bad=(near,))


def _numbers_of_cities(outcome):
    before, after = (
        Counter(zip(t["city"].texts(), t["age"].texts(), strict=True)) for t in (outcome.original, outcome.released)
    )
    return None if before == after else "a number left its city"


def test_strata_are_told_by_the_numbers_in_them():
    effect = Case(SPEC, TestWithin.params, people(), facts=FACTS).effect
    assert effect.derivations["age"].computed_from == ("age", "city")


def plain(uniform, reach):
    """Moore's loop, with the pool of free ranks as a list."""
    other, pool, free = list(range(len(uniform))), [], set(range(len(uniform)))
    entered = 1
    for i in range(len(uniform)):
        while entered < len(uniform) and entered <= i + reach:
            pool.append(entered)
            entered += 1
        if i not in free:
            continue
        if i in pool:
            _removed(pool, i)
        free.discard(i)
        if pool:
            j = pool[int(uniform[i] * len(pool))]
            _removed(pool, j)
            free.discard(j)
            other[i], other[j] = j, i
    return other


def _removed(pool, rank):
    place = pool.index(rank)
    pool[place] = pool[-1]
    pool.pop()


@given(st.lists(UNIFORM, max_size=60), st.integers(1, 60))
def test_against_a_plain_twin(uniform, reach):
    found = partners(np.array(uniform), reach)
    assert found.tolist() == plain(uniform, reach)
    assert found[found].tolist() == list(range(len(uniform)))
    assert (np.abs(found - np.arange(len(uniform))) <= reach).all()
    alone = np.flatnonzero(found == np.arange(len(uniform)))
    assert (np.diff(alone) > reach).all()  # of two free ones that are near, one would have taken the other


def test_partners_are_even():
    """Rank 0 takes each of the next 5 with the same probability; rank 1, where it is free, each of the free ones."""
    draws = np.random.default_rng(1).random((20_000, 8))
    found = np.array([partners(row, 5) for row in draws])
    assert stats.chisquare(np.bincount(found[:, 0], minlength=6)[1:]).pvalue > 1e-3
    one = found[found[:, 0] == 3, 1]
    assert stats.chisquare(np.bincount(one, minlength=7)[[2, 4, 5, 6]]).pvalue > 1e-3


@given(st.lists(st.tuples(st.integers(0, 5), UNIFORM, UNIFORM), max_size=40), st.integers(1, 10))
def test_no_number_moves_far(rows, reach):
    values, ties, picks = (np.array([r[i] for r in rows]) for i in range(3))
    source = sources(values, ties, picks, reach)
    rank = np.empty(len(rows), dtype=int)
    rank[ranked(values, ties)] = np.arange(len(rows))
    assert sorted(source) == list(range(len(rows)))
    assert (np.abs(rank[source] - rank) <= reach).all()


def test_equal_numbers_have_random_ranks():
    """Only ranks near the jump change their number; which rows these are goes by draws, not by where rows stand."""
    table = numbers(INTEGER, [5] * 4000 + [6] * 4000)
    transform = Case(SPEC, {"attributes": ["x"], "percent": "10"}, table, facts=facts(table)).fit().transform
    new = run(transform, table)[""]["x"].values
    changed = np.flatnonzero(new[:4000] == 6)
    assert 100 < len(changed) == (new[4000:] == 5).sum()
    assert stats.kstest(changed / 4000, "uniform").pvalue > 1e-3


def test_reach():
    assert [reach_of(p, n) for p, n in ((5, 100), (5, 99), (0.1, 999), (29, 100), (100, 7))] == [5, 4, 0, 29, 7]


def test_figures():
    rng = np.random.default_rng(3)
    x = rng.standard_normal(5000)
    y = 0.8 * x + 0.6 * rng.standard_normal(5000)
    table = numbers(FLOAT, x.tolist(), y.tolist())
    figures = Case(SPEC, {"attributes": ["x", "y"], "percent": "10"}, table, facts=facts(table)).fit().figures
    # a partner is drawn from 500 ranks ahead, of which some are taken: about half as far on average
    assert 0.03 < figures["x.rank_displacement"].value < 0.06
    kept = figures["x.kept_correlation"].value, figures["y.kept_correlation"].value
    before = correlation(x, y)
    assert figures["correlation_change"].value == pytest.approx(before * (1 - kept[0] * kept[1]), abs=0.02)
    empty = numbers(FLOAT, [])
    fitted = Case(SPEC, {"attributes": ["x"]}, empty, facts=facts(empty)).fit()
    assert fitted.figures["x.rank_displacement"].value is None
    assert len(run(fitted.transform, empty)[""]) == 0


def test_correlation_against_numpy():
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 50))
    assert correlation(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert correlation(np.array([1.0, math.nan]), np.array([1.0, 2.0])) is None


@pytest.mark.parametrize(
    ("params", "codes"), [({"attributes": ["word", "gone"]}, ["PPF606", "PPF848"]), ({"attributes": ["x"]}, [])]
)
def test_problems(params, codes):
    known = {"x": AttributeFacts("x", Role.SENSITIVE, INTEGER), "word": AttributeFacts("word", Role.SENSITIVE)}
    found = SPEC.effect(SPEC.params.model_validate(params), Scope("s", known, ()))
    assert [p.code for p in found.problems] == codes
