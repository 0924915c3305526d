"""Against the figures of the paper and of the authors' data, where these are at hand."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from ppdm_flow.mining.generation import RowGenerator
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.krimp.compress import krimp

DATA = Path(os.environ.get("PPDM_DATA", Path(__file__).parents[3].parent / "shared/data"))


def table_of(name: str) -> ItemDatabase:
    """A discretised table: one item for each column and row, numbered by descending support."""
    path = DATA / "lucs_num" / name
    if not path.exists():
        pytest.skip(f"{path} is not there: set PPDM_DATA")
    with gzip.open(path, "rt") as lines:
        rows = np.array([[int(w) for w in line.split()] for line in lines])
    support = np.bincount(rows.ravel())
    order = np.argsort(-support, kind="stable")
    number = np.empty(len(support), dtype=np.int32)
    number[order] = np.arange(len(support))
    place = np.zeros(len(support), dtype=np.int32)
    for column in range(rows.shape[1]):
        place[number[np.unique(rows[:, column])]] = column
    items = int(np.count_nonzero(support))
    return ItemDatabase.of_cells(number[rows], place[:items])


def model_of(database: ItemDatabase) -> RowGenerator:
    return RowGenerator.of(krimp(database, mine(database, 1).of_length(2).in_candidate_order()).table, database)


def test_iris_takes_two_itemsets_a_row(kit):
    """An independent implementation makes a row of 1.86 elements on average, over 10 tables of 150 rows."""
    model = model_of(table_of("iris.D19.N150.C3.num.gz"))
    assert abs(model.generate(kit.words(model, 20_000)).itemsets.mean() - 1.86) < 0.05


@pytest.mark.slow
def test_nursery_keeps_the_supports_of_frequent_itemsets(kit):
    """As many rows as the original: itemsets of 10 % or more keep their supports within 0.010 on average."""
    database = table_of("nursery.D32.N12960.C5.num.gz")
    model = model_of(database)
    made = ItemDatabase.of_cells(model.generate(kit.words(model, database.rows)).cells, database.place)
    errors = []
    for items, support in mine(database, 0.1):
        hit = np.logical_and.reduce([made.cells[:, database.place[i]] == i for i in items])
        errors.append(abs(int(made.weights[hit].sum()) - support) / database.rows)
    assert len(errors) == 179
    assert np.mean(errors) < 0.010
