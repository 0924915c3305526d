"""Swap: frequencies within classes stay, while values move between people."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.swap.algorithm import blocks, givers
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run

SPEC = registry.load("anonymizers", "swap")


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(0, 1000))
def test_one_cycle_a_group(groups, seed):
    found = givers(np.array(groups, dtype=np.int64), np.random.default_rng(seed).random(len(groups)))
    assert sorted(found) == list(range(len(groups)))
    for group in set(groups):
        rows = [i for i, g in enumerate(groups) if g == group]
        at, seen = rows[0], []
        while at not in seen:
            seen.append(at)
            at = int(found[at])
        assert sorted(seen) == rows


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=60), st.floats(0.01, 1.0), st.integers(0, 1000)
)
def test_blocks_are_near_in_rank(rows, window, seed):
    groups = np.array([g for g, _ in rows], dtype=np.int64)
    values = np.array([v for _, v in rows], dtype=np.float64)
    ties = np.random.default_rng(seed).random(len(rows))
    found = blocks(groups, values, ties, window)
    for group in set(groups.tolist()):
        mine = np.flatnonzero(groups == group)
        ranked = mine[np.lexsort((ties[mine], values[mine]))]
        size = max(2, int(np.ceil(window * len(mine))))
        own = found[ranked]
        assert (np.diff(own) >= 0).all()
        counts = Counter(own.tolist()).values()
        assert max(counts) < 2 * size
        assert min(counts) >= min(size, len(mine))
    assert all(len(set(groups[found == b].tolist())) == 1 for b in set(found.tolist()))


def people(rows: int = 600) -> Table:
    rng = np.random.default_rng(3)
    return Table.of(
        {
            "class": [f"class-{c}" for c in rng.integers(0, 20, rows)],
            "disease": [f"disease-{c}" for c in rng.integers(0, 8, rows)],
            "income": [None if i % 17 == 0 else str(v) for i, v in enumerate(rng.integers(0, 500, rows))],
        }
    )


def frequencies(table: Table, *names: str) -> Counter[tuple[str | None, ...]]:
    return Counter(zip(*(table[n].texts() for n in names), strict=True))


def same_frequencies(*names):
    def claim(outcome):
        same = frequencies(outcome.original, *names) == frequencies(outcome.released, *names)
        return None if same else f"the frequencies of {names} differ"

    return claim


class TestWithinClasses(AnonymizerConformance):
    def case(self):
        alone = Table.of({"class": ["a", "b"], "disease": ["x", "y"], "income": ["1", "2"]})
        return Case(
            SPEC,
            {"attributes": ["disease", "income"], "within": ["class"]},
            people(),
            claims=(same_frequencies("class", "disease"), same_frequencies("class", "income")),
            bad=(BadInput("disease", alone), BadInput("ill", params={"attributes": ["ill"]})),
        )


class TestTogether(AnonymizerConformance):
    def case(self):
        params = {"attributes": ["disease", "income"], "together": "true", "share": "0.5"}
        return Case(SPEC, params, people(), claims=(same_frequencies("disease", "income"),))


class TestRank(AnonymizerConformance):
    def case(self):
        text = {"attributes": ["disease"], "method": "rank"}
        return Case(
            SPEC,
            {"attributes": ["income"], "method": "rank", "window": "0.1", "within": ["class"]},
            people(),
            claims=(same_frequencies("class", "income"),),
            bad=(BadInput("disease", params=text),),
        )


def test_about_the_share_takes_part():
    case = Case(SPEC, {"attributes": ["n"], "share": "0.3"}, Table.of({"n": [str(i) for i in range(2000)]}))
    released = run(case.fit().transform, case.table)[""]
    moved = sum(a != b for a, b in zip(case.table["n"].texts(), released["n"].texts(), strict=True))
    assert moved == pytest.approx(600, abs=6 * np.sqrt(2000 * 0.3 * 0.7))  # two-sided error 2e-9, on a fixed key


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"attributes": ["a"], "within": ["a"]}, ["PPF782"]),
        ({"attributes": ["a", "b"], "method": "rank", "together": "true"}, ["PPF782"]),
        ({"attributes": ["c"], "within": ["d"]}, ["PPF606", "PPF606"]),
        ({"attributes": ["a"], "within": ["b"]}, []),
    ],
)
def test_problems(params, codes):
    scope = Scope("s", {n: AttributeFacts(n, Role.SENSITIVE) for n in "ab"}, ())
    assert [p.code for p in SPEC.effect(SPEC.params.model_validate(params), scope).problems] == codes
