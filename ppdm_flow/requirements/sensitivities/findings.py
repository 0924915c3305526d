"""What a reader should know of a judged sensitivity beside its margin."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.sensitivities.judgement import PosteriorJudgement
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity


def no_operator(requirement: Sensitivity, column: str) -> Finding:
    """Return the finding for a released column that no step is known to have randomized."""
    return Finding(
        "PPF810",
        Severity.ERROR,
        f"no randomization operator is known for `{column}`, so no bound on what is learned from it can be verified",
        f"{requirement.id}.{column}",
    )


def findings(judged: PosteriorJudgement) -> Iterator[Finding]:
    """Yield contradictions first, then what weakens or qualifies the judgement."""
    subject = f"{judged.requirement.id}.{judged.column}"
    if judged.doubt:
        yield Finding("PPF816", Severity.ERROR, f"`{judged.column}`: {judged.doubt}", subject)
    elif judged.bytes_check.fault:
        code = "PPF811" if judged.bytes_check.p_value is not None else "PPF812"
        yield Finding(code, Severity.ERROR, f"`{judged.column}`: {judged.bytes_check.fault}", subject)
    elif not judged.bytes_check.sharp:
        text = f"there are too few rows to tell a perturbed `{judged.column}` from an unperturbed one"
        yield Finding("PPF814", Severity.INFO, text, subject)
    if judged.replayed is not None and judged.replayed.recovered:
        text = (
            f"`{judged.column}`: whoever has the policy has its seed, can draw again, and recovers"
            f" {judged.replayed.share:.1%} of the values for certain; the bounds hold for all others only"
        )
        yield Finding("PPF817", Severity.WARNING, text, subject)
    if judged.requirement.tolerance is not None:
        text = (
            f"the operator of `{judged.column}` was made from how often each value occurs (`tolerance`): whoever gets"
            " it works out the exact counts of the original, and from those of two releases who was added or left out"
        )
        yield Finding("PPF647", Severity.INFO, text, subject)
    yield from _known_too_well(judged, subject)
    yield from _strangers(judged, subject)


def _known_too_well(judged: PosteriorJudgement, subject: str) -> Iterator[Finding]:
    own = {b.value for b in judged.requirement.bounds}
    values = [judged.domain[i] for i in judged.bounds.known_too_well]
    named = [v for v in values if v is not None and v in own]
    others = len(values) - len(named)
    parts = [listed(named)] * bool(named) + [f"{others} further value{'s' * (others > 1)}"] * bool(others)
    if parts:
        text = (
            f"{' and '.join(parts)} of `{judged.column}`: more frequent in the data than r2, so known too well"
            " beforehand; no release can keep a posterior below where the prior is already"
        )
        yield Finding("PPF741", Severity.WARNING, text, subject)


def _strangers(judged: PosteriorJudgement, subject: str) -> Iterator[Finding]:
    known = set(judged.domain)
    strange = list(dict.fromkeys(b.value for b in judged.requirement.bounds if b.value not in known))
    if strange and judged.requirement.values_absent is ValuesAbsent.ERROR:
        text = (
            f"{listed(strange)} of `{judged.column}` has a bound but is not among the values that the operator knows:"
            " check the spelling in the policy"
        )
        yield Finding("PPF815", Severity.WARNING, text, subject)
