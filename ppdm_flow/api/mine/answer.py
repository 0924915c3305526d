"""What mining a release found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.rules import AssociationRule

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ItemsetsOfSize:
    """The frequent itemsets of one size, highest support first.

    Attributes
    ----------
    items : (n, k) places in the alphabet, ascending in each row
    value, sigma, low, high : (n,) estimated supports as shares, their standard errors, ends of their intervals; for
        exact supports sigma is 0
    candidates : how many were counted; 0 where that is not known
    sigma_least : the standard error of an itemset of minimum support whose items are otherwise not in the data
    lowest : the lowest discoverable support, None where none is
    false_positives, false_drops : how many are to be expected; None for exact supports
    partial : (n, k + 1) partial supports: the shares of transactions that hold just 0, 1, .., k of the items, estimated
        without bias where supports are; None where itemsets are too long, or too many of a size, to be taken apart
    """

    items: Integers
    value: Floats
    sigma: Floats
    low: Floats
    high: Floats
    candidates: int
    sigma_least: float = 0.0
    lowest: float | None = None
    false_positives: float | None = None
    false_drops: float | None = None
    partial: Floats | None = None

    def __len__(self) -> int:
        return len(self.items)

    @property
    def size(self) -> int:
        """K."""
        return int(self.items.shape[1])

    def is_discoverable(self, place: int) -> bool:
        """Whether an itemset is told from one that does not occur: its estimate is 4 standard errors above 0."""
        return bool(self.value[place] >= SIGMAS * self.sigma[place])


SIGMAS = 4.0


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """What was asked for."""

    min_support: SupportBound
    max_length: int | None = None
    rules: bool = False
    min_confidence: float = 0.5
    min_lift: float | None = None
    precision: float = 2.0
    level: float = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class MinedRelease:
    """Itemsets by size from 1, and rules where they were asked for, most confident first.

    ``least`` is the minimum support as a share. ``operator`` is None for sets that were not randomized: then all
    supports are exact. ``stopped`` says why the search ended (`ppdm_flow.mining.transactions.apriori`).
    """

    file: str
    attribute: str
    rows: int
    names: tuple[str, ...]
    operator: TransactionOperator | None
    options: MiningOptions
    least: float
    sizes: tuple[ItemsetsOfSize, ...]
    stopped: str
    next_sigma: float | None = None
    rules: tuple[AssociationRule, ...] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether supports are counts and no estimates."""
        return self.operator is None

    @property
    def itemset_count(self) -> int:
        """How many itemsets there are."""
        return sum(map(len, self.sizes))

    def texts(self, items: npt.ArrayLike) -> list[str]:
        """Return the names of items by their places."""
        return [self.names[i] for i in np.asarray(items).tolist()]

    def each(self, limit: int | None = None) -> Iterator[tuple[ItemsetsOfSize, int]]:
        """Yield every itemset as its size's array and a place in it; of each size at most ``limit``."""
        for here in self.sizes:
            for place in range(len(here) if limit is None else min(limit, len(here))):
                yield here, place
