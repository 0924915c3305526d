"""Class ids: by what is alike, and by criteria."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run

SPEC = registry.load("anonymizers", "assign_class_id")
CRITERIA = [
    {"id": "young", "when": {"age": ["20", "29"]}},
    {"id": "doctors", "when": {"age": {"low": "30"}, "level": {"values": ["PhD", "DSc"]}}},
    {"id": "young", "when": {"level": "pupil"}},
]


def assigned(table: Table, **params) -> list[str | None]:
    return run(Case(SPEC, params, table).fit().transform, table)[""][params.get("name", "class_id")].texts()


cells = st.sampled_from([None, "⊥", "a", "b", "c"])


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=40), st.integers(0, 99))
def test_numbers_follow_values_and_not_rows(rows, seed):
    table = Table.of({n: [r[i] for r in rows] for i, n in enumerate("pq")})
    found = assigned(table, attributes=["p", "q"])
    rank = {"⊥": 0, None: 1, "a": 2, "b": 3, "c": 4}
    order = sorted(set(rows), key=lambda row: [rank[v] for v in row])
    assert found == [str(order.index(row) + 1) for row in rows]
    turned = np.random.default_rng(seed).permutation(len(rows))
    assert assigned(table.take(turned), attributes=["p", "q"]) == [found[i] for i in turned]


def test_criteria():
    people = [
        ("20", "x"),
        ("29", "PhD"),
        ("29.5", "PhD"),
        ("30", "DSc"),
        ("44", "pupil"),
        (None, "pupil"),
        ("x", "PhD"),
    ]
    table = Table.of({"age": [p[0] for p in people], "level": [p[1] for p in people]})
    expected = ["young", "young", "rest", "doctors", "young", "young", "rest"]
    assert assigned(table, criteria=CRITERIA, other="rest") == expected


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({}, ["PPF782"]),
        ({"attributes": ["age"], "criteria": CRITERIA}, ["PPF782"]),
        ({"attributes": ["age"], "other": "rest"}, ["PPF782"]),
        ({"attributes": ["aeg"]}, ["PPF606"]),
        ({"criteria": [{"id": "a", "when": {"age": ["29", "20"]}}]}, ["PPF782"]),
        ({"criteria": [{"id": "a", "when": {"age": {}}}]}, ["PPF782"]),
        ({"criteria": CRITERIA}, []),
    ],
)
def test_problems(params, codes):
    scope = Scope("s", {n: AttributeFacts(n, Role.QUASI_IDENTIFIER) for n in ("age", "level")}, ())
    assert [p.code for p in SPEC.effect(SPEC.params.model_validate(params), scope).problems] == codes


def test_a_range_has_two_ends():
    with pytest.raises(ValueError, match="two ends"):
        SPEC.params.model_validate({"criteria": [{"id": "a", "when": {"age": ["1", "2", "3"]}}]})


def people() -> Table:
    rng = np.random.default_rng(5)
    return Table.of(
        {
            "age": [str(a) for a in rng.integers(18, 40, 400)],
            "level": [None if a == 3 else f"level-{a}-canary" for a in rng.integers(0, 4, 400)],
        }
    )


class TestByAttributes(AnonymizerConformance):
    def case(self):
        bad = BadInput("aeg", params={"attributes": ["aeg"]})
        return Case(SPEC, {"attributes": ["age", "level"]}, people(), bad=(bad,))


class TestByCriteria(AnonymizerConformance):
    def case(self):
        params = {"criteria": CRITERIA[:1], "other": "rest", "name": "group"}
        bare = BadInput("age", params={"criteria": CRITERIA[:1]})
        return Case(SPEC, params, people(), domains={"group": frozenset({"young", "rest"})}, bad=(bare,))
