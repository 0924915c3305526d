"""Suppression through the kit, and what it suppresses."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk import registry
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance

NAMES = ("age", "job", "city")
FACTS = {name: AttributeFacts(name, Role.QUASI_IDENTIFIER) for name in NAMES} | {"n": AttributeFacts("n", Role.WEIGHT)}
K = KAnonymity.of("privacy.k_anonymity", k=5, attributes=NAMES)


def spec():
    return registry.load("anonymizers", "suppress")


def people(rows: int = 500, **columns: list[str | None]) -> Table:
    rng = np.random.default_rng(11)
    skewed = rng.geometric(0.3, rows)
    missing = rng.random(rows) < 0.05
    return Table.of(
        {
            "age": [str(a) for a in rng.integers(18, 30, rows)],
            "job": [None if m else f"job-{min(j, 9)}-canary" for m, j in zip(missing, skewed, strict=True)],
            "city": [f"city-{c}-canary" for c in rng.integers(0, 5, rows)],
            "disease": [f"disease-{d}-canary" for d in rng.integers(0, 5, rows)],
            **columns,
        }
    )


def holds(outcome) -> str | None:
    found = pd.DataFrame({n: outcome.released[n].texts() for n in NAMES}, dtype=object).fillna("\0missing")
    if len(found) and found.groupby(list(NAMES)).size().min() < K.k:
        return "a class is too small"
    before = outcome.original.take(np.isin(outcome.original.rows, outcome.released.rows))
    for name in NAMES:
        for own, now in zip(before[name].texts(), outcome.released[name].texts(), strict=True):
            if now not in (own, "⊥"):
                return "a cell became another value"
    return None


class TestCells(AnonymizerConformance):
    params = MappingProxyType({"rare": {"job": {"count": "20"}}, "importance": {"age": "3"}})
    nulls = Nulls.OWN_CATEGORY

    def case(self):
        bad = (BadInput("jbo", params={"rare": {"jbo": "3"}}),)
        return Case(
            spec(), self.params, people(), requirements=(K,), facts=FACTS, nulls=self.nulls, claims=(holds,), bad=bad
        )


class TestRows(TestCells):
    params = MappingProxyType({"small": "rows"})


class TestWildcards(TestCells):
    nulls = Nulls.WILDCARD


class TestRowsWithWildcards(TestRows):
    nulls = Nulls.WILDCARD


def outcome(table, params, requirements=(K,)):
    case = Case(spec(), params, table, requirements=requirements, facts=FACTS)
    fitted = case.fit()
    return fitted, fitted.transform.apply(table, None)


def test_rare_values_are_suppressed_whatever_the_classes():
    table = Table.of({"job": [*"aaabbc", None], "city": [*"xxxxyyy"]})
    fitted, released = outcome(table, {"rare": {"job": {"count": "2"}, "city": {"ratio": "0.5"}}}, ())
    assert released["job"].texts() == [*"aaabb", "⊥", None]
    assert released["city"].texts() == [*"xxxx", *"⊥⊥⊥"]
    assert fitted.figures["job.rare_cells"].value == 1
    assert "suppressed_rows" not in fitted.figures


def test_cells_before_rows():
    table = Table.of({"age": [*"1122"], "job": [*"abab"], "city": [*"zzzz"]})
    fitted, released = outcome(
        table, {"k": "2", "importance": {"age": "2"}}, (KAnonymity.of("k", k=2, attributes=NAMES),)
    )
    assert released["age"].texts() == [*"1122"]
    assert released["job"].texts() == [*"⊥⊥⊥⊥"]
    assert (fitted.figures["suppressed_cells"].value, fitted.figures["suppressed_rows"].value) == (4, 0)
    _, dropped = outcome(table, {"small": "rows"}, (KAnonymity.of("k", k=2, attributes=NAMES),))
    assert len(dropped) == 0


def test_the_few_that_are_left_are_dropped_and_said_so():
    table = Table.of({"age": [*"1112"], "job": [*"aaab"], "city": [*"zzzy"]})
    fitted, released = outcome(table, {}, (KAnonymity.of("k", k=2, attributes=NAMES),))
    assert released.rows.tolist() == [0, 1, 2]
    assert [f.code for f in fitted.findings] == ["PPF884"]


def test_weights_count_as_rows():
    table = Table.of({"age": [*"12"], "job": [*"ab"], "city": [*"xy"], "n": ["5", "4"]})
    _, released = outcome(table, {"small": "rows"})
    assert released.rows.tolist() == [0]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, ("privacy.k_anonymity",)),
        ({"k": "7"}, ("privacy.k_anonymity",)),
        ({"k": "3"}, ()),
        ({"attributes": ["age", "job"]}, ()),
        ({"small": "keep", "rare": {"job": "5"}}, ()),
    ],
)
def test_it_serves_what_it_enforces(params, expected):
    assert Case(spec(), params, people(5), requirements=(K,), facts=FACTS).effect.serves == expected
