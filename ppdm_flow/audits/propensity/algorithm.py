"""Whether a model can tell released rows from original ones, by which columns, and how well by chance.

The same is measured for two random halves of the original, which differ by sampling alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.propensity.spec import PropensityParams
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.mining.utility.coding import CodedColumn, compared
from ppdm_flow.mining.utility.propensity import Propensity, block, by_logistic, by_permutation, in_steps, products
from ppdm_flow.mining.utility.sides import compared_columns, half, persons
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

MODELS = ("logistic", "tree")
OF_MODELS = {"pmse": "probability", "expected_pmse": "probability", "ratio": "ratio", "standardized": "ratio"}
MOST_BARS = 40
ROUNDING = 1e-9
"""Ratios up to this are those of floating-point numbers: no column is named for one."""
LEAST_LEAF = 20
DEEPEST = 10


@dataclass(frozen=True, slots=True, eq=False)
class PropensityModels:
    """Models that distinguish two samples: each model's propensity, each column's own, and its share in the tree."""

    models: dict[str, Propensity]
    by_column: dict[str, Propensity]
    importance: dict[str, float]


class PropensityAudit:
    """Tells released rows from original ones, by logistic regression and by a tree."""

    def __init__(self, params: PropensityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return pMSE, its expectation, ratio and standardized ratio of both models, and what each column tells."""
        pairs = compared_columns(original, candidate, ctx, self.params.attributes)
        limit = self.params.rows
        before, sample = persons(original, [s for _, s in pairs], limit)
        after, sample_after = persons(candidate, [c for c, _ in pairs], limit)
        columns, others = compared(before, after, pairs, ctx)
        note = f"{listed(others)}: the recoding is not known, or made several labels of a value" if others else ""
        left_out = Figure(len(others), "count", note=note)
        figures = {"columns_not_comparable": left_out}
        if not columns or len(before) < 2 or not len(after):
            return AuditOutcome(figures | _nothing("there is nothing to compare"))
        fitted = self._fit_models(columns)
        first = half(original, ctx).held_out(before.rows)
        chance = self._fit_models(_halves(columns, first)) if first.any() and not first.all() else None
        return AuditOutcome(figures | _figures(fitted, chance, sample or sample_after), charts=_charts(fitted, chance))

    def _fit_models(self, columns: tuple[CodedColumn, ...]) -> PropensityModels:
        sizes = len(columns[0].before), len(columns[0].after)
        released = np.repeat([False, True], sizes)
        blocks = [block(c, self.params.most_values) for c in columns]
        main = np.hstack(blocks)
        numeric = [c.numeric for c in columns]
        more = products(list(zip(blocks, numeric, strict=True)), self.params.interactions)
        model, importances = _tree(in_steps(main), released)
        models = {
            "logistic": by_logistic(np.hstack([main, *more]), released),
            "tree": by_permutation(released, model, self.params.permutations),
        }
        alone = {c.name: by_logistic(b, released) for c, b in zip(columns, blocks, strict=True)}
        ends = np.cumsum([b.shape[1] for b in blocks])[:-1]
        shares = {c.name: float(s.sum()) for c, s in zip(columns, np.split(importances, ends), strict=True)}
        return PropensityModels(models, alone, shares)


def _tree(features: npt.NDArray[np.float32], released: Truths) -> tuple[Callable[[Truths], Floats], Floats]:
    """Return what a tree that learns from labels says of the rows, and each feature's share in the true one."""
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415  # heavy, and used by few audits

    def grown(labels: Truths) -> DecisionTreeClassifier:
        tree = DecisionTreeClassifier(max_depth=DEEPEST, min_samples_leaf=LEAST_LEAF, random_state=0)
        return tree.fit(features, labels)

    def predict(labels: Truths) -> Floats:
        if not features.shape[1]:
            return np.full(len(labels), labels.mean())
        chances: Floats = grown(labels).predict_proba(features)[:, 1]
        return chances

    if not features.shape[1]:
        return predict, np.zeros(0)
    return predict, np.asarray(grown(released).feature_importances_, dtype=np.float64)


def _halves(columns: tuple[CodedColumn, ...], first: Truths) -> tuple[CodedColumn, ...]:
    return tuple(replace(c, before=c.before.take(first), after=c.before.take(~first)) for c in columns)


def _figures(fitted: PropensityModels, chance: PropensityModels | None, sample: int | None) -> dict[str, Figure]:
    figures = {}
    none = "the original has no two halves"
    for name in MODELS:
        here = fitted.models[name]
        there = chance.models[name] if chance else None
        for figure, unit in OF_MODELS.items():
            figures[f"{name}.{figure}"] = _figure(_value(here, figure), unit, sample)
            figures[f"{name}.{figure}.baseline"] = _figure(_value(there, figure), unit, None, none if not there else "")
    for column, alone in fitted.by_column.items():
        other = chance.by_column[column] if chance else None
        figures[f"{column}.ratio"] = _figure(_value(alone, "ratio"), "ratio", sample)
        figures[f"{column}.ratio.baseline"] = _figure(_value(other, "ratio"), "ratio", None)
        figures[f"{column}.importance"] = Figure(fitted.importance[column], "share", sample=sample)
    for end, each in (("", fitted), (".baseline", chance)):
        worst = max(each.by_column.items(), key=lambda pair: pair[1].ratio or 0.0) if each else None
        ratio = worst[1].ratio if worst else None
        named = f"`{worst[0]}`" if worst and (ratio or 0.0) > ROUNDING else ""
        figures[f"largest_column_ratio{end}"] = Figure(ratio, "ratio", note=named if worst else none)
    return figures


def _value(propensity: Propensity | None, figure: str) -> float | None:
    if propensity is None:
        return None
    return getattr(propensity, {"expected_pmse": "expected"}.get(figure, figure))  # type: ignore[no-any-return]


def _figure(value: float | None, unit: str, sample: int | None, note: str = "") -> Figure:
    if value is None:
        return Figure(None, unit, note=note or "there is nothing to tell rows by")
    return Figure(float(value), unit, sample=sample)


def _charts(fitted: PropensityModels, chance: PropensityModels | None) -> tuple[Chart, ...]:
    order = sorted(fitted.by_column, key=lambda name: -(fitted.by_column[name].ratio or 0.0))[:MOST_BARS]
    sides = [("released", fitted)] + ([("halves of the original", chance)] if chance else [])
    series = tuple(
        FigureSeries(name, tuple(float(each.by_column[c].ratio or 0.0) for c in order)) for name, each in sides
    )
    bars = Chart(
        "column_ratios",
        "By which columns released rows can be told",
        "bars",
        tuple(order),
        series,
        "column",
        "pMSE over its expectation",
        note="a logistic regression on each column alone",
    )
    return (bars,)


def _nothing(why: str) -> dict[str, Figure]:
    names = {f"{model}.{figure}": unit for model in MODELS for figure, unit in OF_MODELS.items()}
    names["largest_column_ratio"] = "ratio"
    return {f"{n}{end}": Figure(None, unit, note=why) for n, unit in names.items() for end in ("", ".baseline")}
