"""The schema of a release as a data contract, for catalogues and for users of the data.

Source: Open Data Contract Standard 3.1.0 (https://bitol-io.github.io/open-data-contract-standard/v3.1.0/), Bitol,
Linux Foundation AI & Data. A contract is a YAML file; JSON is YAML, so it is written as JSON.
"""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.texts import json_text
from ppdm_flow.report.run.released import ReleasedFiles, ReportedColumn, ReportedRun, bound

Document = dict[str, Any]

VERSION = "v3.1.0"
_TYPES = {"text": "string", "integer": "integer", "float": "number", "date": "date", "timestamp": "timestamp"}
ROLE = "ppdmFlowRole"
"""The custom property of a column that holds its role in the release policy."""


def render(run: ReportedRun) -> str:
    """Return the contract. Raises UsageError where the run has no single release to describe."""
    shown = run.to_public()
    return json_text(document(shown, shown.only("odcs")))


def document(run: ReportedRun, release: ReleasedFiles) -> Document:
    """Return the contract of one release."""
    purpose = release.description or f"The release {release.name} of the release policy {run.policy}."
    return {
        "kind": "DataContract",
        "apiVersion": VERSION,
        "id": run.identifier(release.name),
        "name": f"{run.policy}-{release.name}",
        "version": run.version,
        "status": "active",
        "contractCreatedTs": run.finished,
        "description": {"purpose": purpose, "limitations": _limits(run, release)},
        "schema": [_object(release)],
        "customProperties": [
            {"property": "ppdmFlowVersion", "value": run.tool},
            {"property": "ppdmFlowPolicy", "value": run.policy},
            {"property": "ppdmFlowPolicyDigest", "value": run.document["run"]["digests"]["policy"]},
        ],
    }


def _limits(run: ReportedRun, release: ReleasedFiles) -> str:
    holding = [f"{each['id']} ({bound(each)})" for each in run.results(release.name) if each["holds"]]
    missing = release.dictionary
    text = f"A missing value is {missing['missing']}; {missing['suppressed']} marks a suppressed value."
    return f"{text} Required and measured on the file: {'; '.join(holding)}." if holding else text


def _object(release: ReleasedFiles) -> Document:
    written: Document = {
        "name": release.name,
        "logicalType": "object",
        "physicalName": release.path,
        "physicalType": "file",
        "properties": [_property(column) for column in release.columns],
    }
    if release.description:
        written["description"] = release.description
    if release.rows is not None:
        written["quality"] = [{"type": "library", "metric": "rowCount", "mustBe": release.rows}]
    return written


def _property(column: ReportedColumn) -> Document:
    written: Document = {
        "name": column.name,
        "physicalName": column.name,
        "logicalType": "array" if column.role == "items" else _TYPES.get(column.type, "string"),
        "transformDescription": column.done,
        "customProperties": [{"property": ROLE, "value": column.role}],
    }
    if column.description:
        written["description"] = column.description
    if column.computed_from:
        written["transformSourceObjects"] = list(column.computed_from)
    if column.role == "items":
        written["items"] = {"logicalType": "string"}
    return written
