"""The second route: frequencies row by row, bounds value by value, posteriors entry by entry."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Directions, Role
from ppdm_flow.mining.reconstruction.histogram import operator_input
from ppdm_flow.mining.releases.attributes import weight_of
from ppdm_flow.requirements.sensitivities.judgement import counted_sql, tally_draws, whose_rows
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext, quoted
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SUPPRESSED_TEXT
from ppdm_flow.tables.counts import weights_of

Floats = npt.NDArray[np.float64]
Bound = tuple[float, float] | None


def figures_sql(
    requirement: Sensitivity, column: str, original: DataView, candidate: DataView, ctx: AuditContext
) -> dict[str, float]:
    """Return the figures of one released column."""
    operator = ctx.operators[column]
    given = operator_input(operator, column, original, ctx)
    seen = _drawn(*given) if given else Counter()
    every = _bounds(requirement, seen, operator.domain)
    rises, falls = [], []
    counted, per_person = _people(operator, column, original, ctx)
    for turn in range(max((len(own) for own in every), default=0)):  # mostly one: several are rare
        pairs = [own[turn] if turn < len(own) else None for own in every]
        upward, downward = _posteriors(operator, pairs, per_person)
        rises += [u - b[1] for u, b in zip(upward, pairs, strict=True) if b]
        falls += [b[0] - d for d, b in zip(downward, pairs, strict=True) if b]
    judged = rises + falls if requirement.directions is Directions.BOTH else rises
    figures: dict[str, float] = {
        "margin": max(judged, default=-1.0),
        "upward_margin": max(rises, default=-1.0),
        "downward_margin": max(falls, default=-1.0),
        **counted,
    }
    if ctx.sql is not None:
        figures["outside_cells"] = _outside(column, operator.domain, candidate, ctx)
    return figures


def _people(
    operator: ValueOperator, column: str, original: DataView, ctx: AuditContext
) -> tuple[dict[str, float], int]:
    """Count the different values of people again, and return for how many of a person the operator is judged."""
    subject = whose_rows(ctx)
    if subject is None:
        return {}, 1
    weighted = original.schema.weight is not None
    counted = {} if weighted else counted_sql(operator, column, subject, original, ctx)
    return counted, max(operator.per_person or 1, int(counted.get("values_per_person", 1)))


def _posteriors(operator: ValueOperator, bounds: Sequence[Bound], per_person: int) -> tuple[list[float], list[float]]:
    if per_person > 1:
        return brute_joint(_rows(operator), bounds, per_person)
    if isinstance(operator, MatrixOperator):
        return brute_posteriors_of_matrix(operator.matrix().tolist(), bounds)
    return brute_posteriors(operator.retention.tolist(), bounds)


def _rows(operator: ValueOperator) -> Iterator[npt.NDArray[np.float64]]:
    """Yield for each released value the probability of each original one to become it."""
    if isinstance(operator, MatrixOperator):
        yield from operator.matrix()
        return
    for j, kept in enumerate(operator.retention):
        row = (1.0 - operator.retention) / operator.size
        row[j] += kept
        yield row


def unreleased_sql(requirement: Sensitivity, original: DataView) -> float:
    """Return the margin of an attribute that is not released: posteriors are the priors themselves."""
    seen = _tally(original, requirement.attribute) if requirement.attribute in original.schema else Counter()
    domain = [v for v, rows in seen.items() if rows and v is not None and v != SUPPRESSED_TEXT]
    written = [(b.r1, b.r2) for b in requirement.bounds]
    bounds = [*written, *chain.from_iterable(_bounds(requirement, seen, domain))]
    return max((low - high for low, high in bounds), default=-1.0)


def _tally(view: DataView, column: str) -> Counter[str | None]:
    """Count the cells of a column from its rows: suppressed as ``⊥``, missing as None."""
    seen: Counter[str | None] = Counter()
    weight = view.schema.weight
    for part in view.partitions((column, weight) if weight else (column,)):
        names = [SUPPRESSED_TEXT, None, *part[column].categories.to_pylist()]
        weights = weights_of(part[weight]) if weight else np.ones(len(part), dtype=np.int64)
        cells = part[column].dense.astype(np.min_scalar_type(len(names)))  # narrow: then a stable sort is a radix sort
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(len(names), dtype=cells.dtype), side="right")
        running = np.concatenate([[0], np.cumsum(weights[order])])
        for name, start, end in zip(names, np.concatenate([[0], ends[:-1]]), ends, strict=True):
            seen[name] += int(running[end] - running[start])
    return seen


def _drawn(view: DataView, column: str) -> Counter[str | None]:
    """Count the cells of a column, where the view has a subject once for each person and value."""
    subject = view.schema.having(Role.SUBJECT)[:1]
    return tally_draws(view, column, subject[0]) if subject and not view.schema.weight else _tally(view, column)


def _bounds(
    requirement: Sensitivity, seen: Counter[str | None], domain: Sequence[str | None]
) -> list[list[tuple[float, float]]]:
    """Return the bounds of each value: its own, or the default."""
    own: dict[str | None, list[tuple[float, float]]] = defaultdict(list)
    for bound in requirement.bounds:
        own[bound.value].append((bound.r1, bound.r2))
    drawn = max(1, sum(seen[value] for value in domain))
    return [own[value] or _default(requirement, seen[value] / drawn) for value in domain]


def _default(requirement: Sensitivity, share: float) -> list[tuple[float, float]]:
    if requirement.tolerance is None:
        return [requirement.fixed] if requirement.fixed is not None else []
    return [(share, requirement.tolerance * share)] if share > 0 and requirement.tolerance * share < 1 else []


def _outside(column: str, domain: Sequence[str | None], candidate: DataView, ctx: AuditContext) -> int:
    """Count the released cells outside the domain, in SQL."""
    texts = [v for v in domain if v is not None]
    missing = "FALSE" if None in domain else "cell IS NULL"
    strange = "cell IS NOT NULL AND cell NOT IN (SELECT UNNEST(?::VARCHAR[]))"
    query = f"""
        SELECT COALESCE(SUM(n), 0) FROM (
            SELECT {quoted(column)} AS cell, {weight_of(candidate.schema)} AS n FROM candidate)
        WHERE {missing} OR cell = '{SUPPRESSED_TEXT}' OR ({strange})"""  # noqa: S608  # identifiers are quoted, values are a parameter
    return int(ctx.sql.rows(query, [texts])[0][0]) if ctx.sql else 0


# The second route to the worst posteriors: every entry of P, in fractions or by blocks of rows.


FRACTIONS = 60
"""The number of values up to which every entry is a fraction."""
_ENTRIES = 4_000_000
_LARGEST = 700.0
"""The logarithm of the largest odds that are told from infinite ones."""


def brute_posteriors(retention: Sequence[float], bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    """Return the highest posteriors from r1 and the lowest from r2 over all released j and other values k.

    ``bounds`` are (r1, r2) or None for each value; a value without has nan.
    """
    if len(retention) == 1:
        return [b[0] if b else math.nan for b in bounds], [b[1] if b else math.nan for b in bounds]
    return _fractions(retention, bounds) if len(retention) <= FRACTIONS else _blocks(retention, bounds)


def brute_posteriors_of_matrix(
    matrix: Sequence[Sequence[float]], bounds: Sequence[Bound]
) -> tuple[list[float], list[float]]:
    """Return the same for a matrix of any form, ``matrix[j][i]`` = Pr[released j | original i]."""
    if len(matrix) == 1:
        return [b[0] if b else math.nan for b in bounds], [b[1] if b else math.nan for b in bounds]
    if len(matrix) <= FRACTIONS:
        return _over_entries([[Fraction(p) for p in row] for row in matrix], bounds)
    return _columns(np.asarray(matrix, dtype=np.float64), bounds)


def brute_joint(matrix: Iterable[Floats], bounds: Sequence[Bound], per_person: int) -> tuple[list[float], list[float]]:
    """Return the same for ``per_person`` draws: the largest ratio of two entries of a row, once for each of them.

    ``matrix`` yields the rows of P, each over all original values.
    """
    worst = 1.0
    for row in matrix:
        least, most = float(row.min()), float(row.max())
        if most > 0.0:
            worst = max(worst, most / least if least > 0.0 else math.inf)
    odds = math.inf if worst == math.inf or per_person * math.log(worst) > _LARGEST else worst**per_person
    upward, downward = [], []
    for bound in bounds:
        low, high = bound or (math.nan, math.nan)
        upward.append(math.nan if bound is None else _raised(low / (1.0 - low) * odds))
        downward.append(math.nan if bound is None else _raised(high / (1.0 - high) / odds))
    return upward, downward


def _raised(odds: float) -> float:
    return 1.0 if odds == math.inf else odds / (1.0 + odds)


def _columns(matrix: Floats, bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    """Look at a value at a time, with the column of every other one beside its own."""
    upward, downward = [math.nan] * len(matrix), [math.nan] * len(matrix)
    for i, bound in enumerate(bounds):
        if bound is not None:
            own, others = matrix[:, i], np.delete(matrix, i, axis=1)
            upward[i] = float(_best(np.float64(bound[0]), own, others.min(axis=1)).max())
            downward[i] = float(_best(np.float64(bound[1]), own, others.max(axis=1)).min())
    return upward, downward


def _fractions(retention: Sequence[float], bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    m = len(retention)
    kept = [Fraction(p) for p in retention]
    return _over_entries([[(kept[i] if i == j else 0) + (1 - kept[i]) / m for i in range(m)] for j in range(m)], bounds)


def _over_entries(matrix: Sequence[list[Fraction]], bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    m = len(matrix)
    upward, downward = [math.nan] * m, [math.nan] * m
    for i, bound in enumerate(bounds):
        if bound is None:
            continue
        low, high = Fraction(bound[0]), Fraction(bound[1])
        rises, falls = [], []
        for row in matrix:
            others = row[:i] + row[i + 1 :]
            rises.append(_posterior(low, row[i], min(others)))
            falls.append(_posterior(high, row[i], max(others)))
        upward[i], downward[i] = float(max(rises)), float(min(falls))
    return upward, downward


def _posterior(prior: Fraction, own: Fraction, other: Fraction) -> Fraction:
    marginal = prior * own + (1 - prior) * other
    return prior * own / marginal if marginal else prior


def _blocks(retention: Sequence[float], bounds: Sequence[Bound]) -> tuple[list[float], list[float]]:
    m = len(retention)
    kept = np.asarray(retention, dtype=np.float64)
    r1 = np.array([b[0] if b else np.nan for b in bounds])
    r2 = np.array([b[1] if b else np.nan for b in bounds])
    upward, downward = np.full(m, -np.inf), np.full(m, np.inf)
    size = max(1, _ENTRIES // m)
    for start in range(0, m, size):
        rows = np.arange(start, min(start + size, m))
        block = np.tile((1.0 - kept) / m, (len(rows), 1))
        block[np.arange(len(rows)), rows] += kept[rows]
        least, most = np.sort(block, axis=1)[:, [0, 1]], np.sort(block, axis=1)[:, [-1, -2]]
        low = np.where(block == least[:, :1], least[:, 1:], least[:, :1])
        high = np.where(block == most[:, :1], most[:, 1:], most[:, :1])
        upward = np.fmax(upward, _best(r1, block, low).max(axis=0))
        downward = np.fmin(downward, _best(r2, block, high).min(axis=0))
    unbound = np.isnan(r1)
    upward[unbound] = downward[unbound] = np.nan
    return upward.tolist(), downward.tolist()


def _best(prior: Floats | np.float64, own: Floats, other: Floats) -> Floats:
    marginal = prior * own + (1 - prior) * other
    with np.errstate(invalid="ignore", divide="ignore"):
        posterior: Floats = np.where(marginal == 0, prior, prior * own / marginal)
    return posterior
