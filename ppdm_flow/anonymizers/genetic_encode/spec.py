"""Genetic encoding: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ppdm_flow.anonymizers.naming import absent, reaches
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

INVERTIBLE = "PPF819"
WIDEST = 62


class GeneticEncodeParams(Params):
    """``attribute`` holds whole numbers of at most ``width`` bits, of which those from ``head`` to ``until`` change."""

    attribute: str
    width: Annotated[int, Field(ge=2, le=WIDEST)] = 12
    head: Annotated[int, Field(ge=1)] | Literal["random"] = 4
    until: Annotated[int, Field(ge=2)] | Literal["random"] | None = None
    invert: Literal["reverse", "complement"] = "reverse"

    @property
    def most(self) -> int:
        """The longest head: a bit at least is passed on."""
        return (self.until if isinstance(self.until, int) else self.width) - 1

    @model_validator(mode="after")
    def _splits(self) -> Self:
        if isinstance(self.until, int) and self.until > self.width:
            raise ValueError("`until` has to be at most `width`")
        if isinstance(self.head, int) and self.head > self.most:
            raise ValueError("`head` has to be less than `width` and `until`: the bits between are passed on")
        return self


def effect(params: GeneticEncodeParams, scope: Scope) -> Effect:
    """Replace ids by codes; an identifier stays one."""
    if not reaches(params.attribute, scope.attributes):
        return Effect(problems=(absent(params.attribute, scope.attributes, ("attribute",)),))
    fact = scope.attributes.get(params.attribute)
    personal = fact is not None and fact.role in (Role.IDENTIFIER, Role.SUBJECT)
    text = f"the codes of `{params.attribute}` hide nothing: a reader who knows the rows' order turns them back"
    still = "; to the rules of a release it is an identifier as before" if personal else ""
    advice = "`pseudonymize` has a key"
    return Effect(
        reads=(params.attribute,),
        changes={params.attribute: Change.OTHER},
        draws="random" in (params.head, params.until),
        derivations=changed_in_place((params.attribute,)),
        problems=(Problem(INVERTIBLE, text + still, ("attribute",), advice, warning=True),),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/genetic_encode", Kind.TABLE, randomized=True, asks=AccessRequirements(DataAccess.TABLE, passes=2)
    ),
    params=GeneticEncodeParams,
    algorithm="ppdm_flow.anonymizers.genetic_encode.algorithm:GeneticEncode",
    effect=effect,
)
