"""The measured l of a release: how many sensitive values the least diverse class has.

Distinct, entropy and recursive (c, l)-diversity (Machanavajjhala et al., ACM TKDD 1(1), 2007, section 4). Measured is
the number of values, exp of the entropy, or the largest l for which r_1 < c (r_l + … + r_m); 0 where there is none.
Suppressed cells and, unless the policy says otherwise, missing ones are a value of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.people import PeopleFigure
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure
from ppdm_flow.mining.classes.audit import SensitiveAudit
from ppdm_flow.mining.classes.class_metric import ColumnFigures, Floats, Names
from ppdm_flow.mining.classes.wording import beyond, known_by
from ppdm_flow.mining.exposure.histograms import Code, Histograms, largest_flow
from ppdm_flow.mining.exposure.query import ClassQuery, matched_sql
from ppdm_flow.mining.people.query import PeopleQuery
from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping, added, largest, shares
from ppdm_flow.mining.recoding.models import SLACK as MODELS_SLACK
from ppdm_flow.mining.recoding.models import Bools, ClassModel, HereditaryModel, SensitiveColumns, clipped
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import SPECIALS

SLACK = 1e-12
"""Relative rounding of c times a count: equality does not keep a strict bound."""
Ints = npt.NDArray[np.int64]


class LDiversityAudit(SensitiveAudit[LDiversity]):
    """Counts the sensitive values of each class."""

    kind = LDiversity
    metric = "l"
    unit = "values"
    at_most = False

    def bound(self, requirement: LDiversity) -> float:
        """Return l."""
        return requirement.l

    def each(self, requirement: LDiversity, histograms: Histograms, ctx: AuditContext) -> Floats:
        """Return the l of each class."""
        del ctx
        if requirement.variant is Diversity.ENTROPY:
            return np.asarray(np.exp(entropies(histograms.cells, histograms.sizes)))
        if requirement.variant is Diversity.RECURSIVE:
            return recursive(histograms, requirement.c or 0.0)
        return distinct_values(histograms).astype(np.float64)

    def of_shares(self, requirement: LDiversity) -> bool:
        """Return whether the l is one of shares; the others count rows and values of the crowd."""
        return requirement.variant is Diversity.ENTROPY

    def class_figures_sql(
        self, requirement: LDiversity, query: ClassQuery, ctx: AuditContext
    ) -> tuple[Floats, Floats] | dict[str, Any]:
        """Return the second route's figures; where cells are decoded, rows and values are matched by another way."""
        if requirement.variant is Diversity.DISTINCT and query.decoded and not isinstance(query, PeopleQuery):
            return matched_sql(query)
        return super().class_figures_sql(requirement, query, ctx)

    def people_figure(self, requirement: LDiversity) -> PeopleFigure:
        """Return that people are matched with values, or weigh 1 each."""
        return PeopleFigure.DISTINCT if requirement.variant is Diversity.DISTINCT else PeopleFigure.DISTRIBUTION

    def query(self, requirement: LDiversity, names: Names, ctx: AuditContext) -> tuple[str, list[Any]]:
        """Return the l of each class."""
        del names, ctx
        if requirement.variant is Diversity.ENTROPY:
            return (
                "SELECT id, EXP(-SUM(n / size * LN(n / size))) AS v FROM cells JOIN sizes USING (id) GROUP BY id",
                [],
            )
        if requirement.variant is Diversity.RECURSIVE:
            return _recursive_query(requirement.c or 0.0), []
        return "SELECT id, COUNT(*) AS v FROM cells GROUP BY id", []

    def counts(self, requirement: LDiversity) -> bool:
        """Return whether values are counted."""
        return requirement.variant is not Diversity.ENTROPY

    def further(self, judged: ColumnFigures[LDiversity]) -> Mapping[str, Figure]:
        """Return the smallest number of values as well, under every definition that the policy may choose."""
        values = distinct_values(judged.histograms)
        return {"distinct": Figure(int(values.min()) if len(values) else 0, "values")}

    def sentence(self, judged: ColumnFigures[LDiversity], value: float) -> str:
        """Return what the least diverse class has."""
        requirement, column = judged.requirement, judged.column
        outside = judged.beyond(requirement.l, at_most=False)
        rows = int(judged.histograms.rows[outside].sum())
        end = beyond(rows, judged.histograms.total)
        if requirement.variant is Diversity.DISTINCT:
            least = f"finds at least {counted(int(value), 'value')} of `{column}` among those that fit"
            alone = " Where it is one, everybody's value is known." if value == 1 else ""
            return f"{known_by(judged.grouping)} {least}; {requirement.l:g} are required.{end}{alone}"
        if requirement.variant is Diversity.ENTROPY:
            return (
                f"{known_by(judged.grouping)} is left with as much uncertainty about `{column}` as among {value:.4g}"
                f" equally likely values, or more; {requirement.l:g} are required.{end}"
            )
        return (
            f"In every class the most frequent value of `{column}` has fewer rows than {requirement.c:g} times those"
            f" from the {_ordinal(int(value))} most frequent on; from the {_ordinal(int(requirement.l))} on is"
            f" required.{end}"
            if value >= 1
            else f"In some class the most frequent value of `{column}` has no fewer rows than {requirement.c:g} times"
            f" all rows of the class.{end}"
        )


def recursive(histograms: Histograms, c: float) -> Floats:
    """Return the largest l of each class with r_1 < c (r_l + … + r_m), 0 where there is none; it falls with l."""
    cells = histograms.cells
    if not len(cells.count):
        return np.zeros(len(histograms))
    owner = cells.owner
    count = cells.count[np.lexsort((-cells.count, owner))]
    total = np.cumsum(count)
    tail = np.repeat(total[cells.begins[1:] - 1], np.diff(cells.begins)) - total + count
    head = count[cells.begins[:-1]][owner]
    limit = c * tail.astype(np.float64)
    kept = head < limit - SLACK * limit
    return np.bincount(owner, kept, len(histograms)).astype(np.float64)


def _recursive_query(c: float) -> str:
    return f"""
        SELECT id, COALESCE(MAX(r) FILTER (head < {c!r}::DOUBLE * tail - {SLACK!r}::DOUBLE * ({c!r}::DOUBLE * tail)), 0)
            AS v
        FROM (
            SELECT id, ROW_NUMBER() OVER w AS r, CAST(MAX(n) OVER (PARTITION BY id) AS DOUBLE) AS head,
                CAST(SUM(n) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS DOUBLE) AS tail
            FROM cells WINDOW w AS (PARTITION BY id ORDER BY n DESC))
        GROUP BY id"""  # noqa: S608  # c is a float


def _ordinal(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if 10 < number % 100 < 14 else ends.get(number % 10, 'th')}"


# l-diversity of every class.


@dataclass(frozen=True, slots=True)
class DistinctDiverse(HereditaryModel):
    """At least ``l`` values (Machanavajjhala et al. 2007, section 4)."""

    attribute: int
    l: float  # noqa: E741  # the model's own letter
    figure: ClassVar[PeopleFigure] = PeopleFigure.DISTINCT

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Count values."""
        return np.asarray(grouping.different(self.attribute) >= self.l - MODELS_SLACK)


@dataclass(frozen=True, slots=True)
class EntropyDiverse(ClassModel):
    """exp of the entropy of at least ``l`` (ibidem, definition 4.1)."""

    attribute: int
    l: float  # noqa: E741  # the model's own letter

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare entropies."""
        return np.asarray(entropies(grouping.cells[self.attribute], grouping.sizes) >= np.log(self.l) - MODELS_SLACK)

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """Entropy is concave: a class has at least the mean of its parts', which is (1 - lost) ln l."""
        wanted = float(np.log(self.l))
        if wanted <= MODELS_SLACK:
            return np.zeros(len(grouping))
        return clipped((wanted - MODELS_SLACK - entropies(grouping.cells[self.attribute], grouping.sizes)) / wanted)


@dataclass(frozen=True, slots=True)
class RecursiveDiverse(ClassModel):
    """r_1 < c (r_l + … + r_m) for the counts in descending order (ibidem, definition 4.2)."""

    attribute: int
    c: float
    l: int  # noqa: E741  # the model's own letter

    def keeps(self, grouping: RowGrouping, _base: Floats) -> Bools:
        """Compare the largest count with the tail's."""
        first, tail = _heads_and_tails(grouping.cells[self.attribute], self.l)
        return np.asarray(first < self.c * tail - MODELS_SLACK)

    def lost(self, grouping: RowGrouping, _base: Floats, _drift: float) -> Floats:
        """r_1 - c (r_l + … + r_m) is convex and homogeneous, so a class's is at most the sum of its parts'."""
        first, tail = _heads_and_tails(grouping.cells[self.attribute], self.l)
        return clipped((first - self.c * tail - MODELS_SLACK) / np.maximum(grouping.sizes, 1))


def entropies(cells: ClassCells, sizes: Ints) -> Floats:
    """Return the entropy of each class in nats."""
    share = shares(cells, sizes)
    return added(cells, -share * np.log(share))


def _heads_and_tails(cells: ClassCells, rank: int) -> tuple[Ints, Ints]:
    """Return the largest count of each class, and the sum of its counts from the ``rank``-th largest on."""
    owner = cells.owner
    count = cells.count[np.lexsort((-cells.count, owner))]
    late = np.arange(len(count)) - cells.begins[owner] >= rank - 1
    total = np.concatenate([[0], np.cumsum(np.where(late, count, 0))])
    return largest(cells.begins, count), total[cells.begins[1:]] - total[cells.begins[:-1]]


def models(requirement: LDiversity, columns: SensitiveColumns) -> list[ClassModel]:
    """Return what a class must keep."""
    at = columns.place(requirement.attribute)
    if requirement.variant is Diversity.DISTINCT:
        return [DistinctDiverse(at, requirement.l)]
    if requirement.variant is Diversity.ENTROPY:
        return [EntropyDiverse(at, requirement.l)]
    return [RecursiveDiverse(at, requirement.c or 1.0, round(requirement.l))]


# Distinct l where cells cover several values: the largest matching of rows and values that they can have.
#
# A value counts once, and a row for one value: three rows that show a cell behind which two values can be count for
# two, and one such row for one. Where each value is behind one cell only, this is the sum of min(rows, values) over the
# cells.


def distinct_values(histograms: Histograms) -> Ints:
    """Return how many values each class has, shape (classes,), with rows and values matched where cells are shared."""
    code, shown = histograms.behind, histograms.shown
    if not isinstance(code, Code) or shown is None:
        return np.diff(histograms.cells.begins)
    cell = shown.value.astype(np.int64) - SPECIALS
    if code.ambiguous and _shared(code, cell, shown.owner):
        return matched(shown.owner, np.rint(shown.count), code.shares[cell], len(histograms))
    each = np.minimum(shown.count, np.diff(code.shares.indptr)[cell])
    return np.bincount(shown.owner, each, len(histograms)).astype(np.int64)


def matched(owner: Ints, rows: npt.NDArray[np.float64], behind: Any, classes: int) -> Ints:
    """Return the size of the largest matching in each class.

    ``owner`` is the class of each cell, ``rows`` how many show it, ``behind`` (cells, values) a CSR matrix with an
    entry for each value that the cell may hide. It is a largest flow: from a cell as much as rows show it, to a value
    of a class once.
    """
    cells, width = len(owner), np.diff(behind.indptr)
    keys = np.repeat(owner, width) * behind.shape[1] + behind.indices
    values, value = np.unique(keys, return_inverse=True)
    cell_nodes, value_nodes = 1 + np.arange(cells), 1 + cells + np.arange(len(values))
    end = 1 + cells + len(values)
    source = np.concatenate([np.zeros(cells, dtype=np.int64), np.repeat(cell_nodes, width), value_nodes])
    target = np.concatenate([cell_nodes, value_nodes[value], np.full(len(values), end)])
    capacity = np.concatenate([np.minimum(rows, width), np.ones(len(keys) + len(values))])
    taken = largest_flow(source, target, capacity, end + 1)[1 : 1 + cells]
    return np.bincount(owner, taken, classes).astype(np.int64)


def _shared(code: Code, cell: Ints, owner: Ints) -> bool:
    """Whether in some class a value is behind several of the cells that are shown."""
    behind = code.shares[cell]
    keys = np.repeat(owner, np.diff(behind.indptr)) * behind.shape[1] + behind.indices
    return len(np.unique(keys)) < len(keys)
