"""The sizes of the equivalence classes over the quasi-identifiers: rows that look alike to a linker.

A missing and a suppressed cell are values of their own here; the requirement `k_anonymity` follows the policy's
treatment of missing values. Where the policy counts people, a size is the different people with a row in the class.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.class_sizes.spec import ClassSizesParams
from ppdm_flow.audits.records.columns import quasi_identifiers
from ppdm_flow.audits.records.members import (
    Members,
    classes_sql,
    counts_people,
    members_of_original,
    members_of_release,
    refuse_rows,
    untold,
)
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
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


def by_bin(sizes: Integers, amounts: Integers) -> Integers:
    """Return the sum of ``amounts`` (rows or people at these ``sizes``) in each bin."""
    out = np.zeros(len(EDGES), dtype=np.int64)
    np.add.at(out, np.searchsorted(EDGES, sizes, side="right") - 1, amounts)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class ClassSizes:
    """``of_classes`` (classes,) in ``unit``, and the ``rows`` of each.

    ``hiding`` (rows or people,) is the size of the class that each row is in, or of the smallest one of each person, by
    ``amounts`` of them.
    """

    of_classes: Integers
    rows: Integers
    hiding: Integers
    amounts: Integers
    unit: str = "rows"

    @classmethod
    def of_rows(cls, view: DataView, columns: Sequence[str]) -> ClassSizes:
        """Count rows."""
        counts = view.counts(tuple(columns)).counts
        sizes = counts[counts > 0]
        return cls(sizes, sizes, sizes, sizes)

    @classmethod
    def of_people(cls, members: Members) -> ClassSizes:
        """Count people."""
        rows = np.zeros(len(members.classes), dtype=np.int64)
        np.add.at(rows, members.group, members.rows)
        hiding = members.smallest_size()
        return cls(members.sizes, rows, hiding, np.ones(len(hiding), dtype=np.int64), "people")


class ClassSizesAudit:
    """Counts combinations, in the release and for comparison in the original."""

    def __init__(self, params: ClassSizesParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return number, smallest, median, mean and largest size, and two pictures."""
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        sources = [s for s in dict.fromkeys(source_of(c, ctx) for c in columns) if s in original.schema]
        if counts_people(ctx):
            after = ClassSizes.of_people(members_of_release(candidate, columns, ctx))
            before = ClassSizes.of_people(members_of_original(original, sources, ctx))
        else:
            after, before = ClassSizes.of_rows(candidate, columns), ClassSizes.of_rows(original, sources)
        title = f"over {listed(columns)}" if columns else "without quasi-identifiers"
        outcome = AuditOutcome(figures=_figures(after, untold(ctx)), charts=_charts(before, after, title))
        return refuse_rows(outcome, ctx)

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Count people in SQL; nothing where rows are counted."""
        del original
        if not counts_people(ctx):
            return {}
        classes = classes_sql(candidate, quasi_identifiers(self.params.attributes, candidate, ctx), ctx)
        sizes = [people for _, people, _ in classes]
        if not sizes:
            return {}
        return {
            "classes": len(sizes),
            "smallest": min(sizes),
            "median": statistics.median(sizes),
            "mean": sum(sizes) / len(sizes),
            "mean_of_a_row": sum(n * people for n, people, _ in classes) / sum(n for n, _, _ in classes),
            "largest": max(sizes),
            "uniques": sum(own for _, people, own in classes if people == 1),
        }


def _figures(sizes: ClassSizes, counted: str) -> dict[str, Figure]:
    classes, unit = sizes.of_classes, sizes.unit
    some = len(classes) > 0
    note = counted if some else "there are no rows"
    by_row = float(np.average(classes, weights=sizes.rows)) if some else None
    return {
        "classes": Figure(len(classes), "classes"),
        "smallest": Figure(int(classes.min()) if some else None, unit, note=note),
        "median": Figure(float(np.median(classes)) if some else None, unit, note=note),
        "mean": Figure(float(classes.mean()) if some else None, unit, note=note),
        "mean_of_a_row": Figure(by_row, unit, note=note),
        "largest": Figure(int(classes.max()) if some else None, unit, note=note),
        "uniques": Figure(int(sizes.amounts[sizes.hiding == 1].sum()), unit, note=counted),
    }


def _charts(before: ClassSizes, after: ClassSizes, title: str) -> tuple[Chart, ...]:
    def chart(kind: str, heading: str, values: Sequence[Integers], label: str) -> Chart:
        series = tuple(FigureSeries(n, _floats(v)) for n, v in zip(("original", "released"), values, strict=True))
        return Chart(f"{kind}_by_size", f"{heading} {title}", "bars", bins(), series, size, label)

    size = "size of the class" if after.unit == "rows" else "people in the class"
    each = (before, after)
    rows = "Rows by the size of their equivalence class,"
    people = "People by the size of the smallest equivalence class that they are in,"
    return (
        chart("classes", "Equivalence classes by size,", [classes_by_bin(s.of_classes) for s in each], "classes"),
        chart(
            "rows",
            rows if after.unit == "rows" else people,
            [by_bin(s.hiding, s.amounts) for s in each],
            after.unit,
        ),
    )


def _floats(values: Integers) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
