"""Rows that are alike, counted where they are: what is sent to Spark to be grouped is one row a combination.

Only aggregates that can be said of combinations and how often they occur are rewritten so; for all others Spark gets
every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from ppdm_flow.engine.spark.fragments import Fragment

if TYPE_CHECKING:
    from sqlglot.expressions import Expr, Select

ALIKE = "rows_alike"
"""How many rows a combination stands for."""
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
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
        batches = [batch.select(list(self.names)) for batch in self.rows(fragment)]
        if not batches:
            return
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in self.names)
        with duckdb.connect(":memory:", config=_CLOSED) as opened:
            opened.register("part", pa.Table.from_batches(batches))
            query = f'SELECT {names}, count(*)::BIGINT AS "{ALIKE}" FROM part GROUP BY ALL'  # noqa: S608  # quoted
            yield from opened.sql(query).to_arrow_table().to_batches()


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
