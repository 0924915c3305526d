"""The released schema as a data contract, held against the standard's JSON Schema; and the way there and back."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from open_data_contract_standard.model import OpenDataContractStandard
from portable.conftest import document, text

from ppdm_flow import api
from ppdm_flow.api.contract import from_contract
from ppdm_flow.policy import load
from ppdm_flow.policy.contract import read_contract

FORM = "odcs"
SCHEMA = json.loads(resources.files("open_data_contract_standard").joinpath("schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("release", ["public", "partner"])
def test_it_is_a_contract_of_the_standard(released, release):
    found = document(released, FORM, release)
    jsonschema.Draft201909Validator(SCHEMA).validate(found)
    assert found["apiVersion"] == "v3.1.0"
    model = OpenDataContractStandard.from_string(text(released, FORM, release))
    dictionary = json.loads((released / "released" / release / "dictionary.json").read_text())
    assert [each.name for each in model.schema_[0].properties] == [a["name"] for a in dictionary["attributes"]]


def test_types_descriptions_and_rows_are_those_of_the_release(released):
    (table,) = document(released, FORM, "public")["schema"]
    kinds = {each["name"]: each["logicalType"] for each in table["properties"]}
    assert kinds == {
        "job": "string",
        "home town/region": "string",
        "wage in €": "number",
        "children": "integer",
        "since": "date",
        "seen": "timestamp",
        "note": "string",
    }
    report = json.loads((released / "report.json").read_text())
    assert table["quality"][0]["mustBe"] == report["releases"]["public"]["rows"]
    assert table["physicalName"] == "wages.csv"
    assert table["description"] == "Wages by job and place"
    assert table["properties"][0]["description"] == "what they do"


CONTRACT = """
kind: DataContract
apiVersion: v3.1.0
id: patients
name: clinic patients
version: 1.2.0
status: active
description: {purpose: Patients and what they were treated for}
schema:
  - name: patients
    physicalName: patients.csv
    properties:
      - {name: patient id, physicalName: patient_id, logicalType: string, primaryKey: true}
      - {name: mail, logicalType: string, tags: [pii]}
      - {name: age, logicalType: integer, classification: public, description: "in years"}
      - {name: region, logicalType: string}
      - {name: diagnosis, logicalType: string, classification: restricted}
"""


def test_the_way_there_and_back(tmp_path):
    """A contract becomes a policy, that passes `check` and runs; its release becomes a contract, that becomes one."""
    contract, policy = tmp_path / "patients.odcs.yaml", tmp_path / "policy.yaml"
    contract.write_text(CONTRACT, encoding="utf-8")
    policy.write_text(from_contract(contract), encoding="utf-8")
    assert load(policy).diagnostics == ()
    rows = [f"p{i},m{i}@x.example,{20 + i % 40},r{i % 4},d{i % 3}" for i in range(400)]
    (tmp_path / "patients.csv").write_text("patient_id,mail,age,region,diagnosis\n" + "\n".join(rows) + "\n")
    outcome = api.run(policy, out=tmp_path / "runs")
    found = document(outcome.run_dir, FORM)
    jsonschema.Draft201909Validator(SCHEMA).validate(found)
    (table,) = found["schema"]
    assert [each["name"] for each in table["properties"]] == ["age", "region", "diagnosis"]
    assert table["properties"][0]["description"] == "in years"
    again = tmp_path / "released.odcs.json"
    again.write_text(text(outcome.run_dir, FORM), encoding="utf-8")
    assert [each.column for each in read_contract(again).objects[0].properties] == ["age", "region", "diagnosis"]
    second = tmp_path / "second.yaml"
    second.write_text(from_contract(again), encoding="utf-8")
    loaded = load(second)
    assert loaded.policy is not None, loaded.diagnostics
    roles = {name: a.role.value for name, a in loaded.policy.attributes.items()}
    assert roles == {"age": "quasi_identifier", "region": "quasi_identifier", "diagnosis": "sensitive"}


def test_the_same_run_gives_the_same_bytes(released):
    for form in (FORM, "croissant", "ro-crate", "openlineage"):
        assert text(released, form, "public") == text(Path(released), form, "public")
