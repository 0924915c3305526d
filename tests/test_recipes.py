"""The recipes for schedulers: their files are written to an empty folder, and what they start is run as it stands."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

BLOCK = re.compile(r"^```(\w+) file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RELEASED = ["[0, 40)", "[0, 40)", "[40, 120)", "[40, 120)"]
FAKE_DBT = """
import duckdb
from pathlib import Path
with duckdb.connect("clinic.duckdb") as database:
    for model in Path("models").glob("*.sql"):
        query = "".join(line for line in model.open() if not line.startswith("{{"))
        database.execute(f"create or replace table {model.stem} as {query}")
"""
FAKE_DAGSTER = '''
"""As much of Dagster as the recipe uses."""
from types import SimpleNamespace
AssetExecutionContext = object
MetadataValue = SimpleNamespace(path=str)
class Failure(Exception):
    def __init__(self, description, metadata, allow_retries):
        super().__init__(description)
        self.metadata = metadata
def asset(function): return function
def Definitions(assets): return assets
'''
MATERIALIZE = """
import dagster as dg
import definitions
done = dg.materialize(definitions.definitions.assets, raise_on_error=False)
assert done.success is {released}, done
if done.success:
    print(done.output_for_node("released_visits")["age"].tolist())
"""
CALL = """
from types import SimpleNamespace
import definitions
told = {{}}
try:
    frame = definitions.released_visits(SimpleNamespace(add_output_metadata=told.update), definitions.visits())
    print(frame["age"].tolist())
    assert told["verdict"] == "released"
except definitions.dg.Failure as failure:
    assert failure.metadata["verdict"] == "withheld" and not {released}
"""


@pytest.fixture
def written(root, tmp_path):
    def write(name: str) -> dict[str, str]:
        page = (root / "pipelines/recipes" / f"{name}.md").read_text(encoding="utf-8")
        files = {path: text for _, path, text in BLOCK.findall(page)}
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return files

    return write


@pytest.fixture
def env(tmp_path):
    """The environment of a job: the program and Python are found, as in an environment that is activated."""
    programs = {"ppdm-flow": "-m ppdm_flow", "python": "", "dbt": str(tmp_path / "bin/fake_dbt.py")}
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/fake_dbt.py").write_text(FAKE_DBT)
    for name, words in programs.items():
        rest = "" if name == "dbt" else ' "$@"'
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}{rest}\n')
        (tmp_path / "bin" / name).chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}


def started(words: list[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=1200, check=False)


def commands(text: str) -> dict[str, str]:
    """Return the texts that a DAG's file gives names to."""
    return {
        node.targets[0].id: node.value.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }


@pytest.mark.slow
def test_airflow_runs_the_command_and_hands_on_what_is_released(written, env, tmp_path):
    files = written("airflow")
    command = commands(files["dags/release_visits.py"])
    here = {**env, "RELEASE_HOME": str(tmp_path / "release"), "RUN": "manual__2026-11-23T10-00-00+00-00"}
    done = started(["bash", "-c", command["RELEASE"]], tmp_path, here)
    assert done.returncode == 0, done.stderr
    assert "RELEASED" in done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.endswith("/released")
    assert (tmp_path / "release/out" / here["RUN"] / "report.json").exists()
    published = started(["bash", "-c", command["PUBLISH"]], tmp_path, {**here, "RELEASED": last})
    assert published.returncode == 0, published.stderr
    assert sorted(pq.read_table(tmp_path / "release/published/visits.parquet")["age"].to_pylist()) == RELEASED


@pytest.mark.slow
def test_airflow_publishes_nothing_of_a_run_that_is_withheld(written, env, tmp_path):
    command = commands(written("airflow")["dags/release_visits.py"])["RELEASE"]
    here = {**env, "RELEASE_HOME": str(tmp_path / "release"), "RUN": "one"}
    data = tmp_path / "release/visits.csv"
    for rows, status in (("23,flu\n41,cold\n", 1), ("23;flu\n", 2)):
        data.write_text(f"age,illness\n{rows}")
        done = started(["bash", "-c", command], tmp_path, here)
        assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert not list(tmp_path.rglob("released"))


@pytest.mark.slow
def test_airflow_reads_the_dag(written, env, tmp_path):
    if importlib.util.find_spec("airflow") is None:
        pytest.skip("Airflow is not installed: its command is tested above")
    written("airflow")
    code = (
        "import sys; sys.path.insert(0, 'dags')\nfrom release_visits import release, publish\n"
        "assert release.retries == 0 and release.downstream_task_ids == {'publish'}"
    )
    done = started([sys.executable, "-c", code], tmp_path, {**env, "AIRFLOW_HOME": str(tmp_path / "airflow")})
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("k", "released"), [("2", True), ("3", False)])
@pytest.mark.parametrize("real", [False, True], ids=["stand-in", "dagster"])
def test_dagster_has_the_released_table_as_an_asset(written, env, tmp_path, k, released, real):
    if real and importlib.util.find_spec("dagster") is None:
        pytest.skip("Dagster is not installed: the functions of its assets are tested with a stand-in")
    written("dagster")
    if not real:
        (tmp_path / "dagster.py").write_text(FAKE_DAGSTER)
    code = (MATERIALIZE if real else CALL).format(released=released)
    here = {**env, "VISITS_K": k, "DAGSTER_HOME": ""}
    done = started([sys.executable, "-c", code], tmp_path, here)
    assert done.returncode == 0, done.stderr
    if released:
        assert sorted(ast.literal_eval(done.stdout.splitlines()[-1])) == RELEASED
    assert bool(list((tmp_path / "runs").rglob("released"))) is released


@pytest.mark.slow
@pytest.mark.parametrize(("k", "status"), [("2", 0), ("3", 1), ("none", 2)])
@pytest.mark.parametrize("real", [False, True], ids=["stand-in", "dbt"])
def test_dbt_builds_a_model_and_the_exit_status_decides(written, env, tmp_path, k, status, real):
    if real:
        if shutil.which("dbt") is None:
            pytest.skip("dbt is not installed: its job is tested with a stand-in that builds the models")
        (tmp_path / "bin/dbt").unlink()
    written("dbt")
    done = started(["sh", "job.sh"], tmp_path, {**env, "K": k})
    assert done.returncode == status, done.stdout + done.stderr
    released = list((tmp_path / "runs").rglob("visits.parquet"))
    assert len(released) == (1 if status == 0 else 0)
    if released:
        assert sorted(pq.read_table(released[0])["age"].to_pylist()) == RELEASED


@pytest.mark.slow
def test_a_model_that_fails_is_not_released(written, env, tmp_path):
    written("dbt")
    (tmp_path / "models/visits.sql").write_text("select nothing from nowhere\n")
    done = started(["sh", "job.sh"], tmp_path, env)
    assert done.returncode != 0
    assert not (tmp_path / "runs").exists()


@pytest.fixture
def java(root, env):
    """The environment of a job that finds a Java and Spark's programs."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed: the recipe for Spark is untested")
    sys.path.insert(0, str(root / "tests"))
    from spark_runs import java_environment

    environment = java_environment()
    if environment is None:
        pytest.skip("there is no Java: the recipe for Spark is untested")
    programs = Path(importlib.util.find_spec("pyspark").origin).parent / "bin"
    here = {"PATH": f"{env['PATH']}{os.pathsep}{programs}", "PYSPARK_PYTHON": sys.executable}
    return {**env, **environment, **here, "MASTER": "local-cluster[2,1,1024]", "OUT": "runs"}


@pytest.mark.spark
def test_spark_runs_a_bundled_policy_in_one_command(root, java, tmp_path):
    page = (root / "pipelines/recipes/spark.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^```sh\n(.*)\n```$", page, re.MULTILINE)
    done = started(["sh", "-c", f"{command} --out {tmp_path}"], root, java)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("hospital/*/released/medical/medical.parquet/part-00000.parquet"))


@pytest.mark.spark
@pytest.mark.parametrize("script", ["cluster.sh", "submit.sh"])
def test_spark_has_the_packages_from_an_archive(written, java, tmp_path, script):
    """The archive is a small one here: executors have this environment's packages, and one module of the archive's."""
    written("spark")
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "sitecustomize.py").write_text(f"open({str(tmp_path / 'seen')!r}, 'a').close()\n")
    assert started(["tar", "czf", "packages.tar.gz", "-C", "packages", "."], tmp_path, java).returncode == 0
    settings = tmp_path / "conf/spark-defaults.conf"
    secret = f"spark.authenticate.secret {'0' * 32}\n"  # which a cluster makes itself
    settings.write_text(settings.read_text().replace("2g", "256m") + secret)
    done = started(["sh", script], tmp_path, {**java, "SPARK_CONF_DIR": str(tmp_path / "conf")})
    assert done.returncode == 0, done.stderr
    (released,) = tmp_path.glob("runs/visits/*/released/study/visits.parquet/part-00000.parquet")
    assert sorted(pq.read_table(released)["age"].to_pylist()) == RELEASED
    assert (tmp_path / "seen").exists()


def test_every_page_is_listed(root):
    folder = root / "pipelines/recipes"
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert {page.name for page in folder.glob("*.md")} == {"README.md", *re.findall(r"\]\((\w+\.md)\)", text)}
