"""Minimal sample uniques of Adult in time and memory: by the largest size, and by rows.

    python tests/benchmarks/special_uniques.py [--data DIR] [--json FILE]

``cold`` is one process from its start, with all kernels compiled anew; the others are warm and look at the search
alone. ``copies`` are the table several times over, with one cell in twenty redrawn from its column.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measuring import ROOT, Row, Sheet, timed
from searches import SEED, _read

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.uniques.special import SpecialUniques, minimal_sample_uniques
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table

REDRAWN = 0.05
LARGEST = 5
GROWN = (2, 8, 33)
AT = 4


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--json", type=Path)
    words.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    chosen = words.parse_args()
    file = chosen.data / "arx_adult/adult.csv.gz"
    if chosen.once:
        found(counted(adult(file)), AT)
        return
    sheet = Sheet()
    sheet.head()
    for row in (cold(chosen.data), *curve(adult(file))):
        sheet.add(row)
    sheet.write(chosen.json)


def adult(file: Path) -> Table:
    columns = _read(file)
    return Table.of({name: list(map(str, columns[name].to_pylist())) for name in columns.column_names})


def counted(table: Table) -> Counts:
    return count(table, table.names)


def found(counts: Counts, size: int) -> SpecialUniques:
    return minimal_sample_uniques(counts, [(name,) for name in counts.columns], size, Nulls.OWN_CATEGORY)


def cold(data: Path) -> Row:
    """A new process that finds no compiled code."""
    with tempfile.TemporaryDirectory() as empty:
        spent = timed("env", f"NUMBA_CACHE_DIR={empty}", sys.executable, __file__, "--data", data, "--once", cwd=ROOT)
    return Row(f"cold.size{AT}", 30_162, spent.seconds, spent.peak_mb, "reading and compiling included", cpu=spent.cpu)


def curve(table: Table) -> Iterator[Row]:
    counts = counted(table)
    found(counts, 1)
    for size in range(1, LARGEST + 1):
        yield _row(f"adult.size{size}", counts, size)
    for times in GROWN:
        yield _row(f"copies{times}.size{AT}", counted(copies(table, times)), AT)


def copies(table: Table, times: int) -> Table:
    rng = np.random.default_rng(SEED)
    columns = {}
    for name in table.names:
        codes = np.tile(table[name].codes, times)
        drawn = rng.random(len(codes)) < REDRAWN
        codes[drawn] = rng.choice(table[name].codes, int(drawn.sum()))
        columns[name] = Column(codes, table[name].categories)
    return Table(columns, np.arange(times * len(table), dtype=np.int64))


def _row(name: str, counts: Counts, size: int) -> Row:
    cpu, wall = time.process_time(), time.perf_counter()
    uniques = found(counts, size)
    seconds = time.perf_counter() - wall
    note = f"{uniques.share(size):.1%} singled out, {int(uniques.by_row.sum()):,} minimal sets"
    return Row(name, counts.total, seconds, 0, note, cpu=time.process_time() - cpu)


if __name__ == "__main__":
    main()
