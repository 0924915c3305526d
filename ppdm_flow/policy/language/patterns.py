"""Finds the declaration of an attribute's name: its own, or the glob pattern that fits it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache

from ppdm_flow.policy.language.models import Attribute, Policy

_MAGIC = re.compile(r"[*?\[]")
_TOKEN = re.compile(r"\[[^\]]+\]|.")


def is_pattern(name: str) -> bool:
    """Whether the name of an attribute is a glob pattern."""
    return _MAGIC.search(name) is not None


def matches(pattern: str, name: str) -> bool:
    """Whether the glob ``pattern`` fits ``name``; upper and lower case differ."""
    return _compiled(pattern).match(name) is not None


@lru_cache(maxsize=1 << 16)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile once: the cache of ``re`` is too small for tables of thousands of columns."""
    return re.compile(translate(pattern))


@dataclass(frozen=True, slots=True)
class DeclaredAttributes:
    """The attributes of a policy, looked up by the name of a column.

    An attribute's own name goes before patterns; of several patterns the first in the policy holds.
    """

    attributes: Mapping[str, Attribute]

    @classmethod
    def of(cls, policy: Policy) -> DeclaredAttributes:
        """Return those of a policy."""
        return cls(policy.attributes)

    @property
    def patterns(self) -> tuple[str, ...]:
        """The glob patterns, in the policy's order."""
        return _patterns(tuple(self.attributes))

    def key(self, name: str) -> str | None:
        """Return the key under ``attributes:`` that declares ``name``."""
        if name in self.attributes:
            return name
        return next((p for p in self.patterns if matches(p, name)), None)

    def get(self, name: str) -> Attribute | None:
        """Return what is declared of ``name``, or None."""
        key = self.key(name)
        return None if key is None else self.attributes[key]


@lru_cache(maxsize=32)
def _patterns(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if is_pattern(name))


def overlap(one: str, other: str) -> bool:
    """Whether some name fits both globs; a set in brackets counts as any character."""
    return _meet(_tokens(one), _tokens(other))


def _tokens(pattern: str) -> tuple[str, ...]:
    return tuple("?" if len(part) > 1 else part for part in _TOKEN.findall(pattern))


def _meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Walk both at once: ``reached`` are the positions in ``other`` that some prefix of ``one`` can share."""
    reached = _past_stars({0}, other)
    for mark in one:
        if mark == "*":
            reached = set(range(min(reached), len(other) + 1)) if reached else set()
            continue
        step = {p + 1 for p in reached if p < len(other) and other[p] != "*" and "?" in (mark, other[p])}
        step |= {p + 1 for p in reached if p < len(other) and other[p] == mark}
        step |= {p for p in reached if p < len(other) and other[p] == "*"}
        reached = _past_stars(step, other)
    return len(other) in reached


def _past_stars(positions: set[int], pattern: tuple[str, ...]) -> set[int]:
    """Return the positions after stars that match nothing as well."""
    reached = set(positions)
    for p in sorted(positions):
        while p < len(pattern) and pattern[p] == "*":
            p += 1
            reached.add(p)
    return reached
