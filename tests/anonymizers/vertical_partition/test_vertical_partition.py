"""Vertical partition: tables with nothing in common but the key."""

from __future__ import annotations

import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing import conformance
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.conformance import run

SPEC = registry.load("anonymizers", "vertical_partition")
TABLES = {"people": ["age", "town"], "illness": ["disease"]}
TABLE = Table.of(
    {
        "age": [f"age-{i % 5}" for i in range(60)],
        "town": [f"town-{i % 3}" for i in range(60)],
        "disease": [f"disease-{i % 7}" for i in range(60)],
        "name": [f"name-{i}" for i in range(60)],
        "class_id": [str(i % 3) for i in range(60)],
    }
)
CASE = Case(SPEC, {"tables": TABLES}, TABLE)
OF_ANY_OUTPUT = (
    conformance.same_draws_same_output,
    conformance.draws_are_declared,
    conformance.any_partitioning_same_output,
    conformance.rows_follow_the_rule,
    conformance.transform_pickles,
    conformance.account_is_json,
    conformance.account_holds_no_data,
)


@pytest.mark.parametrize("check", OF_ANY_OUTPUT, ids=lambda c: c.__name__)
def test_conformance(check):
    assert list(check(CASE)) == []


def test_outputs():
    found = run(CASE.fit().transform, TABLE)
    assert {name: table.names for name, table in found.items()} == {
        "people": ("class_id", "age", "town"),
        "illness": ("class_id", "disease"),
    }
    assert dict(CASE.effect.outputs) == {name: table.names for name, table in found.items()}
    assert all(t[n].texts() == TABLE[n].texts() for t in found.values() for n in t.names)


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"tables": TABLES}, []),
        ({"tables": TABLES, "key": "klass"}, ["PPF606"]),
        ({"tables": {"a": ["age", "town"], "b": ["town"]}}, ["PPF827"]),
        ({"tables": {"a": ["age"], "b": ["class_id"]}}, ["PPF827"]),
        ({"tables": {"a": ["age"], "b": ["twon"]}}, ["PPF606"]),
    ],
)
def test_problems(params, codes):
    scope = Scope("s", {n: AttributeFacts(n, Role.QUASI_IDENTIFIER) for n in TABLE.names}, ())
    assert [p.code for p in SPEC.effect(SPEC.params.model_validate(params), scope).problems] == codes


@pytest.mark.parametrize("tables", [{"a": ["age"]}, {"a": ["age"], "b": []}, {"a": ["age"], "": ["town"]}])
def test_tables_are_several_and_named(tables):
    with pytest.raises(ValueError, match="tables"):
        SPEC.params.model_validate({"tables": tables})


def test_every_row_needs_a_key():
    table = Table.of({"age": ["1", "2"], "town": ["a", "b"], "disease": ["x", "y"], "class_id": ["1", None]})
    with pytest.raises(PluginError, match="`class_id`"):
        Case(SPEC, {"tables": TABLES}, table).fit()


def test_rows_of_several_people_are_refused():
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER) for n in TABLE.names}
    scope = Scope("s", {**facts, "people": AttributeFacts("people", Role.WEIGHT)}, ())
    assert [p.code for p in SPEC.effect(CASE.bound, scope).problems] == ["PPF827"]
