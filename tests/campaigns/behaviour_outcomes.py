"""What a run's directory holds, as plain values that are compared: verdict, figures, codes, and the rows of each file.

Rows are read back from the files and compared as cells, so that another writer of the same table makes no difference.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

Cells = Mapping[str, Sequence[str]]
"""The cells of a table by column, each as the JSON of its value."""

LEFT_OUT = {"told", "description", "note", "sentence", "missing", "payload", "sig"}
"""Keys of the documents beside a table whose values are words, or hold the time: statements and signatures."""


def read_outcome(run: Path) -> dict[str, Any]:
    """Return all that is compared of a finished run, without its texts."""
    report = json.loads((run / "report.json").read_text(encoding="utf-8"))
    return {
        "verdict": report["verdict"],
        "requirements": _judgements(report["requirements"]),
        "gates": _judgements(report["gates"]),
        "figures": _figures(report["metrics"]),
        "steps": {step["name"]: _step(step) for step in report["steps"]},
        "charts": {chart["id"]: _chart(chart) for chart in report["charts"]},
        "findings": dict(Counter(_finding(finding) for finding in report["findings"])),
        "waivers": {waiver["name"]: waiver["covers"] for waiver in report.get("waivers", ())},
        "files": {
            file.relative_to(run).as_posix(): read_file(file)
            for folder in ("released", "withheld")
            for file in sorted((run / folder).rglob("*"))
            if file.is_file() and not file.name.startswith("datasheet.")
        },
    }


def read_texts(run: Path) -> dict[str, list[str]]:
    """Return the texts of a report: what `--texts` compares."""
    report = json.loads((run / "report.json").read_text(encoding="utf-8"))
    return {
        "sentences": [row.get("sentence", "") for part in ("requirements", "gates") for row in report[part]],
        "findings": [finding["text"] for finding in report["findings"]],
    }


def read_file(path: Path) -> dict[str, Any]:
    """Return what a released file holds: a document without words and times, or the hashes of a table."""
    if path.suffix == ".json":
        return {"document": _lasting(json.loads(path.read_text(encoding="utf-8")))}
    table = _read_table(path)
    rows = [",".join(row) for row in zip(*table.values(), strict=True)]
    return {
        "count": len(rows),
        "rows": _hash(sorted(rows)),
        "order": _hash(rows),
        "columns": {name: _hash(sorted(cells)) for name, cells in table.items()},
    }


def _judgements(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    parts = ("measured", "interval", "bound", "holds", "waived_by")
    return {f"{row['id']} {row['release']} {row['metric']}": {part: row.get(part) for part in parts} for row in rows}


def _figures(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return values and intervals; a figure in seconds is that of the machine."""
    found: dict[str, Any] = {}
    for name, figure in figures.items():
        if figure["unit"] != "seconds":
            found[name] = figure["value"]
            if "interval" in figure:
                found[f"{name} interval"] = figure["interval"]
    return found


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    return {"use": step["use"], "rows": [step["rows_in"], step["rows_out"]], **_figures(step["figures"])}


def _finding(finding: Mapping[str, Any]) -> str:
    parts = ("code", "severity", "release", "subject", "waived_by")
    return " ".join(finding[part] for part in parts if finding.get(part))


def _chart(chart: Mapping[str, Any]) -> dict[str, Any]:
    return {"x": chart["x"], **{series["name"]: series["y"] for series in chart["series"]}}


def _lasting(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: _lasting(value) for key, value in document.items() if key not in LEFT_OUT}
    return [_lasting(value) for value in document] if isinstance(document, list) else document


def _hash(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _read_table(path: Path) -> Cells:
    """Return the cells of each column; a file of sets, and a document for people, is one column of lines."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        return _columns(pq.read_table(path, partitioning=None))
    if name.endswith((".sav", ".zsav", ".dta")):
        read = pyreadstat.read_dta if name.endswith(".dta") else pyreadstat.read_sav
        return _columns(pa.Table.from_pandas(read(str(path))[0], preserve_index=False))
    if name.endswith(".xlsx"):
        return _from_rows([list(row) for row in openpyxl.load_workbook(path).active.iter_rows(values_only=True)])
    lines = _lines(path)
    if name.endswith(".csv"):
        text = "\n".join(lines)
        delimiter = ";" if ";" in lines[0] else ","
        return _from_rows(list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter)))
    return {"line": [json.dumps(line) for line in lines]}


def _lines(path: Path) -> list[str]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return content.decode().removesuffix("\n").split("\n")


def _columns(table: pa.Table) -> Cells:
    return {name: [_cell(value) for value in table[name].to_pylist()] for name in table.column_names}


def _from_rows(rows: Sequence[Sequence[Any]]) -> Cells:
    header, *body = rows
    return {name: [_cell(row[place]) for row in body] for place, name in enumerate(_unique(header))}


def _unique(names: Iterable[str]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} {seen[name]}"


def _cell(value: Any) -> str:
    """Return a cell as JSON: a number, a text and a missing value are told apart."""
    return json.dumps(
        value, ensure_ascii=False, default=lambda other: other.hex() if isinstance(other, bytes) else str(other)
    )
