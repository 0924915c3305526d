"""The tables that the generator is measured on, and how far marginals of two tables lie apart."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
from measuring import ROOT

sys.path.insert(0, str(ROOT))

from ppdm_flow.tables.table import Table

Cells = npt.NDArray[np.int32]

CATEGORICAL = (1, 3, 5, 6, 7, 8, 9, 13, 14)
"""The columns of Adult that are no numbers, its class included."""


@dataclass(frozen=True)
class Given:
    """A table and its class attribute."""

    table: Table
    target: str


def adult(data: Path, columns: Iterable[int], numbers: int = 0) -> Table:
    """Read the training part; numeric columns in so many intervals of equal frequency, where ``numbers`` is given."""
    rows = _lines(data / "adult_uci/adult.data.gz")
    found = {}
    for c in columns:
        texts = [row[c] for row in rows]
        if numbers and c not in CATEGORICAL:
            values = np.array(texts, dtype=float)
            edges = np.unique(np.quantile(values, np.linspace(0, 1, numbers + 1)[1:-1]))
            texts = [str(i) for i in np.searchsorted(edges, values, side="right").tolist()]
        found[f"c{c}"] = texts
    return Table.of(found)


def _lines(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt") as lines:
        return [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]


def _nine(data: Path) -> Given:
    return Given(adult(data, CATEGORICAL), "c14")


def _lucs(file: str) -> Callable[[Path], Given]:
    """Return how a table is read whose rows are ascending items, one of each column, that of the class last."""

    def read(data: Path) -> Given:
        with gzip.open(data / "lucs_num" / file, "rt") as lines:
            columns = list(zip(*(line.split() for line in lines), strict=True))
        return Given(Table.of({f"c{i}": list(c) for i, c in enumerate(columns)}), f"c{len(columns) - 1}")

    return read


def _mushroom(data: Path) -> Given:
    columns = zip(*_lines(data / "mushroom_uci/agaricus-lepiota.data.gz"), strict=True)
    return Given(Table.of({f"c{i}": list(c) for i, c in enumerate(columns)}), "c0")


TABLES: dict[str, Callable[[Path], Given]] = {
    "adult": _nine,
    "nursery": _lucs("nursery.D32.N12960.C5.num.gz"),
    "pima": _lucs("pima.D38.N768.C2.num.gz"),
    "led7": _lucs("led7.D24.N3200.C10.num.gz"),
    "mushroom": _mushroom,
}


def distance(one: Cells, other: Cells, widths: list[int], ways: int) -> float:
    """Return the mean total variation distance over all marginals of so many columns."""
    return float(np.mean([_of(one, other, widths, places) for places in combinations(range(len(widths)), ways)]))


def _of(one: Cells, other: Cells, widths: list[int], places: tuple[int, ...]) -> float:
    size = int(np.prod([widths[p] for p in places]))
    shares = []
    for cells in (one, other):
        key = np.zeros(len(cells), dtype=np.int64)
        for p in places:
            key = key * widths[p] + cells[:, p]
        shares.append(np.bincount(key, minlength=size) / len(cells))
    return float(np.abs(shares[0] - shares[1]).sum() / 2)
