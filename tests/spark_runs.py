"""Runs on real sessions of Spark: processes of their own, with what they started, and what they released."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pyarrow.csv as pc
import pyarrow.parquet as pq

CLUSTER = "local-cluster[2,1,1024]"
SEED = 'randomness: {mode: reproducible, seed: "7"}\n'
_JAVAS = ("/usr/lib/jvm/java-17-openjdk-amd64", "/usr/lib/jvm/java-17-openjdk-arm64")

_SHORT = "-XX:TieredStopAtLevel=1"
"""Of a session of seconds a third goes into the compiler that makes long ones fast."""
_LOAD_CLASSES = """
import sys
from pyspark.sql import SparkSession
options = f"-Xlog:disable -XX:ArchiveClassesAtExit={sys.argv[1]}"
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.extraJavaOptions", options).getOrCreate()
spark.range(9).mapInArrow(lambda batches: batches, "id long").groupBy("id").count().collect()
java = spark.sparkContext._gateway.proc
spark.stop()
java.stdin.close()
java.wait()
"""


def java_environment() -> dict[str, str] | None:
    """Return what a process needs in its environment to find a Java 17; None where there is none."""
    home = next((place for place in (os.environ.get("JAVA_HOME"), *_JAVAS) if place and Path(place).is_dir()), None)
    if home is None and shutil.which("java") is None:
        return None
    environment = {} if home is None else {"JAVA_HOME": home}
    return {**environment, "JAVA_TOOL_OPTIONS": f"{_SHORT} {_shared_classes(home)}"}


@cache
def _shared_classes(home: str | None) -> str:
    """Return the options by which Java maps the classes of Spark into memory: to load them is half of a session.

    The first test that asks makes the archive, which takes longer than a session; it stays in the temporary folder for
    later test runs. Java ignores one of another version, or of another folder of Spark.
    """
    place = find_spec("pyspark")
    version = sha256(f"{home} {place and place.origin} {metadata.version('pyspark')}".encode()).hexdigest()[:12]
    archive = Path(tempfile.gettempdir()) / f"ppdm-flow-tests-spark-{version}.jsa"
    with alone("spark-classes"):
        if not archive.exists():
            made = archive.with_suffix(".new")
            environment = {**os.environ, "JAVA_TOOL_OPTIONS": _SHORT, "PYSPARK_PYTHON": sys.executable}
            if home is not None:
                environment["JAVA_HOME"] = home
            words = [sys.executable, "-W", "ignore", "-c", _LOAD_CLASSES, str(made)]
            subprocess.run(words, env=environment, capture_output=True, check=False, timeout=600)
            if not made.exists():
                return ""
            made.rename(archive)
    return f"-Xlog:disable -XX:SharedArchiveFile={archive}"


@contextmanager
def alone(name: str, folder: Path | None = None) -> Iterator[None]:
    """Wait until no other process of the tests does what has this name."""
    place = Path(tempfile.gettempdir()) if folder is None else folder
    with (place / f"ppdm-flow-tests-{name}.lock").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def connect_server() -> AbstractContextManager[None]:
    """Wait for the port of a server of Spark Connect, which is the same for all."""
    return alone("connect")


class Started:
    """A run in a process of its own; ``seen`` is called with each line of its standard error."""

    def __init__(self, words: list[str], env: dict[str, str], seen: Callable[[Started, str], None]) -> None:
        before = signal.signal(
            signal.SIGINT, signal.default_int_handler
        )  # a background job ignores it, and so would this
        self.process = subprocess.Popen(
            [sys.executable, *words],
            env={**os.environ, **env, "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        signal.signal(signal.SIGINT, before)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(seen,))
        self._reader.start()

    def _read(self, seen: Callable[[Started, str], None]) -> None:
        for line in self.process.stderr or ():
            self.lines.append(line)
            seen(self, line)

    def ended(self) -> tuple[int, str]:
        """Wait for the end; return status and output."""
        out = self.process.stdout.read() if self.process.stdout else ""
        status = self.process.wait(timeout=1200)
        self._reader.join(timeout=60)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return status, out

    def executors(self) -> list[int]:
        """The processes of the executors."""
        return [pid for pid, words in self.children() if "CoarseGrainedExecutorBackend" in words]

    def children(self) -> list[tuple[int, str]]:
        """All processes that the run started, and those that they started, with their words."""
        told = subprocess.run(["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
        rows = [line.split(None, 2) for line in told.splitlines()[1:]]
        known = {self.process.pid}
        for _ in rows:
            grown = known | {int(pid) for pid, parent, _ in rows if int(parent) in known}
            if grown == known:
                break
            known = grown
        return [(int(pid), words) for pid, _, words in rows if int(pid) in known and int(pid) != self.process.pid]


def ignore_lines(_run: Started, _line: str) -> None:
    """See nothing."""


def released(run_dir: Path) -> dict[str, list]:
    """Return the rows of each release in their order."""
    rows: dict[str, list] = {}
    for release in sorted((run_dir / "released").iterdir()):
        for place in release.iterdir():
            if place.suffix in {".json", ".md", ".html"}:
                continue
            for part in sorted(place.iterdir()) if place.is_dir() else [place]:
                table = pq.read_table(part) if part.suffix == ".parquet" else pc.read_csv(part)
                rows.setdefault(release.name, []).extend(table.to_pylist())
    return rows


def metrics(run_dir: Path) -> object:
    """Return the figures of a run."""
    return json.loads((run_dir / "report.json").read_text(encoding="utf-8"))["metrics"]
