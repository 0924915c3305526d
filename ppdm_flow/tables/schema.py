"""Which columns there are, and what they are to the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.roles import AttributeType, Role


@dataclass(frozen=True, slots=True)
class Field:
    """One column's name, role and type; ``domain`` where the policy declares it. ``numeric``: it holds no labels."""

    name: str
    role: Role
    type: AttributeType = AttributeType.TEXT
    domain: tuple[str, ...] | None = None
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns in order."""

    fields: tuple[Field, ...]

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __contains__(self, name: str) -> bool:
        return any(f.name == name for f in self.fields)

    def __getitem__(self, name: str) -> Field:
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(f.name for f in self.fields)

    def having(self, *roles: Role) -> tuple[str, ...]:
        """Return the names of the columns with one of these roles, in order."""
        return tuple(f.name for f in self.fields if f.role in roles)

    @property
    def weight(self) -> str | None:
        """The column of row weights, if there is one."""
        names = self.having(Role.WEIGHT)
        return names[0] if names else None

    @property
    def sampling_weight(self) -> str | None:
        """The column that says how many people of the population a respondent represents, if there is one."""
        names = self.having(Role.SAMPLING_WEIGHT)
        return names[0] if names else None
