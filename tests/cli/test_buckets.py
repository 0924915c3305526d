"""Data, and places of runs, in object stores: what is made is the same, and what fails publishes nothing."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from ppdm_flow.api import verify
from ppdm_flow.core.errors import RunError, UsageError
from ppdm_flow.engine.buckets.sending import remove_leftovers
from ppdm_flow.engine.buckets.store import Store, address_of

pytest.importorskip("moto")
pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]
POLICY = """version: 1
name: visits
randomness: {mode: reproducible, seed: 1}
source: {path: whole.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  ill: {role: sensitive}
  year: {role: quasi_identifier, type: integer}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: study.csv}}
"""
VALUE = "zqillness"


def _module() -> Any:
    spec = spec_from_file_location("ppdm_tests_buckets", ROOT / "tests" / "buckets.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


buckets = _module()
BUCKET = buckets.BUCKET


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    with buckets.object_store() as store:
        yield store


@pytest.fixture
def store(running: Any) -> Any:
    """The store, empty, without faults."""
    for key in running.keys(""):
        running.client.delete_object(Bucket=BUCKET, Key=key)
    running.faults = buckets.Faults()
    running.requests.clear()
    return running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy and its data."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    draw = random.Random(5)
    rows = [f"{draw.choice([20, 30])},{draw.choice([VALUE, 'cold'])},{draw.choice([2023, 2024])}" for _ in range(200)]
    (tmp_path / "whole.csv").write_text("\n".join(["age,ill,year", *rows, ""]))
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def home(folder: Path, store: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That folder; the environment knows the store."""
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
def ppdm(folder: Path, here: Any) -> Any:
    """Run ``ppdm-flow``: nothing that it says has a credential or a value, and nothing stays in scratch folders."""

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        done: subprocess.CompletedProcess[str] = here(*words, cwd=folder)
        said = done.stdout + done.stderr
        assert buckets.KEY not in said
        assert buckets.SECRET not in said
        assert VALUE not in said
        assert not scratch(folder)
        return done

    return run


def scratch(home: Path) -> list[Path]:
    """Return the hidden folders of runs and copies that are there."""
    return [path for path in home.rglob(".tmp-*") if path.is_dir()]


def url(key: str) -> str:
    return f"s3://{BUCKET}/{key}"


def place(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def released(home: Path, done: subprocess.CompletedProcess[str]) -> bytes:
    return (home / place(done) / "released/study/study.csv").read_bytes()


def codes(done: subprocess.CompletedProcess[str]) -> set[str]:
    return {line.partition("[")[2].partition("]")[0] for line in done.stderr.splitlines() if line.startswith("error[")}


def nothing_is_out(store: Any, ppdm: Any, home: Path) -> None:
    """There is no manifest in the bucket, nothing that verify accepts, and no release on this machine."""
    keys = store.keys("runs/")
    assert not [key for key in keys if key.endswith("manifest.json")]
    for run in {"/".join(key.split("/")[:3]) for key in keys}:
        assert ppdm("verify", url(run)).returncode != 0
    assert not list(home.rglob("released"))


def test_objects_folders_and_globs_make_the_release_of_the_file(home: Path, store: Any, ppdm: Any) -> None:
    text = (home / "whole.csv").read_text()
    store.put("in/whole.csv", text)
    head, *rows = text.splitlines()
    for number in range(4):
        store.put(f"many/{number}.csv", "\n".join([head, *rows[number * 50 : number * 50 + 50], ""]))
    store.put("many/_SUCCESS", "")
    expected = released(home, ppdm("run", "policy.yaml"))
    for data in (url("in/whole.csv"), url("many/"), url("many/*.csv"), url("**/[0-9].csv")):
        done = ppdm("run", "policy.yaml", "--data", data)
        assert released(home, done) == expected
        assert ppdm("verify", place(done), "--data", data).returncode == 0
        (home / "own.yaml").write_text(POLICY.replace("whole.csv", f'"{data}", format: csv'))
        assert released(home, ppdm("run", "own.yaml")) == expected
    assert ppdm("check", "own.yaml").returncode == 0


@pytest.mark.slow
@pytest.mark.server(quick=1)
def test_every_format_is_read_from_a_bucket(home: Path, store: Any, ppdm: Any) -> None:
    expected = released(home, ppdm("run", "policy.yaml"))
    table = pc.read_csv(home / "whole.csv")
    pq.write_table(table, home / "whole.parquet")
    (home / "whole.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    table.to_pandas().to_excel(home / "whole.xlsx", index=False)
    for name in ("whole.parquet", "whole.jsonl", "whole.xlsx"):
        store.put(name, (home / name).read_bytes())
        assert released(home, ppdm("run", "policy.yaml", "--data", url(name))) == expected, name


def test_partitions_of_a_bucket_are_columns_and_their_values_are_not_told(home: Path, store: Any, ppdm: Any) -> None:
    table = pc.read_csv(home / "whole.csv")
    table = table.append_column("town", pa.array([VALUE] * 100 + ["other"] * 100))
    for town in (VALUE, "other"):
        part = table.filter(pa.compute.equal(table["town"], town)).drop_columns(["town"])
        pq.write_table(part, home / "part.parquet")
        store.put(f"hive/town={town}/part.parquet", (home / "part.parquet").read_bytes())
    (home / "policy.yaml").write_text(POLICY.replace("  ill:", "  town: {role: quasi_identifier}\n  ill:"))
    done = ppdm("run", "policy.yaml", "--data", url("hive/"))
    assert VALUE.encode() in released(home, done)
    store.put(f"hive/town={VALUE}/other.parquet", b"no Parquet")
    assert ppdm("run", "policy.yaml", "--data", url("hive/")).returncode == 2
    store.faults.refuse = lambda method, path: VALUE in path
    assert codes(ppdm("run", "policy.yaml", "--data", url("hive/"))) == {"PPF466"}


def test_other_verbs_read_from_buckets(home: Path, store: Any, ppdm: Any) -> None:
    store.put("in/whole.csv", (home / "whole.csv").read_bytes())
    data = url("in/whole.csv")
    run = place(ppdm("run", "policy.yaml"))
    for words in (
        ("check", "policy.yaml", "--data", data),
        ("plan", "policy.yaml", "--data", data),
        ("profile", data),
        ("sweep", "policy.yaml", "--over", "privacy.k_anonymity.k=2,3", "--data", data),
        ("diff", "policy.yaml", "policy.yaml", "--data", data),
        ("audit", "policy.yaml", "--original", data, "--released", f"{run}/released/study/study.csv"),
    ):
        done = ppdm(*words)
        assert done.returncode in (0, 1), done.stderr
        assert not codes(done)
    assert data in ppdm("profile", data).stdout


def test_a_run_in_a_bucket_is_verified(home: Path, store: Any, ppdm: Any) -> None:
    store.put("in/whole.csv", (home / "whole.csv").read_bytes())
    expected = released(home, ppdm("run", "policy.yaml"))
    run = place(ppdm("run", "policy.yaml", "--data", url("in/whole.csv"), "--out", url("runs")))
    assert run.startswith(url("runs/visits/"))
    key = run.removeprefix(f"s3://{BUCKET}/")
    assert store.get(f"{key}/released/study/study.csv") == expected
    assert ppdm("verify", run).returncode == 0
    assert ppdm("verify", run, "--data", url("in/whole.csv"), "--format", "json").returncode == 0
    order = [path for method, path in store.requests if method == "PUT"]
    assert "manifest.json" in order[-1]
    dictionary = store.get(f"{key}/released/study/dictionary.json")
    store.put(f"{key}/released/study/dictionary.json", dictionary + b" ")
    done = ppdm("verify", run)
    assert done.returncode == 1
    assert "changed: released/study/dictionary.json" in done.stdout
    store.put(f"{key}/released/study/dictionary.json", dictionary)
    store.put(f"{key}/released/more.csv", "a\n")
    assert "not in the manifest" in ppdm("verify", run).stdout
    store.client.delete_object(Bucket=BUCKET, Key=f"{key}/released/more.csv")
    assert ppdm("verify", run).returncode == 0
    assert "visits" in ppdm("report", run).stdout
    assert json.loads(ppdm("report", run, "--format", "croissant").stdout)["name"] == "visits-study"
    store.client.delete_object(Bucket=BUCKET, Key=f"{key}/manifest.json")
    assert codes(ppdm("report", run)) == {"PPF692"}
    done = ppdm("verify", run)
    assert done.returncode == 2
    assert codes(done) == {"PPF750"}


def test_a_run_in_a_bucket_is_signed(home: Path, store: Any, ppdm: Any) -> None:
    run = place(ppdm("run", "policy.yaml", "--out", url("runs")))
    key = run.removeprefix(f"s3://{BUCKET}/")
    entry = ppdm("key", "alice.key", "--comment", "alice", "--role", "author").stdout
    (home / "signers.yaml").write_text(f"version: 1\nsigners:\n{entry}")
    assert ppdm("verify", run, "--signers", "signers.yaml").returncode == 1
    store.requests.clear()
    done = ppdm("sign", run, "--key", "alice.key", "--role", "author")
    assert done.returncode == 0, done.stderr
    assert [path for method, path in store.requests if method == "PUT" and "attestations" not in path] == []
    (name,) = (k for k in store.keys(f"{key}/attestations"))
    assert done.stdout == f"{url(name)}\n"
    (copy,) = (k for k in store.keys(f"{key}/released") if "attestations" in k)
    assert store.get(name) == store.get(copy)
    assert ppdm("verify", run, "--signers", "signers.yaml").returncode == 0
    assert ppdm("sign", run, "--key", "alice.key", "--role", "author").returncode == 0
    store.put(copy, store.get(copy)[:-1])
    assert ppdm("verify", run, "--signers", "signers.yaml").returncode == 1
    store.put(f"{key}/released/study/dictionary.json", "{}")
    assert codes(ppdm("sign", run, "--key", "alice.key", "--role", "data-owner")) == {"PPF963"}


def test_what_a_store_does_not_take_is_not_signed(home: Path, store: Any, ppdm: Any) -> None:
    run = place(ppdm("run", "policy.yaml", "--out", url("runs")))
    ppdm("key", "alice.key")
    store.faults.refuse = lambda method, path: method == "PUT" and "attestations" in path
    done = ppdm("sign", run, "--key", "alice.key", "--role", "author")
    assert done.returncode == 3
    assert codes(done) <= {"PPF466", "PPF468"}
    store.faults.refuse = lambda _method, _path: False
    assert ppdm("verify", run).returncode == 0


def test_a_partitioned_release_in_a_bucket(home: Path, store: Any, ppdm: Any) -> None:
    parted = POLICY.replace("path: study.csv", "path: study.csv, partition_by: [ill, year]")
    (home / "policy.yaml").write_text(parted)
    rows = (home / "whole.csv").read_text().replace(VALUE, f"{VALUE} %20/=é")
    (home / "whole.csv").write_text(rows, encoding="utf-8")
    run = place(ppdm("run", "policy.yaml", "--out", url("runs")))
    assert len([key for key in store.keys("runs/") if "/study.csv/ill=" in key and key.endswith("part-0.csv")]) == 4
    assert ppdm("verify", run).returncode == 0
    gone = next(key for key in store.keys("runs/") if f"ill={VALUE}" in key)
    store.client.delete_object(Bucket=BUCKET, Key=gone)
    done = ppdm("verify", run)
    assert done.returncode != 0
    assert "missing: released/study/study.csv/ill=…/year=…/part-0.csv" in done.stdout


def test_what_is_withheld_stays_here(home: Path, store: Any, ppdm: Any) -> None:
    (home / "policy.yaml").write_text(POLICY.replace("{k: 2}", "{k: 90}"))
    done = ppdm("run", "policy.yaml", "--out", url("runs"))
    assert done.returncode == 1
    assert ppdm("verify", done.stdout.splitlines()[-1]).returncode == 0
    assert not [key for key in store.keys("runs/") if "study.csv" in key]
    done = ppdm("run", "policy.yaml", "--out", url("runs"), "--keep-withheld")
    assert (done.returncode, codes(done)) == (2, {"PPF469"})


@pytest.mark.parametrize("fault", ["refuse", "truncate", "stall"])
def test_data_that_a_store_does_not_give(
    home: Path, store: Any, ppdm: Any, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("in/whole.csv", (home / "whole.csv").read_bytes())
    if fault == "stall":
        monkeypatch.setenv("PPDM_BUCKET_TIMEOUT", "1")
    setattr(store.faults, fault, lambda method, path: method == "GET" and "whole.csv" in path)
    done = ppdm("run", "policy.yaml", "--data", url("in/whole.csv"), "--out", url("runs"))
    assert done.returncode == 2
    assert codes(done) <= {"PPF466", "PPF467"}
    assert codes(done)
    nothing_is_out(store, ppdm, home)
    store.faults = buckets.Faults()
    monkeypatch.setenv("PPDM_BUCKET_TIMEOUT", "300")
    assert ppdm("run", "policy.yaml", "--data", url("in/whole.csv")).returncode == 0


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        *((fault, name) for fault in ("refuse", "corrupt", "truncate") for name in ("study.csv", "manifest.json")),
        ("stall", "report.json"),
    ],
)
def test_a_place_that_does_not_take_a_run(
    home: Path, store: Any, ppdm: Any, fault: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("GET",) if fault in ("corrupt", "truncate") else ("PUT", "POST")
    if fault == "stall":
        monkeypatch.setenv("PPDM_BUCKET_TIMEOUT", "1")
    setattr(store.faults, fault, lambda method, path: method in asked and name in path and "?" not in path)
    done = ppdm("run", "policy.yaml", "--out", url("runs"))
    assert done.returncode == 3
    assert codes(done) <= {"PPF466", "PPF467", "PPF468"}
    assert codes(done)
    store.faults = buckets.Faults()
    monkeypatch.setenv("PPDM_BUCKET_TIMEOUT", "300")
    nothing_is_out(store, ppdm, home)
    assert not [key for key in store.keys("runs/") if not key.endswith("/")]
    assert ppdm("run", "policy.yaml", "--out", url("runs")).returncode == 0


def test_buckets_and_objects_that_are_not_there(home: Path, store: Any, ppdm: Any) -> None:
    store.put("in/a.txt", "a")
    for data, code in (
        ("s3://no-such-bucket/x.csv", "PPF466"),
        ("s3://no-such-bucket/", "PPF466"),
        (url("none.csv"), "PPF460"),
        (url("in/*.csv"), "PPF460"),
    ):
        done = ppdm("run", "policy.yaml", "--data", data)
        assert (done.returncode, codes(done)) == (2, {code}), data
    done = ppdm("run", "policy.yaml", "--out", "s3://no-such-bucket/runs")
    assert (done.returncode, codes(done)) == (3, {"PPF466"})
    done = ppdm("verify", "s3://no-such-bucket/runs/x")
    assert (done.returncode, codes(done)) == (2, {"PPF466"})
    assert codes(ppdm("verify", url("none"))) == {"PPF750"}


@pytest.mark.parametrize("when", ["while it is copied", "after it was copied", "before the manifest"])
def test_data_that_is_replaced_between_passes(home: Path, store: Any, ppdm: Any, when: str) -> None:
    text = (home / "whole.csv").read_text()
    store.put("in/whole.csv", text)

    def replace(method: str, path: str) -> None:
        copied = method == "GET" and "whole.csv" in path
        listed = method == "GET" and "prefix=runs" in path
        if copied if when == "while it is copied" else listed:
            store.put("in/whole.csv", text.replace("2023", "2022"))

    store.faults.after = replace
    if when == "before the manifest":
        store.faults.after = lambda _method, _path: None
        done = ppdm("run", "policy.yaml", "--data", url("in/whole.csv"), "--out", url("runs"))
        store.put("in/whole.csv", text.replace("2023", "2022"))
        assert ppdm("verify", place(done), "--data", url("in/whole.csv")).returncode == 1
        return
    done = ppdm("run", "policy.yaml", "--data", url("in/whole.csv"), "--out", url("runs"))
    assert (done.returncode, codes(done)) == (2, {"PPF724"}), done.stderr
    nothing_is_out(store, ppdm, home)


@pytest.mark.parametrize("what", ["put", "delete"])
def test_an_object_that_comes_or_goes_ends_a_run(home: Path, store: Any, ppdm: Any, what: str) -> None:
    text = (home / "whole.csv").read_text()
    store.put("in/0.csv", text)
    store.put("in/1.csv", text)
    store.put("in/notes.txt", "a")
    changes = {
        "put": lambda: store.put("in/2.csv", text),
        "delete": lambda: store.client.delete_object(Bucket=BUCKET, Key="in/1.csv"),
    }
    store.faults.before = lambda method, path: changes[what]() if "prefix=runs" in path else None
    done = ppdm("run", "policy.yaml", "--data", url("in/*.csv"), "--out", url("runs"))
    assert (done.returncode, codes(done)) == (2, {"PPF724"})
    nothing_is_out(store, ppdm, home)


def test_names_that_no_file_can_have(home: Path, store: Any, ppdm: Any) -> None:
    for key in ("bad/../../x.csv", "bad/a//b.csv"):
        store.put(key, "a\n1\n")
        done = ppdm("run", "policy.yaml", "--data", url("bad/"))
        assert (done.returncode, codes(done)) == (2, {"PPF467"}), key
        assert ppdm("verify", url("bad")).returncode == 2
        store.client.delete_object(Bucket=BUCKET, Key=key)
    assert not (home / "x.csv").exists()


@pytest.mark.server(quick=1)
def test_credentials_in_a_url_are_refused_and_not_told(folder: Path, ppdm: Any) -> None:
    """No server is asked."""
    for path in (
        f"s3://{buckets.KEY}:{buckets.SECRET.replace('/', 'x')}@{BUCKET}/x.csv",
        f"s3://{BUCKET}/x.csv?secret_key={buckets.SECRET.replace('/', 'x')}",
    ):
        (folder / "bad.yaml").write_text(POLICY.replace("whole.csv", f'"{path}"'))
        for words in (
            ("check", "bad.yaml"),
            ("run", "policy.yaml", "--data", path),
            ("run", "policy.yaml", "--out", path),
            ("verify", path),
        ):
            done = ppdm(*words)
            assert done.returncode == (1 if words[0] == "check" else 2)
            assert "[PPF465]" in done.stdout + done.stderr
            assert buckets.SECRET.replace("/", "x") not in done.stdout + done.stderr


def _started(home: Path, *words: str) -> subprocess.Popen[bytes]:
    words = (sys.executable, "-m", "ppdm_flow", *words)
    return subprocess.Popen(words, cwd=home, env={**os.environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.kill
def test_a_run_that_is_killed_while_it_is_sent_is_no_release(home: Path, store: Any, ppdm: Any) -> None:
    store.put("in/whole.csv", (home / "whole.csv").read_bytes())
    words = ("run", "--quiet", "policy.yaml", "--data", url("in/whole.csv"), "--out", url("runs"))
    assert ppdm(*words).returncode == 0
    first = next(i for i, (_, path) in enumerate(store.requests) if "prefix=runs" in path)
    last = next(i for i, (_, path) in enumerate(store.requests) if "manifest.json" in path)
    points = range(first, last)
    assert len(points) >= 30
    if "PPDM_KILLS" not in os.environ:  # a sample, as of the kills of databases
        points = points[::4]
    for point in points:
        for key in store.keys("runs/"):
            store.client.delete_object(Bucket=BUCKET, Key=key)
        store.requests.clear()
        store.faults = buckets.Faults()
        process = _started(home, *words)

        def kill(_method: str, _path: str, at: int = point, process: Any = process) -> None:
            if len(store.requests) > at:
                process.send_signal(signal.SIGKILL)
                process.wait()

        store.faults.before = kill
        assert process.wait(300) == -signal.SIGKILL, point
        store.faults = buckets.Faults()
        assert len(scratch(home)) >= 1
        keys = store.keys("runs/")
        assert not [key for key in keys if key.endswith("manifest.json")]
        for run in {"/".join(key.split("/")[:3]) for key in keys}:
            with pytest.raises(UsageError, match="PPF750"):
                verify(Path(url(run)))
    assert ppdm("run", "policy.yaml").returncode == 0  # which removes what is left, as `ppdm` looks after


RUN = "20260101T101010Z-0123456789ab"


def test_what_killed_runs_left_is_deleted_a_day_later(home: Path, store: Any, ppdm: Any) -> None:
    """By the next run; a release, a run that is being sent, and what is not ours stay."""
    out = place(ppdm("run", "policy.yaml", "--out", url("runs")))
    whole = store.keys("runs/")
    others = [
        f"runs/visits/{RUN}x/released/a.csv",
        "runs/visits/notes/a.csv",
        f"runs/{RUN}/a.csv",
    ]
    dead = [f"runs/visits/{RUN}/released/study/a.csv", f"runs/visits/{RUN}-2/report.json"]
    for key in (*others, *dead):
        store.put(key, VALUE)
    there = Store(address_of(url("runs/visits")), RunError)

    def removed(later: float) -> tuple[str, ...]:
        return remove_leftovers(there, there.address, there.entries(there.address), time.time() + later)

    assert removed(0) == ()
    assert removed(3600 * 23.9) == ()
    assert set(store.keys("runs/")) == {*whole, *others, *dead}
    assert sorted(removed(3600 * 24.1)) == [RUN, f"{RUN}-2"]
    assert {key for key in store.keys("runs/") if not key.endswith("/")} == {*whole, *others}  # a folder's mark stays
    assert ppdm("verify", out).returncode == 0


def test_the_next_run_deletes_what_is_left(home: Path, store: Any, ppdm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(f"runs/visits/{RUN}/released/study/a.csv", VALUE)
    assert ppdm("run", "policy.yaml", "--out", url("runs")).returncode == 0
    assert store.keys(f"runs/visits/{RUN}")
    monkeypatch.setattr("ppdm_flow.engine.buckets.sending._DAY", -10)
    assert ppdm("run", "policy.yaml", "--out", url("runs")).returncode == 0
    assert not store.keys(f"runs/visits/{RUN}")


def test_two_runs_of_one_name_are_not_mixed(home: Path, store: Any, ppdm: Any) -> None:
    """Another one writes the same object while a run is sent: neither its manifest nor its objects stay."""
    done = []

    def meddle(method: str, path: str) -> None:
        if method == "PUT" and "report.json" in path and not done:
            done.append(path)
            keys = [key for key in store.keys("runs/") if key.endswith("plan.json")]
            assert keys
            time.sleep(1.1)  # the store's times are whole seconds
            store.put(keys[0], b"{}")

    store.faults.before = meddle
    failed = ppdm("run", "policy.yaml", "--out", url("runs"))
    store.faults = buckets.Faults()
    assert done
    assert codes(failed) == {"PPF468"}
    assert failed.returncode == 3
    nothing_is_out(store, ppdm, home)


@pytest.mark.slow
@pytest.mark.server(quick=1)
@pytest.mark.parametrize("scheme", ["gs", "abfs"])
def test_what_is_not_said_by_one_store_alone(
    folder: Path, ppdm: Any, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with a client of Arrow that tells no ETag, and a folder in the place of a server."""
    root = folder / "there"
    (root / "bucket/in").mkdir(parents=True)
    (root / "bucket/in/whole.csv").write_text((folder / "whole.csv").read_text())
    system = fs.SubTreeFileSystem(str(root), fs.LocalFileSystem())
    real = system.open_output_stream

    def opened(path: str, **how: Any) -> Any:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        return real(path, **how)

    there = SimpleNamespace(
        get_file_info=system.get_file_info,
        open_input_stream=system.open_input_stream,
        open_output_stream=opened,
        delete_file=system.delete_file,
        delete_dir=system.delete_dir,
    )
    monkeypatch.setattr("ppdm_flow.engine.buckets.store._file_system", lambda _address: there)
    for data in (f"{scheme}://bucket/in/whole.csv", f"{scheme}://bucket/in/*.csv"):
        run = place(ppdm("run", "policy.yaml", "--data", data, "--out", f"{scheme}://bucket/runs"))
        assert run.startswith(f"{scheme}://bucket/runs/visits/")
        assert ppdm("verify", run, "--data", data).returncode == 0
    changed = root / run.removeprefix(f"{scheme}://") / "released/study/study.csv"
    changed.write_text(changed.read_text() + "20,cold,2023\n")
    assert ppdm("verify", run).returncode == 1


_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""What Microsoft publishes for its stand-in."""
STAND_INS = {
    "gs": (
        "gcp-storage-emulator",
        ["start", "--host=127.0.0.1", "--port={port}", "--in-memory", "--default-bucket=data"],
    ),
    "abfs": ("azurite-blob", ["--silent", "--inMemoryPersistence", "--blobPort", "{port}", "--skipApiVersionCheck"]),
}


@pytest.fixture(params=["gs", "abfs"])
def other_store(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A stand-in for the store of another maker, with a bucket `data`; skipped where it is not installed."""
    name, words = STAND_INS[request.param]
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [program, *(word.format(port=port) for word in words)]
    server = subprocess.Popen(words, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AZURE_STORAGE_SERVICE_ENDPOINT", f"http://127.0.0.1:{port}/{_ACCOUNT}")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", _ACCOUNT)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", _KEY)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.1)
    if request.param == "abfs":
        Store(address_of("abfs://data")).system.create_dir("data")
    yield f"{request.param}://data"
    server.kill()
    server.wait()


def test_stores_of_other_makers(home: Path, ppdm: Any, other_store: str) -> None:
    """Arrow's own clients: a run there is verified, delivered as data, audited, and what is missing is told."""
    (home / "policy.yaml").write_text(POLICY.replace("path: study.csv", "path: study.csv, partition_by: [year]"))
    run = place(ppdm("run", "policy.yaml", "--out", f"{other_store}/runs"))
    assert ppdm("verify", run).returncode == 0
    data = f"{other_store}/in/whole.csv"
    Store(address_of(data)).write(address_of(data), home / "whole.csv")
    again = place(ppdm("run", "policy.yaml", "--data", data, "--out", f"{other_store}/runs"))
    assert again != run
    assert ppdm("verify", again, "--data", data).returncode == 0
    words = ("--original", data, "--released", f"{run}/released/study/study.csv")
    assert ppdm("audit", "policy.yaml", *words).returncode == 0
    assert codes(ppdm("run", "policy.yaml", "--data", f"{other_store}/nothing.csv")) == {"PPF460"}
    assert codes(ppdm("run", "policy.yaml", "--data", f"{other_store.replace('data', 'nowhere')}/a.csv")) == {"PPF466"}
    gone = address_of(f"{run}/plan.json")
    Store(gone).delete(gone)
    assert "missing: plan.json" in ppdm("verify", run).stdout


@pytest.mark.server
def test_copies_are_private(home: Path, store: Any, ppdm: Any) -> None:
    store.put("in/0.csv", (home / "whole.csv").read_bytes())
    store.put("in/1.csv", (home / "whole.csv").read_bytes())
    seen = []

    def look(_method: str, path: str) -> None:
        if "prefix=runs" in path:
            seen.extend((each, each.stat().st_mode & 0o777) for each in home.rglob("[01].csv"))
            seen.extend((each, each.stat().st_mode & 0o777) for each in scratch(home))

    store.faults.before = look
    ppdm("run", "policy.yaml", "--data", url("in/*.csv"), "--out", url("runs"))
    assert {mode for path, mode in seen if path.suffix == ".csv"} == {0o600}
    assert {mode for path, mode in seen if path.suffix != ".csv"} == {0o700}
    (home / "tmp" / f"ppdm-flow-{os.getuid()}").chmod(0o755)
    done = ppdm("run", "policy.yaml", "--data", url("in/*.csv"), "--out", url("runs"))
    assert (done.returncode, codes(done)) == (3, {"PPF693"})


@pytest.mark.kill
def test_an_interrupted_run_leaves_nothing(home: Path, store: Any, ppdm: Any) -> None:
    """Interrupted once, when it begins to send its files: at the last one it could end before it is interrupted."""
    interrupted = threading.Event()

    def interrupt(method: str, _path: str) -> None:
        if method == "PUT" and not interrupted.is_set():
            interrupted.set()
            process.send_signal(signal.SIGINT)

    with _started(home, "run", "policy.yaml", "--out", url("runs")) as process:
        store.faults.before = interrupt
    assert interrupted.is_set()
    assert process.returncode == 130
    store.faults = buckets.Faults()
    assert not scratch(home)
    assert not [key for key in store.keys("runs/") if not key.endswith("/")]


def _ledger(home: Path, here: Any) -> list[dict[str, Any]]:
    done = here("ledger", "releases.ledger", "--format", "json", cwd=home)
    entries: list[dict[str, Any]] = json.loads(done.stdout)["releases"]
    return entries


def test_a_ledger_has_what_is_published_and_no_more(home: Path, store: Any, ppdm: Any, here: Any) -> None:
    (home / "policy.yaml").write_text(POLICY + "ledger: {path: releases.ledger}\n")
    store.faults.refuse = lambda method, path: method == "PUT" and "study.csv" in path
    assert here("ledger", "releases.ledger", "--create", cwd=home).returncode in (0, 2)
    done = ppdm("run", "policy.yaml", "--out", url("runs"))
    assert done.returncode == 3, done.stderr
    assert [entry for entry in _ledger(home, here) if entry["state"] != "dropped"] == []
    store.faults = buckets.Faults()
    run = place(ppdm("run", "policy.yaml", "--out", url("runs")))
    entries = [entry for entry in _ledger(home, here) if entry["state"] != "dropped"]
    assert [(entry["state"], f"{entry['folder']}/{entry['run']}") for entry in entries] == [("released", run)]


def test_a_manifest_of_which_nobody_knows_counts_as_released(home: Path, store: Any, ppdm: Any, here: Any) -> None:
    (home / "policy.yaml").write_text(POLICY + "ledger: {path: releases.ledger}\n")
    here("ledger", "releases.ledger", "--create", cwd=home)
    store.faults.corrupt = lambda method, path: method == "GET" and path.endswith("manifest.json")
    store.faults.refuse = lambda method, path: method == "DELETE" or "?delete" in path
    done = ppdm("run", "policy.yaml", "--out", url("runs"))
    assert (done.returncode, codes(done)) == (3, {"PPF468"})
    assert "nobody can say" in done.stderr
    assert [entry["state"] for entry in _ledger(home, here)] == ["pending"]


def test_a_database_in_a_bucket(home: Path, store: Any, ppdm: Any) -> None:
    expected = released(home, ppdm("run", "policy.yaml"))
    with closing(sqlite3.connect(home / "whole.sqlite")) as database:
        pc.read_csv(home / "whole.csv").to_pandas().to_sql("visits", database, index=False)
    store.put("in/whole.sqlite", (home / "whole.sqlite").read_bytes())
    (home / "policy.yaml").write_text(POLICY.replace("whole.csv", f'"{url("in/whole.sqlite")}", table: visits'))
    assert released(home, ppdm("run", "policy.yaml")) == expected


def test_linked_tables_are_read_from_a_folder_in_a_bucket(
    home: Path, store: Any, ppdm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLINIC_KEY", "0123456789abcdef0011223344556677")
    text = (ROOT / "pipelines/clinic_visits.yaml").read_text()
    paths = re.findall(r"path: (data/[a-z_./]+)", text)
    assert len(paths) >= 2
    for path in paths:
        store.put(f"clinic/{Path(path).name}", (ROOT / "pipelines" / path).read_bytes())
    there = ROOT / "pipelines/clinic_visits.yaml"
    done = ppdm("run", there, "--data", url("clinic/"), "--out", url("runs"))
    assert done.returncode == ppdm("run", there).returncode
    assert ppdm("verify", done.stdout.splitlines()[-1]).returncode == 0
    first, second = (Path(path).name for path in paths[:2])
    near = text.replace(paths[1], str(ROOT / "pipelines" / paths[1]))
    (home / "own.yaml").write_text(near.replace(paths[0], url(f"clinic/{first}")))
    own = ppdm("run", "own.yaml", "--out", url("own"))
    assert own.returncode == done.returncode, own.stderr
    assert ppdm("verify", own.stdout.splitlines()[-1]).returncode == 0
    (home / "alike.yaml").write_text(text.replace(paths[0], url(f"clinic/{second}")))
    assert codes(ppdm("run", "alike.yaml")) == {"PPF469"}
    (home / "gone.yaml").write_text(near.replace(paths[0], url("clinic/nothing.csv")))
    assert codes(ppdm("run", "gone.yaml")) & {"PPF460", "PPF701"}


PERTURBED = """version: 1
name: visits
randomness: {mode: reproducible, seed: 1}
source: {path: whole.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  ill: {role: sensitive}
  year: {role: insensitive, type: integer}
privacy: {sensitivities: {ill: {default: {tolerance: 8}}}}
steps: {perturb: {use: fine_grain_perturbation}}
releases: {study: {path: study.csv, partition_by: [year]}}
"""


@pytest.mark.parametrize("text", [POLICY, PERTURBED, PERTURBED.replace(", partition_by: [year]", "")])
def test_a_release_in_a_bucket_is_judged(home: Path, store: Any, ppdm: Any, text: str) -> None:
    """As it is on this machine, with the operator that lies beside it."""
    (home / "policy.yaml").write_text(text)
    run = place(ppdm("run", "policy.yaml", "--out", url("runs")))
    there = place(ppdm("run", "policy.yaml", "--out", "here"))
    words = ("audit", "policy.yaml", "--original", "whole.csv", "--format", "json", "--released")
    far, near = (ppdm(*words, f"{each}/released/study/study.csv") for each in (run, there))
    assert far.returncode == near.returncode == 0, far.stderr
    measured = [[r["measured"] for r in json.loads(done.stdout)["requirements"]] for done in (far, near)]
    assert measured[0] == measured[1]
    if "perturb" in text:
        store.client.delete_object(Bucket=BUCKET, Key=f"{run.split('/', 3)[3]}/released/study/operator.json")
        assert ppdm(*words, f"{run}/released/study/study.csv").stdout != far.stdout
    gone = ppdm(*words, f"{run}/released/study/nothing.csv")
    assert gone.returncode == 2
    assert codes(gone) & {"PPF460", "PPF701"}


@pytest.mark.parametrize("name", ["study.csv.gz", "study.csv", "study.parquet"])
def test_bytes_are_those_of_the_file_whatever_its_name_says(home: Path, store: Any, ppdm: Any, name: str) -> None:
    """Clients of Arrow pack and unpack what ends in `.gz`, unless they are told not to."""
    (home / "policy.yaml").write_text(POLICY.replace("study.csv", name))
    (home / "whole.csv.gz").write_bytes(gzip.compress((home / "whole.csv").read_bytes()))
    store.put("in/whole.csv.gz", (home / "whole.csv.gz").read_bytes())
    here = place(ppdm("run", "policy.yaml", "--data", "whole.csv.gz"))
    run = place(ppdm("run", "policy.yaml", "--data", url("in/whole.csv.gz"), "--out", url("runs")))
    there = store.get(f"{run.removeprefix(f's3://{BUCKET}/')}/released/study/{name}")
    assert there == (home / here / "released/study" / name).read_bytes()
    assert ppdm("verify", run, "--data", url("in/whole.csv.gz")).returncode == 0
