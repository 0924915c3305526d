"""The picture of a perturbed attribute: original, released and reconstructed frequencies, with intervals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.results import Chart, Series
from ppdm_flow.mining.reconstruction.channel import Channel
from ppdm_flow.mining.reconstruction.estimate import reconstruct_counts
from ppdm_flow.mining.reconstruction.histogram import Histogram
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import AuditContext

TOP = 20

Floats = npt.NDArray[np.float64]


def chart(
    operator: Operator, column: str, ctx: AuditContext, original: Floats, released: Histogram, reconstructed: Floats
) -> Chart:
    """Return bars for at most twenty values, the most frequent first; 95 % intervals given the fixed original."""
    order = np.argsort(-original, kind="stable")[:TOP].tolist()
    attribute = source_of(column, ctx)
    low, high = _intervals(operator, released, reconstructed)
    return Chart(
        id=f"{column}.reconstruction",
        title=f"{column}: original, released and reconstructed",
        kind="bars",
        x=tuple(ctx.label(attribute, operator.domain[i], i + 1) for i in order),
        series=(
            Series("original", _shares(original, order)),
            Series("released", _shares(released.frequency, order)),
            Series("reconstructed", _shares(reconstructed, order), _shares(low, order), _shares(high, order)),
        ),
        x_label="value",
        y_label="share of rows",
        note="" if operator.size <= TOP else f"the {TOP} most frequent of {operator.size:,} values",
        group=column,
    )


def _intervals(operator: Operator, released: Histogram, reconstructed: Floats) -> tuple[Floats, Floats]:
    found = reconstruct_counts(Channel.of(operator.retention), released.rows)
    total = max(1, released.total)
    return np.minimum(found.low / total, reconstructed), np.maximum(found.high / total, reconstructed)


def _shares(shares: Floats, order: list[int]) -> tuple[float, ...]:
    return tuple(float(shares[i]) for i in order)
