"""Runs on real sessions of Spark: executors in processes of their own, Spark Connect, killed executors and drivers.

Each run is a process of its own, as a user starts it. ``tests/campaigns/spark.py`` has more policies and kill points.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from ppdm_flow.api.run import run

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spark_runs import CLUSTER, SEED, Started, connect_server, ignore_lines, java_environment, metrics, released

ROOT = Path(__file__).resolve().parents[2]
CANARY = "canary-7c1e"


@pytest.fixture(scope="module")
def java() -> dict[str, str]:
    """The environment of a Java 17."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    environment = java_environment()
    if environment is None:
        pytest.skip("there is no Java: runs on Spark are untested")
    return environment


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """The hospital's policy with a seed; each town of its data has a canary that no policy names."""
    (tmp_path / "data").mkdir()
    table = pc.read_csv(ROOT / "pipelines" / "data" / "hospital.csv.gz")
    ids = [f"{CANARY}-{text}" for text in table["patient_id"].to_pylist()]
    place = table.schema.get_field_index("patient_id")
    pq.write_table(
        table.set_column(place, "patient_id", [ids]), tmp_path / "data" / "hospital.parquet", row_group_size=2500
    )
    text = (
        (ROOT / "pipelines" / "hospital.yaml")
        .read_text(encoding="utf-8")
        .replace("hospital.csv.gz", "hospital.parquet")
    )
    text = text.replace("patient_id: {role: identifier}", "patient_id: {role: insensitive}", 1)
    path = tmp_path / "hospital.yaml"
    path.write_text(text.replace("\nattributes:", f"\n{SEED}attributes:", 1), encoding="utf-8")
    return path


def only_run(out: Path) -> Path:
    [place] = (out / "hospital").iterdir()
    return place


def test_a_killed_executor_changes_nothing_and_no_log_has_a_value(tmp_path, policy, java) -> None:
    import pyspark

    killed: list[int] = []

    def kill(started: Started, line: str) -> None:
        if line.startswith("perturb") and not killed:
            killed.append(started.executors()[0])
            os.kill(killed[0], signal.SIGKILL)
        if line.startswith("medical/"):  # they go with the session
            shutil.copytree(spark / "work", logs / "workers", dirs_exist_ok=True)

    logs = tmp_path / "logs"
    (logs / "events").mkdir(parents=True)
    settings = f"--conf spark.eventLog.enabled=true --conf spark.eventLog.dir=file://{logs}/events pyspark-shell"
    spark = tmp_path / "spark-home"
    spark.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (spark / part.name).symlink_to(part)
    env = {**java, "PYSPARK_SUBMIT_ARGS": settings, "SPARK_HOME": str(spark)}
    words = ["run", str(policy), "--engine", "spark", "--master", CLUSTER, "--out", str(tmp_path / "spark")]
    started = Started(["-m", "ppdm_flow", *words], env, kill)
    status, out = started.ended()
    assert status == 0, "".join(started.lines)
    assert killed
    here = run(policy, out=tmp_path / "local")
    place = only_run(tmp_path / "spark")
    assert released(place) == released(here.run_dir)
    assert metrics(place) == metrics(here.run_dir)
    written = [p for p in logs.rglob("*") if p.is_file()]
    assert any("events" in p.parts for p in written)
    assert not list((spark / "work").iterdir())
    assert any(p.name == "stderr" for p in written)
    texts = [p.read_bytes() for p in written] + ["".join(started.lines).encode(), out.encode()]
    assert not any(CANARY.encode() in text for text in texts)
    diseases = (b"hepatitis", b"self-paid")  # of the data and of the policy both
    assert not any(word in text for text in texts[:-2] for word in diseases)


@pytest.mark.parametrize(("line", "connect"), [("perturb", False), ("release ", True)])
def test_an_interrupted_run_cancels_its_jobs_and_leaves_nothing(tmp_path, policy, java, line, connect) -> None:
    told: list[list[tuple[int, str]]] = []

    def interrupt(started: Started, said: str) -> None:
        if said.startswith(line) and not told:
            told.append(started.children())
            started.process.send_signal(signal.SIGINT)

    out = tmp_path / "runs"
    words = ["-m", "ppdm_flow", "run", str(policy), "--engine", "spark", "--out", str(out)]
    where = [] if connect else ["--master", CLUSTER]
    with connect_server() if connect else nullcontext():
        started = Started([*words, *where], {**java, **({"SPARK_REMOTE": "local[2]"} if connect else {})}, interrupt)
        status, said = started.ended()
    lines = "".join(started.lines)
    assert status == 130, lines
    assert told
    assert said == ""
    if not connect:  # a server of Connect logs here too, also of what is asked while it closes the session
        assert "INVALID_HANDLE" not in lines  # no job was asked for once the session was closed
        assert "Traceback" not in lines
        assert "ERROR" not in lines
    assert CANARY not in lines
    assert not list((out / "hospital").iterdir())
    assert not any(alive(pid, words) for pid, words in told[0])


def alive(pid: int, words: str) -> bool:
    """Whether a process is still there half a minute later."""
    deadline = time.monotonic() + 30
    place = Path(f"/proc/{pid}/cmdline")
    while time.monotonic() < deadline:
        try:
            if place.read_bytes().replace(b"\0", b" ").decode().strip() != words.strip():
                return False
        except OSError:
            return False
        time.sleep(0.2)
    return True


def test_a_policy_runs_on_spark_connect(tmp_path, policy, java) -> None:
    env = {**java, "SPARK_REMOTE": "local[2]"}
    words = ["-m", "ppdm_flow", "run", str(policy), "--engine", "spark", "--out", str(tmp_path / "spark")]
    with connect_server():
        started = Started(words, env, ignore_lines)
        status, _ = started.ended()
    assert status == 0, "".join(started.lines)
    here = run(policy, out=tmp_path / "local")
    assert released(only_run(tmp_path / "spark")) == released(here.run_dir)
    assert metrics(only_run(tmp_path / "spark")) == metrics(here.run_dir)


def test_of_a_killed_driver_nothing_stays_that_looks_like_a_release(tmp_path, policy, java) -> None:
    out = tmp_path / "runs"

    children: list[int] = []

    def kill(started: Started, line: str) -> None:
        if line.startswith("release ") and not children:
            children.extend(pid for pid, _ in started.children())
            started.process.kill()

    words = ["run", str(policy), "--engine", "spark", "--master", "local[2]", "--out", str(out)]
    started = Started(["-m", "ppdm_flow", *words], java, kill)
    status, _ = started.ended()
    assert status == -signal.SIGKILL
    left = list((out / "hospital").iterdir())
    assert left
    assert all(place.name.startswith(".tmp-") for place in left)
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in children) and time.monotonic() < deadline:
        time.sleep(0.2)
    run(policy, out=out)
    [place] = (out / "hospital").iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{12}", place.name)
