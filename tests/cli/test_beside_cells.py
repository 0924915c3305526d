"""What audited files hold beside their cells is found, without a word of it; our own releases hold nothing."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

CANARY = "zqcanary"
CODES = {"PPF921", "PPF922", "PPF923", "PPF924", "PPF925"}
POLICY = """version: 1
name: p
source: {path: data.csv}
attributes:
  job: {role: quasi_identifier}
  ill: {role: insensitive}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: PATH}}
"""
ROWS = [("cook", "flu"), ("cook", "cold"), ("smith", "flu"), ("smith", "cold")] * 3


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text("job,ill\n" + "".join(f"{a},{b}\n" for a, b in ROWS))
    (tmp_path / "p.yaml").write_text(POLICY.replace("PATH", "study.csv"))
    return tmp_path


def findings(here, home: Path, file: str) -> dict[str, list[str]]:
    done = here("audit", "p.yaml", "--original", "data.csv", "--released", file, "--format", "json", cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert CANARY not in done.stdout + done.stderr
    found: dict[str, list[str]] = {}
    for each in json.loads(done.stdout)["findings"]:
        if each["code"] in CODES:
            found.setdefault(each["code"], []).append(each["text"])
    return found


def columns() -> dict[str, list[str]]:
    return {"job": [a for a, _ in ROWS], "ill": [b for _, b in ROWS]}


def clean(table: pa.Table, file: Path) -> None:
    pq.write_table(table.replace_schema_metadata(None), file, write_statistics=False, store_schema=False)


def test_parquet_dictionaries(here, home):
    table = pa.table(columns())
    clean(table, home / "fine.parquet")
    assert findings(here, home, "fine.parquet") == {}
    left = pa.DictionaryArray.from_arrays(
        pa.array([0 if a == "cook" else 2 for a, _ in ROWS], pa.int32()), pa.array(["cook", CANARY, "smith"])
    )
    clean(pa.table({"job": left, "ill": table["ill"]}), home / "left.parquet")
    assert CANARY.encode() in (home / "left.parquet").read_bytes()
    (text,) = findings(here, home, "left.parquet")["PPF921"]
    assert "1 value of `job`" in text


def test_parquet_metadata_and_statistics(here, home):
    frame = pd.DataFrame(columns(), index=[f"{CANARY}{i}" for i in range(len(ROWS))]).reset_index(drop=True)
    frame.attrs["note"] = CANARY
    frame.to_parquet(home / "pandas.parquet")
    found = findings(here, home, "pandas.parquet")
    assert "pandas" in found["PPF922"][0]
    assert len(found["PPF923"]) == 2
    table = pa.table(columns()).replace_schema_metadata({CANARY: CANARY})
    pq.write_table(table, home / "own.parquet", write_statistics=False)
    assert "1 entry of its own" in findings(here, home, "own.parquet")["PPF922"][0]


def test_parquet_bytes_of_no_column(here, home):
    clean(pa.table(columns()), home / "a.parquet")
    pq.write_table(
        pa.table(columns()), home / "index.parquet", store_schema=False, write_statistics=True, write_page_index=True
    )
    assert any("belong to no column" in text for text in findings(here, home, "index.parquet")["PPF921"])


def workbook(file: Path, *, evil: bool) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    book.properties.creator = CANARY if evil else None
    sheet = book.active
    sheet.append(["job", "ill"])
    for row in ROWS:
        sheet.append(list(row))
    if evil:
        other = book.create_sheet(CANARY)
        other.append([CANARY])
        other.sheet_state = "hidden"
        sheet.column_dimensions["B"].hidden = True
        sheet["A1"].comment = pytest.importorskip("openpyxl.comments").Comment(CANARY, CANARY)
    book.save(file)


def test_workbooks(here, home):
    pytest.importorskip("python_calamine")
    workbook(home / "evil.xlsx", evil=True)
    texts = " ".join(findings(here, home, "evil.xlsx")["PPF924"])
    for part in ("1 sheet more, 1 of them hidden", "hidden columns", "comments on cells", "who made it"):
        assert part in texts
    workbook(home / "fine.xlsx", evil=False)
    assert findings(here, home, "fine.xlsx") == {}


def test_a_workbook_without_writing_library(tmp_path):
    from ppdm_flow.sources.excel.algorithm import beside

    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", f'<sheets><sheet name="a"/><sheet name="{CANARY}" state="hidden"/></sheets>')
        book.writestr("xl/worksheets/sheet1.xml", '<cols><col min="1" hidden="1"/></cols><row r="2" hidden="true"/>')
        book.writestr("xl/comments1.xml", CANARY)
        book.writestr("xl/pivotCache/pivotCacheRecords1.xml", CANARY)
        book.writestr("docProps/core.xml", f"<dc:creator>{CANARY}</dc:creator>")
    texts = [f.text for f in beside(tmp_path / "a.xlsx")]
    assert len(texts) == 5
    assert "1 sheet more, 1 of them hidden" in " ".join(texts)
    assert "hidden columns and rows" in " ".join(texts)
    assert CANARY not in " ".join(texts)


def test_text_files(here, home):
    (home / "bom.csv").write_bytes(b"\xef\xbb\xbf" + (home / "data.csv").read_bytes())
    assert list(findings(here, home, "bom.csv")) == ["PPF925"]
    name = f"{CANARY}.csv"
    with (home / "a.csv.gz").open("wb") as file, gzip.GzipFile(filename=name, mode="wb", fileobj=file, mtime=7) as out:
        out.write((home / "data.csv").read_bytes())
    (text,) = findings(here, home, "a.csv.gz")["PPF925"]
    assert "the name of the file" in text
    assert "the time" in text
    assert findings(here, home, "data.csv") == {}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("path", ["study.csv", "study.csv.gz", "study.parquet"])
def test_our_own_releases_hold_nothing_beside_their_cells(here, home, path):
    (home / "p.yaml").write_text(POLICY.replace("PATH", path))
    done = here("run", "p.yaml", "--out", "out", cwd=home)
    assert done.returncode == 0, done.stderr
    (released,) = home.glob(f"out/*/*/released/study/{path}")
    shutil.copy(released, home / path)
    assert findings(here, home, path) == {}
