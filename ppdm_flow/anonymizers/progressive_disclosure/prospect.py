"""What a candidate would do to one channel, if it were disclosed: at least, at once; or exactly, over all its cells."""

from __future__ import annotations

import numpy as np

from ppdm_flow.anonymizers.progressive_disclosure.state import (
    GROUP,
    MASS,
    NEXT,
    NONE,
    Counts,
    Floats,
    Places,
    State,
)
from ppdm_flow.sdk.compiled import compiled


@compiled
def _worst(w: int, h: int, total: int, hits: int) -> float:
    """The higher confidence of the two groups that a cell of ``w`` rows and ``h`` hits would leave of its group."""
    confidence = h / w
    if total > w:
        confidence = max(confidence, (hits - h) / (total - w))
    return float(confidence)


@compiled
def rises(s: State, candidates: Places, count: int, rise: Floats) -> None:
    """Add to ``rise`` (count,) at least as little as each candidate would raise the confidences by, at no more cost.

    Confidences only rise, so what was seen of a candidate before still holds, and one cell of it is looked at anew.
    """
    confidence, witness, groups = s.confidence, s.witness, s.groups
    for i in range(count):
        y = candidates[i]
        if s.local[y] == NONE:
            continue
        g = witness[y, 0]
        for t in range(len(confidence)):
            reached = max(s.after[y, t], confidence[t])
            if g != NONE:
                w, h = witness[y, 1], witness[y, 2 + t]
                reached = max(reached, _worst(w, h, groups[g, MASS], groups[g, MASS + 1 + t]))
            rise[i] += reached - confidence[t]


@compiled
def look(s: State, y: int, bounds: Floats, least: int, rise: float) -> float:
    """Look at every cell of a candidate; return ``rise`` and what it would raise the confidences by.

    Return -1 where a bound would break.
    """
    if s.local[y] == NONE:
        return rise
    most, witness_cell = -1.0, np.int64(NONE)
    k = s.first[y]
    while k != NONE:
        g, w = s.cells[k, GROUP], s.cells[k, MASS]
        total = s.groups[g, MASS]
        s.smallest[y] = min(s.smallest[y], w, total - w if total > w else w)
        sum_ = 0.0
        for t in range(len(bounds)):
            confidence = _worst(w, s.cells[k, MASS + 1 + t], total, s.groups[g, MASS + 1 + t])
            s.after[y, t] = max(s.after[y, t], confidence)
            sum_ += max(confidence, s.confidence[t])
        if sum_ > most:
            most, witness_cell = sum_, k
        k = s.cells[k, NEXT]
    _remember(s.witness, y, s.cells, witness_cell)
    fine = s.smallest[y] >= least
    for t in range(len(bounds)):
        reached = max(s.after[y, t], s.confidence[t])
        rise += reached - s.confidence[t]
        fine = fine and reached <= bounds[t]
    return rise if fine else -1.0


@compiled
def _remember(witness: Counts, y: int, cells: Counts, k: int | np.int64) -> None:
    witness[y, 0] = NONE
    if k != NONE:
        witness[y, 0] = cells[k, GROUP]
        for i in range(witness.shape[1] - 1):
            witness[y, 1 + i] = cells[k, MASS + i]
