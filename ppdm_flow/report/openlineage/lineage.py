"""Which attributes of the source each released column comes from, in OpenLineage's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.core.lineage import How
from ppdm_flow.report.openlineage.facets import Document
from ppdm_flow.report.run.released import FinishedRun, ReleasedFiles


def column_lineage(run: FinishedRun, release: ReleasedFiles, inputs: Mapping[str, Document]) -> Document:
    """Return the input fields of every released column.

    What a column is *computed from* is direct: the same values, or a masking transformation of them. What a step
    looked at to *choose* its values is indirect, and conditional.
    """
    planned: Mapping[str, Any] = next(
        (n for n in run.document["plan"].get("releases", ()) if n["name"] == release.name), {}
    )
    columns = planned.get("attributes", ())
    return {each["name"]: {"inputFields": list(_fields(each, inputs))} for each in columns}


def _fields(column: Mapping[str, Any], inputs: Mapping[str, Document]) -> Iterator[Document]:
    for name in column.get("computed_from", ()):
        yield {**_field(name, inputs), "transformations": [_direct(column)]}
    for name in column.get("chosen_by", ()):
        chosen = {"type": "INDIRECT", "subtype": "CONDITIONAL", "description": "chosen by", "masking": False}
        yield {**_field(name, inputs), "transformations": [chosen]}


def _direct(column: Mapping[str, Any]) -> Document:
    how = str(column.get("how", How.OTHER.value))
    same = how == How.UNCHANGED.value
    changes = list(dict.fromkeys(each["change"] for each in column.get("changes", ())))
    return {
        "type": "DIRECT",
        "subtype": "IDENTITY" if same else "TRANSFORMATION",
        "description": ", ".join([*changes, how]),
        "masking": not same,
    }


def _field(name: str, inputs: Mapping[str, Document]) -> Document:
    """Return an attribute of the source; one of linked tables is written ``table.attribute``."""
    table, _, field = name.partition(".") if "" not in inputs else ("", "", name)
    if table not in inputs:  # an attribute that all tables share is written alone
        table, field = next(iter(inputs)), name
    read = inputs[table]
    return {"namespace": read["namespace"], "name": read["name"], "field": field}
