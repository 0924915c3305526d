"""Which attributes of the source each released column comes from, in OpenLineage's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx

from ppdm_flow.core.lineage import How
from ppdm_flow.plan.dag import document_graph, release_key
from ppdm_flow.report.openlineage.facets import Document
from ppdm_flow.report.run.released import FinishedRun, ReleasedFiles


def column_lineage(run: FinishedRun, release: ReleasedFiles, inputs: Mapping[str, Document]) -> Document:
    """Return the input fields of every released column.

    What a column is *computed from* is direct: the same values, or a masking transformation of them. What a step
    looked at to *choose* its values is indirect, and conditional.
    """
    plan = run.document["plan"]
    planned: Mapping[str, Any] = next((n for n in plan.get("releases", ()) if n["name"] == release.name), {})
    before = nx.ancestors(document_graph(plan), release_key(release.name)) if planned else set()
    read = inputs[next((name for name in inputs if name in before), next(iter(inputs)))]
    return {each["name"]: {"inputFields": list(_fields(each, read))} for each in planned.get("attributes", ())}


def _fields(column: Mapping[str, Any], read: Document) -> Iterator[Document]:
    dataset = {"namespace": read["namespace"], "name": read["name"]}
    for name in column.get("computed_from", ()):
        yield {**dataset, "field": name, "transformations": [_direct(column)]}
    for name in column.get("chosen_by", ()):
        chosen = {"type": "INDIRECT", "subtype": "CONDITIONAL", "description": "chosen by", "masking": False}
        yield {**dataset, "field": name, "transformations": [chosen]}


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
