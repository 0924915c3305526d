"""What steps that treat all rows of a person alike cost: `limit_rows` and `shift_dates`, with 0.3 people a row.

    python tests/benchmarks/steps_of_people.py [--rows 1000000] [--json FILE]

The baseline ``plain`` drops the column of people alone. Each row is one process, ``ppdm-flow run``, with all that a run
does.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import Row, Sheet, Spent, flow, timed

POLICY = """version: 1
name: CASE
source: {path: table.parquet}
attributes:
  person: {role: subject}
  age: {role: quasi_identifier}
  ill: {role: sensitive}
  came: {role: insensitive, type: date}
people: {unit: rows}
privacy: {k_anonymity: {k: 2}}
steps:STEP
  bare: {use: drop, with: {attributes: [person]}}
releases: {study: {path: study.parquet}}
"""
CASES = {
    "plain": "",
    "limit_rows": "\n  few: {use: limit_rows, with: {rows: 2}}",
    "limit_values": "\n  few: {use: limit_rows, with: {attribute: ill, values: 2}}",
    "shift_dates": "\n  moved: {use: shift_dates, with: {attributes: [came], days: [-182, 182]}}",
}
SEED, PEOPLE = 7, 0.3


def write_table(path: Path, rows: int) -> None:
    draw = np.random.default_rng(SEED)
    columns = {
        "person": np.char.add("p", draw.integers(0, max(1, int(rows * PEOPLE)), rows).astype(str)),
        "age": draw.integers(0, 40, rows).astype(str),
        "ill": draw.integers(0, 20, rows).astype(str),
        "came": (np.datetime64("1970-01-01") + draw.integers(0, 20_000, rows)).astype(str),
    }
    pq.write_table(pa.table({name: pa.array(cells) for name, cells in columns.items()}), path)


def measure(folder: Path, rows: int) -> Iterator[Row]:
    write_table(folder / "table.parquet", rows)
    base: Spent | None = None
    for case, step in CASES.items():
        policy = folder / f"{case}.yaml"
        policy.write_text(POLICY.replace("CASE", case).replace("STEP", step))
        spent = timed(*flow("run", policy, "--out", folder / "runs"), cwd=folder)
        ratio = None if base is None else spent.seconds / base.seconds
        yield Row(case, rows, spent.seconds, spent.peak_mb, "" if base is None else "plain", ratio, spent.user)
        base = base or spent


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, default=1_000_000)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet()
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        for row in measure(Path(name), chosen.rows):
            sheet.add(row)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
