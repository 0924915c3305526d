"""Randomization operators: per transaction, and the same for every item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.laws import Floats, binomial_law, identity_law, pasted_law

SELECT_A_SIZE, CUT_AND_PASTE, UNIFORM, NONE = "select_a_size", "cut_and_paste", "uniform", "none"

LARGEST = 10_000
"""Items of the largest transaction: its law is held as an array, and a document may say anything."""
LARGEST_CUTOFF = 100_000
"""The largest K: above, hardly a set loses an item."""


@dataclass(frozen=True, slots=True, eq=False)
class TransactionOperator:
    """How a transaction t of m items becomes t', given for each m that occurs.

    1. Draw j from ``retained[m]`` and keep j items of t, each set of j as likely: ``retained[m]`` of shape (m + 1,) is
       the law of |t ∩ t'|, so whatever brings items of t back is already in it.
    2. Put items from outside t in. For ``uniform`` exactly m - j + ``inserted`` distinct ones, each set as likely (t'
       has m + ``inserted`` items); for all others every item on its own with probability ``insertion[m]`` (rho_m).

    Build it with one of the named constructors. Source: Evfimievski et al. (KDD 2002), definitions 3 to 5.

    Attributes
    ----------
    family : ``select_a_size``, ``cut_and_paste``, ``uniform`` or ``none``
    alphabet : number n of items there are; no m is above it
    retained : m -> law of |t ∩ t'|, read-only
    insertion : m -> rho_m; empty for ``uniform``
    cutoffs : m -> K_m; only for ``cut_and_paste``
    keep : probability to keep an item; only for ``uniform``
    inserted : items that come in besides those that take the place of others; only for ``uniform``
    """

    family: str
    alphabet: int
    retained: Mapping[int, Floats]
    insertion: Mapping[int, float] = field(default_factory=dict)
    cutoffs: Mapping[int, int] = field(default_factory=dict)
    keep: float | None = None
    inserted: int = 0

    def __post_init__(self) -> None:
        _check_sizes(self.retained, self.alphabet)
        laws = {int(m): _law(m, self.retained[m]) for m in sorted(self.retained)}
        object.__setattr__(self, "retained", MappingProxyType(laws))
        object.__setattr__(self, "insertion", MappingProxyType({int(m): float(r) for m, r in self.insertion.items()}))
        object.__setattr__(self, "cutoffs", MappingProxyType({int(m): int(k) for m, k in self.cutoffs.items()}))

    @classmethod
    def select_a_size(
        cls, retained: Mapping[int, npt.ArrayLike], insertion: Mapping[int, float], alphabet: int
    ) -> Self:
        """Build it from m -> law of |t ∩ t'| and m -> rho_m in (0, 1). Raises ValueError for anything else."""
        _check_pairs(retained, insertion)
        _check_insertion(insertion)
        laws = {m: np.asarray(law, dtype=np.float64) for m, law in retained.items()}
        return cls(SELECT_A_SIZE, alphabet, laws, insertion)

    @classmethod
    def cut_and_paste(cls, cutoffs: Mapping[int, int], insertion: Mapping[int, float], alphabet: int) -> Self:
        """Build it from m -> K_m >= 0 and m -> rho_m in (0, 1); the rest of t comes back with rho_m too."""
        _check_pairs(cutoffs, insertion)
        _check_insertion(insertion)
        for m, cutoff in cutoffs.items():
            if not is_whole(cutoff) or not 0 <= cutoff <= LARGEST_CUTOFF:
                raise ValueError(f"the cutoff K of size {m} is not a whole number from 0 to {LARGEST_CUTOFF}")
        _check_sizes(cutoffs, alphabet)
        laws = {m: pasted_law(m, cutoff, insertion[m]) for m, cutoff in cutoffs.items()}
        return cls(CUT_AND_PASTE, alphabet, laws, insertion, cutoffs)

    @classmethod
    def uniform(cls, sizes: Iterable[int], keep: float, alphabet: int, inserted: int = 0) -> Self:
        """Build the operator that keeps each item with probability ``keep``, else puts a new one in its place.

        ``inserted`` more new ones come in for every t. New ones are not in t and distinct, so 2 m + ``inserted`` items
        are needed. ``keep`` in (0, 1).
        """
        if not is_real(keep) or not 0.0 < keep < 1.0:
            raise ValueError("the probability to keep an item is not between 0 and 1")
        if not is_whole(inserted) or not 0 <= inserted <= LARGEST:
            raise ValueError(f"the number of inserted items is not a whole number from 0 to {LARGEST}")
        wanted = tuple(sizes)
        _check_sizes(wanted, alphabet)
        for m in wanted:
            if 2 * m + inserted > alphabet:
                needed = 2 * m + inserted
                raise ValueError(f"transactions of {m} items need an alphabet of {needed} for all new ones")
        laws = {m: binomial_law(m, keep) for m in wanted}
        return cls(UNIFORM, alphabet, laws, keep=float(keep), inserted=int(inserted))

    @classmethod
    def none(cls, sizes: Iterable[int], alphabet: int) -> Self:
        """Build the identity, a yardstick without any privacy: t' = t."""
        wanted = tuple(sizes)
        _check_sizes(wanted, alphabet)
        return cls(NONE, alphabet, {m: identity_law(m) for m in wanted}, dict.fromkeys(wanted, 0.0))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The transaction sizes m it knows, ascending."""
        return tuple(self.retained)

    @property
    def refills(self) -> bool:
        """Whether a fixed number of new items comes in for those that fell out, not each with probability rho_m."""
        return self.family == UNIFORM

    def staying(self, size: int) -> float:
        """Return the probability that a transaction of ``size`` items becomes itself."""
        kept = float(self.law(size)[size])
        if self.refills:
            return kept if self.inserted == 0 else 0.0
        return kept * (1.0 - self.rho(size)) ** (self.alphabet - size)

    def adding_nothing(self, size: int) -> float:
        """Return the probability that no new item comes into a transaction of ``size`` items: all in it are its own."""
        if self.refills or size == self.alphabet:
            return self.staying(size)
        return float((1.0 - self.rho(size)) ** (self.alphabet - size))

    def law(self, size: int) -> Floats:
        """Return the law of |t ∩ t'| for |t| = ``size``. Raises DataError PPF777 for a size it does not know."""
        self._require(size)
        return self.retained[size]

    def rho(self, size: int) -> float:
        """Return rho_m. Raises DataError PPF777 for an unknown size, ValueError for ``uniform``."""
        self._require(size)
        if self.refills:
            raise ValueError("uniform randomization has no insertion probability")
        return self.insertion[size]

    def _require(self, size: int) -> None:
        if size not in self.retained:
            text = f"the operator says nothing of transactions of {size} items"
            raise DataError(Diagnostic("PPF777", text, hint=f"it knows sizes {self.sizes[0]} to {self.sizes[-1]}"))


def is_whole(value: object) -> bool:
    """Whether it is an integer, not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_real(value: object) -> bool:
    """Whether it is a number, not a truth value."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _check_sizes(sizes: Iterable[int], alphabet: int) -> None:
    wanted = list(sizes)
    if not is_whole(alphabet) or alphabet < 1:
        raise ValueError("the size of the alphabet is not a whole number from 1")
    if not wanted:
        raise ValueError("an operator needs one transaction size at least")
    if len(set(wanted)) < len(wanted):
        raise ValueError("a transaction size is given twice")
    for m in wanted:
        if not is_whole(m) or m < 0:
            raise ValueError("a transaction size is not a whole number from 0")
        if m > LARGEST:
            raise ValueError(f"transactions of more than {LARGEST} items are not supported")
        if m > alphabet:
            raise ValueError(f"transactions of {m} items do not fit an alphabet of {alphabet}")


def _check_pairs(first: Mapping[int, object], second: Mapping[int, object]) -> None:
    if set(first) != set(second):
        raise ValueError("every transaction size needs both its retained law or cutoff and its insertion probability")


def _check_insertion(insertion: Mapping[int, float]) -> None:
    for m, rho in insertion.items():
        if not is_real(rho) or not 0.0 < rho < 1.0:
            raise ValueError(
                f"the insertion probability of size {m} is not between 0 and 1: with 0 every released item is a true"
                " one, with 1 every item is released"
            )


def _law(size: int, law: Floats) -> Floats:
    if law.shape != (size + 1,):
        raise ValueError(f"the retained law of size {size} needs {size + 1} probabilities, for 0 to {size} items")
    if not np.all(np.isfinite(law)) or not np.all(law >= 0.0) or abs(law.sum() - 1.0) > 1e-9:
        raise ValueError(f"the retained law of size {size} is not a list of probabilities that sum to 1")
    fixed = np.array(law, dtype=np.float64)
    fixed.setflags(write=False)
    return fixed
