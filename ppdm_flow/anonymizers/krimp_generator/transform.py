"""Making rows, a partition at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.krimp_generator.cells import Maker, Raw, Words, scaled
from ppdm_flow.anonymizers.krimp_generator.rejection import Rejection
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.generation.model import RowGenerator
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import RowNumbers, Table, concat

ATTEMPTS = 1000
"""How often a row is drawn anew before it is replaced."""
_AT_ONCE = 1 << 22
"""Words of randomness that are looked at together: 32 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Drafts:
    """Rows before they are written: ``items`` (rows, attributes), ``raw`` values by attribute.

    ``itemsets`` (rows,): how many elements made each.
    """

    items: npt.NDArray[np.int32]
    raw: tuple[Raw, ...]
    itemsets: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class GeneratorTransform:
    """``code`` (items,) is the code of each item in its attribute; ``makers`` are in the order of ``names``.

    ``rejection``: rows that are not made, where blending is strict. ``account`` is what the report may tell.
    """

    model: RowGenerator
    code: npt.NDArray[np.int32]
    names: tuple[str, ...]
    makers: tuple[Maker, ...]
    row_count: int
    rejection: Rejection | None
    account: Mapping[str, Any]

    @property
    def draws_per_row(self) -> int:
        """A word for each attribute, one more for each number, one for a replacement."""
        return self.model.draws_per_row + sum(m.draws for m in self.makers) + (self.rejection is not None)

    def generate(self, rows: RowNumbers, draws: Draws) -> Table:
        """Make the rows of these numbers. Raises PluginError where all that can be drawn is rejected."""
        step = max(1, _AT_ONCE // max(1, self.draws_per_row))
        return concat(self._stretch(rows[at : at + step], draws) for at in range(0, max(1, len(rows)), step))

    def drafts(self, words: Words) -> Drafts:
        """Make rows from words, of which some may be rejected."""
        width = self.model.draws_per_row
        made = self.model.generate(words[:, :width])
        codes = self.code[made.cells]
        raw, at = [], width
        for place, maker in enumerate(self.makers):
            raw.append(maker.raw(codes[:, place], words[:, at] if maker.draws else words[:, :0].ravel()))
            at += maker.draws
        return Drafts(made.cells, tuple(raw), made.itemsets)

    def rejected(self, drafts: Drafts) -> npt.NDArray[np.bool_]:
        """Return which rows must not be made."""
        if self.rejection is None:
            return np.zeros(len(drafts.items), dtype=bool)
        cells = [m.original(r) for m, r in zip(self.makers, drafts.raw, strict=True)]
        return self.rejection.hit(cells, self.code[drafts.items])

    def describe(self) -> Mapping[str, Any]:
        """Return the shape of the code table and how each attribute is made; no values."""
        return self.account

    def _stretch(self, rows: RowNumbers, draws: Draws) -> Table:
        words = draws.words(rows)
        drafts = self.drafts(words)
        raw, left = drafts.raw, np.flatnonzero(self.rejected(drafts))
        for attempt in range(1, ATTEMPTS + 1):
            if not len(left):
                break
            again = self.drafts(draws.again(attempt).words(rows[left]))
            for old, new in zip(raw, again.raw, strict=True):
                old[left] = new
            left = left[self.rejected(again)]
        columns = [m.column(r) for m, r in zip(self.makers, raw, strict=True)]
        table = Table(dict(zip(self.names, columns, strict=True)), rows)
        return self._replaced(table, left, words) if len(left) else table

    def _replaced(self, table: Table, left: npt.NDArray[np.int64], words: Words) -> Table:
        """Put rows of the original that are frequent enough where every draw was rejected."""
        assert self.rejection is not None  # noqa: S101 - nothing is rejected otherwise
        safe = self.rejection.exact
        reach = safe.reach
        if not len(reach):
            text = f"{len(left)} rows are rejected however often they are drawn: rows of the original are too rare"
            raise PluginError(Diagnostic("PPF744", text, help="lower the minimal support, or say `blend: allow`"))
        chosen = np.searchsorted(reach, scaled(words[left, -1], np.full(len(left), reach[-1])), side="right")
        codes = safe.safe[chosen]
        columns = {n: Column(codes[:, i], c) for i, (n, c) in enumerate(zip(self.names, safe.categories, strict=True))}
        others = np.setdiff1d(np.arange(len(table)), left)
        replaced = concat([table.take(others), Table(columns, table.rows[left])])
        return replaced.take(np.argsort(np.concatenate([others, left])))
