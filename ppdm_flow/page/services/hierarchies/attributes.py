"""The attributes of a policy as it says now, faults or not, with what its templates say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.policy.edit.changes import Tree, at, tree_of
from ppdm_flow.policy.loading import load
from ppdm_flow.policy.redaction import without

FORMS = ("intervals", "levels", "csv", "order", "prefix", "date")


@dataclass(frozen=True, slots=True)
class DeclaredAttribute:
    """An attribute by its path in the policy.

    ``hierarchy`` is what is said of it with the templates' words, ``own`` what the policy says without them.
    """

    path: tuple[str, ...]
    role: str
    type: str
    hierarchy: Mapping[str, Any]
    own: Mapping[str, Any]

    @property
    def column(self) -> str:
        """Its name in the data."""
        return self.path[-1]

    @property
    def name(self) -> str:
        """Its name among all attributes of the policy."""
        return self.column if len(self.path) == 2 else f"{self.path[1]}.{self.column}"

    @property
    def table(self) -> str:
        """The table that it is of, where the policy has several."""
        return "" if len(self.path) == 2 else self.path[1]

    @property
    def form(self) -> str:
        """In which form its hierarchy is given; empty where it has none."""
        return next((form for form in FORMS if self.hierarchy.get(form) is not None), "")

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of the hierarchy."""
        value = self.hierarchy.get(key)
        return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()

    def text(self, key: str) -> str:
        """Return a word of the hierarchy."""
        value = self.hierarchy.get(key)
        return value if isinstance(value, str) else ""


def declared_attributes(policy: Path) -> list[DeclaredAttribute]:
    """Return the attributes of the policy at a path, in its order; none where nothing can be read.

    Values from the environment are not shown.
    """
    loaded = load(policy)
    tree = dict(without(loaded.tree, loaded.secrets))
    own: Tree = None
    with suppress(PpdmError, OSError, UnicodeError):
        own = tree_of(policy.read_text(encoding="utf-8"), policy.name)
    places: list[tuple[str, ...]] = [
        ("attributes",),
        *(("tables", name, "attributes") for name in _map(tree.get("tables"))),
    ]
    return [each for place in places for each in _attributes(place, tree, own)]


def _attributes(place: tuple[str, ...], tree: Tree, own: Tree) -> Iterator[DeclaredAttribute]:
    for name, each in _map(at(tree, place)).items():
        if isinstance(each, dict):
            path = (*place, name)
            hierarchy, alone = _map(each.get("hierarchy")), _map(at(own, (*path, "hierarchy")))
            yield DeclaredAttribute(path, _text(each.get("role")), _text(each.get("type")), hierarchy, alone)


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
