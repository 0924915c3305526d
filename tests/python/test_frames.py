"""Policies on data frames: the same release as of a file, nothing of them on a disk, and errors without values."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import ppdm_flow as pf
from ppdm_flow.core.errors import DataError, PolicyError, UsageError
from ppdm_flow.python.frames import as_file, reader_of

POLICY = """version: 1
name: frame
source: {path: nowhere.csv, format: csv, with: {delimiter: ";"}}
attributes:
  person: {role: identifier}
  age: {role: quasi_identifier, type: integer}
  born: {role: quasi_identifier, type: date}
  ill: {role: sensitive}
privacy: {k_anonymity: {k: 2}}
steps:
  gone: {use: drop, with: {attributes: [person]}}
releases:
  study: {path: study.FORM}
"""
CANARY = "canary-7f3a"


def frame(rows=8):
    return pd.DataFrame(
        {
            "person": [f"p{i}" for i in range(rows)],
            "age": [30 + i % 2 for i in range(rows)],
            "born": pd.to_datetime(["1990-01-02", "1991-03-04"] * (rows // 2)).date,
            "ill": ["flu", None] * (rows // 2),
        }
    )


def run(data, form="csv", **options):
    return pf.run(POLICY.replace("FORM", form), data, **options)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_data_frame_is_released_and_comes_back(form):
    result = run(frame(), form)
    assert (result.verdict, result.released, result.figures["privacy.k_anonymity.k"]) == ("released", True, 4)
    table = result.table()
    assert table.schema.field("age").type == pa.int64()
    assert table.schema.field("born").type == pa.date32()
    back = sorted((row["age"], row["ill"]) for row in table.to_pylist() if row["ill"] is not None)
    assert back == [(30, "flu")] * 4
    assert table["ill"].null_count == result.to_pandas()["ill"].isna().sum() == 4
    assert result.requirements[0]["holds"]
    assert 'sandbox=""' in result._repr_html_()
    assert repr(result).startswith("<released: runs/frame/")


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("kind", ["table", "batch", "reader", "stream", "file"])
def test_every_kind_of_frame_is_the_same_release(kind):
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    if kind == "file":
        import pyarrow.parquet as pq

        pq.write_table(table, "frame.parquet")
    data = {
        "table": lambda: table,
        "batch": lambda: table.combine_chunks().to_batches()[0],
        "reader": table.to_reader,
        "stream": lambda: Stream(table),
        "file": lambda: Path("frame.parquet"),
    }[kind]()
    assert run(data).figures["privacy.k_anonymity.k"] == 4


class Stream:
    """Gives its rows by the Arrow PyCapsule interface alone, as polars does."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.slow
def test_polars(tmp_path):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert run(polars.from_pandas(frame())).released


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory")
def test_rows_of_a_frame_are_on_no_disk():
    with as_file(frame()) as file:
        assert file is not None
        assert str(file.readlink()).startswith("/proc/")
        place = file.parent
        assert place.stat().st_mode & 0o077 == 0
    assert not place.exists()


def test_what_is_withheld_gives_no_table():
    result = run(frame().assign(age=range(8)))
    assert (result.released, result.tables) == (False, {})
    with pytest.raises(UsageError, match="withheld"):
        result.table()


def test_faults_hold_no_values():
    mixed = frame().astype({"ill": object})
    mixed.loc[0, "ill"] = 3
    mixed.loc[2, "ill"] = CANARY
    for data in (mixed, CANARY.encode(), 7):
        with pytest.raises(DataError) as error:
            reader_of(data)
        assert error.value.diagnostics[0].code == "PPF679"
        assert CANARY not in str(error.value)
    with pytest.raises(DataError, match="column 1"):
        reader_of(pd.DataFrame({0: [1]}))
    with pytest.raises(DataError):
        run(frame().drop(columns="ill"))


def test_a_policy_is_a_path_a_text_or_a_map():
    Path("p.yaml").write_text(POLICY.replace("FORM", "csv"), encoding="utf-8")
    assert pf.run("p.yaml", frame()).released
    assert pf.check(Path("p.yaml")).passes()
    assert not pf.check("version: 1\nname: x\n").passes()
    with pytest.raises(PolicyError):
        pf.run({"version": 1}, frame())
    assert list(Path().glob(".policy*")) == []


@pytest.mark.slow
def test_plans_profiles_and_audits():
    policy = POLICY.replace("FORM", "parquet")
    assert "k ≥ 2" in pf.plan(policy).picture("text")
    assert "data    8 rows" in pf.plan(policy, frame()).picture("text")
    result = pf.run(policy, frame())
    assert pf.audit(policy, frame(), result.table()).holds
    alone = frame().assign(age=range(8)).drop(columns="person")
    assert not pf.audit(policy, frame(), alone).holds
    assert pf.profile(frame()).document["columns"]
    assert pf.check(policy, frame()).passes()
    with pytest.raises(DataError, match="`ill`"):
        pf.check(policy, frame().drop(columns="ill"))


@pytest.mark.slow
def test_sweeps_and_diffs():
    policy = POLICY.replace("FORM", "csv")
    told = []
    swept = pf.sweep(policy, {"privacy.k_anonymity.k": [2, 9]}, frame(), progress=told.append, workers=1)
    assert [point["verdict"] for point in swept.document["points"]] == ["released", "withheld"]
    assert len(told) == 2
    weaker = policy.replace("k: 2", "k: 3")
    assert (pf.diff(weaker, policy).weaker, pf.diff(policy, weaker, frame()).weaker) == (True, False)


def test_progress_and_params():
    told = []
    policy = (
        POLICY.replace("FORM", "csv").replace("k: 2", 'k: "${params.k}"')
        + "params:\n  k: {type: integer, default: 2}\n"
    )
    result = pf.run(policy, frame(), sets={"k": 9}, progress=told.append)
    assert (result.verdict, bool(told)) == ("withheld", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", ["import ppdm_flow.plan.compile", "import ppdm_flow as pf; pf.plan", "from ppdm_flow import plan"]
)
def test_the_function_plan_stays_in_its_place(first):
    code = f"{first}\nimport ppdm_flow.plan\nfrom ppdm_flow.plan import compile, formats\nimport ppdm_flow as pf\n"
    code += "from ppdm_flow import plan\nassert callable(plan) and plan is pf.plan and compile.compile_policy"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=1200)


def test_the_package_has_what_it_says():
    assert {"run", "check", "plan", "audit", "profile"} <= set(dir(pf))
    with pytest.raises(AttributeError):
        pf.nothing  # noqa: B018  # it is not there


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize(
    "source",
    [
        "{path: nowhere.db, format: sql, table: people}",
        "{path: nowhere.parquet}",
        "{path: 'nowhere/*.xlsx', format: excel}",
    ],
)
def test_a_data_frame_takes_the_place_of_any_source(source):
    own = '{path: nowhere.csv, format: csv, with: {delimiter: ";"}}'
    policy = POLICY.replace(own, source).replace("FORM", "csv")
    assert pf.run(policy, frame()).released
    assert pf.check(policy, frame()).passes()
