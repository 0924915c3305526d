"""DataFrames and tables of real sessions of Spark: released as a Parquet file of the same rows is, and copied once.

One process for each kind of session has all cases, since starting a session takes longer than a case; of the workers
that carry out tests, the first that needs one starts it, and the others wait for what it says.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ppdm_flow as pf

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spark_runs import alone, connect_server, java_environment

ROWS = 4000
POLICY = """version: 1
name: typed
source: {path: typed.parquet}
undeclared: drop
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 40, 80]}}
  price: {role: insensitive}
  share: {role: insensitive}
  member: {role: insensitive}
  day: {role: insensitive}
  instant: {role: insensitive}
  moment: {role: insensitive}
  "the `town`.name": {role: insensitive}
  nothing: {role: insensitive}
privacy: {k_anonymity: {k: 50}}
steps:
  coarsen: {use: generalize}
  order: {use: shuffle_rows}
randomness: {mode: reproducible, seed: "7"}
releases: {study: {path: study.csv}}
"""
NAMES = ["age", "a.b", "a`b", 'q"q', "{view}", "__view__", "rows_alike", "select", "_col_0", "日本"]
"""Names of columns that SQL, or what is made of it, might trip over."""
TEXTS = ["", " ", "a,b", 'q"uo', '"', "\\", "line\nbreak", "\r", "\t", "NULL", "#", "'", "{view}", "é", "00", "1e5"]
TEXTS += ["x" * 5000, None]
"""Cells that a reader might take for something else."""
HOSTILE = """version: 1
name: hostile
source: {path: hostile.parquet, keep_apart: [case, blanks, form]}
attributes:
ATTRIBUTES
privacy:
  k_anonymity: {k: 2}
  l_diversity: {age: {l: 2}}
  templates: {one: {channel: ["a.b"], sensitive: {age: ["a,b"]}, confidence: 0.9}}
steps:
  order: {use: shuffle_rows}
randomness: {mode: reproducible, seed: "7"}
releases:
  lines: {path: lines.csv}
  table: {path: table.parquet}
recipients: apart
"""
CASES = """
import json, os, signal, sys
from pathlib import Path
import pyarrow as pa, pyarrow.parquet as pq
from pyspark.sql import SparkSession
import ppdm_flow as pf

kind, home = sys.argv[1], Path(sys.argv[2])
os.chdir(home)
builder = SparkSession.builder.config("spark.sql.session.timeZone", "Asia/Tokyo")
builder = builder.config("spark.sql.warehouse.dir", f"file://{home}/warehouse")
if kind == "connect":
    spark = builder.remote("local[2]").getOrCreate()
else:
    master = "local[2]" if kind == "killed" else "local-cluster[2,1,1024]"
    spark = builder.master(master).config("spark.ui.enabled", "false").getOrCreate()
policy, told = Path("typed.yaml"), {}

def left():
    return [str(path) for path in Path("runs/.ppdm-flow").rglob("*")]

def case(name, data, policy=policy, **options):
    try:
        ran = pf.run(policy, data, out="runs", **options)
        told[name] = {"run": str(ran.run_dir), "verdict": ran.verdict}
    except pf.PpdmError as error:
        told[name] = {"codes": [each.code for each in error.diagnostics], "text": str(error)}
    told[name]["left"] = left()

def counted(batches):
    (home / "reads" / os.urandom(8).hex()).touch()
    yield from batches

table = pq.read_table("typed.parquet")
TOWN = "the `town`.name"
plain = spark.createDataFrame(table.drop_columns(["nothing"]).rename_columns({TOWN: "town"}))
plain = plain.withColumn("moment", plain["moment"].cast("timestamp_ntz"))  # Spark made instants of them
frame = plain.selectExpr("*", "CAST(NULL AS STRING) AS nothing").withColumnRenamed("town", TOWN)
if kind == "killed":
    def kill(_event):
        if any(path.endswith(".parquet") for path in left()):
            os.kill(os.getpid(), signal.SIGKILL)
    case("killed", frame, progress=kill)
once = plain.mapInArrow(counted, plain.schema)
once = once.selectExpr("*", "CAST(NULL AS STRING) AS nothing").withColumnRenamed("town", TOWN)
Path("reads").mkdir()
told["partitions"] = once.selectExpr("spark_partition_id() AS n").distinct().count()
told["before"] = len(list(Path("reads").iterdir()))
case("frame", once)
told["reads"] = len(list(Path("reads").iterdir()))
case("map", frame.selectExpr("*", "map('a', 1) AS parts").drop("price").withColumnRenamed("parts", "price"))
case("missing", "table:no_such", engine=spark)
case("delta", "delta:/no/such", engine=spark)
if kind == "cluster":
    from ppdm_flow.engine.spark import engine, source

    usual = source.FRAGMENT_ROWS, engine.PART_ROWS
    source.FRAGMENT_ROWS, engine.PART_ROWS = 300, 256
    case("hostile", "hostile.parquet", Path("hostile.yaml"), engine=spark)
    source.FRAGMENT_ROWS, engine.PART_ROWS = usual
    case("empty", frame.where("age < 0"), engine="spark")
    case("column", frame.drop("price", "share"))
    case("text", frame.drop("age").withColumnRenamed(TOWN, "age").selectExpr("*", "1 AS `the ``town``.name`"))
    frame.createOrReplaceTempView("seen")
    frame.selectExpr("*", "map('a', 1) AS undeclared").coalesce(1).write.saveAsTable("saved")
    case("view", "table:seen", engine=spark)
    case("saved", "table:saved", engine=spark)
    case("bytes", frame.drop("price").selectExpr("*", "CAST('canary' AS BINARY) AS price"))
    failing = frame.drop("price").selectExpr("*", "raise_error(`the ``town``.name`) AS price")
    case("failing", failing)
    told["open"] = spark.range(3).count()
spark.stop()
Path("told.json").write_text(json.dumps(told))
"""


@pytest.fixture(scope="module")
def java() -> dict[str, str]:
    """The environment of a Java 17."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    environment = java_environment()
    if environment is None:
        pytest.skip("there is no Java: tables of Spark are untested")
    return {"PYSPARK_PYTHON": sys.executable, **environment}


def made(home: Path) -> Path:
    """Write data of all kinds that are read, and the policy."""
    spread = range(ROWS)
    pq.write_table(
        pa.table(
            {
                "age": pa.array([i * 7919 % 80 for i in spread], pa.int64()),
                "price": pa.array([Decimal(i % 977) / 100 if i % 5 else None for i in spread], pa.decimal128(10, 2)),
                "share": pa.array([i % 13 / 8 for i in spread], pa.float64()),
                "member": pa.array([i % 3 == 0 for i in spread]),
                "day": pa.array([dt.date(2020, 1, 1) + dt.timedelta(i % 400) for i in spread]),
                "instant": pa.array([1_600_000_000_000_000 + i * 1_234_567 for i in spread], pa.timestamp("us", "UTC")),
                "moment": pa.array([1_600_000_000_000_000 + i * 500_000 for i in spread], pa.timestamp("us")),
                "the `town`.name": pa.array([f"canary-{i % 700}" for i in spread]),
                "nothing": pa.array([None] * ROWS, pa.string()),
            }
        ),
        home / "typed.parquet",
    )
    (home / "typed.yaml").write_text(POLICY, encoding="utf-8")
    half = [[text for text in TEXTS for _ in range(2)][i % 36] for i in range(1152)]
    hostile = {name: (half if place % 2 else half[18:] + half[:18]) for place, name in enumerate(NAMES)}
    hostile["age"] = [TEXTS[i * 5 // 36 % 18] for i in range(1152)]
    pq.write_table(pa.table(hostile), home / "hostile.parquet", row_group_size=200)
    roles = {name: "sensitive" if name == "age" else "quasi_identifier" for name in NAMES}
    lines = [f"  {json.dumps(name, ensure_ascii=False)}: {{role: {role}}}" for name, role in roles.items()]
    (home / "hostile.yaml").write_text(HOSTILE.replace("ATTRIBUTES", "\n".join(lines)), encoding="utf-8")
    return home


def carried_out(kind: str, home: Path, java: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", CASES, kind, str(home)]
    return subprocess.run(command, env={**os.environ, **java}, capture_output=True, text=True, timeout=900, check=False)


def cases(kind: str, folder: Path, java: dict[str, str]) -> dict:
    """Return what became of each case, and what the engine of one machine releases of the file."""
    home = folder / f"tables-{kind}"
    with alone(kind, folder):
        if not home.exists():
            home.mkdir()
            done = carried_out(kind, made(home), java)
            (home / "said").write_text(done.stderr, encoding="utf-8")
    assert (home / "told.json").exists(), (home / "said").read_text(encoding="utf-8")
    local = folder / f"tables-{kind}-{os.getpid()}"
    here = pf.run(home / "typed.yaml", out=local)
    hostile = pf.run(home / "hostile.yaml", out=local)
    told = json.loads((home / "told.json").read_text())
    return {**told, "home": home, "here": here.run_dir, "hostile here": hostile}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder of this test run, which all of its workers have."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="module")
def cluster(folder, java) -> dict:
    """The cases in a session with executors in processes of their own."""
    return cases("cluster", folder, java)


@pytest.fixture(scope="module")
def connect(folder, java) -> dict:
    """The cases in a session of Spark Connect."""
    with connect_server():
        return cases("connect", folder, java)


@pytest.fixture
def told(request) -> dict:
    """The cases of the kind of session that a test names."""
    return request.getfixturevalue(request.param)


def released(run: Path) -> list[str]:
    """Return the lines of the release in their order."""
    [place] = [path for path in (run / "released" / "study").iterdir() if path.suffix not in {".json", ".md", ".html"}]
    parts = sorted(place.iterdir()) if place.is_dir() else [place]
    texts = [part.read_text(encoding="utf-8").splitlines() for part in parts]
    return [texts[0][0], *(line for lines in texts for line in lines[1:])]


def figures(run: Path) -> dict:
    return json.loads((run / "report.json").read_text(encoding="utf-8"))["metrics"]


@pytest.mark.parametrize(
    ("told", "name"),
    [("cluster", "frame"), ("cluster", "view"), ("cluster", "saved"), ("connect", "frame")],
    indirect=["told"],
)
def test_a_table_is_released_as_a_file_of_the_same_rows(told, name) -> None:
    ran = told[name]
    assert ran["verdict"] == "released", ran
    run = told["home"] / ran["run"]
    assert released(run)[1].count("Z") == 1
    assert released(run) == released(told["here"])
    assert figures(run) == figures(told["here"])
    assert ran["left"] == []


@pytest.mark.parametrize("told", ["cluster"], indirect=True)
def test_names_and_cells_that_others_trip_over_are_released_as_they_are(told) -> None:
    ran, here = told["hostile"], told["hostile here"]
    assert ran["verdict"] == here.verdict == "released", ran
    run = told["home"] / ran["run"]
    assert figures(run) == figures(here.run_dir)
    lines = b"".join(part.read_bytes().split(b"\n", 1)[1] for part in sorted(run.glob("released/lines/lines.csv/*")))
    assert lines == (here.run_dir / "released/lines/lines.csv").read_bytes().split(b"\n", 1)[1]
    table = pq.read_table(run / "released/table/table.parquet").to_pylist()
    assert table == pq.read_table(here.run_dir / "released/table/table.parquet").to_pylist()


@pytest.mark.parametrize("told", ["cluster", "connect"], indirect=True)
def test_a_frame_is_read_once(told) -> None:
    assert told["partitions"] > 1
    assert told["before"] == told["partitions"]
    assert told["reads"] - told["before"] == told["partitions"]
    manifest = json.loads((told["home"] / told["frame"]["run"] / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["input"]["name"] == "data.parquet"


@pytest.mark.parametrize(
    ("told", "name", "code", "words"),
    [
        ("cluster", "empty", "PPF714", ()),
        ("cluster", "map", "PPF957", ("`price`", "map")),
        ("connect", "map", "PPF957", ("`price`", "map")),
        ("cluster", "bytes", "PPF957", ("`price`", "binary")),
        ("cluster", "column", "PPF708", ("`price`",)),
        ("cluster", "text", "PPF712", ("`age`",)),
        ("cluster", "missing", "PPF957", ("`table:no_such`", "TABLE_OR_VIEW_NOT_FOUND")),
        ("connect", "missing", "PPF957", ("`table:no_such`", "TABLE_OR_VIEW_NOT_FOUND")),
        ("cluster", "delta", "PPF957", ("`delta:/no/such`", "jar")),
        ("connect", "delta", "PPF957", ("`delta:/no/such`", "jar")),
        ("cluster", "failing", "PPF951", ()),
    ],
    indirect=["told"],
)
def test_what_cannot_be_read_is_said_and_nothing_stays(told, name, code, words) -> None:
    ran = told[name]
    assert code in ran["codes"], ran
    assert all(word in ran["text"] for word in words), ran
    assert "canary" not in ran["text"]
    assert str(told["home"]) not in ran["text"]
    assert ran["left"] == []


@pytest.mark.parametrize("told", ["cluster"], indirect=True)
def test_a_session_that_was_given_stays_open(told) -> None:
    assert told["open"] == 3


def test_the_copy_of_a_killed_run_goes_with_the_next_one(tmp_path, java) -> None:
    home = made(tmp_path)
    done = carried_out("killed", home, java)
    assert done.returncode == -signal.SIGKILL, done.stderr
    copies = home / "runs" / ".ppdm-flow"
    assert list(copies.rglob("*.parquet"))
    deadline = time.monotonic() + 60
    while list(copies.iterdir()) and time.monotonic() < deadline:  # what the killed process started may hold on a while
        pf.run(home / "typed.yaml", out=home / "runs")
    assert list(copies.iterdir()) == []
