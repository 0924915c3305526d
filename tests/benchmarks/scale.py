"""What a run takes beside its floor as rows grow, and what a second worker is worth.

    python tests/benchmarks/scale.py [--rows 1000000 10000000 30000000] [--workers-at 10000000] [--turns 5]
                                      [--json FILE]

The policy perturbs one of ten columns and shuffles the rows, Parquet to Parquet. The floor is what cannot be left out,
done by Arrow and DuckDB with all cores: read the file, put the rows into another order, write them, and group the
written file once. ``ratio`` of a run is its wall time over the floor's of the same size; of ``workers`` it is the time
of one worker over that of two, medians of some turns that take both in their turn: one turn is off by a twentieth.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from measuring import Row, Sheet, flow, timed
from whole_path import STREAM, VALUES, row, table

FLOOR = """
import duckdb, numpy as np, pyarrow as pa, pyarrow.parquet as q
read = q.read_table('table.parquet')
order = np.random.default_rng(1).permutation(len(read))
q.write_table(read.take(pa.array(order)), 'floor.parquet', compression='zstd', row_group_size=1 << 20)
duckdb.sql("SELECT c1, c2, c3, c4, count(*) FROM 'floor.parquet' GROUP BY ALL").fetchall()
"""
_FIRST = 10_000
SHUFFLED = STREAM.replace(
    "  perturb: {use: fine_grain_perturbation}\n",
    "  perturb: {use: fine_grain_perturbation}\n  order: {use: shuffle_rows}\n",
)


def measured(folder: Path, sizes: list[int], workers_at: int, turns: int) -> Iterator[Row]:
    """Yield a row for the floor and the run of each size, and one for the workers."""
    policy = folder / "scale.yaml"
    policy.write_text(SHUFFLED.replace("DOMAIN", ", ".join(f"value {v}" for v in range(VALUES))))
    spent = partial(timed, cwd=folder, compiled=folder / "compiled")
    table(folder / "table.parquet", _FIRST)
    for words in ((sys.executable, "-c", FLOOR), flow("run", policy, "--out", folder / "runs", "--quiet")):
        spent(*words)  # compiles the modules that are imported
    for rows in sizes:
        table(folder / "table.parquet", rows)
        floor = spent(sys.executable, "-c", FLOOR)
        yield Row(f"floor.{rows}", rows, floor.seconds, floor.peak_mb, cpu=floor.cpu)
        run = spent(*flow("run", policy, "--out", folder / "runs", "--quiet"))
        yield row(f"run.{rows}", rows, run, f"floor.{rows}", floor.seconds)
        if rows == workers_at:
            turned = [
                [spent(*flow("run", policy, "--out", folder / "runs", "--quiet", "--workers", many)) for many in "12"]
                for _ in range(turns)
            ]
            one, two = (statistics.median(each.seconds for each in column) for column in zip(*turned, strict=True))
            most = max(two.peak_mb for _, two in turned)
            yield Row(f"workers.{rows}", rows, two, most, "one, over two", one / two)


def main() -> None:
    """Measure and print."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000, 30_000_000])
    words.add_argument("--workers-at", type=int, default=10_000_000)
    words.add_argument("--turns", type=int, default=5)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet(wide=20)
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        for line in measured(Path(name), chosen.rows, chosen.workers_at, chosen.turns):
            sheet.add(line)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
