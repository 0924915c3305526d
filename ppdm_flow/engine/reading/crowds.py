"""Weights of rows that look like those of a survey: then one respondent would count as a crowd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table

LEAST_ROWS = 20
"""A table of fewer rows tells nothing about its weights."""
LEAST_MEAN = 10
"""So many rows does a row stand for on average at least. A collapsed table mostly has rows that occur once."""


@dataclass(slots=True)
class CrowdSizes:
    """Adds up the weights of one column; :attr:`text` says what they look like, if anything."""

    code: ClassVar[str] = "PPF859"
    facts: AttributeFacts
    rows: int = 0
    total: int = 0
    alone: int = 0

    def look(self, table: Table) -> None:
        """Take in a partition whose weights are known to be whole numbers above 0."""
        weights = weights_of(table[self.facts.name])
        self.rows += len(weights)
        self.total += int(weights.sum())
        self.alone += int((weights <= 1).sum())

    def add(self, later: CrowdSizes) -> None:
        """Take in the weights of the rows that follow."""
        self.rows += later.rows
        self.total += later.total
        self.alone += later.alone

    @property
    def text(self) -> str | None:
        """Say that no row stands for itself alone; None where one does, or too few rows say so."""
        if self.alone or self.rows < LEAST_ROWS or self.total < LEAST_MEAN * self.rows:
            return None
        return (
            f"`{self.facts.name}` counts rows of a collapsed table, and looks like the weights of a survey: each of"
            f" {self.rows:,} rows stands for 2 or more, {self.total / self.rows:,.0f} on average. A respondent who"
            " stands for 20 people of the population is one row, and would count as a crowd of 20"
        )
