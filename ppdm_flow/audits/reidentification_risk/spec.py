"""The card of the audit `reidentification_risk`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.records.attributes import chosen_attributes
from ppdm_flow.audits.reidentification_risk.measures import FIGURES
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import FilePath, Params, PluginSpec


class ReidentificationRiskParams(Params):
    """``threshold``: a record whose risk is above it is at risk.

    ``population`` is a CSV file with a header (path relative to the policy), a row for each person, with a column for
    each quasi-identifier, in its original or its released form: released labels are read as `k_map` reads them.
    ``attributes`` are all quasi-identifiers if not given.
    """

    threshold: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.2
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    population: FilePath | None = None


SPEC = PluginSpec(
    info=PluginInfo(
        name="reidentification_risk",
        kind=Kind.AUDIT,
        summary="prosecutor, journalist and marketer risk of being singled out by the quasi-identifiers",
        reference="El Emam, Guide to the de-identification of personal health information, 2013, chapter 16",
        cost="one count over the quasi-identifiers",
        figures=FIGURES,
    ),
    params=ReidentificationRiskParams,
    algorithm="ppdm_flow.audits.reidentification_risk.algorithm:ReidentificationRiskAudit",
    effect=chosen_attributes,
)
