"""Cluster analysis before and after: whether the release falls into the clusters of the original.

K-means on the original rows and, anew, on the released ones. Where rows can be paired, the two partitions are compared
row by row; their sizes can be compared in any case.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ppdm_flow.audits.cluster_analysis.spec import ClusterAnalysisParams
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.table import Table, concat

LEFT_OUT = (Role.IDENTIFIER, Role.WEIGHT, Role.SUBJECT, Role.ITEMS)
NAMES = ("agreement", "size_change", "explained_original", "explained_released", "class_frequency_change")

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SEED = 0
STARTS = 5


def points(table: Table, columns: Sequence[str], most: int) -> Floats:
    """Return the rows as points, shape (rows, dimensions).

    A column of numbers is one dimension, scaled to a standard deviation of 1, missing and suppressed cells at the mean.
    Any other is a dimension a value (special cells too), scaled so that two unlike values are as far apart as two
    numbers that differ by a standard deviation; one of more than ``most`` values is left out.
    """
    parts = [p for name in columns if (p := _dimensions(table[name].compact(), most)) is not None]
    return np.hstack(parts) if parts else np.zeros((len(table), 0))


def _dimensions(column: Column, most: int) -> Floats | None:
    try:
        numbers = column.numbers()
    except pa.ArrowInvalid:
        return _indicators(column) if len(column.categories) <= most else None
    if not len(numbers) or not np.isfinite(numbers).all():
        return None
    known = column.codes >= 0
    values = np.full(len(column), numbers[column.codes[known]].mean())
    values[known] = numbers[column.codes[known]]
    spread = values.std()
    scaled: Floats = (values - values.mean()) / (spread or 1.0)
    return scaled[:, None]


def _indicators(column: Column) -> Floats:
    coordinates = np.zeros((len(column), len(column.categories) + SPECIALS))
    coordinates[np.arange(len(column)), column.dense] = np.sqrt(0.5)
    return coordinates


def clustered(rows: Floats, clusters: int) -> tuple[Integers, float]:
    """Return the cluster of each row, largest cluster first, and the share of the variance that clusters explain."""
    number = min(clusters, len(np.unique(rows, axis=0)))
    model = KMeans(number, n_init=STARTS, random_state=SEED).fit(rows)
    sizes = np.bincount(model.labels_, minlength=number)
    rank = np.empty(number, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(number)
    total = float(((rows - rows.mean(axis=0)) ** 2).sum())
    return rank[model.labels_], 1.0 - float(model.inertia_) / total if total > 0 else 1.0


def largest_change(within: str | None, pairs: list[tuple[str, str]], candidate: DataView, ctx: AuditContext) -> Figure:
    """Return the largest total variation distance, of any class and attribute, between before and after.

    ``within`` is a released attribute. A row is in the class that its released row is in.
    """
    if within is None:
        return Figure(None, "share", note="`within` names no class")
    if ctx.pairs is None or within not in candidate.schema:
        return Figure(None, "share", note="rows cannot be paired, or the release has no such class")
    compared = [(c, s) for c, s in pairs if c != within]
    worst = [0.0]
    for column, source in compared:
        sides = [(left, right) for left, right in ctx.pairs.pairs([source], [column, within])]
        if not sides:
            return Figure(None, "share", note="there are no rows")
        before = concat(Table({"v": left[source], "c": right[within]}, left.rows) for left, right in sides)
        after = concat(Table({"v": right[column], "c": right[within]}, right.rows) for _, right in sides)
        worst.append(_change(before, after))
    return Figure(max(worst), "share", note="0 where every class has every value as often as before")


def _change(before: Table, after: Table) -> float:
    both = concat([before, after])
    classes, values = both["c"].dense.astype(np.int64), both["v"].dense.astype(np.int64)
    cells, place = np.unique(classes * both["v"].width + values, return_inverse=True)
    counts = [np.bincount(p, minlength=len(cells)) for p in (place[: len(before)], place[len(before) :])]
    owner = cells // both["v"].width
    moved = np.bincount(owner, weights=np.abs(counts[0] - counts[1]))
    sizes = np.bincount(owner, weights=counts[0])
    return float((0.5 * moved / np.maximum(sizes, 1)).max(initial=0.0))


class ClusterAnalysisAudit:
    """Clusters before and after."""

    def __init__(self, params: ClusterAnalysisParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return agreement, sizes and explained variance, the change of frequencies within classes, and pictures."""
        pairs = self._columns(original, candidate, ctx)
        if not pairs or candidate.row_count < 2 or original.row_count < 2:
            return _nothing("there is nothing to compare")
        before, after, paired = self._rows(original, candidate, pairs, ctx)
        left = points(before, list(dict.fromkeys(s for _, s in pairs)), self.params.most_values)
        right = points(after, [c for c, _ in pairs], self.params.most_values)
        if not left.shape[1] or not right.shape[1]:
            return _nothing("no attribute has numbers, or few enough values to cluster by")
        one, explained = clustered(left, self.params.clusters)
        other, kept = clustered(right, self.params.clusters)
        sample = len(other) if len(other) < candidate.row_count else None
        figures = _figures(one, other, paired=paired, sample=sample)
        figures["explained_original"] = Figure(explained, "share", sample=sample)
        figures["explained_released"] = Figure(kept, "share", sample=sample)
        figures["class_frequency_change"] = largest_change(self.params.within, pairs, candidate, ctx)
        return AuditOutcome(figures, charts=_charts(one, other, paired=paired))

    def _columns(self, original: DataView, candidate: DataView, ctx: AuditContext) -> list[tuple[str, str]]:
        chosen = self.params.attributes
        pairs = [(c, source_of(c, ctx)) for c in candidate.schema.names if candidate.schema[c].role not in LEFT_OUT]
        wanted = [(c, s) for c, s in pairs if chosen is None or c in chosen or s in chosen]
        return [(c, s) for c, s in wanted if s in original.schema and original.schema[s].role is not Role.ITEMS]

    def _rows(
        self, original: DataView, candidate: DataView, pairs: list[tuple[str, str]], ctx: AuditContext
    ) -> tuple[Table, Table, bool]:
        """Return rows of both, and whether they are the same people's in the same order."""
        released, sources = [c for c, _ in pairs], list(dict.fromkeys(s for _, s in pairs))
        if ctx.pairs is None or original.schema.weight is not None:
            some = self.params.sample
            return original.sample(some, sources), candidate.sample(some, released), False
        step = -(-candidate.row_count // self.params.sample)
        before, after, seen = [], [], 0
        for left, right in ctx.pairs.pairs(sources, released):
            rows = np.arange(-seen % step, len(left), step)
            before.append(left.take(rows))
            after.append(right.take(rows))
            seen += len(left)
        return concat(before), concat(after), True


def _figures(one: Integers, other: Integers, *, paired: bool, sample: int | None) -> dict[str, Figure]:
    width = max(one.max(), other.max()) + 1
    shares = [np.bincount(labels, minlength=width) / len(labels) for labels in (one, other)]
    moved = 0.5 * float(np.abs(shares[0] - shares[1]).sum())
    agreement = float(adjusted_rand_score(one, other)) if paired else None
    note = "adjusted Rand index: 1 the same clusters, 0 what chance gives" if paired else "rows cannot be paired"
    return {
        "agreement": Figure(agreement, "index", sample=sample, note=note),
        "size_change": Figure(moved, "share", sample=sample, note="by rank of size: half the sum of the differences"),
    }


def _charts(one: Integers, other: Integers, *, paired: bool) -> tuple[Chart, ...]:
    width = int(max(one.max(), other.max())) + 1
    labels = tuple(f"cluster {i + 1}" for i in range(width))
    shares = [np.bincount(clusters, minlength=width) / len(clusters) for clusters in (one, other)]
    series = tuple(FigureSeries(n, tuple(map(float, s))) for n, s in zip(("original", "released"), shares, strict=True))
    sizes = Chart("cluster_sizes", "Rows by cluster, largest first", "bars", labels, series, "cluster", "share of rows")
    if not paired:
        return (sizes,)
    both = np.bincount(one * width + other, minlength=width * width).reshape(width, width)
    rows = tuple(
        FigureSeries(f"original {i + 1}", tuple(map(float, row / max(1, row.sum())))) for i, row in enumerate(both)
    )
    note = "share of the original cluster's rows"
    moved = Chart("cluster_moves", "Where the rows of each original cluster went", "matrix", labels, rows, note=note)
    return sizes, moved


def _nothing(why: str) -> AuditOutcome:
    return AuditOutcome({n: Figure(None, "share", note=why) for n in NAMES})
