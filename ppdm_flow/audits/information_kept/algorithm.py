"""How much of the original a release still tells, row by row: 100 % where nothing changed, 0 % where all is hidden.

A reader who guesses a cell draws a value from the original's column, among those that the released label covers. What
such a guess is off on average, divided by what a guess without the release is off, is lost. For the global recoding of
categories the rest is Goodman and Kruskal's tau.

Goodman, Kruskal, Measures of association for cross classifications, JASA 49, 1954.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ppdm_flow.audits.information_kept.covers import Covers, covers
from ppdm_flow.audits.information_kept.losses import UnreadError, share_kept
from ppdm_flow.audits.information_kept.spec import InformationKeptParams
from ppdm_flow.audits.information_kept.values import SortedNumbers, Values, values_of
from ppdm_flow.audits.labels.forms import everything
from ppdm_flow.audits.labels.released import hierarchy_of
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import listed, namesakes
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView, count_each

ROLES = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.TARGET, Role.INSENSITIVE)
"""Roles of the attributes that are compared."""
NO_PAIRS = "rows cannot be paired with their originals"
NOT_RELEASED = "not released"
_HALF = 0.5


class InformationKeptAudit:
    """Compares the released cells of each attribute with the original ones of the same rows."""

    def __init__(self, params: InformationKeptParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return what is kept of each attribute and in all, and warnings of columns that say next to nothing."""
        attributes = [_attribute(field.name, candidate, ctx) for field in original.schema if field.role in ROLES]
        count_each(original, [a.name for a in attributes if a.columns and not original.schema[a.name].numeric])
        figures = {}
        for attribute in attributes:
            figures[f"{attribute.name}.kept"] = _kept(attribute, original, candidate, ctx)
        return AuditOutcome(
            {"mean_kept": _mean(figures, attributes), **figures}, findings=tuple(_findings(original, candidate, ctx))
        )


@dataclass(frozen=True, slots=True)
class _Attribute:
    """An attribute of the source, the released ``columns`` to compare it with, and ``why`` there are none."""

    name: str
    columns: tuple[str, ...] = ()
    why: str = ""


def _attribute(name: str, candidate: DataView, ctx: AuditContext) -> _Attribute:
    carrying = namesakes(name, candidate, ctx)
    if not carrying:
        others = [c for c, f in ctx.attributes.items() if f.lineage.computed_from == {name} and not _made(f)]
        return _Attribute(name, why=f"told by {listed(others)} alone" if others else "")
    if ctx.pairs is None:
        return _Attribute(name, why=NO_PAIRS)
    compared = tuple(c for c in carrying if not _made(ctx.attributes[c]))
    return _Attribute(name, compared, why="" if compared else "its cells are generated or keyed names")


def _made(facts: AttributeFacts) -> bool:
    """Whether the cells of a column are no readable form of the original ones."""
    return facts.was(Change.GENERATED, Change.PSEUDONYMIZED)


def _labels(values: Values, candidate: DataView, column: str, ctx: AuditContext) -> Covers | None:
    if candidate.schema[column].numeric and isinstance(values, SortedNumbers):
        return None
    return covers(candidate.domain(column), values, column, ctx.attributes.get(column), ctx)


def _kept(attribute: _Attribute, original: DataView, candidate: DataView, ctx: AuditContext) -> Figure:
    """Return what the column keeps that keeps most."""
    if not attribute.columns or ctx.pairs is None:
        why = f"not compared: {attribute.why}" if attribute.why else NOT_RELEASED
        return Figure(None if attribute.why else 0.0, "share", note=why)
    values = values_of(original, attribute.name, ctx.original_attributes.get(attribute.name))
    shares: dict[str, float | None] = {}
    faults = []
    for column in attribute.columns:
        try:
            shares[column] = share_kept(values, ctx.pairs, candidate, column, original.schema.weight, ctx)
        except UnreadError as fault:
            faults.append(str(fault))
    known = [share for share in shares.values() if share is not None]
    if known:
        return Figure(max(known), "share")
    return Figure(None, "share", note=f"not compared: {faults[0] if faults else 'the original has one value, or none'}")


def _mean(figures: Mapping[str, Figure], attributes: list[_Attribute]) -> Figure:
    known = {a.name: v for a in attributes if (v := figures[f"{a.name}.kept"].value) is not None}
    others = [a.name for a in attributes if a.name not in known]
    dropped = [a.name for a in attributes if not a.columns and not a.why]
    notes = [f"not released: {listed(dropped)}"] if dropped else []
    if not known or (others and set(known) <= set(dropped)):
        why = {a.why for a in attributes if a.why}
        text = next(iter(why)) if len(why) == 1 else "no attribute can be compared"
        return Figure(None, "share", note=f"not compared: {text}" if attributes else "not compared: no attributes")
    notes += [f"not compared: {listed(others)}"] if others else []
    return Figure(float(np.mean(list(known.values()))), "share", note="; ".join(notes))


def _findings(original: DataView, candidate: DataView, ctx: AuditContext) -> Iterator[Finding]:
    """Yield a warning for each column that has one value in all rows, or hides more than half of its cells."""
    columns = [f.name for f in candidate.schema if f.role in ROLES and f.name in ctx.attributes and not f.numeric]
    columns = [c for c in columns if not ctx.attributes[c].unchanged and not _made(ctx.attributes[c])]
    count_each(candidate, columns)
    for column in columns:
        facts = ctx.attributes[column]
        counts = candidate.counts((column,))
        total, codes = counts.total, counts.of(column)
        if not total:
            continue
        wide = np.append(everything(counts.names(column)), [True, False])  # by code: suppressed is -2, missing -1
        hidden = int(counts.counts[wide[codes]].sum()) / total
        source = facts.source or facts.name
        if hidden > _HALF:
            what = f"hides {hidden:.0%} of its cells (`*` or suppressed)"
        elif len(np.unique(codes[counts.counts > 0])) == 1 and source in original.schema and _several(original, source):
            what = "has one value in all of its rows"
        else:
            continue
        steps = list(dict.fromkeys(step for step, _ in facts.changes))
        levels = hierarchy_of(column, ctx) is not None
        by = f" after {_steps_in_words(steps)}" if steps else ""
        text = (
            f"`{column}` {what}{by}. {'Give its hierarchy a finer level' if levels else 'Declare a hierarchy for it'},"
            " let fewer attributes be quasi-identifiers, ask for less, suppress more rows in its place, recode locally,"
            " or drop the column"
        )
        yield Finding("PPF926", Severity.WARNING, text, f"{ctx.release}.{column}")


def _steps_in_words(steps: list[str]) -> str:
    """Return the steps in words."""
    return f"step {listed(steps)}" if len(steps) == 1 else f"the {counted(len(steps), 'step')} {listed(steps)}"


def _several(original: DataView, source: str) -> bool:
    return len(original.counts((source,))) > 1
