"""What is measured for a reading: one run of one dataset, as tasks that several readings share."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from element_drawing import Elements
from generation import Setting, counted, half_of, itemsets, original_rows, table
from lucs import Table
from new_itemsets import mean_supports
from printed import LEAST
from readings import LAPLACES, SIZES, Reading, numbers

from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.mining.anonymity import anonymity_score, blend, of_tables
from ppdm_flow.mining.comparison import ALL, CLOSED, CodeTableSearch, Encoding, compare_itemsets, length
from ppdm_flow.mining.generation import GeneratedRows, RowGenerator
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compress import cover, krimp

ALWAYS_CLOSED = "mushroom"
LOWEST = {"pendigits": 20}
"""Minimum supports below which there are more itemsets than a run can wait for, closed ones included."""
ALL_FROM = {"pendigits": 50}
"""Minimum supports below which all itemsets are too many; closed ones stand in."""
MIXED = {("chess", 50): 1, ("pendigits", 50): 20}
COUNTED = ("chess50", *LEAST)

Figures = dict[str, Any]


@dataclass(frozen=True)
class Generator:
    """How rows are generated: the code table, then how elements are drawn."""

    search: CodeTableSearch
    numbering: str
    laplace: float
    weight: str
    order: str


@dataclass(frozen=True)
class Task:
    """``original``: compress; ``drawn``: generate and score; ``compared``, ``halved``: dissimilarities of one run.

    ``compared`` and ``halved`` come as {(size, correction): value}, for all sizes and corrections.
    """

    kind: str
    setting: Setting
    numbering: str
    generator: Generator | None = None
    search: CodeTableSearch | None = None
    run: int = 0

    @property
    def weight(self) -> int:
        """Rough cost, for the order of tasks."""
        return COUNTED.index("pendigits") * (self.setting.name == "pendigits") + (self.kind != "drawn")


def settled(word: str, data: Path) -> Setting:
    """Return the dataset and minimum support that ``iris`` or ``chess50`` means."""
    name = word.rstrip("0123456789") if word not in LEAST else word
    return Setting(data, name, int(word.removeprefix(name) or LEAST[name]), 0.0)


def searched(setting: Setting, least: str, *, closed: bool, pruning: bool) -> CodeTableSearch:
    """Return how a code table is found under an answer to ``least`` or ``compared_least``."""
    if least == "mixed":
        count = MIXED.get((setting.name, setting.least), setting.least)
    elif least == "table":
        count = LEAST[setting.name]
    else:
        count = setting.least if least == "own" else int(least)
    count = max(count, LOWEST.get(setting.name, 1))
    few = closed or setting.name == ALWAYS_CLOSED or count < ALL_FROM.get(setting.name, 1)
    return CodeTableSearch(count, CLOSED if few else ALL, pruning=pruning)


def tasks(reading: Reading, setting: Setting, run: int) -> list[Task]:
    """Return the tasks of one run of a dataset: those that generate, and the original against a half of itself."""
    search = searched(setting, reading.least, closed=reading.closed, pruning=reading.pruning)
    generator = Generator(search, reading.numbering, reading.laplace, reading.weight, reading.order)
    compared = searched(
        setting, reading.compared_least, closed=reading.compared_closed, pruning=reading.compared_pruning
    )
    found = [
        Task("drawn", setting, reading.numbering, generator, run=run),
        Task("compared", setting, reading.numbering, generator, compared, run),
    ]
    if setting.least == LEAST[setting.name]:
        found.append(Task("halved", setting, reading.numbering, search=compared, run=run))
    return found


def originals(task: Task) -> list[Task]:
    """Return the compressions of the original that a task builds on."""
    searches = [task.search, task.generator.search if task.generator else None]
    return [Task("original", replace(task.setting, least=0), task.numbering, search=s) for s in searches if s]


def work(folder: Path, task: Task) -> tuple[Figures, float]:
    """Do a task; return its figures and processor seconds. ``folder`` keeps them, and compressed originals."""
    path = folder / (named(task) + ".done")
    if path.exists():
        done: tuple[Figures, float] = pickle.loads(path.read_bytes())
        return done
    if task.kind != "original":
        for needed in originals(task):  # not timed: other tasks share it
            original(folder, needed)
    started = time.process_time()
    figures = KINDS[task.kind](folder, task)
    done = figures, time.process_time() - started
    keep(path, done)
    return done


@lru_cache(maxsize=64)
def original(folder: Path, task: Task) -> Encoding:
    """Return the compressed original, from the folder where some process has put it there."""
    path = folder / named(task)
    if path.exists():
        kept: Encoding = pickle.loads(path.read_bytes())
        return kept
    assert task.search
    whole = table(task.setting.data, task.setting.name)
    number = numbers(whole.cells, whole.place, task.numbering)
    database = renumbered(whole.cells, whole.place, number)
    found = krimp(database, candidates(task.setting, task.numbering, task.search), pruning=task.search.pruning)
    made = Encoding(database, found.table)
    keep(path, made)
    return made


def named(task: Task) -> str:
    """Return the name of a task's file."""
    return hashlib.sha256(repr(task).encode()).hexdigest()


def keep(path: Path, value: Any) -> None:
    """Write a file that other processes find whole or not at all."""
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_bytes(pickle.dumps(value))
    beside.replace(path)


def candidates(setting: Setting, numbering: str, search: CodeTableSearch) -> ItemsetCollection:
    """Return the original's candidates in their order; with and without pruning they are the same."""
    return _candidates(setting.data, setting.name, numbering, int(search.min_support), search.candidates == CLOSED)


@lru_cache(maxsize=1)
def _candidates(data: Path, name: str, numbering: str, least: int, closed: bool) -> ItemsetCollection:
    whole = table(data, name)
    database = renumbered(whole.cells, whole.place, numbers(whole.cells, whole.place, numbering))
    return mine(database, least, only_closed=closed).in_candidate_order()


def renumbered(cells: np.ndarray, place: np.ndarray, number: np.ndarray) -> ItemDatabase:
    return Table(cells, place).renumbered(number).database


def compressed(folder: Path, task: Task) -> Figures:
    sizes = original(folder, task).table.sizes
    return {"bits": sizes.total}


@lru_cache(maxsize=4)
def generated(folder: Path, setting: Setting, generator: Generator, run: int) -> GeneratedRows:
    """Generate as many rows as there are, with the words of `generation.py`; items are numbered as in the file."""
    task = Task("original", replace(setting, least=0), generator.numbering, search=generator.search)
    found, whole = original(folder, task), table(setting.data, setting.name)
    columns = whole.cells.shape[1]
    words = Draws(RunKey.from_seed(f"krimp {run}").step("generate"), columns).words(np.arange(len(whole.cells)))
    weights = weighed(found.table, found.database, generator)
    if generator.order == "uniform":
        made = RowGenerator.of_elements(found.table.itemsets, weights, found.database, 0.0).generate(words)
    else:
        elements = Elements.of(found.table.itemsets, weights, found.database.place, generator.order)
        made = elements.generate_from(words)
    number = numbers(whole.cells, whole.place, generator.numbering)
    return GeneratedRows(np.argsort(number).astype(np.int32)[made.cells], made.itemsets)


def weighed(code_table: CodeTable, database: ItemDatabase, generator: Generator) -> np.ndarray:
    """Return the weight of each itemset and, after them, each item, with the correction."""
    if generator.weight == "support":
        return np.concatenate([code_table.itemsets.supports, database.supports]) + generator.laplace
    usages = np.concatenate([code_table.usages, code_table.singles]) + generator.laplace
    if generator.weight == "usage":
        return usages
    if generator.weight == "code length":
        return np.log2(usages.sum()) - np.log2(usages)
    raise ValueError(f"unknown weight {generator.weight!r}")


def drawn(folder: Path, task: Task) -> Figures:
    """Score generated rows, and compare their frequent itemsets with the original's."""
    assert task.generator
    setting = task.setting
    made, whole = generated(folder, setting, task.generator, task.run), table(setting.data, setting.name)
    joint = of_tables(original_rows(setting.data, setting.name, 0), counted(made.cells, len(whole.place)))
    figures = {"nas": anonymity_score(joint).normalised, "itemsets_per_row": float(made.itemsets.mean())}
    if setting.least > 1:
        figures["rare_in_original"] = 100 * blend(joint, setting.least, setting.least).share
    if setting.name != ALWAYS_CLOSED and setting.least == LEAST[setting.name]:
        rows, mined = len(whole.cells), mine(whole.of(made.cells), setting.least)
        known = itemsets(replace(setting, laplace=0.0))
        found = compare_itemsets(known, mined, rows, rows)
        figures["equal_itemsets"] = 100 * (found.equal or 0.0)
        figures["support_difference"] = 100 * float(found.differences.mean()) if len(found.before) else 0.0
        figures["new_support"] = 100 * mean_supports(known, mined)[0] / rows
    return figures


def compared(folder: Path, task: Task) -> Figures:
    """Compare the original's code table with that of generated rows."""
    assert task.generator
    assert task.search
    whole = table(task.setting.data, task.setting.name)
    made = generated(folder, task.setting, task.generator, task.run)
    number = numbers(whole.cells, whole.place, task.numbering)
    own = original(folder, originals(task)[0])
    return {"dissimilarity": grid(own, task.search.encoded(renumbered(made.cells, whole.place, number)))}


def halved(folder: Path, task: Task) -> Figures:
    """Compare the original's code table with that of half as many rows, those that `generation.py` takes."""
    assert task.search
    whole = table(task.setting.data, task.setting.name)
    rows = half_of(len(whole.cells), task.run)
    number = numbers(whole.cells, whole.place, task.numbering)
    own = original(folder, originals(task)[0])
    return {"internal": grid(own, task.search.encoded(renumbered(whole.cells[rows], whole.place, number)))}


def grid(x: Encoding, y: Encoding) -> dict[tuple[str, float], float]:
    """Return the dissimilarity for every size and correction: one cover in each direction serves them all."""
    first, second = longer(x, y), longer(y, x)
    return {key: max(first[key], second[key]) for key in first}


def longer(x: Encoding, y: Encoding) -> dict[tuple[str, float], float]:
    """Return (L(x|CT_y) - L(x|CT_x)) / L(x|CT_x) for every size and correction."""
    foreign = cover(x.database, y.table.itemsets)
    usages = np.concatenate([foreign.usages, foreign.singles])
    found = {}
    for laplace in LAPLACES:
        own, other = length(x.usages, x.usages, laplace), length(usages, y.usages, laplace)
        tables = {"data": (0.0, 0.0), "both": (x.table.sizes.table, y.table.sizes.table)}
        for size in SIZES:
            mine_, theirs = own + tables[size][0], other + tables[size][1]
            found[size, laplace] = (theirs - mine_) / mine_
    return found


KINDS = {"original": compressed, "drawn": drawn, "compared": compared, "halved": halved}
