"""The figures of one judged column."""

from __future__ import annotations

import math

import numpy as np

from ppdm_flow.core.results import Figure
from ppdm_flow.requirements.sensitivities.judgement import NO_BOUND, PosteriorJudgement
from ppdm_flow.requirements.sensitivities.observed import LEVEL, ObservedHits, clopper_pearson
from ppdm_flow.requirements.sensitivities.people import PersonDraws
from ppdm_flow.requirements.sensitivities.replay import Replay


def figures_of(judged: PosteriorJudgement) -> dict[str, Figure]:
    """Return the margins, the posteriors behind them, what was counted, and how well the bytes fit."""
    bounded = judged.bounded
    none = "" if len(bounded) else "no value is bounded"
    finite = math.isfinite(judged.amplification)
    epsilon = judged.per_person * math.log(judged.amplification) if finite else None
    highest = float(judged.at_prior.upward[bounded].max()) if len(bounded) else None
    lowest = float(judged.at_prior.downward[bounded].min()) if len(bounded) else None
    check = judged.bytes_check
    return {
        "margin": Figure(judged.margin, "probability", note=none),
        "worst_upward": Figure(judged.worst_upward, "probability", note=none),
        "worst_downward": Figure(judged.worst_downward, "probability", note=none),
        "upward_margin": Figure(float(judged.upward.max(initial=NO_BOUND)), "probability", note=none),
        "downward_margin": Figure(float(judged.downward.max(initial=NO_BOUND)), "probability", note=none),
        "highest_at_own_prior": Figure(highest, "probability", note=none),
        "lowest_at_own_prior": Figure(lowest, "probability", note=none),
        **_counted(judged.observed),
        **_recovered(judged.replayed),
        "epsilon": Figure(
            epsilon, "nats", note="" if finite else "unbounded: some value is never released for another"
        ),
        "p_value": Figure(check.p_value, "probability", note=check.route or "not tested"),
        "outside_cells": Figure(check.outside, "rows"),
        **_gamma(judged),
        **_of_people(judged.drawn),
    }


_MOST_NAMED = 40


def _gamma(judged: PosteriorJudgement) -> dict[str, Figure]:
    """Return the smallest gamma, and that of each bounded value that the policy names, the smallest ones first."""
    gamma, requirement = judged.gamma, judged.requirement
    bounded = [place for place in np.argsort(gamma, kind="stable").tolist() if np.isfinite(gamma[place])]
    note = "of the value that is bounded most" if bounded else "no value is bounded"
    figures = {"gamma": Figure(float(gamma[bounded[0]]) if bounded else None, "ratio", note=note)}
    named = {b.value for b in requirement.bounds} | set(requirement.domain or ())
    shown = [place for place in bounded if judged.domain[place] in named][:_MOST_NAMED]
    return figures | {f"gamma.{judged.domain[place]}": Figure(float(gamma[place]), "ratio") for place in shown}


def _of_people(drawn: PersonDraws | None) -> dict[str, Figure]:
    """Return how many different values a person has, and for how many rows with equal ones were drawn apart."""
    if drawn is None:
        return {}
    known = drawn.joint is not None
    return {
        "values_per_person": Figure(drawn.most if known else None, "values", note=drawn.fault),
        "unequal_draws": Figure(drawn.unequal if known else None, "values", note=drawn.fault),
    }


def _counted(observed: ObservedHits | None) -> dict[str, Figure]:
    """Return the posterior of the value with the highest predicted one, and how many intervals miss theirs."""
    none = "original and released rows cannot be paired" if observed is None else "no row shows it"
    most = observed.most if observed is not None else None
    if observed is None or most is None:
        measured = Figure(None, "probability", note=none)
    else:
        ends = (float(observed.low[most]), float(observed.high[most]))
        measured = Figure(float(observed.share[most]), "probability", ends, int(observed.trials[most]))
    missed = Figure(observed.outside if observed else None, "values", note="" if observed else none)
    return {"measured_at_own_prior": measured, "values_off_prediction": missed}


def _recovered(replayed: Replay | None) -> dict[str, Figure]:
    """Return the share that the policy's own seed gives away, where it has one that fits."""
    if replayed is None:
        return {}
    ends = None
    if replayed.rows < replayed.of:
        low, high = clopper_pearson(np.array([replayed.recovered]), np.array([replayed.rows]), 1.0 - LEVEL)
        ends = (float(low[0]), float(high[0]))
    return {"recovered_from_seed": Figure(replayed.share, "share", ends, replayed.rows)}
