"""What ``ppdm-flow profile`` takes: by rows, by columns, and of which the search for unique combinations.

The table is invented: two direct identifiers, dates, codes, numbers and words, 15 columns; ``profile.columns.*`` has
more of the latter. One core (``NUMBA_NUM_THREADS=1``), kernels compiled before.

    python tests/benchmarks/profile.py
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
from measuring import Row, Sheet

from ppdm_flow import api
from ppdm_flow.api.profile.data import columns, look, without
from ppdm_flow.mining.profiling.table import profile
from ppdm_flow.mining.uniques.search import CodedColumns, search

ROWS = (10_000, 100_000, 300_000, 1_000_000)
WIDE = (15, 30, 60)
WIDE_ROWS = 100_000


def table(rows: int, width: int = 15) -> pa.Table:
    """Return an invented table; columns beyond the 15th are codes of 4 to 400 values."""
    rng = np.random.default_rng(1)
    days = rng.integers(0, 29_000, rows).astype("timedelta64[D]")
    found = {
        "customer_id": np.char.add("C", rng.permutation(rows).astype(str)),
        "email": np.char.add(np.arange(rows).astype(str), "@mail.example"),
        "age": rng.integers(0, 95, rows),
        "sex": rng.choice(["m", "f"], rows),
        "zip": rng.integers(10_000, 99_999, rows),
        "birth_date": (np.datetime64("1930-01-01") + days).astype(str),
        "job": np.char.add("job", rng.integers(0, 40, rows).astype(str)),
        "country": np.char.add("c", rng.zipf(1.6, rows).clip(0, 120).astype(str)),
        "income": rng.lognormal(10, 0.6, rows).astype(int),
        "disease": np.char.add("d", rng.integers(0, 60, rows).astype(str)),
        "height": rng.normal(170, 10, rows).round(1),
        "children": rng.poisson(1.2, rows),
        "school": rng.choice(list("abcdefgh"), rows),
        "visits": rng.poisson(5, rows),
        "amount": rng.gamma(2, 50, rows).round(2),
    }
    for i in range(len(found), width):
        found[f"code{i}"] = np.char.add("v", rng.integers(0, 4 * 10 ** (i % 3), rows).astype(str))
    return pa.table(found)


def timed(name: str, rows: int, work: Callable[[], object]) -> Row:
    began, spent = time.perf_counter(), os.times()
    work()
    done = os.times()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Row(name, rows, time.perf_counter() - began, peak, cpu=done.user + done.system - spent.user - spent.system)


def measure(sheet: Sheet, path: Path, name: str, rows: int) -> None:
    sheet.add(timed(name, rows, lambda: api.profile(path).rendered("yaml")))
    coded, marks = without(columns(path, look(path)))
    sheet.add(timed(f"{name}.reading", rows, lambda: columns(path, look(path))))
    sheet.add(timed(f"{name}.guessing", rows, lambda: profile(coded, marks, budget=0)))
    arrays = list(coded.values())
    ground = CodedColumns([codes + np.int32(1) for codes, _ in arrays], [len(values) + 1 for _, values in arrays])
    others = range(2, len(arrays))
    sheet.add(timed(f"{name}.combinations", rows, lambda: search(ground, others)))


def main() -> int:
    sheet = Sheet()
    sheet.head()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        pcsv.write_csv(table(200), path)
        api.profile(path)  # compiles
        for rows in ROWS:
            pcsv.write_csv(table(rows), path)
            measure(sheet, path, "profile.rows", rows)
        for width in WIDE:
            pcsv.write_csv(table(WIDE_ROWS, width), path)
            measure(sheet, path, f"profile.columns.{width}", WIDE_ROWS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
