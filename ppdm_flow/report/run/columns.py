"""What each column of a release tells of: what it is computed from, what chose it, and through which steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.lineage import How
from ppdm_flow.plan.pictures.wording import HOWS
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.wording import listed

_OPEN = 12
_NONE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Column:
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
    shown: tuple[Column, ...]
    folded: tuple[Column, ...]

    @property
    def every(self) -> tuple[Column, ...]:
        """All of them."""
        return (*self.shown, *self.folded)


def columns(document: ReportDocument) -> tuple[ColumnList, ...]:
    """Return the columns of the releases that the plan tells of, in the policy's order."""
    return tuple(_lists(document["plan"].get("releases", ())))


def _lists(releases: list[dict[str, Any]]) -> Iterator[ColumnList]:
    for node in releases:
        found = tuple(_column(each) for each in node.get("attributes", ()))
        if found:
            yield ColumnList(node["name"], found[:_OPEN], found[_OPEN:])


def _column(found: dict[str, Any]) -> Column:
    done = list(dict.fromkeys(change["change"] for change in found.get("changes", ())))
    renamed = [f"renamed from {found['source']}"] if found.get("source") not in {None, "", found["name"]} else []
    how = found.get("how", "")
    made = not done and how not in {"", How.UNCHANGED}
    words = listed(["made by a step"] if made else [*done, *renamed]) or "unchanged"
    return Column(
        found["name"],
        found["role"].replace("_", "-"),
        ", ".join(filter(None, (words, HOWS.get(how, "")))),
        bool(done) or made,
        listed(found.get("computed_from", ["not recorded"])) or _NONE,
        listed(found.get("chosen_by", ())) or _NONE,
        listed(found.get("steps", ())) or _NONE,
    )
