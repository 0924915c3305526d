"""Events, rebuilt from the classes that OpenLineage generates from its JSON Schemas: no field more, none missing."""

from __future__ import annotations

import json
from datetime import datetime
from uuid import UUID

import pytest
from openlineage.client.generated import (
    base,
    column_lineage_dataset,
    data_quality_assertions_dataset,
    dataset_version_dataset,
    documentation_dataset,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
    schema_dataset,
    test_run,
)
from portable.conftest import POLICY, document, run_of

from ppdm_flow import api

FORM = "openlineage"
FACETS = {
    "schema": schema_dataset.SchemaDatasetFacet,
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
    "version": dataset_version_dataset.DatasetVersionDatasetFacet,
    "dataQualityAssertions": data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet,
    "documentation": documentation_dataset.DocumentationDatasetFacet,
    "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "processing_engine": processing_engine_run.ProcessingEngineRunFacet,
    "test": test_run.TestRunFacet,
}


def rebuilt(name: str, found: dict) -> object:
    """Build a facet: unknown fields and missing ones are an error of the class."""
    fields = {key: value for key, value in found.items() if not key.startswith("_")}
    if name == "schema":
        fields["fields"] = [schema_dataset.SchemaDatasetFacetFields(**each) for each in fields["fields"]]
    if name == "columnLineage":
        fields["fields"] = {column: lineage(each) for column, each in fields["fields"].items()}
    if name == "dataQualityAssertions":
        fields["assertions"] = [data_quality_assertions_dataset.Assertion(**each) for each in fields["assertions"]]
    if name == "test":
        fields["tests"] = [test_run.TestExecution(**each) for each in fields["tests"]]
    facet = FACETS[name](**fields)
    kind = type(facet).__name__
    assert found["_schemaURL"].endswith(f"/{kind}.json#/$defs/{kind}")
    assert found["_schemaURL"].startswith("https://openlineage.io/spec/facets/")
    assert found["_producer"].startswith("https://")
    return facet


def lineage(found: dict) -> object:
    inputs = [
        column_lineage_dataset.InputField(
            **{**each, "transformations": [column_lineage_dataset.Transformation(**t) for t in each["transformations"]]}
        )
        for each in found["inputFields"]
    ]
    return column_lineage_dataset.Fields(inputFields=inputs)


def event(found: dict) -> base.RunEvent:
    """Build the whole event."""

    def facets(held: dict) -> dict:
        return {name: rebuilt(name, facet) for name, facet in held.items()}

    run, job = found["run"], found["job"]
    return base.RunEvent(
        eventTime=found["eventTime"],
        eventType=base.EventType(found["eventType"]),
        producer=found["producer"],
        run=base.Run(**{**run, "facets": facets(run["facets"])}),
        job=base.Job(**{**job, "facets": facets(job["facets"])}),
        inputs=[base.InputDataset(**{**each, "facets": facets(each["facets"])}) for each in found["inputs"]],
        outputs=[
            base.OutputDataset(
                **{**each, "facets": facets(each["facets"]), "outputFacets": facets(each["outputFacets"])}
            )
            for each in found["outputs"]
        ],
    )


@pytest.mark.parametrize("public", [False, True])
def test_an_event_is_one_of_openlineage(released, withheld, public):
    for run in (released, withheld):
        found = document(run, FORM, public=public)
        built = event(found)
        assert found["schemaURL"] == built.schemaURL
        assert datetime.fromisoformat(built.eventTime).utcoffset() is not None
        assert UUID(built.run.runId).version == 5
        assert set(found) <= {"eventType", "eventTime", "producer", "schemaURL", "run", "job", "inputs", "outputs"}


def test_outputs_are_the_releases_with_their_rows(released):
    found = document(released, FORM)
    report = json.loads((released / "report.json").read_text())
    assert found["eventType"] == "COMPLETE"
    for output, (name, about) in zip(found["outputs"], report["releases"].items(), strict=True):
        assert output["name"] == f"wages/released/{name}/{about['path'].partition('/')[2]}"
        statistics = output["outputFacets"]["outputStatistics"]
        assert (statistics["rowCount"], statistics["size"]) == (about["rows"], about["bytes"])
        assert output["facets"]["version"]["datasetVersion"] == f"sha256:{about['sha256']}"


def test_columns_have_the_lineage_of_the_plan(released):
    found = document(released, FORM)
    plan = json.loads((released / "plan.json").read_text())
    (read,) = found["inputs"]
    for output, release in zip(found["outputs"], plan["releases"], strict=True):
        columns = output["facets"]["columnLineage"]["fields"]
        assert list(columns) == [each["name"] for each in release["attributes"]]
        for attribute in release["attributes"]:
            fields = columns[attribute["name"]]["inputFields"]
            assert {f["name"] for f in fields} <= {read["name"]}
            told = {kind: {f["field"] for f in fields if f["transformations"][0]["type"] == kind} for kind in KINDS}
            assert told == {"DIRECT": set(attribute["computed_from"]), "INDIRECT": set(attribute["chosen_by"])}
            masks = {f["transformations"][0]["masking"] for f in fields if f["field"] in attribute["computed_from"]}
            assert masks == {attribute["how"] != "unchanged"}


KINDS = ("DIRECT", "INDIRECT")


def test_requirements_are_assertions_on_the_release_and_tests_of_the_run(released, withheld):
    found = document(released, FORM)
    for output in found["outputs"]:
        for assertion in output["facets"]["dataQualityAssertions"]["assertions"]:  # alone, and beside the others
            assert (assertion["assertion"], assertion["success"]) == ("privacy.k_anonymity", True)
            assert assertion["expected"] == "at least 3"
            assert float(assertion["actual"]) >= 3
    failed = document(withheld, FORM)
    assert failed["eventType"] == "ABORT"
    assert failed["outputs"] == []
    assert {each["status"] for each in failed["run"]["facets"]["test"]["tests"]} == {"fail"}


def test_name_and_hash_of_the_input_are_internal(released):
    manifest = json.loads((released / "manifest.json").read_text())
    (internal,) = document(released, FORM)["inputs"]
    assert internal["name"] == "wages/source/zqsource.csv"
    assert internal["facets"]["version"]["datasetVersion"] == f"sha256:{manifest['input']['sha256']}"
    (public,) = document(released, FORM, public=True)["inputs"]
    assert public["name"] == "wages/source"
    assert "version" not in public["facets"]


def test_a_chosen_release_is_told_of_alone(released):
    found = document(released, FORM, "partner")
    assert [each["name"] for each in found["outputs"]] == ["wages/released/partner/wages.parquet"]
    assert {each["name"].partition("/")[0] for each in found["run"]["facets"]["test"]["tests"]} == {"partner"}


LINKED = """version: 1
name: clinic
tables:
  patients:
    source: {path: patients.csv}
    key: patient
    attributes: {patient: {role: subject}, region: {role: quasi_identifier}}
  visits:
    source: {path: visits.csv}
    refers: {patient: patients}
    attributes: {patient: {role: subject}, illness: {role: sensitive}}
people: {known_rows: 1}
steps:
  away: {use: drop, input: patients, with: {attributes: [patient]}}
  apart: {use: drop, input: visits, with: {attributes: [patient]}}
releases:
  people: {from: away, path: people.csv}
  stays: {from: apart, path: stays.csv}
"""


def test_linked_tables_are_an_input_each(tmp_path):
    home = tmp_path / "zqfolder"
    home.mkdir()
    (home / "patients.csv").write_text("patient,region\n" + "".join(f"p{i},r{i % 2}\n" for i in range(40)))
    (home / "visits.csv").write_text("patient,illness\n" + "".join(f"p{i % 40},i{i % 3}\n" for i in range(90)))
    (home / "policy.yaml").write_text(LINKED)
    run = api.run(home / "policy.yaml", out=home / "runs").run_dir
    found = document(run, FORM)
    event(found)
    assert [each["name"] for each in found["inputs"]] == [
        "clinic/source/patients/patients.csv",
        "clinic/source/visits/visits.csv",
    ]
    hashes = json.loads((run / "manifest.json").read_text())["tables"]
    assert [each["facets"]["version"]["datasetVersion"][7:] for each in found["inputs"]] == [
        hashes[name]["sha256"] for name in ("patients", "visits")
    ]
    columns = found["outputs"][1]["facets"]["columnLineage"]["fields"]
    assert columns["illness"]["inputFields"][0]["name"] == "clinic/source/visits/visits.csv"
    assert columns["illness"]["inputFields"][0]["field"] == "illness"


@pytest.mark.slow
def test_a_policy_name_is_the_job(tmp_path):
    run = run_of(tmp_path, policy=POLICY.replace("name: wages", "name: other"))
    assert document(run, FORM)["job"]["name"] == "other"
