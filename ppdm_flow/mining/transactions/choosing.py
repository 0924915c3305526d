"""Cut-and-paste parameters that keep breaches below a level and lose as little as possible.

For each transaction size m on its own, so that an adversary who knows m learns no more: for every cutoff K the smallest
rho that keeps the worst breach below the level, then the K with the smallest lowest discoverable support (the largest
one among the itemset sizes counts). Noise grows with rho, so no larger rho is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.transactions.breaches import exchangeable
from ppdm_flow.mining.transactions.discoverable import lowest_support, lowest_supports
from ppdm_flow.mining.transactions.hardest import Maxima, check_maxima, corners, maxima_of, privacy_challenging
from ppdm_flow.mining.transactions.laws import Floats, cut_law, log_choose
from ppdm_flow.mining.transactions.operators import TransactionOperator

LONGEST = 4
"""Largest itemset that parameters are chosen for."""

LEAST, MOST = 1e-6, 0.999
"""Insertion probabilities that are considered."""

HALVINGS = 40

DIGITS = 6
"""Significant binary digits of rho: drawing it costs as many random bits for each item and transaction."""

FINEST = 32
"""Most binary digits that an insertion probability is rounded to."""


class Challenge(StrEnum):
    """Which itemsets the level has to hold for.

    ``WORST``: all whose parts stay below the maximal supports, and items in them or not. ``PAPER``: those that have all
    maximal supports at once, as in the paper, where there are such; a few points below the worst.
    """

    WORST = "worst"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class SizeChoice:
    """Parameters for transactions of one size.

    Attributes
    ----------
    size, cutoff, insertion : m, K_m and rho_m
    levels : itemset size k -> worst breach level that these have, at most the one asked for
    discoverable : k -> lowest discoverable support if all transactions had this size; inf where none is
    """

    size: int
    cutoff: int
    insertion: float
    levels: Mapping[int, float]
    discoverable: Mapping[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class OperatorForAllSizes:
    """An operator for all sizes; ``discoverable``: k -> lowest support over all transactions, inf where none is."""

    operator: TransactionOperator
    choices: Mapping[int, SizeChoice]
    discoverable: Mapping[int, float]


def choose(
    maxima: Maxima,
    numbers: Mapping[int, float],
    alphabet: int,
    *,
    level: float,
    lengths: Sequence[int] = (1, 2, 3),
    challenge: Challenge = Challenge.WORST,
    cutoff: int | None = None,
    digits: int | None = DIGITS,
) -> OperatorForAllSizes:
    """Choose K_m and rho_m for all sizes.

    Parameters
    ----------
    maxima : largest supports S_1, S_2, .. of itemsets by their size, within the transactions of one size m; for all m
        alike, or m -> those of m. Supports among all transactions may be far lower, and then protect less
    numbers : m -> N_m
    alphabet : number of items
    level : breach level that is not to be exceeded, in (0, 1)
    lengths : itemset sizes k that are to be protected and recovered, 1 to 4
    challenge : which itemsets have to be protected
    cutoff : largest K to consider; by default 4 m + 24, where a larger one gains little. A smaller one needs a smaller
        rho, so it makes shorter releases with more noise
    digits : significant binary digits that rho is rounded up to, None to leave it; 6 make it up to 3 % larger

    Raises PluginError PPF773 if there are no such parameters, ValueError for bad input. Empty transactions, which
    hold nothing to protect, get those of one item.
    """
    total = float(sum(numbers.values()))
    choices = {
        m: choose_size(_maxima_of_size(maxima, m, numbers), max(m, 1), total, level, lengths, challenge, cutoff, digits)
        for m in sorted(numbers)
    }
    cutoffs = {m: choice.cutoff for m, choice in choices.items()}
    operator = TransactionOperator.cut_and_paste(
        cutoffs, {m: choice.insertion for m, choice in choices.items()}, alphabet
    )
    return OperatorForAllSizes(operator, choices, lowest_supports(operator, numbers, lengths, maxima))


def choose_size(
    maxima: Sequence[float],
    size: int,
    number: float,
    level: float,
    lengths: Sequence[int] = (1, 2, 3),
    challenge: Challenge = Challenge.WORST,
    cutoff: int | None = None,
    digits: int | None = DIGITS,
) -> SizeChoice:
    """Choose K_m and rho_m for N = ``number`` transactions that all have m = ``size`` items; see ``choose``."""
    checked_maxima = check_maxima(maxima)
    _check(level, lengths, number, cutoff, digits)
    longest = min(size, max(lengths))
    cutoffs = range(longest, max(longest, 4 * size + 24 if cutoff is None else cutoff) + 1)  # below, PPF869
    seen = {k: CutAndPasteCandidates.of(size, k, cutoffs) for k in lengths}
    cases = {k: _cases(checked_maxima, k, size, challenge) for k in lengths}
    rho = _rounded(_smallest(seen, cases, level), digits)
    levels = {k: _levels(seen[k], cases[k], rho) for k in lengths}
    kept = np.max(list(levels.values()), axis=0) <= level
    if not kept.any():
        raise _out_of_reach(size, levels, level)
    discoverable = {k: _discoverable(seen[k], rho, number, checked_maxima) for k in lengths if k <= size}
    best = _best(seen, rho, kept, discoverable)
    return SizeChoice(
        size,
        cutoffs[best],
        float(rho[best]),
        {k: float(by_cutoff[best]) for k, by_cutoff in levels.items()},
        {k: float(by_cutoff[best]) for k, by_cutoff in discoverable.items()},
    )


def _smallest(
    seen: Mapping[int, CutAndPasteCandidates], cases: Mapping[int, list[tuple[Floats, Floats]]], level: float
) -> Floats:
    """Return for each cutoff the smallest rho that keeps the level, by halving; the largest rho where none does."""
    shape = len(next(iter(seen.values())).cutoffs)
    low, high = np.full(shape, _odds(LEAST)), np.full(shape, _odds(MOST))
    for step in range(HALVINGS):
        middle = low if step == 0 else 0.5 * (low + high)
        rho = 1.0 / (1.0 + np.exp(-middle))
        kept = np.max([_levels(seen[k], cases[k], rho) for k in seen], axis=0) <= level
        low, high = np.where(kept, low, middle), np.where(kept, middle, high)
    return np.asarray(1.0 / (1.0 + np.exp(-high)))


def _rounded(rho: Floats, digits: int | None) -> Floats:
    """Return rho rounded up, unless that makes it too large."""
    if digits is None:
        return rho
    unit = np.exp2(np.floor(np.log2(rho)) + 1 - digits)
    rounded = np.ceil(rho / unit) * unit
    return np.asarray(np.where(rounded <= MOST, rounded, rho))


def _levels(seen: CutAndPasteCandidates, cases: list[tuple[Floats, Floats]], rho: Floats) -> Floats:
    """Return the worst breach level of each cutoff."""
    likelihood = seen.likelihoods(rho).T
    levels = [((with_item @ likelihood) / (here @ likelihood)).max(axis=0) for here, with_item in cases]
    return np.asarray(np.max(levels, axis=0))


def _cases(maxima: tuple[float, ...], length: int, size: int, challenge: Challenge) -> list[tuple[Floats, Floats]]:
    """Return s_l and s+_l of the itemsets that have to be protected."""
    alike = privacy_challenging(maxima, length, size) if challenge is Challenge.PAPER else None
    if alike is not None:
        return [(alike[None, :], exchangeable(alike)[None, :])]
    sides = (True,) if challenge is Challenge.PAPER else (True, False)
    return [corners(maxima, length, size, inside=side) for side in sides]


def _discoverable(seen: CutAndPasteCandidates, rho: Floats, number: float, maxima: tuple[float, ...]) -> Floats:
    return lowest_support(seen.noise(rho), number, maxima)


def _best(
    seen: Mapping[int, CutAndPasteCandidates], rho: Floats, kept: Floats, discoverable: Mapping[int, Floats]
) -> int:
    """Return the place of the best cutoff; where nothing is discoverable, that of the least noise."""
    if not discoverable:
        return int(np.argmin(np.where(kept, rho, np.inf)))
    largest = np.where(kept, np.max(list(discoverable.values()), axis=0), np.inf)
    noise = np.where(kept, seen[max(discoverable)].noise(rho)[:, 0], np.inf)
    return int(np.lexsort((noise, largest))[0])


def _out_of_reach(size: int, levels: Mapping[int, Floats], level: float) -> PluginError:
    reached = {k: float(by_cutoff.min()) for k, by_cutoff in levels.items()}
    hardest = max(reached, key=lambda k: reached[k])
    text = (
        f"a breach level of {level:g} cannot be kept for itemsets of size {hardest} in transactions of {size} items:"
        f" the lowest level within reach is {reached[hardest]:.3g}"
    )
    return PluginError(Diagnostic("PPF773", text, hint="raise the level, or leave out the most frequent items"))


def _maxima_of_size(maxima: Maxima, size: int, numbers: Mapping[int, float]) -> tuple[float, ...]:
    """Return the maxima of a size; for empty transactions, that have none, those of the smallest that are not."""
    return maxima_of(maxima, size or min((m for m in numbers if m), default=0))


def _odds(chance: float) -> float:
    return float(np.log(chance) - np.log1p(-chance))


def _check(level: float, lengths: Sequence[int], number: float, cutoff: int | None, digits: int | None) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError("the breach level is not between 0 and 1")
    if not lengths or any(k not in range(1, LONGEST + 1) for k in lengths):
        raise ValueError(f"itemset sizes to choose parameters for are whole numbers from 1 to {LONGEST}")
    if not number > 0:
        raise ValueError("there are no transactions to choose parameters for")
    if cutoff is not None and cutoff < 0:
        raise ValueError("the largest cutoff to consider is below 0")
    if digits is not None and not 1 <= digits <= FINEST:
        raise ValueError(f"an insertion probability has 1 to {FINEST} binary digits")


# All cut-and-paste operators of one transaction size at once, one for each cutoff: fast forms for the search.
#
# Given the items that the cut took, each of the others is in t' with rho on its own. With c the number of a set of l
# items of t that the cut took: R_l = E[rho^(k - c)], and with h the chance that it takes k items of t, E[w^2 | l] =
# E[(rho / (1 - rho))^(k - c)] / h^2, since w is the product of (x - rho) / (1 - rho) over A, divided by h.


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
