"""The lineage of each column of a release: what it is computed from, what chose it, and how much was suppressed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.amounts import amount
from ppdm_flow.core.lineage import DerivationKind
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.plan.pictures.wording import HOWS
from ppdm_flow.report.run.fields import ChartDocument, ReportDocument, StepDocument
from ppdm_flow.report.run.wording import listed

COUNTED = "how many rows are equal to this record"
_OPEN = 12
_NONE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """One released column, in words; ``done`` says what steps did to its values, and how a cell is made."""

    name: str
    role: str
    done: str
    changed: bool
    computed_from: str
    chosen_by: str
    steps: str


@dataclass(frozen=True, slots=True)
class ColumnList:
    """The columns of one release; ``folded`` are behind a click."""

    release: str
    shown: tuple[ReportColumn, ...]
    folded: tuple[ReportColumn, ...]

    @property
    def every(self) -> tuple[ReportColumn, ...]:
        """All of them."""
        return (*self.shown, *self.folded)


def columns(document: ReportDocument) -> tuple[ColumnList, ...]:
    """Return the columns of the plan's releases, in the policy's order."""
    return tuple(_lists(document["plan"].get("releases", ())))


def _lists(releases: list[dict[str, Any]]) -> Iterator[ColumnList]:
    for node in releases:
        every = tuple(_column(each) for each in node.get("attributes", ()))
        if counts := node.get("options", {}).get(COLLAPSE):
            every = (*every, ReportColumn(counts, "weight", COUNTED, True, _NONE, _NONE, _NONE))
        if every:
            yield ColumnList(node["name"], every[:_OPEN], every[_OPEN:])


def _column(column: dict[str, Any]) -> ReportColumn:
    done = list(dict.fromkeys(change["change"] for change in column.get("changes", ())))
    renamed = [f"renamed from {column['source']}"] if column.get("source") not in {None, "", column["name"]} else []
    how = column.get("how", "")
    made = not done and how not in {"", DerivationKind.UNCHANGED}
    words = listed(["made by a step"] if made else [*done, *renamed]) or "unchanged"
    return ReportColumn(
        column["name"],
        column["role"].replace("_", "-"),
        ", ".join(dict.fromkeys(filter(None, (words, HOWS.get(how, ""))))),  # what is generated is so in both respects
        bool(done) or made,
        listed(column.get("computed_from", ["not recorded"])) or _NONE,
        listed(column.get("chosen_by", ["not recorded"])) or _NONE,
        listed(column.get("steps", ())) or _NONE,
    )


CHART = "-suppressed"
"""How the name of the chart ends that holds a step's suppressed shares."""


@dataclass(frozen=True, slots=True)
class SuppressedShare:
    """How much of one attribute a step suppressed; ``share`` of the rows in [0, 1], or None where unknown."""

    step: str
    attribute: str
    cells: str
    values: str
    share: float | None
    text: str


def losses(document: ReportDocument) -> tuple[SuppressedShare, ...]:
    """Return the attributes that a step suppresses, the most suppressed first; from the steps' own accounts."""
    charts = {chart["id"]: chart for chart in document["charts"]}
    rows = [row for step in document["steps"] for row in _of_step(step, charts.get(f"{step['name']}{CHART}"))]
    return tuple(sorted(rows, key=lambda row: -(row.share or 0.0)))


def _of_step(step: StepDocument, chart: ChartDocument | None) -> Iterator[SuppressedShare]:
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
            yield SuppressedShare(step["name"], attribute, f"{cells:,}", _values(account), share, text)


def _values(account: dict[str, Any]) -> str:
    hidden, shown = account.get("suppressed_values"), account.get("disclosed_values")
    if not isinstance(hidden, int) or not isinstance(shown, int):
        return ""
    return f"{hidden:,} of {hidden + shown:,}"
