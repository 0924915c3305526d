"""The sets that an operator randomized, and the released sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import pyarrow as pa

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.mining.transactions.operators import CUT_AND_PASTE, TransactionOperator, from_document
from ppdm_flow.sdk.audit import AuditContext, Sql, quoted
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.counts import written_out
from ppdm_flow.tables.sets import Baskets, SeededSets, SetColumn
from ppdm_flow.tables.table import Table

Counts = dict[tuple[int, int], int]
"""(length of the original, which of the items it has, as bits) -> rows."""


class UnknownOperatorError(Exception):
    """Raised where released sets cannot be judged; the text says why."""


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

    Each set occurs as often as its row's weight says, since a row that represents several people was randomized for
    each.
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


# The worst posterior by another route: rows counted in SQL or one by one, the operator from its definition.


_MODULUS = 0x1100B


def posterior(
    material: BreachInput, lengths: Sequence[int], size: int, itemset: Sequence[int], item: int, sql: Sql | None
) -> float:
    """Return Pr[z in t | A in t'] for originals of ``size`` items, by the supports among sets of ``lengths``."""
    others = [i for i in itemset if i != item]
    counted = _counts(material, [*others, item], sql)
    seen = hit = 0.0
    for (length, mask), rows in counted.items():
        if length not in lengths:
            continue
        overlap = (mask & ((1 << len(others)) - 1)).bit_count()
        holds = mask >> len(others) & 1
        overlap += holds if item in itemset else 0
        chance = likelihood(material.operator, size, len(itemset), overlap)
        seen += rows * chance
        hit += rows * chance * holds
    return hit / seen if seen else 0.0


def likelihood(operator: TransactionOperator, size: int, length: int, overlap: int) -> float:
    """Return Pr[A in t' | |t ∩ A| = overlap] by summing over how many items of t stay."""
    missing = length - overlap
    if overlap > size or missing > operator.alphabet - size:
        return 0.0
    total = 0.0
    for kept, chance in enumerate(_law(operator, size)):
        if kept < overlap or chance == 0.0:
            continue
        own = comb(size - overlap, kept - overlap) / comb(size, kept)
        if operator.refills:
            new, outside = size - kept + operator.inserted, operator.alphabet - size
            came = comb(outside - missing, new - missing) / comb(outside, new) if new >= missing else 0.0
        else:
            came = operator.rho(size) ** missing
        total += chance * own * came
    return total


def _law(operator: TransactionOperator, size: int) -> list[float]:
    """Return the law of how many items stay: of cut-and-paste from K and rho."""
    if operator.family != CUT_AND_PASTE:
        return [float(p) for p in operator.law(size)]
    cutoff, rho = operator.cutoffs[size], operator.rho(size)
    law = [0.0] * (size + 1)
    for drawn in range(cutoff + 1):
        cut = min(drawn, size)
        for back in range(size - cut + 1):
            chance = comb(size - cut, back) * rho**back * (1.0 - rho) ** (size - cut - back)
            law[cut + back] += chance / (cutoff + 1)
    return law


def _counts(material: BreachInput, items: Sequence[int], sql: Sql | None) -> Counts:
    """Count the originals, in SQL where the source's rows are just what went into the operator."""
    if sql is not None and material.direct:
        try:
            counted = _in_sql(material, items, sql)
        except PpdmError:
            counted = {}
        if _numbers_sql(counted) == dict(material.numbers):
            return counted
    return _one_by_one(material, items)


def _in_sql(material: BreachInput, items: Sequence[int], sql: Sql) -> Counts:
    name = quoted(material.name)
    names = [material.alphabet[i].as_py() for i in items]
    mask = " + ".join(f"{1 << bit} * list_contains({name}, ?)::INTEGER" for bit in range(len(names)))
    rows = sql.rows(f"SELECT len({name}), {mask}, count(*) FROM original GROUP BY 1, 2", names)  # noqa: S608  # quoted
    return {(int(m), int(bits)): int(n) for m, bits, n in rows}


def _numbers_sql(counted: Counts) -> dict[int, int]:
    rows_by_length: dict[int, int] = {}
    for (m, _), rows in counted.items():
        rows_by_length[m] = rows_by_length.get(m, 0) + rows
    return dict(sorted(rows_by_length.items()))


def _one_by_one(material: BreachInput, items: Sequence[int]) -> Counts:
    counted: Counts = {}
    for part in material.partitions():
        mask = np.zeros(len(part), dtype=np.int64)
        for bit, item in enumerate(items):
            mask[part.rows()[part.items == item]] |= 1 << bit
        keys, rows = np.unique(np.column_stack((part.sizes, mask)), axis=0, return_counts=True)
        for (m, bits), number in zip(keys.tolist(), rows.tolist(), strict=True):
            counted[m, bits] = counted.get((m, bits), 0) + number
    return counted


def released(material: BreachInput, lengths: Sequence[int], itemset: Sequence[int], sql: Sql | None) -> int:
    """Return how many released sets of ``lengths`` hold all items, from the file itself where it has bits."""
    first = next(material.sets(), None)
    if isinstance(first, SeededSets):
        return sum(_expanded(part, lengths, itemset) for part in material.sets() if isinstance(part, SeededSets))
    if sql is None:
        return -1
    name = quoted(material.column)
    bits = [f"get_bit({name}.bits::BIT, {8 * (i >> 3) + 7 - (i & 7)}) = 1" for i in itemset]
    sizes = ", ".join(str(int(m)) for m in lengths)
    query = f"SELECT count(*) FROM candidate WHERE {name}.size IN ({sizes}) AND {' AND '.join(bits)}"  # noqa: S608  # quoted
    return int(sql.rows(query)[0][0])


def _expanded(part: SeededSets, lengths: Sequence[int], itemset: Sequence[int]) -> int:
    """Evaluate each seed's polynomial at the items, by Horner's rule and long multiplication."""
    fits = np.isin(part.sizes, np.array(lengths))
    levels = np.array([round(p * 65536) for p in part.expansion.insertion])[part.sizes]
    for item in itemset:
        value = np.zeros(len(part), dtype=np.int64)
        for column in range(part.expansion.width - 1, -1, -1):
            value = _times(value, item) ^ part.seeds[:, column]
        fits &= value < levels
    return int(fits.sum())


def _times(values: np.ndarray[tuple[int], np.dtype[np.int64]], by: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    total = np.zeros_like(values)
    for bit in range(16):
        if by >> bit & 1:
            total ^= values << bit
    for bit in range(31, 15, -1):
        total = np.where(total >> bit & 1, total ^ (_MODULUS << (bit - 16)), total)
    return total
