"""The card of the audit `krimp_dissimilarity`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.audits.krimp_dissimilarity.measures import FIGURES
from ppdm_flow.audits.records.attributes import named_attributes
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.supports import Support, Supported
from ppdm_flow.sdk.spec import Params, PluginSpec


class KrimpDissimilarityParams(Params):
    """``candidates`` for the code tables: ``slim`` finds them on the way; else ``all`` or ``closed`` frequent itemsets.

    ``min_support`` is the least support of a candidate, ``pruning`` removes elements that became useless, ``laplace``
    is added to the usage of every code, so that each table can encode the other's data. The original is compared with
    ``repeats`` random halves of itself as a yardstick, drawn with the fixed key ``seed``. ``attributes`` are all but
    identifiers if not given; ``sample`` bounds the rows of each side: to 100,000 if not given, and to fewer of wide
    tables, so that it takes seconds. The paper's Table 1 is ``candidates: all``,
    ``min_support: {count: 1}`` (``closed`` and 20 for mushroom), ``pruning: false``, ``laplace: 1``.
    """

    candidates: Literal["slim", "all", "closed"] = "slim"
    min_support: Supported = Support(count=2)
    pruning: bool = False
    laplace: Annotated[float, Field(gt=0.0, le=1000.0)] = 1.0
    repeats: Annotated[int, Field(ge=0, le=100)] = 5
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    sample: Annotated[int, Field(ge=10, le=10_000_000)] | None = None


SPEC = PluginSpec(
    info=PluginInfo(
        name="krimp_dissimilarity",
        kind=Kind.AUDIT,
        summary="how much longer original and release become under each other's code tables than under their own",
        reference=(
            "Vreeken, van Leeuwen, Siebes, Preserving privacy through data generation, ICDM 2007, section 5;"
            " the same, Characterising the difference, KDD 2007"
        ),
        cost="one code table each of original, release and uncorrelated data, and one for each repeat",
        example=(
            "audits:\n  likeness: {use: krimp_dissimilarity}\n"
            "gates:\n  alike: {metric: likeness.dissimilarity, max: 0.2}"
        ),
        figures=FIGURES,
    ),
    params=KrimpDissimilarityParams,
    algorithm="ppdm_flow.audits.krimp_dissimilarity.algorithm:KrimpDissimilarityAudit",
    effect=named_attributes,
)
