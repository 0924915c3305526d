"""What disclosing a value is worth: InfoGain / (PrivLoss + 1) (Wang, Fung, Yu, ICDM 2005, section 4)."""

from __future__ import annotations

from typing import NamedTuple

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


class Offers(NamedTuple):
    """What the choice is made from, by candidate: shape (C,), but for ``gain`` (kinds,) and ``left`` (shelves,).

    ``rows`` of a candidate, its ``kind`` and ``shelf``; ``left`` rows on each shelf; ``wanted``: whether to disclose it
    even if it tells nothing; ``concerned``: how many templates its rise of confidence is the mean over.
    """

    rows: Counts
    kind: Places
    shelf: Counts
    wanted: Bools
    concerned: Floats
    gain: Floats
    left: Counts


@compiled
def _score(o: Offers, rise: Floats, y: int, negligible: float) -> float:
    """Return the score, -1 for what is not worth disclosing.

    All that is left on a shelf is worth it: the coarser label hides nothing.
    """
    gain = o.gain[o.kind[y]]
    if gain > negligible or o.wanted[y] or o.rows[y] == o.left[o.shelf[y]]:
        return float(max(gain, 0.0) / (rise[y] / o.concerned[y] + 1.0))
    return -1.0


@tolerant
@compiled
def choose(o: Offers, candidates: Places, rise: Floats, valid: Bools, negligible: float) -> int:
    """Return the valid candidate with the best score, -1 for none; ties go to the first."""
    top = -1.0
    for i in range(len(candidates)):
        y = candidates[i]
        if valid[y]:
            top = max(top, _score(o, rise, y, negligible))
    if top < 0.0:
        return -1
    for i in range(len(candidates)):
        y = candidates[i]
        if valid[y] and _score(o, rise, y, negligible) >= max(0.0, top - negligible):
            return int(y)
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
