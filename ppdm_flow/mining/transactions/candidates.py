"""All cut-and-paste operators of one transaction size at once, one for each cutoff: fast forms for the search.

Given the items that the cut took, each of the others is in t' with rho on its own. With c the number of a set of l
items of t that the cut took: R_l = E[rho^(k - c)], and with h the chance that it takes k items of t,
E[w^2 | l] = E[(rho / (1 - rho))^(k - c)] / h^2, since w is the product of (x - rho) / (1 - rho) over A, divided by h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.mining.transactions.laws import Floats, cut_law, log_choose


@dataclass(frozen=True, slots=True, eq=False)
class CutAndPasteCandidates:
    """Cut-and-paste of transactions of ``size`` items, for ``cutoffs`` K, seen through itemsets of ``length`` items.

    ``taken`` of shape (cutoffs, k + 1, k + 1): Pr[c = q] for l items; 0 for l that cannot be.
    """

    size: int
    length: int
    cutoffs: tuple[int, ...]
    taken: Floats

    @classmethod
    def of(cls, size: int, length: int, cutoffs: Sequence[int]) -> CutAndPasteCandidates:
        """Build it; O(cutoffs k^2 m)."""
        cuts = np.array([cut_law(size, cutoff) for cutoff in cutoffs])
        overlap, hits, cut = np.ogrid[0 : length + 1, 0 : length + 1, 0 : size + 1]
        logs = log_choose(overlap, hits) + log_choose(size - overlap, cut - hits) - log_choose(size, cut)
        chance = np.where(overlap <= size, np.exp(logs), 0.0)
        return cls(size, length, tuple(cutoffs), np.einsum("lqc,kc->klq", chance, cuts))

    def likelihoods(self, insertion: Floats) -> Floats:
        """Return R_l = Pr[A in t' | |t ∩ A| = l] for rho of shape (cutoffs,); shape (cutoffs, k + 1)."""
        return self._mean(insertion)

    def noise(self, insertion: Floats) -> Floats:
        """Return D_l, the variance of the weights given l, shape (cutoffs, k + 1); inf where there are no weights.

        0 where k is above m: no transaction holds the itemset.
        """
        if self.length > self.size:
            return np.zeros((len(self.cutoffs), self.length + 1))
        chance = self.taken[:, self.length, self.length]
        squares = self._mean(insertion / (1.0 - insertion))
        variances = np.divide(
            squares, chance[:, None] ** 2, out=np.full_like(squares, np.inf), where=chance[:, None] > 0.0
        )
        variances[:, self.length] -= 1.0
        return variances

    def _mean(self, base: Floats) -> Floats:
        powers = base[:, None] ** (self.length - np.arange(self.length + 1))
        return np.asarray(np.einsum("klq,kq->kl", self.taken, powers))
