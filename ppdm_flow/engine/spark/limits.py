"""What the driver may hold: a step or an audit on the whole table runs there, up to the run's limit of memory."""

from __future__ import annotations

from ppdm_flow.engine.faults import run_fault
from ppdm_flow.plan.cluster.amounts import table_bytes

_ADVICE = "give it more with --memory, take a step that works row by row, or run it on one large machine"


def require_room(rows: int, columns: int, limit: int, who: str) -> None:
    """Raise RunError where so many rows and columns are more than the driver may hold; ``who`` needs them."""
    needed = table_bytes(rows, columns)
    if needed > limit:
        raise run_fault(
            "PPF953",
            f"{who} needs the whole table on the driver: {rows:,} rows of {columns} columns take"
            f" {needed >> 20:,} MB, and the run may take {limit >> 20:,} MB",
            advice=_ADVICE,
        )


def require_bytes(held: int, limit: int, who: str) -> None:
    """Raise RunError where what has come to the driver is more than it may hold."""
    if held > limit:
        raise run_fault(
            "PPF953",
            f"{who} needs more on the driver than the run may take: {held >> 20:,} MB have come, of {limit >> 20:,} MB",
            advice=_ADVICE,
        )
