"""How the code tables to compare are found."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.mining.comparison.dissimilarity import Encoded
from ppdm_flow.mining.itemsets.database import Database
from ppdm_flow.mining.itemsets.mine import MOST_SETS, mine
from ppdm_flow.mining.krimp.compress import krimp, slim

ALL, CLOSED, SLIM = "all", "closed", "slim"

EFFORT = 20_000_000
"""Rows times squared columns that SLIM compresses in three seconds or so, of weakly correlated columns."""


def affordable_rows(columns: int, most: int) -> int:
    """Return how many rows of so many columns SLIM compresses in seconds: at most ``most``, at least 200."""
    return min(most, max(200, EFFORT // max(1, columns) ** 2))


@dataclass(frozen=True, slots=True)
class Search:
    """``candidates``: ``all`` frequent itemsets, ``closed`` ones, or ``slim`` (found on the way).

    ``min_support`` is a count (int) or a share of the rows (float); ``most`` bounds the itemsets mined.
    """

    min_support: float = 1
    candidates: str = ALL
    pruning: bool = True
    most: int = MOST_SETS

    def encoded(self, database: Database) -> Encoded:
        """Compress a database. Raises PluginError PPF775 or PPF776 for too many itemsets or items."""
        if self.candidates == SLIM:
            found = slim(database, self.min_support, pruning=self.pruning)
        else:
            sets = mine(database, self.min_support, only_closed=self.candidates == CLOSED, most=self.most)
            found = krimp(database, sets.in_candidate_order(), pruning=self.pruning)
        return Encoded(database, found.table)
