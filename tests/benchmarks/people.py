"""What it costs that people are counted instead of rows: k, distinct l and t of one release, by both routes.

    python tests/benchmarks/people.py [--rows 1000000] [--cases people_1,linked] [--json FILE]

``rows`` counts rows (``people: {unit: rows}``): the baseline. ``people_1`` and ``people_2`` count 0.3 people a row, of
whom one or two rows are known and none is linked; ``linked`` has two known and a pseudonym beside every row; ``heavy``
is ``people_1``, and ``heavy_linked`` is ``linked`` where one person has 100,000 rows more, over all classes: there a
crowd of one is found early. Each row is one process, ``ppdm-flow run``, with all that a run does.
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
source: {path: TABLE.parquet}
attributes:
  person: {role: subject}
  age: {role: quasi_identifier}
  zip: {role: quasi_identifier}
  ill: {role: sensitive}
people: {PEOPLE}
privacy:
  k_anonymity: {k: 2}
  l_diversity: {ill: {l: 2}}
  t_closeness: {ill: {t: 0.9}}
steps:
  whose: STEP
releases: {study: {path: study.parquet}}
"""
DROP = "{use: drop, with: {attributes: [person]}}"
NAMED = "{use: pseudonymize, with: {attributes: [person], key_file: key}}"
KNOWN_1, KNOWN_2 = "{known_rows: 1, unit: people}", "{known_rows: 2, unit: people}"
CASES = {
    "rows": ("table", "{unit: rows}", DROP),
    "people_1": ("table", KNOWN_1, DROP),
    "people_2": ("table", KNOWN_2, DROP),
    "linked": ("table", KNOWN_2, NAMED),
    "heavy": ("heavy", KNOWN_1, DROP),
    "heavy_linked": ("heavy", KNOWN_2, NAMED),
}
WITHHELD = 1
"""The exit code of a release that fails its requirements: linked rows tell too much."""
SEED, PEOPLE, HEAVY = 7, 0.3, 100_000
SIZES = {"age": 40, "zip": 50, "ill": 12}


def table(path: Path, rows: int, heavy: int) -> None:
    draw = np.random.default_rng(SEED)
    every = rows + heavy
    columns = {name: pa.array(draw.integers(0, size, every).astype(str)) for name, size in SIZES.items()}
    whose = draw.integers(1, max(2, int(rows * PEOPLE)), every)
    whose[rows:] = 0
    pq.write_table(pa.table({"person": pa.array(np.char.add("p", whose.astype(str))), **columns}), path)


def policy(folder: Path, case: str) -> Path:
    named, people, step = CASES[case]
    path = folder / f"{case}.yaml"
    text = POLICY.replace("CASE", case).replace("TABLE", named).replace("STEP", step)
    path.write_text(text.replace("{PEOPLE}", people))
    return path


def rows_of(folder: Path, rows: int, cases: list[str]) -> Iterator[Row]:
    table(folder / "table.parquet", rows, 0)
    table(folder / "heavy.parquet", rows, HEAVY)
    (folder / "key").write_text("0123456789abcdef" * 4)
    (folder / "key").chmod(0o600)
    base: Spent | None = None
    for case in ["rows", *(c for c in CASES if c in cases and c != "rows")]:
        words = flow("run", policy(folder, case), "--out", folder / "runs")
        spent = timed("sh", "-c", f'"$@" || test $? = {WITHHELD}', "sh", *words, cwd=folder)
        ratio = None if base is None else spent.seconds / base.seconds
        many = rows + (HEAVY if case.startswith("heavy") else 0)
        yield Row(case, many, spent.seconds, spent.peak_mb, "" if base is None else "rows", ratio, spent.user)
        base = base or spent


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, default=1_000_000)
    words.add_argument("--cases", default=",".join(CASES))
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet()
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        for row in rows_of(Path(name), chosen.rows, chosen.cases.split(",")):
            sheet.add(row)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
