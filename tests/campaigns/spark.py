"""The same policies on real sessions of Spark as on this machine, and `kill -9` of executors and of drivers.

Policies: every bundled policy whose data is at hand runs by the local engine and on one session with executors of their
own, with a seed: rows and their order, figures, requirements, findings and verdict have to be the same. Then as the
policy stands, which for most is sealed: three local runs, or up to 57 where that is in doubt, say which figures no draw
changes, and Spark has to have the same ones. Fragments and parts are small, so that tables of thousands of rows have
several.

Kills: the jobs of a run that is left alone are counted, and points are spread evenly over the tasks of all of them: at
each, a task kills the executor that it runs on, or the driver, before its work or after it; of a sort the tasks on both
sides of the shuffle count. No time is involved. Two more points of the driver are the writing of the manifest and the
moment before the release is published. After the kill of an executor the run has to release the same bytes. After that
of a driver nothing may look like a release, `verify` has to refuse what is there, and the next run, which is started
at once, has to remove it and to release the same bytes; no process may stay. Ends with 1 where anything of that is not
so, and with 2 where there is no Java.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv as pc
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spark_runs import CLUSTER, SEED, Started, ignore_lines, java_environment

from ppdm_flow import api
from ppdm_flow.api.where import HERE, SPARK, EngineChoice
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.errors import PolicyError, PpdmError
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.run.finishing import FinishedRun
from ppdm_flow.engine.spark import engine, source
from ppdm_flow.engine.spark.farm import Farm
from ppdm_flow.engine.spark.session import opened_session
from ppdm_flow.python.result import released_table

ROOT = Path(__file__).resolve().parents[2]
FOUND_BESIDE = {"adult": "adult_uci/adult.data.gz", "arx_adult": "arx_adult/adult.csv.gz", "crx": "crx/crx.data"}
"""Data of policies that name none, in the folder of public datasets."""
FRAGMENT_ROWS, PART_ROWS, ROW_GROUP = 3000, 4096, 2500
EXECUTOR, DRIVER = "executor", "driver"
ENDS = ("manifest", "publish")
MOST_RUNS = 57
"""Runs by which a figure that every tenth draw changes is told from one that none does, but for one time in 400."""


@dataclass(frozen=True)
class Point:
    """A place of a run: the ``task`` of a job by its number, or a name of ENDS; before the work, or ``after`` it."""

    job: int | str
    task: int = 0
    after: bool = False


@dataclass(frozen=True)
class Death:
    """Kills once, by the first process to reach it: ``driver`` is a process, else the executor of the task dies."""

    mark: str
    driver: int | None

    def strike(self) -> None:
        """Kill."""
        import os
        import signal
        from pathlib import Path

        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        victim = self.driver
        if victim is None:
            victim = os.getpid()
            while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{victim}/cmdline").read_bytes():
                victim = int(Path(f"/proc/{victim}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(victim, signal.SIGKILL)


@dataclass(frozen=True)
class Deadly:
    """Work, one of whose tasks kills: the one of a number, or any of a shuffle's second half."""

    work: Callable[[Any], Any]
    death: Death
    task: int | None
    after: bool

    def __call__(self, task: Any) -> Any:
        """Do the work."""
        number, task = (None, task) if self.task is None else task
        if number != self.task:
            return self.work(task)
        if not self.after:
            self.death.strike()
        result = self.work(task)
        if hasattr(result, "__next__"):
            return self._through(result)
        if self.after:
            self.death.strike()
        return result

    def _through(self, results: Iterator[Any]) -> Iterator[Any]:
        yield from results
        if self.after:
            self.death.strike()


class Watched:
    """Counts the jobs of this process's run, and has one of their tasks kill."""

    def __init__(self, point: Point | None, death: Death | None) -> None:
        self.jobs: list[int] = []
        self._point = point
        self._death = death

    def install(self) -> None:
        """Watch; this process is the run's own."""
        frame, shuffled = Farm._frame, Farm.shuffled
        watched = self

        def counted(farm: Farm, work: Any, tasks: Sequence[Any], running: Any, schema: str) -> Any:
            return frame(farm, watched._deadly(work, len(tasks)), [*enumerate(tasks)], running, schema)

        def sorted_(farm: Farm, work: Any, tasks: Sequence[Any], parts: int, finish: Any) -> Any:
            return shuffled(farm, work, tasks, parts, watched._second_half(finish))

        Farm._frame, Farm.shuffled = counted, sorted_
        for name, owner, method in (
            ("manifest", FinishedRun, "_write_manifest"),
            ("publish", RunDirectory, "publish"),
        ):
            setattr(owner, method, self._before(name, getattr(owner, method)))

    def _deadly(self, work: Any, tasks: int) -> Any:
        self.jobs.append(tasks)
        point, task = self._point, -1
        if point is not None and point.job == len(self.jobs) - 1:
            task = point.task % tasks
        return Deadly(work, self._death or Death("", None), task, point is not None and point.after)

    def _second_half(self, finish: Any) -> Any:
        self.jobs.append(1)
        point = self._point
        if point is None or self._death is None or point.job != len(self.jobs) - 1:
            return finish
        return Deadly(finish, self._death, None, point.after)

    def _before(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **words: Any) -> Any:
            if self._point is not None and self._point.job == name and self._death is not None:
                self._death.strike()
            return real(*arguments, **words)

        return call


def child(order: dict[str, Any]) -> int:
    """Carry out a run, in a process of its own, that is killed at a point or counted."""
    small_pieces()
    point = Point(**order["point"]) if order["point"] else None
    death = Death(order["mark"], os.getpid() if order["victim"] == DRIVER else None) if point else None
    watched = Watched(point, death)
    watched.install()
    result = api.run(Path(order["policy"]), out=Path(order["out"]), workers=1, where=EngineChoice(SPARK, CLUSTER))
    print(json.dumps({"run": str(result.run_dir), "jobs": watched.jobs}))
    return 0 if result.released else 1


def small_pieces() -> None:
    """Let tables of some thousand rows have several fragments and parts."""
    source.FRAGMENT_ROWS, engine.PART_ROWS = FRAGMENT_ROWS, PART_ROWS


class Tally:
    """What came of it."""

    def __init__(self) -> None:
        self.ends: Counter[str] = Counter()
        self.faults: list[str] = []

    def take(self, what: str, faults: Sequence[str], subject: str) -> None:
        """Count one end."""
        self.ends[what] += 1
        self.faults += [f"{subject}: {fault}" for fault in faults]
        print(f"{subject}: {what}{''.join(f'; {fault}' for fault in faults)}", flush=True)

    def __str__(self) -> str:
        lines = [f"{count:6d} {what}" for what, count in sorted(self.ends.items())]
        return "\n".join([*lines, f"{len(self.faults):6d} faults", *(f"       {fault}" for fault in self.faults)])


def bundled(folder: Path) -> Path:
    """Copy the bundled policies with their data, unpacked: a packed file is one fragment."""
    place = folder / "pipelines"
    shutil.copytree(ROOT / "pipelines", place)
    for packed in (place / "data").glob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    for policy in place.rglob("*.yaml"):
        policy.write_text(policy.read_text(encoding="utf-8").replace(".csv.gz", ".csv"), encoding="utf-8")
    return place


def data_of(policy: Path, datasets: Path | None, folder: Path) -> Path | None:
    """Return the data of a policy that names none, unpacked. Raises LookupError where it is not at hand."""
    beside = FOUND_BESIDE.get(policy.stem)
    if beside is None:
        return None
    found = None if datasets is None else datasets / beside
    if found is None or not found.is_file():
        raise LookupError(beside)
    there = folder / found.name.removesuffix(".gz")
    if not there.exists():
        content = found.read_bytes()
        there.write_bytes(gzip.decompress(content) if found.suffix == ".gz" else content)
    return there


def rows_of(result: Any) -> dict[str, list[Any]]:
    """Return the rows of each release in their order, part after part."""
    planned = {release["name"]: release for release in result.document["plan"]["releases"]}
    every = result.document["releases"].items()
    return {name: released_table(result.run_dir, about, planned[name]).to_pylist() for name, about in every}


def differences(local: Any, spark: Any) -> Iterator[str]:
    """Yield what is not the same of two runs of one seed."""
    for part in ("verdict", "metrics", "requirements", "findings"):
        if local.document[part] != spark.document[part]:
            yield f"other {part}"
    if local.released and rows_of(local) != rows_of(spark):
        yield "other rows"


def changed_figures(local: Sequence[Any], spark: Any) -> Iterator[str]:
    """Yield what is not the same of what local runs of a sealed policy agree on."""
    first, *others = (run.document["metrics"] for run in local)
    fixed = {name: figure for name, figure in first.items() if all(other.get(name) == figure for other in others)}
    if {run.verdict for run in local} == {local[0].verdict} and spark.verdict != local[0].verdict:
        yield "other verdict"
    there = spark.document["metrics"]
    yield from (f"other {name}" for name, figure in fixed.items() if there.get(name) != figure)


def compare_policies(folder: Path, datasets: Path | None, tally: Tally, only: Sequence[str]) -> None:
    """Run every bundled policy by both engines, on one session."""
    place = bundled(folder)
    small_pieces()
    with opened_session(CLUSTER, "campaign") as session:
        there = EngineChoice(SPARK, session=session)
        for policy in sorted(place.glob("*.yaml")):
            if only and policy.stem not in only:
                continue
            started = time.monotonic()
            try:
                data = data_of(policy, datasets, folder)
                what, faults = compared(policy, data, there, folder)
            except LookupError as missing:
                what, faults = f"not run, there is no {missing}", []
            except PpdmError as error:
                what, faults = "ended with an error", [f"{d.code}: {d.message}" for d in error.diagnostics]
            tally.take(what, faults, f"{policy.stem} ({time.monotonic() - started:.0f} s)")


def compared(policy: Path, data: Path | None, there: EngineChoice, folder: Path) -> tuple[str, list[str]]:
    """Return what came of a policy with a seed and without, and what differs."""
    text = policy.read_text(encoding="utf-8")
    sealed = "\nrandomness:" not in text
    out = folder / "runs"

    def ran(where: EngineChoice) -> Any:
        return api.run(policy, data=data, out=out, where=where)

    faults: list[str] = []
    if sealed:
        as_it_stands, on_spark = [ran(HERE) for _ in range(3)], ran(there)
        while len(as_it_stands) < MOST_RUNS and list(changed_figures(as_it_stands, on_spark)):
            as_it_stands += [ran(HERE) for _ in range(9)]  # a draw may change a figure in one run out of many
        faults += (f"sealed: {fault}" for fault in changed_figures(as_it_stands, on_spark))
        policy.write_text(f"{text}\n{SEED}", encoding="utf-8")
    how = "rows and figures"
    try:
        faults += differences(ran(HERE), ran(there))
    except PolicyError:
        if not sealed:
            raise
        how = "figures alone, since its template lets nobody have a seed"
    policy.write_text(text, encoding="utf-8")
    shutil.rmtree(out)
    return f"the same {how}" if not faults else "not the same", faults


class Kills:
    """Runs of one policy in processes of their own."""

    def __init__(self, folder: Path, java: dict[str, str], tally: Tally) -> None:
        self._folder = folder
        self._java = java
        self._tally = tally
        self._number = 0
        self._policy = folder / "hospital.yaml"
        text = (ROOT / "pipelines/hospital.yaml").read_text(encoding="utf-8")
        self._policy.write_text(text.replace("hospital.csv.gz", "hospital.parquet") + f"\n{SEED}", encoding="utf-8")
        (folder / "data").mkdir()
        table = pc.read_csv(ROOT / "pipelines/data/hospital.csv.gz")
        pq.write_table(table, folder / "data/hospital.parquet", row_group_size=ROW_GROUP)
        status, told, _ = self._run(folder / "whole", None, "", "")
        if status:
            raise SystemExit(f"what is to be killed does not even end by itself: {told}")
        self._bytes = released_bytes(Path(told["run"]))
        self._points = [Point(job, task) for job, tasks in enumerate(told["jobs"]) for task in range(tasks)]
        print(f"{len(told['jobs'])} jobs, {len(self._points)} tasks, {len(self._bytes)} released files", flush=True)

    def executors(self, count: int) -> None:
        """Kill an executor at that many points."""
        for point in self._spread(count):
            started, out, mark = time.monotonic(), self._out(), self._mark()
            status, told, _ = self._run(out, point, EXECUTOR, mark)
            faults = [] if Path(mark).exists() else ["nothing was killed"]
            if status:
                faults.append(f"the run ended with {status}: {told}")
            elif released_bytes(Path(told["run"])) != self._bytes:
                faults.append("other bytes")
            faults += hidden(out)
            self._tally.take("executor killed", faults, f"{told_of(point)} ({time.monotonic() - started:.0f} s)")

    def drivers(self, count: int) -> None:
        """Kill the driver at that many points, and run again."""
        for point in [*self._spread(count - len(ENDS)), *map(Point, ENDS)]:
            started, out, mark = time.monotonic(), self._out(), self._mark()
            status, _, killed = self._run(out, point, DRIVER, mark)
            faults = [] if status == -signal.SIGKILL else [f"the run ended with {status}"]
            left = list((out / "hospital").iterdir())
            faults += [] if left else ["it left nothing, so it was not killed at work"]
            faults += looks_released(left)
            status, told, after = self._run(out, None, "", "")
            if status:
                faults.append(f"the next run ended with {status}: {told}")
            elif released_bytes(Path(told["run"])) != self._bytes:
                faults.append("the next run has other bytes")
            faults += hidden(out)
            faults += [f"{len(alive)} processes are left" for alive in [still_alive((killed, after))] if alive]
            self._tally.take("driver killed", faults, f"{told_of(point)} ({time.monotonic() - started:.0f} s)")

    def _spread(self, count: int) -> list[Point]:
        step = len(self._points) / max(1, count)
        chosen = [self._points[int((i + 0.5) * step)] for i in range(count)]
        return [Point(p.job, p.task, after=i % 2 == 1) for i, p in enumerate(chosen)]

    def _out(self) -> Path:
        self._number += 1
        return self._folder / f"out-{self._number}"

    def _mark(self) -> str:
        return str(self._folder / f"killed-{self._number}-{time.monotonic_ns()}")

    def _run(self, out: Path, point: Point | None, victim: str, mark: str) -> tuple[int, Any, int]:
        order = {"policy": str(self._policy), "out": str(out), "victim": victim, "mark": mark}
        order["point"] = None if point is None else asdict(point)
        words = [str(Path(__file__).resolve()), "--child", json.dumps(order)]
        run = Started(words, self._java, ignore_lines)
        status, out_ = run.ended()
        told = json.loads(out_.splitlines()[-1]) if status == 0 else "".join(run.lines)[-2000:]
        return status, told, run.process.pid


def released_bytes(run: Path) -> dict[str, str]:
    """Return the hash of every released file."""
    place = run / "released"
    return {p.relative_to(place).as_posix(): sha256(p) for p in sorted(place.rglob("*")) if p.is_file()}


def looks_released(left: Sequence[Path]) -> Iterator[str]:
    """Yield what might be taken for a release."""
    for run in left:
        if (run / "released").exists():
            yield f"{run.name} has a folder `released`"
        outcome = api.verify(run)
        if outcome.holds or "not published" not in outcome.text:
            yield f"verify says of {run.name}: {outcome.text}"


def hidden(out: Path) -> list[str]:
    """Return the hidden folders, or runs that are more than one."""
    places = [p.name for p in (out / "hospital").iterdir()]
    faults = [f"{name} is still there" for name in places if name.startswith(".")]
    return faults if len(places) == 1 else [*faults, f"{len(places)} runs"]


def still_alive(sessions: Sequence[int]) -> list[int]:
    """Return the processes of these sessions that do not end within a minute."""
    for _ in range(60):
        told = subprocess.run(["ps", "-eo", "pid,sid"], capture_output=True, text=True, check=True).stdout
        alive = [int(pid) for pid, sid in map(str.split, told.splitlines()[1:]) if int(sid) in sessions]
        if not alive:
            return []
        time.sleep(1)
    return alive


def told_of(point: Point) -> str:
    """Return a point for people."""
    if isinstance(point.job, str):
        return f"before {point.job}"
    return f"job {point.job}, task {point.task}, {'after' if point.after else 'before'} its work"


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=("policies", "executors", "drivers", "all"), default="all")
    parser.add_argument("--policy", action="append", default=[], help="compare only this one, by its name")
    parser.add_argument("--points", type=int, default=10, help="how many kills of executors, and of drivers")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        return child(asked.child)
    java = java_environment()
    if java is None:
        print("there is no Java")
        return 2
    os.environ |= {**java, "CLINIC_KEY": "0123456789abcdef0011223344556677"}
    datasets = os.environ.get("PPDM_DATA")
    tally, started = Tally(), time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.what in ("policies", "all"):
            compare_policies(folder, Path(datasets) if datasets else None, tally, asked.policy)
        if asked.what in ("executors", "drivers", "all"):
            kills = Kills(folder, java, tally)
            if asked.what != "drivers":
                kills.executors(asked.points)
            if asked.what != "executors":
                kills.drivers(asked.points)
    print(f"{tally}\n{time.monotonic() - started:.0f} s")
    return int(bool(tally.faults))


if __name__ == "__main__":
    sys.exit(main())
