"""Hierarchies that a rule says: read from a form or a policy, tried on counted values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.page.services.hierarchies.grouping import UnusableGroupError

UNITS = ("month", "quarter", "year", "decade")
_SHOWN = 50
_MOST = 20


@dataclass(frozen=True, slots=True)
class GroupingRule:
    """What a form says, as text: ``by`` is one of prefix, date and order."""

    by: str = ""
    keep: str = ""
    mask: str = "*"
    units: tuple[str, ...] = ()
    format: str = ""
    order: tuple[str, ...] = ()
    then: str = ""

    def hierarchy(self) -> dict[str, object]:
        """Return the rule in the policy language. Raises UnusableGroupError where it says no hierarchy."""
        if self.by == "prefix":
            return self._prefix()
        if self.by == "date":
            units = [unit for unit in UNITS if unit in self.units]
            if not units:
                raise UnusableGroupError("wrong_units")
            return {"date": units} | ({"format": self.format} if self.format else {})
        if self.by == "order":
            if len(self.order) < 2 or len(set(self.order)) < len(self.order):
                raise UnusableGroupError("wrong_order")
            return {"order": list(self.order), "then": numbers(self.then, 2, "no_join")}
        raise UnusableGroupError("no_rule")

    def _prefix(self) -> dict[str, object]:
        keep = numbers(self.keep, 0, "wrong_keep")
        if any(above >= below for below, above in pairwise(keep)):
            raise UnusableGroupError("wrong_keep")
        if len(self.mask) != 1:
            raise UnusableGroupError("wrong_mask")
        return {"prefix": keep} | ({"mask": self.mask} if self.mask != "*" else {})


@dataclass(frozen=True, slots=True)
class LevelLabels:
    """The labels of one level with their rows, the most frequent first; ``more`` are not shown."""

    labels: tuple[tuple[str, int], ...]
    more: int
    fewest: int


def numbers(text: str, least: int, key: str) -> list[int]:
    """Return whole numbers of at least so much, separated by commas or spaces. Raises UnusableGroupError."""
    words = text.replace(",", " ").split()
    if not 0 < len(words) <= _MOST or not all(w.isascii() and w.isdigit() and len(w) < 5 for w in words):
        raise UnusableGroupError(key)
    if any(int(word) < least for word in words):
        raise UnusableGroupError(key)
    return [int(word) for word in words]


def tried(column: str, rule: Mapping[str, object], counts: Mapping[str, int]) -> list[LevelLabels]:
    """Return what becomes of counted values. Raises PluginError, in counts alone, where some have no place."""
    from ppdm_flow.mining.hierarchies.building import of_spec  # noqa: PLC0415  # pyarrow stands behind it

    given = {key: tuple(value) if isinstance(value, list) else value for key, value in rule.items()}
    lines = of_spec(column, HierarchySpec(**given), tuple(counts))  # type: ignore[arg-type]  # made by `hierarchy`
    return [_level(labels, counts) for labels in zip(*lines.values(), strict=True)]


def _level(labels: Sequence[str], counts: Mapping[str, int]) -> LevelLabels:
    rows: dict[str, int] = {}
    for label, many in zip(labels, counts.values(), strict=True):
        rows[label] = rows.get(label, 0) + many
    ordered = sorted(rows.items(), key=lambda each: -each[1])
    return LevelLabels(tuple(ordered[:_SHOWN]), max(0, len(ordered) - _SHOWN), min(rows.values()))
