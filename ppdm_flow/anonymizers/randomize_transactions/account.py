"""What the report and the recipient are told of the operator, and of the form of the sets: bits or seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ppdm_flow.anonymizers.randomize_transactions.choice import Maxima, SizedOperatorChoice
from ppdm_flow.anonymizers.randomize_transactions.observed import ObservedSets
from ppdm_flow.anonymizers.randomize_transactions.sizes import bits_of, prefers_seeds, seeds_of
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.mining.transactions.breaches import epsilon
from ppdm_flow.mining.transactions.discoverable import SIGMAS, lowest_supports
from ppdm_flow.mining.transactions.estimates import expected_sigma
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator
from ppdm_flow.mining.transactions.randomize.randomize import refuse_seeds
from ppdm_flow.mining.transactions.randomize.seeded import SPARE
from ppdm_flow.sdk.spec import SetShape

LENGTHS = (1, 2, 3)
"""Itemsets that are told of where no requirement names any."""


def packed_bytes(operator: TransactionOperator, rows: int) -> int:
    """Return what bits of the whole alphabet take, uncompressed: they are noise."""
    return bits_of(_shape(operator, rows))


def seeded_bytes(operator: TransactionOperator, rows: int) -> int | None:
    """Return what seeds take, or None where there are none for the operator."""
    try:
        refuse_seeds(operator)
    except DataError:
        return None
    return seeds_of(_shape(operator, rows))


def as_seeds(form: Literal["auto", "packed", "seeded"], operator: TransactionOperator, rows: int) -> bool:
    """Whether seeds are written. Raises DataError PPF778 where they are asked for and impossible."""
    if form == "seeded":
        refuse_seeds(operator)
        return True
    seeds = seeded_bytes(operator, rows)
    return seeds is not None and prefers_seeds(form, packed_bytes(operator, rows), seeds)


def _shape(operator: TransactionOperator, rows: int) -> SetShape:
    return SetShape(rows, operator.alphabet, operator.sizes[-1])


@dataclass(frozen=True, slots=True, eq=False)
class OperatorAccount:
    """``lowest``: k -> lowest discoverable support, inf where none is; ``noise``: k -> error of one that is absent.

    ``whole``: the same as ``lowest`` for itemsets that occur as a whole or not at all.
    """

    sets: ObservedSets
    chosen: SizedOperatorChoice
    seeds: bool
    lowest: Mapping[int, float]
    noise: Mapping[int, float]
    whole: Mapping[int, float]

    @classmethod
    def of(cls, sets: ObservedSets, chosen: SizedOperatorChoice, *, seeds: bool) -> OperatorAccount:
        """Compute both for the itemsets that the requirement names."""
        lengths = chosen.requirement.sizes if chosen.requirement is not None else LENGTHS
        lengths = tuple(k for k in lengths if k <= SPARE or not seeds)
        return cls(
            sets,
            chosen,
            seeds,
            _lowest(sets, chosen.operator, lengths, chosen.maxima or None),
            _noise(sets, chosen.operator, lengths),
            _lowest(sets, chosen.operator, lengths, None),
        )

    def figures(self) -> dict[str, Figure]:
        """Return the step's figures."""
        operator, rows = self.chosen.operator, self.sets.rows
        size = seeded_bytes(operator, rows) if self.seeds else packed_bytes(operator, rows)
        figures = {
            "transactions": Figure(rows, "rows"),
            "alphabet": Figure(operator.alphabet, "items"),
            "longest": Figure(self.sets.longest, "items"),
            "alone_by_size": Figure(self.sets.fewer_than(2), "rows", note="sets of a size that no other has"),
            "items_kept": Figure(
                _kept(self.sets, operator), "share", note="own items in the randomized sets, expected"
            ),
            "items_released": Figure(_released(self.sets, operator), "items", note="of a randomized set, on average"),
            "bytes": Figure(size, "bytes", note="seeds" if self.seeds else "bits of the whole alphabet, uncompressed"),
            "epsilon": _finite(
                max((epsilon(operator, m, 1) for m in self.sets.numbers if m), default=0.0),
                "nats",
                "for one item replaced by another; unbounded",
            ),
        }
        for k, support in self.lowest.items():
            figures[f"lowest_support.{k}"] = _finite(support, "share", "no support is discoverable")
            if self.chosen.maxima:
                figures[f"parts_at_largest.{k}"] = figures[f"lowest_support.{k}"]
            figures[f"none_or_all.{k}"] = _finite(self.whole[k], "share", "no support is discoverable")
            figures[f"sigma.{k}"] = _finite(self.noise[k], "share", "such itemsets cannot be estimated")
        for k in self.chosen.requirement.sizes if self.chosen.choices and self.chosen.requirement else ():
            worst = max(choice.levels[k] for choice in self.chosen.choices.values())
            figures[f"level.{k}"] = Figure(worst, "probability", note="the worst that the maximal supports allow")
        return figures

    def contract(self) -> dict[str, Any]:
        """Return the mining contract: what the recipient may ask of the release, and how sure the answers are."""
        requirement = self.chosen.requirement
        return {
            "version": 1,
            "attribute": self.sets.name,
            "form": "seeded" if self.seeds else "packed",
            "transactions": self.sets.rows,
            "by_length": {str(m): number for m, number in self.sets.numbers.items()},
            "alphabet": self.chosen.operator.alphabet,
            "level": None if requirement is None else requirement.level,
            "itemset_sizes": list(self.lowest),
            "lowest_discoverable_support": {str(k): _or_none(s) for k, s in self.lowest.items()},
            "sigma": {str(k): _or_none(s) for k, s in self.noise.items()},
            "largest_itemset": SPARE if self.seeds else None,
            "notes": [
                "operator.json has the operator, by the number of items of the original transaction",
                "the column `size` of each row is that number: estimates need it",
                f"a support is discoverable where its estimate is {SIGMAS:g} standard errors above 0",
                "sigma is the standard error for an itemset of which no transaction has an item: the least there is",
            ],
        }


def _lowest(
    sets: ObservedSets, operator: TransactionOperator, lengths: Sequence[int], maxima: Maxima | None
) -> dict[int, float]:
    supports: dict[int, float] = {}
    for k in lengths:
        try:
            supports |= lowest_supports(operator, sets.numbers, [k], maxima)
        except PluginError:  # too few items are kept for itemsets of that size: nothing to estimate them from
            supports[k] = math.inf
    return supports


def _noise(sets: ObservedSets, operator: TransactionOperator, lengths: Sequence[int]) -> dict[int, float]:
    sigmas = {}
    for k in lengths:
        absent = {m: np.eye(1, k + 1)[0] for m in sets.numbers}
        try:
            sigmas[k] = float(expected_sigma(operator, absent, sets.numbers))
        except PluginError:
            sigmas[k] = math.inf
    return sigmas


def _kept(sets: ObservedSets, operator: TransactionOperator) -> float:
    own = sum(number * m for m, number in sets.numbers.items())
    kept = sum(number * float(np.arange(m + 1) @ operator.law(m)) for m, number in sets.numbers.items())
    return kept / own


def _released(sets: ObservedSets, operator: TransactionOperator) -> float:
    total = 0.0
    for m, number in sets.numbers.items():
        kept = float(np.arange(m + 1) @ operator.law(m))
        filled = m + operator.inserted
        total += number * (filled if operator.refills else kept + (operator.alphabet - m) * operator.rho(m))
    return total / sets.rows


def _finite(value: float, unit: str, note: str) -> Figure:
    return Figure(value, unit) if math.isfinite(value) else Figure(None, unit, note=note)


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def is_identity(operator: TransactionOperator) -> bool:
    """Whether nothing is randomized."""
    return operator.family == NONE
