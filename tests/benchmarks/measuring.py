"""What all benchmarks measure alike: processes with their peak memory, rows of a table, the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Row:
    """``ratio`` is the time over that of ``baseline``, measured in the same run."""

    id: str
    rows: int
    seconds: float
    peak_mb: float
    baseline: str = ""
    ratio: float | None = None


@dataclass
class Sheet:
    """Rows, printed as they come."""

    wide: int = 28
    rows: list[Row] = field(default_factory=list)

    def head(self) -> None:
        print(machine())
        print(f"{'id':<{self.wide}} {'rows':>11} {'seconds':>9} {'peak MB':>8} {'ratio':>8}  baseline", flush=True)

    def add(self, row: Row) -> None:
        self.rows.append(row)
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        line = (
            f"{row.id:<{self.wide}} {row.rows:>11} {row.seconds:>9.3f} {row.peak_mb:>8.0f} {ratio:>8}  {row.baseline}"
        )
        print(line.rstrip(), flush=True)

    def write(self, path: Path | None) -> None:
        if path is not None:
            path.write_text(json.dumps([asdict(row) for row in self.rows], indent=2) + "\n")


def timed(*words: str | Path, cwd: Path) -> tuple[float, float]:
    """Run one process: seconds, and megabytes of peak resident memory. What it prints is thrown away."""
    started = time.perf_counter()
    command = list(map(str, words))
    process = subprocess.Popen(
        command, cwd=cwd, env={**os.environ, "NO_COLOR": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    said = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{said.decode(errors='replace')}")
    return seconds, usage.ru_maxrss / 1024


def best(repeats: int, *words: str | Path, cwd: Path) -> tuple[float, float]:
    return min(timed(*words, cwd=cwd) for _ in range(repeats))


def flow(*words: str | Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "ppdm_flow", *map(str, words))


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in info if "model name" in line), platform.processor())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}"
