"""Judges a requirement on a released column."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import Change
from ppdm_flow.mining.reconstruction.histogram import (
    ValueHistogram,
    given_the_original,
    histogram,
    operator_input,
    tally,
)
from ppdm_flow.requirements.sensitivities import judgement
from ppdm_flow.requirements.sensitivities.fit import BytesCheck, check_bytes, check_pairs
from ppdm_flow.requirements.sensitivities.judgement import (
    UNTRACED,
    ObservedHits,
    PersonDraws,
    PosteriorBounds,
    PosteriorJudgement,
    PosteriorRange,
    TellingValues,
    bounds,
    observe,
    person_draws,
    shares_before,
    whose_rows,
)
from ppdm_flow.requirements.sensitivities.replay import replay
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def judge(
    requirement: Sensitivity, column: str, original: DataView, candidate: DataView, ctx: AuditContext, error: float
) -> PosteriorJudgement | None:
    """Judge one released column; None where no operator is known for it."""
    operator = ctx.operators.get(column)
    if operator is None:
        return None
    given = operator_input(operator, column, original, ctx)
    doubt = _doubt(operator, column, ctx)
    if given is None:
        doubt = doubt or "what the operator was given is not known"
    before = histogram(given[0], given[1], operator.domain) if given else ValueHistogram(_nothing(operator))
    frequency = before.frequency if given is None else shares_before(given[0], given[1], before, operator.domain)
    bound = bounds(requirement, operator.domain, frequency)
    direct = given_the_original(operator, ctx.attributes.get(column))
    subject = whose_rows(ctx)
    drawn = None if subject is None else person_draws(operator, column, subject, original, ctx)
    per_person = 1 if drawn is None else max(operator.per_person or 1, drawn.most)
    if doubt:
        check = BytesCheck("", outside=histogram(candidate, column, operator.domain).outside)
    elif drawn is not None:
        check = check_people(operator, column, before, candidate, drawn, error)
    else:
        check = check_bytes(operator, column, before, candidate, ctx, error)
    return PosteriorJudgement(
        requirement=requirement,
        column=column,
        domain=operator.domain,
        frequency=frequency,
        bounds=bound,
        posteriors=worst_posteriors(operator, bound, per_person),
        at_prior=posteriors_at(operator, frequency),
        amplification=amplification(operator),
        doubt=doubt,
        bytes_check=check,
        observed=_observed(operator, frequency if drawn is None else _shares(operator, drawn), bound, check),
        replayed=replay(operator, column, original, candidate, ctx) if direct else None,
        drawn=drawn,
        per_person=per_person,
    )


def _observed(operator: ValueOperator, prior: Floats, bound: PosteriorBounds, check: BytesCheck) -> ObservedHits | None:
    values = np.unique(bound.values[bound.judged])
    if check.joint is None or not len(values):
        return None
    return observe(most_telling(operator, prior), check.joint, values)


def _shares(operator: ValueOperator, drawn: PersonDraws) -> Floats:
    """Return the shares of the values among the draws of people, shape (m,)."""
    if drawn.joint is None:
        return ValueHistogram(_nothing(operator)).frequency
    return tally(drawn.joint.original, drawn.joint.rows, operator.size).frequency


def _nothing(operator: ValueOperator) -> Integers:
    return np.zeros(operator.size, dtype=np.int64)


def _doubt(operator: ValueOperator, column: str, ctx: AuditContext) -> str:
    """Say why the operator does not describe the whole way of the attribute, if so."""
    facts = ctx.attributes.get(column)
    if facts is None or not operator.step:
        return ""
    steps = [step for step, _ in facts.changes]
    after = facts.changes[steps.index(operator.step) + 1 :] if operator.step in steps else facts.changes
    others = [change for step, change in after if step != operator.step]
    if any(change is Change.PERTURBED for change in others):
        return "a further step perturbs it, and no operator is known for both together"
    return ""


def check_people(
    operator: ValueOperator, column: str, before: ValueHistogram, candidate: DataView, drawn: PersonDraws, error: float
) -> BytesCheck:
    """Test the draws of people against the operator, at the probability ``error`` of refusing a faithful release."""
    after = histogram(candidate, column, operator.domain)
    if before.outside or after.outside:
        where = "original" if before.outside else "released"
        text = f"{before.outside or after.outside:,} {where} cells hold a value outside the operator's domain"
        return BytesCheck(text, outside=after.outside)
    fault = drawn.fault or _misdrawn(operator, drawn)
    if fault or drawn.joint is None or drawn.released is None:
        return BytesCheck(fault or UNTRACED)
    shown = tally(drawn.released, np.ones(len(drawn.released), dtype=np.int64), operator.size)
    if shown.outside or (drawn.joint.original < 0).any() or not np.array_equal(shown.rows, after.rows):
        return BytesCheck(UNTRACED)
    return check_pairs(operator, drawn.joint, error)


def _misdrawn(operator: ValueOperator, drawn: PersonDraws) -> str:
    """Say how a person's rows tell more than the operator was made for, if they do."""
    if drawn.unequal:
        return (
            f"for {drawn.unequal:,} values of people, rows with that same value were drawn apart: a reader of a"
            " person's rows averages the draws"
        )
    if operator.per_person is None and drawn.repeated:
        return "each row was drawn for itself, and people have several rows with an equal value"
    made_for = operator.per_person or 1
    if drawn.most > made_for:
        return f"a person has up to {drawn.most:,} different values, and the operator was made for {made_for:,} at most"
    return ""


# The posteriors of an operator, in whichever form it is.


def worst_posteriors(operator: ValueOperator, bounds: PosteriorBounds, per_person: int = 1) -> PosteriorRange:
    """Return the worst posteriors under each bound, over all priors that it is about.

    ``per_person`` is the largest number of different values of a person, each with a draw of its own.
    """
    if per_person > 1:
        return joint_posteriors(amplification(operator), per_person, bounds)
    if isinstance(operator, MatrixOperator):
        return worst_matrix_posteriors(operator.transition, bounds)
    return judgement.worst_posteriors(operator.retention, bounds)


def joint_posteriors(amplification: float, per_person: int, bounds: PosteriorBounds) -> PosteriorRange:
    """Return the worst posteriors after ``per_person`` draws, over all joint priors of a person's different values.

    Two hypotheses about all values of a person differ in each draw by a ratio of at most ``amplification`` A, so in
    all n of them by at most A^n: the odds of a value that a prior gives r1 rise by at most that, and those of r2 fall
    by no more. Priors that tie the other values to the bounded one come there, as far as the domain has values.
    """
    exponent = per_person * np.log(amplification)
    with np.errstate(over="ignore"):
        shrunk, grown = np.exp(-exponent), np.exp(exponent)
    upward = bounds.r1 / (bounds.r1 + (1.0 - bounds.r1) * shrunk)
    downward = bounds.r2 / (bounds.r2 + (1.0 - bounds.r2) * grown)
    return PosteriorRange(upward, downward)


def posteriors_at(operator: ValueOperator, prior: Floats) -> PosteriorRange:
    """Return the highest and the lowest posterior of each value at one ``prior`` (m,)."""
    if isinstance(operator, MatrixOperator):
        return matrix_posteriors_at(operator.transition, prior)
    return judgement.posteriors_at(operator.retention, prior)


def most_telling(operator: ValueOperator, prior: Floats) -> TellingValues:
    """Return the released value that tells most of each value at ``prior`` (m,)."""
    if isinstance(operator, MatrixOperator):
        return most_telling_row(operator.transition, prior)
    return judgement.most_telling(operator.retention, prior)


def amplification(operator: ValueOperator) -> float:
    """Return the largest ratio of two probabilities of one released value: infinite where one of them is 0."""
    if isinstance(operator, MatrixOperator):
        return matrix_amplification(operator.transition)
    return judgement.amplification(operator.retention)


# The worst posteriors of any transition matrix, over all priors and at one prior, in quadratic time.
#
# P[j, i] = Pr[released j | original i], here as R = P^T with rows that sum to 1.


def worst_matrix_posteriors(transition: Floats, bounds: PosteriorBounds) -> PosteriorRange:
    """Return the worst posteriors under each bound, over all priors of at most r1 (upward), at least r2 (downward).

    Upward: max over j of r1 P[j,i] / (r1 P[j,i] + (1-r1) min over k≠i of P[j,k]); downward: min over j of
    r2 P[j,i] / (r2 P[j,i] + (1-r2) max over k≠i of P[j,k]). For a fixed prior of i the posterior falls with what the
    others release, weighed by their priors, and that mean is least where one of them has all; and it grows with the
    prior of i, so that r1 and r2 themselves are the worst (Evfimievski, Gehrke and Srikant 2003, section 3). A value
    j that neither i nor that k can become tells nothing. A single value has no other: its posterior is its prior.
    """
    if len(transition) == 1:
        return PosteriorRange(bounds.r1.copy(), bounds.r2.copy())
    place = bounds.values
    own = transition[place]
    least, most = _others(transition)
    upward = _posterior(bounds.r1[:, None], own, least[place], -np.inf).max(axis=1, initial=-np.inf)
    downward = _posterior(bounds.r2[:, None], own, most[place], np.inf).min(axis=1, initial=np.inf)
    return PosteriorRange(np.where(bounds.judged, upward, np.nan), np.where(bounds.judged, downward, np.nan))


def _others(transition: Floats) -> tuple[Floats, Floats]:
    """Return for each (i, j) the least and the largest probability with which another value than i becomes j."""
    least, most = np.empty_like(transition), np.empty_like(transition)
    column = np.arange(len(transition))
    for out, ordered in ((least, np.argsort(transition, axis=0)), (most, np.argsort(-transition, axis=0))):
        first, second = ordered[0], ordered[1]
        out[:] = transition[first, column]
        out[first, column] = transition[second, column]
    return least, most


def _posterior(prior: Floats, own: Floats, other: Floats, otherwise: float) -> Floats:
    weighed = prior * own
    total = weighed + (1.0 - prior) * other
    known = total > 0
    posterior: Floats = np.divide(weighed, total, out=np.full(own.shape, otherwise), where=known)
    return posterior


def most_telling_row(transition: Floats, prior: Floats) -> TellingValues:
    """Return for each value the released one after which it is likeliest at ``prior`` (m,), and that posterior."""
    after = _after(transition, prior, -1.0)
    place = after.argmax(axis=1)
    return TellingValues(place, np.maximum(after[np.arange(len(after)), place], 0.0))


def matrix_posteriors_at(transition: Floats, prior: Floats) -> PosteriorRange:
    """Return the highest and the lowest posterior of each value over all released values, at one ``prior`` (m,)."""
    if not prior.any():
        return PosteriorRange(np.zeros(len(prior)), np.zeros(len(prior)))
    return PosteriorRange(_after(transition, prior, -np.inf).max(axis=1), _after(transition, prior, np.inf).min(axis=1))


def _after(transition: Floats, prior: Floats, otherwise: float) -> Floats:
    """Return Pr[original i | released j], shape (m, m), and ``otherwise`` where j is never released."""
    out = np.broadcast_to(prior @ transition, transition.shape)
    after: Floats = np.divide(prior[:, None] * transition, out, out=np.full(transition.shape, otherwise), where=out > 0)
    return after


def matrix_amplification(transition: Floats) -> float:
    """Return the largest ratio P[j,i] / P[j,k] over all i, k and j: infinite where only one of the two is 0."""
    least, most = transition.min(axis=0), transition.max(axis=0)
    shown = most > 0
    if (least[shown] == 0).any():
        return float("inf")
    return float((most[shown] / least[shown]).max())
