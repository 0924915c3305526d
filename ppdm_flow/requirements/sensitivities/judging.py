"""From a requirement and a released column to a judgement."""

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
from ppdm_flow.requirements.sensitivities.bounds import PosteriorBounds, bounds
from ppdm_flow.requirements.sensitivities.fit.bytes_check import BytesCheck, check_bytes
from ppdm_flow.requirements.sensitivities.judgement import PosteriorJudgement
from ppdm_flow.requirements.sensitivities.observed import ObservedHits, observe
from ppdm_flow.requirements.sensitivities.of_operator import (
    amplification,
    most_telling,
    posteriors_at,
    worst_posteriors,
)
from ppdm_flow.requirements.sensitivities.people import PersonDraws, person_draws, shares_before, whose_rows
from ppdm_flow.requirements.sensitivities.people_check import check_people
from ppdm_flow.requirements.sensitivities.replay import replay
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
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
