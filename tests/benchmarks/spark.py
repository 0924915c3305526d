"""A policy of counts and row-wise steps on Apache Spark, beside the engine of one machine: time, memory, network.

    python tests/benchmarks/spark.py [--rows 5000000 10000000 20000000] [--master URL] [--json FILE]

Each size is two processes of ``ppdm-flow run`` on the same Parquet file (row groups of a million rows). A line has the
wall time; the seconds of processors of the driver's Python, of its Java, of the executors' Python (``python``) and of
Spark's tasks in the executors' Java (``tasks``, as Spark's own metrics say; ``java`` is all that these processes took,
with their start and their compiler); peak memory of the driver's Python and Java; and bytes over the network: what
tasks answered (``answers``) and what was shuffled (``shuffle``). ``ratio`` is python and tasks over what the engine of
one machine took for everything.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import Spent, flow, machine, timed

POLICY = """version: 1
name: patients
source: {path: patients-ROWS.parquet}
randomness: {mode: reproducible, seed: "7"}
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 16, 40, 65, 120]}}
  sex: {role: quasi_identifier, domain: [female, male]}
  region: {role: quasi_identifier}
  occupation: {role: quasi_identifier}
  disease: {role: sensitive, domain: [flu, asthma, injury, heart, diabetes, depression, cancer, hepatitis, HIV]}
  payment: {role: sensitive, domain: [insured, self-paid, instalments, charity, bad debt]}
privacy:
  k_anonymity: {k: 10}
  templates:
    in-need: {channel: [age, sex, region, occupation], sensitive: {payment: [charity, bad debt]}, confidence: 0.2}
  sensitivities:
    disease: {values: {HIV: {r1: 0.02, r2: 0.15}, hepatitis: {r1: 0.05, r2: 0.30}}}
steps:
  coarsen: {use: generalize, with: {attributes: {age: {}}}}
  suppress: {use: progressive_disclosure}
  perturb: {use: fine_grain_perturbation, with: {attribute: disease}}
  ids: {use: drop, with: {attributes: [patient]}}
releases:
  study: {path: study.parquet}
"""
DISEASES = ("flu", "asthma", "injury", "heart", "diabetes", "depression", "cancer", "hepatitis", "HIV")
PAYMENTS = ("insured", "self-paid", "instalments", "charity", "bad debt")
GROUP = 1 << 20
_TICKS = os.sysconf("SC_CLK_TCK")


def write_table(path: Path, rows: int) -> None:
    """Write ``rows`` patients in row groups of a million."""
    draw, writer = np.random.default_rng(7), None
    for first in range(0, rows, GROUP):
        many = min(GROUP, rows - first)
        chances = np.array([30, 20, 15, 12, 10, 8, 3, 1.5, 0.5])
        columns = {
            "patient": pa.array(np.char.add("p", np.arange(first, first + many).astype(str))),
            "age": pa.array(draw.integers(0, 100, many)),
            "sex": pa.array(np.array(["female", "male"])[draw.integers(0, 2, many)]),
            "region": pa.array(np.char.add("region ", draw.integers(0, 20, many).astype(str))),
            "occupation": pa.array(np.char.add("work ", draw.integers(0, 12, many).astype(str))),
            "disease": pa.array(np.array(DISEASES)[draw.choice(9, many, p=chances / chances.sum())]),
            "payment": pa.array(np.array(PAYMENTS)[draw.choice(5, many, p=[0.6, 0.2, 0.12, 0.05, 0.03])]),
        }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    if writer is not None:
        writer.close()


@dataclass
class Line:
    """What one run took: seconds, MB, and bytes over the network."""

    engine: str
    rows: int
    wall: float
    driver: float
    driver_mb: float
    driver_java: float = 0.0
    driver_java_mb: float = 0.0
    python: float = 0.0
    tasks: float = 0.0
    java: float = 0.0
    jobs: int = 0
    answers_mb: float = 0.0
    shuffle_mb: float = 0.0
    ratio: float | None = None


@dataclass
class Watch:
    """The processes of a run, looked at ten times a second: seconds of processors and peak MB, by kind."""

    root: int
    seen: dict[tuple[int, str], tuple[str, float, float]] = field(default_factory=dict)

    def look(self) -> None:
        """Look at the root and all that descends from it."""
        parents: dict[int, int] = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    stat = (folder / "stat").read_text().rpartition(")")[2].split()
                    parents[int(folder.name)] = int(stat[1])
                    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    peak = next(w for w in (folder / "status").read_text().splitlines() if w.startswith("VmHWM"))
                except (OSError, StopIteration):
                    continue
                kind = "driver" if int(folder.name) == self.root else _kind(words)
                if kind and _descends(int(folder.name), self.root, parents):
                    seconds = (int(stat[11]) + int(stat[12])) / _TICKS
                    self.seen[int(folder.name), stat[19]] = (kind, seconds, int(peak.split()[1]) / 1024)

    def seconds(self, kind: str) -> float:
        """Return the seconds of all processes of a kind."""
        return sum(seconds for what, seconds, _ in self.seen.values() if what == kind)

    def peak(self, kind: str) -> float:
        """Return the most MB of one process of a kind."""
        return max((peak for what, _, peak in self.seen.values() if what == kind), default=0.0)


def _kind(words: str) -> str:
    kinds = {"CoarseGrainedExecutorBackend": "java", "pyspark.daemon": "python", "SparkSubmit": "driver_java"}
    return next((kind for sign, kind in kinds.items() if sign in words), "")


def _descends(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid > 1 and pid != root:
        if pid not in parents:
            try:
                parents[pid] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                return False
        pid = parents[pid]
    return pid == root


def on_spark(folder: Path, policy: Path, rows: int, master: str) -> Line:
    """Run the policy on Spark, with a log of its events, and take together what they and the processes say."""
    conf, events = folder / f"conf-{rows}", folder / f"events-{rows}"
    conf.mkdir()
    events.mkdir()
    (conf / "spark-defaults.conf").write_text(
        f"spark.eventLog.enabled true\nspark.eventLog.dir file://{events}\nspark.eventLog.compress false\n"
    )
    words = [*flow("run", policy, "--out", folder / "spark", "--engine", "spark", "--master", master, "--quiet")]
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        run = subprocess.Popen(
            words, cwd=folder, env={**os.environ, "SPARK_CONF_DIR": str(conf)}, stdout=said, stderr=said
        )
        pid, usage, status, watch = 0, None, 0, Watch(run.pid)
        while pid == 0:
            watch.look()
            time.sleep(0.1)
            pid, status, usage = os.wait4(run.pid, os.WNOHANG)
        run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode:
            said.seek(0)
            sys.exit(f"failed: {' '.join(words)}\n{said.read().decode(errors='replace')}")
    wall = time.perf_counter() - started
    line = Line("spark", rows, wall, watch.seconds("driver"), usage.ru_maxrss / 1024 if usage else 0.0)
    line.driver_java, line.driver_java_mb = watch.seconds("driver_java"), watch.peak("driver_java")
    line.python, line.java = watch.seconds("python"), watch.seconds("java")
    _read_events(events, line)
    return line


def _read_events(events: Path, line: Line) -> None:
    for path in (each for each in events.rglob("*") if each.is_file()):
        for text in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(text) if text.startswith("{") else {}
            line.jobs += event.get("Event") == "SparkListenerJobStart"
            metrics = event.get("Task Metrics") if event.get("Event") == "SparkListenerTaskEnd" else None
            if metrics:
                line.tasks += metrics["Executor CPU Time"] / 1e9
                line.answers_mb += metrics["Result Size"] / 2**20
                line.shuffle_mb += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"] / 2**20


def lines(folder: Path, sizes: Sequence[int], master: str) -> Iterator[Line]:
    """Yield what the engine of one machine and Spark took, for each size."""
    for rows in sizes:
        write_table(folder / f"patients-{rows}.parquet", rows)
        policy = folder / f"patients-{rows}.yaml"
        policy.write_text(POLICY.replace("ROWS", str(rows)))
        here: Spent = timed(*flow("run", policy, "--out", folder / "local", "--quiet"), cwd=folder)
        yield Line("local", rows, here.seconds, here.cpu, here.peak_mb)
        there = on_spark(folder, policy, rows, master)
        there.ratio = (there.python + there.tasks) / here.cpu
        yield there


def main() -> None:
    """Measure and print."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, nargs="+", default=[5_000_000, 10_000_000, 20_000_000])
    words.add_argument("--master", default="local-cluster[2,1,1024]")
    words.add_argument("--json", type=Path)
    words.add_argument("--folder", type=Path, help="Where the tables and runs are left; else they are removed.")
    chosen = words.parse_args()
    print(machine())
    measured = []
    with tempfile.TemporaryDirectory() as name:
        for line in lines(chosen.folder or Path(name), chosen.rows, chosen.master):
            if not measured:
                print("  ".join(f"{name:>{max(8, len(name))}}" for name in asdict(line)))
            measured.append(asdict(line))
            cells = ("" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v) for v in asdict(line).values())
            print("  ".join(f"{c:>{max(8, len(n))}}" for n, c in zip(asdict(line), cells, strict=True)), flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()
