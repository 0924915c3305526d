"""What generated tables cost, and how near they come to the original.

    python tests/benchmarks/generator.py [--data ../shared/data] [--only adult] [--json FILE]

One process, kernels compiled beforehand, one core. ``nursery``: 12,960 rows from a learned model, with the mean
absolute error of the supports of all itemsets of 10 % or more. ``million``: a million rows of Adult, 15 columns.
``adult``: the nine categorical columns of Adult's training part (class included, missing values as a value), for
several settings (``krimp.closed.5`` is the step's default): seconds to learn and to make as many rows, and the mean
total variation distance of 1-, 2- and 3-way marginals from the original. Beside them an independent resampling of the
original (the noise floor), and columns drawn independently. Literature: py-synthpop's CART 0.004, 0.011, 0.024, at the
price of 85 % of its rows being originals.
What rows give away stands beside how near they come in ``generator_privacy.py``.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from generator_tables import CATEGORICAL, Cells, adult, distance
from krimp import WORK, rows_of
from measuring import ROOT, Row, Sheet

sys.path.insert(0, str(ROOT))

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.generation import RowGenerator
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.itemsets.tabular import tabular
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compress import krimp, slim
from ppdm_flow.tables.counts import count

SETTINGS = {
    "krimp.all.1": ("krimp", 1, False, True),
    "krimp.all.1.unpruned": ("krimp", 1, False, False),
    "krimp.all.20": ("krimp", 20, False, True),
    "krimp.closed.1": ("krimp", 1, True, True),
    "krimp.closed.5": ("krimp", 5, True, True),
    "krimp.closed.20": ("krimp", 20, True, True),
    "slim.1": ("slim", 1, False, True),
    "slim.20": ("slim", 20, False, True),
}


def make(model: RowGenerator, rows: int, seed: str = "benchmark") -> Any:
    draws = Draws(RunKey.from_seed(seed).step("generate"), model.draws_per_row)
    return model.generate(draws.words(np.arange(rows, dtype=np.int64)))


def table_of(database: ItemDatabase, way: str, least: int, closed: bool, pruning: bool) -> CodeTable:
    if way == "slim":
        return slim(database, least, pruning=pruning).table
    candidates = mine(database, least, only_closed=closed).of_length(2).in_candidate_order()
    return krimp(database, candidates, pruning=pruning).table


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[Any, float, float]:
    """Return what came out, the least seconds and the least processor time."""
    found, walls, works = None, [], []
    for _ in range(repeats):
        started, before = time.perf_counter(), time.process_time()
        found = work()
        walls.append(time.perf_counter() - started)
        works.append(time.process_time() - before)
    return found, min(walls), min(works)


def nursery(data: Path) -> Iterator[Row]:
    database = ItemDatabase.of_lists(rows_of(data / WORK["nursery"].file))
    model = RowGenerator.of(table_of(database, "krimp", 1, False, True), database)
    made, seconds, cpu = timed(lambda: make(model, database.rows), 5)
    frequent = mine(database, 0.1)
    other = ItemDatabase.of_cells(made.cells, database.place)
    errors = [abs(support_of(other, items) - support) / database.rows for items, support in frequent]
    note = f"{len(errors)} itemsets, mean error of supports {np.mean(errors):.4f}"
    yield Row("nursery", database.rows, seconds, peak(), note, None, cpu)


def support_of(database: ItemDatabase, items: tuple[int, ...]) -> int:
    hit = np.logical_and.reduce([database.cells[:, database.place[i]] == i for i in items])
    return int(database.weights[hit].sum())


def million(data: Path) -> Iterator[Row]:
    whole = tabular(count(adult(data, range(15), numbers=8), [f"c{i}" for i in range(15)])).database
    table, seconds, cpu = timed(lambda: table_of(whole, "krimp", 20, True, True))
    note = f"{table.non_singletons} itemsets, L% {table.compression:.3f}"
    yield Row("million.learn", whole.rows, seconds, peak(), note, None, cpu)
    model = RowGenerator.of(table, whole)
    made, seconds, cpu = timed(lambda: make(model, 1_000_000), 2)
    yield Row("million", 1_000_000, seconds, peak(), f"{made.itemsets.mean():.2f} itemsets a row", None, cpu)


def nine(data: Path) -> Iterator[Row]:
    table = adult(data, CATEGORICAL)
    whole = np.stack([table[name].codes for name in table.names], axis=1)
    widths = [len(table[name].categories) for name in table.names]
    coded = tabular(count(table, table.names))
    originals = {row.tobytes() for row in np.ascontiguousarray(whole)}
    rng = np.random.default_rng(7)

    def row(name: str, cells: Cells, seconds: float, cpu: float, more: str = "") -> Row:
        near = ", ".join(f"{distance(whole, cells, widths, k):.4f}" for k in (1, 2, 3))
        copies = np.mean([r.tobytes() in originals for r in np.ascontiguousarray(cells, dtype=np.int32)])
        return Row(name, len(cells), seconds, peak(), f"TVD {near}; {copies:.0%} originals{more}", None, cpu)

    size = len(whole)
    yield row("adult.resampled", whole[rng.integers(0, size, size)], 0.0, 0.0)
    model = RowGenerator.independent(coded.database)
    made, seconds, cpu = timed(lambda: make(model, size))
    yield row("adult.independent", coded.code[made.cells], seconds, cpu)
    for name, setting in SETTINGS.items():
        found, learning, work = timed(lambda: table_of(coded.database, *setting))  # noqa: B023  # called at once
        generator = RowGenerator.of(found, coded.database)
        made, seconds, cpu = timed(lambda: make(generator, size))  # noqa: B023  # called at once
        yield Row(f"adult.{name}.learn", size, learning, peak(), f"L% {found.compression:.3f}", None, work)
        more = f", {made.itemsets.mean():.2f} itemsets a row"
        yield row(f"adult.{name}", coded.code[made.cells], seconds, cpu, more)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def warm() -> None:
    small = ItemDatabase.of_cells(
        np.array([[0, 2], [1, 3], [0, 3]] * 4, dtype=np.int32), np.array([0, 0, 1, 1], dtype=np.int32)
    )
    for way, closed in (("krimp", False), ("krimp", True), ("slim", False)):
        make(RowGenerator.of(table_of(small, way, 1, closed, True), small), 10)


PARTS = {"nursery": nursery, "million": million, "adult": nine}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--only", choices=PARTS)
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    warm()
    sheet = Sheet()
    sheet.head()
    for name in [chosen.only] if chosen.only else PARTS:
        for row in PARTS[name](chosen.data):
            sheet.add(row)
    sheet.write(chosen.json)


if __name__ == "__main__":
    main()
