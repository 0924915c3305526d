"""Where a clause stands: in which policy, under which name, and where in its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdm_flow.core.roles import Role
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.models import Attribute, Policy
from ppdm_flow.policy.language.patterns import Declared
from ppdm_flow.policy.loaded import Places, PolicyPath


@dataclass(frozen=True, slots=True)
class ClausePlace:
    """The place of a clause; ``name`` is the attribute that it is on, or what it is called, if it has one."""

    path: PolicyPath
    name: str
    policy: Policy
    places: Places

    @property
    def id(self) -> str:
        """The id of the requirement: its path."""
        return ".".join(self.path)

    @property
    def span(self) -> Span | None:
        """Where its key stands."""
        return self.places.key(*self.path)

    @property
    def attribute(self) -> Attribute | None:
        """What is declared of the attribute that it is on."""
        return Declared.of(self.policy).get(self.name)

    def grouped(self, attributes: Sequence[str] | None) -> tuple[str, ...]:
        """Return what it groups by: all quasi-identifiers (or patterns of them) unless it names its own."""
        every = (n for n, a in self.policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
        return tuple(attributes) if attributes else tuple(every)

    def sets(self, attribute: str | None) -> str:
        """Return which sets it is about: the first ones unless it names an attribute."""
        return attribute or next((n for n, a in self.policy.attributes.items() if a.role is Role.ITEMS), "")
