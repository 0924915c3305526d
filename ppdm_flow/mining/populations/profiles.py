"""The people of a population file, by the released labels that fit them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import read_definition
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.mining.hierarchies.labels import number_of, range_of
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import MISSING, SPECIALS, SUPPRESSED_TEXT, Column
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.csv_texts import csv_header, csv_texts
from ppdm_flow.tables.table import Table

Ints = npt.NDArray[np.int64]

_NO_TABLE = "is no CSV file with a column for each released attribute that classes are formed by"
T = TypeVar("T")


def people_of(
    population: PopulationFile, released: Sequence[str], ctx: AuditContext, whose: str
) -> tuple[Counts, list[str]]:
    """Return the people by the columns of the file that tell the ``released`` ones, and the names of these columns.

    A column is called as ``population`` says, else as the attribute of the source, else as the released one. Raises
    DataError, which says ``whose`` file cannot be used.
    """
    file = PeopleFile(ctx.home / population.path, population.delimiter, f"population file of {whose}", _NO_TABLE)
    header = file.header()
    named = dict(population.columns)
    columns = [_column_of(c, source_of(c, ctx), named, header) for c in released]
    table = file.cells(columns)
    if not columns:
        return Counts((), (), np.zeros((1, 0), dtype=np.int32), np.array([table.num_rows], dtype=np.int64)), []
    built = {name: coded(table[name]) for name in dict.fromkeys(columns)}
    return count(Table(built, np.arange(table.num_rows, dtype=np.int64)), columns), columns


def _column_of(released: str, source: str, named: Mapping[str, str], header: Sequence[str]) -> str:
    column = named.get(source) or named.get(released)
    return column or (source if source in header or released not in header else released)


@dataclass(frozen=True, slots=True, eq=False)
class PopulationProfiles:
    """People who fit the same labels. ``codes`` (profiles, columns) point into ``fits`` of each column.

    ``fits[j][c]`` are the dense codes (suppressed 0, missing 1, then labels) that fit code c of column j. ``people``
    (profiles,) counts them.
    """

    codes: Ints
    people: Ints
    fits: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def total(self) -> int:
        """The number of people."""
        return int(self.people.sum())


def profiles(population: PopulationFile, released: Counts, ctx: AuditContext, whose: str) -> PopulationProfiles:
    """Read the population, and find the labels of its values. Raises DataError where ``whose`` file cannot be used."""
    sources = [source_of(c, ctx) for c in released.columns]
    people, columns = people_of(population, released.columns, ctx, whose)
    fits, codes = [], []
    for column, source, name in zip(released.columns, sources, columns, strict=True):
        own = ctx.original_attributes.get(source) or AttributeFacts(source, Role.QUASI_IDENTIFIER)
        labels = Labels(released.names(column).to_pylist(), own, ctx.attributes.get(column, own), ctx.home)
        distinct, place = _fits(people.names(name), labels, ctx.nulls, _shown(column, source, released, ctx))
        fits.append(distinct)
        codes.append(place[people.of(name) + SPECIALS])
    stacked = np.stack(codes, axis=1) if codes else np.zeros((len(people), 0), dtype=np.int64)
    label_sets, inverse = np.unique(stacked, axis=0, return_inverse=True)
    total = np.zeros(len(label_sets), dtype=np.int64)
    np.add.at(total, inverse.reshape(-1), people.counts)
    return PopulationProfiles(label_sets, total, tuple(fits))


def _shown(column: str, source: str, released: Counts, ctx: AuditContext) -> Mapping[str, set[int]] | None:
    """Return the dense codes of the cells that each value of the source is shown by, where cells go by it alone.

    None means cells that go by other attributes too, or one cell that all values have.
    """
    facts = ctx.attributes.get(column)
    if facts is None or ctx.pairs is None or not facts.lineage.value_map or facts.lineage.hidden_by:
        return None
    counts = ctx.pairs.joint(source, column)
    texts = [SUPPRESSED_TEXT, None, *released.names(column).to_pylist()]
    place = {text: i for i, text in enumerate(texts)}
    cells = [SUPPRESSED_TEXT, None, *counts.names("released").to_pylist()]
    values = counts.names("original").to_pylist()
    shown: dict[str, set[int]] = {}
    for value, cell in zip(counts.of("original").tolist(), counts.of("released").tolist(), strict=True):
        if value >= 0 and (code := place.get(cells[cell + SPECIALS])) is not None:
            shown.setdefault(values[value], set()).add(code)
    return shown if len({frozenset(each) for each in shown.values()}) > 1 else None


def _fits(
    names: pa.StringArray, labels: Labels, nulls: Nulls, shown: Mapping[str, set[int]] | None
) -> tuple[tuple[tuple[int, ...], ...], Ints]:
    """Return the distinct sets of labels, and that of each dense code of the population.

    Where it is known by which cells values are ``shown``, those of the source have no others, and a value that does not
    occur there is hidden only where all are. Else a suppressed cell may be anybody's. A missing one is a value of its
    own, unless it is a wildcard: then it fits everybody. A person's missing value may be one that no label fits.
    """
    missing = (0, MISSING + SPECIALS)
    wild = (MISSING + SPECIALS,) if nulls is Nulls.WILDCARD else ()

    def fitting(name: str) -> set[int]:
        if shown is None:
            return {0, *(p + SPECIALS for p in labels.of(name)), *wild}
        return {*(shown.get(name) or (p + SPECIALS for p in labels.declared(name))), *wild}

    each = [missing, missing, *(tuple(sorted(fitting(name))) for name in names.to_pylist())]
    place = {fit: i for i, fit in enumerate(dict.fromkeys(each))}
    return tuple(place), np.array([place[fit] for fit in each], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class PeopleFile:
    """A CSV file with a header. ``name`` is its name in messages, ``lacking`` the text for missing columns."""

    path: Path
    delimiter: str
    name: str
    lacking: str

    def header(self) -> list[str]:
        """Return the names of its columns. Raises DataError where it cannot be read, or two have one name."""
        names = self._guarded(lambda: csv_header(self.path, self.delimiter))
        if len(set(names)) < len(names):
            raise self.unusable("has two columns of one name")
        return names

    def cells(self, columns: Sequence[str]) -> pa.Table:
        """Return these columns as texts, null where a cell is empty. Raises DataError where it has not all of them."""
        return self._guarded(lambda: csv_texts(self.path, self.delimiter, columns))

    def unusable(self, what: str) -> DataError:
        """Return what is wrong with the file, which must not quote a cell."""
        return DataError(Diagnostic("PPF878", f"the {self.name} {what}"))

    def _guarded(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except OSError:
            raise self.unusable("cannot be opened") from None
        except (pa.ArrowInvalid, KeyError):  # its message may quote a cell
            raise self.unusable(self.lacking) from None


def coded(cells: pa.ChunkedArray) -> Column:
    """Return a column of these texts."""
    encoded = cells.combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(MISSING).to_numpy(zero_copy_only=False).astype(np.int32)
    return Column(codes, encoded.dictionary)


# The values that a released label covers, read off the label itself and the hierarchy that the policy declares.
#
# This does not ask the step that wrote the labels: a label of an unknown form covers nothing but itself.


EVERYTHING = "*"


class Labels:
    """The labels that one attribute is released with, and the values that they cover."""

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
        """Return the labels that cover ``value`` by their look, by place, ascending."""
        return self._of(value, (EVERYTHING, *self._masked(value)))

    def declared(self, value: str) -> tuple[int, ...]:
        """Return the labels that cover ``value`` by more than signs in the place of letters."""
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
        """Yield the masks of a value; those that pad all values to one length cover shorter ones as well."""
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
        text = f"the hierarchy of `{name}` cannot be read, so nobody can say whom its labels cover"
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


# How many people of the population fit each released class.


_AT_ONCE = 1 << 14
"""Profiles that are matched at a time: each may fit many classes."""


def fitting(classes: npt.NDArray[np.int32], population: PopulationProfiles) -> Ints:
    """Return the people of each class, shape (classes,); ``classes`` (classes, columns) are distinct."""
    steps, last = _trie(classes + SPECIALS)
    people = np.zeros(len(classes), dtype=np.int64)
    if not len(classes):
        return people
    lists = [_lists(each) for each in population.fits]
    for start in range(0, len(population.codes), _AT_ONCE):
        row = np.arange(start, min(start + _AT_ONCE, len(population.codes)))
        node = np.zeros(len(row), dtype=np.int64)
        for j, (keys, radix) in enumerate(steps):
            row, node = _down(row, node, population.codes[:, j], lists[j], keys, radix)
        np.add.at(people, last[node], population.people[row])
    return people


def _trie(dense: npt.NDArray[np.int32]) -> tuple[list[tuple[Ints, int]], Ints]:
    """Return for each column the sorted keys (node above, label) of its nodes, and the class of each last node."""
    steps: list[tuple[Ints, int]] = []
    node = np.zeros(len(dense), dtype=np.int64)
    for column in dense.T:
        radix = int(column.max(initial=0)) + 1
        keys, node = np.unique(node * radix + column, return_inverse=True)
        steps.append((keys, radix))
        node = node.reshape(-1)
    last = np.empty(len(dense), dtype=np.int64)
    last[node] = np.arange(len(dense))
    return steps, last


def _lists(fits: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    begins = np.cumsum([0, *map(len, fits)], dtype=np.int64)
    return begins, np.array([label for fit in fits for label in fit], dtype=np.int64)


def _down(row: Ints, node: Ints, codes: Ints, fits: tuple[Ints, Ints], keys: Ints, radix: int) -> tuple[Ints, Ints]:
    """Go from each node to those below it whose label covers the profile's value."""
    begins, labels = fits
    code = codes[row]
    many = begins[code + 1] - begins[code]
    at = np.repeat(begins[code] - np.concatenate([[0], np.cumsum(many)[:-1]]), many) + np.arange(int(many.sum()))
    label, row, node = labels[at], np.repeat(row, many), np.repeat(node, many)
    known = label < radix
    wanted = node * radix + label
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    hit = known & (keys[place] == wanted)
    return row[hit], place[hit]
