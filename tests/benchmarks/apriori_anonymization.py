"""Apriori anonymization of transactions in time, and in what it loses: k = 5, combinations of 2 and of 3 items.

    python tests/benchmarks/apriori_anonymization.py [--data DIR] [--json FILE]

The hierarchies put five neighbours of the items' numbers together on each level, as the paper's do. Kernels are warm,
and reading is not counted.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from pathlib import Path

import numpy as np
from measuring import ROOT, Row, Sheet

from ppdm_flow.mining.combinations.apriori import generalized
from ppdm_flow.mining.combinations.cut import LEAVE_OUT, ROLL_UP_FIRST
from ppdm_flow.mining.combinations.owners import CodeTree, Owners, tree_of

SETS = ("BMS-WebView-1", "BMS-WebView-2", "retail", "kosarak_first10k")
LEAST, TOGETHER = 5, 5
WAYS = {"roll_up_first": ROLL_UP_FIRST, "leave_out": LEAVE_OUT}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--json", type=Path)
    chosen = words.parse_args()
    sheet = Sheet()
    sheet.head()
    for name in SETS:
        owned = read(chosen.data / f"fimi/{name}.dat.gz")
        tree = neighbours(owned.width)
        for most in (2, 3):
            for way in WAYS:
                sheet.add(row(name, owned, tree, most, way))
    sheet.write(chosen.json)


def read(file: Path) -> Owners:
    with gzip.open(file, "rt", encoding="ascii") as lines:
        rows = [np.unique(np.array(line.split(), dtype=np.int64)) for line in lines]
    begins = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    items, codes = np.unique(np.concatenate(rows), return_inverse=True)
    return Owners.of_sets(begins, codes.astype(np.int32), np.ones(len(rows), dtype=np.int64), len(items))


def neighbours(width: int) -> CodeTree:
    parents, values, level = [-1] * width, [1] * width, list(range(width))
    while len(level) > 1:
        above = []
        for start in range(0, len(level), TOGETHER):
            below = level[start : start + TOGETHER]
            above.append(len(parents))
            parents.append(-1)
            values.append(sum(values[node] for node in below))
            for node in below:
                parents[node] = above[-1]
        level = above
    return tree_of(parents, range(width), values, width)


def row(name: str, owned: Owners, tree: CodeTree, most: int, way: str) -> Row:
    generalized(owned.mapped(np.full(owned.width, -1, dtype=np.int32), owned.width), tree, LEAST, most, WAYS[way])
    cpu, wall = time.process_time(), time.perf_counter()
    node = generalized(owned, tree, LEAST, most, WAYS[way]).node
    seconds, spent = time.perf_counter() - wall, time.process_time() - cpu
    occurs, kept = owned.occurrences(), node >= 0
    lost = (occurs[kept] * tree.price[node[kept]]).sum() + occurs[~kept].sum() * tree.full_price
    note = f"NCP {lost / tree.full_price / occurs.sum():.3f}, {owned.width:,} items to {len(np.unique(node[kept])):,}"
    return Row(f"{name}.m{most}.{way}", len(owned), seconds, 0, note, cpu=spent)


if __name__ == "__main__":
    main()
