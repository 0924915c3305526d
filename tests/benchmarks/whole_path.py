"""What the whole path costs: check, run, perturbation from Parquet to Parquet, CSV reading.

    python tests/benchmarks/whole_path.py [--data ../shared/data] [--only stream] [--largest 10000000] [--json FILE]

Each row is one process, timed from start to exit, with the peak of its resident memory; ``ratio`` is its time over that
of a baseline measured in the same run: an empty Python process, or Arrow reading and writing the same file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 10
VALUES = 12
BATCH = 1_000_000

STREAM = """version: 1
name: stream
source: {path: table.parquet}
attributes:
  c0: {role: sensitive, domain: [DOMAIN]}
  "c*": {role: insensitive}
privacy:
  sensitivities:
    c0: {default: {tolerance: 4}}
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
    ratio: float


def timed(*words: str, cwd: Path) -> tuple[float, float]:
    """Run one process: seconds, and megabytes of peak resident memory."""
    started = time.perf_counter()
    process = subprocess.Popen(words, cwd=cwd, env={**os.environ, "NO_COLOR": "1"}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {' '.join(words)}")
    return seconds, usage.ru_maxrss / 1024


def best(repeats: int, *words: str, cwd: Path) -> tuple[float, float]:
    return min(timed(*words, cwd=cwd) for _ in range(repeats))


def flow(*words: str | Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "ppdm_flow", *map(str, words))


def long_policy(folder: Path, lines: int = 300) -> Path:
    """The worked hospital policy, grown to ``lines`` lines by more attributes and templates."""
    text = (ROOT / "pipelines/hospital.yaml").read_text()
    more = (lines - text.count("\n")) // 6
    attributes = "".join(f"  extra{i}:\n    role: quasi_identifier\n" for i in range(more))
    templates = "".join(
        f"    more-{i}:\n      channel: [extra{i}, sex]\n      sensitive: {{payment: [charity]}}\n"
        f"      confidence: 0.{i % 80 + 10}\n"
        for i in range(more)
    )
    text = text.replace("  disease:\n    role: sensitive\n", attributes + "  disease:\n    role: sensitive\n", 1)
    text = text.replace("  # Whoever gives", templates + "  # Whoever gives", 1)
    path = folder / "long.yaml"
    path.write_text(text)
    return path


def checks(folder: Path) -> Iterator[Row]:
    empty, _ = best(5, sys.executable, "-c", "pass", cwd=folder)
    for name, policy in (("small", ROOT / "pipelines/bank_credit.yaml"), ("300_lines", long_policy(folder))):
        seconds, peak = best(5, *flow("check", policy), cwd=folder)
        yield Row(f"check.{name}", policy.read_text().count("\n"), seconds, peak, "empty process", seconds / empty)


def adult(folder: Path, data: Path) -> Iterator[Row]:
    file = data / "adult_uci/adult.data.gz"
    if not file.exists():
        print(f"adult: left out, {file} is missing", file=sys.stderr)
        return
    words = flow("run", ROOT / "pipelines/adult.yaml", "--data", file, "--out", folder / "adult")
    seconds, peak = best(3, *words, cwd=folder)
    read = f"p.read_csv({str(file)!r}, header=None, names=list('abcdefghijklmno'))"
    copy = f"import pandas as p; {read}.to_parquet('copy.parquet')"
    base, _ = best(3, sys.executable, "-c", copy, cwd=folder)
    yield Row("adult.whole", 30_162, seconds, peak, "pandas, CSV to Parquet", seconds / base)


def table(path: Path, rows: int) -> None:
    generator = np.random.default_rng(7)
    names = pa.array([f"value {v}" for v in range(VALUES)])
    weights = 1 / np.arange(1, VALUES + 1)
    schema = pa.schema([(f"c{c}", pa.dictionary(pa.int8(), pa.string())) for c in range(COLUMNS)])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, rows, BATCH):
            size = min(BATCH, rows - start)
            columns = [
                pa.DictionaryArray.from_arrays(
                    pa.array(generator.choice(VALUES, size, p=weights / weights.sum()).astype(np.int8)), names
                )
                for _ in range(COLUMNS)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def stream(folder: Path, largest: int) -> Iterator[Row]:
    policy = folder / "stream.yaml"
    policy.write_text(STREAM.replace("DOMAIN", ", ".join(f"value {v}" for v in range(VALUES))))
    copy = (
        "import pyarrow.parquet as q\n"
        "f = q.ParquetFile('table.parquet')\n"
        "w = q.ParquetWriter('copy.parquet', f.schema_arrow, compression='zstd')\n"
        "[w.write_batch(b) for b in f.iter_batches(262144)]\n"
        "w.close()\n"
    )
    for rows in (largest // 10, largest // 3, largest):
        table(folder / "table.parquet", rows)
        seconds, peak = timed(*flow("run", policy, "--out", folder / f"runs{rows}"), cwd=folder)
        base, _ = timed(sys.executable, "-c", copy, cwd=folder)
        yield Row(f"stream.{rows}", rows, seconds, peak, "Arrow, Parquet to Parquet", seconds / base)


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in info if "model name" in line), platform.processor())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    words.add_argument("--only", choices=("check", "adult", "stream"))
    words.add_argument("--largest", type=int, default=10_000_000)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    print(machine())
    print(f"{'id':<20} {'rows':>10} {'seconds':>9} {'peak MB':>8} {'ratio':>7}  baseline")
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "check": lambda: checks(folder),
            "adult": lambda: adult(folder, chosen.data.resolve()),
            "stream": lambda: stream(folder, chosen.largest),
        }
        for part, rows in parts.items():
            if chosen.only in (None, part):
                for row in rows():
                    found.append(row)
                    print(
                        f"{row.id:<20} {row.rows:>10} {row.seconds:>9.3f} {row.peak_mb:>8.0f} {row.ratio:>7.1f}"
                        f"  {row.baseline}",
                        flush=True,
                    )
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in found], indent=2))


if __name__ == "__main__":
    main()
