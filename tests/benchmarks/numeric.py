"""What typed columns cost: a whole run over a table of numbers, against Arrow reading, permuting and writing it.

    python tests/benchmarks/numeric.py [--largest 5000000] [--json FILE]

Three floats of which hardly one occurs twice, a whole number, a date and a small category; a run measures k-anonymity
and distributions, shuffles, writes, reads back and reports. Each row is one process; ``ratio`` is its user CPU over
that of the process that only reads, permutes and writes with Arrow, in the same call.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
from measuring import Row, Sheet, flow, timed

POLICY = """version: 1
name: numbers
source: {path: table.ENDING}
attributes:
  sex: {role: quasi_identifier}
  age: {role: quasi_identifier, type: integer}
  admitted: {role: insensitive, type: date}
  income: {role: insensitive, type: float}
  weight: {role: insensitive, type: float}
  amount: {role: insensitive, type: float}
privacy: {k_anonymity: {k: 5}}
audits: {shapes: {use: distributions}}
releases: {out: {path: out.ENDING}}
"""

PLAIN = {
    "csv": """import numpy, pyarrow.csv as c
t = c.read_csv('table.csv')
t = t.take(numpy.random.default_rng().permutation(len(t)))
c.write_csv(t, 'copy.csv')
""",
    "parquet": """import numpy, pyarrow.parquet as q
t = q.read_table('table.parquet')
t = t.take(numpy.random.default_rng().permutation(len(t)))
q.write_table(t, 'copy.parquet', compression='zstd')
""",
}


def table(rows: int) -> pa.Table:
    draws = np.random.default_rng(7)
    return pa.table(
        {
            "sex": pa.array(np.array(["female", "male"])[draws.integers(0, 2, rows)]),
            "age": draws.integers(18, 68, rows),
            "admitted": pa.array(draws.integers(18_000, 20_000, rows).astype(np.int32), pa.date32()),
            "income": np.round(draws.lognormal(10, 0.5, rows), 2),
            "weight": draws.normal(70, 12, rows),
            "amount": draws.exponential(1000, rows),
        }
    )


def runs(folder: Path, largest: int) -> Iterator[Row]:
    for rows in (largest // 10, largest):
        numbers = table(rows)
        pcsv.write_csv(numbers, folder / "table.csv")
        pq.write_table(numbers, folder / "table.parquet")
        del numbers
        for ending in ("parquet", "csv"):
            policy = folder / f"{ending}.yaml"
            policy.write_text(POLICY.replace("ENDING", ending))
            spent = timed(*flow("run", policy, "--out", folder / f"{ending}{rows}"), cwd=folder)
            plain = timed(sys.executable, "-c", PLAIN[ending], cwd=folder)
            ratio = spent.user / plain.user
            yield Row(f"{ending}.{rows}", rows, spent.seconds, spent.peak_mb, "Arrow, user CPU", ratio, spent.cpu)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--largest", type=int, default=5_000_000)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet(wide=20)
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        for row in runs(Path(name), chosen.largest):
            sheet.add(row)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
