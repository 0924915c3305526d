"""What disclosing a value is worth: InfoGain / (PrivLoss + 1) (Wang, Fung, Yu, ICDM 2005, section 4)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppdm_flow.sdk.compiled import compiled, wide

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

NEGLIGIBLE = 1e-12
"""Bits: a gain below this is none, and scores that differ by less are tied. Rounding stays far below it."""


@compiled
def _spread(count: float) -> float:
    """Return x log2 x: what entropies are sums of."""
    return count * math.log2(count) if count > 0 else 0.0


@compiled
def gains(
    counts: Counts, parts: Floats, first: int, last: int, live: Counts, left: Counts, supervised: bool, out: Floats
) -> None:
    """Compute the gain of kinds ``first`` to ``last``, in bits, shape (kinds,): taken from what is ``left`` together.

    Supervised, what a disclosure tells of the class: I(left) - share I(part) - (1 - share) I(rest), with ``counts``
    (kinds, classes) and ``left`` (classes,) the rows in each class. Unsupervised, what it tells of the attribute
    itself: the entropy of the split. ``parts`` (kinds,) is what depends on the kind alone.
    """
    total = wide(0)
    spread = 0.0
    for c in range(len(left)):
        total += left[c]
        if supervised:
            spread += _spread(left[c])
    spread = _spread(total) - spread
    for kind in range(first, last):
        if live[kind] == 0 or total == 0:
            continue
        rows = 0
        rest = 0.0
        for c in range(len(left)):
            rows += counts[kind, c]
            if supervised:
                rest += _spread(left[c] - counts[kind, c])
        out[kind] = (spread - parts[kind] - (_spread(total - rows) - rest)) / total


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
def _score(o: Offers, rise: float, y: int, negligible: float) -> float:
    """Return the score, -1 for what is not worth disclosing.

    All that is left on a shelf is worth it: the coarser label hides nothing.
    """
    gain = o.gain[o.kind[y]]
    if gain > negligible or o.wanted[y] or o.rows[y] == o.left[o.shelf[y]]:
        return float(max(gain, 0.0) / (rise / o.concerned[y] + 1.0))
    return -1.0


@compiled
def scores(o: Offers, candidates: Places, count: int, rise: Floats, out: Floats) -> None:
    """Compute the scores of ``candidates`` (count,) that raise confidences by ``rise`` (count,)."""
    for i in range(count):
        out[i] = _score(o, rise[i], candidates[i], NEGLIGIBLE)


@compiled
def leaders(
    gain: Floats, begin: Counts, number: Counts, members: Places, floor: float, out: Places
) -> tuple[int, float]:
    """Write the open candidates of kinds with a gain of at least ``floor`` to ``out``; return their number.

    Those of kind k are the ``number[k]`` ones in ``members`` from ``begin[k]``. An infinite ``floor`` is the highest
    gain of a kind that has some, which is returned too.
    """
    if floor == np.inf:
        floor = -np.inf
        for kind in range(len(gain)):
            if number[kind] > 0:
                floor = max(floor, gain[kind])
    count = 0
    for kind in range(len(gain)):
        if gain[kind] >= floor:
            for i in range(begin[kind], begin[kind] + number[kind]):
                out[count] = members[i]
                count += 1
    return count, floor


@compiled
def best_of(candidates: Places, count: int, score: Floats, floor: float) -> int:
    """Return the place of the best score; with a ``floor``, of the first candidate that reaches it; -1 for none."""
    best_place = -1
    for i in range(count):
        if floor < 0.0:
            if score[i] >= 0.0 and (best_place < 0 or score[i] > score[best_place]):
                best_place = i
        elif score[i] >= floor and (best_place < 0 or candidates[i] < candidates[best_place]):
            best_place = i
    return best_place


def parts_of(counts: Counts, *, supervised: bool) -> Floats:
    """Return the spread of each part, within its classes taken away, shape (kinds,)."""
    spread = _spreads(counts.sum(axis=1))
    gain: Floats = spread - _spreads(counts).sum(axis=1) if supervised else spread
    return gain


def _spreads(counts: Counts) -> Floats:
    values = counts.astype(np.float64)
    spreads: Floats = values * np.log2(values, out=np.zeros_like(values), where=values > 0)
    return spreads
