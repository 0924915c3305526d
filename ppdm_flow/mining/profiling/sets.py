"""A column of sets in figures, without its items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.tables.sets import Baskets


@dataclass(frozen=True, slots=True)
class SetFacts:
    """What ``rows`` sets of ``items`` different ones look like.

    ``alone`` of them have an item that no other set has; so many have the ``most_frequent`` one; ``empty`` have none.
    """

    rows: int
    items: int
    mean_size: float
    largest: int
    empty: int
    alone: int
    most_frequent: int


def set_facts(column: Baskets) -> SetFacts:
    """Measure a column of one set or more."""
    supports, sizes = column.counts(), column.sizes
    return SetFacts(
        rows=len(column),
        items=int((supports > 0).sum()),
        mean_size=float(sizes.mean()),
        largest=int(sizes.max()),
        empty=int((sizes == 0).sum()),
        alone=len(np.unique(column.rows()[supports[column.items] == 1])),
        most_frequent=int(supports.max(initial=0)),
    )
