"""Where a clause stands: in which policy, under which name, and where in its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.models import Attribute, Policy
from ppdm_flow.policy.language.patterns import DeclaredAttributes
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces


@dataclass(frozen=True, slots=True)
class ClausePlace:
    """The place of a clause; ``name`` is the attribute that it is on, or what it is called, if it has one."""

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
