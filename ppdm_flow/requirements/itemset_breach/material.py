"""The sets that went into an operator, and those that were released in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ppdm_flow.core.attributes import Change
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.mining.transactions.documents import from_document
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.counts import written_out
from ppdm_flow.tables.sets import Baskets, SetColumn
from ppdm_flow.tables.table import Table


class UnknownOperatorError(Exception):
    """What was released cannot be judged; the text says why."""


@dataclass(frozen=True, slots=True, eq=False)
class BreachInput:
    """``original`` has the sets that went into ``operator`` in ``name``, ``candidate`` the released ones in ``column``.

    ``numbers`` and ``released``: m -> rows, by the length of the original sets. ``pairs`` are both side by side.
    ``direct``: no step changed the sets before they were randomized.
    """

    original: DataView
    name: str
    candidate: DataView
    column: str
    operator: TransactionOperator
    alphabet: pa.StringArray
    numbers: Mapping[int, int]
    released: Mapping[int, int]
    pairs: PairedView | None
    direct: bool

    @property
    def complete(self) -> bool:
        """Whether every set that went in was released."""
        return dict(self.numbers) == dict(self.released)

    def partitions(self) -> Iterator[Baskets]:
        """Yield the sets that went in, over the operator's alphabet; without lengths that it does not know."""
        for column in known_sets(self.original, self.name, self.operator):
            yield column.onto(self.alphabet)

    def sets(self) -> Iterator[SetColumn]:
        """Yield the released sets."""
        for part in self.candidate.partitions([self.column]):
            yield part.sets[self.column]


def material(column: str, candidate: DataView, ctx: AuditContext) -> BreachInput:
    """Return what is known of a released column. Raises UnknownOperatorError where that is too little."""
    channel = ctx.set_operators.get(column)
    if channel is None:
        raise UnknownOperatorError("no operator is known")
    try:
        operator = from_document(channel.document)
    except (ValueError, TypeError):
        raise UnknownOperatorError("its operator cannot be read") from None
    view = ctx.operator_inputs.get(column)
    if view is None:
        raise UnknownOperatorError("what went into its operator is not known")
    name = next((n for n in (channel.attribute, source_of(column, ctx)) if n in view.schema), None)
    if name is None:
        raise UnknownOperatorError("what went into its operator is not known")
    alphabet, released = released_lengths(candidate, column, operator)
    numbers = _numbers(each.sizes for each in known_sets(view, name, operator))
    if any(number > numbers.get(m, 0) for m, number in released.items()):
        raise UnknownOperatorError("more sets of some length were released than there were")
    pairs = ctx.operator_pairs.get(column)
    result = BreachInput(
        view, name, candidate, column, operator, alphabet, numbers, released, pairs, _direct(column, channel.step, ctx)
    )
    if pairs is None and not result.complete:
        raise UnknownOperatorError("some sets were left out, and nobody knows which")
    try:
        for _ in result.partitions():
            pass
    except KeyError:
        raise UnknownOperatorError("the original has items that are not in the alphabet") from None
    return result


def plain(table: Table, name: str) -> Baskets:
    """Return a column of plain sets. Raises UnknownOperatorError for randomized ones."""
    column = table.sets.get(name)
    if not isinstance(column, Baskets):
        raise UnknownOperatorError("what went into its operator are no plain sets")
    return column


def known_sets(view: DataView, name: str, operator: TransactionOperator) -> Iterator[Baskets]:
    """Yield the sets of lengths that the operator knows: others cannot have been randomized.

    Each as often as its row's weight says, since a row that stands for several people was randomized for each.
    """
    weight = view.schema.weight
    for part in view.partitions([name] if weight is None else [name, weight]):
        column = plain(written_out(part, [name], weight), name)
        fits = np.isin(column.sizes, np.array(operator.sizes))
        yield column if fits.all() else column.take(fits)


def released_lengths(
    candidate: DataView, column: str, operator: TransactionOperator
) -> tuple[pa.StringArray, dict[int, int]]:
    """Return the alphabet, and how many sets of each length there are. Raises UnknownOperatorError."""
    alphabet: pa.StringArray | None = None
    sizes = []
    for part in candidate.partitions([column]):
        sets = part.sets.get(column)
        if sets is None or isinstance(sets, Baskets):
            raise UnknownOperatorError("it holds plain sets, or none")
        if alphabet is not None and not alphabet.equals(sets.categories):
            raise UnknownOperatorError("it has more than one alphabet")
        alphabet = sets.categories
        sizes.append(sets.sizes)
    if alphabet is None or len(alphabet) != operator.alphabet:
        raise UnknownOperatorError("its alphabet is not that of its operator")
    numbers = _numbers(sizes)
    if not set(numbers) <= set(operator.sizes):
        raise UnknownOperatorError("it has lengths that its operator says nothing of")
    return alphabet, numbers


def _numbers(sizes: Iterable[np.ndarray[tuple[int], np.dtype[np.int32]]]) -> dict[int, int]:
    rows_by_length: dict[int, int] = {}
    for some in sizes:
        for m, number in zip(*(a.tolist() for a in np.unique(some, return_counts=True)), strict=True):
            rows_by_length[m] = rows_by_length.get(m, 0) + number
    return dict(sorted(rows_by_length.items()))


def _direct(column: str, step: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    if facts is None:
        return True
    before = [c for s, c in facts.changes if s != step and c is not Change.PERTURBED]
    return not before
