"""How often each value of an operator's domain occurs in the table that the operator was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, Column
from ppdm_flow.tables.counts import Counts

Domain = Sequence[str | None]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ValueHistogram:
    """``rows`` (m,) of each value of the domain; ``outside`` counts the cells that are none of them."""

    rows: Integers
    outside: int = 0

    @property
    def total(self) -> int:
        """The rows within the domain."""
        return int(self.rows.sum())

    @property
    def frequency(self) -> npt.NDArray[np.float64]:
        """Shares of the rows within the domain, shape (m,); zeros for no row."""
        share: npt.NDArray[np.float64] = self.rows / max(1, self.total)
        return share


def places(counts: Counts, column: str, domain: Domain) -> Integers:
    """Return the place in ``domain`` of each combination's cell in ``column``, or -1 where it is outside.

    A suppressed cell is outside, and a missing one as well unless the domain holds None.
    """
    of_value = {value: i for i, value in enumerate(domain)}
    names = counts.names(column).to_pylist()
    table = np.full(len(names) + SPECIALS, -1, dtype=np.int64)
    table[SPECIALS + MISSING] = of_value.get(None, -1)
    table[SPECIALS:] = [of_value.get(name, -1) for name in names]
    return table[counts.of(column) + SPECIALS]


def places_of(column: Column, domain: Domain) -> Integers:
    """Return the place in ``domain`` of each cell of a column, or -1 where it is outside, shape (rows,)."""
    of_value = {value: i for i, value in enumerate(domain)}
    table = np.full(len(column.categories) + SPECIALS, -1, dtype=np.int64)
    table[SPECIALS + MISSING] = of_value.get(None, -1)
    table[SPECIALS:] = [of_value.get(name, -1) for name in column.categories.to_pylist()]
    return table[column.codes + SPECIALS]


def histogram(view: DataView, column: str, domain: Domain) -> ValueHistogram:
    """Count the cells of one column."""
    counts = view.counts((column,))
    return tally(places(counts, column, domain), counts.counts, len(domain))


def tally(place: Integers, rows: Integers, size: int) -> ValueHistogram:
    """Add up ``rows`` by place."""
    inside = place >= 0
    counts = np.zeros(size, dtype=np.int64)
    np.add.at(counts, place[inside], rows[inside])
    return ValueHistogram(counts, int(rows[~inside].sum()))


def operator_input(
    operator: ValueOperator, column: str, original: DataView, ctx: AuditContext
) -> tuple[DataView, str] | None:
    """Return the table that the operator was given and the name of its column there."""
    view = ctx.operator_inputs.get(column, original)
    for name in (operator.attribute, source_of(column, ctx)):
        if name in view.schema:
            return view, name
    return None


def given_the_original(operator: ValueOperator, facts: AttributeFacts | None) -> bool:
    """Whether the operator was given the source's own values: no step changed them before."""
    return facts is None or not facts.changes or not operator.step or facts.changes[0][0] == operator.step
