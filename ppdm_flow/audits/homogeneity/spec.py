"""The card of the audit `homogeneity`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ppdm_flow.audits.inference.knowledge import Target, checked
from ppdm_flow.audits.inference.measures import TARGETS
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec


class HomogeneityParams(Params):
    """``attributes`` tell people apart (all quasi-identifiers if not given), ``sensitive`` are wanted.

    ``targets`` are people by name, with their ``known`` values and those that they ``never`` have: the report says what
    the release adds on each. A label of the release stands for all values that it may have been made of.
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sensitive: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    targets: Mapping[str, Target] = Field(default_factory=dict)


SPEC = PluginSpec(
    info=PluginInfo(
        name="homogeneity",
        kind=Kind.AUDIT,
        summary="for whom a sensitive value is certain, since all people who look alike have the same",
        reference=(
            "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, ICDE 2006,"
            " section 2.1"
        ),
        cost="one count over the quasi-identifiers and each sensitive attribute",
        figures={
            "certain": FigureInfo(
                "the share of rows whose sensitive value is certain to all who know the quasi-identifiers",
                "rows of classes with one sensitive value / all rows; the worst sensitive attribute counts",
                "lower",
            ),
            "certain_rows": FigureInfo("those rows, counted", better="lower"),
            "certain_classes": FigureInfo("the classes in which all rows have one sensitive value", better="lower"),
            "by_chance": FigureInfo(
                "the share that would be certain if the values were dealt to the rows at random",
                formula="sum over classes C of |C| sum over values v of p(v)^|C|, / rows: p the values' shares"
                " in all rows",
            ),
            **TARGETS,
        },
        example=(
            "audits:\n  alike:\n    use: homogeneity\n    with:\n      targets:\n"
            '        bob: {known: {zip: "47678", age: "27"}}\n'
            "gates:\n  nobody-certain: {metric: alike.certain, max: 0}"
        ),
    ),
    params=HomogeneityParams,
    algorithm="ppdm_flow.audits.homogeneity.algorithm:HomogeneityAudit",
    effect=checked,
)
