"""The second route: classes counted in SQL over the released file; every entry of the operator, one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.releases.relation import weight_of
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext, quoted
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SUPPRESSED_TEXT

Found = dict[str, float | int | None]
Floats = npt.NDArray[np.float64]

SMALL = 300
"""The number of values up to which every entry is looked at."""


def grouped_sql(
    column: str, classes: Sequence[str], known: int | None, candidate: DataView, ctx: AuditContext
) -> Found:
    """Return highest posteriors and certain shares of a column that is released as it is."""
    if ctx.sql is None:
        return {}
    names = "".join(f"{quoted(c)}, " for c in classes)
    by = f"PARTITION BY {names.rstrip(', ')}" if classes else ""
    others = "(size - n)" if known is None else f"least({int(known)}, size - n)"
    query = f"""
        WITH cells AS (
            SELECT {names}{quoted(column)} AS cell, SUM({weight_of(candidate.schema)}) AS n
            FROM candidate GROUP BY ALL HAVING n > 0),
        classes AS (SELECT cell, n, SUM(n) OVER ({by}) AS size, SUM(n) OVER () AS total FROM cells),
        beliefs AS (
            SELECT n, total, n / size AS before, n / (size - {others}) AS after
            FROM classes WHERE cell IS NOT NULL AND cell <> '{SUPPRESSED_TEXT}')
        SELECT MAX(before), MAX(after), SUM(n) FILTER (before >= 1) / ANY_VALUE(total),
               SUM(n) FILTER (after >= 1) / ANY_VALUE(total)
        FROM beliefs"""  # noqa: S608  # identifiers are quoted, the number is an int
    before, after, sure, sure_after = ctx.sql.rows(query)[0]
    if before is None:
        return {"worst_posterior": None, "worst_after_corruption": None}
    return {
        "worst_posterior": float(before),
        "worst_after_corruption": float(after),
        "certain": float(sure or 0.0),
        "certain_after_corruption": float(sure_after or 0.0),
    }


def perturbed_sql(operator: ValueOperator, prior: Floats, sampled: int, known: int | None) -> Found:
    """Return the highest posteriors from every entry of P, for domains that are not too large."""
    if operator.size > SMALL or not prior.any():
        return {}
    most = sampled - 1 if known is None else min(known, sampled - 1)
    matrix, f = operator.matrix().tolist(), prior.tolist()
    return {
        "worst_posterior": _highest(matrix, f, sampled, 0),
        "worst_after_corruption": _highest(matrix, f, sampled, most),
    }


def _highest(matrix: list[list[float]], prior: list[float], sampled: int, known: int) -> float:
    """Return the highest posterior: by Bayes for whose the row is, then for the value."""
    best = 0.0
    for row in matrix:
        out = sum(p * f for p, f in zip(row, prior, strict=True))
        if out == 0:
            continue
        likelihoods = [out] * (sampled - known) + [min(row)] * known  # the target's first
        own = likelihoods[0] / sum(likelihoods)
        best = max(best, *(own * p * f / out + (1 - own) * f for p, f in zip(row, prior, strict=True)))
    return best
