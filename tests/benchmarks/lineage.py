"""What it costs that requirements are measured on what columns are computed from.

    python tests/benchmarks/lineage.py [--largest 1000000] [--before OTHER_CHECKOUT] [--json FILE]

``plain``: no mixed column and values as they are, with ``--before`` against the program of another checkout. ``mixed``:
a class id of some 12,000 values over a quasi-identifier, a sensitive attribute and another one, against ``plain``.
``decoded``: coarser sensitive values, against ``plain``. Each row is one process.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import Row, Sheet, Spent, flow, timed

POLICY = """version: 1
name: NAME
source: {path: table.parquet}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier}
  zip: {role: quasi_identifier}
  job: {role: insensitive}
  ill: {role: sensitive, hierarchy: {levels: {LEVELS}}}
privacy:
  k_anonymity: {k: 5}
  l_diversity: {ill: {l: 3}}
  templates: {one: {channel: [age, zip], sensitive: {ill: ["1"]}, confidence: 0.5}}
steps:
STEPS
  drop: {use: drop, with: {attributes: [job]}}
releases: {study: {path: study.parquet}}
"""
STEPS = {
    "plain": "",
    "mixed": "  ids: {use: assign_class_id, with: {attributes: [zip, job, ill], name: class}}",
    "decoded": "  coarse: {use: generalize, with: {attributes: {ill: {}}}}",
}
ILLNESSES = 12


def table(path: Path, rows: int) -> None:
    draw = np.random.default_rng(1)
    sizes = {"age": 40, "zip": 50, "job": 20, "ill": ILLNESSES}
    columns = {name: pa.array(draw.integers(0, size, rows).astype(str)) for name, size in sizes.items()}
    names = pa.array(np.char.add("p", np.arange(rows).astype(str)))
    pq.write_table(pa.table({"name": names, **columns}), path)


def policy(folder: Path, name: str) -> Path:
    levels = ", ".join(f'"{i}": [group {i // 4}]' for i in range(ILLNESSES))
    path = folder / f"{name}.yaml"
    path.write_text(POLICY.replace("NAME", name).replace("LEVELS", levels).replace("STEPS", STEPS[name]))
    return path


def rows_of(folder: Path, rows: int, before: Path | None) -> Iterator[Row]:
    table(folder / "table.parquet", rows)
    base: Spent | None = None
    if before is not None:
        path = f"{before.resolve()}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        words = ("env", f"PYTHONPATH={path}", sys.executable, "-m", "ppdm_flow")
        base = timed(*words, "run", policy(folder, "plain"), "--out", folder / "before", cwd=folder)
        yield Row(f"before.{rows}", rows, base.seconds, base.peak_mb, "", None, base.cpu)
    for name in STEPS:
        spent = timed(*flow("run", policy(folder, name), "--out", folder / "runs"), cwd=folder)
        against = "" if base is None else "before" if name == "plain" else "plain"
        ratio = None if base is None else spent.seconds / base.seconds
        yield Row(f"{name}.{rows}", rows, spent.seconds, spent.peak_mb, against, ratio, spent.cpu)
        base = spent if name == "plain" else base


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--largest", type=int, default=1_000_000)
    words.add_argument("--before", type=Path)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet(wide=20)
    sheet.head()
    for rows in (chosen.largest // 10, chosen.largest):
        with tempfile.TemporaryDirectory() as name:
            for found in rows_of(Path(name), rows, chosen.before):
                sheet.add(found)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
