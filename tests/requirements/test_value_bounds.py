"""Several bounds a value, groups, defaults: what each value is held to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity, slack_of
from ppdm_flow.requirements.sensitivities.value_bounds import value_bounds

pairs = st.tuples(st.floats(0.001, 0.9), st.floats(0.05, 0.95)).map(lambda p: (p[0], p[0] + (0.999 - p[0]) * p[1]))


def requirement(*bounds: BoundOfValue, tolerance=None, default=None) -> Sensitivity:
    return Sensitivity.of_bounds("d", bounds, Directions.BOTH, tolerance=tolerance, default=default)


def plain(wanted: Sensitivity, domain, frequency) -> list[tuple[int, float, float]]:
    """Value by value."""
    found = []
    for i, value in enumerate(domain):
        own = [(b.r1, b.r2) for b in wanted.bounds if value is not None and b.value == value]
        if not own and wanted.tolerance is not None:
            share = frequency[i]
            own = [(share, wanted.tolerance * share)] if wanted.tolerance * share < 1 else []
        elif not own and wanted.fixed is not None:
            own = [wanted.fixed]
        found.extend((i, *pair) for pair in own)
    return found


@examples(60)
@given(st.data())
def test_against_the_plain_twin(data):
    domain = data.draw(st.permutations(["a", "b", "c", "d", None]))
    counts = np.array(data.draw(st.lists(st.integers(0, 9), min_size=5, max_size=5)), dtype=float)
    frequency = counts / max(1.0, counts.sum())
    bounds = data.draw(st.lists(st.tuples(st.sampled_from("abcx"), pairs, st.sampled_from(["", "z"])), max_size=6))
    more = data.draw(st.sampled_from([{}, {"tolerance": 3.0}, {"default": (0.2, 0.3)}]))
    wanted = requirement(*(BoundOfValue(v, *p, given=g) for v, p, g in bounds), **more)
    found = value_bounds(wanted, domain, frequency)
    expected = plain(wanted, domain, frequency)
    assert list(zip(found.place.tolist(), found.r1.tolist(), found.r2.tolist(), strict=True)) == expected
    for row, (place, r1, r2) in enumerate(expected):
        assert found.slack[row] == pytest.approx(slack_of(r1, r2) if r1 > 0 else 2.0)
        own = [s for s, p in zip(found.slack, found.place, strict=True) if p == place]
        assert found.slack[found.binding[place]] == min(own)
    assert [i for i in range(5) if found.binding[i] < 0] == sorted(set(range(5)) - {p for p, *_ in expected})


def test_conditional_bounds_are_not_held_against_the_share_among_all():
    wanted = requirement(
        BoundOfValue("a", 0.1, 0.2, given="z"), BoundOfValue("b", 0.1, 0.2), BoundOfValue("b", 0.2, 0.9)
    )
    frequency = np.array([0.5, 0.5, 0.0])
    found = value_bounds(wanted, ("a", "b", "c"), frequency)
    assert found.known_too_well(frequency).tolist() == [1]
    assert found.given.tolist() == [True, False, False]


@examples(60)
@given(st.data())
def test_a_bound_on_each_value_of_a_group_bounds_their_union(data):
    """An operator that keeps gamma for each value keeps it for the set, at any prior, both ways."""
    m = data.draw(st.integers(3, 6))
    size = data.draw(st.integers(1, m - 1))
    numbers = st.lists(st.floats(0.01, 1.0), min_size=m, max_size=m)
    matrix = np.array(data.draw(st.lists(numbers, min_size=m, max_size=m)))
    matrix /= matrix.sum(axis=0)
    ratios = [matrix[j, i] / matrix[j, k] for j in range(m) for i in range(size) for k in range(m) if k != i]
    gamma = max([*ratios, *(1 / r for r in ratios)])
    prior = np.array(data.draw(numbers))
    prior /= prior.sum()
    before = prior[:size].sum()
    after = (matrix[:, :size] @ prior[:size]) / (matrix @ prior)
    odds = (after / (1 - after)) / (before / (1 - before))
    assert odds.max() <= gamma * (1 + 1e-9)
    assert odds.min() >= 1 / gamma * (1 - 1e-9)
