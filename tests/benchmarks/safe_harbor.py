"""What looking for identifiers costs: the same run with and without `safe_harbor`, with few and with many values.

    python tests/benchmarks/safe_harbor.py [--rows N] [--json FILE]

``few`` has eight columns of few values each. ``texts`` has one more with a text of its own in each row: some eighty
expressions are looked for in each of them, twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from measuring import ROOT, Row, Sheet, timed

POLICY = """version: 1
name: stays
source: {path: stays.csv}
undeclared: drop
attributes:
  zip: {role: insensitive}
  age: {role: insensitive}
  year: {role: insensitive, type: integer}
  days: {role: insensitive, type: integer}
  cost: {role: insensitive, type: float}
  state: {role: insensitive}
  sex: {role: insensitive}
  diagnosis: {role: insensitive}
"""
ASKED = "privacy: {safe_harbor: {as_of: 2026, cleared: {cost: [unique_codes], note: [unique_codes]}}}\n"
RELEASE = "releases: {study: {path: stays.parquet, format: parquet}}\n"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, default=1_000_000)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet()
    sheet.head()
    with tempfile.TemporaryDirectory() as folder:
        pa_csv.write_csv(table(chosen.rows), Path(folder) / "stays.csv")
        for row in measured(Path(folder), chosen.rows):
            sheet.add(row)
    sheet.write(chosen.json)


def table(rows: int) -> pa.Table:
    rng = np.random.default_rng(1)
    some = {
        "zip": [f"{n:03d}" for n in range(900, 990)],
        "age": [str(n) for n in range(90)],
        "state": ["NY", "MA", "VT", "CA"],
        "sex": ["f", "m"],
        "diagnosis": [f"E{n}" for n in range(300)],
    }
    columns = {name: rng.choice(values, rows) for name, values in some.items()}
    columns |= {"year": rng.integers(2000, 2026, rows), "days": rng.integers(1, 60, rows)}
    columns["cost"] = rng.gamma(2.0, 900.0, rows).round(2)
    columns["note"] = [f"stayed well in room {n}, no complaints, left as planned" for n in range(rows)]
    return pa.table(columns)


def measured(folder: Path, rows: int) -> Iterator[Row]:
    for name, more in (("few", ""), ("texts", "  note: {role: insensitive}\n")):
        before = 0.0
        for kind, asked in (("plain", ""), ("safe_harbor", ASKED)):
            (folder / "policy.yaml").write_text(POLICY + more + asked + RELEASE)
            run = (sys.executable, "-m", "ppdm_flow", "run", folder / "policy.yaml", "--out", folder / "runs", "-q")
            spent = timed(*run, cwd=ROOT)
            compared = (f"{name}.plain", spent.seconds / before) if before else ("", None)
            yield Row(f"{name}.{kind}", rows, spent.seconds, spent.peak_mb, *compared, cpu=spent.cpu)
            before = spent.seconds


if __name__ == "__main__":
    main()
