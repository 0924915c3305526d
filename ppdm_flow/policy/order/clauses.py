"""The clauses of a policy as lines for people: what stands at a path, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Loaded, PolicyPath
from ppdm_flow.policy.order.verdicts import Side
from ppdm_flow.policy.redaction import UNSHOWN

_MOST = 120


@dataclass(frozen=True, slots=True)
class Clauses:
    """One policy's text by path. Values from the environment are never shown."""

    loaded: Loaded

    @property
    def policy(self) -> Policy:
        """The typed policy. Raises ValueError where it is not valid."""
        if self.loaded.policy is None:
            raise ValueError("only valid policies can be compared")
        return self.loaded.policy

    def side(self, path: PolicyPath, text: str | None = None) -> Side:
        """Return what stands at ``path``, or ``text`` in its place, and the line of its key."""
        found = self._at(path)
        if text is not None and path not in self.loaded.hidden:
            shown = text
        else:
            shown = "" if found is None else self._text(found, path, top=True)
        return Side(shown if len(shown) <= _MOST else f"{shown[: _MOST - 1]}…", self.span(path))

    def span(self, path: PolicyPath) -> Span | None:
        """Return where the key at ``path`` stands, or the nearest above it."""
        return self.loaded.places.key(*path)

    def has(self, path: PolicyPath) -> bool:
        """Whether something stands at ``path``."""
        return self._at(path) is not None

    def hides(self, *path: str) -> bool:
        """Whether something at ``path``, or below it, comes from the environment."""
        return any(hidden[: len(path)] == path for hidden in self.loaded.hidden)

    def _at(self, path: PolicyPath) -> Any:
        tree: Any = self.loaded.tree
        for part in path:
            if not isinstance(tree, Mapping) or part not in tree:
                return None
            tree = tree[part]
        return tree

    def _text(self, value: Any, path: PolicyPath, *, top: bool = False) -> str:
        if isinstance(value, Mapping):
            parts = [f"{key}: {self._text(item, (*path, str(key)))}" for key, item in value.items()]
            inner = ", ".join(parts)
            return inner if top else f"{{{inner}}}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(self._text(item, (*path, str(i))) for i, item in enumerate(value)) + "]"
        if path in self.loaded.hidden:
            return UNSHOWN
        return "null" if value is None else str(value) or '""'
