"""What columns of many different texts cost, and files of text: from file to release, beside what Arrow takes.

    python tests/benchmarks/texts.py [--rows 250000 500000 1000000 2000000] [--long 5000000] [--turns 3] [--json FILE]

``different.*``: two columns, one with another text in each row, shuffled and released, as Parquet and as CSV. The
baseline is Arrow reading the file, putting the rows into another order and writing them.
``long.csv``: three columns of few values, of which two are to be k-anonymous: each requirement is measured again by SQL
on the released file. The baseline is the same by Arrow, and DuckDB grouping the written file once.

``ratio`` is the wall time over the baseline's, medians of some turns that take both in their turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from measuring import Row, Sheet, Spent, flow, timed

GROUPS = 12
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
LENGTH = 12
POLICY = """version: 1
name: texts
source: {path: table.FORMAT}
attributes:
  text: {role: insensitive}
  group: {role: insensitive}
steps: {order: {use: shuffle_rows}}
releases: {out: {path: out.FORMAT}}
"""
LONG = """version: 1
name: long
source: {path: table.csv}
attributes:
  a: {role: quasi_identifier}
  b: {role: quasi_identifier}
  c: {role: insensitive}
privacy: {k_anonymity: {default: {k: 2}}}
steps: {order: {use: shuffle_rows}}
releases: {out: {path: out.csv}}
"""
PARQUET = """
import numpy as np, pyarrow as pa, pyarrow.parquet as q
read = q.read_table('table.parquet')
order = np.random.default_rng(1).permutation(len(read))
q.write_table(read.take(pa.array(order)), 'floor.parquet', compression='zstd')
"""
CSV = """
import numpy as np, pyarrow as pa, pyarrow.csv as c
read = c.read_csv('table.csv')
order = np.random.default_rng(1).permutation(len(read))
c.write_csv(read.take(pa.array(order)), 'floor.csv')
"""
GROUPED = (
    CSV
    + """
import duckdb
duckdb.sql("SELECT a, b, count(*) FROM read_csv('floor.csv', all_varchar=true) GROUP BY ALL").fetchall()
"""
)


def different(rows: int) -> pa.Table:
    """Return a table with another text in each row."""
    generator = np.random.default_rng(7)
    letters = generator.integers(0, len(LETTERS), (rows + rows // 100, LENGTH))
    texts = np.unique(LETTERS[letters].view(f"S{LENGTH}").ravel())[:rows]
    generator.shuffle(texts)
    groups = generator.integers(0, GROUPS, rows)
    return pa.table({"text": pa.array(texts.astype(str)), "group": pa.array(np.char.add("group ", groups.astype(str)))})


def few(rows: int) -> pa.Table:
    """Return a table of three columns with few values each."""
    generator = np.random.default_rng(7)
    names = pa.array([f"group {v}" for v in range(GROUPS)])
    columns = (pa.DictionaryArray.from_arrays(pa.array(generator.integers(0, GROUPS, rows)), names) for _ in "abc")
    return pa.table({name: column.dictionary_decode() for name, column in zip("abc", columns, strict=True)})


def write(make: Callable[[int], pa.Table], rows: int, path: Path) -> None:
    """Write a table as the end of the path says, in a process of its own: what ours holds counts as its children's."""
    with ProcessPoolExecutor(1) as pool:
        pool.submit(_written, make, rows, path).result()


def _written(make: Callable[[int], pa.Table], rows: int, path: Path) -> None:
    table = make(rows)
    if path.suffix == ".csv":
        pc.write_csv(table, path)
    else:
        pq.write_table(table, path, compression="zstd")


def measured(folder: Path, name: str, rows: int, policy: str, floor: str, turns: int) -> Iterator[Row]:
    """Yield a row for the baseline and one for the run, medians of the turns."""
    (folder / "policy.yaml").write_text(policy)
    spent = partial(timed, cwd=folder, compiled=folder / "compiled")
    words = (sys.executable, "-c", floor), flow("run", folder / "policy.yaml", "--out", folder / "runs", "--quiet")
    turned = [[spent(*each) for each in words] for _ in range(turns + 1)]  # the first one compiles modules
    base, run = (_median(column) for column in zip(*turned[1:], strict=True))
    yield Row(f"floor.{name}", rows, base.seconds, base.peak_mb, cpu=base.cpu)
    yield Row(name, rows, run.seconds, run.peak_mb, f"floor.{name}", run.seconds / base.seconds, run.cpu)


def _median(column: Sequence[Spent]) -> Spent:
    return Spent(
        *(statistics.median(getattr(each, field) for each in column) for field in ("seconds", "cpu", "peak_mb"))
    )


def main() -> None:
    """Measure and print."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, nargs="*", default=[250_000, 500_000, 1_000_000, 2_000_000])
    words.add_argument("--long", type=int, default=5_000_000, help="rows of the long CSV; 0 leaves it out")
    words.add_argument("--turns", type=int, default=3)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet(wide=34)
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in chosen.rows:
            for suffix, floor in (("parquet", PARQUET), ("csv", CSV)):
                write(different, rows, folder / f"table.{suffix}")
                policy = POLICY.replace("FORMAT", suffix)
                for row in measured(folder, f"different.{suffix}.{rows}", rows, policy, floor, chosen.turns):
                    sheet.add(row)
        if chosen.long:
            write(few, chosen.long, folder / "table.csv")
            for row in measured(folder, f"long.csv.{chosen.long}", chosen.long, LONG, GROUPED, chosen.turns):
                sheet.add(row)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
