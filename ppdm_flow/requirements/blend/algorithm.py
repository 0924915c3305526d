"""Blending: how many of a release's rare rows are rare in the original too. minsup plays the role of k.

Of the released rows with a support below minsup in the release, the share that occurs in the original with a support
below minsup (Vreeken, van Leeuwen, Siebes, ICDM 2007); 0 where there is none. Missing and suppressed cells are values
of their own under every null semantics of the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding, Measured
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.mining.anonymity import (
    NOTHING,
    BlendCounts,
    JointSupports,
    MatchedColumns,
    Pairs,
    blend,
    columns_of,
    comparison,
    matched,
    shortcomings,
    supports,
)
from ppdm_flow.requirements.blend.requirement import Blend, BlendParams
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Wanted = tuple[str, SupportBound, Blend | None]
"""The prefix of the figures, the support below which rows are rare, and the requirement that asks for it."""


class BlendAudit:
    """Looks up the rare rows of the release in the original."""

    def __init__(self, params: BlendParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share, and the rows behind it, for each requirement or for the parameters' own support."""
        compared = comparison(original, candidate, ctx)
        joint = {n: matched(compared.columns, n, original, candidate) for n in compared.levels if compared.columns}
        parts = [_measured(wanted, joint, compared, ctx) for wanted in self._wanted(ctx)]
        return AuditOutcome(
            figures={name: figure for part in parts for name, figure in part.figures.items()},
            measured=tuple(m for part in parts for m in part.measured),
            findings=(*shortcomings(compared, ctx), *(f for part in parts for f in part.findings)),
            charts=tuple(c for part in parts for c in part.charts),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Match the rows again in SQL over the released file."""
        compared = comparison(original, candidate, ctx)
        if ctx.sql is None or not compared.columns:
            return {}
        schemas = (original.schema, candidate.schema)
        pairs = {n: supports(ctx.sql, compared.columns, n, *schemas) for n in compared.levels}
        figures: dict[str, float | int | None] = {}
        for prefix, support, _ in self._wanted(ctx):
            values = _by_level({name: _figures_sql(each, support) for name, each in pairs.items()})
            figures |= {f"{prefix}{name}": value for name, value in values.items()}
        return figures

    def _wanted(self, ctx: AuditContext) -> Iterator[Wanted]:
        own = [r for r in ctx.requirements if isinstance(r, Blend)]
        yield from ((f"{r.id}.", r.min_support, r) for r in own)
        if not own and self.params.min_support is not None:
            yield "", self.params.min_support, None


def _measured(
    wanted: Wanted, joint: Mapping[str, JointSupports], compared: MatchedColumns, ctx: AuditContext
) -> AuditOutcome:
    prefix, support, requirement = wanted
    if not joint:
        unknown = Figure(None, "share", note="no attribute can be compared")
        return AuditOutcome({f"{prefix}share": unknown}, _judged(requirement, unknown, NOTHING))
    blends = {name: _blend(each, support) for name, each in joint.items()}
    values = _by_level({name: _values(each) for name, each in blends.items()})
    figures = {f"{prefix}{n}": Figure(v, "share" if n.endswith("share") else "rows") for n, v in values.items()}
    level, worst = max(blends.items(), key=lambda each: each[1].share)
    text = sentence(worst, support, compared, level)
    judged = _judged(requirement, figures[f"{prefix}share"], text)
    return AuditOutcome(figures, judged, tuple(exposed(worst, support, ctx)), charts(worst, support, prefix))


def _judged(requirement: Blend | None, figure: Figure, text: str) -> tuple[Measured, ...]:
    if requirement is None:
        return ()
    known = figure.value is not None
    return (
        Measured(
            requirement=requirement.id,
            metric=f"{requirement.id}.share",
            figure=figure,
            bound=requirement.max,
            at_most=True,
            sentence=f"{text} At most {requirement.max:.1%} is allowed." if known else text,
            verifiable=known,
        ),
    )


def _blend(joint: JointSupports, support: SupportBound) -> BlendCounts:
    return blend(joint, support.rows(joint.original_rows), support.rows(joint.released_rows))


def _values(blend: BlendCounts) -> dict[str, float | int]:
    return {
        "share": blend.share,
        "rare_released": blend.rare_released,
        "rare_in_both": blend.rare[0],
        "from_rare": sum(blend.rare),
        "rare_original": blend.original_rare,
        "rare_original_found": blend.original_rare_found,
    }


def _figures_sql(pairs: Pairs, support: SupportBound) -> dict[str, float | int]:
    """Return the same figures from (support in the original, in the release, number of distinct rows)."""
    before = support.rows(sum(o * n for o, _, n in pairs))
    after = support.rows(sum(p * n for _, p, n in pairs))
    rare = sum(p * n for _, p, n in pairs if p < after)
    both = sum(p * n for o, p, n in pairs if p < after and 0 < o < before)
    return {
        "share": both / rare if rare else 0.0,
        "rare_released": rare,
        "rare_in_both": both,
        "from_rare": sum(p * n for o, p, n in pairs if 0 < o < before),
        "rare_original": sum(o * n for o, _, n in pairs if o < before),
        "rare_original_found": sum(o * n for o, p, n in pairs if o < before and p),
    }


def _by_level(figures_by_level: Mapping[str, Mapping[str, float | int]]) -> dict[str, float | int]:
    """Return the figures of the only level, or those of both by name and the larger of the two shares."""
    if len(figures_by_level) == 1:
        return dict(*figures_by_level.values())
    named = {f"{level}.{name}": value for level, values in figures_by_level.items() for name, value in values.items()}
    return {"share": max(values["share"] for values in figures_by_level.values())} | named


# What a measured blend means, in a sentence.


def sentence(blend: BlendCounts, support: SupportBound, compared: MatchedColumns, level: str) -> str:
    """Return the sentence for the report."""
    if not blend.rare_released:
        return f"No released row occurs in fewer than {of(support)} of the release ({columns_of(compared, level)})."
    return (
        f"Of {counted(blend.rare_released, 'released row')} that occur in fewer than {of(support)} of the release,"
        f" {blend.rare[0]:,} ({blend.share:.1%}) occur in the original, and in fewer than {of(support)} there too"
        f" ({columns_of(compared, level)})."
    )


def exposed(blend: BlendCounts, support: SupportBound, ctx: AuditContext) -> Iterator[Finding]:
    """Yield the finding for rare original rows that occur in the release, rare there or not."""
    if blend.original_rare_found:
        text = (
            f"{blend.original_rare_found:,} of {counted(blend.original_rare, 'original row')} that fewer than"
            f" {of(support)} share occur in the release"
        )
        yield Finding("PPF853", Severity.WARNING, text, f"{ctx.release}.{support}")


def of(support: SupportBound) -> str:
    """Return a support for a sentence: ``20 rows``, ``2% of the rows``."""
    return counted(support.count, "row") if support.count is not None else f"{support} of the rows"


def charts(blend: BlendCounts, support: SupportBound, prefix: str) -> tuple[Chart, ...]:
    """Return the shares of rare and of all other released rows, by their support in the original."""
    sides = (blend.absent, blend.rare, blend.common)
    totals = [sum(side[i] for side in sides) for i in (0, 1)]
    series = tuple(
        FigureSeries(f"{name} ({total:,})", tuple(side[i] / total for side in sides))
        for i, (name, total) in enumerate(zip(("rare in the release", "not rare there"), totals, strict=True))
        if total
    )
    if not series:
        return ()
    return (
        Chart(
            id=f"{prefix or 'blend.'}by_origin",
            title=f"Released rows that occur in the original: rare below {of(support)}",
            kind="bars",
            x=("in no row", "rare there", "frequent there"),
            series=series,
            x_label="in the original",
            y_label="share of released rows",
            group="blend",
        ),
    )
