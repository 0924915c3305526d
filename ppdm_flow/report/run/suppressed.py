"""What was suppressed, and how much of it, attribute by attribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ppdm_flow.report.amounts import amount
from ppdm_flow.report.plots.fields import ChartDocument
from ppdm_flow.report.run.fields import ReportDocument, StepDocument

CHART = "-suppressed"
"""How the name of the chart ends that holds a step's suppressed shares."""


@dataclass(frozen=True, slots=True)
class Loss:
    """How much of one attribute a step suppressed; ``share`` of the rows in [0, 1], or None where unknown."""

    step: str
    attribute: str
    cells: str
    values: str
    share: float | None
    text: str


def losses(document: ReportDocument) -> tuple[Loss, ...]:
    """Return the attributes that a step suppresses, the most suppressed first; from the steps' own accounts."""
    charts = {chart["id"]: chart for chart in document["charts"]}
    rows = [row for step in document["steps"] for row in _of_step(step, charts.get(f"{step['name']}{CHART}"))]
    return tuple(sorted(rows, key=lambda row: -(row.share or 0.0)))


def _of_step(step: StepDocument, chart: ChartDocument | None) -> Iterator[Loss]:
    accounts = step["description"].get("attributes")
    if not isinstance(accounts, dict):
        return
    shares = dict(zip(chart["x"], chart["series"][0]["y"], strict=False)) if chart and chart["series"] else {}
    for attribute, account in accounts.items():
        if isinstance(account, dict) and "suppressed_cells" in account:
            cells = account["suppressed_cells"]
            share = shares.get(attribute)
            if share is None and 0 <= cells <= step["rows_out"]:
                share = cells / step["rows_out"] if step["rows_out"] else 0.0
            text = "" if share is None else amount(share, "share")
            yield Loss(step["name"], attribute, f"{cells:,}", _values(account), share, text)


def _values(account: dict[str, Any]) -> str:
    hidden, shown = account.get("suppressed_values"), account.get("disclosed_values")
    if not isinstance(hidden, int) or not isinstance(shown, int):
        return ""
    return f"{hidden:,} of {hidden + shown:,}"
