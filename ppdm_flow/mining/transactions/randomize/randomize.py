"""Randomized transactions, bit by bit: what the operator makes of each basket, addressed by row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.operators import NONE, UNIFORM, TransactionOperator
from ppdm_flow.mining.transactions.randomize.kernels import insert, keep, refill
from ppdm_flow.tables.sets import Baskets, PackedSets
from ppdm_flow.tables.sets.packed import words_for
from ppdm_flow.tables.sets.seeded import LEVELS

Rows = npt.NDArray[np.int64]

FINEST = 32
"""Bits of an insertion probability: it is rounded to a multiple of 2^-32."""

_WORDS_AT_ONCE = 1 << 20

Limits = npt.NDArray[np.uint64]

PRECISION = 53
"""Bits of the number that a law is read with."""


def thresholds(operator: TransactionOperator) -> Limits:
    """Return row m: how many items of t stay is the number of entries that a uniform number of 53 bits reaches.

    Shape (m_max + 1, m_max + 1); rows of sizes that do not occur are 0. What has no probability is never drawn: the
    law's end is exactly 2^53.
    """
    longest = operator.sizes[-1]
    limits = np.zeros((longest + 1, longest + 1), dtype=np.uint64)
    for size in operator.sizes:
        law = operator.law(size)
        reached = np.round(np.cumsum(law) * float(1 << PRECISION)).astype(np.uint64)
        reached[np.flatnonzero(law)[-1] :] = 1 << PRECISION
        limits[size, : size + 1] = np.minimum(reached, np.uint64(1 << PRECISION))
        limits[size, size + 1 :] = 1 << PRECISION
    return limits


def checked(baskets: Baskets, operator: TransactionOperator) -> npt.NDArray[np.int32]:
    """Return the sizes of baskets that ``operator`` can randomize. Raises DataError PPF777 for any other."""
    if len(baskets.categories) != operator.alphabet:
        raise _unfit(f"the operator is for {operator.alphabet} items, the data have {len(baskets.categories)}")
    if not baskets.valid():
        raise _unfit("a transaction has an item twice, out of order, or outside of the alphabet")
    sizes = baskets.sizes
    strange = ~np.isin(sizes, np.array(operator.sizes))
    if strange.any():
        raise _unfit(f"{int(strange.sum())} transactions have a size that the operator says nothing of")
    return sizes


def refuse_seeds(operator: TransactionOperator) -> None:
    """Raise DataError PPF778 for an operator of which the output cannot be given by seeds."""
    if operator.family in (UNIFORM, NONE):
        raise _seedless(f"`{operator.family}` does not put every item in with one probability")
    if operator.alphabet > LEVELS:
        raise _seedless(f"an alphabet of {operator.alphabet} items is larger than {LEVELS}")
    for size in operator.sizes:
        rho = operator.rho(size)
        if not (rho * LEVELS).is_integer() or not 0.0 < rho < 1.0:
            raise _seedless(f"the insertion probability of size {size} is not a multiple of 1/{LEVELS} within (0, 1)")


def _unfit(text: str) -> DataError:
    return DataError(Diagnostic("PPF777", f"these transactions cannot be randomized: {text}"))


def _seedless(text: str) -> DataError:
    hint = "write the randomized transactions themselves, or change the operator"
    return DataError(Diagnostic("PPF778", f"seeds cannot stand for what this operator makes: {text}", help=hint))


def insertion_levels(operator: TransactionOperator) -> tuple[npt.NDArray[np.uint64], int]:
    """Return whole numbers a_m and the least p such that rho_m is a_m / 2^p, rounded to 32 bits; shape (m_max + 1,)."""
    levels = np.zeros(operator.sizes[-1] + 1, dtype=np.uint64)
    if operator.refills:
        return levels, 0
    for size in operator.sizes:
        levels[size] = round(operator.rho(size) * (1 << FINEST))
    every = int(np.bitwise_or.reduce(levels))
    spare = FINEST if every == 0 else (every & -every).bit_length() - 1
    return levels >> np.uint64(spare), FINEST - spare


def draws_per_row(operator: TransactionOperator) -> int:
    """Return how many 64-bit words a row takes.

    One for j, one for each item of the largest transaction; then for ``uniform`` one for each new item, else as many
    as rho_m has bits for every 64 items of the alphabet.
    """
    own = 1 + operator.sizes[-1]
    if operator.refills:
        return own + operator.sizes[-1] + operator.inserted
    return own + insertion_levels(operator)[1] * words_for(operator.alphabet)


def randomize(baskets: Baskets, operator: TransactionOperator, draws: Draws, rows: Rows) -> PackedSets:
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
            refill(offsets, baskets.items, limits, words, operator.alphabet, operator.inserted, out[piece])
    if operator.alphabet % 64:
        out[:, -1] &= np.uint64((1 << operator.alphabet % 64) - 1)
    return PackedSets(out, sizes, baskets.categories)
