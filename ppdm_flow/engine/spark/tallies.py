"""Rows that are alike, counted where they are: what is sent to Spark to be grouped is one row a combination.

Only aggregates that can be said of combinations and how often they occur are rewritten so; for all others Spark gets
every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from ppdm_flow.core.texts.sql_names import quoted
from ppdm_flow.engine.spark.fragments import Fragment
from ppdm_flow.sdk.databases.duckdb import NO_FILES, Setting

if TYPE_CHECKING:
    from sqlglot.expressions import Expr, Select

ALIKE = "rows_alike"
"""How many rows a combination stands for."""
_MOST = 1 << 21
"""Combinations that are held at once, to be added up."""
_PAYS = 0.8
"""Fragments have combinations in common where those of two are fewer than this share of their sum."""
_CLOSED: dict[str, Setting] = {
    **NO_FILES,
    "python_enable_replacements": "false",
    "temp_directory": "",
    "threads": "1",
    "preserve_insertion_order": "false",
}


@dataclass(frozen=True, slots=True)
class TallyWork:
    """Counts the rows of a fragment that are alike in ``names``, by DuckDB: the second route, not our own counting."""

    rows: Callable[[Fragment], Iterator[pa.RecordBatch]]
    names: tuple[str, ...]

    def __call__(self, fragment: Fragment) -> Iterator[pa.RecordBatch]:
        """Yield the combinations of the fragment's rows."""
        yield from self.together([fragment])

    def together(self, fragments: Iterable[Fragment]) -> Iterator[pa.RecordBatch]:
        """Yield the combinations of some fragments, added up where that makes fewer."""
        held: pa.Table | None = None
        pays = True
        for fragment in fragments:
            batches = [batch.select(list(self.names)) for batch in self.rows(fragment)]
            if not batches:
                continue
            counted = self._grouped(pa.Table.from_batches(batches), "count(*)")
            if held is not None and pays:
                added = self._grouped(pa.concat_tables([held, counted]), f'sum("{ALIKE}")')
                pays = added.num_rows < _PAYS * (held.num_rows + counted.num_rows)
                if pays and added.num_rows <= _MOST:
                    held = added
                    continue
            if held is not None:
                yield from held.to_batches()
            held = counted
        if held is not None:
            yield from held.to_batches()

    def _grouped(self, part: pa.Table, times: str) -> pa.Table:
        names = ", ".join(map(quoted, self.names))
        with duckdb.connect(":memory:", config=_CLOSED) as opened:
            opened.register("part", part)
            query = f'SELECT {names}, {times}::BIGINT AS "{ALIKE}" FROM part GROUP BY ALL'  # noqa: S608  # quoted
            return opened.sql(query).to_arrow_table()


def of_tallies(select: Select) -> Select | None:
    """Return a grouping as one of combinations that occur :data:`ALIKE` times; None where it cannot be said so.

    It reads one relation directly, and adds up, counts, or takes the least or greatest.
    """
    from sqlglot import exp  # noqa: PLC0415  # heavy

    source = select.find(exp.From)
    if source is None or not isinstance(source.this, exp.Table) or len(list(select.find_all(exp.Select))) > 1:
        return None
    if any(column.name.lower() == ALIKE for column in select.find_all(exp.Column)):
        return None
    rewritten = select.copy()
    for aggregate in list(rewritten.find_all(exp.AggFunc)):
        instead = _of_tallies(aggregate)
        if instead is None:
            return None
        if instead is not aggregate:
            aggregate.replace(instead)
    return rewritten


def _of_tallies(aggregate: Expr) -> Expr | None:
    """Return an aggregate over combinations, the same one where it is no matter how often each occurs, or None."""
    from sqlglot import exp  # noqa: PLC0415  # heavy

    times = exp.column(ALIKE)
    if isinstance(aggregate, exp.Min | exp.Max):
        return aggregate
    if isinstance(aggregate, exp.Sum):
        return exp.Sum(this=exp.Mul(this=exp.paren(aggregate.this.copy()), expression=times))
    if isinstance(aggregate, exp.Count) and isinstance(aggregate.this, exp.Star):
        return exp.Coalesce(this=exp.Sum(this=times), expressions=[exp.Literal.number(0)])
    return None
