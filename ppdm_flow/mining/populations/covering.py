"""Which values a released label stands for, read off the label itself and the hierarchy that the policy declares.

This does not ask the step that wrote the labels: a label of an unknown form stands for nothing but itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.hierarchies.labels import number_of, range_of

EVERYTHING = "*"


class Labels:
    """The labels that one attribute is released with, and what they stand for."""

    def __init__(self, labels: Sequence[str], own: AttributeFacts, released: AttributeFacts, home: Path) -> None:
        self.place = {label: i for i, label in enumerate(labels)}
        self.generalized = released.was(Change.GENERALIZED)
        spec = own.hierarchy or HierarchySpec()
        self.spec = spec
        self.above = _ancestors(spec, own.name, home) if self.generalized else {}
        self.ranges = [(i, *bounds) for label, i in self.place.items() if (bounds := range_of(label)) is not None]
        masks = {spec.mask, "*"}
        self.masks = {(len(label), hidden) for label in labels if (hidden := _hidden(label, masks))}
        self.signs = sorted(masks)
        ends = [(length, hidden) for length, hidden in self.masks if hidden == frozenset(range(min(hidden), length))]
        self.padded = frozenset(ends) if len({length for length, _ in ends}) == 1 else frozenset()

    def of(self, value: str) -> tuple[int, ...]:
        """Return the labels that stand for ``value`` by their look, by place, ascending."""
        return self._of(value, (EVERYTHING, *self._masked(value)))

    def declared(self, value: str) -> tuple[int, ...]:
        """Return the labels that stand for ``value`` by more than signs in the place of letters."""
        return self._of(value, (name for name in self._masked(value) if set(name) - set(self.signs)))

    def _of(self, value: str, signs: Iterable[str]) -> tuple[int, ...]:
        names = {value}
        places: set[int] = set()
        if self.generalized:
            names.update((*self.above.get(value, ()), *signs, *_dates(value, self.spec)))
            places.update(self._within(value))
        places.update(self.place[name] for name in names if name in self.place)
        return tuple(sorted(places))

    def _masked(self, value: str) -> Iterator[str]:
        """Yield the masks of a value; those that pad all values to one length stand for shorter ones as well."""
        for length, hidden in self.masks:
            shorter = (length, hidden) in self.padded and min(hidden) <= len(value) < length
            if length == len(value) or shorter:
                for sign in self.signs:
                    shown = (sign if i in hidden else letter for i, letter in enumerate(value))
                    yield "".join(shown) + sign * (length - len(value))

    def _within(self, value: str) -> Iterator[int]:
        number = number_of(value) if self.ranges else None
        if number is not None:
            for i, low, high, low_in, high_in in self.ranges:
                above = low is None or (number >= low if low_in else number > low)
                below = high is None or (number <= high if high_in else number < high)
                if above and below:
                    yield i


def _ancestors(spec: HierarchySpec, name: str, home: Path) -> Mapping[str, tuple[str, ...]]:
    if spec.csv is not None:
        return _read(home / spec.csv, spec.delimiter, name)
    if spec.order is not None:
        return _neighbours(spec.order, spec.then)
    return dict(spec.levels or ())


def _neighbours(order: Sequence[str], then: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Return the groups of neighbours that each value of an order belongs to."""
    groups: dict[str, tuple[str, ...]] = dict.fromkeys(order, ())
    size = 1
    for together in then:
        size *= together
        for i, value in enumerate(order):
            first = i - i % size
            group = order[first : first + size]
            groups[value] += (group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}",)
    return groups


def _read(path: Path, delimiter: str, name: str) -> dict[str, tuple[str, ...]]:
    """Read a hierarchy file. Raises DataError without quoting it."""
    try:
        stream = io.StringIO(read_definition(path).decode("utf-8-sig"), newline="")
        return {row[0]: tuple(row[1:]) for row in csv.reader(stream, delimiter=delimiter, strict=True) if row}
    except (OSError, UnicodeDecodeError, csv.Error):
        text = f"the hierarchy of `{name}` cannot be read, so nobody can say whom its labels stand for"
        raise DataError(Diagnostic("PPF878", text)) from None


def _hidden(label: str, masks: set[str]) -> frozenset[int]:
    return frozenset(i for i, letter in enumerate(label) if letter in masks)


def _dates(value: str, spec: HierarchySpec) -> Iterator[str]:
    try:
        day = (
            datetime.strptime(value.strip(), spec.format).replace(tzinfo=UTC)
            if spec.format
            else datetime.fromisoformat(value.strip())
        )
    except ValueError:
        return
    yield from (f"{day.year:04d}", f"{day.year:04d}-{day.month:02d}", f"{day.year:04d}-Q{(day.month + 2) // 3}")
    yield f"{day.year // 10 * 10:04d}s"
