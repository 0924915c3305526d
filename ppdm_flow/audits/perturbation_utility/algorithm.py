"""The utility of a perturbed attribute, for single records and on the whole.

Record utility is the share of records whose released value is the original one: expected, the sum of f_i (p_i + q_i);
realised, counted over pairs (Chaytor and Wang, Definition 3). How well a reader can reconstruct the frequencies has two
figures: aggregate utility is 1 - the mean difference per value (Definition 2), distribution utility 1 - the total
variation distance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.perturbation_utility.spec import PerturbationUtilityParams
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.reconstruction.estimate import nearest, reconstruct_counts
from ppdm_flow.mining.reconstruction.histogram import (
    ValueHistogram,
    given_the_original,
    histogram,
    operator_input,
    places,
)
from ppdm_flow.mining.reconstruction.likelihood import (
    AnyChannel,
    MatrixChannel,
    SingularMatrixError,
    channel_of,
    iterate,
    maximum,
)
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED

NAMES = (
    "expected_record_utility",
    "record_utility",
    "inverse_aggregate_utility",
    "aggregate_utility",
    "inverse_distribution_utility",
    "distribution_utility",
)

TOP = 20

Floats = npt.NDArray[np.float64]

_SINGULAR = "the matrix cannot be inverted: different originals give one and the same release"

_UNPAIRED = "original and released rows cannot be paired"

STILL = 1e-10
"""Log-likelihood for each record that the iteration may leave to be gained."""


def by_inverse(channel: AnyChannel, released: Floats) -> Floats:
    """Solve P f = r for f; the nearest shares that could be where some estimate is negative.

    Values with p = 0 that cannot be told apart share what is left equally.

    Parameters
    ----------
    channel : that of the operator
    released : r of shape (m,), shares that sum to 1

    Returns
    -------
    Shares of shape (m,), not negative, with sum 1.
    """
    return nearest(channel, channel.solve(released), np.asarray(released.sum()))


def by_iteration(channel: AnyChannel, released: Floats, rounds: int, start: Floats | None = None) -> Floats:
    """Return the maximum-likelihood shares by iterative Bayesian reconstruction, from uniform ones or from ``start``.

    f_i becomes f_i times the sum over j of r_j P[j,i] / (P f)_j (Agrawal and Aggarwal, PODS 2001, section 4). It is
    accelerated for a whole matrix, of which nobody knows beforehand where it ends.
    """
    accelerated = isinstance(channel, MatrixChannel)
    return iterate(channel, released, start, rounds, STILL, accelerated=accelerated).counts


def _most_likely(channel: AnyChannel, released: Floats, rounds: int) -> Floats:
    """Return the shares where that iteration ends, begun there or near to it."""
    return by_iteration(channel, released, rounds, maximum(channel, released, channel.solve(released)))


def aggregate_utility(shares: Floats, original: Floats) -> float:
    """Return 1 - (1/m) sum |f' - f| (Definition 2): between 1 - 2/m, for disjoint shares, and 1."""
    return 1.0 - float(np.abs(shares - original).mean())


def distribution_utility(shares: Floats, original: Floats) -> float:
    """Return 1 - total variation distance: 1 for equal shares, 0 for disjoint ones."""
    return 1.0 - 0.5 * float(np.abs(shares - original).sum())


def chart(
    operator: ValueOperator,
    channel: AnyChannel,
    column: str,
    ctx: AuditContext,
    original: Floats,
    released: ValueHistogram,
    reconstructed: Floats,
) -> Chart:
    """Return bars for at most twenty values, the most frequent first; 95 % intervals given the fixed original."""
    order = np.argsort(-original, kind="stable")[:TOP].tolist()
    attribute = source_of(column, ctx)
    low, high = _intervals(channel, released, reconstructed)
    return Chart(
        id=f"{column}.reconstruction",
        title=f"{column}: original, released and reconstructed",
        kind="bars",
        x=tuple(ctx.label(attribute, operator.domain[i], i + 1) for i in order),
        series=(
            FigureSeries("original", _shares(original, order)),
            FigureSeries("released", _shares(released.frequency, order)),
            FigureSeries("reconstructed", _shares(reconstructed, order), _shares(low, order), _shares(high, order)),
        ),
        x_label="value",
        y_label="share of rows",
        note="" if operator.size <= TOP else f"the {TOP} most frequent of {operator.size:,} values",
        group=column,
    )


def _intervals(channel: AnyChannel, released: ValueHistogram, reconstructed: Floats) -> tuple[Floats, Floats]:
    estimates = reconstruct_counts(channel, released.rows)
    total = max(1, released.total)
    return np.minimum(estimates.low / total, reconstructed), np.maximum(estimates.high / total, reconstructed)


def _shares(shares: Floats, order: list[int]) -> tuple[float, ...]:
    return tuple(float(shares[i]) for i in order)


class PerturbationUtilityAudit:
    """Looks at every released column with a known operator; a bare figure is the mean over them.

    Of columns that another step changed row by row (a swap, a recoding) only the realised record utility is known.
    """

    def __init__(self, params: PerturbationUtilityParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return record and aggregate utility for each perturbed column, and pictures of its frequencies."""
        by_column: dict[str, dict[str, Figure]] = {}
        charts: list[Chart] = []
        for column in candidate.schema.names:
            operator = ctx.operators.get(column)
            given = operator_input(operator, column, original, ctx) if operator is not None else None
            if operator is None or given is None:
                continue
            before = histogram(*given, operator.domain)
            after = histogram(candidate, column, operator.domain)
            by_column[column] = {
                NAMES[0]: _share(float(before.frequency @ operator.staying)),
                NAMES[1]: _realised(operator, column, ctx),
            }
            try:
                channel = channel_of(operator)
            except SingularMatrixError:
                by_column[column] |= dict.fromkeys(NAMES[2:], Figure(None, "share", note=_SINGULAR))
                continue
            inverse = by_inverse(channel, after.frequency)
            iterated = _most_likely(channel, after.frequency, self.params.iterations)
            by_column[column] |= {
                NAMES[2]: _share(aggregate_utility(inverse, before.frequency)),
                NAMES[3]: _share(aggregate_utility(iterated, before.frequency)),
                NAMES[4]: _share(distribution_utility(inverse, before.frequency)),
                NAMES[5]: _share(distribution_utility(iterated, before.frequency)),
            }
            charts.append(chart(operator, channel, column, ctx, before.frequency, after, iterated))
        others = {column: {NAMES[1]: _unchanged_share(column, ctx)} for column in _other_columns(candidate, ctx)}
        figures = {f"{c}.{name}": f for c, mine in (*by_column.items(), *others.items()) for name, f in mine.items()}
        return AuditOutcome(figures={**_means(by_column or others), **figures}, charts=tuple(charts))


def _share(value: float) -> Figure:
    return Figure(value, "share")


def _realised(operator: ValueOperator, column: str, ctx: AuditContext) -> Figure:
    if ctx.pairs is None:
        return Figure(None, "share", note=_UNPAIRED)
    if not given_the_original(operator, ctx.attributes.get(column)):
        return Figure(None, "share", note="the attribute was changed before it was perturbed")
    joint = ctx.pairs.joint(source_of(column, ctx), column)
    if joint.total == 0:
        return Figure(None, "share", note="there are no rows")
    mine, theirs = (places(joint, side, operator.domain) for side in ("original", "released"))
    return _share(float(joint.counts[(mine == theirs) & (mine >= 0)].sum() / joint.total))


def _other_columns(candidate: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns without a known operator whose cells a step changed in their rows."""
    changed = ((column, ctx.attributes.get(column)) for column in candidate.schema.names)
    return tuple(
        column
        for column, facts in changed
        if facts is not None
        and facts.changes
        and not facts.was(Change.GENERATED)
        and facts.role is not Role.ITEMS
        and column not in ctx.operators
        and source_of(column, ctx) in ctx.original_attributes
    )


def _unchanged_share(column: str, ctx: AuditContext) -> Figure:
    """Return the share of rows whose released cell is the original one; two missing cells are the same."""
    if ctx.pairs is None:
        return Figure(None, "share", note=_UNPAIRED)
    joint = ctx.pairs.joint(source_of(column, ctx), column)
    if joint.total == 0:
        return Figure(None, "share", note="there are no rows")
    place = {name: code for code, name in enumerate(joint.names("released").to_pylist())}
    released_code = np.array([place.get(name, len(place)) for name in joint.names("original").to_pylist()] + [MISSING])
    same = released_code[joint.of("original")] == joint.of("released")
    return _share(float(joint.counts[same & (joint.of("original") != SUPPRESSED)].sum() / joint.total))


def _means(by_column: dict[str, dict[str, Figure]]) -> dict[str, Figure]:
    """Return each figure's mean over the columns, of those that have it."""
    means: dict[str, Figure] = {}
    for name in NAMES:
        figures = [mine[name] for mine in by_column.values() if name in mine]
        known = [figure.value for figure in figures if figure.value is not None]
        note = figures[0].note if figures else "no attribute with a known operator is released"
        means[name] = _share(float(np.mean(known))) if known else Figure(None, "share", note=note)
    return means
