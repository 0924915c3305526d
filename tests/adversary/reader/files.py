"""What was released: the source, and files with columns, kinds of cells, absent rows and virtual columns.

A file is described as the steward knows it: each row with the source rows that it was made of, each column with the
attributes that it carries. `prepare` brings source and files into the form in which the reader looks at them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import Any

MISSING = None
SUPPRESSED = "⊥"
DRAWN_KINDS = ("exchanged", "noisy", "generated")
"""Kinds of cells that are no function of what they carry, because of a draw."""

SourceRow = dict[str, Any]


class NotVerified(Exception):
    """The model has no figure for this case."""


class TruthExcluded(Exception):
    """The true rows are not among the guesses (PPF902): lineage, pairing or this code is wrong."""


@dataclass(frozen=True)
class HiddenCells:
    """The cells of a column that a step hid.

    ``requirement`` is the one for whose sake whole classes were hidden, ``sensitive`` its sensitive attribute; both are
    None where cells were hidden for another reason.
    """

    carries: frozenset[str]
    mark: Any = "*"
    requirement: str | None = None
    sensitive: str | None = None


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A column with the attributes that its cells carry.

    ``kind`` is map, class_id, exchanged, averaged, noisy, keyed or generated. ``key`` names key and scope of keyed
    cells; the attribute under the key may also be given as ``attribute@key`` among those carried. ``unkeyed`` is what
    missing and suppressed cells of such a column carry, since no key changes them.
    """

    name: str
    carries: frozenset[str]
    kind: str = "map"
    key: str | None = None
    hidden: HiddenCells | None = None
    virtual: bool = False
    unkeyed: frozenset[str] | None = None

    def is_hidden(self, cell: Any) -> bool:
        """Whether a cell is one of the hidden ones."""
        return self.hidden is not None and cell == self.hidden.mark

    def carried(self, cell: Any) -> frozenset[str]:
        """The attributes that a cell carries; shown cells beside hidden ones carry what decided on hiding, too."""
        if self.is_hidden(cell):
            return self.hidden.carries
        if self.unkeyed is not None and (cell is MISSING or cell == SUPPRESSED):
            return self.unkeyed
        if self.hidden is None:
            return self.carries
        return self.carries | (self.hidden.carries - {self.hidden.sensitive})

    def failed_requirement(self, cell: Any) -> str | None:
        """The requirement for which the class of a cell was hidden."""
        return self.hidden.requirement if self.hidden is not None and self.is_hidden(cell) else None


@dataclass
class ReleasedRow:
    """A row with the source rows it was made of: one, or several in the referred table of linked tables."""

    origins: tuple[int, ...]
    cells: dict[str, Any]
    absent: bool = False


@dataclass
class ReleasedFile:
    """A file.

    ``absent`` lists the source rows, or the groups of them, that it lacks for a reason other than chance, ``present``
    the attributes that decided about it. ``sampled`` files lack rows by chance. ``moved`` columns were moved by one
    draw a row. ``refers`` names the tables to which the file's ``table`` refers. ``then`` has the values of source rows
    that have changed since the file was made, as they were.
    """

    name: str
    columns: list[ReleasedColumn]
    rows: list[ReleasedRow]
    absent: list[int | tuple[int, ...]] = field(default_factory=list)
    present: frozenset[str] | None = None
    sampled: bool = False
    shuffled: bool = True
    moved: tuple[str, ...] = ()
    table: str = ""
    refers: tuple[str, ...] = ()
    index: dict[int, int] = field(default_factory=dict)
    then: dict[int, SourceRow] = field(default_factory=dict)

    def column(self, name: str) -> ReleasedColumn:
        """The column of a name."""
        return next(c for c in self.columns if c.name == name)

    def cells_of(self, row: int) -> list[tuple[ReleasedColumn, Any]]:
        """The cells of a row with their columns, virtual ones among them; an absent row has no others."""
        cells = self.rows[row].cells
        return [(c, cells[c.name]) for c in self.columns if c.name in cells]


@dataclass
class PreparedFiles:
    """Source and files as the reader sees them: equal attributes merged, keyed attributes and virtual columns added.

    ``people`` has the person of each source row, which is the row itself where there is no subject. ``names`` gives
    the name that an attribute has after merging.
    """

    source: list[SourceRow]
    files: list[ReleasedFile]
    people: list[Any]
    subject: str | None
    names: dict[str, str]

    def person_of(self, file: ReleasedFile, row: int) -> Any:
        """The person behind a row of a file."""
        return self.people[file.rows[row].origins[0]]

    def rows_by_person(self) -> dict[Any, list[int]]:
        """The source rows of each person."""
        rows: dict[Any, list[int]] = defaultdict(list)
        for k, person in enumerate(self.people):
            rows[person].append(k)
        return rows


def prepare(
    source: Sequence[Mapping[str, Any]],
    files: Sequence[ReleasedFile],
    *,
    subject: str | None = None,
    determines: Mapping[str, Iterable[str]] | None = None,
    weights: Sequence[int] | None = None,
) -> PreparedFiles:
    """Prepare source and files; the arguments stay as they are.

    ``determines`` lists, by attribute, those that it determines by declaration. A row of weight n counts as n rows.
    """
    rows, files = [dict(r) for r in source], list(files)
    if weights is not None:
        rows, files = expand_weights(rows, files, weights)
    names = equal_attributes(rows)
    files = [_renamed(f, names, determines or {}) for f in files]
    _add_keyed_attributes(rows, files)
    subject = names.get(subject, subject) if subject else None
    for file in files:
        _add_virtual_columns(file, rows)
        groups = [k if isinstance(k, tuple) else (k,) for k in file.absent]
        file.rows += [ReleasedRow(group, _absent_cells(file), absent=True) for group in groups]
        file.index = {k: i for i, row in enumerate(file.rows) for k in row.origins}
    people = [row[subject] if subject else k for k, row in enumerate(rows)]
    return PreparedFiles(rows, files, people, subject, names)


def equal_attributes(source: Sequence[SourceRow]) -> dict[str, str]:
    """Name each attribute by the first one that is equal to it in every row."""
    names: dict[str, str] = {}
    first: dict[tuple[Any, ...], str] = {}
    for attribute in source[0]:
        names[attribute] = first.setdefault(tuple((type(r[attribute]) is str, r[attribute]) for r in source), attribute)
    return names


def expand_weights(
    source: Sequence[SourceRow], files: Sequence[ReleasedFile], weights: Sequence[int]
) -> tuple[list[SourceRow], list[ReleasedFile]]:
    """Repeat each source row as often as its weight says, and its row in each file unless the file has done so."""
    copies, rows = [], []
    for row, weight in zip(source, weights, strict=True):
        copies.append(range(len(rows), len(rows) + weight))
        rows += [dict(row) for _ in range(weight)]
    expanded = []
    for file in files:
        numbers = Counter(k for row in file.rows for k in row.origins)
        remaining = {k: iter(c) for k, c in enumerate(copies)}
        made = []
        for row in file.rows:
            (k,) = row.origins
            if numbers[k] not in (1, weights[k]):
                raise ValueError("a file has a row neither once nor as often as its weight says")
            times = weights[k] if numbers[k] == 1 else 1
            made += [ReleasedRow((next(remaining[k]),), dict(row.cells)) for _ in range(times)]
        expanded.append(replace(file, rows=made, absent=[c for k in file.absent for c in copies[k]]))
    return rows, expanded


def lineage_violations(prepared: PreparedFiles) -> list[tuple[str, str]]:
    """Files and columns in which rows with equal carried values show different cells of one kind."""
    violations = set()
    for file in prepared.files:
        for column in file.columns:
            if column.virtual or column.kind in DRAWN_KINDS:
                continue
            cells: dict[Any, Any] = {}
            for row in file.rows:
                if column.name in row.cells:
                    cell = row.cells[column.name]
                    k = row.origins[0]
                    values = [file.then.get(k, prepared.source[k])[a] for a in sorted(column.carried(cell))]
                    kind = column.failed_requirement(cell)
                    if cells.setdefault((kind, tuple(values)), cell) != cell:
                        violations.add((file.name, column.name))
    return sorted(violations)


def _renamed(file: ReleasedFile, names: Mapping[str, str], determines: Mapping[str, Iterable[str]]) -> ReleasedFile:
    """Copy a file with merged attributes, those that others determine, and names for keyed attributes."""

    def complete(attributes: Iterable[str]) -> frozenset[str]:
        known, added = set(), set(attributes)
        while added:
            known |= added
            added = {b for a in added for b in determines.get(a, ())} - known
        return frozenset(renamed(a) for a in known)

    def renamed(attribute: str) -> str:
        plain, at, key = attribute.partition("@")
        return f"{names.get(plain, plain)}{at}{key}"

    columns = []
    for c in file.columns:
        keyed, unkeyed = c.carries, c.unkeyed
        if c.key is not None:
            keyed, unkeyed = {keyed_name(a, c.key) for a in c.carries}, c.carries
        hidden = c.hidden
        if hidden is not None:
            sensitive = names.get(hidden.sensitive, hidden.sensitive) if hidden.sensitive else None
            hidden = replace(hidden, carries=complete(hidden.carries), sensitive=sensitive)
        columns.append(replace(c, carries=complete(keyed), hidden=hidden, unkeyed=unkeyed and complete(unkeyed)))
    rows = [replace(r, cells=dict(r.cells)) for r in file.rows]
    present = None if file.present is None else complete(file.present)
    then = {k: dict(row) for k, row in file.then.items()}
    return replace(file, columns=columns, rows=rows, present=present, then=then)


def keyed_name(attribute: str, key: str | None) -> str:
    """The name of an attribute under a key, which is another one than the plain attribute."""
    return f"{attribute}@{key}"


def _add_keyed_attributes(source: list[SourceRow], files: Collection[ReleasedFile]) -> None:
    for name in {a for f in files for c in f.columns for a in _all_carried(c) if "@" in a}:
        for row in (*source, *(row for f in files for row in f.then.values())):
            row[name] = row[name.partition("@")[0]]


def _all_carried(column: ReleasedColumn) -> frozenset[str]:
    return column.carries | (column.hidden.carries if column.hidden else frozenset())


def _absent_cells(file: ReleasedFile) -> dict[str, Any]:
    return {} if file.present is None else {"present": False}


def _add_virtual_columns(file: ReleasedFile, source: Sequence[SourceRow]) -> None:
    """Add ``rows``, ``place``, ``difference`` and ``present`` where the file has them."""
    for c in [c for c in file.columns if c.kind == "keyed" and not file.sampled]:
        numbers = Counter(row.cells[c.name] for row in file.rows)
        plain = {a.partition("@")[0] for a in c.carries}
        _add_column(file, f"rows:{c.name}", plain, [numbers[row.cells[c.name]] for row in file.rows])
    if not file.shuffled:
        for attribute, blocks in blocks_of_equal_values(source).items():
            cells = [tuple(sorted({blocks[source[k][attribute]] for k in row.origins})) for row in file.rows]
            _add_column(file, f"place:{attribute}", {attribute}, cells)
    for one, other in combinations(file.moved, 2):
        carries = file.column(one).carries | file.column(other).carries
        cells = [_difference(row.cells[one], row.cells[other]) for row in file.rows]
        _add_column(file, f"difference:{one},{other}", carries, cells)
    if file.present is not None:
        _add_column(file, "present", file.present, [True] * len(file.rows))


def blocks_of_equal_values(source: Sequence[SourceRow]) -> dict[str, dict[Any, int]]:
    """Number the blocks of each plain attribute that has fewer values than rows and whose equal values lie together."""
    found = {}
    for attribute in (a for a in source[0] if "@" not in a):
        values = [row[attribute] for row in source]
        starts = [v for v, _ in groupby(values)]
        if len(starts) == len(set(values)) < len(values):
            found[attribute] = {v: n for n, v in enumerate(starts)}
    return found


def _difference(one: Any, other: Any) -> Any:
    return MISSING if MISSING in (one, other) else one - other


def _add_column(file: ReleasedFile, name: str, carries: Iterable[str], cells: Sequence[Any]) -> None:
    file.columns.append(ReleasedColumn(name, frozenset(carries), virtual=True))
    for row, cell in zip(file.rows, cells, strict=True):
        row.cells[name] = cell
