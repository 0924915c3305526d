"""The attacker's knowledge of a person, as a policy writes it. Light, since specs import it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ppdm_flow.audits.records.attributes import unknown
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Problem, Scope


class InferenceTarget(BaseModel):
    """``known`` are the person's values, by attribute; ``never`` the values that the person is known not to have."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    known: Mapping[str, str] = Field(default_factory=dict)
    never: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)


def checked(params: Any, scope: Scope) -> Effect:
    """Complain of attributes that the release does not have, and of a release without a secret."""
    names = {n: getattr(params, n, None) or () for n in ("attributes", "sensitive")}
    problems = [*unknown(names, scope), *_targets(getattr(params, "targets", {}), scope)]
    if params.sensitive is None and not any(a.role is Role.SENSITIVE for a in scope.attributes.values()):
        text = "no attribute of the release has the role `sensitive`: say which one to attack with `sensitive:`"
        problems.append(Problem("PPF861", text))
    return Effect(problems=tuple(problems))


def _targets(targets: Mapping[str, InferenceTarget], scope: Scope) -> list[Problem]:
    known = {n for a in scope.attributes.values() for n in (a.name, a.source) if n}
    return [
        Problem("PPF861", f"the release has no attribute `{name}`", ("targets", target, part, name))
        for target, facts in targets.items()
        for part, names in (("known", facts.known), ("never", facts.never))
        for name in names
        if name not in known
    ]
