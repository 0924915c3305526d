"""A loaded policy: the typed value, and the place of each part in its file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.floor import Floor
from ppdm_flow.policy.language.models import Attribute, Policy
from ppdm_flow.policy.language.patterns import DeclaredAttributes
from ppdm_flow.policy.params import ParamLimits, Permission
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


# What a project file demands of all policies below its folder.


@dataclass(frozen=True, slots=True)
class RequiredTemplate:
    """A template that every policy extends.

    ``name`` is how the project file has it, ``shown`` how diagnostics call it, ``identity`` what tells it from every
    other file, ``place`` where it is asked for.
    """

    name: str
    shown: str
    identity: str
    place: Span


@dataclass(frozen=True, slots=True)
class Project:
    """A project file as it was read, or several of them together: then ``file`` is the nearest.

    ``shown`` is its name in diagnostics, ``texts`` what each says by its name, ``sha256`` the digest of its bytes (of
    several, that of their digests), ``required`` the templates that every policy extends. With ``faults`` no policy
    below it can be used.
    """

    file: Path
    shown: str
    texts: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""
    faults: tuple[Diagnostic, ...] = ()
    required: tuple[RequiredTemplate, ...] = ()
    policies: tuple[Path, ...] = ()
    locked: bool = False
    strict: bool = False
    signers: Path | None = None
    runs: Path | None = None

    def missing(self, extended: Collection[str], policy: Span) -> Iterator[Diagnostic]:
        """Yield a fault for each required template whose identity is not among ``extended`` (PPF356)."""
        for each in self.required:
            if each.identity not in extended:
                text = f"the policy does not extend `{each.shown}`, which the project requires of every policy"
                hint = f"add `{_from_policy(each, policy)}` to `extends`"
                yield Diagnostic(
                    "PPF356", text, policy, hint=hint, related=(RelatedPlace(each.place, "required here"),)
                )


def _from_policy(template: RequiredTemplate, policy: Span) -> str:
    """Return how the policy names a template: its path is relative to the policy, and not to the project file."""
    if template.name.startswith(("builtin:", "pkg:")):
        return template.name
    home = Path(policy.file).absolute().parent
    return Path(os.path.relpath(Path(template.shown).absolute(), home)).as_posix()


@dataclass(frozen=True, slots=True)
class ClausePlace:
    """The place of a clause; ``name`` is its attribute, or its own name, if it has one."""

    path: PolicyPath
    name: str
    policy: Policy
    places: ResolvedPlaces

    @property
    def id(self) -> str:
        """The id of the requirement: its path."""
        return ".".join(self.path)

    @property
    def span(self) -> Span | None:
        """Where its key stands."""
        return self.places.key(*self.path)

    @property
    def domain(self) -> tuple[str, ...] | None:
        """The declared domain of the attribute that it is on."""
        return self._attribute.domain if self._attribute is not None else None

    @property
    def type(self) -> AttributeType | None:
        """The declared type of that attribute."""
        return self._attribute.type if self._attribute is not None else None

    @property
    def _attribute(self) -> Attribute | None:
        return DeclaredAttributes.of(self.policy).get(self.name)

    def key(self, *below: str) -> Span | None:
        """Return where a key below it stands."""
        return self.places.key(*self.path, *below)

    def value(self, *below: str) -> Span | None:
        """Return where a value below it stands."""
        return self.places.value(*self.path, *below)

    def grouped(self, attributes: Sequence[str]) -> tuple[str, ...]:
        """Return what it groups by: all quasi-identifiers (or patterns of them) unless it names its own."""
        return tuple(attributes) if attributes else self.with_role(Role.QUASI_IDENTIFIER)

    def sets(self, attribute: str) -> str:
        """Return which sets it is about: the first ones unless it names an attribute."""
        return attribute or next(iter(self.with_role(Role.ITEMS)), "")

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the attributes (or patterns of them) that are declared with a role."""
        return tuple(name for name, attribute in self.policy.attributes.items() if attribute.role is role)
