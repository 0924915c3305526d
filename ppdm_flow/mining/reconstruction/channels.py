"""The channel of an operator, in whichever form it is."""

from __future__ import annotations

from ppdm_flow.mining.reconstruction.channel import RetentionChannel
from ppdm_flow.mining.reconstruction.matrix_channel import MatrixChannel
from ppdm_flow.sdk.anonymizer import ValueOperator
from ppdm_flow.sdk.matrix_operator import MatrixOperator

AnyChannel = RetentionChannel | MatrixChannel


def channel_of(operator: ValueOperator) -> AnyChannel:
    """Return the linear algebra of the operator. Raises SingularMatrixError for a matrix without an inverse."""
    if isinstance(operator, MatrixOperator):
        return MatrixChannel.of(operator.transition)
    return RetentionChannel.of(operator.retention)
