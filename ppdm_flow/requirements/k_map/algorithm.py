"""k-map, measured: the smallest number of people in a population table that fit a released class.

Source: Sweeney, PhD thesis, MIT, 2001, section 7. The released labels are compared with the population's values through
the hierarchy that the policy declares for the attribute, else letter by letter; whoever is not in the table does not
count. Where cells go by one value alone, those of the source stand for what the map gave them; else a suppressed cell
fits everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.classes.wording import left_out, treatment, unmeasured
from ppdm_flow.mining.exposure.columns import columns, sensitive_attributes
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.populations.matching import fitting
from ppdm_flow.mining.populations.profiles import profiles
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.k_map.linked import require_one_class
from ppdm_flow.requirements.k_map.picture import pictures
from ppdm_flow.requirements.k_map.query import smallest
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.requirements.k_map.unreadable import require_readable
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts

Ints = npt.NDArray[np.int64]


class KMapAudit:
    """Counts the released classes, and the people that fit them."""

    def __init__(self, params: Any) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest number of people. Raises DataError where the population cannot be used."""
        del original
        figures: dict[str, Figure] = {}
        measured: list[Measured] = []
        findings: list[Finding] = []
        charts: list[Chart] = []
        for requirement in _own(ctx):
            released_columns = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            try:
                require_readable(released_columns, ctx)
                require_one_class(released_columns, candidate, ctx)
            except UnmeasuredError as fault:
                figure = Figure(None, "people", note=fault.text)
                name, k = f"{requirement.id}.k", float(requirement.k)
                measured.append(Measured(requirement.id, name, figure, k, False, fault.text, verifiable=False))
                findings.append(unmeasured(requirement.id, fault))
                continue
            counts = candidate.counts(released_columns.grouping)
            kept = _kept(counts, ctx.nulls)
            population = profiles(requirement.population, counts, ctx, "`privacy.k_map`")
            people = fitting(counts.codes[kept], population)
            rows, left = counts.counts[kept], int(counts.counts[~kept].sum())
            own = _figures(requirement, people, rows, population.total, left)
            figures |= own
            name = f"{requirement.id}.k"
            text = _sentence(requirement, counts.columns, people, rows) + treatment(ctx.nulls, left)
            bound = float(requirement.k)
            measured.append(Measured(requirement.id, name, own[name], bound, at_most=False, sentence=text))
            findings.extend(left_out(requirement.id, left))
            findings.extend(_strangers(requirement, people))
            charts.extend(pictures(requirement, people, rows))
        return AuditOutcome(figures, tuple(measured), tuple(findings), tuple(charts))

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Join the classes of the file with the population in SQL."""
        del original
        figures: dict[str, float | int | None] = {}
        for requirement in _own(ctx) if ctx.sql is not None else ():
            released_columns = columns(requirement.attributes, sensitive_attributes(ctx), candidate, ctx)
            try:
                require_readable(released_columns, ctx)
                require_one_class(released_columns, candidate, ctx)
            except UnmeasuredError:
                continue
            counts = candidate.counts(released_columns.grouping)
            people = profiles(requirement.population, counts, ctx, "`privacy.k_map`")
            if ctx.sql is not None:
                k = smallest(ctx.sql, candidate.schema, counts, people, ctx.nulls)
                figures[f"{requirement.id}.k"] = k
        return figures


def _own(ctx: AuditContext) -> list[KMap]:
    return [r for r in ctx.requirements if isinstance(r, KMap)]


def _kept(counts: Counts, nulls: Nulls) -> npt.NDArray[np.bool_]:
    occurs = counts.counts > 0
    if nulls is Nulls.EXCLUDE:
        return np.asarray(occurs & ~(counts.codes == MISSING).any(axis=1))
    return np.asarray(occurs)


def _figures(requirement: KMap, people: Ints, rows: Ints, total: int, left: int) -> dict[str, Figure]:
    figures = {
        "k": Figure(int(people.min()) if len(people) else 0, "people"),
        "rows_below": Figure(int(rows[people < requirement.k].sum()), "rows"),
        "classes": Figure(len(people), "classes"),
        "classes_without_people": Figure(int((people == 0).sum()), "classes"),
        "population": Figure(total, "people"),
        "rows_left_out": Figure(left, "rows"),
    }
    return {f"{requirement.id}.{name}": figure for name, figure in figures.items()}


def _sentence(requirement: KMap, columns: tuple[str, ...], people: Ints, rows: Ints) -> str:
    if not len(people):
        return "There is no row to measure, so nothing can be said of it."
    k, below = int(people.min()), int(rows[people < requirement.k].sum())
    who = f"by {listed(columns)}" if columns else "since no quasi-identifier is released"
    end = f" {below:,} of {counted(int(rows.sum()), 'row')} fit fewer." if below else ""
    return (
        f"Every released row fits at least {counted(k, 'person') if k == 1 else f'{k:,} people'} of the population"
        f" {who}; {requirement.k:,} are required.{end}"
    )


def _strangers(requirement: KMap, people: Ints) -> list[Finding]:
    number = int((people == 0).sum())
    if not number:
        return []
    what = "class fits" if number == 1 else "classes fit"
    text = f"{number:,} released {what} nobody in the population file: it lacks people, or writes values otherwise"
    return [Finding("PPF879", Severity.WARNING, text, requirement.id)]
