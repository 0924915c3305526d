"""Which columns of a release are compared with the original, at which level, and what that cannot see.

Columns are matched by their name in the source. Identifiers, subjects, weights and sets of items are left out, and so
are columns whose values were given other names: no row could match, and the release would look safer than it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.anonymity.levels import ByInterval, Level, exact
from ppdm_flow.mining.anonymity.supports import JointSupports, joint_supports
from ppdm_flow.mining.anonymity.tallies import tallies
from ppdm_flow.mining.releases.attributes import listed, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

_NEVER = (Role.IDENTIFIER, Role.SUBJECT, Role.WEIGHT, Role.ITEMS)
EXACT, INTERVALS = "exact", "intervals"

NOTHING = "No released attribute can be compared with the original, so nothing can be said of its rows."


@dataclass(frozen=True, slots=True)
class MatchedColumn:
    """A released column and the one that it comes from; ``intervals`` where they may be compared by these.

    ``recoded``: the released values are names of intervals, so that they can be compared in no other way. ``values``
    are those that released cells are other names of, as the policy itself says.
    """

    column: str
    source: str
    intervals: ByInterval | None = None
    recoded: bool = False
    values: Mapping[str, str] = field(default_factory=dict)

    def level(self, name: str) -> Level:
        """Return how its values are compared at the level ``exact`` or ``intervals``."""
        return self.intervals if self.intervals is not None and (self.recoded or name == INTERVALS) else exact

    def released_level(self, name: str) -> Level:
        """Return how released cells are compared: those that are other names of values as these values."""
        level, values = self.level(name), self.values
        if not values:
            return level
        return lambda texts: level(pa.array([values.get(t, t) for t in texts.to_pylist()], pa.string()))


@dataclass(frozen=True, slots=True)
class MatchedColumns:
    """``columns`` are compared; ``left_out`` are released columns of the original that cannot be."""

    columns: tuple[MatchedColumn, ...]
    left_out: tuple[str, ...]

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels at which the rows are compared: also by interval, where a column has intervals of its own."""
        both = any(c.intervals is not None and not c.recoded for c in self.columns)
        return (EXACT, INTERVALS) if both else (EXACT,)


def comparison(original: DataView, candidate: DataView, ctx: AuditContext) -> MatchedColumns:
    """Return what can be compared of a release."""
    shared = [c for c in candidate.schema.names if candidate.schema[c].role not in _NEVER]
    shared = [c for c in shared if source_of(c, ctx) in original.schema]
    compared = {c: _compared(c, original, candidate, ctx) for c in shared}
    columns = tuple(f for f in compared.values() if f is not None)
    return MatchedColumns(columns, tuple(c for c in shared if compared[c] is None))


def matched(chosen: Sequence[MatchedColumn], level: str, original: DataView, candidate: DataView) -> JointSupports:
    """Match the rows of both tables at one level: one pass over each, 24 bytes a row."""
    before = original, [c.source for c in chosen], [c.level(level) for c in chosen]
    after = candidate, [c.column for c in chosen], [c.released_level(level) for c in chosen]
    sides = []
    for view, names, levels in (before, after):
        weight = view.schema.weight
        wanted = [*dict.fromkeys(names), *([weight] if weight else [])]
        sides.append(tallies(view.partitions(wanted), names, levels, weight))
    return joint_supports(*sides)


def _compared(column: str, original: DataView, candidate: DataView, ctx: AuditContext) -> MatchedColumn | None:
    source = source_of(column, ctx)
    intervals = _intervals(source, ctx)
    facts = ctx.attributes.get(column)
    if facts is not None and facts.was(Change.PSEUDONYMIZED, Change.OTHER):
        return None
    if facts is None or not facts.was(Change.GENERALIZED):
        return MatchedColumn(column, source, intervals)
    if facts.recoded:
        before, merged = original.domain(source).to_pylist(), {cell for value, cell in facts.recoded if cell != value}
        values = facts.other_names(before)
        if values and {*candidate.domain(column).to_pylist()} <= {*values, *before} - (merged - values.keys()):
            return MatchedColumn(column, source, intervals, values=values)
    if intervals is None or not intervals.covers(candidate.domain(column)):
        return None
    return MatchedColumn(column, source, intervals, recoded=True)


def _intervals(source: str, ctx: AuditContext) -> ByInterval | None:
    facts = ctx.original_attributes.get(source)
    hierarchy = facts.hierarchy if facts else None
    return None if hierarchy is None or hierarchy.intervals is None else ByInterval(hierarchy.intervals)


def shortcomings(compared: MatchedColumns, ctx: AuditContext) -> tuple[Finding, ...]:
    """Return findings for columns that are left out, and for cells that no original row has."""
    findings = []
    if compared.left_out:
        text = (
            f"{listed(compared.left_out)}: the released values are not those of the original, so rows are compared"
            " without them"
        )
        findings.append(Finding("PPF854", Severity.WARNING, text, f"{ctx.release}.left_out"))
    hidden = [c.column for c in compared.columns if _suppressed(c.column, ctx)]
    if hidden:
        text = (
            f"{listed(hidden)}: cells are suppressed, and a row with such a cell counts as unlike every original row;"
            " the figure says nothing of what its other cells give away"
        )
        findings.append(Finding("PPF855", Severity.WARNING, text, f"{ctx.release}.suppressed"))
    return tuple(findings)


def columns_of(compared: MatchedColumns, level: str) -> str:
    """Return ``over 9 attributes`` for a sentence, and how numbers are compared, where there are two ways."""
    text = f"over {counted(len(compared.columns), 'attribute')}"
    if len(compared.levels) == 1:
        return text
    return f"{text}, numbers compared {'by interval' if level == INTERVALS else 'exactly'}: the worse of both ways"


def _suppressed(column: str, ctx: AuditContext) -> bool:
    facts = ctx.attributes.get(column)
    return facts is not None and facts.was(Change.SUPPRESSED)
