"""Randomized transactions, bit by bit: what the operator makes of each basket, addressed by row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.itemsets.kernels import inlined
from ppdm_flow.mining.transactions.operators import NONE, UNIFORM, TransactionOperator
from ppdm_flow.sdk.compiled import compiled
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
Words = npt.NDArray[np.uint64]


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
    return DataError(Diagnostic("PPF778", f"seeds cannot replace what this operator makes: {text}", help=hint))


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


# Which items of a transaction stay, and which others come in: compiled.


@inlined
def remaining(limits: Words, word: np.uint64) -> int:
    """Return how many items stay: the number of ``limits`` that the word's upper 53 bits reach."""
    number = word >> np.uint64(11)
    count = np.int64(0)
    while number >= limits[count]:
        count += 1
    return count  # type: ignore[return-value]  # numba's int


@inlined
def stays(word: np.uint64, wanted: int, candidates: int) -> bool:
    """Whether the next of ``candidates`` items is among the ``wanted`` ones: selection sampling, each set as likely.

    On the word's upper 48 bits; sure where none or all are wanted.
    """
    return (word >> np.uint64(16)) * np.uint64(candidates) < np.uint64(wanted) << np.uint64(48)  # type: ignore[return-value]


@inlined
def below(word: np.uint64, bound: int) -> int:
    """Return a whole number from 0 to ``bound`` - 1, ``bound`` <= 2^32: the upper half of their product."""
    low = ((word & np.uint64(0xFFFFFFFF)) * np.uint64(bound)) >> np.uint64(32)
    return np.int64(((word >> np.uint64(32)) * np.uint64(bound) + low) >> np.uint64(32))  # type: ignore[return-value]


@compiled
def insert(words: Words, begin: int, sizes: npt.NDArray[np.int32], levels: Words, planes: int, out: Words) -> None:
    """Set each bit of ``out[r]`` with probability ``levels[sizes[r]] / 2^planes``, exactly.

    Bit by bit of a uniform number below 2^planes, lowest first, 64 items at once: whether it is below the level.
    """
    width = out.shape[1]
    for row in range(len(out)):
        level = levels[sizes[row]]
        for w in range(width):
            less = np.uint64(0)
            for plane in range(planes):
                bits = ~words[row, begin + plane * width + w]
                less = (bits | less) if (level >> np.uint64(plane)) & np.uint64(1) else (bits & less)
            out[row, w] = less


@compiled
def keep(offsets: npt.NDArray[np.int64], items: npt.NDArray[np.int32], limits: Words, words: Words, out: Words) -> None:
    """Give each item of row r its fate: in ``out[r]`` if it stays, else not. Words: one for j, one for each item."""
    for row in range(len(offsets) - 1):
        first = offsets[row]
        size = offsets[row + 1] - first
        left = remaining(limits[size], words[row, 0])
        for i in range(size):
            item = items[first + i]
            bit = np.uint64(1) << np.uint64(item & 63)
            if stays(words[row, 1 + i], left, size - i):
                left -= 1
                out[row, item >> 6] |= bit
            else:
                out[row, item >> 6] &= ~bit


@compiled
def refill(
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
    limits: Words,
    words: Words,
    alphabet: int,
    inserted: int,
    out: Words,
) -> None:
    """Put as many items from outside of row r into ``out[r]`` as fell out, and ``inserted`` more, each set as likely.

    Words: after those of :func:`keep` one for each new item. A place among the items not yet taken is drawn, and
    found by stepping over the taken ones in order.
    """
    longest = limits.shape[0] - 1
    taken = np.empty(2 * longest + inserted + 1, dtype=np.int64)
    for row in range(len(offsets) - 1):
        first = offsets[row]
        size = offsets[row + 1] - first
        for i in range(size):
            taken[i] = items[first + i]
        taken_count = size
        for new in range(size - remaining(limits[size], words[row, 0]) + inserted):
            item = below(words[row, 1 + longest + new], alphabet - taken_count)
            place = 0
            while place < taken_count and taken[place] <= item:
                item += 1
                place += 1
            for i in range(taken_count, place, -1):
                taken[i] = taken[i - 1]
            taken[place] = item
            taken_count += 1
            out[row, item >> 6] |= np.uint64(1) << np.uint64(item & 63)
