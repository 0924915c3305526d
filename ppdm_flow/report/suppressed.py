"""What was suppressed, and how much of it, attribute by attribute."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ppdm_flow.report.amounts import amount

_CELLS = re.compile(r"^(?P<owner>.+?)\.(?:suppressed_cells|suppressed)\.(?P<attribute>.+)$")
_SHARE = re.compile(r"^(?P<owner>.+?)\.(?:suppressed_share|suppressed_rate)\.(?P<attribute>.+)$")


@dataclass(frozen=True, slots=True)
class Loss:
    """How much of one attribute a step (or release) suppressed; ``share`` in [0, 1], or None where unknown."""

    owner: str
    attribute: str
    cells: str
    share: float | None
    text: str


def losses(document: dict[str, Any]) -> tuple[Loss, ...]:
    """Return the attributes with suppressed cells, the most suppressed first."""
    cells: dict[tuple[str, str], float] = {}
    shares: dict[tuple[str, str], float] = {}
    for name, figure in document["metrics"].items():
        for pattern, found in ((_CELLS, cells), (_SHARE, shares)):
            match = pattern.match(name)
            if match and figure["value"] is not None:
                found[match["owner"], match["attribute"]] = figure["value"]
    rows = [_loss(key, cells.get(key), shares.get(key), document) for key in dict.fromkeys([*cells, *shares])]
    return tuple(sorted(rows, key=lambda row: (row.owner, -(row.share or 0.0), row.attribute)))


def _loss(key: tuple[str, str], cells: float | None, share: float | None, document: dict[str, Any]) -> Loss:
    owner, attribute = key
    if share is None and cells is not None:
        rows = next((step["rows_out"] for step in document["steps"] if step["name"] == owner), 0)
        share = cells / rows if rows and cells <= rows else None
    return Loss(
        owner,
        attribute,
        "" if cells is None else amount(cells, "cells"),
        share,
        "" if share is None else amount(share, "share"),
    )
