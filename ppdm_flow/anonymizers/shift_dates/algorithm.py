"""Shift dates: one offset a person, or a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.naming import require, subject_of
from ppdm_flow.anonymizers.number_columns import MICROSECONDS, Kinds, kinds_of, moved, numbers_of
from ppdm_flow.anonymizers.numeric_attributes import BEYOND
from ppdm_flow.anonymizers.shift_dates.spec import ShiftParams, contradictions
from ppdm_flow.anonymizers.subject_column import addresses_of, refuse_nobody
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws, Words
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn, numbers_among
from ppdm_flow.tables.table import Table

Offsets = npt.NDArray[np.int64]
SECONDS = {"days": 86_400, "hours": 3_600, "seconds": 1}


class ShiftDates:
    """Moves all dates of a person by one offset, drawn by a keyed hash of the subject."""

    def __init__(self, params: ShiftParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Look for rows that are nobody's. Raises PluginError for these, for clashing parameters and for labels."""
        for problem in contradictions(self.params):
            raise PluginError(Diagnostic(problem.code, problem.message))
        kinds = kinds_of(self.params.attributes, data, ctx)
        for name, kind in kinds.items():
            if not kind.is_time or (kind is AttributeType.DATE and self.params.unit != "days"):
                raise PluginError(Diagnostic("PPF782", f"the column `{name}` does not move by {self.params.unit}"))
        subject = subject_of(ctx.attributes)
        if subject is not None:
            require([subject], data.schema.names, ctx.step)
            for part in data.partitions([subject]):
                refuse_nobody(part, subject)
        offsets = offsets_between(*self.params.ends, zero=self.params.zero)
        return Fitted(ShiftTransform(self.params, kinds, subject), {"offsets": Figure(offsets, "values")})


def offsets_between(low: int, high: int, *, zero: bool) -> int:
    """Return how many whole offsets there are."""
    return high - low + 1 - int(not zero and low <= 0 <= high)


def offsets_of(words: Words, low: int, high: int, *, zero: bool) -> Offsets:
    """Return an offset for each word, shape (n,): all whole numbers from ``low`` to ``high`` are as likely.

    53 bits of a word are spread over at most 2^41 offsets: their probabilities differ by less than 2^-12 of one.
    """
    several = offsets_between(low, high, zero=zero)
    drawn = ((words >> np.uint64(11)) * 2.0**-53 * several).astype(np.int64) + low
    return drawn if zero or not low <= 0 <= high else drawn + (drawn >= 0)


@dataclass(frozen=True, slots=True)
class ShiftTransform:
    """``kinds``: the type of each attribute. Without a ``subject`` each row has an offset of its own."""

    params: ShiftParams
    kinds: Kinds
    subject: str | None

    @property
    def draws_per_row(self) -> int:
        """One."""
        return 1

    def apply(self, part: Table, draws: Draws) -> Table:
        """Move dates. Raises PluginError for rows that are nobody's, and for dates beyond the year 9999."""
        low, high = self.params.ends
        if self.subject is None:
            words = draws.words(part.rows)[:, 0]
        else:
            words = draws.words_at(addresses_of(part, draws, self.subject), 1)[:, 0]
        offsets = offsets_of(words, low, high, zero=self.params.zero)
        changed: dict[str, Column] = {}
        for name, kind in self.kinds.items():
            column = numbers_of(part[name], name, kind)
            unit = 1 if kind is AttributeType.DATE else SECONDS[self.params.unit] * MICROSECONDS
            moves = ~np.isin(column.values, numbers_among(self.params.keep, kind))
            if column.missing is not None:
                moves &= ~column.missing
            values = column.values.copy()
            try:
                values[moves] = moved(column.values[moves], offsets[moves].astype(np.float64), unit, name, kind)
            except PluginError:
                raise _beyond_the_calendar(name) from None
            changed[name] = NumericColumn(values, kind, column.missing)
        return part.replaced(changed)

    def describe(self) -> Mapping[str, Any]:
        """The parameters, and whether a person's rows move alike."""
        alike = "person" if self.subject is not None else "row"
        return {**self.params.model_dump(mode="json", exclude_none=True), "one_offset_for_each": alike}


def _beyond_the_calendar(name: str) -> PluginError:
    text = f"dates of the column `{name}` move beyond the years 1 to 9999"
    help_text = (
        "dates that mean none, such as 9999-12-31 for no end, belong into `source.missing`, or into `keep` of this step"
    )
    return PluginError(Diagnostic(BEYOND, text, help=help_text))
