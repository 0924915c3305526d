"""The values of a sensitive attribute in every class, and row by row, as the release tells them: the first route."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.records import dataclass
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import Columns, Reading, Way, columns, readings
from ppdm_flow.mining.exposure.faults import require_pairs_of_nulls
from ppdm_flow.mining.exposure.ground import Ground, Layout, ground
from ppdm_flow.mining.exposure.histograms import Code, Crowds, Histograms, histograms
from ppdm_flow.mining.exposure.rows import Rows
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.paired_relation import names_of, paired_tables
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.table import Table, concat

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """``histograms`` are those of all classes, or of all crowds; ``mean`` those of the mixed cells, if any."""

    reading: Reading
    histograms: Histograms
    mean: Histograms | None = None


def values(
    columns: Columns, ways: Iterable[Reading], rows: Rows, nulls: Nulls, *, values_known: bool = True
) -> list[Values]:
    """Return the values by each of the ways. Raises UnmeasuredError where these null semantics have no crowds."""
    return [_read(columns, way, rows, nulls, values_known=values_known) for way in ways]


def _read(columns: Columns, reading: Reading, rows: Rows, nulls: Nulls, *, values_known: bool) -> Values:
    require_pairs_of_nulls(columns, nulls)
    layout = Layout.of(columns, reading, rows.leading, nulls, values_known=values_known)
    return read(ground(rows, layout), reading, nulls)


def read(counted: Ground, reading: Reading, nulls: Nulls) -> Values:
    """Return the values of counted rows by one way."""
    layout = counted.layout
    code: Code | None = None
    if reading.way is Way.SHOWN:
        value, names = counted.codes[:, layout.shown[0]], counted.categories[layout.shown[0]]
    elif layout.value is not None:
        value, names = counted.codes[:, layout.value], counted.categories[layout.value]
        if reading.way is Way.DECODED:
            cell = counted.number(layout.shown)
            code = Code.of(cell, value, counted.rows, names)
            value, names = cell.astype(np.int32), _numbers(code)
    crowd, mean = _histograms(counted, value, names, nulls)
    if code is None:
        return Values(reading, crowd, mean)
    return Values(reading, code.decoded(crowd), None if mean is None else code.decoded(mean))


def _histograms(
    counted: Ground, value: npt.NDArray[np.int32], names: pa.StringArray, nulls: Nulls
) -> tuple[Histograms, Histograms | None]:
    if len(counted.layout.mixed):
        return Crowds(counted).histograms(value, names)
    grouped: Sequence[int] = counted.layout.grouping
    semantics = Nulls.WILDCARD if nulls is Nulls.WILDCARD else Nulls.OWN_CATEGORY  # what is left out is so already
    own = histograms(counted.collapsed(grouped, value, names), semantics)
    return Histograms(own.cells, own.sizes, own.rows, own.base, names, counted.left_out), None


def _numbers(code: Code) -> pa.StringArray:
    """Return names for cells that are numbers."""
    return pa.array(np.arange(code.shares.shape[0]).astype(str), pa.string())


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
