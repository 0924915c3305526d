"""Insertion probabilities that few random bits give exactly, and that seeds can carry."""

from __future__ import annotations

import math

from ppdm_flow.mining.transactions.operators import CUT_AND_PASTE, SELECT_A_SIZE, Operator

FINEST = 16
"""Bits that seeds allow."""


def rounded_up(operator: Operator, bits: int = 8) -> Operator:
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
        return Operator.cut_and_paste(operator.cutoffs, insertion, operator.alphabet)
    return Operator.select_a_size(operator.retained, insertion, operator.alphabet)


def _up(rho: float, bits: int) -> float:
    for fine in range(bits, FINEST + 1):
        found: float = math.ceil(rho * 2**fine) / 2**fine
        if found < 1.0:
            return found
    raise ValueError("an insertion probability is too near to 1 for 16 bits")
