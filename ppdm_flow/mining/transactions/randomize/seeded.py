"""Seeds in place of randomized transactions: what is published is small for an alphabet of any size.

Randomizing puts a good part of all items into every transaction. Evfimievski, Gehrke and Srikant ("Limiting privacy
breaches in privacy preserving data mining", PODS 2003, section 5) publish a seed for each one instead. A public
function expands the seed to the randomized transaction, and the seed is picked among those that are right on the items
of t. Here that function is a polynomial, so that nothing about it has to be assumed.

**Expansion.** Items, by their position in the alphabet, are elements x of the field F of 2^16 elements: numbers whose
bits are polynomials over GF(2) modulo x^16 + x^12 + x^3 + x + 1. The seed of a transaction of m items is a polynomial f
over F with d = m + spare coefficients, the constant one first. Item x is in t' if f(x), read as a number, is below a,
where rho_m = a / 2^16.

**Choice of the seed.** The operator says which items of t are in t': j from its law, then j of the m at random. Each
item of t gets a value f(x), uniform among the a values that put it in or the 2^16 - a that leave it out, and f is drawn
uniformly among the 2^(16 spare) polynomials that have these values (Newton's interpolation, plus a random multiple of
the polynomial that vanishes on t). All of that from AES-CTR words, a fixed number a row.

**Privacy.** Each polynomial of d coefficients that agrees with pattern b on t is chosen with the same probability, so
Pr[f | t] = Pr[b | t] a^-|b| (2^16 - a)^(|b| - m) 2^(-16 spare), and the operator has Pr[t' | t] =
Pr[b | t] rho^(|t'| - |b|) (1 - rho)^(n - m - |t'| + |b|). Their ratio depends on m, n and |t'| only: among transactions
of m items, a seed says exactly what its expansion says. m itself is published with both. So the breach levels and the
amplification of the operator are those of the seeds, for any adversary of any computing power. What is assumed
is that the words are uniform (AES), and that probabilities may be off by 2^-34 of themselves where words are reduced
to the needed range.

**Utility.** Values of a uniform polynomial of d coefficients are independent and uniform at any d items. Given t and
the pattern, those at ``spare`` items outside of t are so too. So the law of t' on the union of t and any ``spare``
items is exactly the operator's, and with it the mean and variance of all estimates for itemsets of up to ``spare``
items, and the covariance of those that have so many in their union. Larger ones must not be estimated from seeds.

**Once only.** A reader who sees two randomizations of one transaction learns more than the operator says. Where bits
are to
be published beside seeds, they are those of `vertical.expand`, never a second draw.

A seed of 16 (m + spare) bits is about as small as this can be: 65,536 items have that many independent bits only with
seeds of half its length, or more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.draws import Draws
from ppdm_flow.mining.transactions.counting.seeded_field import Elements, Logs, over, tables, times
from ppdm_flow.mining.transactions.operators import CUT_AND_PASTE, SELECT_A_SIZE, TransactionOperator
from ppdm_flow.mining.transactions.randomize.randomize import below, checked, refuse_seeds, remaining, stays, thresholds
from ppdm_flow.sdk.compiled import compiled
from ppdm_flow.tables.sets import Baskets, Expansion, SeededSets
from ppdm_flow.tables.sets.seeded import LEVELS

Rows = npt.NDArray[np.int64]

SPARE = 4
"""The largest itemset that can be estimated, unless more are asked for."""

_WORDS_AT_ONCE = 1 << 20

Words = npt.NDArray[np.uint64]

FINEST = 16
"""Bits that seeds allow."""


@compiled
def interpolate(
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int32],
    limits: Words,
    levels: npt.NDArray[np.int64],
    words: Words,
    spare: int,
    powers: Elements,
    logs: Logs,
    out: npt.NDArray[Any],
) -> None:
    """Write to ``out[r]`` the coefficients, constant first, of a polynomial that is right on the items of row r.

    Words of a row: one for j, one for each item to choose those that stay, one for each item's value, then 16 bits for
    each spare coefficient. ``limits`` are the laws of j, ``levels[m]`` how many values put an item in.
    """
    longest = limits.shape[0] - 1
    value = np.zeros(longest + 1, dtype=np.int64)
    for row in range(len(offsets) - 1):
        first = offsets[row]
        size = offsets[row + 1] - first
        level = levels[size]
        left = remaining(limits[size], words[row, 0])
        for i in range(size):
            word = words[row, 1 + longest + i]
            if stays(words[row, 1 + i], left, size - i):
                left -= 1
                value[i] = below(word, level)
            else:
                value[i] = level + below(word, (1 << 16) - level)
        for step in range(1, size):  # divided differences, in place
            for i in range(size - 1, step - 1, -1):
                run = np.int64(items[first + i]) ^ np.int64(items[first + i - step])
                value[i] = over(value[i] ^ value[i - 1], run, powers, logs)
        for s in range(spare):
            word = words[row, 1 + 2 * longest + (s >> 2)]
            out[row, s] = (word >> np.uint64(16 * (s & 3))) & np.uint64(0xFFFF)
        for i in range(size - 1, -1, -1):  # Horner: multiply by (x - item), add the difference
            item = np.int64(items[first + i])
            degree = spare + size - 1 - i
            for c in range(degree, 0, -1):
                lower = np.int64(out[row, c - 1])
                kept = times(np.int64(out[row, c]), item, powers, logs) if c < degree else np.int64(0)
                out[row, c] = lower ^ kept
            if degree > 0:
                out[row, 0] = times(np.int64(out[row, 0]), item, powers, logs)
            out[row, 0] ^= value[i]


def expansion(operator: TransactionOperator, spare: int = SPARE) -> Expansion:
    """Return the expansion of an operator's seeds. Raises DataError PPF778 where it cannot be had by seeds."""
    refuse_seeds(operator)
    insertion = [0.0] * (operator.sizes[-1] + 1)
    for size in operator.sizes:
        insertion[size] = operator.rho(size)
    return Expansion(tuple(insertion), spare)


def draws_per_row(operator: TransactionOperator, spare: int = SPARE) -> int:
    """Return how many 64-bit words a row takes: one for j, two for each item, a quarter for each spare one."""
    return 1 + 2 * operator.sizes[-1] + -(-spare // 4)


def seed(baskets: Baskets, operator: TransactionOperator, draws: Draws, rows: Rows, spare: int = SPARE) -> SeededSets:
    """Randomize each basket and return its seed; ``rows`` int64 (len(baskets),) are the global row numbers.

    ``draws.draws_per_row`` must be :func:`draws_per_row`. Raises DataError PPF777 for baskets that are no sets of items
    of the operator's alphabet and sizes, PPF778 for an operator that seeds cannot carry.
    """
    expanded = expansion(operator, spare)
    sizes = checked(baskets, operator)
    levels = np.array([round(p * LEVELS) for p in expanded.insertion], dtype=np.int64)
    seeds = np.zeros((len(baskets), expanded.width), dtype=np.uint16)
    powers, logs = tables()
    limits = thresholds(operator)
    step = max(1, _WORDS_AT_ONCE // draws.draws_per_row)
    for start in range(0, len(baskets), step):
        piece = slice(start, start + step)
        words = draws.words(rows[piece])
        offsets = baskets.offsets[start : start + step + 1]
        interpolate(offsets, baskets.items, limits, levels, words, spare, powers, logs, seeds[piece])
    return SeededSets(seeds, sizes, baskets.categories, expanded)


def rounded_up(operator: TransactionOperator, bits: int = 8) -> TransactionOperator:
    """Return the operator with each rho_m rounded up to a multiple of 2^-bits, 1 <= bits <= 16.

    More foreign items hide more, so what was chosen to stay below a breach level still does. Where the next multiple is
    1, more bits are taken. ``uniform`` and ``none`` stay as they are. Raises ValueError for other bits, and for a rho
    that is above 1 - 2^-16. What bits cost: time to randomize and to expand seeds is proportional to them.
    """
    if not 1 <= bits <= FINEST:
        raise ValueError(f"insertion probabilities have 1 to {FINEST} bits")
    if operator.family not in (CUT_AND_PASTE, SELECT_A_SIZE):
        return operator
    insertion = {m: _up(operator.rho(m), bits) for m in operator.sizes}
    if operator.family == CUT_AND_PASTE:
        return TransactionOperator.cut_and_paste(operator.cutoffs, insertion, operator.alphabet)
    return TransactionOperator.select_a_size(operator.retained, insertion, operator.alphabet)


def _up(rho: float, bits: int) -> float:
    for fine in range(bits, FINEST + 1):
        rounded: float = math.ceil(rho * 2**fine) / 2**fine
        if rounded < 1.0:
            return rounded
    raise ValueError("an insertion probability is too near to 1 for 16 bits")
