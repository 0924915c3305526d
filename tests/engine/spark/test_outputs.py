"""Where a release of part files goes to: tables of databases, object stores; and what the report says of its steps."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ppdm_flow import api
from ppdm_flow.api.run import run
from ppdm_flow.core.errors import DataError, RunError
from ppdm_flow.engine.spark import engine, session, source
from ppdm_flow.engine.spark.engine import SparkEngine

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from buckets import BUCKET, object_store

ROWS = 6_000
POLICY = """version: 1
name: visits
randomness: {mode: reproducible, seed: "7"}
source: {path: visits.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
  day: {role: insensitive, type: date}
  cost: {role: insensitive, type: float}
privacy: {k_anonymity: {k: 2}}
steps:
  fewer: {use: drop, with: {attributes: [day]}}
releases: {study: {path: NAME, from: fewer, order: INTO}}
"""


@pytest.fixture
def spark(farm_here: type, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have the engine of a cluster work on what follows, in this process, by small fragments and parts."""
    monkeypatch.setattr(source, "FRAGMENT_ROWS", 1500)
    monkeypatch.setattr(engine, "PART_ROWS", 2048)

    @contextmanager
    def opened(_where: object, _name: str) -> Iterator[SparkEngine]:
        yield SparkEngine(farm_here())

    monkeypatch.setattr(sys.modules["ppdm_flow.api.run"], "opened_engine", opened)


@pytest.fixture
def home(tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data, and a temporary folder of its own."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    lines = [f'{i % 90},"t {i % 7}",2026-01-{i % 28 + 1:02d},{i / 8}' for i in range(ROWS)]
    (tmp_path / "visits.csv").write_text("age,town,day,cost\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def policy(home: Path, name: str = "study.csv", more: str = "", text: str = POLICY) -> Path:
    place = home / "policy.yaml"
    place.write_text(text.replace(", order: INTO", more).replace("NAME", name), encoding="utf-8")
    return place


@pytest.mark.parametrize("name", ["study.csv", "study.parquet"])
@pytest.mark.parametrize("partitioned", [False, True])
def test_part_files_become_a_table(home: Path, postgres: Any, name: str, partitioned: bool) -> None:
    database = postgres.database()
    postgres.sql(database, "SET client_min_messages = error; DROP TABLE IF EXISTS visits")
    more = f", into: {{url: '{postgres.url(database)}', table: visits, indexes: [[age]]}}"
    keys = ", partition_by: [town]" if partitioned else ""
    ran = run(policy(home, name, more + keys), out=home / "runs")
    assert ran.released
    parts = [p for p in (ran.run_dir / "released/study" / name).rglob("part-*") if p.is_file()]
    assert len(parts) >= 3
    asked = "SELECT count(*), sum(age::int), sum(cost::float)::int, min(town), max(town) FROM visits"
    told = f"{ROWS}|{sum(i % 90 for i in range(ROWS))}|{round(sum(i / 8 for i in range(ROWS)))}|t 0|t 6"
    assert list(postgres.sql(database, asked)) == [told]
    postgres.sql(database, "DROP TABLE visits")
    assert len(api.deliver(ran.run_dir)) == 1
    assert list(postgres.sql(database, asked)) == [told]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An object store, empty, that the environment knows."""
    pytest.importorskip("moto")
    with object_store() as store:
        for key in store.keys(""):
            store.client.delete_object(Bucket=BUCKET, Key=key)
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        yield store


def test_part_files_go_to_an_object_store(home: Path, store: Any) -> None:
    local = run(policy(home), out=home / "runs")
    ran = run(policy(home), out=Path(f"s3://{BUCKET}/runs"))
    assert ran.released
    base = next(key for key in store.keys("") if key.endswith("manifest.json")).removesuffix("manifest.json")
    here = {p.relative_to(local.run_dir).as_posix(): p for p in (local.run_dir / "released").rglob("part-*")}
    assert len(here) >= 3
    assert {name: store.get(base + name) for name in here} == {name: p.read_bytes() for name, p in here.items()}
    assert api.verify(Path(f"s3://{BUCKET}/{base.rstrip('/')}")).holds
    assert not list((home / "tmp").rglob(".tmp-*"))


def test_data_in_an_object_store_is_worked_on_where_it_was_copied(home: Path, store: Any) -> None:
    store.put("visits.csv", (home / "visits.csv").read_bytes())
    one = run(policy(home), out=home / "runs")
    other = run(policy(home), data=Path(f"s3://{BUCKET}/visits.csv"), out=home / "runs")
    assert other.document["metrics"] == one.document["metrics"]
    assert not list(home.rglob(".tmp-*"))


def test_executors_that_do_not_see_the_scratch_folder_are_refused_before_anything_is_read(
    home: Path, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_look_around", lambda _sign: (session._versions(), False))
    (home / "visits.csv").write_text("this is, not read\n")
    with pytest.raises(RunError) as caught:
        run(policy(home), out=Path(f"s3://{BUCKET}/runs"))
    (told,) = caught.value.diagnostics
    assert told.code == "PPF956"
    assert f"s3://{BUCKET}/runs" in told.message
    assert "TMPDIR" in (told.help or "")
    assert not store.keys("")
    with pytest.raises(RunError) as caught:
        run(policy(home), out=home / "runs")
    assert caught.value.diagnostics[0].code == "PPF956"
    assert str(home / "runs") in caught.value.diagnostics[0].message


def test_steps_of_executors_have_no_seconds(home: Path) -> None:
    ran = run(policy(home), out=home / "runs")
    report = json.loads((ran.run_dir / "report.json").read_text(encoding="utf-8"))
    assert {step["name"]: step["seconds"] for step in report["steps"]}["fewer"] is None
    line = next(line for line in (ran.run_dir / "report.md").read_text("utf-8").splitlines() if "| fewer |" in line)
    assert "not measured" in line
    assert "not measured" in (ran.run_dir / "report.html").read_text("utf-8")


def test_what_the_driver_does_has_seconds(home: Path) -> None:
    swapped = POLICY.replace("use: drop, with: {attributes: [day]}", "use: swap, with: {attributes: [day]}")
    (step,) = (s for s in run(policy(home, text=swapped), out=home / "runs").document["steps"] if s["name"] == "fewer")
    assert step["seconds"] > 0


def test_a_table_that_cannot_hold_the_parts_releases_nothing(home: Path, postgres: Any) -> None:
    database = postgres.database()
    postgres.sql(database, "SET client_min_messages = error; DROP TABLE IF EXISTS visits; CREATE TABLE visits (i int)")
    more = f", into: {{url: '{postgres.url(database)}', table: visits}}"
    with pytest.raises(DataError) as caught:
        run(policy(home, more=more), out=home / "runs")
    assert caught.value.diagnostics[0].code == "PPF483"
    assert not list((home / "runs").rglob("released"))
    postgres.sql(database, "DROP TABLE visits")
