"""Special uniques, measured: the released rows that a few attributes single out (Elliot, Manning, Ford, IJUFKS 2002).

A minimal sample unique is a set of attributes whose values one released row alone has, while each smaller part of it is
shared. The fewer attributes it takes, the more likely is the row's person alone in the population too.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Finding, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.classes.wording import as_they_are, left_out, treatment, unmeasured
from ppdm_flow.mining.exposure.columns import made_of, sensitive_attributes
from ppdm_flow.mining.exposure.faults import UncountedError, UnmeasuredError
from ppdm_flow.mining.exposure.joint_sizes import findings_of_unaccounted, unaccounted
from ppdm_flow.mining.exposure.sizes import classes
from ppdm_flow.mining.exposure.together import joint_share, joint_share_sql
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.mining.uniques.people import crowd_sizes, people_uniques
from ppdm_flow.mining.uniques.special import (
    SpecialUniques,
    match_probabilities,
    match_probability,
    minimal_sample_uniques,
)
from ppdm_flow.requirements.special_uniques.attributes import ReleasedAttributes, named_or_known, told_of
from ppdm_flow.requirements.special_uniques.audit import SpecialUniquesParams
from ppdm_flow.requirements.special_uniques.people import released_people, singled_out_people
from ppdm_flow.requirements.special_uniques.picture import pictures
from ppdm_flow.requirements.special_uniques.query import singled_out
from ppdm_flow.requirements.special_uniques.requirement import FewUniques
from ppdm_flow.sdk.audit import AuditContext, Sql
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING
from ppdm_flow.tables.counts import Counts

_GENERATED = (
    "Rows are generated and belong to nobody: whom a few attributes single out among the original rows that they repeat"
    " is not counted. Ask for `k_anonymity` of such a release."
)
_TOGETHER = "together_share"
_NOBODYS = "of generated rows, which belong to nobody"


class SpecialUniquesAudit:
    """Finds the minimal sample uniques of each requirement, or of the parameters' attributes where there is none."""

    def __init__(self, params: SpecialUniquesParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return how many rows are singled out, and what that says."""
        del original
        own = _own(ctx)
        parts = [_judged(r, candidate, ctx) for r in own] or [self._plain(candidate, ctx)]
        return AuditOutcome(
            figures={name: figure for part in parts for name, figure in part.figures.items()},
            measured=tuple(m for part in parts for m in part.measured),
            findings=tuple(f for part in parts for f in part.findings),
            charts=tuple(c for part in parts for c in part.charts),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count again in SQL, set by set."""
        del original
        figures: dict[str, float | int | None] = {}
        if ctx.sql is None:
            return figures
        for requirement in _own(ctx):
            told = told_of(requirement.attributes, candidate, ctx)
            if (told.names and ctx.generation is not None) or not candidate.row_count:
                continue
            size = min(requirement.size, len(told.names))
            try:
                many, rows = _figures_sql(ctx.sql, told, size, candidate, ctx)
            except UnmeasuredError:
                continue
            with suppress(UnmeasuredError):
                share = joint_share_sql(requirement.attributes, requirement.size, ctx, ctx.sql)
                figures |= {} if share is None else {f"{requirement.id}.{_TOGETHER}": share}
            if rows:
                figures |= {f"{requirement.id}.rows_{s}": number for s, number in enumerate(many, start=1)}
                single = many[-1] if many else 0
                figures |= {f"{requirement.id}.rows": single, f"{requirement.id}.share": single / rows}
        return figures

    def _plain(self, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        told = named_or_known(self.params.attributes, candidate, ctx)
        counts = candidate.counts(told.columns)
        note = "" if ctx.generation is None else _NOBODYS
        try:
            found, whole = _found(told, counts, self.params.size, candidate, ctx)
        except UnmeasuredError as fault:
            return AuditOutcome({"share": Figure(None, "share", note=fault.text)})
        unit = _unit(ctx)
        figures = _counted("", found, unit, note) | _scored(found, whole, self.params, unit, note)
        shares = found.contributions().tolist()
        figures |= {
            f"{name}.contribution": Figure(share, "share", note=note)
            for name, share in zip(told.names, shares, strict=True)
        }
        return AuditOutcome(figures, charts=tuple(pictures("special_uniques", found, told.names, unit)))


def _own(ctx: AuditContext) -> list[FewUniques]:
    return [r for r in ctx.requirements if isinstance(r, FewUniques)]


def _judged(requirement: FewUniques, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
    told = told_of(requirement.attributes, candidate, ctx)
    if told.names and ctx.generation is not None:
        fault = UncountedError(_GENERATED)
        return AuditOutcome(
            measured=(_unverified(requirement, fault.text),), findings=(unmeasured(requirement.id, fault),)
        )
    counts = candidate.counts(told.columns)
    if not counts.total:
        text = "There is no row to measure, so nothing can be said of it."
        return AuditOutcome(measured=(_unverified(requirement, text),))
    try:
        found, _ = _found(told, counts, requirement.size, candidate, ctx)
    except UnmeasuredError as fault:
        return AuditOutcome(
            measured=(_unverified(requirement, fault.text),), findings=(unmeasured(requirement.id, fault),)
        )
    left, unit = _left_out(counts, ctx.nulls), _unit(ctx)
    prefix = f"{requirement.id}."
    figures = _counted(prefix, found, unit) | {f"{prefix}rows_left_out": Figure(left, "rows")}
    measured = Measured(
        requirement=requirement.id,
        metric=f"{prefix}share",
        figure=figures[f"{prefix}share"],
        bound=requirement.max_share,
        at_most=True,
        sentence=_sentence(requirement, told, found, unit) + made_of(told.columns, ctx) + treatment(ctx.nulls, left),
    )
    beside = _beside_all(requirement, unit, ctx)
    figures |= {m.metric: m.figure for m in beside}
    findings: list[Finding] = [*left_out(requirement.id, left), *findings_of_unaccounted(beside)]
    findings.extend(as_they_are(requirement.id, requirement.attributes, sensitive_attributes(ctx), candidate, ctx))
    charts: list[Chart] = [*pictures(requirement.id, found, told.names, unit)]
    return AuditOutcome(figures, (measured, *beside), tuple(findings), tuple(charts))


def _beside_all(requirement: FewUniques, unit: str, ctx: AuditContext) -> list[Measured]:
    """Judge whom the attributes single out beside all releases; nothing where others tell nothing."""
    metric = f"{requirement.id}.{_TOGETHER}"
    try:
        told = joint_share(requirement.attributes, requirement.size, ctx)
    except UnmeasuredError as fault:
        return [unaccounted(requirement.id, metric, "share", requirement.max_share, fault, at_most=True)]
    if told is None:
        return []
    share, names = told
    who = f"Whoever reads {listed(names)} as well" if names else "Whoever takes all cells of a row together"
    text = (
        f"{who} singles out {share:.2%} of the {unit} by at most {counted(requirement.size, 'attribute')} of"
        f" {listed(requirement.attributes)}; at most {requirement.max_share:.2%} is allowed."
    )
    return [
        Measured(requirement.id, metric, Figure(share, "share"), requirement.max_share, at_most=True, sentence=text)
    ]


@dataclass(frozen=True, slots=True)
class _Whole:
    """How many are alone by all attributes together, and how many have one other with them."""

    alone: int
    in_pairs: int


def _found(
    told: ReleasedAttributes, counts: Counts, size: int, candidate: DataView, ctx: AuditContext
) -> tuple[SpecialUniques, _Whole]:
    """Find who is singled out: rows, or people where these are counted. Raises UnmeasuredError."""
    if not _counts_people(ctx):
        whole = classes(counts, ctx.nulls)
        in_pairs = int(whole.rows[whole.sizes == 2].sum())  # a pair
        found = minimal_sample_uniques(counts, told.carriers, size, ctx.nulls)
        return found, _Whole(whole.uniques, in_pairs)
    rows = released_people(told, candidate, ctx)
    places = [[told.columns.index(column) for column in each] for each in told.carriers]
    smallest = np.full(rows.people, np.iinfo(np.int64).max)
    sizes = crowd_sizes(rows, ctx.nulls)
    np.minimum.at(smallest, rows.person[sizes > 0], sizes[sizes > 0])
    alone, pairs = (int((smallest == many).sum()) for many in (1, 2))
    return people_uniques(rows, places, size, ctx.nulls), _Whole(alone, pairs)


def _figures_sql(
    sql: Sql, told: ReleasedAttributes, size: int, candidate: DataView, ctx: AuditContext
) -> tuple[list[int], int]:
    if _counts_people(ctx):
        return singled_out_people(sql, told, candidate, size, ctx)
    return singled_out(sql, told, candidate, size, ctx.nulls)


def _counts_people(ctx: AuditContext) -> bool:
    return ctx.people is not None and ctx.generation is None


def _unit(ctx: AuditContext) -> str:
    return "people" if _counts_people(ctx) else "rows"


def _unverified(requirement: FewUniques, text: str) -> Measured:
    figure = Figure(None, "share", note=text)
    bound = requirement.max_share
    return Measured(requirement.id, f"{requirement.id}.share", figure, bound, True, text, verifiable=False)


def _left_out(counts: Counts, nulls: Nulls) -> int:
    """Return the rows that are in no set: they miss all attributes."""
    if nulls is not Nulls.EXCLUDE or not counts.columns:
        return 0
    return int(counts.counts[(counts.codes == MISSING).all(axis=1)].sum())


def _counted(prefix: str, found: SpecialUniques, unit: str, note: str = "") -> dict[str, Figure]:
    """Return how many rows or people have a minimal sample unique, in all and by its size."""
    figures = {
        f"{prefix}share": Figure(found.share(found.size), "share", note=note),
        f"{prefix}rows": Figure(found.single(found.size), unit, note=note),
    }
    for size in range(1, found.size + 1):
        figures[f"{prefix}rows_{size}"] = Figure(found.single(size), unit, note=note)
    return figures


def _scored(
    found: SpecialUniques, whole: _Whole, params: SpecialUniquesParams, unit: str, note: str
) -> dict[str, Figure]:
    """Return the scores of rows or people, and how likely somebody matches one of them correctly."""
    average = match_probability(whole.alone, whole.in_pairs, params.sampling_fraction)
    scores = found.scores()
    each = match_probabilities(scores, average)
    rows = max(1, found.rows)
    return {
        "minimal_sets": Figure(int(found.by_row.sum()), "sets", note=note),
        "score_mean": Figure(float(scores.sum()) / rows, "score", note=note),
        "score_max": Figure(float(scores.max(initial=0.0)), "score", note=note),
        "dis": Figure(average, "probability", note=note),
        "dis_suda_mean": Figure(float(each.sum()) / rows, "probability", note=note),
        "dis_suda_max": Figure(float(each.max(initial=0.0)), "probability", note=note),
        "rows_above": Figure(int((each > params.threshold).sum()), unit, note=note),
    }


def _sentence(requirement: FewUniques, told: ReleasedAttributes, found: SpecialUniques, unit: str) -> str:
    if not told.names:
        return "None of the attributes is released, nor anything that was computed from them: they single out nobody."
    single = found.single(found.size)
    every = counted(found.rows, "person" if unit == "people" else "row")
    many = "" if found.size == len(told.names) else f"at most {counted(found.size, 'attribute')} of "
    return (
        f"{single:,} of {every} ({single / found.rows:.2%}) {'is' if single == 1 else 'are'}"
        f" singled out by {many}{listed(told.names)}; at most {requirement.max_share:.2%} is allowed."
    )
