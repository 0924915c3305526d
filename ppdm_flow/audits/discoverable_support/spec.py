"""The card of the audit `discoverable_support`."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from ppdm_flow.audits.records.attributes import named_sets
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.sdk.spec import Params, PluginSpec

Share = Annotated[float, Field(gt=0, le=1)]


class DiscoverableSupportParams(Params):
    """Curves are for the breach ``level``, and for itemsets of so many items as ``sizes`` say.

    ``max_supports`` are the largest supports of itemsets of 1, 2, .. items, which do not rise; those of the data if not
    given. ``attribute`` names one of several columns of sets.
    """

    level: Annotated[float, Field(gt=0, lt=1)] = 0.5
    sizes: Annotated[tuple[Annotated[int, Field(ge=1, le=6)], ...], Field(min_length=1)] = (1, 2, 3)
    max_supports: Annotated[tuple[Share, ...], Field(min_length=1)] | None = None
    attribute: str | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError("`sizes` are to be ascending, each once")
        if self.max_supports is not None and list(self.max_supports) != sorted(self.max_supports, reverse=True):
            raise ValueError("`max_supports` are not to rise: a larger itemset is no more frequent than its parts")
        return self


SPEC = PluginSpec(
    info=PluginInfo(
        name="discoverable_support",
        kind=Kind.AUDIT,
        summary="the lowest support that a recipient tells from none, and how it depends on the number and length of"
        " sets and on the breach level",
        reference="Evfimievski, Srikant, Agrawal, Gehrke, Privacy preserving mining of association rules, KDD 2002,"
        " section 6",
        cost="a search for parameters at each point of the curves; a pass over the original for its largest supports",
        example=(
            "audits:\n  discoverable: {use: discoverable_support, with: {level: 0.5}}\n"
            "gates:\n  pairs-above-half-a-percent: {metric: discoverable.lowest.2, max: 0.005}"
        ),
        sets="column",
        figures={
            "lowest": FigureInfo(
                "the lowest support of itemsets of so many items that a recipient can tell from 0",
                formula="the s that is four standard errors of its own estimate; parts of the itemset as frequent"
                " as the largest supports allow",
                better="lower",
            ),
            "largest_support": FigureInfo(
                "the largest support of an itemset of so many items", formula="sets with it / sets"
            ),
            "transactions": FigureInfo("the sets that supports are estimated from", better="higher"),
        },
    ),
    params=DiscoverableSupportParams,
    algorithm="ppdm_flow.audits.discoverable_support.algorithm:DiscoverableSupportAudit",
    effect=named_sets,
)
