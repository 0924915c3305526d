"""How far the tables of one, two and three columns moved, each beside what two halves of the original differ by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.marginals.spec import MarginalsParams
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.mining.utility.coding import chosen_tables, coded_rows, compared, total_variations
from ppdm_flow.mining.utility.sides import compared_columns, half, side
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]

WAYS = ("one_way", "two_way", "three_way")
MOST_COLUMNS = 60
"""Columns of a picture."""
ROUNDING = 1e-9
"""Distances up to this are those of floating-point numbers: no column is named for one."""
LARGE = 2.0
"""A marginal that is more than so many times its baseline apart has lost more than sampling explains."""


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """Those of one size: their columns, and distances ``released`` and ``halves``, each of shape (tables,).

    ``available`` counts all of this size that there are.
    """

    tables: list[tuple[int, ...]]
    released: Floats
    halves: Floats
    available: int


class MarginalsAudit:
    """Compares the marginals of the released columns with those of the original."""

    def __init__(self, params: MarginalsParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return total variation distances, mean and largest by size and by column, beside their baselines."""
        pairs = compared_columns(original, candidate, ctx, self.params.attributes)
        before = side(original, [s for _, s in pairs], self.params.rows)
        after = side(candidate, [c for c, _ in pairs], self.params.rows)
        columns, others = compared(before.table, after.table, pairs, ctx)
        note = f"{listed(others)}: the recoding is not known, or made several labels of a value" if others else ""
        left_out = {"columns_not_comparable": Figure(len(others), "count", note=note)}
        if not columns or not len(before):
            return AuditOutcome(left_out | _nothing(self.params.ways))
        first = half(original, ctx).held_out(before.table.rows)
        gone, none = np.zeros(len(after)), np.zeros(len(before))
        samples = [[before.weights, gone], [none, after.weights]]
        samples += [[before.weights * half, gone] for half in (first, ~first)]
        weights = np.stack([np.concatenate(parts) for parts in samples])
        codes = [coded_rows(c, before.weights) for c in columns]
        every = []
        for ways in range(1, self.params.ways + 1):
            tables = chosen_tables(len(columns), ways, self.params.most)
            apart = np.array([total_variations([codes[i] for i in t], weights) for t in tables]).reshape(-1, 2)
            every.append(Marginals(tables, apart[:, 0], apart[:, 1], _number(len(columns), ways)))
        names = [c.name for c in columns]
        sample = before.sample or after.sample
        return AuditOutcome({**left_out, **_figures(every, names, sample)}, charts=_charts(every, names))


def _number(columns: int, ways: int) -> int:
    return int(np.prod([columns - i for i in range(ways)]) // (1, 2, 6)[ways - 1])


def _figures(every: list[Marginals], names: list[str], sample: int | None) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for way, marginals in zip(WAYS, every, strict=False):
        if not marginals.tables:
            figures |= _without(way)
            continue
        skipped = marginals.available - len(marginals.tables)
        note = f"{len(marginals.tables):,} of {marginals.available:,} tables" if skipped else ""
        for end, apart in (("", marginals.released), (".baseline", marginals.halves)):
            figures[f"{way}.mean_total_variation{end}"] = Figure(float(apart.mean()), "share", sample=sample, note=note)
            worst = int(apart.argmax())
            where = listed(names[i] for i in marginals.tables[worst]) if apart[worst] > ROUNDING else ""
            figures[f"{way}.largest_total_variation{end}"] = Figure(
                float(apart[worst]), "share", sample=sample, note=where
            )
        above = float((marginals.released > LARGE * marginals.halves + ROUNDING).mean())
        figures[f"{way}.above_baseline"] = Figure(above, "share", sample=sample, note=note)
    means = {}
    for end, field in (("", "released"), (".baseline", "halves")):
        means[end] = [_mean_of(every, i, field) for i in range(len(names))]
        for name, mean in zip(names, means[end], strict=True):
            figures[f"{name}.mean_total_variation{end}"] = Figure(mean, "share", sample=sample)
        worst = int(np.argmax(means[end]))
        named = listed([names[worst]]) if means[end][worst] > ROUNDING else ""
        figures[f"largest_of_columns{end}"] = Figure(means[end][worst], "share", sample=sample, note=named)
    return figures


def _mean_of(every: list[Marginals], column: int, field: str) -> float:
    """Return the mean distance of the marginals that have a column."""
    apart = [getattr(m, field)[[i for i, t in enumerate(m.tables) if column in t]] for m in every]
    return float(np.concatenate(apart).mean())


def _charts(every: list[Marginals], names: list[str]) -> tuple[Chart, ...]:
    shown = names[:MOST_COLUMNS]
    one = every[0]
    if len(one.tables) < len(shown):  # only some columns were looked at alone
        return ()
    apart = (("released", one.released), ("halves of the original", one.halves))
    series = tuple(FigureSeries(name, tuple(map(float, values[: len(shown)]))) for name, values in apart)
    bars = Chart("one_way", "How far each column moved", "bars", tuple(shown), series, "column", "total variation")
    if len(every) < 2 or len(every[1].tables) < every[1].available or len(shown) < 2:
        return (bars,)
    matrix = np.diag(one.released[: len(shown)])
    for (i, j), distance in zip(every[1].tables, every[1].released, strict=True):
        if j < len(shown):
            matrix[i, j] = matrix[j, i] = distance
    rows = tuple(FigureSeries(name, tuple(map(float, row))) for name, row in zip(shown, matrix, strict=True))
    note = "total variation distance; on the diagonal of one column"
    title = "How far the table of each two columns moved"
    return bars, Chart("two_way", title, "matrix", tuple(shown), rows, note=note, group="association")


def _without(way: str) -> dict[str, Figure]:
    names = [
        f"{way}.{n}{end}" for n in ("mean_total_variation", "largest_total_variation") for end in ("", ".baseline")
    ]
    return {n: Figure(None, "share", note="there are not so many columns") for n in (*names, f"{way}.above_baseline")}


def _nothing(ways: int) -> dict[str, Figure]:
    figures = {name: figure for way in WAYS[:ways] for name, figure in _without(way).items()}
    none = Figure(None, "share", note="there is nothing to compare")
    return dict.fromkeys((*figures, "largest_of_columns", "largest_of_columns.baseline"), none)
