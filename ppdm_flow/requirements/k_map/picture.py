"""How many people of the population the released rows fit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.results import Chart, FigureSeries
from ppdm_flow.requirements.k_map.requirement import KMap

Ints = npt.NDArray[np.int64]
_EDGES = (0, 1, 2, 5, 10, 50, 100, 1000)


def pictures(requirement: KMap, people: Ints, rows: Ints) -> Iterator[Chart]:
    """Yield rows by the people who fit their class, with an edge at the required k; none without rows."""
    if not len(people):
        return
    edges = np.array(sorted({*_EDGES, requirement.k}))
    place = np.searchsorted(edges, people, side="right") - 1
    counted = np.bincount(place, rows, len(edges))
    last = int(place.max()) + 1
    names = [f"{a:,}" if b == a + 1 else f"{a:,} to {b - 1:,}" for a, b in pairwise(edges.tolist())]
    names.append(f"{edges[-1]:,} or more")
    yield Chart(
        id=f"{requirement.id}.by_people",
        title="Rows by the people of the population whom they fit",
        kind="bars",
        x=tuple(names[:last]),
        series=(FigureSeries("released rows", tuple(counted[:last].tolist())),),
        x_label="people",
        y_label="rows",
        note=f"At least {requirement.k:,} are required.",
        group=requirement.kind,
    )
