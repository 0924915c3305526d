"""The Croissant document of a release: its files with hashes, its columns, and what was done to protect people.

It lies beside the released file, which it names by its relative path. Nothing stands in it that a recipient cannot
know from the release and its data dictionary: no figure measured on the original, no hash of the input.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.report.croissant import responsible
from ppdm_flow.report.croissant.terms import BY_EXTENSION, CONFORMS_TO, CONTEXT, FORMATS, OTHER, TYPES
from ppdm_flow.report.run.released import ReleasedFiles, ReportedColumn, ReportedRun

Document = dict[str, Any]

_RECORDS = "records"
_DELIMITERS = {",": "text/csv", "\t": "text/tab-separated-values"}
"""Delimiters that a reader of Croissant can know of."""
_PARQUET = "application/x-parquet"
"""The name that readers of Croissant know Parquet by."""


def render(run: ReportedRun) -> str:
    """Return the document as JSON-LD. Raises UsageError where the run has no single release to describe."""
    shown = run.to_public()
    return json_text(document(shown, shown.only("croissant")))


def document(run: ReportedRun, release: ReleasedFiles) -> Document:
    """Return the document of one release."""
    records = _records(release)
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "name": f"{run.policy}-{release.name}",
        "description": release.description or f"The release {release.name} of the release policy {run.policy}.",
        "conformsTo": list(CONFORMS_TO),
        "version": run.version,
        "identifier": f"urn:uuid:{run.identifier(release.name)}",
        "datePublished": run.finished,
        "isLiveDataset": False,
        **responsible.statements(run, release),
        "distribution": [_file(release, name) for name in release.files],
        **({"recordSet": [records]} if records else {}),
    }


def _file(release: ReleasedFiles, name: str) -> Document:
    digest = release.files[name]
    about = (
        f"Data of the release {release.name}." if name in release.data else "What a recipient needs to use the data."
    )
    return {
        "@type": "cr:FileObject",
        "@id": quote(name),
        "name": name,
        "description": about,
        "contentUrl": name,
        "contentSize": f"{digest.bytes} B",
        "encodingFormat": _media_types(release, name),
        "sha256": digest.sha256,
    }


def _media_types(release: ReleasedFiles, name: str) -> str | list[str]:
    if name not in release.data:
        return BY_EXTENSION.get(name.rpartition(".")[2].lower(), OTHER)
    form = str(release.dictionary["format"])
    if form == "csv":
        return _DELIMITERS.get(_delimiter(release), FORMATS["csv"])
    return [_PARQUET, FORMATS["parquet"]] if form == "parquet" else FORMATS.get(form, OTHER)


def _delimiter(release: ReleasedFiles) -> str:
    return str(release.dictionary.get("options", {}).get("delimiter", ","))


def _records(release: ReleasedFiles) -> Document | None:
    """Return the columns as a record set; None where no reader of Croissant could read the file by it."""
    form, columns = release.dictionary["format"], release.columns
    readable = form == "parquet" or (form == "csv" and _delimiter(release) in _DELIMITERS)
    if not readable or len(release.data) != 1 or any(column.role == "items" for column in columns):
        return None
    return {
        "@type": "cr:RecordSet",
        "@id": _RECORDS,
        "name": _RECORDS,
        "description": "One record a row of the released file.",
        "field": [_field(column, release.data[0]) for column in columns],
    }


def _field(column: ReportedColumn, file: str) -> Document:
    return {
        "@type": "cr:Field",
        "@id": f"{_RECORDS}/{quote(column.name, safe='')}",
        "name": column.name,
        "description": column.text,
        "dataType": TYPES.get(column.type, TYPES["text"]),
        "source": {"fileObject": {"@id": quote(file)}, "extract": {"column": column.name}},
    }
