"""Yardsticks for a comparison: a random part of a database, and one without any correlation."""

from __future__ import annotations

import numpy as np

from ppdm_flow.mining.itemsets.database import ABSENT, Database


def random_part(database: Database, rows: int, rng: np.random.Generator) -> Database:
    """Return ``rows`` of the database's rows, drawn without replacement, over the same alphabet.

    Raises ValueError for fewer than one row or more than there are.
    """
    if not 1 <= rows <= database.rows:
        raise ValueError(f"rows of a part must be from 1 to {database.rows}, got {rows}")
    weights = rng.multivariate_hypergeometric(database.weights, rows, method="marginals")
    drawn = weights > 0
    return Database.of_cells(database.cells[drawn], database.place, weights[drawn])


def uncorrelated(database: Database, rows: int, rng: np.random.Generator, laplace: float = 0.001) -> Database:
    """Return ``rows`` new rows in which each place is drawn by itself: what singletons alone generate.

    Items have their support plus ``laplace`` as weight; items that do not occur are drawn as rarely as that says.
    """
    cells = np.full((rows, database.cells.shape[1]), ABSENT, dtype=np.int32)
    for place in range(cells.shape[1]):
        items = np.flatnonzero(database.place == place).astype(np.int32)
        weights = database.supports[items] + laplace
        absent = database.rows - int(database.supports[items].sum())
        shares = np.cumsum(np.append(weights, absent))
        drawn = np.searchsorted(shares, rng.random(rows) * shares[-1], side="right")
        cells[:, place] = np.append(items, np.int32(ABSENT))[np.minimum(drawn, len(items))]
    return Database.of_cells(cells, database.place)
