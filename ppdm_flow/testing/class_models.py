"""What a requirement's `classes` say of the classes of a table, without a step that makes any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping
from ppdm_flow.sdk.spec import imported
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table

Codes = npt.NDArray[np.int32]


def kept(requirement: Requirement, table: Table, facts: Mapping[str, AttributeFacts]) -> bool:
    """Return whether every class of the table keeps what the requirement's models say."""
    counts = count(table, table.names)
    columns = _Columns(counts, facts)
    models: Sequence[Any] = imported(requirement.classes)(requirement, columns)
    grouping = columns.grouping(requirement.grouping)
    sizes = tuple(columns.sizes)
    return all(bool(m.keeps(grouping, grouping.base(m.attribute, sizes)).all()) for m in models)


class _Columns:
    """Implements :class:`ppdm_flow.mining.recoding.models.SensitiveColumns` over all rows of a table."""

    def __init__(self, counts: Counts, facts: Mapping[str, AttributeFacts]) -> None:
        self.counts = counts
        self.sizes: list[int] = []
        self._facts = facts
        self._codes: dict[str, Codes] = {}

    def facts(self, name: str) -> AttributeFacts | None:
        """Return what is known of an attribute."""
        return self._facts.get(name)

    def place(self, name: str) -> int:
        """Return the place of an attribute."""
        codes = self.counts.of(name) + np.int32(SPECIALS)
        return self.add(name, codes, len(self.counts.names(name)) + SPECIALS)

    def codes(self, name: str, values: Sequence[str]) -> tuple[int, ...]:
        """Return the codes of values; one that does not occur has a code that nothing has."""
        names = self.counts.names(name).to_pylist()
        return tuple(names.index(v) + SPECIALS if v in names else len(names) + SPECIALS for v in values)

    def add(self, name: str, codes: Codes, size: int) -> int:
        """Add codes below ``size``; return their place."""
        if name not in self._codes:
            self._codes[name] = codes
            self.sizes.append(size)
        return list(self._codes).index(name)

    def grouping(self, columns: Sequence[str]) -> RowGrouping:
        """Return the classes over some columns."""
        ids, size = self.counts.groups(columns)
        rows = self.counts.counts
        cells = tuple(_cells(ids, size, codes, rows) for codes in self._codes.values())
        first = np.unique(ids, return_index=True)[1].astype(np.int64)
        return RowGrouping((0,), first, np.bincount(ids, rows, size).astype(np.int64), cells)


def _cells(ids: npt.NDArray[np.int64], classes: int, codes: Codes, rows: npt.NDArray[np.int64]) -> ClassCells:
    width = int(codes.max(initial=0)) + 1
    keys, place = np.unique(ids * width + codes, return_inverse=True)
    begins = np.searchsorted(keys // width, np.arange(classes + 1)).astype(np.int64)
    return ClassCells(begins, (keys % width).astype(np.int32), np.bincount(place, rows).astype(np.int64))
