"""What cells can show, and whether one assignment of values to attributes is shown by many cells at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from adversary.reader.files import MISSING, NotVerified, PreparedFiles, ReleasedColumn, ReleasedFile

ABSENT_CELL = object()
"""Stands where a row has no cell in a column."""


@dataclass(frozen=True)
class ShownValues:
    """Combinations of values of some attributes (sorted by name), of which a cell shows one."""

    attributes: tuple[str, ...]
    combinations: frozenset[tuple[Any, ...]]

    def renamed(self, names: Mapping[str, str]) -> ShownValues:
        """The same values of attributes with other names."""
        order = sorted(range(len(self.attributes)), key=lambda i: names[self.attributes[i]])
        attributes = tuple(names[self.attributes[i]] for i in order)
        return ShownValues(attributes, frozenset(tuple(t[i] for i in order) for t in self.combinations))


def can_hold(shown: Iterable[ShownValues], known: Mapping[str, Any]) -> bool:
    """Whether some assignment of values agrees with what is known and with one combination of each ``shown``."""
    return _can_hold(frozenset(shown), frozenset(known.items()))


@lru_cache(maxsize=200_000)
def _can_hold(shown: frozenset[ShownValues], known: frozenset[tuple[str, Any]]) -> bool:
    values = dict(known)
    left: dict[tuple[str, ...], frozenset[tuple[Any, ...]]] = {}
    for s in shown:
        free = [i for i, a in enumerate(s.attributes) if a not in values]
        fixed = [(i, values[a]) for i, a in enumerate(s.attributes) if a in values]
        fitting = frozenset(tuple(t[i] for i in free) for t in s.combinations if all(t[i] == v for i, v in fixed))
        names = tuple(s.attributes[i] for i in free)
        left[names] = left[names] & fitting if names in left else fitting
        if not left[names]:
            return False
    left.pop((), None)
    if not left:
        return True
    names = min(left, key=lambda n: (len(left[n]), n))
    others = frozenset(ShownValues(n, c) for n, c in left.items() if n != names)
    return any(_can_hold(others, frozenset(zip(names, combination, strict=True))) for combination in left[names])


def possible_values(shown: Collection[ShownValues], known: Mapping[str, Any], attribute: str) -> frozenset[Any] | None:
    """The values of an attribute over all assignments; None if any value is possible."""
    if attribute in known:
        return frozenset({known[attribute]})
    about = [s for s in shown if attribute in s.attributes]
    if not about:
        return None
    tried = {t[s.attributes.index(attribute)] for s in about[:1] for t in s.combinations}
    return frozenset(v for v in tried if can_hold(shown, {**known, attribute: v}))


class Inquiry:
    """Files seen with one requirement in mind: the attributes that a reader knows, and the sensitive one.

    A cell is *open* if it carries attributes of ``grouping`` only, *mixed* if it carries others as well, *closed* if
    it carries none of them, and *blank* if it carries nothing.
    """

    def __init__(
        self,
        prepared: PreparedFiles,
        grouping: Iterable[str],
        sensitive: str | None = None,
        *,
        known_rows: int | str = 1,
        nulls: str = "own_category",
    ) -> None:
        names = prepared.names
        self.prepared, self.files, self.source = prepared, prepared.files, prepared.source
        self.grouping = frozenset(names.get(a, a) for a in grouping)
        self.sensitive = names.get(sensitive, sensitive) if sensitive else None
        self.known_rows, self.nulls = known_rows, nulls
        self._shown = {f.name: self._shown_in(f) for f in self.files}
        self._by_row: dict[Any, list[ShownValues]] = {}
        self._refuse_what_cannot_be_verified()

    def openness(self, column: ReleasedColumn, cell: Any) -> str:
        """Whether a cell is open, mixed, closed or blank."""
        carried = column.carried(cell)
        known = carried & self.grouping
        if not known:
            return "closed" if carried else "blank"
        return "open" if known == carried else "mixed"

    def shown(
        self,
        file: ReleasedFile,
        row: int,
        kinds: tuple[str, ...] = ("open", "mixed", "closed"),
        *,
        virtual: bool = True,
    ) -> list[ShownValues]:
        """What the cells of a row show, by kind of cell."""
        key = (file.name, row, kinds, virtual)
        if key not in self._by_row:
            table = self._shown[file.name]
            self._by_row[key] = [
                table[c.name, cell]
                for c, cell in file.cells_of(row)
                if self.openness(c, cell) in kinds and (virtual or not c.virtual)
            ]
        return self._by_row[key]

    def values_in(self, file: ReleasedFile, k: int) -> dict[str, Any]:
        """The values that a source row had when a file was made."""
        return file.then.get(k, self.source[k])

    def changed_since(self, file: ReleasedFile, k: int) -> frozenset[str]:
        """The attributes of which a source row has another value than when a file was made."""
        return frozenset(a for a, v in file.then.get(k, {}).items() if self.source[k][a] != v)

    def known_values(self, k: int, file: ReleasedFile | None = None) -> dict[str, Any]:
        """What the reader knows of a source row, as it is, or as it was when a file was made."""
        row = self.source[k] if file is None else self.values_in(file, k)
        return {a: row[a] for a in self.grouping}

    def has_values(self, file: ReleasedFile, row: int, values: Mapping[str, Any]) -> bool:
        """Whether a row was made of a source row with these values."""
        own = [self.values_in(file, k) for k in file.rows[row].origins]
        return any(all(made_of[a] == v for a, v in values.items()) for made_of in own)

    def is_shown_by(self, file: ReleasedFile, row: int, attributes: Iterable[str], shown: list[ShownValues]) -> bool:
        """Whether the row's values of the attributes are among those that ``shown`` can show in one assignment."""
        attributes = list(attributes)
        own = [self.values_in(file, k) for k in file.rows[row].origins]
        return any(can_hold(shown, {a: made_of[a] for a in attributes}) for made_of in own)

    def is_left_out(self, file: ReleasedFile, row: int) -> bool:
        """Whether ``nulls: exclude`` leaves a row out."""
        return self.nulls == "exclude" and any(
            cell is MISSING and (self.openness(c, cell) in ("open", "mixed") or self.sensitive in c.carried(cell))
            for c, cell in file.cells_of(row)
        )

    def mixed_cells(self, file: ReleasedFile, row: int, *, virtual: bool) -> tuple[list[int], frozenset[str]]:
        """The counted rows with the same mixed cells as this row, and the attributes of G that these cells carry.

        Mixed cells are those in all columns that are mixed in some row.
        """
        columns = [
            c
            for c in file.columns
            if (virtual or not c.virtual)
            and any(c.name in r.cells and self.openness(c, r.cells[c.name]) == "mixed" for r in file.rows)
        ]

        def cells(i: int) -> list[Any]:
            return [file.rows[i].cells.get(c.name, ABSENT_CELL) for c in columns]

        own = cells(row)
        carried = {a for c, cell in zip(columns, own, strict=True) if cell is not ABSENT_CELL for a in c.carried(cell)}
        alike = [i for i in range(len(file.rows)) if cells(i) == own]
        counted = [i for i in alike if not self.is_left_out(file, i)]
        return counted or alike, frozenset(carried) & self.grouping

    def _shown_in(self, file: ReleasedFile) -> dict[tuple[str, Any], ShownValues]:
        """What each cell of a file shows: the carried values of the rows that have it, and what can be combined."""
        values: dict[tuple[str, Any], set[tuple[Any, ...]]] = defaultdict(set)
        kinds: dict[tuple[str, Any], tuple[tuple[str, ...], bool]] = {}
        for i, row in enumerate(file.rows):
            for column, cell in file.cells_of(i):
                attributes = tuple(sorted(column.carried(cell)))
                kinds[column.name, cell] = attributes, self.openness(column, cell) == "mixed"
                values[column.name, cell] |= {self._values(file, k, attributes) for k in row.origins}
        shown = {}
        for cell, (attributes, mixed) in kinds.items():
            seen = values[cell]
            if mixed:
                taken = {self._values(file, k, attributes) for row in file.rows for k in row.origins}
                seen = seen | (self._combined(attributes, seen) - taken)
            shown[cell] = ShownValues(attributes, frozenset(seen))
        return shown

    def _values(self, file: ReleasedFile, k: int, attributes: tuple[str, ...]) -> tuple[Any, ...]:
        row = self.values_in(file, k)
        return tuple(row[a] for a in attributes)

    def _combined(self, attributes: tuple[str, ...], seen: set[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
        """Each part in G that is seen, beside each other part that is seen."""
        known = [a in self.grouping for a in attributes]
        return {
            tuple(x if k else y for k, x, y in zip(known, one, other, strict=True))
            for one, other in product(seen, repeat=2)
        }

    def _refuse_what_cannot_be_verified(self) -> None:
        cells = [
            (c, cell) for f in self.files for i in range(len(f.rows)) for c, cell in f.cells_of(i) if not c.virtual
        ]
        if self.nulls == "wildcard" and any(self.openness(c, cell) == "mixed" for c, cell in cells):
            raise NotVerified("wildcard beside mixed columns")
        shown = {(c, a) for c, cell in cells for a in c.carried(cell)}
        for c in {c for c, _ in cells if c.kind == "class_id" and c.carries & self.grouping}:
            others = c.carries - self.grouping
            if any(a in others for d, a in shown if d is not c):
                raise NotVerified("a class id over grouping and other attributes beside these others")
