"""The card of the audit `id_recovery`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class IdRecoveryParams(Params):
    """``attribute`` are the released codes. ``method`` is how they were made: the attacker knows it.

    ``genetic``: turned back bit by bit, in the order of the file; ``width``, ``head`` and ``invert`` as in the step
    `genetic_encode`. ``mask``: looked up in a list of all ids of the original. Where one code is none of these, or ids
    cannot be read as numbers, the attack has no figures, and no gate on it holds.
    """

    attribute: str = ""
    method: Literal["genetic", "mask"] = "genetic"
    width: Annotated[int, Field(ge=2, le=62)] = 12
    head: Annotated[int, Field(ge=1)] = 4
    invert: Literal["reverse", "complement"] = "reverse"


def effect(params: IdRecoveryParams, scope: Scope) -> Effect:
    """Complain of codes that this release does not have."""
    problems = []
    if params.attribute not in scope.attributes:
        near = closest(params.attribute, scope.attributes)
        hint = f"did you mean `{near}`?" if near else None
        problems.append(Problem("PPF886", f"the release has no attribute `{params.attribute}`", ("attribute",), hint))
    if params.head >= params.width:
        problems.append(Problem("PPF886", "`head` has to be less than `width`", ("head",)))
    return Effect(problems=tuple(problems))


SPEC = PluginSpec(
    info=PluginInfo(
        name="id_recovery",
        kind=Kind.AUDIT,
        summary="how many ids an attacker gets back from genetic encoding or from masks, with the released file alone",
        reference="Kerckhoffs, La cryptographie militaire, 1883: the method is known; only a key may be secret",
        cost="one pass over the release and over the pairs",
        example="audits:\n  ids: {use: id_recovery, with: {attribute: roll_number, width: 12, head: 4}}\n"
        "gates:\n  no-ids: {metric: ids.recovered_ids, max: 0.01}",
        figures={
            "recovered_ids": FigureInfo(
                "the share of rows whose id comes back from its code or mask, with the rest of the record",
                formula="recovered rows / rows",
                better="lower",
            ),
            "recovered_by_chance": FigureInfo(
                "the share that the same attack gets right by chance: on rows in another order, or by the"
                " likeliest id of a text",
                formula="recovered rows / rows",
            ),
            "codes": FigureInfo("the distinct codes or masked texts"),
        },
    ),
    params=IdRecoveryParams,
    algorithm="ppdm_flow.audits.id_recovery.algorithm:IdRecoveryAudit",
    effect=effect,
)
