"""Recode: ranges, values, and what it refuses."""

from __future__ import annotations

import pytest

from ppdm_flow.anonymizers.recode.algorithm import recoded
from ppdm_flow.anonymizers.recode.spec import RecodeRule
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table
from ppdm_flow.testing import claims
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance

SPEC = registry.load("anonymizers", "recode")
MARKS = {"fail": ["0", "50"], "pass": ["50", "101"]}


def test_ranges_leave_their_upper_end_out():
    rule = RecodeRule.model_validate({"ranges": MARKS})
    assert recoded("mark", ["0", "49.9", "50", "100"], rule) == ["fail", "fail", "pass", "pass"]


@pytest.mark.parametrize("value", ["101", "-1", "x", "nan", "inf", "1_0", ""])
def test_what_no_range_covers(value):
    with pytest.raises(PluginError, match="`mark`") as caught:
        recoded("mark", [value], RecodeRule.model_validate({"ranges": MARKS}))
    assert caught.value.diagnostics[0].code == "PPF789"
    assert recoded("mark", [value], RecodeRule.model_validate({"ranges": MARKS, "other": "?"})) == ["?"]
    assert recoded("mark", [value], RecodeRule.model_validate({"ranges": MARKS, "keep_others": "true"})) == [value]


def test_values():
    rule = RecodeRule(values={"CSE": "technology", "ECE": "technology"}, other="other")
    assert recoded("d", ["CSE", "ECE", "MET"], rule) == ["technology", "technology", "other"]


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ({}, "PPF782"),
        ({"ranges": MARKS, "values": {"a": "b"}}, "PPF782"),
        ({"values": {"a": "b"}, "other": "c", "keep_others": "true"}, "PPF782"),
        ({"ranges": {"a": ["5", "5"]}}, "PPF826"),
        ({"ranges": {"a": ["0", "50"], "b": ["40", "60"]}}, "PPF826"),
        ({"ranges": {"a": ["0", "50"], "b": ["50", "60"]}}, None),
    ],
)
def test_problems(rule, code):
    scope = Scope("s", {"mark": AttributeFacts("mark", Role.SENSITIVE)}, ())
    found = SPEC.effect(SPEC.params.model_validate({"attributes": {"mark": rule}}), scope).problems
    assert [p.code for p in found] == ([code] if code else [])


def test_identifiers_are_not_recoded():
    scope = Scope("s", {"id": AttributeFacts("id", Role.IDENTIFIER)}, ())
    params = SPEC.params.model_validate({"attributes": {"id": {"values": {"a": "b"}, "other": "c"}}})
    assert [p.code for p in SPEC.effect(params, scope).problems] == ["PPF826"]


class TestConformance(AnonymizerConformance):
    def case(self):
        table = Table.of(
            {
                "mark": [None, "⊥", *[str(i % 101) for i in range(300)]],
                "town": [f"town-{i % 7}-canary" for i in range(302)],
            }
        )
        lies = {"attributes": {"town": {"values": {"a": "b"}, "keep_others": "true"}}}
        circle = {"attributes": {"town": {"values": {"a": "b", "b": "a"}}}}
        both = Table.of({"town": ["a", "b"], "mark": ["1", "2"]})
        return Case(
            SPEC,
            {"attributes": {"mark": {"ranges": MARKS}}},
            table,
            domains={"mark": frozenset(MARKS)},
            claims=(claims.is_function("mark"),),
            bad=(
                BadInput("mark", Table.of({"mark": ["7", "x"]})),
                BadInput("town", both, circle),
                BadInput("twn", params={"attributes": {"twn": lies["attributes"]["town"]}}),
            ),
        )
