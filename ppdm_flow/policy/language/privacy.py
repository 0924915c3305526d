"""The model of a policy with the kinds of requirements that are installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model

from ppdm_flow.core.model import EntryName, Name, OneOrNamed
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec, built_in, installed, kinds_among
from ppdm_flow.policy.language.models import Policy, Privacy


def policy_model(named: Iterable[str] | None = None) -> type[Policy]:
    """Return the model of a policy that takes these kinds, as far as they are installed; all built-in ones if None."""
    return _model(None if named is None else installed().intersection(named))


def whole_model(named: Iterable[str]) -> type[Policy]:
    """Return the model that takes the built-in kinds, and those of other packages that are among ``named``."""
    return policy_model((*(spec.name for spec in built_in()), *named))


def kinds_named(tree: Any) -> frozenset[str]:
    """Return what a policy's tree has under ``privacy:``, whatever it is."""
    privacy = tree.get("privacy") if isinstance(tree, Mapping) else None
    return frozenset(str(key) for key in privacy) if isinstance(privacy, Mapping) else frozenset()


def model_for(path: tuple[str, ...]) -> type[Policy]:
    """Return a model of a policy that has whatever the language has at ``path``.

    Of the kinds of requirements it has that of the path alone. Who walks down a path asks for the model of all of it:
    that of ``privacy`` itself has every kind, which are then imported.
    """
    if path == ("privacy",):
        return policy_model()
    return policy_model(path[1:2] if path[:1] == ("privacy",) else ())


@cache
def _model(kinds: frozenset[str] | None) -> type[Policy]:
    specs = built_in() if kinds is None else kinds_among(kinds)
    fields: dict[str, Any] = {s.name: _field(s) for s in specs if s.written}
    privacy = create_model("Privacy", __base__=Privacy, __doc__=Privacy.__doc__, **fields)
    privacy_field: Any = (privacy, Field(default_factory=privacy))
    return create_model("Policy", __base__=Policy, __doc__=Policy.__doc__, privacy=privacy_field)


def _field(spec: RequirementSpec) -> Any:
    clause: Any = spec.requirement
    if spec.entries is Entries.ONCE:
        one = OneOrNamed(clause)
        return (Annotated[dict[EntryName, clause], one, BeforeValidator(one)], Field(default_factory=dict))
    by_name: Any = dict[Name, clause] if spec.entries is Entries.BY_NAME else dict[str, clause]
    return (by_name, Field(default_factory=dict))
