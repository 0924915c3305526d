"""What the step tells of its search: figures, findings and a picture."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.anonymizers.full_domain_recoding.ground import LeafScale
from ppdm_flow.anonymizers.full_domain_recoding.solving import RecodingResult
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.recoding.ground import WeightedRows

_PICTURED = 24
_UNITS = {"discernibility": "squared rows", "average_class_size": "rows"}


def figures(ground: WeightedRows, solved: RecodingResult, scales: Sequence[LeafScale], cost: str) -> dict[str, Figure]:
    """Return what was chosen, what it costs, and how much of the lattice had to be looked at."""
    best, solution = solved.best, solved.solution
    figures = {
        "cost": Figure(best.cost, _UNITS.get(cost, "share")),
        "suppressed_rows": Figure(best.suppressed, "rows"),
        "suppressed_rows_share": Figure(best.suppressed / max(1, ground.records), "share"),
        "classes": Figure(int((best.kept & (best.grouping.sizes > 0)).sum()), "classes"),
        "lattice_nodes": Figure(solution.size, "nodes"),
        "nodes_checked": Figure(solution.checked, "nodes"),
        "optimum_proven": Figure(int(solution.proven), ""),
    }
    levels = zip(scales, best.grouping.node, strict=True)
    return figures | {f"{s.name}.level": Figure(s.lowest + level, "") for s, level in levels}


def findings(step: str, solved: RecodingResult, scales: Sequence[LeafScale]) -> tuple[Finding, ...]:
    """Return what a reader should know before believing the optimum."""
    texts = []
    solution = solved.solution
    if not solution.proven:
        text = (
            f"`{step}` looked at {solution.checked:,} of {solution.size:,} nodes of the lattice: the levels that it"
            " chose keep the requirements, but others may cost less"
        )
        texts.append(Finding("PPF809", Severity.WARNING, text, step))
    if solved.refused:
        text = (
            f"`{step}` dropped {solved.best.suppressed:,} rows: with all recoded cells suppressed, they would have been"
            " a class that breaks a requirement"
        )
        texts.append(Finding("PPF738", Severity.WARNING, text, step))
    blanked = [s.name for s in scales if s.as_suppressed]
    if blanked:
        text = f"`{step}` suppressed the missing cells of {', '.join(f'`{n}`' for n in blanked)}"
        texts.append(Finding("PPF739", Severity.WARNING, text, step))
    return tuple(texts)


def charts(
    step: str, ground: WeightedRows, solved: RecodingResult, scales: Sequence[LeafScale], cost: str
) -> tuple[Chart, ...]:
    """Return the cheapest nodes that hold, of those that were looked at, beside what each suppresses."""
    seen = solved.solution.seen[:_PICTURED]
    if len(seen) < 2:
        return ()
    records = max(1, ground.records)
    names = tuple(" ".join(str(s.lowest + v) for s, v in zip(scales, node, strict=True)) for node, _, _ in seen)
    order = ", ".join(s.name for s in scales)
    space = solved.solution
    proof = "no other node costs less" if space.proven else "not all nodes were decided"
    return (
        Chart(
            id="solution_space",
            title=f"Step {step}: the cheapest levels that hold",
            kind="bars",
            x=names,
            series=(
                FigureSeries(cost.replace("_", " "), tuple(price for _, price, _ in seen)),
                FigureSeries("suppressed rows, share", tuple(lost / records for _, _, lost in seen)),
            )
            if cost not in _UNITS
            else (FigureSeries(cost.replace("_", " "), tuple(price for _, price, _ in seen)),),
            x_label=f"levels of {order}",
            y_label=_UNITS.get(cost, "share"),
            note=f"{space.checked:,} of {space.size:,} nodes were looked at; {proof}",
        ),
    )
