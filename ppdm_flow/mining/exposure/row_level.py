"""The rows of one release, each by itself: its number in the source, its class or crowd, and what it tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.columns import Columns, Reading, columns, readings
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.ground import Ground, Layout
from ppdm_flow.mining.exposure.histograms import Crowds
from ppdm_flow.mining.exposure.paired import names_of, paired_tables
from ppdm_flow.mining.exposure.values import Values, read
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table, concat

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a requirement looks at: grouping attributes ``known``, sensitive ones ``secret``.

    ``values_known``: where missing values are left out, rows that miss a sensitive cell are left out as well.
    """

    known: tuple[str, ...]
    secret: tuple[str, ...]
    values_known: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class RowLevel:
    """``numbers`` (rows,) in the source, ascending; ``classes`` (rows,) their place among those of ``values``.

    ``values`` are the histograms of the release by its first way of reading; None where nothing carries the attribute.
    """

    ground: Ground
    numbers: Ints
    classes: Ints
    values: Values | None

    def places(self, numbers: Ints) -> Ints:
        """Return where these rows of the source are, -1 for those that are not here."""
        if not len(self.numbers):
            return np.full(len(numbers), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[place] == numbers, place, -1)


def reading_of(attribute: str | None, candidate: DataView, ctx: AuditContext) -> Reading | None:
    """Return the way to read what is behind the cells; None where nothing carries the attribute."""
    ways = () if attribute is None else readings(attribute, candidate, ctx)
    return ways[0] if ways else None


def row_level(
    revealing: Columns, reading: Reading | None, candidate: DataView, ctx: AuditContext, *, values_known: bool = True
) -> RowLevel:
    """Read a release row by row. Raises UnmeasuredError where null semantics and crowds do not go together."""
    require_pairs_of_nulls(revealing, ctx.nulls)
    layout = Layout.of(revealing, reading, 0, ctx.nulls, values_known=values_known)
    names, weight = names_of(layout.released, layout.original), candidate.schema.weight
    empty = Table.of({name: [] for name in (*names, *([] if weight is None else ["n"]))})
    parts = [] if ctx.pairs is None else list(paired_tables(ctx.pairs, layout.released, layout.original, weight))
    table = concat([empty, *parts]) if names or weight else _bare(parts)
    table = table.take(np.argsort(table.rows, kind="stable"))
    codes = [table[name].codes for name in names]
    rows = np.ones(len(table), dtype=np.int64) if weight is None else weights_of(table["n"])
    kept = rows > 0
    for place in layout.must_be_known(0):
        kept &= codes[place] != MISSING
    stacked = np.column_stack(codes) if codes else np.zeros((len(table), 0), dtype=np.int32)
    categories = tuple(table[name].categories for name in names)
    ground = Ground(layout, stacked[kept], rows[kept], categories)
    classes = Crowds(ground).crowd if revealing.mixed else ground.number(layout.grouping)
    return RowLevel(ground, table.rows[kept], classes, None if reading is None else read(ground, reading, ctx.nulls))


def of_release(about: Attributes, attribute: str | None, candidate: DataView, ctx: AuditContext) -> RowLevel:
    """Read a release for a requirement on ``attribute``."""
    revealing = columns(about.known, about.secret, candidate, ctx)
    reading = reading_of(attribute, candidate, ctx)
    return row_level(revealing, reading, candidate, ctx, values_known=about.values_known)


def _bare(parts: list[Table]) -> Table:
    """Return rows of which nothing but their numbers is looked at."""
    numbers = [part.rows for part in parts]
    return Table({}, np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.int64))
