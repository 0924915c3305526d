"""A run as one event of OpenLineage: what was read, what was released, column by column, and what was judged.

It is an internal document: it names the data file and has the hash of the input. Its public form says `source` in
their place, and has no measured figure that a public report leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.report.openlineage.facets import EVENT, Document, facet
from ppdm_flow.report.openlineage.lineage import column_lineage
from ppdm_flow.report.run.fields import ResultDocument
from ppdm_flow.report.run.released import HOME, FinishedRun, ReleasedFiles, bound

_NAMESPACE = "ppdm-flow"
_SOURCE = "source"
_STATES = {"released": "COMPLETE", "withheld": "ABORT"}
_WAITING = "RUNNING"


def render(run: FinishedRun) -> str:
    """Return the event as JSON."""
    return json_text(event(run))


def event(run: FinishedRun) -> Document:
    """Return the event that ended the run: COMPLETE where it released, ABORT where it withheld.

    A run that waits for approval has not ended: RUNNING.
    """
    inputs = _inputs(run)
    state = "COMPLETE" if run.published else _STATES.get(run.document["verdict"], _WAITING)
    tests = [_test(each) for each in (*run.document["requirements"], *run.document["gates"]) if _chosen(run, each)]
    engine = facet("ProcessingEngineRunFacet", _producer(run), name="ppdm-flow", version=run.tool)
    return {
        "eventType": state,
        "eventTime": run.finished,
        "producer": _producer(run),
        "schemaURL": EVENT,
        "run": {
            "runId": run.identifier(),
            "facets": {"processing_engine": engine, "test": facet("TestRunFacet", _producer(run), tests=tests)},
        },
        "job": {
            "namespace": _NAMESPACE,
            "name": run.policy,
            "facets": {
                "jobType": facet(
                    "JobTypeJobFacet", _producer(run), processingType="BATCH", integration="PPDM_FLOW", jobType="JOB"
                )
            },
        },
        "inputs": list(inputs.values()),
        "outputs": [_output(run, each, inputs) for each in run.releases] if run.published else [],
    }


def _producer(run: FinishedRun) -> str:
    return f"{HOME}/ppdm-flow/{run.tool}"


def _chosen(run: FinishedRun, result: ResultDocument) -> bool:
    names = {each.name for each in run.releases}
    every = set(run.document["releases"])
    return names == every or result["release"] in names


def _inputs(run: FinishedRun) -> Mapping[str, Document]:
    """Return the data sets that were read, by the names of linked tables; one alone has the name ``""``."""
    plan = run.document["plan"]
    sources = {t["name"]: t["source"] for t in plan["tables"]} if "tables" in plan else {"": plan["source"]}
    return {name: _input(run, name, source) for name, source in sources.items()}


def _input(run: FinishedRun, table: str, source: Mapping[str, Any]) -> Document:
    read = {} if run.public else run.document["run"].get("input", {})
    file = read.get("tables", {}).get(table, {}) if table else read
    fields = [{"name": a["name"], "type": a["type"]} for a in source["attributes"]]
    facets = {"schema": facet("SchemaDatasetFacet", _producer(run), fields=fields)}
    if "sha256" in file:
        version = f"sha256:{file['sha256']}"
        facets["version"] = facet("DatasetVersionDatasetFacet", _producer(run), datasetVersion=version)
    name = "/".join(filter(None, (run.policy, _SOURCE, table, file.get("name"))))
    return {"namespace": _NAMESPACE, "name": name, "facets": facets}


def _output(run: FinishedRun, release: ReleasedFiles, inputs: Mapping[str, Document]) -> Document:
    producer = _producer(run)
    facets = {
        "schema": facet("SchemaDatasetFacet", producer, fields=list(_fields(release))),
        "columnLineage": facet("ColumnLineageDatasetFacet", producer, fields=column_lineage(run, release, inputs)),
        "version": facet("DatasetVersionDatasetFacet", producer, datasetVersion=f"sha256:{release.about['sha256']}"),
        "dataQualityAssertions": facet(
            "DataQualityAssertionsDatasetFacet",
            producer,
            assertions=[_assertion(each) for each in run.results(release.name)],
        ),
    }
    if release.description:
        facets["documentation"] = facet("DocumentationDatasetFacet", producer, description=release.description)
    statistics = {"size": release.about["bytes"], "fileCount": len(release.data)}
    if release.rows is not None:
        statistics["rowCount"] = release.rows
    return {
        "namespace": _NAMESPACE,
        "name": f"{run.policy}/released/{release.name}/{release.path}",
        "facets": facets,
        "outputFacets": {"outputStatistics": facet("OutputStatisticsOutputDatasetFacet", producer, **statistics)},
    }


def _fields(release: ReleasedFiles) -> Iterator[Document]:
    for position, column in enumerate(release.columns, 1):
        yield {
            "name": column.name,
            "type": column.type,
            "description": column.text,
            "ordinal_position": position,
        }


def _assertion(result: ResultDocument) -> Document:
    return {"assertion": result["id"], "success": result["holds"], "name": result["metric"], **_judged(result)}


def _test(result: ResultDocument) -> Document:
    status = "pass" if result["holds"] else "fail"
    name = f"{result['release']}/{result['metric']}" if result["release"] else result["metric"]
    return {"name": name, "status": status, "type": result["id"], **_judged(result)}


def _judged(result: ResultDocument) -> Document:
    """Return bound, measured figure and severity: what is waived withholds nothing."""
    measured = result["measured"]
    written: Document = {"severity": "warn" if result.get("waived_by") else "error", "expected": bound(result)}
    return written if measured is None else {**written, "actual": f"{measured:.12g}"}
