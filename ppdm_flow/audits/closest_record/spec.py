"""The card of the audit `closest_record`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.closest_record.measures import FIGURES
from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class ClosestRecordParams(Params):
    """``attributes`` are compared: all but identifiers if not given.

    ``sample`` bounds the released rows, ``reference`` the original rows of a group that the closest is looked for
    among; of large tables fewer released rows are looked at, so that it takes seconds.
    The distance is the share of attributes that differ; of a number, how far apart the two are over the range of its
    column. With a holdout (rows that the generator did not learn from) as many training rows are taken as there are
    held-out ones: half of the released rows should be closer to either, ties counted half.

    Cells are compared as they are written, but for numbers and declared intervals. Where the release has labels that
    are nobody's value, the attack has no figures, and no gate on it holds (PPF856).
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=1_000_000)] = 30_000
    reference: Annotated[int, Field(ge=10, le=10_000_000)] = 500_000


SPEC = PluginSpec(
    info=PluginInfo(
        name="closest_record",
        kind=Kind.AUDIT,
        summary="whether released rows lie closer to the rows that a generator learned from than to rows it never saw",
        reference=(
            "Platzer, Reutterer, Holdout-based empirical assessment of mixed-type synthetic data, Frontiers in Big Data"
            " 4, 2021; Gower, A general coefficient of similarity and some of its properties, Biometrics 27, 1971"
        ),
        cost="every row looked at is compared with every row of the reference; seconds",
        example=(
            "audits:\n  copies: {use: closest_record}\n"
            "gates:\n  no-copies: {metric: copies.closer_to_training, max: 0.52}"
        ),
        figures=FIGURES,
    ),
    params=ClosestRecordParams,
    algorithm="ppdm_flow.audits.closest_record.algorithm:ClosestRecordAudit",
    effect=named_attributes,
)
