"""What the step tells of itself: figures, findings, the shape of its code table. No values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppdm_flow.anonymizers.krimp_generator.calibration import Calibration
from ppdm_flow.anonymizers.krimp_generator.cells import Raw
from ppdm_flow.anonymizers.krimp_generator.material import LearnedRows, LearnedTable
from ppdm_flow.anonymizers.krimp_generator.removal import NOTABLE, LargestDependence
from ppdm_flow.anonymizers.krimp_generator.spec import GeneratorParams
from ppdm_flow.anonymizers.krimp_generator.transform import Drafts, GeneratorTransform
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.generation.code_table_file import GivenCodeTable
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.tables.counts import Counts

_V = "the largest Cramér's V between two of one entry of `remove`, others of its attributes' values taken as one"
_DIVIDED = "data and code table, over the data alone in the code of single values"

ROWS = 10_000

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PilotSample:
    """A sample of rows that is only looked at: made from draws of a fixed key, which no release uses.

    ``drafts`` are rows before any is rejected. ``itemsets`` is the mean number of elements a row.

    Intervals are those of 95 %. Where rows are rejected: the share of drafts that are, and the mean total variation
    distance between the distributions of single attributes over all drafts and over those that pass (None: none pass).
    """

    drafts: Drafts
    itemsets: float
    itemsets_interval: Interval
    rejected: float | None = None
    rejected_interval: Interval | None = None
    distance: float | None = None

    @property
    def sample(self) -> int:
        """The number of rows."""
        return len(self.drafts.items)


def pilot(transform: GeneratorTransform) -> PilotSample:
    """Look at rows before any is rejected."""
    draws = Draws(RunKey.from_seed("ppdm-flow pilot sample").step("pilot"), transform.draws_per_row)
    drafts = transform.drafts(draws.words(np.arange(ROWS, dtype=np.int64)))
    mean = float(drafts.itemsets.mean())
    wide = 1.96 * float(drafts.itemsets.std(ddof=1)) / ROWS**0.5
    seen = PilotSample(drafts, mean, (mean - wide, mean + wide))
    if transform.rejection is None:
        return seen
    out = transform.rejected(drafts)
    distance = None if out.all() else float(np.mean([_distance(r, r[~out]) for r in drafts.raw]))
    share = float(out.mean())
    return PilotSample(drafts, mean, seen.itemsets_interval, share, wilson(int(out.sum()), ROWS), distance)


def wilson(hits: int, total: int) -> Interval:
    """Return the 95 % interval of a share (Wilson, 1927)."""
    z = 1.96
    share = hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * (share * (1 - share) / total + z * z / (4 * total * total)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def _distance(one: Raw, other: Raw) -> float:
    _, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    size = int(codes.max()) + 1
    first = np.bincount(codes[: len(one)], minlength=size) / len(one)
    second = np.bincount(codes[len(one) :], minlength=size) / len(other)
    return float(np.abs(first - second).sum() / 2)


def figures(
    learned: LearnedTable,
    given: LearnedRows,
    least: int,
    seen: PilotSample,
    left: LargestDependence | None,
    calibration: Calibration | None = None,
) -> dict[str, Figure]:
    """Return the step's figures."""
    table, rows, every = learned.table, given.rows, given.every
    figures = {
        "min_support": Figure(least, "rows"),
        "candidates": Figure(learned.candidates, "itemsets"),
        "code_table_itemsets": Figure(table.non_singletons, "itemsets", note="of two values or more, in use"),
        "bits_before": Figure(table.start.total, "bits", note="data and code table, of single values alone"),
        "bits_after": Figure(table.sizes.total, "bits", note="data and code table"),
        "compression": Figure(table.compression, "share", note=_DIVIDED),
        "itemsets_per_row": Figure(seen.itemsets, "itemsets", seen.itemsets_interval, seen.sample),
        "learned_rows": Figure(rows.total, "rows"),
    }
    if left is not None:
        figures["removed_candidates"] = Figure(learned.removed, "itemsets")
        figures["removed_dependence_before"] = Figure(left.before, "ratio", note=_V)
        figures["removed_dependence"] = Figure(left.after, "ratio", None, seen.sample, _V)
    if rows is not every:
        figures["holdout_rows"] = Figure(every.total - rows.total, "rows")
    if seen.rejected is not None:
        figures["rejected"] = Figure(seen.rejected, "share", seen.rejected_interval, seen.sample)
        note = "" if seen.distance is not None else "no row of the sample passes"
        figures["rejection_distance"] = Figure(seen.distance, "share", None, seen.sample, note)
    if calibration is not None:
        size = calibration.sample
        figures["value_distance_before"] = Figure(calibration.before, "share", None, size, "before weights were fitted")
        figures["value_distance"] = Figure(calibration.after, "share", None, size, "with the weights fitted")
    return figures


def figures_of_given(table: GivenCodeTable, seen: PilotSample) -> dict[str, Figure]:
    """Return the figures of a code table that was not learned."""
    larger = sum(len(each.items) > 1 and each.usage > 0 for each in table.elements)
    return {
        "code_table_itemsets": Figure(larger, "itemsets", note="of two values or more, in use"),
        "itemsets_per_row": Figure(seen.itemsets, "itemsets", seen.itemsets_interval, seen.sample),
        "learned_rows": Figure(0, "rows"),
    }


def findings(
    params: GeneratorParams,
    learned: LearnedTable,
    given: LearnedRows,
    least: int,
    left: LargestDependence | None,
    step: str,
) -> tuple[Finding, ...]:
    """Return what a reader should know."""
    texts: list[tuple[str, str, str]] = []
    if given.intervals and params.draw == "empirical":
        text = f"the numbers of {_named(given.intervals)} are drawn from the original's own, and occur in it"
        texts.append(("PPF746", text, step))
    if given.removal.absent:
        text = f"{given.removal.absent} of the values that `remove` names do not occur in the data"
        texts.append(("PPF747", text, f"{step}.values"))
    if left is not None and left.after > NOTABLE:
        text = f"Cramér's V is {left.after:.2f} between two that `remove` names ({left.before:.2f} in the original)"
        texts.append(("PPF747", text, f"{step}.dependence"))
    if not learned.table.non_singletons:
        text = f"no itemset of {least} rows or more is in the code table: attributes are drawn independently"
        texts.append(("PPF748", text, step))
    few = _rare_values(given.coded, least)
    if few:
        text = f"{few} values occur in fewer than {least} rows, and generated rows may have them all the same"
        texts.append(("PPF749", text, step))
    return tuple(Finding(code, Severity.WARNING, text, subject) for code, text, subject in texts)


def description(params: GeneratorParams, table: CodeTable, given: LearnedRows, limit: int | None) -> dict[str, Any]:
    """Return how rows are made, and how many elements of each length the code table has."""
    lengths, counts = np.unique(table.itemsets.lengths[table.usages > 0], return_counts=True)
    intervals = given.intervals
    way = "uniform within" if params.draw == "uniform" else "one of the original's within"
    return {
        "algorithm": "SLIM" if params.algorithm == "slim" else "KRIMP",
        "candidates": _candidates(params),
        "pruning": params.pruning,
        "laplace": params.laplace,
        "calibrated": params.calibrates,
        "attributes": {
            n: f"{way} {len(intervals[n].names)} intervals" if n in intervals else "as in the original"
            for n in given.rows.columns
        },
        "removed_correlations": len(params.remove),
        "code_table": {
            "itemsets_by_length": {str(k): int(c) for k, c in zip(lengths.tolist(), counts.tolist(), strict=True)},
            "single_values": len(table.singles),
        },
        "rejected": _rejected(given, limit),
    }


def _candidates(params: GeneratorParams) -> str:
    if params.algorithm == "slim":
        return "unions of elements"
    return "closed itemsets" if params.closed else "all itemsets"


def _rejected(given: LearnedRows, limit: int | None) -> str:
    if limit is None:
        return "nothing"
    more = ", also when numbers are compared by their intervals" if given.intervals else ""
    return f"rows of the original with a support below {limit}{more}"


def charts(table: CodeTable) -> tuple[Chart, ...]:
    """Return the share of cells of the original that itemsets of each length cover."""
    used = table.usages > 0
    lengths = np.concatenate([table.itemsets.lengths[used], np.ones(len(table.singles), dtype=np.int64)])
    cells = lengths * np.concatenate([table.usages[used], table.singles])
    by_length = np.bincount(lengths, cells)[1:]
    share = by_length / max(1.0, by_length.sum())
    return (
        Chart(
            id="cells_by_length",
            title="What the rows are made of: cells of the original by the length of the itemset that covers them",
            kind="bars",
            x=tuple(str(i + 1) for i in range(len(share))),
            series=(FigureSeries("share of cells", tuple(share.tolist())),),
            x_label="values in the itemset",
            y_label="share of cells",
        ),
    )


def _rare_values(coded: Counts, least: int) -> int:
    """Return how many values have fewer rows than ``least``; intervals are none of the original's values."""
    number = 0
    for place, names in enumerate(coded.categories):
        codes = coded.codes[:, place]
        sums = np.bincount(codes[codes >= 0], coded.counts[codes >= 0], minlength=len(names))
        number += int(((sums > 0) & (sums < least)).sum())
    return number


def _named(names: Mapping[str, object]) -> str:
    return ", ".join(f"`{n}`" for n in names)
