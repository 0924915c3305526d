"""Yardsticks for the dissimilarity of generated data, each with one cause of it and without the others."""

from __future__ import annotations

from dataclasses import replace

import generation
import numpy as np
from printed import TABLES

from ppdm_flow.mining.comparison import Encoding
from ppdm_flow.mining.itemsets.collection import ItemsetCollection
from ppdm_flow.mining.itemsets.database import ItemDatabase


def reordered(setting: generation.Setting, run: int) -> generation.Figures:
    """Compare the original with itself under other numbers of its items: nothing but the search differs."""
    number = np.random.default_rng([run, setting.rows, 1]).permutation(setting.table.items)
    other = setting.compared.encoded(setting.table.renumbered(number).database)
    return generation.compared(setting, numbered_back(other, setting.table.database, number), "reordered")


def bootstrap(setting: generation.Setting, run: int) -> generation.Figures:
    """Compare the original with as many rows drawn from it with replacement: what a perfect model would generate."""
    rng = np.random.default_rng([run, setting.rows, 2])
    drawn = setting.table.of(setting.table.cells[rng.integers(0, setting.rows, setting.rows)])
    return generation.compared(setting, setting.compared.encoded(drawn), "bootstrap")


def twins(setting: generation.Setting, run: int) -> generation.Figures:
    """Compare two generated tables of one model."""
    one, two = (
        setting.compared.encoded(setting.table.of(generation.drawn(setting, 2 * run + half).cells)) for half in (0, 1)
    )
    return generation.directed("twins", one, two)


def uncorrected(setting: generation.Setting, run: int) -> generation.Figures:
    """Generate without a Laplace correction, and compare."""
    made = generation.drawn(replace(setting, laplace=0.0), run)
    return generation.compared(setting, setting.compared.encoded(setting.table.of(made.cells)), "uncorrected")


def shuffled(setting: generation.Setting, run: int) -> generation.Figures:
    """Return what one run comes to where the items have other numbers and the columns another order.

    The numbers break ties in every code table. Neither they nor the order are known of the paper's runs. Runs beyond
    those of the paper compare itemsets alone, which is cheap.
    """
    chosen = replace(setting, numbering=run + 1, order=generation.SHUFFLED)
    figures = {} if setting.closed else generation.patterns(chosen, run)
    if run < TABLES:
        figures |= {**generation.generated(chosen, run), **generation.internal(chosen, run)}
    return {f"shuffled.{key}": value for key, value in figures.items()}


def numbered_back(other: Encoding, database: ItemDatabase, number: np.ndarray) -> Encoding:
    """Return a code table of ``database`` that was found while item i had the number ``number[i]``."""
    back, sets = np.argsort(number).astype(np.int32), other.table.itemsets
    which = np.repeat(np.arange(len(sets)), sets.lengths)
    items = back[sets.items]
    items = items[np.lexsort((items, which))]
    found = replace(
        other.table,
        itemsets=ItemsetCollection(sets.offsets, items, sets.supports),
        singles=other.table.singles[number],
        standard=other.table.standard[number],
    )
    return Encoding(database, found)
