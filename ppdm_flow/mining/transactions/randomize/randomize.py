"""Randomized transactions, bit by bit: what the operator makes of each basket, addressed by row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.draws import Draws
from ppdm_flow.mining.transactions.operators import Operator
from ppdm_flow.mining.transactions.randomize.input import checked
from ppdm_flow.mining.transactions.randomize.kernels import insert, keep, refill
from ppdm_flow.mining.transactions.randomize.laws import thresholds
from ppdm_flow.tables.sets import Baskets, PackedSets
from ppdm_flow.tables.sets.packed import words_for

Rows = npt.NDArray[np.int64]

FINEST = 32
"""Bits of an insertion probability: it is rounded to a multiple of 2^-32."""
_WORDS_AT_ONCE = 1 << 20


def insertion_levels(operator: Operator) -> tuple[npt.NDArray[np.uint64], int]:
    """Return whole numbers a_m and the least p such that rho_m is a_m / 2^p, rounded to 32 bits; shape (m_max + 1,)."""
    levels = np.zeros(operator.sizes[-1] + 1, dtype=np.uint64)
    if operator.refills:
        return levels, 0
    for size in operator.sizes:
        levels[size] = round(operator.rho(size) * (1 << FINEST))
    every = int(np.bitwise_or.reduce(levels))
    spare = FINEST if every == 0 else (every & -every).bit_length() - 1
    return levels >> np.uint64(spare), FINEST - spare


def draws_per_row(operator: Operator) -> int:
    """Return how many 64-bit words a row takes.

    One for j, one for each item of the largest transaction; then for ``uniform`` one for each new item, else as many
    as rho_m has bits for every 64 items of the alphabet.
    """
    own = 1 + operator.sizes[-1]
    if operator.refills:
        return own + operator.sizes[-1]
    return own + insertion_levels(operator)[1] * words_for(operator.alphabet)


def randomize(baskets: Baskets, operator: Operator, draws: Draws, rows: Rows) -> PackedSets:
    """Return t' for each basket t, with the size of t; ``rows`` int64 (len(baskets),) are the global row numbers.

    ``draws.draws_per_row`` must be :func:`draws_per_row`. Raises DataError PPF777 for baskets that are no sets of items
    of the operator's alphabet and sizes.
    """
    sizes = checked(baskets, operator)
    width = words_for(operator.alphabet)
    levels, planes = insertion_levels(operator)
    limits = thresholds(operator)
    own = 1 + operator.sizes[-1]
    out = np.zeros((len(baskets), width), dtype=np.uint64)
    step = max(1, _WORDS_AT_ONCE // draws.draws_per_row)
    for start in range(0, len(baskets), step):
        piece = slice(start, start + step)
        words = draws.words(rows[piece])
        offsets = baskets.offsets[start : start + step + 1]
        insert(words, own, sizes[piece], levels, planes, out[piece])
        keep(offsets, baskets.items, limits, words, out[piece])
        if operator.refills:
            refill(offsets, baskets.items, limits, words, operator.alphabet, out[piece])
    if operator.alphabet % 64:
        out[:, -1] &= np.uint64((1 << operator.alphabet % 64) - 1)
    return PackedSets(out, sizes, baskets.categories)
