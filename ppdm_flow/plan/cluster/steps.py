"""Steps and releases: where each is worked on, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ppdm_flow.core.asks import DataAccess
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.plan.cluster.amounts import CELL_BYTES, KEY_BYTES, ROW_BYTES, ROWS_AT_ONCE, combinations, table_bytes
from ppdm_flow.plan.cluster.cases import held_after, of_columns, takes_all
from ppdm_flow.plan.cluster.work import DISTRIBUTED, DRIVER, Work, WorkAmount
from ppdm_flow.plan.definition import Plan, ReleaseNode, StepNode

IN_PARTS = frozenset({"csv", "parquet"})
"""Formats whose files can be read and written as parts of one table."""
SAMPLE_ROWS = 100_000
"""Rows of a sample where no parameter says how many."""
_OF_SAMPLES = ("sample", "sample_rows", "limit")
_TWICE_READ = frozenset({"csv"})
"""Formats that do not say how many records there are: these are counted before they are numbered."""


def step_work(plan: Plan, node: StepNode, rows: int) -> Work:
    """Return what a step takes; its rows are transformed where they are, unless it takes them all."""
    columns = plan.arriving(node)
    info = node.bound.info
    if info.kind is Kind.GENERATOR:
        return _generator(plan, node, columns, rows)
    if any(held_after(plan, reference) for reference in node.inputs):
        why = "its rows are with the driver"
        return Work("step", node.name, info.name, DRIVER, why, WorkAmount())
    if takes_all(node):
        whole = table_bytes(rows, len(columns))
        amount = WorkAmount(max(1, passes_of(node.bound.info.asks, columns)), whole, 0, whole)
        return Work("step", node.name, info.name, DRIVER, "takes the whole table", amount, whole=True)
    asks = info.asks.of(of_columns(plan, columns), node.bound.document)
    read = tuple(a for a in columns if a.name in node.effect.reads) or columns
    passes = passes_of(info.asks, read)
    if not passes:
        return Work("step", node.name, info.name, DISTRIBUTED, "row by row", WorkAmount())
    amount = demanded(asks, passes, read, rows, node.bound.document)
    why = f"fitted by {asks.words}"
    return Work("step", node.name, info.name, asks.where, why, amount, whole=asks is DataAccess.TABLE)


def _generator(plan: Plan, node: StepNode, columns: Sequence[AttributeFacts], rows: int) -> Work:
    """Return what a generator takes: it learns from what it asks, and makes rows on the driver, a few at a time."""
    asks = node.bound.info.asks.of(of_columns(plan, columns), node.bound.document)
    read = tuple(a for a in columns if a.name in node.effect.reads) or tuple(columns)
    amount = demanded(asks, passes_of(node.bound.info.asks, read), read, rows, node.bound.document)
    why = f"fitted by {asks.words}; makes rows"
    return Work("step", node.name, node.bound.info.name, DRIVER, why, amount, whole=asks is DataAccess.TABLE)


def passes_of(demand: Any, columns: Sequence[AttributeFacts]) -> int:
    """Return about how often a plugin goes over the rows."""
    passes: int = demand.passes + demand.passes_each * sum(a.is_numeric for a in columns)
    return passes


def demanded(
    asks: DataAccess, passes: int, columns: Sequence[AttributeFacts], rows: int, parameters: Mapping[str, Any]
) -> WorkAmount:
    """Return what it takes to give a plugin what it asks of these columns."""
    width = len(columns)
    if asks is DataAccess.TABLE:
        whole = table_bytes(rows, width)
        return WorkAmount(passes, passes * whole, 0, whole)
    if asks is DataAccess.ROWS:
        return WorkAmount(passes, passes * table_bytes(rows, width), 0, table_bytes(min(rows, ROWS_AT_ONCE), width))
    if asks is DataAccess.FRAGMENTS:
        some = table_bytes(min(rows, _sample_rows(parameters)), width)
        return WorkAmount(passes, passes * some, 0, some)
    number, known = combinations(columns, rows)
    held = table_bytes(number, width)
    return WorkAmount(passes, held, 0, held, bound=not known)


def _sample_rows(parameters: Mapping[str, Any]) -> int:
    given = (parameters.get(name) for name in _OF_SAMPLES)
    return next((number for number in given if isinstance(number, int) and number > 0), SAMPLE_ROWS)


def write_work(plan: Plan, release: ReleaseNode, rows: int) -> Work:
    """Return what writing a release takes, with reading it again and the hash of its files."""
    again = 2 if release.format in _TWICE_READ else 1
    whole = table_bytes(rows, len(release.attributes))
    if held_after(plan, release.input) or release.collapse or release.format not in IN_PARTS:
        ordered = _is_ordered(plan, release)
        held = whole if ordered else table_bytes(min(rows, ROWS_AT_ONCE), len(release.attributes))
        why = "one file; sorted on its disk" if ordered else "one file"
        on_the_way = 0 if held_after(plan, release.input) else whole
        amount = WorkAmount(again, on_the_way, 0, min(held, whole))
        return Work("write", release.name, release.format, DRIVER, why, amount)
    shuffled = 0
    if _is_ordered(plan, release):
        shuffled = rows * (len(release.attributes) * CELL_BYTES + ROW_BYTES + KEY_BYTES)
    passes = 2 + bool(release.partition_by) + again
    why = "part files, in order" if shuffled else "part files"
    return Work("write", release.name, release.format, DISTRIBUTED, why, WorkAmount(passes, 0, shuffled))


def _is_ordered(plan: Plan, release: ReleaseNode) -> bool:
    return any(node.bound.info.kind is Kind.ORDER for node in plan.upstream(release.input))
