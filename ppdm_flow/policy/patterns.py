"""Which declaration an attribute's name falls under: its own, or the glob pattern that fits it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import translate

from ppdm_flow.policy.models import Attribute, Policy

_MAGIC = re.compile(r"[*?\[]")


def is_pattern(name: str) -> bool:
    """Whether the name of an attribute is a glob pattern."""
    return _MAGIC.search(name) is not None


def matches(pattern: str, name: str) -> bool:
    """Whether the glob ``pattern`` fits ``name``; upper and lower case differ."""
    return re.match(translate(pattern), name) is not None


@dataclass(frozen=True, slots=True)
class Declared:
    """The attributes of a policy, looked up by the name of a column.

    An attribute's own name goes before patterns; of several patterns the first in the policy holds.
    """

    attributes: Mapping[str, Attribute]

    @classmethod
    def of(cls, policy: Policy) -> Declared:
        """Return those of a policy."""
        return cls(policy.attributes)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The glob patterns, in the policy's order."""
        return tuple(name for name in self.attributes if is_pattern(name))

    def key(self, name: str) -> str | None:
        """Return the key under ``attributes:`` that declares ``name``."""
        if name in self.attributes:
            return name
        return next((p for p in self.patterns if matches(p, name)), None)

    def get(self, name: str) -> Attribute | None:
        """Return what is declared of ``name``, or None."""
        key = self.key(name)
        return None if key is None else self.attributes[key]
