"""Transactions to reproduce with: generated ones of the paper's sizes, and public ones."""

from __future__ import annotations

import gzip
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pipelines/data"))

from quest import MAILORDER, SOCCER, quest

from ppdm_flow.tables.sets import Baskets, gathered

QUEST = {"soccer": (SOCCER, 693), "mailorder": (MAILORDER, 263)}
FILES = {
    "retail": "fimi/retail.dat.gz",
    "bms1": "fimi/BMS-WebView-1.dat.gz",
    "bms2": "fimi/BMS-WebView-2.dat.gz",
    "fifa": "fifa/FIFA_raw_31602.dat.gz",
    "faers": "faers/faers_2022q3_cases.dat.gz",
}
LONGEST = 10
"""Longer transactions are left out, as the paper does with soccer."""
PART = 1 << 15


@dataclass(frozen=True)
class Transactions:
    """``parts`` are blocks of them over one alphabet; ``left_out`` says what the original file had beyond."""

    name: str
    parts: list[Baskets]
    left_out: str = ""

    @property
    def rows(self) -> int:
        return sum(map(len, self.parts))

    @property
    def items(self) -> int:
        return len(self.parts[0].categories)

    @property
    def numbers(self) -> dict[int, int]:
        """Size -> number of transactions, for sizes that occur."""
        found = np.bincount(np.concatenate([part.sizes for part in self.parts]))
        return {int(m): int(found[m]) for m in np.flatnonzero(found)}

    @property
    def starts(self) -> list[int]:
        return np.cumsum([0, *map(len, self.parts)]).tolist()

    def __str__(self) -> str:
        mean = sum(m * n for m, n in self.numbers.items()) / self.rows
        size = f"{self.rows:,} transactions, {self.items:,} items, {max(self.numbers)} at most in one, {mean:.2f} on"
        return f"{self.name}: {size} average{'; ' if self.left_out else ''}{self.left_out}"


def transactions(name: str, data: Path, scale: float = 1.0, most: float = 1.0) -> Transactions:
    """Return the set of that name; ``scale`` of its rows if it is generated.

    From files, items of more than the share ``most`` of the rows are left out, longer transactions, and empty ones.
    """
    if name in QUEST:
        wanted, key = QUEST[name]
        return Transactions(name, list(quest(replace(wanted, rows=round(wanted.rows * scale)), key)))
    every = _read(data / FILES[name])
    common = every.counts() > most * len(every)
    rows, said = len(every), []
    if common.any():
        code_map = np.where(common, -1, np.arange(len(common))).astype(np.int32)
        every = every.mapped(code_map, every.categories)
        said.append(f"{int(common.sum())} items that more than {most:.0%} of them have are left out")
    kept = every.take((every.sizes >= 1) & (every.sizes <= LONGEST)).compact()
    said.append(f"{rows - len(kept):,} of {rows:,} of more than {LONGEST} items or none are left out")
    return Transactions(name, [kept.take(slice(i, i + PART)) for i in range(0, len(kept), PART)], "; ".join(said))


def _read(path: Path) -> Baskets:
    """Read a line of item numbers for each transaction; what a line repeats counts once."""
    with gzip.open(path, "rb") as file:
        lines = [line for line in file.read().split(b"\n") if line.strip()]
    numbers = np.fromstring(b" ".join(lines), dtype=np.int64, sep=" ")
    lengths = [len(line.split()) for line in lines]
    distinct, codes = np.unique(numbers, return_inverse=True)
    names = pa.array([str(i) for i in distinct.tolist()], pa.string())
    return gathered(np.repeat(np.arange(len(lines)), lengths), codes, len(lines), names)[0]
