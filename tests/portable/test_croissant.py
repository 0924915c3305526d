"""Croissant files, read and loaded by the library of ML Commons."""

from __future__ import annotations

import csv
import json
import math
import shutil
from datetime import date, datetime
from pathlib import Path

import mlcroissant
import pyarrow.parquet as pq
import pytest
from portable.conftest import POLICY, document, run_of, text
from rocrate.rocrate import ROCrate

pytestmark = pytest.mark.filterwarnings("ignore")  # of rdflib and pandas, as mlcroissant uses them
FORM = "croissant"


def dataset(run: Path, release: str) -> mlcroissant.Dataset:
    """Put the file beside the data, as a publisher does, and let the library read it."""
    file = run / "released" / release / "croissant.json"
    file.write_text(text(run, FORM, release), encoding="utf-8")
    try:
        return mlcroissant.Dataset(str(file))
    finally:
        file.unlink()


def plain(value):
    """Return a loaded value as a text or a number; None where it is missing."""
    if isinstance(value, bytes):
        value = value.decode()
    return None if value is None or value != value or value in ("", "NaT") else value


@pytest.mark.parametrize("release", ["public", "partner"])
def test_the_library_finds_no_error_and_only_what_people_must_add(released, release):
    issues = dataset(released, release).metadata.issues
    assert issues.errors == set()
    assert all("recommended" in each and ("license" in each or "citeAs" in each) for each in issues.warnings)


def test_it_says_which_version_it_is(released):
    found = document(released, FORM, "public")
    assert found["conformsTo"] == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
    assert found["@context"]["cr"] == "http://mlcommons.org/croissant/"
    assert (
        found["rai:personalSensitiveInformation"][-1] == "privacy.k_anonymity (at least 3) holds on the released file."
    )


def test_the_records_of_a_csv_are_its_cells(released):
    loaded = list(dataset(released, "public").records("records"))
    with (released / "released/public/wages.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(loaded) == len(rows) > 100
    fields = {f["@id"]: f["name"] for f in document(released, FORM, "public")["recordSet"][0]["field"]}
    assert list(fields.values()) == list(rows[0])
    missing = 0
    for record, row in zip(loaded, rows, strict=True):
        assert set(record) == set(fields)
        for key, name in fields.items():
            value, cell = plain(record[key]), row[name]
            if cell == "":
                assert value is None
                missing += 1
            elif name in ("wage in €", "children"):
                assert math.isclose(float(value), float(cell))
            elif name in ("since", "seen"):
                assert datetime.fromisoformat(str(value)) == datetime.fromisoformat(cell)
            else:
                assert value == cell
    assert missing > 10


def test_the_records_of_parquet_are_its_cells(released):
    loaded = list(dataset(released, "partner").records("records"))
    rows = pq.read_table(released / "released/partner/wages.parquet").to_pylist()
    fields = {f["@id"]: f["name"] for f in document(released, FORM, "partner")["recordSet"][0]["field"]}
    assert len(loaded) == len(rows) > 100
    for record, row in zip(loaded, rows, strict=True):
        for key, name in fields.items():
            value, cell = plain(record[key]), row[name]
            if isinstance(cell, date):
                assert str(value)[:10] == cell.isoformat()
            else:
                assert value == cell


def test_a_changed_file_is_seen_by_its_hash(released, tmp_path):
    listed = {f["name"]: f for f in document(released, FORM, "public")["distribution"]}
    manifest = json.loads((released / "manifest.json").read_text())["files"]
    assert set(listed) == {"wages.csv", "dictionary.json", "datasheet.html", "datasheet.md"}
    for name, about in listed.items():
        assert about["sha256"] == manifest[f"released/public/{name}"]["sha256"]
        assert about["contentSize"] == f"{manifest[f'released/public/{name}']['bytes']} B"


@pytest.mark.parametrize(
    ("path", "records"),
    [("{path: w.csv, with: {delimiter: ';'}}", False), ('{path: w.csv, with: {delimiter: "\\t"}}', True)],
)
def test_no_records_are_promised_where_no_reader_could_read_them(tmp_path, path, records):
    run = run_of(tmp_path, policy=POLICY[: POLICY.index("releases:")] + f"releases:\n  public: {path}\n")
    found = document(run, FORM)
    assert ("recordSet" in found) is records
    assert dataset(run, "public").metadata.issues.errors == set()


def test_awkward_file_names_are_found(tmp_path):
    path = '{path: "sub dir/wages in € #1%20.csv"}'
    run = run_of(tmp_path, policy=POLICY[: POLICY.index("releases:")] + f"releases:\n  public: {path}\n")
    assert len(list(dataset(run, "public").records("records"))) > 100
    folder = tmp_path / "crate"
    shutil.copytree(run / "released/public", folder)
    (folder / "ro-crate-metadata.json").write_text(text(run, "ro-crate", public=True), encoding="utf-8")
    ROCrate(folder).write(tmp_path / "copy")
    assert (tmp_path / "copy/sub dir/wages in € #1%20.csv").is_file()


def test_parts_of_a_release_are_files_each(tmp_path):
    path = "{from: fewer, path: parts, format: csv, partition_by: [job]}"
    run = run_of(tmp_path, policy=POLICY[: POLICY.index("releases:")] + f"releases:\n  public: {path}\n")
    found = document(run, FORM)
    assert sum(each["name"].startswith("parts/job=") for each in found["distribution"]) > 1
    assert "recordSet" not in found
    assert dataset(run, "public").metadata.issues.errors == set()
