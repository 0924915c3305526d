"""The card of the audit `km_anonymity`."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.mining.classes.measures import UNRELEASED
from ppdm_flow.sdk.spec import Params, PluginSpec


class KmAnonymityParams(Params):
    """It has none: the requirement says it all."""


SPEC = PluginSpec(
    info=PluginInfo(
        name="km_anonymity",
        kind=Kind.AUDIT,
        summary="smallest number of sets that share a combination of at most m items",
        reference="Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008",
        serves=("km_anonymity",),
        cost="combinations of at most m items within each set",
        figures={
            "columns": UNRELEASED,
            "k": FigureInfo(
                "the sets that share the rarest combination of at most m items",
                "min over the combinations of 1 to m items that occur of the sets that hold all of them; 0 without any",
                "higher",
            ),
            **{
                f"k_{size}": FigureInfo(
                    f"the same of combinations of exactly {size} item{'s' * (size > 1)}", "the same", "higher"
                )
                for size in range(1, 5)
            },
        },
        sets="column",
    ),
    params=KmAnonymityParams,
    algorithm="ppdm_flow.requirements.km_anonymity.algorithm:KmAnonymityAudit",
)
