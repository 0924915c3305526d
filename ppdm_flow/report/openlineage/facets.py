"""The facets of OpenLineage that our events have, each with the version of its definition.

Source: OpenLineage 2-0-2 (https://openlineage.io/spec/2-0-2/OpenLineage.json) and its facets, LF AI & Data.
"""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]

SPEC = "https://openlineage.io/spec"
EVENT = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
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


def facet(name: str, producer: str, /, **fields: Any) -> Document:
    """Return a facet of that definition."""
    return {"_producer": producer, "_schemaURL": f"{SPEC}/facets/{_VERSIONS[name]}/{name}.json#/$defs/{name}", **fields}
