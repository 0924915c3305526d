"""An attribute that is not released: whoever reads the release knows of it what he knew before."""

from __future__ import annotations

from ppdm_flow.mining.reconstruction.histogram import histogram
from ppdm_flow.requirements.sensitivities.bounds import bounds
from ppdm_flow.requirements.sensitivities.judgement import NO_BOUND
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.view import DataView


def unreleased_margin(requirement: Sensitivity, original: DataView) -> float:
    """Return the largest r1 - r2, below 0: posteriors are the priors themselves."""
    margins = [b.r1 - b.r2 for b in requirement.bounds]
    if requirement.attribute in original.schema:
        domain = original.domain(requirement.attribute).to_pylist()
        distribution = histogram(original, requirement.attribute, domain)
        bound = bounds(requirement, domain, distribution.frequency)
        margins.extend((bound.r1 - bound.r2)[bound.judged].tolist())
    return max(margins, default=NO_BOUND)
