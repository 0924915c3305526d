"""Sets before and after randomization, over one alphabet: the input of audits of their utility."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.mining.transactions.operators import LARGEST, TransactionOperator, from_document
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import union
from ppdm_flow.tables.sets import Baskets, SetColumn, stacked
from ppdm_flow.tables.sets.baskets import placed


class NoSidesError(Exception):
    """There is nothing to compare; the text says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The original sets of ``column`` before its operator, and the released ones.

    ``operator`` keeps every item where the released sets are plain. Items that are not in ``alphabet`` could not be
    released at all.
    """

    column: str
    operator: TransactionOperator
    alphabet: pa.StringArray
    view: DataView
    name: str
    candidate: DataView

    def before(self) -> Baskets:
        """Return the original sets, all at once."""
        parts = [p.sets[self.name] for p in self.view.partitions([self.name])]
        everything = stacked([p for p in parts if isinstance(p, Baskets)]) if parts else Baskets.of([])
        if not isinstance(everything, Baskets) or (parts and not isinstance(parts[0], Baskets)):
            raise NoSidesError("what went into the operator are no plain sets")
        return everything.mapped(placed(everything.categories, self.alphabet), self.alphabet)

    def after(self) -> Iterator[SetColumn]:
        """Yield the released sets."""
        for part in self.candidate.partitions([self.column]):
            yield part.sets[self.column].onto(self.alphabet)


def sides(original: DataView, candidate: DataView, ctx: AuditContext, attribute: str | None) -> Sides:
    """Return both sides of the released sets that ``attribute`` names, or of the only ones. Raises NoSidesError."""
    column = _column(candidate, attribute, ctx)
    channel = ctx.set_operators.get(column)
    name = source_of(column, ctx)
    if channel is None:
        if name not in original.schema or original.schema[name].role is not Role.ITEMS:
            raise NoSidesError(f"the original has no sets `{name}`")
        return _plain(column, original, name, candidate)
    try:
        operator = from_document(channel.document)
    except (ValueError, TypeError):
        raise NoSidesError(f"the operator on `{column}` cannot be read") from None
    view = ctx.operator_inputs.get(column, original)
    there = next((n for n in (channel.attribute, name) if n in view.schema), None)
    if there is None:
        raise NoSidesError(f"what went into the operator on `{column}` is not known")
    first = next(iter(candidate.partitions([column])), None)
    alphabet = None if first is None else first.sets[column].categories
    if alphabet is None or len(alphabet) != operator.alphabet:
        raise NoSidesError(f"the alphabet of `{column}` is not that of its operator")
    return Sides(column, operator, alphabet, view, there, candidate)


def _plain(column: str, original: DataView, name: str, candidate: DataView) -> Sides:
    """Take sets that are released as they are for the output of an operator that changes nothing."""
    alphabet, sizes = union([]), np.zeros(0, dtype=np.int32)
    for view, where in ((original, name), (candidate, column)):
        for part in view.partitions([where]):
            sets = part.sets[where]
            if not isinstance(sets, Baskets):
                raise NoSidesError(f"the sets of `{where}` are randomized, and their operator is not known")
            alphabet = union([alphabet, sets.compact().categories])
            if view is candidate:
                sizes = np.union1d(sizes, sets.sizes)
    if not len(sizes) or not len(alphabet):
        raise NoSidesError("there are no sets, or none with an item")
    if sizes.max() > LARGEST:
        raise NoSidesError(f"there are sets of more than {LARGEST:,} items")
    return Sides(column, TransactionOperator.none(sizes.tolist(), len(alphabet)), alphabet, original, name, candidate)


def _column(candidate: DataView, attribute: str | None, ctx: AuditContext) -> str:
    names = [n for n in candidate.schema.names if candidate.schema[n].role is Role.ITEMS]
    if attribute is not None:
        names = [n for n in names if attribute in (n, source_of(n, ctx))]
    if not names:
        raise NoSidesError("the release has no sets" if attribute is None else f"`{attribute}` holds no sets")
    if len(names) > 1:
        raise NoSidesError("the release has several columns of sets, and `attribute` names none of them")
    return names[0]
