"""What fine-grain perturbation costs: finding the operator, perturbing rows, a whole run from Parquet to Parquet.

    python tests/benchmarks/fine_grain.py [--only solver] [--huge [--rows 100000000]] [--json FILE]

``ratio`` is the time over that of a baseline measured in the same run: HiGHS on the full program (every pair of
values) up to 200 values and on a program of linear size up to 10,000; numpy's own generator for perturbation; Arrow
reading and writing the same file for a whole run. Times are the best of several, but for whole runs; ``peak_mb`` is
what a call allocates, for whole processes their resident memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import linprog
from scipy.sparse import coo_array

from ppdm_flow.anonymizers.fine_grain_perturbation.algorithm import PerturbTransform
from ppdm_flow.anonymizers.fine_grain_perturbation.channel import aggregate_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.optimum import optimal_retention
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import shadow_prices
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.roles import Directions
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

PARTITION = 262_144
SIZES = (40, 200, 1_000, 10_000, 100_000)
FULL, COMPACT = 200, 10_000
BATCH = 1_000_000

POLICY = """version: 1
name: huge
source: {path: table.parquet}
attributes:
  disease: {role: sensitive, domain: [DOMAIN]}
  region: {role: insensitive}
  year: {role: insensitive}
privacy:
  sensitivities:
    disease: {default: {tolerance: 5}}
steps:
  perturb: {use: fine_grain_perturbation}
releases:
  out: {path: out.parquet}
"""


@dataclass(frozen=True)
class Row:
    id: str
    rows: int
    seconds: float
    peak_mb: float
    baseline: str
    ratio: float | None


def best(work: Callable[[], object], least: float = 0.3) -> float:
    """Seconds of the quickest call, over at least ``least`` seconds of calls."""
    found, until = [], time.perf_counter() + least
    while not found or time.perf_counter() < until:
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def allocated(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def instance(size: int, regime: str) -> tuple[np.ndarray, np.ndarray]:
    """Zipf frequencies, with bounds by a tolerance of 20 or with gammas over seven orders of magnitude."""
    frequency = 1 / np.arange(1, size + 1)
    frequency /= frequency.sum()
    if regime == "spread":
        return frequency, 10 ** np.random.default_rng(size).uniform(-1, 6, size)
    room = 1 - 20 * frequency
    return frequency, np.where(room > 0, 19 / np.where(room > 0, room, 1), np.inf)


def solver() -> Iterator[Row]:
    for size in SIZES:
        for regime in ("zipf", "spread"):
            for directions in Directions:
                frequency, slack = instance(size, regime)

                def solve(f: np.ndarray = frequency, s: np.ndarray = slack, d: Directions = directions) -> np.ndarray:
                    return optimal_retention(f, s, d)

                seconds = best(solve)
                base, name = highs(frequency, slack, directions, solve())
                ratio = seconds / base if base else None
                yield Row(f"solver.{size}.{regime}.{directions}", size, seconds, allocated(solve), name, ratio)
    for size in (40, 1_000):
        frequency, slack = instance(size, "zipf")
        record = optimal_retention(frequency, slack, Directions.BOTH)
        once = best(lambda: optimal_retention(frequency, slack, Directions.BOTH))  # noqa: B023 - called at once
        r2 = np.where(np.isfinite(slack), 20 * frequency, np.nan)
        parts: dict[str, Callable[[], object]] = {
            "prices": lambda: shadow_prices(frequency, slack, r2, Directions.BOTH, record),  # noqa: B023 - as above
            "aggregate": lambda: aggregate_retention(frequency, slack, Directions.BOTH),  # noqa: B023 - as above
        }
        for name, work in parts.items():
            seconds = best(work)
            yield Row(f"{name}.{size}", size, seconds, allocated(work), "one record optimum", seconds / once)


def highs(
    frequency: np.ndarray, slack: np.ndarray, directions: Directions, ours: np.ndarray
) -> tuple[float | None, str]:
    """Seconds that HiGHS takes, and on what; the two optima have to agree."""
    size = len(frequency)
    if size > COMPACT:
        return None, ""
    matrix, limit = full(slack, directions) if size <= FULL else compact(slack, directions)
    cost = np.concatenate([-frequency, np.zeros(matrix.shape[1] - size)])
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    started = time.perf_counter()
    found = linprog(cost, A_ub=matrix.tocsr(), b_ub=limit, bounds=(0, 1), method="highs", options=tight)
    seconds = time.perf_counter() - started
    apart = -found.fun - frequency @ ours
    if found.status != 0 or abs(apart) > 1e-9:
        print(f"HiGHS differs at {size} values by {apart:.1e}, status {found.status}", file=sys.stderr)
    return seconds, "HiGHS, full" if size <= FULL else "HiGHS, compact"


def lines(slack: np.ndarray, directions: Directions) -> list[tuple[np.ndarray, np.ndarray]]:
    """The constraints own p_j + other max p_i <= gamma - 1 of the values with a bound."""
    gamma, rest = slack[np.isfinite(slack)] + 1, np.full(int(np.isfinite(slack).sum()), len(slack) - 1.0)
    return [(rest, gamma), (gamma, rest)][: 2 if directions is Directions.BOTH else 1]


def full(slack: np.ndarray, directions: Directions) -> tuple[coo_array, np.ndarray]:
    bounded, size = np.flatnonzero(np.isfinite(slack)), len(slack)
    j = np.repeat(bounded, size - 1)
    i = np.concatenate([np.delete(np.arange(size), b) for b in bounded])
    blocks = []
    for own, other in lines(slack, directions):
        scale = np.maximum(own, other)
        blocks.append([np.repeat(v / scale, size - 1) for v in (own, other, slack[bounded])])
    own, other, limit = (np.concatenate([b[k] for b in blocks]) for k in range(3))
    number, count = np.arange(len(limit)), len(blocks)
    places = (np.concatenate([number, number]), np.concatenate([np.tile(j, count), np.tile(i, count)]))
    return coo_array((np.concatenate([own, other]), places), (len(limit), size)), limit


def compact(slack: np.ndarray, directions: Directions) -> tuple[coo_array, np.ndarray]:
    """Largest others by running maxima from both ends: x holds p, the maxima to the left, those to the right."""
    size, bounded = len(slack), np.flatnonzero(np.isfinite(slack))
    p, left, right = (np.arange(size) + k * size for k in range(3))
    rows = [(p, left), (left[:-1], left[1:]), (p, right), (right[1:], right[:-1])]
    parts = [(a, b, np.ones(len(a)), -np.ones(len(a)), np.zeros(len(a))) for a, b in rows]
    for own, other in lines(slack, directions):
        scale = np.maximum(own, other)
        for side, near in ((left, bounded - 1), (right, bounded + 1)):
            there = (near >= 0) & (near < size)
            weights = [(v / scale)[there] for v in (own, other, slack[bounded])]
            parts.append((p[bounded[there]], side[near[there]], *weights))
    first, second, one, two, limit = (np.concatenate([part[k] for part in parts]) for k in range(5))
    number = np.arange(len(limit))
    places = (np.concatenate([number, number]), np.concatenate([first, second]))
    return coo_array((np.concatenate([one, two]), places), (len(limit), 3 * size)), limit


def perturbation(rows: int = 10_000_000, values: int = 1_000) -> Iterator[Row]:
    for threads in (1, 2):
        for count in (rows // 4, rows):
            seconds, base, peak = json.loads(child("perturb", str(count), str(values), str(threads)))
            yield Row(f"perturb.{count}.{threads}_threads", count, seconds, peak, "numpy, PCG64", seconds / base)


def child(*words: str) -> str:
    done = subprocess.run([sys.executable, __file__, "--child", *words], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def perturb(rows: int, values: int, threads: int) -> None:
    """Perturb ``rows`` rows a partition at a time; prints seconds, the baseline's seconds, and the process's peak."""
    frequency, slack = instance(values, "zipf")
    operator = Operator("d", tuple(map(str, range(values))), optimal_retention(frequency, slack, Directions.BOTH))
    transform = PerturbTransform("perturb", (operator,))
    draws = Draws(RunKey.from_seed("benchmark").step("perturb"), transform.draws_per_row)
    generator = np.random.default_rng(1)
    codes = generator.choice(values, PARTITION, p=frequency).astype(np.int32)
    names = pa.array(operator.domain, pa.string())

    def one(start: int) -> int:
        size = min(PARTITION, rows - start)
        table = Table({"d": Column(codes[:size], names)}, np.arange(start, start + size))
        return len(transform.apply(table, draws)["d"].codes)

    def plain(start: int) -> int:
        size = min(PARTITION, rows - start)
        kept = generator.random(size) < operator.retention[codes[:size]]
        return len(np.where(kept, codes[:size], generator.integers(values, size=size, dtype=np.int32)))

    def every() -> None:
        with ThreadPoolExecutor(threads) as pool:
            if sum(pool.map(one, range(0, rows, PARTITION))) != rows:
                raise AssertionError

    seconds = best(every, 2.0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    base = best(lambda: sum(map(plain, range(0, rows, PARTITION))), 2.0)
    print(json.dumps([seconds, base, peak]))


def table(path: Path, rows: int, values: int) -> None:
    generator = np.random.default_rng(7)
    share, _ = instance(values, "zipf")
    names = [pa.array([f"disease {v}" for v in range(values)]), pa.array([f"region {v}" for v in range(50)])]
    names.append(pa.array([str(v) for v in range(1990, 2020)]))
    columns = ("disease", "region", "year")
    schema = pa.schema([(c, pa.dictionary(pa.int16(), pa.string())) for c in columns])
    edges = np.cumsum(share)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, rows, BATCH):
            size = min(BATCH, rows - start)
            codes = [np.minimum(np.searchsorted(edges, generator.random(size)), values - 1)]
            codes += [generator.integers(len(n), size=size) for n in names[1:]]
            arrays = [
                pa.DictionaryArray.from_arrays(pa.array(c.astype(np.int16)), n)
                for c, n in zip(codes, names, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def huge(rows: int, values: int = 1_000) -> Iterator[Row]:
    """One whole run, audits and all, and Arrow copying the same file. The folder is removed afterwards."""
    copy = (
        "import pyarrow.parquet as q\n"
        "f = q.ParquetFile('table.parquet')\n"
        "w = q.ParquetWriter('copy.parquet', f.schema_arrow, compression='zstd')\n"
        "[w.write_batch(b) for b in f.iter_batches(262144)]\n"
        "w.close()\n"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table(folder / "table.parquet", rows, values)
        domain = ", ".join(f"disease {v}" for v in range(values))
        (folder / "huge.yaml").write_text(POLICY.replace("DOMAIN", domain))
        seconds, peak = timed(
            sys.executable, "-m", "ppdm_flow", "run", "huge.yaml", "--out", "runs", cwd=folder, quiet=False
        )
        base, _ = timed(sys.executable, "-c", copy, cwd=folder)
        yield Row(f"huge.{rows}", rows, seconds, peak, "Arrow, Parquet to Parquet", seconds / base)


def timed(*words: str, cwd: Path, quiet: bool = True) -> tuple[float, float]:
    """Run one process: seconds, and megabytes of peak resident memory."""
    started = time.perf_counter()
    process = subprocess.Popen(words, cwd=cwd, stdout=sys.stderr, stderr=subprocess.DEVNULL if quiet else None)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {' '.join(words)}")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in info if "model name" in line), platform.processor())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--only", choices=("solver", "perturb", "huge"))
    words.add_argument("--huge", action="store_true", help="a whole run on a table of --rows rows, too")
    words.add_argument("--rows", type=int, default=100_000_000)
    words.add_argument("--json", type=Path)
    words.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    chosen = words.parse_args()
    if chosen.child:
        perturb(*map(int, chosen.child[1:]))
        return
    print(machine())
    print(f"{'id':<28} {'rows':>11} {'seconds':>11} {'peak MB':>8} {'ratio':>9}  baseline")
    parts: dict[str, Callable[[], Iterator[Row]]] = {"solver": solver, "perturb": perturbation}
    if chosen.huge or chosen.only == "huge":
        parts["huge"] = lambda: huge(chosen.rows)
    found = []
    for name, part in parts.items():
        if chosen.only in (None, name):
            for row in part():
                found.append(row)
                ratio = "" if row.ratio is None else f"{row.ratio:.4f}"
                print(
                    f"{row.id:<28} {row.rows:>11} {row.seconds:>11.6f} {row.peak_mb:>8.1f} {ratio:>9}  {row.baseline}",
                    flush=True,
                )
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in found], indent=2) + "\n")


if __name__ == "__main__":
    main()
