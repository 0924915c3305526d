"""The judgement of one requirement on one released column: margins, and facts that contradict them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import special

from ppdm_flow.core.roles import Directions, Role
from ppdm_flow.mining.reconstruction.histogram import Domain, ValueHistogram, operator_input, places, places_of, tally
from ppdm_flow.requirements.sensitivities.fit import BytesCheck, JointCounts
from ppdm_flow.requirements.sensitivities.replay import Replay
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.requirements.sensitivities.value_bounds import value_bounds
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import concat

Floats = npt.NDArray[np.float64]

NO_BOUND = -1.0
"""The margin where no value is bounded: no posterior can lie further below its limit."""
Places = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorJudgement:
    """``posteriors`` (b,) over all priors, in step with ``bounds``; ``at_prior`` (m,) of each value at the data's own.

    A value with several bounds has as many rows: each must hold. ``doubt`` says why the operator cannot be relied on,
    or is empty; then ``bytes_check`` is what the bytes say. ``observed`` are the posteriors counted over pairs,
    ``replayed`` what the policy's own seed gives away. ``drawn`` are the draws of people, where they have several rows,
    and ``per_person`` for how many different values of one it is judged.
    """

    requirement: Sensitivity
    column: str
    domain: Domain
    frequency: Floats
    bounds: PosteriorBounds
    posteriors: PosteriorRange
    at_prior: PosteriorRange
    amplification: float
    doubt: str
    bytes_check: BytesCheck
    observed: ObservedHits | None = None
    replayed: Replay | None = None
    drawn: PersonDraws | None = None
    per_person: int = 1

    @property
    def upward(self) -> Floats:
        """The margin posterior - r2 of each bound, shape (b,); -1 where there is none."""
        return np.where(self.bounds.judged, np.nan_to_num(self.posteriors.upward - self.bounds.r2), NO_BOUND)

    @property
    def downward(self) -> Floats:
        """The margin r1 - posterior of each bound, shape (b,); -1 where there is none."""
        return np.where(self.bounds.judged, np.nan_to_num(self.bounds.r1 - self.posteriors.downward), NO_BOUND)

    @property
    def margins(self) -> Floats:
        """The margin that each bound is judged by."""
        if self.requirement.directions is Directions.UPWARD:
            return self.upward
        return np.maximum(self.upward, self.downward)

    @property
    def margin(self) -> float:
        """The worst margin; the requirement holds at most at 0."""
        return float(self.margins.max(initial=NO_BOUND))

    @property
    def worst_upward(self) -> float | None:
        """The highest posterior under the bound with the worst upward margin."""
        return float(self.posteriors.upward[self.upward.argmax()]) if self.bounds.judged.any() else None

    @property
    def worst_downward(self) -> float | None:
        """The lowest posterior under the bound with the worst downward margin."""
        return float(self.posteriors.downward[self.downward.argmax()]) if self.bounds.judged.any() else None

    @property
    def gamma(self) -> Floats:
        """Gamma of each value's strictest bound, shape (m,) (Chaytor and Wang, equation 5); inf without a bound."""
        out, judged = np.full(len(self.domain), np.inf), self.bounds.judged
        r1, r2 = self.bounds.r1[judged], self.bounds.r2[judged]
        np.minimum.at(out, self.bounds.values[judged], r2 * (1.0 - r1) / (r1 * (1.0 - r2)))
        return out

    @property
    def fault(self) -> str:
        """Why the requirement cannot be verified, or nothing."""
        return self.doubt or self.bytes_check.fault

    @property
    def bounded(self) -> npt.NDArray[np.int64]:
        """The places of the values that have a bound, each once, ascending."""
        return np.unique(self.bounds.values[self.bounds.judged])


# From a requirement to all (r1, r2) that a release is judged by.


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorBounds:
    """``r1`` and ``r2`` (b,), nan where there is none; ``place`` (b,) of their values in the domain.

    Without ``place`` there is one row for each value, in order. ``known_too_well`` are the places of values that are
    more frequent than an r2 that is about everyone.
    """

    r1: Floats
    r2: Floats
    place: Places | None = None
    known_too_well: Places = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def judged(self) -> npt.NDArray[np.bool_]:
        """Which rows are bounds, shape (b,)."""
        return ~np.isnan(self.r1)

    @property
    def values(self) -> Places:
        """The place of each row's value, shape (b,)."""
        return np.arange(len(self.r1)) if self.place is None else self.place


def bounds(requirement: Sensitivity, domain: Domain, frequency: Floats) -> PosteriorBounds:
    """Return every bound of every value: its own, or the default, or none.

    A value that does not occur is not bounded by a tolerance: its r1 and r2 are 0, and no prior can be lower.
    """
    every = value_bounds(requirement, domain, frequency)
    some = every.r1 > 0
    return PosteriorBounds(every.r1[some], every.r2[some], every.place[some], every.known_too_well(frequency))


# The worst posteriors of a fine-grain operator, over all priors and at one prior, in linear time.
#
# P = diag(p) + 1 q^T with q = (1 - p)/m: a row j of P is q with d_j = p_j + q_j in place j. So the smallest and the
# largest entry of a row, one column left out, follow from the two smallest q and the two largest d.


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorRange:
    """``upward``: the highest posterior of each value, or under each bound; ``downward``: the lowest; nan for none."""

    upward: Floats
    downward: Floats


def worst_posteriors(retention: Floats, bounds: PosteriorBounds) -> PosteriorRange:
    """Return the worst posteriors under each bound, over all priors of at most r1 (upward), at least r2 (downward).

    Upward: max over j of r1 P[j,i] / (r1 P[j,i] + (1-r1) min over k≠i of P[j,k]), reached at j = i, since no entry
    of column i is larger than the diagonal one and the minimum over k≠i of row i is that over q. Downward: min over
    j of r2 P[j,i] / (r2 P[j,i] + (1-r2) max over k≠i of P[j,k]), reached at the j≠i with the largest diagonal entry.
    The worst prior puts the rest on that k. A single value has no other to be confused with: its posterior is its
    prior.
    """
    leave, keep = _entries(retention)
    if len(retention) == 1:
        return PosteriorRange(bounds.r1.copy(), bounds.r2.copy())
    rarest, commonest = -_largest_other(-leave), _largest_other(keep)
    i = bounds.values
    return PosteriorRange(_bayes(bounds.r1, keep[i], rarest[i]), _bayes(bounds.r2, leave[i], commonest[i]))


@dataclass(frozen=True, slots=True, eq=False)
class TellingValues:
    """For each value (m,): the released value after which it is likeliest at a prior, and that posterior."""

    released: npt.NDArray[np.int64]
    posterior: Floats


def most_telling(retention: Floats, prior: Floats) -> TellingValues:
    """Return what tells most of each value: the value itself, or the rarest other released one."""
    leave, keep = _entries(retention)
    out = retention * prior + float(leave @ prior)
    own = _share(prior * keep, out)
    place = np.arange(len(retention))
    if len(retention) == 1:
        return TellingValues(place, own)
    rarest = np.argsort(np.where(out > 0, out, np.inf), kind="stable")[:2]
    other = np.where(place == rarest[0], rarest[1], rarest[0])
    from_other = np.where(out[other] > 0, _share(prior * leave, out[other]), 0.0)
    better = from_other > own
    return TellingValues(np.where(better, other, place), np.where(better, from_other, own))


def posteriors_at(retention: Floats, prior: Floats) -> PosteriorRange:
    """Return the highest and the lowest posterior of each value over all released values, at one ``prior`` (m,)."""
    leave, keep = _entries(retention)
    out = retention * prior + float(leave @ prior)  # Pr[released j]
    own = _share(prior * keep, out)
    if len(retention) == 1:
        return PosteriorRange(own, own)
    rarest = -_largest_other(-np.where(out > 0, out, np.inf))
    commonest = _largest_other(out)  # 0 where no other value can be released
    lowest = np.where(commonest > 0, _share(prior * leave, commonest), np.inf)
    return PosteriorRange(np.maximum(own, _share(prior * leave, rarest)), np.minimum(own, lowest))


def amplification(retention: Floats) -> float:
    """Return the largest ratio of two entries of a row of P: at least 1, infinite where an entry is 0."""
    if len(retention) == 1:
        return 1.0
    leave, keep = _entries(retention)
    high = np.maximum(keep, _largest_other(leave))
    low = np.minimum(keep, -_largest_other(-leave))
    return float("inf") if low.min() == 0 else float((high / low).max())


def _entries(retention: Floats) -> tuple[Floats, Floats]:
    """Return q (off the diagonal) and d (on it), shape (m,) each."""
    leave = (1.0 - retention) / len(retention)
    return leave, retention + leave


def _largest_other(values: Floats) -> Floats:
    """Return for each place the largest value in another place, for at least two places."""
    first = int(values.argmax())
    others = np.delete(values, first)
    out = np.full(len(values), values[first])
    out[first] = others.max()
    return out


def _bayes(prior: Floats, own: Floats, other: Floats) -> Floats:
    """Return the posterior where the value is released so with ``own`` and any other with ``other``."""
    weighed = prior * own
    return _share(weighed, weighed + (1.0 - prior) * other)


def _share(part: Floats, total: Floats) -> Floats:
    known = total != 0
    return np.divide(part, total, out=np.where(np.isnan(total), np.nan, np.zeros(len(part))), where=known)


# Posteriors counted over (original, released) pairs, beside those that the operator predicts at the data's own prior.
#
# For each bounded value x, and the released value y that by the operator tells most of it: among the rows released as
# y, the share whose original is x. Which y is looked at follows from the operator and not from the rows, so the
# interval is not one of a largest among many. Exact intervals (Clopper and Pearson 1934), for all values together at
# the stated level (Bonferroni); they are exact for rows drawn from a population, and too wide rather than too narrow
# where the original table is held fixed.


LEVEL = 0.95
"""The probability that all intervals of a column cover together."""


@dataclass(frozen=True, slots=True, eq=False)
class ObservedHits:
    """``values`` (v,) are places of bounded values; ``hits`` of ``trials`` rows released as the telling value have it.

    ``share`` is nan where there is no such row; ``low`` and ``high`` are the ends of its interval.
    """

    values: Places
    predicted: Floats
    hits: Places
    trials: Places
    low: Floats
    high: Floats

    @property
    def share(self) -> Floats:
        """The measured posteriors, shape (v,)."""
        share: Floats = np.divide(self.hits, self.trials, out=np.full(len(self.trials), np.nan), where=self.trials > 0)
        return share

    @property
    def outside(self) -> int:
        """How many intervals do not cover what is predicted."""
        slack = 1e-12
        return int(((self.predicted < self.low - slack) | (self.predicted > self.high + slack)).sum())

    @property
    def most(self) -> int | None:
        """The position of the value with the highest predicted posterior, if any row shows it."""
        seen = np.flatnonzero(self.trials > 0)
        return int(seen[self.predicted[seen].argmax()]) if len(seen) else None


def observe(worst: TellingValues, joint: JointCounts, values: Places) -> ObservedHits:
    """Count the posteriors of ``values`` over the pairs, after the released values that tell most of them."""
    shown = worst.released[values]
    m = len(worst.released)
    released = np.zeros(m, dtype=np.int64)
    np.add.at(released, joint.released, joint.rows)
    trials = released[shown]
    hits = _look_up_rows(joint, values * m + shown, m)
    low, high = clopper_pearson(hits, trials, (1.0 - LEVEL) / max(1, len(values)))
    return ObservedHits(values, worst.posterior[values], hits, trials, low, high)


def clopper_pearson(hits: Places, trials: Places, error: float) -> tuple[Floats, Floats]:
    """Return the ends of exact intervals for ``hits`` of ``trials``, each missing with probability at most ``error``.

    >>> [round(float(end[0]), 4) for end in clopper_pearson(np.array([3]), np.array([10]), 0.05)]
    [0.0667, 0.6525]
    """
    some = (hits > 0, hits < trials)
    low, high = np.zeros(len(hits)), np.ones(len(hits))
    low[some[0]] = special.betaincinv(hits[some[0]], trials[some[0]] - hits[some[0]] + 1, error / 2)
    high[some[1]] = special.betainccinv(hits[some[1]] + 1, trials[some[1]] - hits[some[1]], error / 2)
    return low, high


def _look_up_rows(joint: JointCounts, wanted: Places, size: int) -> Places:
    """Return the rows of the pairs with these keys (original times m plus released)."""
    keys = joint.original * size + joint.released
    order = np.argsort(keys)
    at = np.searchsorted(keys[order], wanted)
    inside = at < len(keys)
    out = np.zeros(len(wanted), dtype=np.int64)
    row = order[at[inside]]
    out[inside] = np.where(keys[row] == wanted[inside], joint.rows[row], 0)
    return out


# Where a person has several rows: what was drawn for it, one draw for each of its different values.


MERGED = "its operator drew by a column that does not tell people apart as the source does, so that people share draws"
UNTRACED = "released rows cannot be traced to the people whose they are"


@dataclass(frozen=True, slots=True, eq=False)
class PersonRows:
    """Each released row: ``person``, the ``value`` that the operator was given, and the ``released`` one.

    Persons are numbered, values are places in the operator's domain, -1 outside of it; all of shape (rows,). ``merged``
    says that the operator drew by a column that does not tell the same people apart as the source does.
    """

    person: Integers
    value: Integers
    released: Integers
    merged: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PersonDraws:
    """``joint`` are the draws, each counted once: (person, value) beside what was released for it.

    ``most`` is the largest number of different values of a person; ``unequal`` the number of (person, value) whose
    rows were released with different values, each of which enters ``joint``; ``repeated`` says whether any has several
    rows at all. ``fault`` says why nothing is known, or is empty.
    """

    fault: str = ""
    joint: JointCounts | None = None
    released: Integers | None = None
    most: int = 1
    unequal: int = 0
    repeated: bool = False


def whose_rows(ctx: AuditContext) -> str | None:
    """Return the attribute of the source that says whose row it is; None where rows are people."""
    return next((name for name, a in ctx.original_attributes.items() if a.role is Role.SUBJECT), None)


def person_draws(
    operator: ValueOperator, column: str, subject: str, original: DataView, ctx: AuditContext
) -> PersonDraws:
    """Find the draws behind the released ``column``: one for each person and different value."""
    if original.schema.weight is not None:
        return PersonDraws("a row with a weight represents several people, whose draws cannot be told apart")
    rows = person_rows(operator, column, subject, original, ctx)
    if rows is None or (rows.value < 0).any():
        return PersonDraws(UNTRACED)
    drawn = draws_among(rows, operator.size)
    return replace(drawn, fault=MERGED) if rows.merged else drawn


def shares_before(view: DataView, name: str, before: ValueHistogram, domain: Domain) -> Floats:
    """Return the shares of the values in the table that an operator was given, shape (m,): its draws, counted once.

    ``before`` are its rows, each of which is a draw where the table has no subject.
    """
    subject = view.schema.having(Role.SUBJECT)[:1]
    if not subject or view.schema.weight is not None:
        return before.frequency
    pairs = view.counts((subject[0], name))
    return tally(places(pairs, name, domain), np.ones(len(pairs), dtype=np.int64), len(domain)).frequency


def person_rows(
    operator: ValueOperator, column: str, subject: str, original: DataView, ctx: AuditContext
) -> PersonRows | None:
    """Return the released rows with the people of the source; None where a row's person or value is not known."""
    given = operator_input(operator, column, original, ctx)
    if given is None or ctx.pairs is None or subject not in original.schema:
        return None
    both = list(ctx.pairs.pairs([subject], [column]))
    if not both:
        return None
    left, right = (concat(side) for side in zip(*both, strict=True))
    drew_by = given[0].schema.having(Role.SUBJECT)[:1]
    before = concat(given[0].partitions([given[1], *drew_by]))
    order = np.argsort(before.rows, kind="stable")
    at = np.minimum(np.searchsorted(before.rows[order], left.rows), max(0, len(order) - 1))
    person = left[subject].codes.astype(np.int64)
    if not len(order) or (before.rows[order[at]] != left.rows).any() or (person < 0).any():
        return None
    merged = operator.per_person is not None
    if merged and drew_by:
        merged = not _same_people(person, before[drew_by[0]].codes[order[at]].astype(np.int64))
    value = places_of(before[given[1]], operator.domain)[order[at]]
    return PersonRows(person, value, places_of(right[column], operator.domain), merged)


def _same_people(mine: Integers, theirs: Integers) -> bool:
    """Whether two codings of the rows tell the same people apart; none of either is negative."""
    if theirs.min() < 0:
        return False
    both = len(np.unique(mine * (theirs.max() + 1) + theirs))
    return both == len(np.unique(mine)) == len(np.unique(theirs))


def draws_among(rows: PersonRows, size: int) -> PersonDraws:
    """Count rows of one person with equal values once, for a domain of ``size`` values; there is a row at least."""
    order = np.lexsort((rows.released, rows.value, rows.person))
    person, value, released = rows.person[order], rows.value[order], rows.released[order]
    other = (person[1:] != person[:-1]) | (value[1:] != value[:-1])
    first = np.concatenate([[True], other])
    drawn = np.concatenate([[True], other | (released[1:] != released[:-1])])
    pair = np.cumsum(first) - 1
    unequal = int((np.bincount(pair[drawn]) > 1).sum())
    keys, counts = np.unique((value[drawn] + 1) * (size + 1) + released[drawn] + 1, return_counts=True)
    joint = JointCounts(keys // (size + 1) - 1, keys % (size + 1) - 1, counts.astype(np.int64))
    most = int(np.bincount(person[first]).max())
    return PersonDraws("", joint, rows.released, most, unequal, bool(len(person) > first.sum()))


def counted_sql(
    operator: ValueOperator, column: str, subject: str, original: DataView, ctx: AuditContext
) -> dict[str, float]:
    """Count in SQL how many different values a person has, and for how many of these different ones were released."""
    given = operator_input(operator, column, original, ctx)
    if ctx.sql is None or ctx.pairs is None or given is None or subject not in original.schema:
        return {}
    both = list(ctx.pairs.pairs([subject], [column]))
    parts = list(given[0].partitions([given[1]]))
    if not both or not parts:
        return {}
    people = pa.concat_tables(
        pa.table({"n": left.rows, "person": _texts(left[subject]), "shown": _texts(right[column])})
        for left, right in both
    )
    values = pa.concat_tables(pa.table({"n": part.rows, "value": _texts(part[given[1]])}) for part in parts)
    texts = [v for v in operator.domain if v is not None]
    stranger = "value NOT IN (SELECT UNNEST(?::VARCHAR[]))"
    if None not in operator.domain:
        stranger = f"value IS NULL OR {stranger}"
    query = f"""
        SELECT MAX(different), SUM(unequal), SUM(untraced) FROM (
            SELECT person, COUNT(*) AS different, SUM(CASE WHEN shown > 1 THEN 1 ELSE 0 END) AS unequal,
                SUM(untraced) AS untraced FROM (
                SELECT person, value, COUNT(DISTINCT COALESCE('=' || shown, '-')) AS shown,
                    SUM(CASE WHEN person IS NULL OR given.n IS NULL OR {stranger} THEN 1 ELSE 0 END) AS untraced
                FROM people LEFT JOIN given ON people.n = given.n GROUP BY person, value)
            GROUP BY person)"""  # noqa: S608  # our own words, values are a parameter
    most, unequal, untraced = ctx.sql.rows(query, [texts], tables={"people": people, "given": values})[0]
    return {} if untraced else {"values_per_person": int(most), "unequal_draws": int(unequal)}


def tally_draws(view: DataView, name: str, subject: str) -> Counter[str | None]:
    """Count by Arrow how many different people have each value; a missing value is None."""
    parts = (pa.table({"p": _texts(t[subject]), "v": _texts(t[name])}) for t in view.partitions((subject, name)))
    pairs = pa.concat_tables(parts).group_by(["p", "v"]).aggregate([])
    counted = pairs.group_by("v").aggregate([("v", "count", pc.CountOptions(mode="all"))])
    return Counter(dict(zip(counted["v"].to_pylist(), counted["v_count"].to_pylist(), strict=True)))


def _texts(column: Column) -> pa.StringArray:
    """Return the cells as texts; what is missing or suppressed is null."""
    codes = column.codes
    return column.categories.take(pa.array(np.maximum(codes, 0), mask=codes < 0))
