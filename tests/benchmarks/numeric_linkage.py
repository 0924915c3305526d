"""What numeric linkage costs: a whole run over three floats that are exchanged, by both routes, as rows grow.

    python tests/benchmarks/numeric_linkage.py [--largest 1000000] [--json FILE]

1,000 records are looked for. ``ratio`` is the time over that of the same run without the requirement.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import Row, Sheet, flow, timed

POLICY = """version: 1
name: linked
source: {path: table.parquet}
attributes:
  a: {role: sensitive, type: float}
  b: {role: sensitive, type: float}
  c: {role: sensitive, type: float}
PRIVACY
steps: {exchange: {use: swap, with: {attributes: [a, b, c]}}}
releases: {out: {path: out.parquet, shuffle: true}}
"""
ASKED = "privacy: {numeric_linkage: {attributes: [a, b, c], max: 0.1}}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sheet = Sheet()
    sheet.head()
    for rows in (10_000, 100_000, 1_000_000):
        if rows <= given.largest:
            sheet.add(_row(rows))
    sheet.write(given.json)


def _row(rows: int) -> Row:
    draws = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        columns = {name: np.round(draws.normal(100, 20, rows), 2) for name in "abc"}
        pq.write_table(pa.table(columns), place / "table.parquet")
        spent = {}
        for name, asked in (("without", ""), ("with", ASKED)):
            (place / f"{name}.yaml").write_text(POLICY.replace("PRIVACY", asked), encoding="utf-8")
            spent[name] = timed(*flow("run", f"{name}.yaml", "--out", f"runs-{name}"), cwd=place)
    found, plain = spent["with"], spent["without"]
    return Row(
        "linkage", rows, found.seconds, found.peak_mb, "no requirement", found.seconds / plain.seconds, found.cpu
    )


if __name__ == "__main__":
    sys.exit(main())
