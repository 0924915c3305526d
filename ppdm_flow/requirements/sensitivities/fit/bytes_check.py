"""Whether the released bytes follow the operator that the bounds are judged from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.reconstruction.histogram import ValueHistogram, given_the_original, histogram, places, tally
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.requirements.sensitivities.fit import whole_matrix
from ppdm_flow.requirements.sensitivities.fit.joint import JointCounts, joint_fit
from ppdm_flow.requirements.sensitivities.fit.marginal import marginal_fit
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.view import DataView

Integers = npt.NDArray[np.int64]

ERROR = 1e-6
"""How often a faithful release is refused by chance, over all attributes of a release."""


@dataclass(frozen=True, slots=True)
class BytesCheck:
    """``fault`` says what contradicts the operator, or is empty. ``p_value`` is None where nothing could be tested.

    ``route`` is ``pairs`` or ``frequencies``; ``sharp`` says whether an unperturbed release would have been found.
    ``joint`` are the pairs of original and released values that it was tested on, where there are any.
    """

    fault: str
    p_value: float | None = None
    route: str = ""
    outside: int = 0
    sharp: bool = True
    joint: JointCounts | None = None


def check_bytes(
    operator: ValueOperator, column: str, before: ValueHistogram, candidate: DataView, ctx: AuditContext, error: float
) -> BytesCheck:
    """Test the released column against the operator, at the probability ``error`` of refusing a faithful one."""
    after = histogram(candidate, column, operator.domain)
    if before.outside or after.outside:
        where = "original" if before.outside else "released"
        return BytesCheck(
            f"{before.outside or after.outside:,} {where} cells hold a value outside the operator's domain",
            outside=after.outside,
        )
    joint = _joint(operator, column, ctx)
    if joint is not None and not _same(joint, after):
        if candidate.schema.weight is None:
            return BytesCheck("the released rows cannot be traced to the original ones")
        joint = None
    if joint is None:
        return _by_frequencies(operator, before, after, error)
    return check_pairs(operator, joint, error)


def check_pairs(operator: ValueOperator, joint: JointCounts, error: float) -> BytesCheck:
    """Test pairs of original and released values, each an independent draw."""
    p_value = _joint_fit(operator, joint)
    trials = tally(joint.original, joint.rows, operator.size).rows
    occurs = np.flatnonzero(trials)
    sharp = _joint_fit(operator, JointCounts(occurs, occurs, trials[occurs])) < error
    return BytesCheck(_verdict(p_value, error), p_value, "pairs", sharp=sharp, joint=joint)


def _by_frequencies(operator: ValueOperator, before: ValueHistogram, after: ValueHistogram, error: float) -> BytesCheck:
    if after.total > before.total:
        return BytesCheck("more rows were released than the operator was given")
    p_value = _marginal_fit(operator, before.rows, after.rows)
    sharp = _marginal_fit(operator, before.rows, before.rows) < error
    return BytesCheck(_verdict(p_value, error), p_value, "frequencies", sharp=sharp)


def _joint_fit(operator: ValueOperator, joint: JointCounts) -> float:
    if isinstance(operator, MatrixOperator):
        return whole_matrix.joint_fit(operator.transition, joint)
    return joint_fit(operator.retention, joint)


def _marginal_fit(operator: ValueOperator, before: Integers, after: Integers) -> float:
    if isinstance(operator, MatrixOperator):
        return whole_matrix.marginal_fit(operator.transition, before, after)
    return marginal_fit(operator.retention, before, after)


def _verdict(p_value: float, error: float) -> str:
    if p_value >= error:
        return ""
    return "the released values do not follow the operator: chance alone does this less than once in a million times"


def _joint(operator: ValueOperator, column: str, ctx: AuditContext) -> JointCounts | None:
    """Return the pairs, where the operator was given the original values themselves; places may be outside (-1)."""
    if ctx.pairs is None or not given_the_original(operator, ctx.attributes.get(column)):
        return None
    counts = ctx.pairs.joint(source_of(column, ctx), column)
    original = places(counts, "original", operator.domain)
    released = places(counts, "released", operator.domain)
    keep = counts.counts > 0
    return JointCounts(original[keep], released[keep], counts.counts[keep])


def _same(joint: JointCounts, after: ValueHistogram) -> bool:
    """Whether the pairs are those of the released file: within the domain, and the very same counts."""
    if (joint.original < 0).any() or (joint.released < 0).any():
        return False
    return bool(np.array_equal(tally(joint.released, joint.rows, len(after.rows)).rows, after.rows))
