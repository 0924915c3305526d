"""Lossy join: every pair of a class, and no more."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.anonymizers.lossy_join.algorithm import pairs
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing import conformance
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.conformance import run

SPEC = registry.load("anonymizers", "lossy_join")
RNG = np.random.default_rng(4)
TABLE = Table.of(
    {
        "age": [f"age-{a}-canary" for a in RNG.integers(0, 9, 80)],
        "disease": [None if a == 0 else f"disease-{a}-canary" for a in RNG.integers(0, 5, 80)],
        "class_id": [str(c) for c in RNG.integers(0, 12, 80)],
    }
)
CASE = Case(SPEC, {"attributes": ["disease"]}, TABLE)
KIT = [c for c in conformance.CHECKS if c not in (conformance.untouched_columns_stay, conformance.bad_input_is_refused)]


@pytest.mark.parametrize("check", KIT, ids=lambda c: c.__name__)
def test_conformance(check):
    assert list(check(CASE)) == []


@given(st.lists(st.integers(0, 5), max_size=25))
def test_pairs(classes):
    left, right = pairs(np.array(classes, dtype=np.int64))
    found = list(zip(left.tolist(), right.tolist(), strict=True))
    expected = {(i, j) for i, a in enumerate(classes) for j, b in enumerate(classes) if a == b}
    assert len(found) == len(expected)
    assert set(found) == expected


def test_the_same_as_sql():
    joined = run(CASE.fit().transform, TABLE)[""]
    rows = pa.table({n: pa.array(TABLE[n].texts(), pa.string()) for n in TABLE.names})
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        query = "SELECT a.age, b.disease, a.class_id FROM rows a JOIN rows b USING (class_id)"
        expected = connection.execute(query).fetchall()
    found = zip(*(joined[n].texts() for n in ("age", "disease", "class_id")), strict=True)
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_what_it_tells():
    fitted = CASE.fit()
    sizes = np.unique(TABLE["class_id"].codes, return_counts=True)[1]
    assert fitted.figures["tuples"].value == (sizes**2).sum()
    assert fitted.figures["spurious_tuples"].value == (sizes**2).sum() - 80
    assert [f.code for f in fitted.findings] == ["PPF587"]
    assert CASE.effect.rows == "generated"


def test_growth_is_bounded():
    with pytest.raises(PluginError) as caught:
        Case(SPEC, {"attributes": ["disease"], "most_rows": "100"}, TABLE).fit()
    assert caught.value.diagnostics[0].code == "PPF828"


def test_every_row_needs_a_class():
    with pytest.raises(PluginError, match="`class_id`"):
        Case(SPEC, {"attributes": ["d"]}, Table.of({"d": ["x", "y"], "class_id": ["1", "⊥"]})).fit()


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"attributes": ["disease"]}, []),
        ({"attributes": ["diseas"]}, ["PPF606"]),
        ({"attributes": ["disease"], "key": "klass"}, ["PPF606"]),
        ({"attributes": ["class_id"]}, ["PPF827"]),
    ],
)
def test_problems(params, codes):
    scope = Scope("s", {n: AttributeFacts(n, Role.QUASI_IDENTIFIER) for n in TABLE.names}, ())
    assert [p.code for p in SPEC.effect(SPEC.params.model_validate(params), scope).problems] == codes


def test_rows_of_several_people_are_refused():
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER) for n in TABLE.names}
    scope = Scope("s", {**facts, "people": AttributeFacts("people", Role.WEIGHT)}, ())
    assert [p.code for p in SPEC.effect(CASE.bound, scope).problems] == ["PPF827"]
