"""What t-closeness takes where people have one to forty rows each: the whole run, and its audit alone.

    python tests/benchmarks/t_closeness_of_people.py [--rows 100000] [--json FILE]

70,000 people in 100,000 rows, 20 diagnoses, three quasi-identifiers. In ``dropped`` nothing links a person's rows, in
``named`` a pseudonym does, in ``ordered`` the diagnoses are in order besides; the baseline counts rows.
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
  zip: {role: quasi_identifier}
  sex: {role: quasi_identifier}
  ill: {role: sensitive}
people: PEOPLE
privacy:
  t_closeness: {ill: {t: 0.9, MORE}}
steps:
  whose: STEP
releases: {study: {path: study.parquet}}
"""
DROP = "{use: drop, with: {attributes: [person]}}"
NAMED = "{use: pseudonymize, with: {attributes: [person], key_file: key}}"
SEED, SHARE, MOST, DIAGNOSES = 7, 0.7, 40, 20
ORDER = f"distance: ordered, order: [{', '.join(f'd{n}' for n in range(DIAGNOSES))}]"
CASES = {
    "rows": ("{unit: rows}", DROP, "distance: equal"),
    "dropped": ("{known_rows: 1}", DROP, "distance: equal"),
    "named": ("{known_rows: 1}", NAMED, "distance: equal"),
    "ordered": ("{known_rows: 1}", NAMED, ORDER),
}


def table(path: Path, rows: int) -> None:
    draw = np.random.default_rng(SEED)
    people = int(SHARE * rows)
    each = np.ones(people, dtype=np.int64)
    while each.sum() < rows:
        some = draw.integers(0, people, max(1, people // 40))
        each[some] = np.minimum(each[some] + draw.geometric(0.3, len(some)), MOST)
    who = np.repeat(np.arange(people), each)[:rows]
    known = {name: draw.integers(0, size, people)[who] for name, size in {"age": 20, "zip": 10, "sex": 2}.items()}
    shares = np.arange(DIAGNOSES, 0, -1) / np.arange(DIAGNOSES, 0, -1).sum()
    ill = draw.choice(DIAGNOSES, rows, p=shares)
    columns = {"person": np.char.add("p", who.astype(str)), **{n: v.astype(str) for n, v in known.items()}}
    pq.write_table(pa.table({**columns, "ill": np.char.add("d", ill.astype(str))}), path)


def rows_of(folder: Path, rows: int) -> Iterator[Row]:
    table(folder / "table.parquet", rows)
    (folder / "key").write_text("0123456789abcdef" * 4)
    (folder / "key").chmod(0o600)
    base: Spent | None = None
    for case, (people, step, more) in CASES.items():
        text = POLICY.replace("CASE", case).replace("PEOPLE", people).replace("STEP", step).replace("MORE", more)
        (folder / f"{case}.yaml").write_text(text)
        spent = timed(*flow("run", folder / f"{case}.yaml", "--out", folder / "runs"), cwd=folder)
        ratio = None if base is None else spent.seconds / base.seconds
        yield Row(case, rows, spent.seconds, spent.peak_mb, "" if base is None else "rows", ratio, spent.user)
        base = base or spent


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, default=100_000)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet()
    sheet.head()
    with tempfile.TemporaryDirectory() as name:
        for row in rows_of(Path(name), chosen.rows):
            sheet.add(row)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
