"""A policy as it was read: the typed value, and where each part of it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.floor import Floor
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.params.params import ParamLimits
from ppdm_flow.policy.params.permission import Permission
from ppdm_flow.policy.project import Project
from ppdm_flow.policy.text.nodes import PolicyPath

__all__ = ["PolicyReading", "ResolvedPlaces", "PolicyPath", "UsedParam"]


@dataclass(frozen=True, slots=True)
class ResolvedPlaces:
    """The span of every key and value of the resolved tree."""

    keys: Mapping[PolicyPath, Span]
    values: Mapping[PolicyPath, Span]

    def value(self, *path: str) -> Span | None:
        """Return the span of the value at ``path``, or of the nearest ancestor that stands in a file."""
        return self._nearest(self.values, path)

    def key(self, *path: str) -> Span | None:
        """Return the span of the key at ``path``, or of the nearest ancestor's key."""
        return self._nearest(self.keys, path)

    @staticmethod
    def _nearest(spans: Mapping[PolicyPath, Span], path: PolicyPath) -> Span | None:
        for length in range(len(path), -1, -1):
            span = spans.get(path[:length])
            if span is not None:
                return span
        return None


@dataclass(frozen=True, slots=True)
class UsedParam:
    """A param of the policy or its templates with its value: ``texts`` is empty for one from the environment.

    ``place`` is where the value stands; None for one from the command line, of which ``note`` tells. ``overridden``
    says that the environment gives another value than the default that is declared.
    """

    name: str
    texts: tuple[str, ...]
    help: str
    declared: Span
    place: Span | None
    note: str
    limits: ParamLimits
    overridden: bool = False


@dataclass(frozen=True, slots=True)
class PolicyReading:
    """The outcome of reading a policy. ``policy`` is None where its shape has errors.

    ``tree`` is the resolved tree of text after inheritance and params, ``sources`` the text of every file read,
    ``digest`` the SHA-256 of the resolved tree: comments and key order do not change it. ``hidden`` are the paths of
    values that came from the environment: nothing that is written may show them. ``privacy_waivers`` says whether the
    templates let a policy waive requirements, ``floors`` what they demand, ``params`` what was used of each param,
    ``secrets`` are the texts that came from the environment, whole or in part; numbers and switches are none.
    ``users`` the place that brought in each template, by the name that diagnostics give it, ``project`` the project
    file that the policy is bound by, ``digests`` the SHA-256 of the bytes of each file as it was parsed.
    """

    file: str
    policy: Policy | None
    tree: Mapping[str, Any]
    places: ResolvedPlaces
    sources: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]
    digest: str
    hidden: frozenset[PolicyPath] = frozenset()
    privacy_waivers: Permission = field(default_factory=Permission)
    floors: tuple[Floor, ...] = ()
    params: tuple[UsedParam, ...] = ()
    users: Mapping[str, Span] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()
    project: Project | None = None
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def strict(self) -> bool:
        """Whether the project file wants warnings to be errors."""
        return self.project is not None and self.project.strict

    @property
    def locked(self) -> bool:
        """Whether the project file wants the policy to be as its lock file has it."""
        return self.project is not None and self.project.locked
