"""The canonical text of an Excel cell."""

from __future__ import annotations

import datetime as dt
from typing import Any


def text(cell: Any) -> str | None:
    """Return digits for numbers (whole ones without a point), ISO 8601 for times, ``true``; None for an empty cell."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, dt.datetime):
        whole = (cell.hour, cell.minute, cell.second, cell.microsecond) == (0, 0, 0, 0)
        return cell.date().isoformat() if whole else cell.isoformat()
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return str(cell)
