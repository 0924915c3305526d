"""What ``check`` and ``plan`` load of the format, and what its endings are."""

from __future__ import annotations

from ppdm_flow.plugins import Kind, Params, PluginInfo, PluginSpec


class PipesParams(Params):
    """``mark`` stands between fields; ``;`` in a file whose name ends with ``.ssv``."""

    mark: str = "|"


def card(kind: Kind) -> PluginInfo:
    return PluginInfo(
        name="acme_pipes",
        kind=kind,
        summary="Fields with a mark between them, and no quotes.",
        version="2.1.0",
        endings=(".psv", ".ssv"),
        implied={".ssv": {"mark": ";"}},
    )


SOURCE = PluginSpec(info=card(Kind.SOURCE), params=PipesParams, algorithm="acme_rounding.pipes:PipesSource")
SINK = PluginSpec(info=card(Kind.SINK), params=PipesParams, algorithm="acme_rounding.pipes:PipesSink")
