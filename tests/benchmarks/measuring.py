"""What all benchmarks measure alike: processes with their peak memory, rows of a table, the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Row:
    """``ratio`` is the time over that of ``baseline``, measured in the same run.

    ``cpu`` are the processor's seconds, over all cores: what a busy machine changes least.
    """

    id: str
    rows: int
    seconds: float
    peak_mb: float
    baseline: str = ""
    ratio: float | None = None
    cpu: float | None = None


@dataclass(frozen=True, order=True)
class Spent:
    """What one process took; ``peak_mb`` is its resident memory, ``user`` what of ``cpu`` is not the kernel's."""

    seconds: float
    cpu: float
    peak_mb: float
    user: float = 0.0


@dataclass
class Sheet:
    """Rows, printed as they come."""

    wide: int = 28
    rows: list[Row] = field(default_factory=list)

    def head(self) -> None:
        print(machine())
        self._line("id", "rows", "seconds", "CPU", "peak MB", "ratio", "baseline")

    def add(self, row: Row) -> None:
        self.rows.append(row)
        cpu = "" if row.cpu is None else f"{row.cpu:.2f}"
        peak = f"{row.peak_mb:.0f}" if row.peak_mb else ""
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        self._line(row.id, str(row.rows), f"{row.seconds:.3f}", cpu, peak, ratio, row.baseline)

    def _line(self, name: str, *cells: str) -> None:
        *figures, last = cells
        widths = (11, 9, 8, 8, 8)
        line = " ".join(f"{cell:>{w}}" for cell, w in zip(figures, widths, strict=True))
        print(f"{name:<{self.wide}} {line}  {last}".rstrip(), flush=True)

    def write(self, path: Path | None) -> None:
        if path is not None:
            path.write_text(json.dumps([asdict(row) for row in self.rows], indent=2) + "\n")


def timed(*words: str | Path, cwd: Path, compiled: Path | None = None, answers: Collection[int] = (0,)) -> Spent:
    """Run one process. What it prints is thrown away, unless it fails: ends with a code that is none of ``answers``.

    Compiled modules are kept in the folder ``compiled``, also where our own environment says to keep none: a package
    that was installed has them.
    """
    chosen = {**os.environ, "NO_COLOR": "1"}
    if compiled is not None and chosen.pop("PYTHONDONTWRITEBYTECODE", ""):
        chosen["PYTHONPYCACHEPREFIX"] = str(compiled)
    started = time.perf_counter()
    command = list(map(str, words))
    process = subprocess.Popen(command, cwd=cwd, env=chosen, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in answers:
        sys.exit(f"failed: {' '.join(command)}\n{said.decode(errors='replace')}")
    return Spent(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, usage.ru_utime)


def best(repeats: int, *words: str | Path, cwd: Path) -> Spent:
    return min(timed(*words, cwd=cwd) for _ in range(repeats))


def flow(*words: str | Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "ppdm_flow", *map(str, words))


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in info if "model name" in line), platform.processor())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}"
