"""Suppress where people count: whose rows there are, and the rows that classes of single rows do not protect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.naming import subject_of
from ppdm_flow.anonymizers.subject_column import people_of
from ppdm_flow.anonymizers.suppress.transform import RareCells
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.class_people.linked_rows import standing_out
from ppdm_flow.mining.local_recoding.suppression import enough
from ppdm_flow.mining.people.combinations import CombinationLimitError
from ppdm_flow.mining.people.linkage import linked_rows
from ppdm_flow.mining.recoding.kernels import keyed, numbered
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RowsWithPersons:
    """The rows one by one, with ``persons`` (rows,)."""

    table: Table
    persons: Ints

    @classmethod
    def of(cls, data: DataView, columns: Sequence[str], ctx: StepContext) -> RowsWithPersons | None:
        """Read rows; None where rows count, or everybody has but one. Raises PluginError where a row is nobody's."""
        subject = subject_of(ctx.attributes)
        if ctx.people is None or subject is None or not data.row_count:
            return None
        persons = people_of(data.table([subject]), subject)
        if int(np.bincount(persons).max()) == 1:
            return None
        return cls(data.table(list(columns)), persons)


@dataclass(frozen=True, slots=True)
class PeopleRequirement:
    """``k`` people for the classes over ``names``; rows with a missing cell in ``counted`` may be left out of them."""

    names: tuple[str, ...]
    k: int
    counted: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LinkingColumns:
    """What can link rows: ``codes`` (rows,) of each column, ``pseudonyms`` are those that stand for the person.

    ``asked``: what there must be k people for. ``drop``: no row may be linked.
    """

    codes: Mapping[str, Codes]
    pseudonyms: frozenset[str]
    asked: tuple[PeopleRequirement, ...]
    people: PeopleCount
    nulls: Nulls
    drop: bool

    def left_out(self, persons: Ints, classes: Ints, lost: Bools, k: int) -> Bools:
        """Return all rows to leave out, the ``lost`` ones among them.

        ``classes`` (rows, attributes) are codes of classes, which must have ``k`` people. Raises PluginError where
        there are more combinations than can be compared.
        """
        gone = lost.copy()
        while True:
            here = np.flatnonzero(~gone)
            more = np.zeros(len(here), dtype=np.bool_)
            if k > 1:
                more = ~enough(classes[here], np.ones(len(here), dtype=np.int64), k, persons[here])
            for asked in self.asked if not more.any() else ():
                more |= self._of(asked, persons, here)
            if not more.any():
                return gone
            gone[here[more]] = True

    def _of(self, asked: PeopleRequirement, persons: Ints, here: Ints) -> Bools:
        names = tuple(n for n in asked.names if n in self.codes)
        outside = [n for n in self.codes if n not in names]
        own = np.stack([self.codes[n][here] for n in names], axis=1) if names else np.zeros((len(here), 1), np.int32)
        counted = np.ones(len(here), dtype=np.bool_)
        for name in self.codes.keys() & asked.counted if self.nulls is Nulls.EXCLUDE else ():
            counted &= self.codes[name][here] != MISSING
        rows = here[counted]
        pseudonyms = [self.codes[n][rows] for n in outside if n in self.pseudonyms]
        linked = linked_rows(
            persons[rows], pseudonyms, [self.codes[n][rows] for n in outside if n not in self.pseudonyms]
        ).rows
        out = np.zeros(len(here), dtype=np.bool_)
        if self.drop or self.nulls is Nulls.WILDCARD or not linked.any():
            out[counted] = linked
            return out
        ids = numbered(keyed(own[counted].astype(np.int64) + SPECIALS))[0]
        try:
            out[counted] = standing_out(persons[rows], ids, linked, asked.k, self.people.known_rows)
        except CombinationLimitError as fault:
            raise PluginError(Diagnostic(fault.code, fault.text)) from None
        return out


def codes_of(table: Table, cells: Sequence[RareCells], released: Mapping[str, Codes]) -> dict[str, Codes]:
    """Return the codes of each column as it is released: ``released`` ones are known, others are as they came."""
    known = {c.name for c in cells}
    return {n: released[n] if n in known else _codes(table[n]) for n in table.names}


def _codes(column: Column) -> Codes:
    if not isinstance(column, NumericColumn):
        return column.codes
    codes = np.unique(column.values, return_inverse=True)[1].astype(np.int32)
    return codes if column.missing is None else np.where(column.missing, np.int32(MISSING), codes)
