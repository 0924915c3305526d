"""What disclosing a value is worth: InfoGain / (PrivLoss + 1) (Wang, Fung, Yu, ICDM 2005, section 4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled, tolerant

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

NEGLIGIBLE = 1e-12
"""Bits: a gain below this is none, and scores that differ by less are tied. Rounding stays far below it."""


@compiled
def _spread(count: float) -> float:
    """Return x log2 x: what entropies are sums of."""
    return count * np.log2(count) if count > 0 else 0.0


@tolerant
@compiled
def gains(
    counts: Counts, parts: Floats, first: int, last: int, live: Counts, left: Counts, supervised: bool, out: Floats
) -> None:
    """Compute the gain of kinds ``first`` to ``last``, in bits, shape (kinds,): taken from what is ``left`` together.

    Supervised, what a disclosure tells of the class: I(left) - share I(part) - (1 - share) I(rest), with ``counts``
    (kinds, classes) and ``left`` (classes,) the rows in each class. Unsupervised, what it tells of the attribute
    itself: the entropy of the split. ``parts`` (kinds,) is what depends on the kind alone.
    """
    total = 0
    whole = 0.0
    for c in range(len(left)):
        total += left[c]
        if supervised:
            whole += _spread(left[c])
    whole = _spread(total) - whole
    for kind in range(first, last):
        if live[kind] == 0 or total == 0:
            continue
        rows = 0
        rest = 0.0
        for c in range(len(left)):
            rows += counts[kind, c]
            if supervised:
                rest += _spread(left[c] - counts[kind, c])
        out[kind] = (whole - parts[kind] - (_spread(total - rows) - rest)) / total


@tolerant
@compiled
def choose(
    candidates: Places, kind: Places, gain: Floats, loss: Floats, valid: Bools, wanted: Bools, negligible: float
) -> int:
    """Return the position in ``candidates`` of the best score, -1 for none; ties go to the first.

    Only ``valid`` ones count, and only such as tell something or are ``wanted`` nevertheless (all of shape (C,)).
    """
    top = -1.0
    for i in range(len(candidates)):
        y = candidates[i]
        worth = gain[kind[y]]
        if valid[y] and (worth > negligible or wanted[y]):
            top = max(top, max(worth, 0.0) / (loss[y] + 1.0))
    if top < 0.0:
        return -1
    for i in range(len(candidates)):
        y = candidates[i]
        worth = gain[kind[y]]
        if valid[y] and (worth > negligible or wanted[y]) and max(worth, 0.0) / (loss[y] + 1.0) >= top - negligible:
            return i
    return -1


def parts_of(counts: Counts, *, supervised: bool) -> Floats:
    """Return the spread of each part, within its classes taken away, shape (kinds,)."""
    whole = _spreads(counts.sum(axis=1))
    found: Floats = whole - _spreads(counts).sum(axis=1) if supervised else whole
    return found


def _spreads(counts: Counts) -> Floats:
    values = counts.astype(np.float64)
    found: Floats = values * np.log2(values, out=np.zeros_like(values), where=values > 0)
    return found
