"""Lossy join: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import absent, missing_ones
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import CellKind, Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class LossyJoinParams(Params):
    """``attributes`` come from any row of the class, all others from the row itself; ``key`` names the class."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)]
    key: str = "class_id"
    most_rows: Annotated[int, Field(ge=1, le=200_000_000)] = 5_000_000


def effect(params: LossyJoinParams, scope: Scope) -> Effect:
    """Make every pair of rows of a class."""
    known = tuple(scope.attributes)
    problems = list(missing_ones(params.attributes, known, ("attributes",)))
    if params.key not in scope.attributes:
        problems.append(absent(params.key, known, ("key",)))
    if params.key in params.attributes:
        problems.append(Problem("PPF827", "the key joins the two sides, so it is on both", ("attributes",)))
    weights = [f"`{n}`" for n, fact in scope.attributes.items() if fact.role is Role.WEIGHT]
    if weights:
        text = f"rows represent several people each, as {weights[0]} says: parts of such rows do not join by class"
        problems.append(Problem("PPF827", text, hint="write each person as a row of its own first"))
    there = tuple(n for n in dict.fromkeys(params.attributes) if n in scope.attributes and n != params.key)
    return Effect(
        reads=tuple(n for n in (params.key, *there) if n in scope.attributes),
        changes=dict.fromkeys(there, Change.OTHER),
        derivations=changed_in_place(
            there, Derivation((), (params.key,), within=(params.key,), kind=CellKind.EXCHANGED)
        ),
        rows="generated",
        guarantee="within a class, every value of an attribute stands beside every row equally often",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page("anonymizers/lossy_join", Kind.TABLE, asks=AccessRequirements(DataAccess.TABLE, passes=2)),
    params=LossyJoinParams,
    algorithm="ppdm_flow.anonymizers.lossy_join.algorithm:LossyJoin",
    effect=effect,
)
