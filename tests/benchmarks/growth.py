"""What costs grow with: a whole run against columns and against steps, and mining against itemsets.

    python tests/benchmarks/growth.py [columns steps itemsets] [--json FILE]

Each row is one process of `ppdm-flow`, with all that it does. Its ratio is to the row before it: work that grows
tenfold should take at most about tenfold, never the square of it. A wide table has 3,000 rows of codes, all of them
quasi-identifiers, and the audits that a policy gets by itself. Itemsets are mined in a table of 8,000 rows with 20
columns, some of which go together.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from measuring import Row, Sheet, Spent, flow, timed

SEED = 7
ROWS = 3_000
COLUMNS = (10, 100, 300, 1000)
STEPS = (4, 8, 16, 32)
SUPPORTS = (2_400, 1_200, 600)
WIDE = """version: 1
name: wide
source: {path: wide.csv}
attributes:
  v*: {role: quasi_identifier}
privacy: {k_anonymity: {k: 5}}
steps: {small: {use: mondrian}}
releases: {out: {path: out.csv}}
"""
CHAIN = """version: 1
name: chain
source: {path: chain.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  income: {role: insensitive, type: integer}
privacy: {k_anonymity: {k: 2}}
steps:
STEPS
  small: {use: mondrian}
releases: {out: {path: out.csv}}
"""


def of_columns(folder: Path) -> Iterator[tuple[str, int, Spent]]:
    draw = np.random.default_rng(SEED)
    for columns in COLUMNS:
        table = {f"v{i}": draw.integers(0, 4, ROWS) for i in range(columns)}
        pc.write_csv(pa.table(table), folder / "wide.csv")
        (folder / "wide.yaml").write_text(WIDE)
        spent = timed(*flow("run", folder / "wide.yaml", "--out", folder / "runs"), cwd=folder)
        yield f"{columns} columns", ROWS, spent


def of_steps(folder: Path) -> Iterator[tuple[str, int, Spent]]:
    draw = np.random.default_rng(SEED)
    rows = 10_000
    table = {"age": draw.integers(18, 90, rows), "income": draw.integers(1_000, 9_000, rows)}
    pc.write_csv(pa.table(table), folder / "chain.csv")
    for steps in STEPS:
        noise = "\n".join(
            f"  s{i}: {{use: add_noise, with: {{attributes: [income], sd: 1, decimals: 0}}}}" for i in range(steps)
        )
        (folder / "chain.yaml").write_text(CHAIN.replace("STEPS", noise))
        yield f"{steps} steps", rows, timed(*flow("run", folder / "chain.yaml", "--out", folder / "runs"), cwd=folder)


def of_itemsets(folder: Path) -> Iterator[tuple[str, int, Spent]]:
    draw = np.random.default_rng(SEED)
    rows, columns = 8_000, 20
    kind = draw.integers(0, 3, rows)
    with (folder / "items.dat").open("w") as file:
        for row in range(rows):
            values = np.where(draw.random(columns) < 0.8, kind[row], draw.integers(0, 3, columns))
            file.write(" ".join(str(i * 3 + int(v) + 1) for i, v in enumerate(values)) + "\n")
    for support in SUPPORTS:
        out = folder / "itemsets.csv"
        words = ("mine", folder / "items.dat", "--min-support", str(support), "--format", "csv", "-o", out)
        spent = timed(*flow(*words), cwd=folder)
        with out.open() as file:
            yield f"support {support}", sum(1 for _ in file) - 1, spent


KINDS = {"columns": of_columns, "steps": of_steps, "itemsets": of_itemsets}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet()
    sheet.head()
    for kind in chosen.kinds:
        before: tuple[str, Spent] | None = None
        with tempfile.TemporaryDirectory() as folder:
            for name, rows, spent in KINDS[kind](Path(folder)):
                ratio = None if before is None else spent.seconds / before[1].seconds
                base = "" if before is None else before[0]
                sheet.add(Row(name, rows, spent.seconds, spent.peak_mb, base, ratio, spent.user))
                before = name, spent
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
