"""What the margins of a sensitivity mean, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.core.requirement import within
from ppdm_flow.core.roles import Directions
from ppdm_flow.requirements.sensitivities.judgement import PosteriorJudgement
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity


def sentence(requirement: Sensitivity, columns: Sequence[str], known: Sequence[PosteriorJudgement]) -> str:
    """Return the sentence for the report; values are named only where the policy wrote them."""
    if not columns:
        return f"`{requirement.attribute}` is not released, so nothing is learned of it here."
    if len(known) < len(columns):
        return (
            f"`{requirement.attribute}` is released, but no randomization operator is known for it: what can be"
            " learned of a person cannot be bounded, so this counts as not met."
        )
    faulty = next((j for j in known if j.fault), None)
    if faulty is not None:
        return f"This cannot be verified for `{faulty.column}`: {faulty.fault}."
    worst = max(known, key=lambda j: j.margin)
    return _margins(worst) + _of_people(worst) + _fit(known) + _counted(worst) + _given_away(requirement)


def _margins(judged: PosteriorJudgement) -> str:
    if not judged.bounds.judged.any():
        return f"No value of `{judged.column}` has a bound."
    both = judged.requirement.directions is Directions.BOTH
    if within(judged.margin, 0.0, at_most=True):
        ways = "likelier than r2 or less likely than r1" if both else "likelier than r2"
        return (
            f"Whatever one believed of a person's `{judged.column}` within the limits, the released value makes no"
            f" bounded value {ways}{_closest(judged)}."
        )
    place = int(judged.margins.argmax())
    up = judged.upward[place] >= judged.downward[place] or not both
    prior, posterior, limit = (
        (judged.bounds.r1[place], judged.posteriors.upward[place], judged.bounds.r2[place])
        if up
        else (judged.bounds.r2[place], judged.posteriors.downward[place], judged.bounds.r1[place])
    )
    return (
        f"A belief of {prior:.2%} in {_named(judged, place)} of `{judged.column}` can become one of {posterior:.2%}"
        f" from the released value; {'at most' if up else 'at least'} {limit:.2%} is accepted."
    )


def _of_people(judged: PosteriorJudgement) -> str:
    if judged.drawn is None:
        return ""
    values = "one value" if judged.per_person == 1 else f"up to {judged.per_person:,} different values"
    return (
        f" A person's rows with an equal value show one draw, so that averaging over them tells no more; this holds for"
        f" people with {values}, whose rows with equal values may be known."
    )


def _closest(judged: PosteriorJudgement) -> str:
    room = -judged.margin
    return f"; the closest is {room:.4f} off its limit" if room >= 0.00005 else "; the closest is right at its limit"


def _named(judged: PosteriorJudgement, place: int) -> str:
    return _called(judged, int(judged.bounds.values[place]))


def _called(judged: PosteriorJudgement, place: int) -> str:
    value = judged.domain[place]
    own = {b.value for b in judged.requirement.bounds}
    return f"`{value}`" if value is not None and value in own else "a value"


def _fit(known: Sequence[PosteriorJudgement]) -> str:
    tested = [j.bytes_check.p_value for j in known if j.bytes_check.p_value is not None]
    return f" The released values fit the operator (p = {min(tested):.2g})." if tested else ""


def _given_away(requirement: Sensitivity) -> str:
    if requirement.tolerance is None:
        return ""
    return (
        " Its operator was made from how often each value occurs, so whoever has it knows the counts of the original"
        " exactly."
    )


def _counted(judged: PosteriorJudgement) -> str:
    """Say what the rows themselves tell most."""
    observed = judged.observed
    most = observed.most if observed is not None else None
    if observed is None or most is None:
        return ""
    return (
        f" Whoever knows the frequencies comes to {observed.predicted[most]:.2%} for"
        f" {_called(judged, int(observed.values[most]))} at most; counted over the"
        f" rows it is {observed.share[most]:.2%} ({observed.low[most]:.2%} to {observed.high[most]:.2%})."
    )
