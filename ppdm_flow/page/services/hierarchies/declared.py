"""The hierarchy that a policy has, as groups: only what stands in the policy, or in a table of its folder, is read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ppdm_flow.core.errors import PolicyError, PpdmError
from ppdm_flow.page.services.hierarchies.grouping import UnusableGroupError, ValueGrouping, grouped
from ppdm_flow.page.services.policies.policies import PolicyFiles, PolicyText, TooLongError, UnknownPolicyError
from ppdm_flow.policy.edit.changes import Tree, at, tree_of
from ppdm_flow.policy.loading import load
from ppdm_flow.policy.redaction import without

_WRITTEN = ";"
MOST_BYTES = 4_000_000
"""Of a table that is read as groups; a run reads larger ones."""
_MOST_ROWS = 50_000
_MOST_LEVELS = 100
"""Levels that are read as groups: each has a tab on its page."""


def declared_grouping(policies: PolicyFiles, policy: str, attribute: DeclaredAttribute) -> ValueGrouping | None:
    """Return the hierarchy of an attribute that lists its values; None where it has none of this kind.

    Raises UnusableGroupError where it cannot be read, or is no hierarchy.
    """
    levels = attribute.hierarchy.get("levels")
    if isinstance(levels, dict):
        return _grouped((value, *above) for value, above in levels.items() if isinstance(above, list))
    if attribute.texts("order"):
        return _ordered(attribute)
    if attribute.text("csv"):
        file = hierarchy_file(policies, policy, attribute)
        if file is None:
            raise UnusableGroupError("unreadable")
        return _grouped(_rows(file.text, attribute.text("delimiter") or _WRITTEN))
    return None


def hierarchy_file(policies: PolicyFiles, policy: str, attribute: DeclaredAttribute) -> PolicyText | None:
    """Return the table that an attribute's hierarchy names, if it is one of the folder of policies.

    Raises UnusableGroupError where it is larger than what is read here: a policy may name any table of data.
    """
    name = hierarchy_name(policies, policy, attribute)
    try:
        return None if name is None else policies.read(name, MOST_BYTES)
    except TooLongError:
        raise UnusableGroupError("too_large") from None
    except (PolicyError, UnknownPolicyError):
        return None


def hierarchy_name(policies: PolicyFiles, policy: str, attribute: DeclaredAttribute) -> str | None:
    """Return the name of the table that an attribute's hierarchy names, if it is one of the folder of policies."""
    named = attribute.text("csv")
    place = (policies.path(policy).parent / named).resolve() if named and named.isprintable() else None
    folder = policies.folder.resolve()
    if place is None or not place.is_relative_to(folder):
        return None
    name = place.relative_to(folder).as_posix()
    return name if name in policies.tables() else None


def digest_of_file(policies: PolicyFiles, policy: str, attribute: DeclaredAttribute) -> str:
    """Return the digest of the table that an attribute's hierarchy names; empty where there is none that is read."""
    try:
        file = hierarchy_file(policies, policy, attribute)
    except UnusableGroupError:
        return ""
    return "" if file is None else file.digest


def _rows(text: str, delimiter: str) -> list[list[str]]:
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows = [row for row in islice(reader, _MOST_ROWS + 1) if row]
    except (csv.Error, TypeError, ValueError):
        raise UnusableGroupError("unreadable") from None
    if len(rows) > _MOST_ROWS:
        raise UnusableGroupError("too_large")
    return rows


def _grouped(rows: Iterable[Sequence[str]]) -> ValueGrouping:
    lines = {row[0]: tuple(row[1:]) for row in rows}
    if not lines or not min(map(len, lines.values())) == max(map(len, lines.values())) > 0:
        raise UnusableGroupError("unreadable")
    return _few_levels(lines)


_DIGITS = 10
"""No level joins more values than a number of fewer digits says."""


def _ordered(attribute: DeclaredAttribute) -> ValueGrouping:
    from ppdm_flow.mining.hierarchies.ladder import ordered  # noqa: PLC0415  # pyarrow stands behind it

    then = [int(text) for text in attribute.texts("then") if text.isascii() and text.isdigit() and len(text) < _DIGITS]
    return _few_levels(ordered(attribute.texts("order"), [each for each in then if each > 1]))


def _few_levels(lines: Mapping[str, Sequence[str]]) -> ValueGrouping:
    """Return the grouping of a hierarchy. Raises UnusableGroupError where it has too many levels, or is none."""
    if any(len(above) > _MOST_LEVELS for above in lines.values()):
        raise UnusableGroupError("many_levels")
    return grouped(lines)


# The attributes of a policy as it says now, faults or not, with what its templates say.


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
