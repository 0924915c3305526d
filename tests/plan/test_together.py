"""A plan says which releases are judged as one table, and by which columns."""

from __future__ import annotations

import json

import jsonschema
import pytest

from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.forms import draw
from ppdm_flow.plan.schemas import schema

POLICY = """
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier}
  town: {role: quasi_identifier}
privacy:
  k_anonymity: {k: 5}
steps:
  ids: {use: pseudonymize, with: {attributes: [patient], key_file: one.key}}
  ages: {use: drop, input: ids, with: {attributes: [town]}}
  others: {use: pseudonymize, input: source, with: {attributes: [patient], key_file: two.key}}
  towns: {use: drop, input: ids, with: {attributes: [age]}}
releases:
  by-age: {from: ages, path: by-age.csv}
  by-town: {from: towns, path: by-town.csv}
"""
OTHER_KEY = POLICY.replace("towns: {use: drop, input: ids", "towns: {use: drop, input: others")


@pytest.mark.parametrize(
    ("policy", "joined"),
    [
        (POLICY, True),
        (OTHER_KEY, False),
        (OTHER_KEY.replace("two.key", "one.key"), True),
        (POLICY + "recipients: apart\n", False),
    ],
)
def test_releases_that_share_a_keyed_column(compiled, policy, joined):
    found = compiled(policy)
    told = document(found.plan)
    assert ("PPF540" in {d.code for d in found.diagnostics}) == joined
    link = {"releases": ["by-age", "by-town"], "columns": [["patient", "patient"]]}
    assert told.get("joined_by", []) == ([link] if joined else [])
    assert ("joined with by-town by" in draw("svg", told)) == joined
    assert ("never beside another release" in draw("svg", told)) == ("apart" in policy)
    jsonschema.Draft7Validator(schema()).validate(json.loads(json.dumps(told)))
