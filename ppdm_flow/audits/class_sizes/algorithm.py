"""The sizes of the equivalence classes over the quasi-identifiers: rows that look alike to a linker.

A missing and a suppressed cell are values of their own here; the requirement `k_anonymity` follows the policy's
treatment of missing values.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.class_sizes.spec import ClassSizesParams
from ppdm_flow.audits.records.columns import quasi_identifiers
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, Series
from ppdm_flow.mining.releases.attributes import listed, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Integers = npt.NDArray[np.int64]

EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)
"""First size of each bin; the last one is open."""


def bins() -> tuple[str, ...]:
    """Return the names of the bins."""
    ends = [start if start + 1 == end else f"{start}–{end - 1:,}" for start, end in itertools.pairwise(EDGES)]
    return (*map(str, ends), f"{EDGES[-1]:,}+")


def classes_by_bin(sizes: Integers) -> Integers:
    """Return the number of classes in each bin."""
    return np.bincount(np.searchsorted(EDGES, sizes, side="right") - 1, minlength=len(EDGES))


def rows_by_bin(sizes: Integers) -> Integers:
    """Return the number of rows in the classes of each bin."""
    out = np.zeros(len(EDGES), dtype=np.int64)
    np.add.at(out, np.searchsorted(EDGES, sizes, side="right") - 1, sizes)
    return out


class ClassSizesAudit:
    """Counts combinations, in the release and for comparison in the original."""

    def __init__(self, params: ClassSizesParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return number, smallest, median, mean and largest size, and two pictures."""
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        sources = [s for s in dict.fromkeys(source_of(c, ctx) for c in columns) if s in original.schema]
        after, before = _sizes(candidate, columns), _sizes(original, sources)
        title = f"over {listed(columns)}" if columns else "without quasi-identifiers"
        return AuditOutcome(figures=_figures(after), charts=_charts(before, after, title))


def _sizes(view: DataView, columns: Sequence[str]) -> Integers:
    counts = view.counts(tuple(columns)).counts
    return counts[counts > 0]


def _figures(sizes: Integers) -> dict[str, Figure]:
    some = len(sizes) > 0
    note = "" if some else "there are no rows"
    by_row = float(np.average(sizes, weights=sizes)) if some else None
    return {
        "classes": Figure(len(sizes), "classes"),
        "smallest": Figure(int(sizes.min()) if some else None, "rows", note=note),
        "median": Figure(float(np.median(sizes)) if some else None, "rows", note=note),
        "mean": Figure(float(sizes.mean()) if some else None, "rows", note=note),
        "mean_of_a_row": Figure(by_row, "rows", note=note),
        "largest": Figure(int(sizes.max()) if some else None, "rows", note=note),
        "uniques": Figure(int((sizes == 1).sum()), "rows"),
    }


def _charts(before: Integers, after: Integers, title: str) -> tuple[Chart, ...]:
    def chart(kind: str, heading: str, count: Any) -> Chart:
        series = (Series("original", _floats(count(before))), Series("released", _floats(count(after))))
        return Chart(f"{kind}_by_size", f"{heading} {title}", "bars", bins(), series, "size of the class", kind)

    return (
        chart("classes", "Equivalence classes by size,", classes_by_bin),
        chart("rows", "Rows by the size of their equivalence class,", rows_by_bin),
    )


def _floats(values: Integers) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
