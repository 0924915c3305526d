"""The words of Croissant that our documents use: its JSON-LD context, types of values, formats of files.

Source: Croissant Format Specification 1.1 (http://mlcommons.org/croissant/1.1) and Croissant RAI 1.0
(http://mlcommons.org/croissant/RAI/1.0), ML Commons.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")

_TERMS = (
    *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
    *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
    *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator"),
    *("source", "subField", "transform"),
)
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS},
}

TYPES: Mapping[str, str] = {
    "text": "sc:Text",
    "integer": "sc:Integer",
    "float": "sc:Float",
    "date": "sc:Date",
    "timestamp": "sc:DateTime",
}
"""Our types of values in Croissant's words."""

FORMATS: Mapping[str, str] = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "excel": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "spss": "application/x-spss-sav",
    "stata": "application/x-stata-dta",
    "baskets": "text/plain",
    "transactions": "text/plain",
}
"""Media types of released files."""
BY_EXTENSION: Mapping[str, str] = {"json": "application/json", "md": "text/markdown", "html": "text/html"}
OTHER = "application/octet-stream"
