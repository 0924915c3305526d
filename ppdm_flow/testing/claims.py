"""Guarantees measured by other means than the plugins' own: pandas and scipy, the obvious way."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from ppdm_flow.core.requirement import within
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Claim, TransformOutcome

ERROR = 1e-6
"""The probability that a test on a fixed key rejects a right transform: fixed with the key, so it never flakes."""

LEAST_EXPECTED = 5.0


def templates_hold(*templates: InferenceTemplate) -> Claim:
    """Claim: in the released table, every template's confidence and support hold."""

    def claim(outcome: TransformOutcome) -> str | None:
        for template in templates:
            over, negated = template.channel, template.negated
            worst = max(confidence(outcome.released, over, *pair, negated=negated) for pair in template.pairs)
            if not within(worst, template.confidence, at_most=True):
                return f"the confidence of `{template.name}` is {worst:.6g}, above {template.confidence:.6g}"
            smallest = smallest_group(outcome.released, template.channel)
            if smallest is not None and smallest < template.smallest_group:
                return f"a group of `{template.name}` has {smallest} rows, fewer than {template.smallest_group}"
        return None

    return claim


def confidence(table: Table, channel: tuple[str, ...], sensitive: str, value: str, *, negated: bool = False) -> float:
    """Return the largest share of ``value`` in a group over ``channel``; missing and suppressed cells are values.

    ``negated``: the largest share of rows without it.
    """
    frame = pd.DataFrame({name: table[name].texts() for name in {*channel, sensitive}}, dtype=object)
    hit = (frame[sensitive] == value) != negated
    return float(hit.groupby([frame[c].fillna("\0missing") for c in channel]).mean().max()) if len(frame) else 0.0


def smallest_group(table: Table, channel: tuple[str, ...]) -> int | None:
    """Return the rows of the smallest group over ``channel``; None where there is no row."""
    frame = pd.DataFrame({name: table[name].texts() for name in channel}, dtype=object).fillna("\0missing")
    return int(frame.groupby(list(channel)).size().min()) if len(frame) else None


def channels_are_true(error: float = ERROR) -> Claim:
    """Claim: released values follow the published operators, by a chi-square test for each original value."""

    def claim(outcome: TransformOutcome) -> str | None:
        for attribute, operator in outcome.fitted.operators.items():
            least = smallest_p(outcome.original, outcome.released, operator)
            if least < error / operator.size:
                return f"`{attribute}` does not follow its operator: p = {least:.3g}"
        return None

    return claim


def smallest_p(original: Table, released: Table, operator: ValueOperator) -> float:
    """Return the smallest p-value over the operator's columns that have enough rows (5 expected in each cell)."""
    name = operator.attribute
    place = {value: i for i, value in enumerate(operator.domain)}
    before = np.array([place[v] for v in original[name].texts()])
    after = np.array([place[v] for v in released[name].texts()])
    matrix = operator.matrix()
    least = 1.0
    for value in range(operator.size):
        observed = np.bincount(after[before == value], minlength=operator.size)
        expected = matrix[:, value] * observed.sum()
        if observed[expected == 0.0].sum():
            return 0.0
        some = expected > 0.0
        if some.sum() > 1 and expected[some].min() >= LEAST_EXPECTED:
            least = min(least, float(stats.chisquare(observed[some], expected[some]).pvalue))
    return least


def order_is_random(error: float = ERROR) -> Claim:
    """Claim: released positions are not correlated with source positions (normal limit of Spearman's rank test)."""

    def claim(outcome: TransformOutcome) -> str | None:
        rho = float(stats.spearmanr(outcome.original.rows, outcome.released.rows).statistic)
        limit = float(stats.norm.isf(error / 2)) / np.sqrt(max(1, len(outcome.original) - 1))
        return None if abs(rho) <= limit else f"the order of rows survives: rank correlation {rho:.3g}"

    return claim


def share_is_kept(fraction: float, error: float = ERROR) -> Claim:
    """Claim: a binomial share ``fraction`` of the rows is released."""

    def claim(outcome: TransformOutcome) -> str | None:
        kept, rows = len(outcome.released), len(outcome.original)
        p = float(stats.binomtest(kept, rows, fraction).pvalue)
        return None if p >= error else f"{kept} of {rows} rows are no sample of {fraction}"

    return claim


def exactly(rows: int) -> Claim:
    """Claim: exactly so many rows are released."""

    def claim(outcome: TransformOutcome) -> str | None:
        released = len(outcome.released)
        return None if released == rows else f"{released} rows instead of {rows}"

    return claim


def is_function(column: str, *, one_to_one: bool = False) -> Claim:
    """Claim: equal values become equal values (and, if ``one_to_one``, unequal ones unequal ones)."""

    def claim(outcome: TransformOutcome) -> str | None:
        pairs = set(zip(outcome.original[column].texts(), outcome.released[column].texts(), strict=True))
        if len({before for before, _ in pairs}) != len(pairs):
            return f"equal values of `{column}` become different ones"
        if one_to_one and len({after for _, after in pairs}) != len(pairs):
            return f"different values of `{column}` become equal"
        return None

    return claim
