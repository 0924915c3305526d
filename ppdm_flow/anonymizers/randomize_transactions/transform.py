"""Each set on its own: bits, or the seed that they expand from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.anonymizers.randomize_transactions.observed import onto
from ppdm_flow.core.draws import Draws
from ppdm_flow.mining.transactions.documents import from_document
from ppdm_flow.mining.transactions.operators import Operator
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class RandomizeTransform:
    """``told`` is the operator's document as JSON text: small, and the same wherever it is read."""

    attribute: str
    told: str
    alphabet: pa.StringArray
    seeds: bool

    @property
    def draws_per_row(self) -> int:
        """As many as the largest set takes."""
        operator = _operator(self.told)
        return seeded.draws_per_row(operator) if self.seeds else randomize.draws_per_row(operator)

    def apply(self, part: Table, draws: Draws) -> Table:
        """Return the partition with its sets randomized."""
        column = onto(baskets(part, self.attribute), self.alphabet, self.attribute)
        operator = _operator(self.told)
        made = seeded.seed if self.seeds else randomize.randomize
        return part.resettled({self.attribute: made(column, operator, draws, part.rows)})

    def describe(self) -> Mapping[str, Any]:
        """Return the operator and the form."""
        return {
            "attribute": self.attribute,
            "form": "seeded" if self.seeds else "packed",
            "operator": json.loads(self.told),
        }


@lru_cache(maxsize=8)
def _operator(told: str) -> Operator:
    return from_document(json.loads(told))
