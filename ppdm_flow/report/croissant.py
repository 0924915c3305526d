"""A release as Croissant: the metadata format of ML Commons for data sets, with its responsible-AI terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ppdm_flow.core.phrases import listed
from ppdm_flow.core.texts import CONTRACT, OPERATOR, json_text
from ppdm_flow.report.run.released import ReleasedFiles, ReportedColumn, ReportedRun, bound

Document = dict[str, Any]

_RECORDS = "records"
_DELIMITERS = {",": "text/csv", "\t": "text/tab-separated-values"}
"""Delimiters that a reader of Croissant can know of."""
_PARQUET = "application/x-parquet"
"""The name that readers of Croissant know Parquet by."""


# The Croissant document of a release: its files with hashes, its columns, and what was done to protect people.
#
# It lies beside the released file, which it names by its relative path. Nothing stands in it that a recipient cannot
# know from the release and its data dictionary: no figure measured on the original, no hash of the input.


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
        **statements(run, release),
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


# The words of Croissant that our documents use: its JSON-LD context, types of values, formats of files.
#
# Source: Croissant Format Specification 1.1 (http://mlcommons.org/croissant/1.1) and Croissant RAI 1.0
# (http://mlcommons.org/croissant/RAI/1.0), ML Commons.


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


# Croissant's responsible-AI terms (RAI 1.0), as far as a run can fill them in.
#
# How data was collected, what it is for, whom it may harm and how it is biased only people know: these terms are left
# out rather than guessed.


_ROLES = {
    "quasi_identifier": "known to others, so that it may single people out",
    "sensitive": "sensitive",
    "subject": "says whose row it is",
    "identifier": "made from an identifier",
    "items": "a set of items, which may single people out",
}


def statements(run: ReportedRun, release: ReleasedFiles) -> Document:
    """Return the terms with their texts; of public facts alone."""
    said = {
        "rai:personalSensitiveInformation": [*_personal(release), *_guarantees(run, release)],
        "rai:dataManipulationProtocol": _manipulation(run, release),
        "rai:dataPreprocessingProtocol": [f"{column.name}: {column.done}" for column in release.columns],
        "rai:dataCollectionMissingData": _missing(release),
        "rai:dataLimitations": list(_limitations(release)),
    }
    return {term: text for term, text in said.items() if text}


def _personal(release: ReleasedFiles) -> Iterator[str]:
    """Yield what is personal, by roles."""
    for role, what in _ROLES.items():
        names = [column.name for column in release.columns if column.role == role]
        if names:
            yield f"{listed(names)}: {what}."


def _guarantees(run: ReportedRun, release: ReleasedFiles) -> Iterator[str]:
    """Yield what was required of the release; a waived one is said to be."""
    for each in run.results(release.name):
        if each["holds"]:
            yield f"{each['id']} ({bound(each)}) holds on the released file."
        else:
            yield f"{each['id']} ({bound(each)}) does not hold on the released file, and was waived."


def _manipulation(run: ReportedRun, release: ReleasedFiles) -> str:
    changed = [column.name for column in release.columns if not column.done.startswith("Not changed")]
    words = f"values of {listed(changed)} were changed" if changed else "no values were changed"
    return (
        f"Released by ppdm-flow {run.tool} under the release policy {run.policy}: {words},"
        " and what the policy requires was measured on the released file."
    )


def _missing(release: ReleasedFiles) -> str:
    dictionary = release.dictionary
    return f"A missing value is {dictionary['missing']}. {dictionary['suppressed']} marks a suppressed value."


def _limitations(release: ReleasedFiles) -> Iterator[str]:
    """Yield what a user of the data must not overlook."""
    done = {each["change"] for column in release.dictionary["attributes"] for each in column.get("done", ())}
    hows = {column["how"] for column in release.dictionary["attributes"]}
    if "suppressed" in done:
        yield "Suppressed values are not missing at random: what is rare is suppressed more often."
    if "generalized" in done:
        yield "Generalized values cover several original ones; categories may differ in width."
    for name in (OPERATOR, CONTRACT):
        if name in release.files:
            yield f"Values were randomized: counts are biased unless they are corrected by {name}."
    if "generated" in done or "generated" in hows:
        yield "Rows were generated from a model: none belongs to a person, and some may equal a person's all the same."
    if "other" in hows:
        yield "Cells of some columns are no map of one original value: joint statistics may differ."
