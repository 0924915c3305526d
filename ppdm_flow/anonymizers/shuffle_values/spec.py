"""Data shuffling: its card, parameters and effect."""

from __future__ import annotations

from ppdm_flow.anonymizers.naming import missing_ones, problems_of_strata
from ppdm_flow.anonymizers.numeric_attributes import Names, of_names, present
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import CellKind, Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class ShuffleValuesParams(Params):
    """``attributes`` are shuffled, with the rank correlations among them and with the ``given`` ones.

    Numbers move to rows that are equal in the attributes of ``within``.
    """

    attributes: Names
    within: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


def effect(params: ShuffleValuesParams, scope: Scope) -> Effect:
    """Move numbers to other rows. They reveal something of the ``given`` cells of their row, and of its stratum."""
    there = present(params.attributes, scope)
    given = present((*params.given, *params.within), scope)
    problems = [
        *of_names(params.attributes, scope),
        *missing_ones(params.given, scope.attributes, ("given",)),
        *problems_of_strata(params.within, params.attributes, scope.attributes),
    ]
    if set(params.attributes) & set(params.given):
        problems.append(Problem("PPF782", "an attribute cannot both be shuffled and be given", ("given",)))
    others = {name: tuple(o for o in there if o != name) for name in there}
    return Effect(
        reads=tuple(dict.fromkeys((*there, *given))),
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=there,
        derivations={
            name: Derivation(
                tuple(dict.fromkeys((name, *given))),
                others[name],
                carries=(name,),
                within=present(params.within, scope),
                kind=CellKind.EXCHANGED,
            )
            for name in there
        },
        guarantee="each shuffled attribute has every number as often as before",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/shuffle_values", Kind.TABLE, randomized=True, asks=AccessRequirements(DataAccess.TABLE, passes=2)
    ),
    params=ShuffleValuesParams,
    algorithm="ppdm_flow.anonymizers.shuffle_values.algorithm:ShuffleValues",
    effect=effect,
)
