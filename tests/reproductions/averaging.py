"""How supports of new itemsets are averaged over several generated tables, which the paper leaves open.

``new_support`` is the mean over the new itemsets of one table, then over tables. The other reading has each itemset
that is new in some of N tables once, with its mean support in those that have it: ``new_support.once.N``. It is lower,
since an itemset that many tables have is no longer counted often; N is 10 if all tables of the paper are pooled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import generation
import numpy as np
from causes import Values
from means import Mean
from printed import PRINTED

from ppdm_flow.mining.comparison.patterns import matched
from ppdm_flow.mining.itemsets.collection import Itemsets
from ppdm_flow.mining.itemsets.mine import mine

TABLES = 10
"""As many as the paper generates of each dataset."""
POOLED = (2, 3, 5, TABLES)
FEW_ROWS = 1000
"""Rows below which ten tables are cheap enough to be made many times."""


def once(setting: generation.Setting, group: int) -> generation.Figures:
    """Return the mean support of new itemsets, in per cent, each once over so many of the ten tables of a group."""
    tables = [new_itemsets(setting, group * TABLES + run) for run in range(TABLES)]
    figures = {}
    for count in POOLED:
        pools = [tables[first : first + count] for first in range(0, TABLES - count + 1, count)]
        means = [pooled_mean(pool) for pool in pools if sum(map(len, pool))]
        if means:
            figures[f"new_support.once.{count}"] = 100 * float(np.mean(means)) / setting.rows
    return figures


def new_itemsets(setting: generation.Setting, run: int) -> Itemsets:
    """Return the itemsets that a generated table has and the original has not."""
    mined = mine(setting.table.of(generation.drawn(setting, run).cells), setting.least)
    known = matched(generation.itemsets(setting), mined)[1]
    return mined.take(np.setdiff1d(np.arange(len(mined)), known))


def pooled_mean(tables: list[Itemsets]) -> float:
    """Return the mean over distinct itemsets of their mean support in the tables that have them."""
    longest = max(int(t.lengths.max(initial=0)) for t in tables)
    keys = np.concatenate([_padded(t, longest) for t in tables])
    whole = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.dtype.itemsize * longest))).ravel()
    _, which, count = np.unique(whole, return_inverse=True, return_counts=True)
    return float((np.bincount(which, np.concatenate([t.supports for t in tables])) / count).mean())


def _padded(itemsets: Itemsets, longest: int) -> np.ndarray:
    """Return the items of each itemset as a row of ``longest``, shape (itemsets, longest), -1 behind the last."""
    padded = np.full((len(itemsets), longest), -1, dtype=np.int32)
    begins, lengths = itemsets.offsets[:-1], itemsets.lengths
    for position in range(longest):
        has = lengths > position
        padded[has, position] = itemsets.items[begins[has] + position]
    return padded


def averages(every: Mapping[str, Values]) -> Iterator[str]:
    """Yield a table of the mean support of new itemsets by how many tables have an itemset once."""
    shown = {n: v for n, v in every.items() if f"new_support.once.{TABLES}" in v}
    if not shown:
        return
    yield f"\n{'new_support, each itemset once over':<36} {'paper':>7} {'1 table':>8}" + "".join(
        f"{count:>8}" for count in POOLED
    )
    for name, values in shown.items():
        keys = ("new_support", *(f"new_support.once.{count}" for count in POOLED))
        means = "".join(f"{Mean.of(values[key]).value:>9.4f}"[1:] for key in keys)
        yield f"  {name:<34} {PRINTED[f'{name}.new_support'].value:>7g} {means}"
