"""The sets of a release, as mining reads them: partitions over one alphabet, with their operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.reading.received_sets import ReceivedSets
from ppdm_flow.mining.transactions.operators import NONE, TransactionOperator, from_document
from ppdm_flow.tables.sets import Baskets, SeededSets, SetColumn, stacked
from ppdm_flow.tables.sets.packed import UNKNOWN, PackedSets

_MOST_LISTED = 1 << 24
"""Items of an operator on listed sets, at most: an array has room for each."""


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """``partitions()`` reads them anew, over the alphabet ``names``; ``operator`` is None where supports are exact."""

    file: str
    column: str
    names: pa.StringArray
    operator: TransactionOperator | None
    partitions: Callable[[], Iterator[SetColumn]]

    def count_rows(self) -> int:
        """Return the number of transactions, by reading them."""
        return sum(len(part) for part in self.partitions())


def sets_of(got: ReceivedSets) -> Sets:
    """Return the sets of a release. Raises DataError where it has no rows, or sets and operator do not fit."""
    first = next(got.partitions(), None)
    if first is None:
        raise DataError(Diagnostic("PPF714", f"`{got.file.name}` has no rows"))
    operator = _operator(got)
    if operator is None:
        if not isinstance(first, Baskets):
            text = f"the sets in `{got.file.name}` are randomized, and no `operator.json` on them is beside it"
            raise DataError(Diagnostic("PPF736", text, help="ask whoever released it for the operator"))
        return _plain(got)
    if isinstance(first, Baskets):
        if operator.family == NONE:
            return _plain(got)
        if not operator.refills:
            _unfit("the file lists randomized items, and does not say how many each transaction had before")
        return _listed(got, operator)
    if len(first.categories) != operator.alphabet:
        _unfit(f"the sets are over {len(first.categories):,} items, the operator over {operator.alphabet:,}")
    return Sets(got.file.name, got.column, first.categories, operator, lambda: _fitting(got, operator))


def _operator(got: ReceivedSets) -> TransactionOperator | None:
    if got.operator is None:
        return None
    try:
        return from_document(got.operator.document)
    except ValueError as error:
        raise DataError(Diagnostic("PPF736", f"the operator on `{got.column}` is damaged: {error}")) from None


def _fitting(got: ReceivedSets, operator: TransactionOperator) -> Iterator[SetColumn]:
    """Yield the partitions, each held against the operator."""
    for part in got.partitions():
        if isinstance(part, SeededSets):
            _held_against(part, operator)
        yield _sized(part, operator) if isinstance(part, PackedSets) else part


def _held_against(part: SeededSets, operator: TransactionOperator) -> None:
    rates = part.expansion.insertion
    sizes = np.unique(part.sizes)
    if any(m not in operator.retained or m >= len(rates) or rates[m] != operator.rho(m) for m in sizes.tolist()):
        _unfit("the seeds put items in with other probabilities than the operator")


def _sized(part: PackedSets, operator: TransactionOperator) -> PackedSets:
    """Return the sets with the size of their originals, where it is told or there is but one."""
    if not (part.sizes == UNKNOWN).any():
        return part
    if len(operator.sizes) > 1:
        _unfit("the file does not say how many items each transaction had before it was randomized")
    return PackedSets(part.words, np.full(len(part), operator.sizes[0], dtype=np.int32), part.categories)


def _plain(got: ReceivedSets) -> Sets:
    """Return sets that are as they were, over the items that occur, all at once."""
    column = stacked(list(got.partitions()))
    return Sets(got.file.name, got.column, column.categories, None, lambda: iter((column,)))


def _listed(got: ReceivedSets, operator: TransactionOperator) -> Sets:
    """Return listed randomized sets over as many items as the operator has: those that never came up have no name."""
    column = stacked(list(got.partitions()))
    known = column.categories.to_pylist()
    if not isinstance(column, Baskets) or not len(known) <= operator.alphabet <= _MOST_LISTED:
        _unfit(f"the sets have {len(known):,} items, the operator {operator.alphabet:,}")
    if (column.sizes < operator.inserted).any():
        _unfit(f"a set has fewer items than the {operator.inserted:,} that the operator puts into each")
    spare = (f"\0{i}" for i in range(operator.alphabet - len(known)))
    names = pa.array([*known, *spare], pa.string())
    listed: SetColumn = Baskets(column.offsets, column.items, names)
    if operator.inserted:  # a set is not as long as its original was
        listed = PackedSets.of(Baskets(column.offsets, column.items, names), column.sizes - np.int32(operator.inserted))
    return Sets(got.file.name, got.column, names, operator, lambda: iter((listed,)))


def _unfit(why: str) -> NoReturn:
    advice = "use the `operator.json` that came with this very file"
    raise DataError(Diagnostic("PPF137", why, help=advice))
