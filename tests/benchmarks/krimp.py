"""What mining, KRIMP and SLIM cost, beside the authors' C++ program on the same files.

    python tests/benchmarks/krimp.py [--data ../shared/data] [--only iris] [--repeats 3] [--json FILE]

Each dataset in a process of its own, kernels compiled beforehand, one core, the best of the repeats. ``.mine`` is from
rows in memory to itemsets, ``.krimp`` from candidates to the final code table, ``.both`` is mining, sorting and
compressing; ``.slim`` needs no candidates. ``ratio`` is over the C++ program's median on a like machine (whole process,
candidates on disk for ``.krimp``); it was not run here. The last column has the final size, and the program's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measuring import ROOT, Row, Sheet, timed

sys.path.insert(0, str(ROOT))

from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.krimp.compress import krimp, slim


@dataclass(frozen=True)
class Work:
    """Where the rows are, which candidates; the C++ program's seconds (compress, with mining, SLIM) and bits."""

    file: str
    least: int
    closed: bool
    bits: int
    compress: float | None = None
    both: float | None = None
    slim: float | None = None
    slim_bits: int | None = None


WORK = {
    "iris": Work("lucs_krimp_db/iris.db.gz", 1, False, 1_475, 0.0004, 0.006, None, 1_489),
    "led7": Work("lucs_krimp_db/led7.db.gz", 1, False, 30_625, 0.03, 0.04, 0.06, 29_408),
    "pima": Work("lucs_krimp_db/pima.db.gz", 1, False, 9_143, 0.013, 0.034, 0.01, 8_342),
    "pageblocks": Work("lucs_krimp_db/pageblocks.db.gz", 1, False, 10_911, 0.024, 0.069, 0.03, 10_911),
    "nursery": Work("lucs_krimp_db/nursery.db.gz", 1, False, 258_898, 1.2, 1.5, 0.315, 251_466),
    "chess": Work("lucs_krimp_db/chessBig.db.gz", 1, False, 667_630, 4.7, 5.1, 9.6, 622_946),
    "mushroom20": Work("lucs_krimp_db/mushroom.db.gz", 20, True, 277_931, 0.17, 1.31),
    "mushroom": Work("lucs_krimp_db/mushroom.db.gz", 1, True, 274_220, 0.44, 2.2, 1.03, 208_207),
    "adult": Work("lucs_num/adult.D97.N48842.C2.num.gz", 20, True, 907_803, 3.2, 4.9),
    "pendigits": Work("lucs_krimp_db/pendigits.db.gz", 50, True, 523_805, 16.6, 23.8),
    "letrecog": Work("lucs_krimp_db/letrecog.db.gz", 100, True, 885_978, 51.8, 59.2),
}


def rows_of(path: Path) -> list[list[int]]:
    """Read ``.db`` as numbered inside of it, and ``.num`` by descending support."""
    with gzip.open(path, "rt") as lines:
        if ".db" in path.suffixes:
            return [
                [int(w) for w in line.partition(":")[2].split()] for line in lines if line.partition(":")[0].isdigit()
            ]
        rows = [[int(w) for w in line.split()] for line in lines]
    support = np.bincount([i for row in rows for i in row])
    number = np.empty(len(support), dtype=np.int64)
    number[np.argsort(-support, kind="stable")] = np.arange(len(support))
    return [number[row].tolist() for row in rows]


def measure(name: str, data: Path, repeats: int) -> list[dict[str, object]]:
    """Measure one dataset in this process: id, rows, seconds, the program's seconds, what came out."""
    work = WORK[name]
    database = ItemDatabase.of_lists(rows_of(data / work.file))
    compile_all()
    found, mining = best(repeats, lambda: mine(database, work.least, only_closed=work.closed))
    candidates, sorting = best(repeats, found.in_candidate_order)
    table, compressing = best(repeats, lambda: krimp(database, candidates).table)
    joined, joining = best(repeats, lambda: slim(database).table)
    size = f"{table.sizes.total:,.0f} bits of {work.bits:,} ({table.sizes.total / work.bits - 1:+.2%})"
    other = f" of {work.slim_bits:,}" if work.slim_bits else ""
    figures = [
        ("mine", mining, None, f"{len(found):,} itemsets"),
        ("krimp", compressing, work.compress, f"{size}, {table.non_singletons:,} itemsets in use"),
        ("both", mining + sorting + compressing, work.both, ""),
        (
            "slim",
            joining,
            work.slim,
            f"{joined.sizes.total:,.0f} bits{other}, {joined.non_singletons:,} itemsets in use",
        ),
    ]
    return [
        {"id": f"{name}.{part}", "rows": database.rows, "seconds": seconds, "theirs": theirs, "note": note}
        for part, seconds, theirs, note in figures
    ]


def compile_all() -> None:
    """Compile the kernels; Python, which does what is little work itself, leaves all to them then."""
    database = ItemDatabase.of_lists([[0, 1], [0, 2], [1, 2], [0, 1, 2]] * 5)
    for closed in (False, True):
        candidates: ItemsetCollection = mine(database, 1, only_closed=closed).in_candidate_order()
        krimp(database, candidates)
    slim(database)


def best(repeats: int, work: Callable[[], Any]) -> tuple[Any, float]:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - started)
    return found, min(times)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--only", choices=WORK)
    words.add_argument("--repeats", type=int, default=3)
    words.add_argument("--json", type=Path)
    words.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    words.add_argument("--compile", action="store_true", help="only compile the kernels")
    chosen = words.parse_args()
    if chosen.compile:
        compile_all()
        return
    if chosen.into:
        chosen.into.write_text(json.dumps(measure(chosen.only, chosen.data, chosen.repeats)))
        return
    timed(sys.executable, Path(__file__).resolve(), "--compile", cwd=ROOT)  # apart: a child starts at its parent's peak
    sheet = Sheet(wide=20)
    sheet.head()
    for name in [chosen.only] if chosen.only else WORK:
        with tempfile.TemporaryDirectory() as folder:
            into = Path(folder, "found.json")
            one = ("--only", name, "--data", chosen.data.resolve(), "--repeats", chosen.repeats, "--into", into)
            peak = timed(sys.executable, Path(__file__).resolve(), *one, cwd=ROOT).peak_mb
            for found in json.loads(into.read_text()):
                theirs = found["theirs"]
                label = f"C++ {theirs} s; {found['note']}" if theirs else found["note"]
                ratio = found["seconds"] / theirs if theirs else None
                sheet.add(Row(found["id"], found["rows"], found["seconds"], peak, label, ratio))
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
