"""How far an operator can move any prior belief: amplification, and the epsilon it stands for.

Source: Evfimievski, Gehrke, Srikant, "Limiting privacy breaches in privacy preserving data mining" (PODS 2003).
"""

from __future__ import annotations

import math

import numpy as np

from ppdm_flow.mining.transactions.laws import Floats, log_choose
from ppdm_flow.mining.transactions.operators import NONE, Operator


def epsilon(operator: Operator, size: int, differing: int | None = None) -> float:
    """Return ln gamma, gamma the largest p[t1 -> t'] / p[t2 -> t'] over transactions of m items; in nats, may be inf.

    p[t -> t'] depends on |t ∩ t'| and |t'| alone, and any two overlaps go together with some t' that differ by no more
    than the items outside of t. It holds given m: an operator whose parameters depend on m does not hide m.

    ``differing``: only for t1 and t2 that differ in so many items at most (1: one item replaced by another).
    """
    law = operator.law(size)
    reach = min(operator.alphabet - size, size if differing is None else differing)
    if reach < 1:
        return 0.0
    if operator.family == NONE:
        return math.inf
    return _widest(_log_densities(operator, size, law), reach)


def posterior_bound(prior: float, nats: float) -> float:
    """Return the largest posterior of anything whose prior is ``prior``, under gamma = exp(``nats``)."""
    if prior <= 0.0:
        return 0.0
    return 1.0 / (1.0 + (1.0 - prior) / prior * math.exp(-nats))


def _log_densities(operator: Operator, size: int, law: Floats) -> Floats:
    """Return ln p[t -> t'] for |t ∩ t'| = j, up to a term that depends on |t'| alone, shape (m + 1,)."""
    overlap = np.arange(size + 1)
    logs = np.log(law, out=np.full(size + 1, -np.inf), where=law > 0.0)
    found = logs - log_choose(size, overlap)
    if operator.refills:
        return np.asarray(found - log_choose(operator.alphabet - size, size - overlap))
    rho = operator.rho(size)
    return np.asarray(found - overlap * (math.log(rho) - math.log1p(-rho)))


def _widest(logs: Floats, reach: int) -> float:
    """Return the largest difference of two entries that are ``reach`` apart at most; -inf pairs do not count."""
    widest = 0.0
    for apart in range(1, min(reach, len(logs) - 1) + 1):
        first, second = logs[apart:], logs[:-apart]
        either = np.isfinite(first) | np.isfinite(second)
        if either.any():
            widest = max(widest, float(np.abs(first[either] - second[either]).max()))
    return widest
