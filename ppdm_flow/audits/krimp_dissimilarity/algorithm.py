"""How unlike the release is to the original, by the code tables that compress them best.

A code table holds the patterns of its data. If the other's table encodes them nearly as short as their own, both have
the same patterns. Yardsticks: random halves of the original against the original (as like as data of one source are),
data with the original's values but none of its correlations, and, if asked for, the original's classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import numpy as np
import numpy.typing as npt
from scipy import special

from ppdm_flow.audits.krimp_dissimilarity.spec import KrimpDissimilarityParams, target_of
from ppdm_flow.audits.records.columns import beside
from ppdm_flow.audits.records.counting import Databases, class_databases, databases
from ppdm_flow.audits.records.proportions import LEVEL
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.mining.comparison import (
    CodeTableSearch,
    Encoding,
    affordable_rows,
    dissimilarity,
    interval,
    random_part,
    recounted,
    uncorrelated,
)
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = (
    "dissimilarity",
    "of_original",
    "of_release",
    "internal",
    "same_patterns",
    "same_patterns_internal",
    "uncorrelated",
    "uncorrelated_ratio",
)
BETWEEN = ("between_classes", "between_classes_lowest", "between_classes_highest")
MOST_CLASSES = 10
"""Classes that are compared with each other: the most frequent ones."""
MOST_ROWS = 100_000
_FEWEST = 2
"""Rows below which there is no random half."""


class KrimpDissimilarityAudit:
    """Finds the code tables of original and release, and encodes each with the other's."""

    def __init__(self, params: KrimpDissimilarityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the dissimilarity of the release, of random halves, and of uncorrelated data from the original."""
        columns = beside(original, candidate, ctx, self.params.attributes)
        limit = self.params.sample or affordable_rows(len(columns), MOST_ROWS)
        both = databases(original, candidate, columns, limit) if columns else None
        if both is None:
            why = "there are no rows to compare" if columns else "the release has no attribute of the original"
            names = NAMES if self.params.yardstick == "halves" else (*NAMES, *BETWEEN)
            return AuditOutcome({n: Figure(None, "share", note=why) for n in names})
        search = CodeTableSearch(self._least(both), self.params.candidates, pruning=self.params.pruning)
        outcome = self._compared(both, search)
        if self.params.yardstick == "halves":
            return outcome
        target = self.params.target or target_of({n: facts.role for n, facts in ctx.original_attributes.items()})
        if target is None or target not in original.schema:
            return replace(outcome, figures={**outcome.figures, **_unmeasured("the original has no such classes")})
        classes = class_databases(original, columns, target, limit, MOST_CLASSES)
        return replace(outcome, figures={**outcome.figures, **self._between(classes, search)})

    def _between(self, classes: Sequence[ItemDatabase], search: CodeTableSearch) -> dict[str, Figure]:
        """Return how unlike the classes of the original are to each other, over all pairs."""
        encodings = [search.encoded(each) for each in classes]
        values = [dissimilarity(x, y, self.params.laplace).value for x, y in combinations(encodings, 2)]
        if not values:
            return _unmeasured("the original has no two classes of two rows or more")
        note = f"of {len(values)} pairs of {len(classes)} classes of the original, without the class itself"
        shown = zip(BETWEEN, (fmean(values), min(values), max(values)), strict=True)
        return {name: Figure(value, "share", note=note) for name, value in shown}

    def _least(self, both: Databases) -> float:
        """Return the minimum support as a share, so that samples and halves have the same."""
        support = self.params.min_support
        if both.sample is None and support.count is not None:
            return support.count
        return support.ratio or min(1.0, support.rows(both.available) / both.available)

    def _compared(self, both: Databases, search: CodeTableSearch) -> AuditOutcome:
        laplace = self.params.laplace
        rng = np.random.default_rng([self.params.seed, 2007])
        x, y = search.encoded(both.original), search.encoded(both.released)
        apart = dissimilarity(x, y, laplace)
        noise = uncorrelated(both.original, both.released.rows, rng)
        without = dissimilarity(x, search.encoded(noise), laplace).value
        halves = self._halves(x, search, rng)
        figures = {
            "of_original": _estimate(apart.of_first, x, y, laplace, both, "original under the release's code table"),
            "of_release": _estimate(apart.of_second, y, x, laplace, both, "release under the original's code table"),
            "internal": _internal(halves[:, 0], both),
            "same_patterns": Figure(
                dissimilarity(x, recounted(y.database, x), laplace).value,
                "share",
                sample=both.sample,
                note="the original's patterns for both, each with its own usages: no second code table is searched for",
            ),
            "same_patterns_internal": _internal(halves[:, 1], both),
            "uncorrelated": Figure(
                without, "share", sample=both.sample, note="of data with the original's values, each drawn by itself"
            ),
            "uncorrelated_ratio": _ratio(without, apart.value),
        }
        larger = figures["of_original" if apart.of_first >= apart.of_second else "of_release"]
        note = f"the larger one, of the {'original' if apart.of_first >= apart.of_second else 'release'}; {larger.note}"
        figures["dissimilarity"] = Figure(apart.value, "share", larger.interval, larger.sample, note)
        return AuditOutcome({n: figures[n] for n in NAMES}, charts=(_chart(figures),))

    def _halves(self, x: Encoding, search: CodeTableSearch, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return the dissimilarity of random halves, shape (halves, 2): as it is, and with the original's patterns."""
        if x.database.rows < _FEWEST:
            return np.zeros((0, 2))
        parts = (random_part(x.database, x.database.rows // 2, rng) for _ in range(self.params.repeats))
        pairs = ((search.encoded(part), recounted(part, x)) for part in parts)
        dissimilarities = [[dissimilarity(x, half, self.params.laplace).value for half in pair] for pair in pairs]
        return np.array(dissimilarities).reshape(-1, 2)


def _unmeasured(why: str) -> dict[str, Figure]:
    return {n: Figure(None, "share", note=why) for n in BETWEEN}


def _estimate(value: float, data: Encoding, by: Encoding, laplace: float, both: Databases, what: str) -> Figure:
    note = f"extra length of the {what}, relative to its own"
    if both.sample is None:
        return Figure(value, "share", note=note)
    return Figure(value, "share", interval(data, by, laplace), data.database.rows, f"{note}; the code tables given")


def _internal(halves: npt.NDArray[np.float64], both: Databases) -> Figure:
    if not len(halves):
        return Figure(None, "share", note="no random half was compared")
    mean, note = float(halves.mean()), f"mean of {len(halves)} random halves of the original against the original"
    if len(halves) == 1:
        return Figure(mean, "share", sample=both.sample, note=note)
    reach = (
        float(special.stdtrit(len(halves) - 1, 0.5 + LEVEL / 2)) * float(halves.std(ddof=1)) / math.sqrt(len(halves))
    )
    return Figure(mean, "share", (mean - reach, mean + reach), both.sample, note)


def _ratio(without: float, value: float) -> Figure:
    note = "how many times as dissimilar as the release uncorrelated data are: the more, the more patterns are kept"
    if value <= 0:
        return Figure(None, "ratio", note="the release is no more dissimilar than the original itself")
    return Figure(without / value, "ratio", note=note)


def _chart(figures: dict[str, Figure]) -> Chart:
    shown = [
        (n, figures[k])
        for n, k in (("release", "dissimilarity"), ("random half", "internal"), ("uncorrelated data", "uncorrelated"))
    ]
    shown = [(n, f) for n, f in shown if f.value is not None]
    values = tuple(float(f.value or 0.0) for _, f in shown)
    ends = [f.interval or (v, v) for (_, f), v in zip(shown, values, strict=True)]
    series = FigureSeries("dissimilarity", values, tuple(e[0] for e in ends), tuple(e[1] for e in ends))
    return Chart(
        id="dissimilarity",
        title="Dissimilarity from the original",
        kind="bars",
        x=tuple(n for n, _ in shown),
        series=(series,),
        y_label="extra length",
    )
