"""What is left of the identifiers, in sentences; no cell is ever quoted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.results import Finding
from ppdm_flow.mining.identifiers.kinds import IDENTIFIERS, WORDS, Identifier
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor
from ppdm_flow.sdk.audit import AuditContext

_MOST = 6


class IdentifierCounts(Protocol):
    """What a column shows."""

    @property
    def column(self) -> str:
        """Its name."""
        ...

    @property
    def cells(self) -> Mapping[Identifier, int]:
        """The cells of each kind that count."""
        ...

    @property
    def cleared(self) -> Mapping[Identifier, int]:
        """The cells of each kind that was cleared."""
        ...


def sentence(requirement: SafeHarbor, left: Sequence[IdentifierCounts], ctx: AuditContext) -> str:
    """Return the sentence for the report."""
    columns = [each for each in left if each.cells]
    looked = (
        f" {counted(len(left), 'column')} looked through; ages count at the end of {requirement.as_of}, ZIP areas by"
        f" {listed(requirement.small_areas, _MOST)}."
    )
    cleared = sum(bool(each.cleared) for each in left)
    by_people = f" The policy cleared {counted(cleared, 'column')} of some kind." if cleared else ""
    unseen = " Names and places in free text, and what somebody knows besides, no tool finds."
    if not columns:
        return f"No cell shows one of the 18 identifiers in a form that can be found.{looked}{by_people}{unseen}"
    kinds = [k for k in IDENTIFIERS if any(k in each.cells for each in columns)]
    cells = sum(sum(each.cells.values()) for each in columns)
    words = listed([f"{WORDS[k][1]} ({WORDS[k][0]})" for k in kinds], _MOST)
    names = listed([f"`{each.column}`" for each in columns], _MOST)
    del ctx
    return f"{counted(cells, 'cell')} of {names} may show {words}.{looked}{by_people}"


def findings(requirement: SafeHarbor, left: Sequence[IdentifierCounts], ctx: AuditContext) -> Iterator[Finding]:
    """Yield a finding for each column with something left (PPF943), and for each that was cleared (PPF944)."""
    for each in left:
        subject = f"{ctx.release}.{each.column}"
        if each.cells:
            text = f"`{each.column}`: {_listed(each.cells)} by form, name or values"
            yield Finding("PPF943", Severity.WARNING, text, subject)
        if each.cleared:
            text = f"`{each.column}` counts for nothing by the policy's `cleared`, and shows {_listed(each.cleared)}"
            yield Finding("PPF944", Severity.WARNING, text, subject)
    released = {each.column for each in left}
    for name in sorted(set(requirement.cleared) - released):
        text = f"`cleared` names `{name}`, which the release does not have"
        yield Finding("PPF944", Severity.WARNING, text, f"{ctx.release}.{name}")


def _listed(cells: Mapping[Identifier, int]) -> str:
    return listed([f"{counted(n, 'cell')} of {WORDS[kind][1]} ({WORDS[kind][0]})" for kind, n in cells.items()], _MOST)
