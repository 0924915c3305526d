"""The card of the audit `similarity`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.inference.knowledge import checked
from ppdm_flow.audits.similarity.measures import FIGURES
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class SimilarityParams(Params):
    """``attributes`` tell people apart (all quasi-identifiers if not given), ``sensitive`` are wanted.

    What is alike is what the hierarchy of the sensitive attribute says: values with one label above them, on a level
    that does not have one label for all.
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


SPEC = PluginSpec(
    info=PluginInfo(
        name="similarity",
        kind=Kind.AUDIT,
        summary="for whom it is certain of which kind a sensitive value is, since all that fit are of one kind",
        reference=(
            "Li, Li, Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, ICDE 2007,"
            " section 3.1 (the similarity attack)"
        ),
        cost="one count over the quasi-identifiers and each sensitive attribute",
        example=("audits:\n  kinds: {use: similarity}\ngates:\n  nobody-of-a-kind: {metric: kinds.similar, max: 0.01}"),
        figures=FIGURES,
    ),
    params=SimilarityParams,
    algorithm="ppdm_flow.audits.similarity.algorithm:SimilarityAudit",
    effect=checked,
)
