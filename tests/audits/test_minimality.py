"""The audit `minimality`: the posterior against enumeration, the example of Wong et al., and safe releases."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.minimality.algorithm import posteriors
from ppdm_flow.core.attributes import Change
from ppdm_flow.sdk.registry import load

SPEC = load("audits", "minimality")


def measured(case, **params):
    return SPEC.load()(SPEC.params(**params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def plain(groups, holders, confidence):
    """Every way to choose who has the value, kept where some group has too much of it."""
    owner = [i for i, g in enumerate(groups) for _ in range(g)]
    kept = 0
    with_value = np.zeros(len(groups))
    for chosen in combinations(range(len(owner)), holders):
        tally = np.bincount([owner[c] for c in chosen], minlength=len(groups))
        if any(t > confidence * g + 1e-9 for t, g in zip(tally, groups, strict=True)):
            kept += 1
            with_value += tally
    if not kept:
        return [holders / len(owner)] * len(groups)
    return list(with_value / kept / np.array(groups))


@examples(36)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.integers(1, 8),
    st.sampled_from([0.25, 1 / 3, 0.5, 0.75]),
)
def test_posteriors_against_enumeration(groups, holders, confidence):
    holders = min(holders, sum(groups) - 1) or 1
    if holders >= sum(groups):
        return
    found = posteriors(tuple(groups), holders, confidence)
    assert found == pytest.approx(plain(groups, holders, confidence), abs=1e-9)


def test_large_groups_stay_numbers():
    found = posteriors((150, 250, 100), 120, 0.5)
    assert all(0 <= p <= 1 for p in found)
    assert sum(p * g for p, g in zip(found, (150, 250, 100), strict=True)) == pytest.approx(120)


def wong(build):
    """Two of q1 have HIV; four of q2 have not: merged, since half of q1 at most may have it."""
    original = {"q": ["q1"] * 2 + ["q2"] * 4, "s": ["HIV"] * 2 + ["flu", "cut", "burn", "cold"]}
    return build.case(original, {**original, "q": ["Q"] * 6}, "qs")


def test_the_example_of_the_paper(build):
    outcome = measured(wong(build), values={"s": ["HIV"]})
    found = values(outcome)
    assert found["worst_before"] == pytest.approx(1 / 3)
    assert found["worst_posterior"] == 1
    assert found["breached"] == found["s.breached"] == pytest.approx(2 / 6)
    assert [f.code for f in outcome.findings] == ["PPF895"]
    assert "HIV" not in repr(outcome)


def test_groups_that_were_merged_anyway(build):
    """With k = 3 the two of q1 had to be merged, for any values."""
    outcome = measured(wong(build), values={"s": ["HIV"]}, k=3)
    assert not outcome.findings
    assert values(outcome)["worst_posterior"] == values(outcome)["worst_before"]


def test_safe_releases(build):
    """Nothing merged, or people who all differ: that some value is too frequent among one is no news."""
    table = {"q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"]}
    for released in (table, {**table, "q": ["*"] * 4}):
        original = {**table, "q": list("abcd")} if released is not table else table
        outcome = measured(build.case(original, released, "qs"))
        assert not outcome.findings
        assert values(outcome)["breached"] == 0
        assert values(outcome)["worst_posterior"] == 0.5


def test_random_values_and_unpaired_rows(build):
    changes = {"s": (("perturb", Change.PERTURBED),)}
    case = wong(build)
    perturbed = build.case(case.original.whole, case.candidate.whole, "qs", changes=changes)
    for other in (perturbed, case.but(pairs=None)):
        outcome = measured(other)
        assert not outcome.findings
        assert outcome.figures["breached"].value is None
        assert outcome.figures["breached"].note


def test_many_classes_are_sampled(build):
    rng = np.random.default_rng(1)
    rows = 3000
    q = rng.integers(0, 600, rows)
    original = {"q": [f"{x}" for x in q], "s": [f"s{x}" for x in rng.integers(0, 4, rows)]}
    case = build.case(original, {**original, "q": [f"{x // 2}" for x in q]}, "qs")
    whole, part = measured(case).figures["breached"], measured(case, sample=400).figures["breached"]
    assert whole.interval is None
    assert part.sample < rows
    low, high = part.interval
    assert low - 0.02 <= whole.value <= high + 0.02
    assert "too large" in measured(case, largest=2).figures["breached"].note


@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows(build, rows):
    table = {"q": ["a"] * rows, "s": ["x"] * rows}
    outcome = measured(build.case(table, table, "qs"))
    assert all(f.value is not None or f.note for f in outcome.figures.values())
