"""Adult with ARX's hierarchies: the optima that ARX finds under its loss metric."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from ppdm_flow.mining.recoding import costs
from ppdm_flow.mining.recoding.grouping import Levels, WeightedRows
from ppdm_flow.mining.recoding.models import KAnonymous
from ppdm_flow.mining.recoding.search import optimum
from ppdm_flow.requirements.l_diversity.algorithm import DistinctDiverse
from ppdm_flow.requirements.t_closeness.algorithm import CloseClass

DATA = Path(os.environ.get("PPDM_DATA", Path(__file__).parents[4] / "shared" / "data")) / "arx_adult"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data in {DATA.name}: set PPDM_DATA")

NINE = (
    "age",
    "education",
    "marital-status",
    "native-country",
    "occupation",
    "race",
    "salary-class",
    "sex",
    "workclass",
)
EIGHT = tuple(name for name in NINE if name != "occupation")


def levels_of(labels):
    maps, shares = [], []
    for names in labels:
        _, codes = np.unique(np.asarray(names, dtype=object).astype(str), return_inverse=True)
        maps.append(codes.astype(np.int32))
        shares.append(np.bincount(codes) / len(codes))
    maps[0] = np.arange(len(labels[0]), dtype=np.int32)
    shares[0] = np.full(len(labels[0]), 1.0 / max(1, len(labels[0])))
    return Levels(tuple(maps), tuple(shares))


def ground(names, sensitive=()):
    with gzip.open(DATA / "adult.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    levels, columns = [], []
    for name in names:
        with (DATA / f"adult_hierarchy_{name}.csv").open(encoding="utf-8", newline="") as stream:
            lines = [line for line in csv.reader(stream, delimiter=";") if line]
        place = {line[0]: i for i, line in enumerate(lines)}
        levels.append(levels_of(list(zip(*lines, strict=True))))
        columns.append(np.array([place[row[name]] for row in rows], dtype=np.int32))
    found = [np.unique([row[name] for row in rows], return_inverse=True) for name in sensitive]
    cells = np.stack([*columns, *(codes.astype(np.int32) for _, codes in found)], axis=1)
    distinct, weights = np.unique(cells, axis=0, return_counts=True)
    width = len(names)
    return WeightedRows(
        np.ascontiguousarray(distinct[:, :width]),
        weights.astype(np.int64),
        tuple(levels),
        tuple(np.ascontiguousarray(distinct[:, width + i]) for i in range(len(sensitive))),
        tuple(len(values) for values, _ in found),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "share", "node", "suppressed", "classes"),
    [
        (5, 0.04, (3, 1, 1, 1, 2, 0, 0, 0, 1), 1178, 370),
        (10, 0.04, None, 1163, 168),
        (5, 0.0, None, 0, 24),
        (5, 1.0, None, 2553, 602),
    ],
)
def test_k_anonymity_over_nine_attributes(k, share, node, suppressed, classes) -> None:
    table = ground(NINE)
    found = optimum(table, [KAnonymous(k)], costs.DomainLoss(), int(share * table.records))
    assert found.proven
    assert found.size == 12_960
    assert node is None or found.node == node
    assert (found.best.suppressed, int(found.best.kept.sum())) == (suppressed, classes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "suppressed", "classes"),
    [
        (None, 1178, 370),
        (DistinctDiverse(0, 5), 1109, 193),
        (CloseClass(0, 0.2), 235, 6),
    ],
)
def test_eight_attributes_and_a_sensitive_one(model, suppressed, classes) -> None:
    table = ground(EIGHT, ["occupation"])
    asked = [KAnonymous(5), *([model] if model else [])]
    found = optimum(table, asked, costs.DomainLoss(), int(0.04 * table.records), at_released=False)
    assert found.proven
    assert (found.best.suppressed, int(found.best.kept.sum())) == (suppressed, classes)
