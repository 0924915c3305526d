"""Are these randomized transactions what the operator makes? By how many items they have."""

from __future__ import annotations

import math

import numpy as np

from ppdm_flow.mining.transactions.apriori.apriori import Mined
from ppdm_flow.mining.transactions.operators import Operator

FAR = 7.0
"""Standard errors: by chance the items of some size are so far off once in 10^11 releases."""


def misfit(mined: Mined) -> bool:
    """Whether transactions of some original size have more or fewer items than the operator gives them.

    The mean of |t'| over N_m transactions is held against E|t'| and its standard error.
    """
    items = mined.levels[0].counts.sum(axis=0)
    return any(
        _is_far(mined.operator, m, int(rows), int(items[c]))
        for c, (m, rows) in enumerate(zip(mined.operator.sizes, mined.rows, strict=True))
        if rows
    )


def _is_far(operator: Operator, size: int, rows: int, items: int) -> bool:
    if operator.refills:
        return items != rows * size
    law, kept = operator.law(size), np.arange(size + 1)
    rho, others = operator.rho(size), operator.alphabet - size
    mean = float(law @ kept)
    variance = float(law @ kept**2) - mean**2 + others * rho * (1.0 - rho)
    slack = 1e-6 * max(items, 1)
    return abs(items - rows * (mean + others * rho)) > FAR * math.sqrt(max(variance, 0.0) * rows) + slack
