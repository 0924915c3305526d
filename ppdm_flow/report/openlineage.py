"""A run as one event of OpenLineage: what was read, what was released, column by column, and what was judged.

It is an internal document: it names the data file and has the hash of the input. Its public form says `source` in
their place, and has no measured figure that a public report leaves out.

Source: OpenLineage 2-0-2 (https://openlineage.io/spec/2-0-2/OpenLineage.json) and its facets, LF AI & Data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx

from ppdm_flow.core.lineage import DerivationKind
from ppdm_flow.core.texts import json_text
from ppdm_flow.plan.dag import document_graph, release_key
from ppdm_flow.report.run.fields import ResultDocument
from ppdm_flow.report.run.released import HOME, ReleasedFiles, ReportedRun, bound

Document = dict[str, Any]
_SPEC = "https://openlineage.io/spec"
_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_VERSIONS = {
    "ColumnLineageDatasetFacet": "1-2-0",
    "DataQualityAssertionsDatasetFacet": "1-1-0",
    "DatasetVersionDatasetFacet": "1-0-1",
    "DocumentationDatasetFacet": "1-1-0",
    "JobTypeJobFacet": "2-0-4",
    "OutputStatisticsOutputDatasetFacet": "1-0-2",
    "ProcessingEngineRunFacet": "1-1-1",
    "SchemaDatasetFacet": "1-2-0",
    "TestRunFacet": "1-0-1",
}
_NAMESPACE = "ppdm-flow"
_SOURCE = "source"
_STATES = {"released": "COMPLETE", "withheld": "ABORT"}
_WAITING = "RUNNING"


def render(run: ReportedRun) -> str:
    """Return the event as JSON."""
    return json_text(event(run))


def event(run: ReportedRun) -> Document:
    """Return the event that ended the run: COMPLETE where it released, ABORT where it withheld.

    A run that waits for approval has not ended: RUNNING.
    """
    inputs = _inputs(run)
    state = "COMPLETE" if run.published else _STATES.get(run.document["verdict"], _WAITING)
    tests = [_test(each) for each in (*run.document["requirements"], *run.document["gates"]) if _chosen(run, each)]
    engine = _facet("ProcessingEngineRunFacet", _producer(run), name="ppdm-flow", version=run.tool)
    return {
        "eventType": state,
        "eventTime": run.finished,
        "producer": _producer(run),
        "schemaURL": _EVENT,
        "run": {
            "runId": run.identifier(),
            "facets": {"processing_engine": engine, "test": _facet("TestRunFacet", _producer(run), tests=tests)},
        },
        "job": {
            "namespace": _NAMESPACE,
            "name": run.policy,
            "facets": {
                "jobType": _facet(
                    "JobTypeJobFacet", _producer(run), processingType="BATCH", integration="PPDM_FLOW", jobType="JOB"
                )
            },
        },
        "inputs": list(inputs.values()),
        "outputs": [_output(run, each, inputs) for each in run.releases] if run.published else [],
    }


def _producer(run: ReportedRun) -> str:
    return f"{HOME}/ppdm-flow/{run.tool}"


def _chosen(run: ReportedRun, result: ResultDocument) -> bool:
    names = {each.name for each in run.releases}
    every = set(run.document["releases"])
    return names == every or result["release"] in names


def _inputs(run: ReportedRun) -> Mapping[str, Document]:
    """Return the data sets that were read, by the names of linked tables; one alone has the name ``""``."""
    plan = run.document["plan"]
    sources = {t["name"]: t["source"] for t in plan["tables"]} if "tables" in plan else {"": plan["source"]}
    return {name: _input(run, name, source) for name, source in sources.items()}


def _input(run: ReportedRun, table: str, source: Mapping[str, Any]) -> Document:
    read = {} if run.public else run.document["run"].get("input", {})
    file = read.get("tables", {}).get(table, {}) if table else read
    fields = [{"name": a["name"], "type": a["type"]} for a in source["attributes"]]
    facets = {"schema": _facet("SchemaDatasetFacet", _producer(run), fields=fields)}
    if "sha256" in file:
        version = f"sha256:{file['sha256']}"
        facets["version"] = _facet("DatasetVersionDatasetFacet", _producer(run), datasetVersion=version)
    name = "/".join(filter(None, (run.policy, _SOURCE, table, file.get("name"))))
    return {"namespace": _NAMESPACE, "name": name, "facets": facets}


def _output(run: ReportedRun, release: ReleasedFiles, inputs: Mapping[str, Document]) -> Document:
    producer = _producer(run)
    facets = {
        "schema": _facet("SchemaDatasetFacet", producer, fields=list(_fields(release))),
        "columnLineage": _facet("ColumnLineageDatasetFacet", producer, fields=_column_lineage(run, release, inputs)),
        "version": _facet("DatasetVersionDatasetFacet", producer, datasetVersion=f"sha256:{release.about['sha256']}"),
        "dataQualityAssertions": _facet(
            "DataQualityAssertionsDatasetFacet",
            producer,
            assertions=[_assertion(each) for each in run.results(release.name)],
        ),
    }
    if release.description:
        facets["documentation"] = _facet("DocumentationDatasetFacet", producer, description=release.description)
    statistics = {"size": release.about["bytes"], "fileCount": len(release.data)}
    if release.rows is not None:
        statistics["rowCount"] = release.rows
    return {
        "namespace": _NAMESPACE,
        "name": f"{run.policy}/released/{release.name}/{release.path}",
        "facets": facets,
        "outputFacets": {"outputStatistics": _facet("OutputStatisticsOutputDatasetFacet", producer, **statistics)},
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


def _column_lineage(run: ReportedRun, release: ReleasedFiles, inputs: Mapping[str, Document]) -> Document:
    """Return the input fields of every released column.

    What a column is *computed from* is direct: the same values, or a masking transformation of them. What a step
    looked at to *choose* its values is indirect, and conditional.
    """
    plan = run.document["plan"]
    planned: Mapping[str, Any] = next((n for n in plan.get("releases", ()) if n["name"] == release.name), {})
    before = nx.ancestors(document_graph(plan), release_key(release.name)) if planned else set()
    read = inputs[next((name for name in inputs if name in before), next(iter(inputs)))]
    return {each["name"]: {"inputFields": list(_input_fields(each, read))} for each in planned.get("attributes", ())}


def _input_fields(column: Mapping[str, Any], read: Document) -> Iterator[Document]:
    dataset = {"namespace": read["namespace"], "name": read["name"]}
    for name in column.get("computed_from", ()):
        yield {**dataset, "field": name, "transformations": [_direct(column)]}
    for name in column.get("chosen_by", ()):
        chosen = {"type": "INDIRECT", "subtype": "CONDITIONAL", "description": "chosen by", "masking": False}
        yield {**dataset, "field": name, "transformations": [chosen]}


def _direct(column: Mapping[str, Any]) -> Document:
    how = str(column.get("how", DerivationKind.OTHER.value))
    same = how == DerivationKind.UNCHANGED.value
    changes = list(dict.fromkeys(each["change"] for each in column.get("changes", ())))
    return {
        "type": "DIRECT",
        "subtype": "IDENTITY" if same else "TRANSFORMATION",
        "description": ", ".join([*changes, how]),
        "masking": not same,
    }


def _facet(name: str, producer: str, /, **fields: Any) -> Document:
    """Return a facet, with the version of its definition."""
    return {
        "_producer": producer,
        "_schemaURL": f"{_SPEC}/facets/{_VERSIONS[name]}/{name}.json#/$defs/{name}",
        **fields,
    }
