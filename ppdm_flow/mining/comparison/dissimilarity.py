"""Dissimilarity of two tables by their code tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.mining.krimp.compress import cover

Counts = npt.NDArray[np.int64]

LAPLACE = 1.0


@dataclass(frozen=True, slots=True)
class Dissimilarity:
    """How much longer data become under the other's code table than under their own, relative to that.

    ``of_first`` is (L(x|CT_y) - L(x|CT_x)) / L(x|CT_x), ``of_second`` the same of y; either may lie below 0 where the
    other table has more data to be rich on. 0: equally well; 1: twice as long.
    """

    of_first: float
    of_second: float

    @property
    def value(self) -> float:
        """The larger one."""
        return max(self.of_first, self.of_second)


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A database with the code table that was found on it, and the ``usages`` of all codes, those of items last."""

    database: Database
    table: CodeTable

    @property
    def usages(self) -> Counts:
        """Usages in this database, shape (itemsets + items,)."""
        return np.concatenate([self.table.usages, self.table.singles])


def dissimilarity(x: Encoded, y: Encoded, laplace: float = LAPLACE) -> Dissimilarity:
    """Compare two databases over one alphabet (see :func:`ppdm_flow.mining.comparison.alphabet.united`).

    Each code table gets ``laplace`` added to the usage of every code, the items that do not occur included, so that it
    can encode the other's data. L is the size of the data alone, in bits: with a correction of 1 and a random half of
    the table as y this reading gives the column "orig internal" of Vreeken, van Leeuwen, Siebes, "Preserving privacy
    through data generation", ICDM 2007, table 1. Raises ValueError for unlike alphabets.
    """
    if x.database.items != y.database.items:
        raise ValueError("both databases must have equal alphabets")
    return Dissimilarity(_longer(x, y, laplace), _longer(y, x, laplace))


def _longer(x: Encoded, y: Encoded, laplace: float) -> float:
    own = length(x.usages, x.usages, laplace)
    foreign = cover(x.database, y.table.itemsets)
    other = length(np.concatenate([foreign.usages, foreign.singles]), y.usages, laplace)
    return (other - own) / own if own else float(other > 0)


def length(usages: Counts, known: Counts, laplace: float) -> float:
    """Return the bits of data that use each code ``usages`` times, under the code lengths of ``known`` usages."""
    corrected = known + laplace
    used = usages > 0
    with np.errstate(divide="ignore"):
        bits = np.log2(corrected.sum()) - np.log2(corrected[used])
    return float(usages[used] @ bits)
