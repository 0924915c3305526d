"""Pseudonymize: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, NoReturn

from pydantic import BeforeValidator, Field

from ppdm_flow.anonymizers.naming import matching, missing_ones
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk.spec import Effect, KeyPath, KeyVariable, Params, PluginSpec, Problem, Scope


def _refuse(_value: object) -> NoReturn:
    raise ValueError("a key never stands in a policy, which is shared: name an environment variable with `key_env`")


class PseudonymizeParams(Params):
    """Parameters: the attributes to replace, and the key's place: an environment variable or a file, not the policy."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)]
    key_env: KeyVariable | None = None
    key_file: KeyPath | None = None
    key: Annotated[None, BeforeValidator(_refuse)] = Field(default=None, exclude=True)
    length: Annotated[int, Field(ge=8, le=64)] = 24
    scope: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")] = "attribute"

    def chosen(self, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return the attributes to replace, each once."""
        return tuple(dict.fromkeys(name for pattern in self.attributes for name in matching(pattern, known)))


def effect(params: PseudonymizeParams, scope: Scope) -> Effect:
    """Replace values by keyed pseudonyms."""
    known = tuple(scope.attributes)
    chosen = params.chosen(known)
    problems = list(missing_ones(params.attributes, known, ("attributes",)))
    if (params.key_env is None) == (params.key_file is None):
        problems.append(Problem("PPF790", "give either `key_env` or `key_file`: pseudonyms need a key from outside"))
    return Effect(
        reads=chosen,
        changes=dict.fromkeys(chosen, Change.PSEUDONYMIZED),
        derivations=changed_in_place(
            chosen, Derivation((), keyed=True, key=f"{params.key_env or params.key_file} {params.scope}")
        ),
        guarantee="without the key, a pseudonym does not lead back to its value",
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/pseudonymize", Kind.ROW_WISE, asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=PseudonymizeParams,
    algorithm="ppdm_flow.anonymizers.pseudonymize.algorithm:Pseudonymize",
    effect=effect,
)
