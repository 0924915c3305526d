"""The picture of a perturbed attribute: original, released and reconstructed frequencies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.release import source_of
from ppdm_flow.core.results import Chart, Series
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import AuditContext

TOP = 20

Floats = npt.NDArray[np.float64]


def chart(
    operator: Operator, column: str, ctx: AuditContext, original: Floats, released: Floats, reconstructed: Floats
) -> Chart:
    """Return bars for at most twenty values, the most frequent first."""
    order = np.argsort(-original, kind="stable")[:TOP].tolist()
    attribute = source_of(column, ctx)
    series = (("original", original), ("released", released), ("reconstructed", reconstructed))
    return Chart(
        id=f"{column}.reconstruction",
        title=f"{column}: original, released and reconstructed",
        kind="bars",
        x=tuple(ctx.label(attribute, operator.domain[i], i + 1) for i in order),
        series=tuple(Series(name, tuple(float(shares[i]) for i in order)) for name, shares in series),
        x_label="value",
        y_label="share of rows",
        note="" if operator.size <= TOP else f"the {TOP} most frequent of {operator.size:,} values",
        group=column,
    )
