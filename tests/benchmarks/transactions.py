"""What randomized transactions cost: a million of them part by part, and whole from policy to itemsets.

    python tests/benchmarks/transactions.py [--data ../shared/data] [--only whole] [--rows 1000000]
                                            [--largest 6500000] [--json FILE]

``parts``: generated mailorder-like (96 items) and soccer-like (11,000 items) transactions in memory, each part on its
own over ``--rows`` of them, as bits (``packed``) and as seeds. ``.write`` and ``.read`` are Parquet by the product's
own sink, ``.count`` is items and the pairs of the 200 most frequent ones, ``.mine`` itemsets of up to 3 items at 0.2 %
(not from soccer-like bits, of which a tenth is measured). ``whole``: processes of the command line from Parquet to a
judged release, and from that to itemsets: 2.9 million mailorder-like transactions, 6.5 million soccer-like ones over a
declared alphabet of 11,000; the last column compares the size that `plan --data` states beforehand with the real one.
``curve``: soccer-like, by number of transactions. ``frequent``: all itemsets of public data, nothing randomized;
``ratio`` is CPU seconds over those of pyfim's eclat on a like machine (one core), which was not run here. Two threads
or workers elsewhere; data are made and kernels compiled beforehand.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measuring import ROOT, Row, Sheet, Spent, flow, timed

sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "pipelines/data"))

from quest import MAILORDER, SOCCER, Quest, quest

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.itemsets.mine import mine_transactions
from ppdm_flow.mining.transactions.apriori import Counter, SearchBounds, mine
from ppdm_flow.mining.transactions.choosing import choose
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.mining.transactions.randomize.seeded import rounded_up
from ppdm_flow.sinks.parquet.algorithm import ParquetSink
from ppdm_flow.sinks.parquet.spec import ParquetSinkParams
from ppdm_flow.tables.sets import Baskets, SetColumn
from ppdm_flow.tables.sets.arrow import KEY, document_of, field_of, from_arrow, to_arrow

MADE = {"mailorder": (MAILORDER, 263), "soccer": (SOCCER, 693)}
MAXIMA = {"mailorder": (0.2, 0.08, 0.04), "soccer": (0.2, 0.03, 0.02)}
"""Largest supports within a transaction size: near those of most transactions."""
THREADS = 2
LEAST = 0.002
PAIRED = 200
CURVE = (100_000, 300_000, 1_000_000, 3_000_000, 6_500_000)
EXPANDED = 100_000
"""Rows of soccer-like bits, 1.4 kB each, that are measured; the figures are for ``--rows`` all the same."""
PYFIM = {"retail": {0.001: 0.088}, "T10I4D100K": {0.001: 0.134}}

POLICY = """version: 1
name: {name}
source: {{path: {name}.parquet}}
attributes:
  basket: {{role: items, domain: [{items}]}}
privacy:
  itemset_breach: {{level: 0.5, sizes: [1, 2, 3]}}
steps:
  randomize: {{use: randomize_transactions}}
releases:
  out: {{path: out.parquet}}
"""


class Clock:
    """Seconds and CPU seconds of what happens in it."""

    def __enter__(self) -> Self:
        self._at, self._cpu = time.perf_counter(), _cpu()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds, self.cpu = time.perf_counter() - self._at, _cpu() - self._cpu


def _cpu() -> float:
    times = os.times()
    return times.user + times.system


def parts(name: str, form: str, rows: int) -> list[dict[str, Any]]:
    """Measure one data set in one form in this process; figures are scaled to ``rows``."""
    wanted, key = MADE[name]
    measured = min(rows, EXPANDED) if (name, form) == ("soccer", "packed") else rows
    prepare(name, form)
    found: list[dict[str, Any]] = []

    def note(part: str, clock: Clock, said: str = "") -> None:
        up = rows / measured
        found.append(
            {"id": f"{name}.{form}.{part}", "seconds": clock.seconds * up, "cpu": clock.cpu * up, "note": said}
        )

    with Clock() as clock:
        made = list(quest(replace(wanted, rows=measured), key))
    note("generate", clock)
    operator = operator_of(name, made)
    with Clock() as clock:
        out = randomized(made, operator, form)
    size = sum(o.nbytes - o.categories.nbytes for o in out)
    note("randomize", clock, f"{size / measured:.0f} bytes a row")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "out.parquet")
        with Clock() as clock:
            write(out, path)
        note("write", clock, f"{path.stat().st_size / measured:.0f} bytes a row on disk")
        with Clock() as clock:
            again = list(read(path, out[0]))
        note("read", clock)
    with Clock() as clock:
        said = counted(again, operator)
    note("count", clock, said)
    if measured == rows:
        with Clock() as clock:
            mined = mine(lambda: again, operator, LEAST, SearchBounds(length=3), THREADS)
        note("mine", clock, f"{' + '.join(f'{len(level.itemsets):,}' for level in mined.levels)} candidates")
    return found


def prepare(name: str, form: str) -> None:
    """Compile all kernels on a few rows."""
    wanted, key = MADE[name]
    few = list(quest(replace(wanted, rows=2000), key))
    operator = operator_of(name, few)
    out = randomized(few, operator, form)
    counted(out, operator)


def operator_of(name: str, made: list[Baskets]) -> TransactionOperator:
    wanted, _ = MADE[name]
    numbers = np.bincount(np.concatenate([part.sizes for part in made]), minlength=wanted.longest + 1)
    given = {m: float(max(1, numbers[m])) for m in range(1, wanted.longest + 1)}
    return rounded_up(choose(MAXIMA[name], given, wanted.items, level=0.5).operator)


def randomized(made: list[Baskets], operator: TransactionOperator, form: str) -> list[SetColumn]:
    seeds = form == "seeded"
    needed = seeded.draws_per_row(operator) if seeds else randomize.draws_per_row(operator)
    draws = Draws(RunKey.from_seed("benchmark").step("randomize"), needed)
    act: Callable[..., SetColumn] = seeded.seed if seeds else randomize.randomize
    starts = np.cumsum([0, *map(len, made)])

    def one(place: int) -> SetColumn:
        return act(made[place], operator, draws, np.arange(starts[place], starts[place + 1]))

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(len(made))))


def write(out: list[SetColumn], path: Path) -> None:
    schema = pa.schema([field_of("basket", out[0])])
    sink = ParquetSink(ParquetSinkParams(), path, ["basket"])
    for part in out:
        sink.write(pa.RecordBatch.from_arrays([to_arrow(part)], schema=schema))
    sink.close()


def read(path: Path, like: SetColumn) -> Iterator[SetColumn]:
    document = json.dumps(dict(document_of(like))).encode()
    file = pq.ParquetFile(path)
    assert KEY in (file.metadata.metadata or {})
    for batch in file.iter_batches(1 << 16):
        yield from_arrow(batch.column(0), document)


def counted(out: list[SetColumn], operator: TransactionOperator) -> str:
    """Count items, and the pairs of those that are most often there."""
    counter = Counter(lambda: out, operator, THREADS)
    _, counts, _ = counter.singles()
    most = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:PAIRED])
    first, second = np.triu_indices(len(most), 1)
    counter.itemsets(np.column_stack([most[first], most[second]]))
    return f"{len(counts):,} items, {len(first):,} pairs"


def table(folder: Path, name: str, rows: int) -> Path:
    """Write generated transactions as lists of texts, and the policy that releases them."""
    wanted, key = MADE[name]
    path = folder / f"{name}.parquet"
    writer = None
    for part in quest(replace(wanted, rows=rows), key):
        names = pa.DictionaryArray.from_arrays(pa.array(part.items), part.categories).cast(pa.string())
        lists = pa.ListArray.from_arrays(pa.array(part.offsets.astype(np.int32)), names)
        block = pa.table({"basket": lists})
        writer = writer or pq.ParquetWriter(path, block.schema, compression="zstd")
        writer.write_table(block)
    if writer is not None:
        writer.close()
    policy = folder / f"{name}.yaml"
    items = ", ".join(f"'{i}'" for i in items_of(wanted))
    policy.write_text(POLICY.format(name=name, items=items))
    return policy


def items_of(wanted: Quest) -> list[str]:
    wide = len(str(wanted.items - 1))
    return [f"{i:0{wide}d}" for i in range(wanted.items)]


def whole(folder: Path, name: str, rows: int, label: str) -> Iterator[Row]:
    """Plan, run and mine from the command line."""
    policy = table(folder, name, rows)
    runs, plan = folder / f"runs-{label}", folder / "plan.json"
    planned = timed(
        *flow("plan", policy, "--data", policy.with_suffix(".parquet"), "--format", "json", "-o", plan), cwd=folder
    )
    (size,) = json.loads(plan.read_text())["preview"]["sizes"]
    yield row(f"{label}.plan", rows, planned, f"{size['bytes'] / 1e6:,.0f} MB as {size['form']} stated")
    ran = timed(*flow("run", policy, "--out", runs), cwd=folder)
    (file,) = runs.glob("*/*/released/out/out.parquet")
    real = file.stat().st_size
    yield row(
        f"{label}.run", rows, ran, f"{real / 1e6:,.0f} MB released, {real / size['bytes']:.2f} of what was stated"
    )
    asked = ("--min-support", "0.002", "--max-length", "3", "--format", "json", "-o", folder / "mined.json")
    mined = timed(*flow("mine", file.parent, *asked), cwd=folder)
    yield row(f"{label}.mine", rows, mined)
    both = Spent(ran.seconds + mined.seconds, ran.cpu + mined.cpu, max(ran.peak_mb, mined.peak_mb))
    yield row(f"{label}.both", rows, both)


def row(name: str, rows: int, spent: Spent, note: str = "") -> Row:
    return Row(name, rows, spent.seconds, spent.peak_mb, note, None, spent.cpu)


def frequent(data: Path) -> Iterator[Row]:
    """Plain frequent itemsets, beside pyfim's eclat; in this process, the best of three."""
    for name, by_support in PYFIM.items():
        offsets, items = lines(data / f"fimi/{name}.dat.gz")
        mine_transactions(offsets[:1000], items[: offsets[999]], 0.5)
        for least, theirs in by_support.items():
            found = []
            for _ in range(3):
                with Clock() as clock:
                    itemsets = mine_transactions(offsets, items, least)
                found.append((clock.seconds, clock.cpu, len(itemsets)))
            seconds, cpu, number = min(found)
            note = f"pyfim {theirs} s; {number:,} itemsets at {least:.1%}"
            yield Row(f"frequent.{name}", len(offsets) - 1, seconds, 0.0, note, cpu / theirs, cpu)


def lines(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(path, "rb") as file:
        read_ = [line.split() for line in file if line.strip()]
    offsets = np.cumsum([0, *map(len, read_)]).astype(np.int64)
    return offsets, np.array([int(i) for line in read_ for i in line], dtype=np.int32)


def each(options: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """Yield all rows that were asked for."""

    def asked(part: str) -> bool:
        return options.only in (None, part)

    for name, form in [(n, f) for n in MADE for f in ("packed", "seeded")] if asked("parts") else ():
        into = folder / "found.json"
        words = ("--into", into, "--part", f"{name}.{form}", "--rows", options.rows)
        spent = timed(sys.executable, Path(__file__).resolve(), *words, cwd=ROOT)
        for found in json.loads(into.read_text()):
            yield Row(found["id"], options.rows, found["seconds"], spent.peak_mb, found["note"], None, found["cpu"])
    if asked("whole"):
        yield from whole(folder, "mailorder", min(MAILORDER.rows, options.largest), "mailorder")
        yield from whole(folder, "soccer", min(SOCCER.rows, options.largest), "soccer")
    for number in CURVE if asked("curve") else ():
        if number <= options.largest:
            yield from whole(folder, "soccer", number, f"curve.{number}")
    if asked("frequent") and (options.data / "fimi").is_dir():
        yield from frequent(options.data)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--only", choices=("parts", "whole", "curve", "frequent"))
    words.add_argument("--rows", type=int, default=1_000_000)
    words.add_argument("--largest", type=int, default=6_500_000)
    words.add_argument("--json", type=Path)
    words.add_argument("--part", help=argparse.SUPPRESS)
    words.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = words.parse_args()
    if options.into:
        options.into.write_text(json.dumps(parts(*options.part.split("."), options.rows)))
        return
    sheet = Sheet(wide=26)
    sheet.head()
    with tempfile.TemporaryDirectory() as folder:
        for found in each(options, Path(folder)):
            sheet.add(found)
    sheet.write(options.json)


if __name__ == "__main__":
    main()
