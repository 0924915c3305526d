"""What an operator does to the part of a transaction that lies within an itemset, exactly.

An operator treats items alike, so what it does to t ∩ A follows from k = |A|, m = |t| and l = |t ∩ A| alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.transactions.laws import Floats, log_choose
from ppdm_flow.mining.transactions.operators import TransactionOperator

Bools = npt.NDArray[np.bool_]

WORST_CONDITION = 1e12
"""A transition matrix with a larger condition number is singular: rounding alone would swamp what it gives back."""


def occurring(operator: TransactionOperator, size: int, length: int) -> Bools:
    """Return which overlaps l = 0..k of an itemset of k = ``length`` items can occur, shape (k + 1,)."""
    overlap = np.arange(length + 1)
    fits = overlap <= size
    if operator.refills:
        fits &= length - overlap <= operator.alphabet - size
    return fits


def joint(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return the chance g[l, q, i] of one exact outcome within an itemset A of k = ``length`` items.

    Given |t ∩ A| = l: just a given set of q of these l items are in t', and just a given set of i of the k - l others.
    Shape (k + 1, k + 1, k + 1); 0 for what cannot be.
    """
    if length < 1:
        raise ValueError("an itemset needs one item at least")
    law, outside = operator.law(size), operator.alphabet - size
    overlap, stayed, came, kept = np.ogrid[0 : length + 1, 0 : length + 1, 0 : length + 1, 0 : size + 1]
    possible = (stayed <= overlap) & (came <= length - overlap) & (overlap <= size)
    chance = log_choose(size - overlap, kept - stayed) - log_choose(size, kept)
    if operator.refills:
        new, others = size - kept + operator.inserted, outside - (length - overlap)
        refill = log_choose(others, new - came) - log_choose(outside, new)
        return np.asarray(np.where(possible, (np.exp(chance + refill) * law).sum(axis=3, keepdims=True), 0.0)[..., 0])
    rho = operator.rho(size)
    inserted = np.power(rho, came) * np.power(1.0 - rho, np.maximum(length - overlap - came, 0))
    return np.asarray(np.where(possible, (np.exp(chance) * law).sum(axis=3, keepdims=True) * inserted, 0.0)[..., 0])


def transition(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return P[l', l] = Pr[|t' ∩ A| = l' given |t ∩ A| = l], shape (k + 1, k + 1); section 4.1.

    Columns sum to 1; one for an overlap that cannot occur (l > m) is 0.
    """
    chance = joint(operator, size, length)
    matrix = np.zeros((length + 1, length + 1))
    overlap, stayed = np.ogrid[0 : length + 1, 0 : length + 1]
    ways = np.exp(log_choose(overlap, stayed))
    for came in range(length + 1):
        more = ways * np.exp(log_choose(length - overlap, came)) * chance[:, :, came]
        matrix[came:] += more[:, : length + 1 - came].T
    return matrix


def pattern_transition(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return Q[u', u] = Pr[t' ∩ A = u' given t ∩ A = u] for all 2^k subsets, as bits of their index; (2^k, 2^k)."""
    after, before = np.ogrid[0 : 1 << length, 0 : 1 << length]
    chance = joint(operator, size, length)
    return np.asarray(chance[members(before), members(after & before), members(after & ~before)])


def members(patterns: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """Return the number of items of each pattern (bits of an index)."""
    return np.asarray(np.bitwise_count(np.asarray(patterns)), dtype=np.intp)


def recovery(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return L, shape (k + 1, k + 1), with L P = 1 on the overlaps that can occur; rows of the others are 0.

    Raises PluginError PPF869 if the overlaps cannot be told apart.
    """
    matrix, fits = transition(operator, size, length), occurring(operator, size, length)
    columns = matrix[:, fits]
    if np.linalg.cond(columns) > WORST_CONDITION:
        raise _singular(operator, size, length)
    inverse = np.zeros_like(matrix)
    inverse[fits] = np.linalg.inv(columns) if fits.all() else np.linalg.pinv(columns)
    return inverse


def weights(operator: TransactionOperator, size: int, length: int) -> Floats:
    """Return w of shape (k + 1,): the sum of w[|t' ∩ A|] estimates how many t hold A without bias.

    0 for itemsets of more than m items, which no t holds. Raises PluginError PPF869 where there is no such w.
    """
    if length > size:
        operator.law(size)
        return np.zeros(length + 1)
    return np.array(recovery(operator, size, length)[length])


def noise(operator: TransactionOperator, size: int, length: int, applied: Floats | None = None) -> Floats:
    """Return D[l], the variance of w[|t' ∩ A|] given |t ∩ A| = l, shape (k + 1,); 0 for what cannot occur.

    ``applied`` is w, by default ``weights``.
    """
    given = weights(operator, size, length) if applied is None else applied
    matrix = transition(operator, size, length)
    mean = given @ matrix
    return np.asarray(np.maximum((given * given) @ matrix - mean * mean, 0.0))


def _singular(operator: TransactionOperator, size: int, length: int) -> PluginError:
    items = f"{length} items" if length > 1 else "single items"
    text = f"supports of {items} cannot be recovered from randomized transactions of {size}"
    cutoff = operator.cutoffs.get(size)
    if cutoff is not None and cutoff < min(length, size):
        why = f"the cutoff is {cutoff}, so no {items} of a transaction are ever kept on purpose"
    else:
        why = "items that a transaction holds come through hardly more often than others"
    return PluginError(Diagnostic("PPF869", text, notes=(why,), hint="raise the cutoff, or lower the insertion"))
