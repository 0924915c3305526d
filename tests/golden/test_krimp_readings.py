"""The script that tries the readings of the paper on generated data: its generators, its misfit, a run of it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from ppdm_flow.mining.comparison import CodeTableSearch, dissimilarity
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase

FOLDER = Path(__file__).parents[1] / "reproductions"
DATA = Path(os.environ.get("PPDM_DATA", Path(__file__).parents[3] / "shared/data"))


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def sets(*lists):
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    items = np.array([item for each in lists for item in each], dtype=np.int32)
    return ItemsetCollection(offsets, items, np.ones(len(lists), dtype=np.int64))


def plain_row(elements, weights, place, uniform, order):
    """Put one row together: the twin of the kernel."""
    row, taken, domains = {}, 0, max(place) + 1
    while len(row) < domains:
        fitting = [i for i, e in enumerate(elements) if not any(place[item] in row for item in e)]
        if order != "any":
            first = (min if order == "columns" else max)(d for d in range(domains) if d not in row)
            fitting = [i for i in fitting if first in [place[item] for item in elements[i]]]
        x = uniform[taken] * sum(weights[i] for i in fitting)
        for chosen in fitting:
            x -= weights[chosen]
            if x < 0:
                break
        row |= {int(place[item]): item for item in elements[chosen]}
        taken += 1
    return [row[d] for d in range(domains)], taken


@pytest.mark.parametrize("order", ["columns", "backwards", "any"])
def test_the_other_orders_do_what_their_plain_twin_does(order):
    from element_drawing import Elements

    rng = np.random.default_rng(3)
    place = np.array([0, 1, 2, 0, 1, 2, 3, 3, 1], dtype=np.int32)
    lists = [[0, 1, 2], [3, 4], [1, 6], [5, 7], [2, 8], [3, 6]]
    weights = rng.integers(1, 20, len(lists) + len(place)).astype(float)
    uniform = rng.random((400, 4))
    made = Elements.of(sets(*lists), weights, place, order).generate(uniform)
    elements = [*lists, *([i] for i in range(len(place)))]
    for row, (cells, taken) in enumerate(zip(made.cells.tolist(), made.itemsets.tolist(), strict=True)):
        assert (cells, taken) == plain_row(elements, weights, place, uniform[row], order)


def test_rows_are_as_likely_as_weights_say():
    """Two columns, items 0 and 1 in the first, 2 and 3 in the second, and an itemset of 0 and 2."""
    from element_drawing import Elements

    place, weights = np.array([0, 0, 1, 1], dtype=np.int32), np.array([4.0, 1.0, 2.0, 1.0, 2.0])
    uniform, rows = np.random.default_rng(1).random((40_000, 2)), {}
    for order in ("columns", "any"):
        cells = Elements.of(sets([0, 2]), weights, place, order).generate(uniform).cells
        rows[order] = Counter(map(tuple, cells.tolist()))
    # columns: the pair 4/7, item 0 1/7, item 1 2/7; the second column is then 2 with 1/3, 3 with 2/3
    assert rows["columns"][0, 2] / 40_000 == pytest.approx(4 / 7 + 1 / 7 / 3, abs=0.01)
    assert rows["columns"][1, 3] / 40_000 == pytest.approx(2 / 7 * 2 / 3, abs=0.01)
    # any: the pair 4/10; else singletons in either order, the pair out
    single = (1 + 2 + 1 + 2) / 10 * (1 / 3) * (1 / 3)
    assert rows["any"][0, 2] / 40_000 == pytest.approx(4 / 10 + single, abs=0.01)
    assert rows["any"][1, 3] / 40_000 == pytest.approx(6 / 10 * (2 / 3) * (2 / 3), abs=0.01)


def test_elements_without_weight_and_unknown_orders_are_refused():
    from element_drawing import Elements

    place = np.array([0, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="above 0"):
        Elements.of(sets(), np.array([1.0, 0.0]), place, "any")
    with pytest.raises(ValueError, match="unknown order"):
        Elements.of(sets(), np.array([1.0, 1.0]), place, "sideways")


def test_one_cover_serves_all_corrections():
    from reading_tasks import grid
    from readings import LAPLACES

    rng = np.random.default_rng(7)
    place = np.repeat(np.arange(4), 3).astype(np.int32)
    tables = [rng.integers(0, 3, (60, 4)) + 3 * np.arange(4) for _ in range(2)]
    x, y = (CodeTableSearch(1).encoded(ItemDatabase.of_cells(t.astype(np.int32), place)) for t in tables)
    found = grid(x, y)
    for laplace in LAPLACES:
        assert found["data", laplace] == pytest.approx(dissimilarity(x, y, laplace).value)


def test_a_figure_that_rounds_to_the_printed_one_is_not_off():
    from misfit import Fit, off

    assert off("nursery.dissimilarity", 0.0114) == off("iris.equal_itemsets", 82.6) == 0
    assert off("nursery.dissimilarity", 0.023) == pytest.approx(math.log(2))
    assert off("chess50.dissimilarity", 0.0925) == pytest.approx(-math.log(2))
    assert off("iris.nas", 0.5) == pytest.approx(-math.log(0.715 / 0.285))
    fit = Fit({"iris.dissimilarity": np.array([0.0475 * 2] * 3), "iris.nas": np.array([0.72] * 3)})
    assert fit.misfit == pytest.approx(math.log(2) ** 2 / 2)
    assert fit.error == 0


def test_the_error_of_a_misfit_is_that_of_its_runs():
    """Held against the spread of misfits over many repetitions."""
    from misfit import Fit

    rng = np.random.default_rng(11)

    def repeated():
        dissimilarity = rng.normal(0.1, 0.02, 10)
        return Fit({"iris.dissimilarity": dissimilarity, "pima.nas": rng.normal(0.5, 0.05, 10)})

    fits = [repeated() for _ in range(400)]
    assert np.mean([f.error for f in fits]) == pytest.approx(np.std([f.misfit for f in fits]), rel=0.15)
    more, error = fits[0].against(fits[0])
    assert more == error == 0


def test_numberings_name_every_item_once():
    from readings import ANSWERS, numbers

    place = np.array([1, 0, 1, 0], dtype=np.int32)
    cells = np.array([[1, 0], [1, 0], [3, 2], [1, 0]], dtype=np.int32)
    for numbering in ANSWERS["numbering"]:
        assert sorted(numbers(cells, place, numbering)) == [0, 1, 2, 3]
    assert numbers(cells, place, "columns").tolist() == [2, 0, 3, 1]
    assert numbers(cells, place, "rare").tolist() == [2, 3, 0, 1]


def test_a_run(tmp_path):
    if not (DATA / "lucs_krimp_db").is_dir():
        pytest.skip("the discretised UCI data is not at hand (PPDM_DATA)")
    words = ["--data", DATA, "--only", "iris", "--runs", "2", "--workers", "1", "--json", tmp_path / "rows.json"]
    command = [sys.executable, FOLDER / "krimp_readings.py", *words, "--plot", tmp_path / "plot.svg"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    alone = {row["reading"]: row for row in rows if row["step"] == "alone"}
    assert alone["weight=support"]["misfit"] > alone["today's"]["misfit"] + 3 * alone["today's"]["error"]
    assert alone["compared_least=own"]["means"] == alone["today's"]["means"]
    (best,) = [row for row in rows if row["step"] == "descent"][-1:]
    assert best["misfit"] <= alone["today's"]["misfit"]
    assert {"iris.dissimilarity", "iris.internal", "iris.nas", "iris.equal_itemsets"} <= best["means"].keys()
    assert "best: " in done.stdout
    assert len(ET.parse(tmp_path / "plot.svg").findall("{*}g")) == 5
