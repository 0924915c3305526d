"""The corruption attack: what an adversary who knows the true values of some people learns of another person.

A released attribute with a known operator is perturbed record by record; any other one is released in classes of
people who look alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.corruption.spec import CorruptionParams
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.reconstruction.histogram import given_the_original, histogram, operator_input
from ppdm_flow.mining.releases.attributes import released as attributes_released
from ppdm_flow.mining.releases.attributes import source_of, weight_of
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext, quoted
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import Counts

Figures = dict[str, Figure]
Floats = npt.NDArray[np.float64]

WORST = ("worst_posterior", "worst_after_corruption", "certain", "certain_after_corruption", "exposure")
LEAST = ("independence_p",)
Found = dict[str, float | int | None]
Integers = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Attack:
    """One release under attack."""

    params: CorruptionParams
    original: DataView
    candidate: DataView
    ctx: AuditContext

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns that it is about."""
        if self.params.attributes is None:
            return self.candidate.schema.having(Role.SENSITIVE)
        return attributes_released(self.params.attributes, self.candidate, self.ctx)

    @property
    def known(self) -> int | None:
        """How many others the adversary knows, None for all."""
        return None if self.params.corrupted == "all" else self.params.corrupted

    def classes(self, column: str) -> tuple[str, ...]:
        """Return what tells people apart, beside ``column`` itself."""
        return tuple(c for c in self.candidate.schema.having(Role.QUASI_IDENTIFIER) if c != column)


class CorruptionAudit:
    """Looks at every sensitive released column; a bare figure is the worst over them."""

    def __init__(self, params: CorruptionParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the highest posteriors and the share of certain records, without and with corruption."""
        attack = _Attack(self.params, original, candidate, ctx)
        by_column = {column: _measured(attack, column) for column in attack.columns}
        figures = {f"{c}.{name}": figure for c, mine in by_column.items() for name, figure in mine.items()}
        return AuditOutcome(
            figures={**_worst(by_column), **figures},
            findings=tuple(f for c, mine in by_column.items() for f in findings(c, mine, attack.known, ctx)),
            charts=(chart(by_column, attack.known),) if by_column else (),
        )

    def recheck(self, original: DataView, candidate: DataView, ctx: AuditContext) -> Mapping[str, float | int | None]:
        """Compute the posteriors again: in SQL over the released file, or from every entry of the operator."""
        attack = _Attack(self.params, original, candidate, ctx)
        figures: dict[str, float | int | None] = {}
        for column in attack.columns:
            operator = ctx.operators.get(column)
            if operator is None:
                mine = grouped_sql(column, attack.classes(column), attack.known, candidate, ctx)
            else:
                prior = _prior(attack, column, operator)
                mine = perturbed_sql(operator, prior, self.params.sampled, attack.known) if prior is not None else {}
            figures |= {f"{column}.{name}": value for name, value in mine.items()}
        return figures


def _measured(attack: _Attack, column: str) -> Figures:
    operator = attack.ctx.operators.get(column)
    if operator is not None:
        return _perturbed(attack, column, operator)
    classes = attack.classes(column)
    counts = attack.candidate.counts((*classes, column))
    return _of_beliefs(grouped(counts, classes, column, attack.known))


def _of_beliefs(beliefs: Beliefs) -> Figures:
    none = "" if len(beliefs.rows) else "no value is released"
    every = {
        WORST[0]: beliefs.worst(beliefs.before),
        WORST[1]: beliefs.worst(beliefs.after),
        WORST[2]: beliefs.certain(beliefs.before),
        WORST[3]: beliefs.certain(beliefs.after),
    }
    units = ("probability", "probability", "share", "share")
    return {n: Figure(v, unit, note=none) for (n, v), unit in zip(every.items(), units, strict=True)}


def _perturbed(attack: _Attack, column: str, operator: ValueOperator) -> Figures:
    prior = _prior(attack, column, operator)
    if prior is None:
        note = "what the operator was given is not known"
        return {n: Figure(None, "probability", note=note) for n in (*WORST, *LEAST)}
    drawn = attack.params.sampled
    known = drawn - 1 if attack.known is None else attack.known
    before = _highest(operator, prior, drawn, 0)
    after = _highest(operator, prior, drawn, known)
    some = "" if prior.any() else "there are no rows"
    figures = {
        WORST[0]: Figure(float(before.max()) if not some else None, "probability", note=some),
        WORST[1]: Figure(float(after.max()) if not some else None, "probability", note=some),
        WORST[2]: Figure(float(prior[before >= 1.0].sum()), "share"),
        WORST[3]: Figure(float(prior[after >= 1.0].sum()), "share"),
        WORST[4]: _exposure(operator, prior, drawn),
    }
    return figures | {LEAST[0]: _independent(attack, column, operator)}


def _highest(operator: ValueOperator, prior: Floats, drawn: int, known: int) -> Floats:
    if isinstance(operator, MatrixOperator):
        return highest_of_matrix(operator.transition, prior, drawn, known)
    return highest(operator.retention, prior, drawn, known)


def _exposure(operator: ValueOperator, prior: Floats, drawn: int) -> Figure:
    if isinstance(operator, MatrixOperator):
        return Figure(None, "probability", note="a matrix does not say whether a value was kept or drawn again")
    return Figure(exposure(operator.retention, prior, drawn), "probability")


def _independent(attack: _Attack, column: str, operator: ValueOperator) -> Figure:
    ctx = attack.ctx
    source = source_of(column, ctx)
    direct = given_the_original(operator, ctx.attributes.get(column))
    tested = independence(operator, source, column, ctx) if direct else None
    if tested is None:
        return Figure(None, "probability", note="released rows cannot be paired with what the operator was given")
    return Figure(tested.p_value, "probability", sample=tested.rows)


def _prior(attack: _Attack, column: str, operator: ValueOperator) -> Floats | None:
    given = operator_input(operator, column, attack.original, attack.ctx)
    return None if given is None else histogram(*given, operator.domain).frequency


def _worst(by_column: Mapping[str, Figures]) -> Figures:
    """Return each figure's worst value over the columns that have it."""
    worst: Figures = {}
    for name in (*WORST, *LEAST):
        every = [mine[name] for mine in by_column.values() if name in mine and mine[name].value is not None]
        choose = min if name in LEAST else max
        if every:
            worst[name] = choose(every, key=lambda f: f.value or 0.0)
        else:
            unit = "share" if name.startswith("certain") else "probability"
            worst[name] = Figure(None, unit, note="no released attribute has it")
    return worst


# What a corruption attack comes to, in sentences and a picture.


ERROR = 1e-6
"""How often a faithful release is called dependent by chance."""


def findings(column: str, figures: Mapping[str, Figure], known: int | None, ctx: AuditContext) -> Iterator[Finding]:
    """Yield what a reader should know of one column."""
    subject = f"{ctx.release}.{column}"
    tested = figures.get("independence_p")
    if tested is not None and tested.value is not None and tested.value < ERROR:
        text = (
            f"released values of `{column}` depend on the values of other rows: chance alone does this less than once"
            " in a million times. A reader who knows the others learns more than the operator allows"
        )
        yield Finding("PPF851", Severity.ERROR, text, subject)
    before, after = (figures[n].value for n in ("certain", "certain_after_corruption"))
    if before is not None and after is not None and after > before:
        text = (
            f"`{column}`: knowing the true value of {_others(known)} in a person's class makes the value certain for"
            f" {after:.2%} of the records; without it, for {before:.2%}"
        )
        yield Finding("PPF850", Severity.WARNING, text, subject)


def chart(by_column: Mapping[str, Mapping[str, Figure]], known: int | None) -> Chart:
    """Return the highest posteriors of every column, without and with corruption."""

    def series(label: str, name: str) -> FigureSeries:
        return FigureSeries(label, tuple(float(mine[name].value or 0.0) for mine in by_column.values()))

    return Chart(
        id="posteriors",
        title="What knowing others reveals",
        kind="bars",
        x=tuple(by_column),
        series=(
            series("knowing nobody else", "worst_posterior"),
            series(f"knowing {_others(known)}", "worst_after_corruption"),
        ),
        x_label="attribute",
        y_label="highest probability of a person's value",
        note="perturbed record by record: the same for any others; in classes: by the values that are left",
    )


def _others(known: int | None) -> str:
    if known is None:
        return "all others"
    return "one other person" if known == 1 else f"{known} other people"


# The second route: classes counted in SQL over the released file; every entry of the operator, one by one.


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
        "worst_posterior": _highest_sql(matrix, f, sampled, 0),
        "worst_after_corruption": _highest_sql(matrix, f, sampled, most),
    }


def _highest_sql(matrix: list[list[float]], prior: list[float], sampled: int, known: int) -> float:
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


# What corruption reveals: of records that are each perturbed, and of values released as they are in classes.
#
# A released value depends on its own record's value and its own draw alone, so with independent records Pr[x_t | all
# released values, all other true values] = Pr[x_t | y_t]: knowing the others changes nothing, even for an adversary who
# knows which row is the target's. That is what is computed here.
#
# Where each released row was drawn from k records (perturbed generalization), the adversary does not know whose it is.
# Knowing others makes it likelier that it is the target's: with y released and c others known, whose values are
# released as y with probability u each, it is the target's with h = Pr[y] / ((k - c) Pr[y] + c u), and the posterior is
# h Pr[x | y] + (1 - h) Pr[x]. The worst case takes the smallest u of row y of the operator. (The argument of Tao et
# al., ICDE 2008, section 5, for any retention probabilities.)
#
# Corruption where sensitive values are released as they are, in classes of people who look alike. The adversary knows
# who is in a class, its released values, and the true values of c of the others. Within a class of n rows, n_s of them
# with value s, the target has s with probability n_s / n; without c others who have other values, with n_s / (n - c),
# and certainly where n - n_s <= c. A suppressed or missing cell says nothing of its person, and counts among the
# others. Missing and suppressed quasi-identifiers are values of their own: the smallest classes that an adversary can
# tell apart.


_ENTRIES = 4_000_000


def highest(retention: Floats, prior: Floats, sampled: int = 1, known: int = 0) -> Floats:
    """Return the highest posterior of each value over all released ones, shape (m,).

    ``retention`` p and ``prior`` have shape (m,); ``sampled`` is k >= 1, ``known`` is c, of the k - 1 others at most.
    Linear in m for k = 1, else quadratic.
    """
    leave = (1.0 - retention) / len(retention)
    keep = retention + leave
    out = retention * prior + float(leave @ prior)
    base = _base(leave, keep, out, sampled, min(known, sampled - 1))
    own = _over(prior * (keep - out), base)
    best = prior + np.maximum(own, _perturbed_others(leave, prior, out, base, sampled))
    return np.where(prior > 0, np.clip(best, 0.0, 1.0), 0.0)


def highest_of_matrix(transition: Floats, prior: Floats, sampled: int = 1, known: int = 0) -> Floats:
    """Return the same for a matrix R of shape (m, m), R[i, j] = Pr[released j | original i]; quadratic in m."""
    out = prior @ transition
    corrupted = min(known, sampled - 1)
    shown = out > 0
    base = (sampled - corrupted) * out[shown] + corrupted * transition.min(axis=0)[shown]
    gain = ((transition - out)[:, shown] / base).max(axis=1, initial=-1.0)
    return np.where(prior > 0, np.clip(prior + prior * gain, 0.0, 1.0), 0.0)


def exposure(retention: Floats, prior: Floats, sampled: int = 1) -> float:
    """Return the highest probability with which a release shows a person's own value because it was kept: p / k."""
    return float(retention[prior > 0].max(initial=0.0)) / sampled


def _base(leave: Floats, keep: Floats, out: Floats, sampled: int, known: int) -> Floats:
    """Return (k - c) Pr[y] + c u for each released y, shape (m,): inf for those that cannot be released."""
    least = np.minimum(keep, _least_other(leave)) if len(leave) > 1 else keep
    base = (sampled - known) * out + known * least
    return np.where(out > 0, base, np.inf)


def _perturbed_others(leave: Floats, prior: Floats, out: Floats, base: Floats, sampled: int) -> Floats:
    """Return the most that another released value adds to each prior: max over y of f (q - Pr[y]) / base."""
    m = len(prior)
    if m == 1:
        return np.full(1, -np.inf)
    largest = np.full(m, -np.inf)
    if sampled == 1:  # then base is Pr[y]: the rarest tells most
        first, second = np.argsort(np.where(out > 0, out, np.inf), kind="stable")[:2]
        rare = np.where(np.arange(m) == first, second, first)
        return _over(prior * (leave - out[rare]), base[rare])
    step = max(1, _ENTRIES // m)
    for start in range(0, m, step):
        i = np.arange(start, min(start + step, m))
        block = prior[i, None] * (leave[i, None] - out) / base
        block[np.arange(len(i)), i] = -np.inf
        largest[i] = block.max(axis=1)
    return largest


def _least_other(values: Floats) -> Floats:
    """Return for each place the smallest value in another place."""
    first = int(values.argmin())
    out = np.full(len(values), values[first])
    out[first] = np.delete(values, first).min()
    return out


def _over(part: Floats, divisor: Floats) -> Floats:
    """Divide; a value that cannot be released (inf) tells nothing of any other."""
    ratio: Floats = np.where(np.isinf(divisor), -np.inf, part / np.where(np.isinf(divisor), 1.0, divisor))
    return ratio


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """``rows`` (b,) records whose value gets the posterior ``before``, and ``after`` corruption; of ``total``."""

    rows: Integers
    before: Floats
    after: Floats
    total: int

    def worst(self, which: Floats) -> float | None:
        """Return the highest posterior, None without any."""
        return float(which.max()) if len(which) else None

    def certain(self, which: Floats) -> float | None:
        """Return the share of all records whose value is known for sure, None without records."""
        return float(self.rows[which >= 1.0].sum() / self.total) if self.total else None


def grouped(counts: Counts, classes: tuple[str, ...], sensitive: str, corrupted: int | None) -> Beliefs:
    """Return the beliefs in every (class, value); ``corrupted`` is None for all others. Linear in the combinations."""
    kept = counts.counts > 0
    group, number = counts.groups(classes)
    sizes = np.zeros(number, dtype=np.int64)
    np.add.at(sizes, group[kept], counts.counts[kept])
    shown = kept & (counts.of(sensitive) >= 0)
    own, size = counts.counts[shown], sizes[group[shown]]
    known = size - own if corrupted is None else np.minimum(corrupted, size - own)
    return Beliefs(own, own / size, own / (size - known), int(sizes.sum()))


# Whether released values depend on the values of other records: measured on pairs of original and released rows.
#
# Given all original values, a faithful operator draws each row for itself. So whether a row keeps its value says
# nothing of whether the next one does, and a row takes the next one's original value as often as the operator says.
# Both are tested with Bennett's bound (Freedman's for the products, which are martingale differences), valid for any
# number of rows.


@dataclass(slots=True)
class NeighbourDependence:
    """Deviations from what is expected and their largest variances: of kept neighbours, of the neighbour's value."""

    kept: float = 0.0
    kept_variance: float = 0.0
    taken: float = 0.0
    taken_variance: float = 0.0
    rows: int = 0

    @property
    def p_value(self) -> float:
        """The probability of deviations as large as these; Bonferroni over the two."""
        both = (_tail(self.kept, self.kept_variance), _tail(self.taken, self.taken_variance))
        return min(1.0, 2.0 * min(both))


def independence(operator: ValueOperator, source: str, column: str, ctx: AuditContext) -> NeighbourDependence | None:
    """Compare every row with the next; None where rows cannot be paired or hold values the operator does not know."""
    if ctx.pairs is None:
        return None
    dependence = NeighbourDependence()
    for original, released in _neighbours(operator, source, column, ctx):
        if (original < 0).any() or (released < 0).any():
            return None
        _compare(operator, original, released, dependence)
    return dependence


def _neighbours(
    operator: ValueOperator, source: str, column: str, ctx: AuditContext
) -> Iterator[tuple[Places, Places]]:
    """Yield places in the domain, each partition with the last row of the one before it."""
    if ctx.pairs is None:
        return
    last = (np.zeros(0, dtype=np.int64),) * 2
    for left, right in ctx.pairs.pairs([source], [column]):
        original = np.concatenate([last[0], _places(left[source], operator)])
        released = np.concatenate([last[1], _places(right[column], operator)])
        yield original, released
        last = (original[-1:], released[-1:])


def _compare(operator: ValueOperator, original: Places, released: Places, dependence: NeighbourDependence) -> None:
    if len(original) < 2:
        return
    chance = operator.staying[original]
    off = (original == released) - chance
    spread = chance * (1.0 - chance)
    dependence.kept += float(off[:-1] @ off[1:])
    dependence.kept_variance += float(np.maximum(chance[:-1], 1.0 - chance[:-1]) ** 2 @ spread[1:])
    mine, next_one = original[:-1], original[1:]
    expected = _chance(operator, mine, next_one)
    dependence.taken += float((released[:-1] == next_one).sum() - expected.sum())
    dependence.taken_variance += float((expected * (1.0 - expected)).sum())
    dependence.rows += len(mine)


def _chance(operator: ValueOperator, original: Places, released: Places) -> npt.NDArray[np.float64]:
    """Return Pr[released | original] of each pair of places."""
    if isinstance(operator, MatrixOperator):
        return operator.transition[original, released]
    leave = (1.0 - operator.retention) / operator.size
    return np.where(original == released, operator.staying[original], leave[original])


def _places(column: Column, operator: ValueOperator) -> Places:
    """Return the place of each cell in the operator's domain, -1 outside of it."""
    of_value = {value: i for i, value in enumerate(operator.domain)}
    table = np.full(len(column.categories) + SPECIALS, -1, dtype=np.int64)
    table[SPECIALS + MISSING] = of_value.get(None, -1)
    table[SPECIALS:] = [of_value.get(name, -1) for name in column.categories.to_pylist()]
    return table[column.codes + SPECIALS]


def _tail(deviation: float, variance: float) -> float:
    """Return Bennett's bound of a two-sided tail of a sum of terms of at most 1; exact where nothing is random."""
    if variance <= 1e-9:
        return 0.0 if abs(deviation) > 1e-6 else 1.0
    ratio = abs(deviation) / variance
    return min(1.0, 2.0 * math.exp(-variance * ((1.0 + ratio) * math.log1p(ratio) - ratio)))
