"""What a run on a cluster takes, as text."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.plan.cluster.amounts import size
from ppdm_flow.plan.cluster.foreseen import PER_ROWS, RowEstimate, WorkForecast
from ppdm_flow.plan.cluster.work import Work

_HEAD = ("", "where", "passes", "to the driver", "shuffled", "driver holds", "")
_LEAST = 1 << 20
_RIGHT = (2, 3, 4, 5)


def text(foreseen: WorkForecast) -> str:
    """Return a line for each part of a run, below how many rows it is for, and the sums."""
    lines = [_HEAD, *(_cells(work) for work in foreseen.works), _sums(foreseen)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEAD))]
    table = ["  ".join(_set(cell, widths[i], i) for i, cell in enumerate(line)).rstrip() for line in lines]
    return "\n".join([*_head(foreseen), "", *table, "", *_notes(foreseen)]) + "\n"


def _set(cell: str, width: int, place: int) -> str:
    return cell.rjust(width) if place in _RIGHT else cell.ljust(width)


def _head(foreseen: WorkForecast) -> Iterator[str]:
    for name, rows in foreseen.rows.items():
        yield f"on Spark  {name}: {_rows(rows)}"
    yield f"          the driver may hold {foreseen.memory:,} MB (--memory)"


def _rows(rows: RowEstimate) -> str:
    if rows.number is None:
        return f"nobody knows how many rows; amounts are for each {PER_ROWS:,} rows (say --rows or --data)"
    return f"{'about ' if rows.about else ''}{rows.number:,} rows ({rows.how})"


def _cells(work: Work) -> tuple[str, ...]:
    amount = work.amount
    held = f"≤ {size(max(amount.held, _LEAST))}" if amount.bound and amount.held else size(amount.held)
    return (
        work.title,
        work.where,
        str(amount.passes),
        size(amount.to_driver),
        size(amount.shuffled),
        held,
        work.why,
    )


def _sums(foreseen: WorkForecast) -> tuple[str, ...]:
    amounts = [work.amount for work in foreseen.works]
    most = max((amount.held for amount in amounts if not amount.bound), default=0)
    return (
        "all of it",
        "",
        f"about {foreseen.passes}",
        size(sum(amount.to_driver for amount in amounts)),
        size(sum(amount.shuffled for amount in amounts)),
        f"most {size(most)}",
        "",
    )


def _notes(foreseen: WorkForecast) -> Iterator[str]:
    yield "A pass reads all fragments; passes of audits are estimates. Texts of values are held besides."
    if any(work.amount.bound for work in foreseen.works):
        yield "≤: distinct values or combinations, no more than rows; declared domains bound them closer."
