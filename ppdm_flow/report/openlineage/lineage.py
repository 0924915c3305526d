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
    plan = run.document["plan"]
    planned: Mapping[str, Any] = next((n for n in plan.get("releases", ()) if n["name"] == release.name), {})
    read = inputs[_table(planned.get("input", ""), plan, inputs)]
    return {each["name"]: {"inputFields": list(_fields(each, read))} for each in planned.get("attributes", ())}


def _table(name: str, plan: Mapping[str, Any], inputs: Mapping[str, Document]) -> str:
    """Return the table that a release comes from: the one at the beginning of its steps; ``""`` for one alone."""
    before = {step["name"]: step["input"] for step in plan["steps"]}
    for _ in before:
        name = before.get(name) or before.get(name.rpartition(".")[0]) or name
    return name if name in inputs else next(iter(inputs))


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
