"""Files of earlier runs: what a ledger keeps of their cells, and where their rows lie beside those of a later source.

A ledger keeps no value, only keyed hashes of 63 bits. If a person's value has changed since then, the present value is
used, with the cells that the person would have had: this restricts no reader who looks for that person. A reader who
looks for somebody else uses the cells as they are: for that reader, such an earlier row is a row of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ppdm_flow.core.lineage import CellKind
from ppdm_flow.reader.files import FUNCTIONS, MISSING, NO_CELL, Ints, ReleasedColumn, ReleasedFile, numbered

SUPPRESSED_HASH = -3
"""Code of a suppressed value in place of a hash; `MISSING` is that of a missing one."""
NOWHERE = -1
PRESENT = "present"
"""The virtual column that tells the rows of a file from those that it lacks."""
UNKNOWN_HASH = -4
"""Code of a value that no file tells, of people who are not in the source."""
ALIKE = 0.9
"""Cohen's kappa from which two attributes are one."""
IN_ORDER = 0.75
"""The share of neighbours from which two orders are one; of orders that have nothing in common it is half."""
NOBODY: Ints = np.zeros(0, dtype=np.int64)
DIGITS = 8
"""Of pseudonyms of one key, as many first digits are equal as the shortest have."""


class Hashing(Protocol):
    """The keyed hashes, 0 or more, by which a ledger knows people and values; ``subject`` says whose a row is."""

    @property
    def subject(self) -> str:
        """The attribute of the source that tells people apart."""
        ...

    def people(self, texts: Sequence[str]) -> Ints:
        """Return the hashes of people; two spellings of one person have the same."""
        ...

    def values(self, texts: Sequence[str]) -> Ints:
        """Return the hashes of values."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class KeptColumn:
    """Cells of one kind in one column of a file, ``cells`` (rows,) as those of a `ReleasedColumn`.

    ``hashes`` (rows,) of what cells hold are there where it is no function of the values: keyed, and drawn ones.
    """

    name: str
    carries: frozenset[str]
    kind: CellKind
    key: str
    hidden: bool
    hidden_for: str
    virtual: bool
    cells: Ints
    hashes: Ints | None


@dataclass(frozen=True, slots=True, eq=False)
class KeptFile:
    """A file of an earlier run, and the rows that it lacks by their values, by their people.

    ``people`` (rows,) are hashes of whose they are, ``attributes`` (rows,) those of the values that cells carry.
    ``order`` (rows,) is there for a file in the order of its source: the places in it. Other names are those of
    `ReleasedFile`.
    """

    name: str
    table: str
    people: Ints
    attributes: Mapping[str, Ints]
    columns: tuple[KeptColumn, ...]
    absent: npt.NDArray[np.bool_]
    decided: frozenset[str] | None
    sampled: bool
    moved: tuple[frozenset[str], ...]
    order: Ints | None = None

    def renamed(self, names: Mapping[str, str]) -> KeptFile:
        """Return the file with other names of some attributes."""

        def of(attributes: frozenset[str]) -> frozenset[str]:
            return frozenset(names.get(a, a) for a in attributes)

        values = {names.get(a, a): v for a, v in self.attributes.items()}
        return replace(
            self,
            attributes=values | {a: v for a, v in self.attributes.items() if a in values},
            columns=tuple(replace(c, carries=of(c.carries)) for c in self.columns),
            decided=None if self.decided is None else of(self.decided),
            moved=tuple(map(of, self.moved)),
        )

    def with_strangers(self, people: Ints, strangers: Ints) -> KeptFile:
        """Return the file with ``strangers`` in the place of ``people``: nobody knows values of theirs."""
        own, gone = self.people.copy(), np.isin(self.people, people)
        for person, stranger in zip(people, strangers, strict=True):
            own[self.people == person] = stranger
        attributes = {name: np.where(gone, UNKNOWN_HASH, hashes) for name, hashes in self.attributes.items()}
        columns = tuple(
            c if c.hashes is None else replace(c, hashes=np.where(gone & (c.hashes >= 0), UNKNOWN_HASH, c.hashes))
            for c in self.columns
        )
        return replace(self, people=own, attributes=attributes, columns=columns)

    def packed(self) -> bytes:
        """Return the file in a form that `unpacked` reads."""
        said = {
            "table": self.table,
            "attributes": list(self.attributes),
            "columns": [
                {
                    "name": c.name,
                    "carries": sorted(c.carries),
                    "kind": c.kind.value,
                    "key": c.key,
                    "hidden": c.hidden,
                    "hidden_for": c.hidden_for,
                    "virtual": c.virtual,
                    "hashed": c.hashes is not None,
                }
                for c in self.columns
            ],
            "decided": None if self.decided is None else sorted(self.decided),
            "sampled": self.sampled,
            "moved": [sorted(each) for each in self.moved],
        }
        arrays: dict[str, Any] = {"people": self.people, "absent": self.absent}
        arrays |= {f"v{i}": each for i, each in enumerate(self.attributes.values())}
        arrays |= {f"c{i}": c.cells for i, c in enumerate(self.columns)}
        arrays |= {f"h{i}": c.hashes for i, c in enumerate(self.columns) if c.hashes is not None}
        arrays |= {} if self.order is None else {"order": self.order}
        table = pa.table(arrays).replace_schema_metadata({"file": json.dumps(said)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())


def unpacked(name: str, data: bytes) -> KeptFile:
    """Return a file that was packed, as what messages call ``name``. Raises ValueError or KeyError for other bytes."""
    with pa.ipc.open_stream(data) as stream:
        table = stream.read_all()
    said = json.loads(table.schema.metadata[b"file"])
    array = {n: table[n].to_numpy() for n in table.column_names}
    columns = tuple(
        KeptColumn(
            c["name"],
            frozenset(c["carries"]),
            CellKind(c["kind"]),
            c["key"],
            c["hidden"],
            c["hidden_for"],
            c["virtual"],
            array[f"c{i}"],
            array[f"h{i}"] if c["hashed"] else None,
        )
        for i, c in enumerate(said["columns"])
    )
    return KeptFile(
        name,
        said["table"],
        array["people"],
        {a: array[f"v{i}"] for i, a in enumerate(said["attributes"])},
        columns,
        array["absent"],
        None if said["decided"] is None else frozenset(said["decided"]),
        said["sampled"],
        tuple(map(frozenset, said["moved"])),
        array.get("order"),
    )


@dataclass(frozen=True, slots=True, eq=False)
class HashedSource:
    """The source as a ledger knows it: hashes of ``people`` (rows,) and of ``attributes`` (rows,).

    ``by_code`` are those of an attribute's values by their codes.
    """

    people: Ints
    attributes: Mapping[str, Ints]
    by_code: Mapping[str, Ints]

    @classmethod
    def of(cls, codes: Mapping[str, Ints], texts: Mapping[str, pa.StringArray], hashing: Hashing) -> HashedSource:
        """Hash each different value once; ``codes`` and ``texts`` are those of the attributes."""
        by_code = {n: np.append(hashing.values(t.to_pylist()), SUPPRESSED_HASH) for n, t in texts.items()}
        subject = np.append(hashing.people(texts[hashing.subject].to_pylist()), [MISSING, MISSING])
        values = {n: np.append(hashes, MISSING)[codes[n]] for n, hashes in by_code.items()}
        return cls(subject[codes[hashing.subject]], values, by_code)

    def with_rows_of(self, kept: KeptFile, apart: Ints) -> HashedSource:
        """Return the source with the rows of a file's other people, and those of ``apart`` that have changed since.

        Of other people that are there already, the file tells what is not known yet.
        """
        row_of = np.full(len(self.people), NOWHERE)
        if len(apart) or any((known == UNKNOWN_HASH).any() for known in self.attributes.values()):
            row_of = _rows_of(kept, self, apart)
        others = ~np.isin(kept.people, self.people)
        others |= ~np.isin(np.arange(len(kept.people)), row_of) & np.isin(kept.people, apart)
        gone = np.flatnonzero(others & (kept.people != MISSING))
        unknown = np.full(len(gone), UNKNOWN_HASH)
        values = {}
        for attribute, known in self.attributes.items():
            hashes = kept.attributes.get(attribute)
            if hashes is not None:
                known = np.where((known == UNKNOWN_HASH) & (row_of >= 0), hashes[row_of], known)
            values[attribute] = np.append(known, unknown if hashes is None else hashes[gone])
        return replace(self, people=np.append(self.people, kept.people[gone]), attributes=values)

    def codes(self, attribute: str, rows: int) -> Ints:
        """Return codes of the values of the last ``rows``: those of the source's values, and more for others."""
        known, values = self.by_code[attribute], self.attributes[attribute][len(self.people) - rows :]
        code = pd.Index(known).get_indexer(pd.Index(values))
        more = len(known) + pd.factorize(values)[0]
        return np.where(values == MISSING, MISSING, np.where(code >= 0, code, more)).astype(np.int64)


def beside_source(earlier: Sequence[KeptFile], source: HashedSource, *, apart: bool = False) -> list[BesideSource]:
    """Return the files of people of a source, beside it and the other people of these files, who come last.

    ``apart``: so do rows whose values have changed since.
    """
    beside = [each for each in (BesideSource.of(kept, source) for kept in earlier) if (each.row_of >= 0).any()]
    every, own = source, source.people if apart else NOBODY
    for one in beside:
        every = every.with_rows_of(one.kept, own)
    if len(every.people) == len(source.people):
        return beside
    return [BesideSource(one.kept, every, _rows_of(one.kept, every, own)) for one in beside]


def _rows_of(kept: KeptFile, source: HashedSource, apart: Ints = NOBODY) -> Ints:
    """Return the row of a file for each row of the source, or `NOWHERE`: of people ``apart`` by equal values only."""
    shared = [a for a in kept.attributes if a in source.attributes]
    then = pd.DataFrame({"person": kept.people} | {i: kept.attributes[a] for i, a in enumerate(shared)})
    now = pd.DataFrame({"person": source.people} | {i: source.attributes[a] for i, a in enumerate(shared)})
    then, now = then[then["person"] != MISSING], now[now["person"] != MISSING]
    row_of = np.full(len(source.people), NOWHERE, dtype=np.int64)
    for keys in ([*then.columns], ["person"]):
        numbers = [each[keys].assign(nth=each.groupby(keys).cumcount(), row=each.index) for each in (then, now)]
        matches = numbers[0].merge(numbers[1], on=[*keys, "nth"], suffixes=("", "_now"))
        row_of[matches["row_now"].to_numpy()] = matches["row"].to_numpy()
        then, now = then[~then.index.isin(matches["row"])], now[~now.index.isin(matches["row_now"])]
        then = then[~then["person"].isin(apart)]
    return row_of


def _renamed(kept: KeptFile, source: HashedSource, row_of: Ints) -> dict[str, str]:
    """Return the new names of attributes that the source has no more under the old ones."""
    here = np.flatnonzero(row_of >= 0)
    new = {a: v[here] for a, v in source.attributes.items() if a not in kept.attributes}
    out = {}
    for attribute, values in kept.attributes.items():
        if attribute not in source.attributes and len(here):
            then = values[row_of[here]]
            name = next((a for a, now in new.items() if _are_alike(then, now)), None)
            if name is not None:
                out[attribute] = name
    return out


def _are_alike(one: Ints, other: Ints) -> bool:
    """Say whether values agree so often that they are one attribute's, even if some have changed since.

    Beside the agreement that comes by chance (Cohen 1960, kappa).
    """
    shares = [pd.Series(each).value_counts(normalize=True) for each in (one, other)]
    by_chance = float(shares[0].mul(shares[1], fill_value=0).sum())
    return float((one == other).mean()) - by_chance >= ALIKE * (1 - by_chance)


@dataclass(frozen=True, slots=True, eq=False)
class BesideSource:
    """An earlier file beside a source: ``row_of`` (rows of the source,) is the row of the file, or `NOWHERE`."""

    kept: KeptFile
    source: HashedSource
    row_of: Ints

    @classmethod
    def of(cls, kept: KeptFile, source: HashedSource) -> BesideSource:
        """Find the rows of the people of a source: those with equal values first, then any of the same person's.

        An attribute that the source has under another name gets that name.
        """
        row_of = _rows_of(kept, source)
        if renamed := _renamed(kept, source, row_of):
            kept = kept.renamed(renamed)
            row_of = _rows_of(kept, source)
        return cls(kept, source, row_of)

    def released(self, names: Mapping[str, str]) -> ReleasedFile:
        """Return the rows of the people of the source; ``names`` are those of the attributes in it.

        Rows of people who came later are lacking, but from a file that lacks rows by chance.
        """
        rows = np.flatnonzero(self.row_of >= 0)
        rows = rows[np.argsort(self.kept.absent[self.row_of[rows]], kind="stable")]
        later = np.flatnonzero(self.row_of < 0)[: 0 if self.kept.sampled else None]
        at, place = self.row_of[rows], np.full(len(self.row_of), NOWHERE, dtype=np.int64)
        place[np.append(rows, later)] = np.arange(len(rows) + len(later))
        absent = np.append(self.kept.absent[at], np.ones(len(later), dtype=np.bool_))

        def one(attributes: frozenset[str]) -> frozenset[str]:
            return frozenset(names[a] for a in attributes)

        columns = [
            ReleasedColumn(
                c.name,
                np.append(self._cells(c, rows, at), np.full(len(later), NO_CELL)),
                one(c.carries),
                c.kind,
                c.key,
                hidden=c.hidden,
                hidden_for=c.hidden_for,
                virtual=c.virtual,
            )
            for c in self.kept.columns
        ]
        decided = None
        if absent.any():
            decided = one(self.kept.decided or frozenset())
            columns.append(ReleasedColumn(PRESENT, (~absent).astype(np.int64), decided, virtual=True))
        moved = tuple(map(one, self.kept.moved))
        return ReleasedFile(self.kept.name, place, tuple(columns), absent, decided, self.kept.sampled, moved=moved)

    def hashes(self, column: KeptColumn) -> Ints:
        """Return the hashes of a column (rows of the source,), `NO_CELL` where the file has no row."""
        if column.hashes is None:
            raise ValueError(f"cells of {column.kind} mean nothing in other files, but their hashes were asked for")
        return np.where(self.row_of >= 0, column.hashes[self.row_of], NO_CELL)

    def unchanged(self, column: KeptColumn) -> npt.NDArray[np.bool_]:
        """Say of each row of the source whether it has the values still of which the file's cell was made."""
        out = self.row_of >= 0
        for attribute in column.carries.intersection(self.source.attributes):
            out &= self.kept.attributes[attribute][self.row_of] == self.source.attributes[attribute]
        return out

    @property
    def has_changed(self) -> bool:
        """Whether somebody has other values than those of which the file's cells were made."""
        here = np.flatnonzero(self.row_of >= 0)
        both = ((v[self.row_of[here]], self.source.attributes.get(a)) for a, v in self.kept.attributes.items())
        return any(now is not None and bool((then != now[here]).any()) for then, now in both)

    def _cells(self, column: KeptColumn, rows: Ints, at: Ints) -> Ints:
        """Return cells of rows: for values that have changed since, those that the values of today had."""
        cells = column.cells[at]
        known = None if len(column.carries) > 1 else self.source.by_code.get(next(iter(column.carries)))
        if column.hashes is not None and column.kind is not CellKind.KEYED and known is not None:
            code = pd.Index(known).get_indexer(pd.Index(column.hashes[at]))
            cells = np.where(code >= 0, code, np.where(cells < 0, cells, len(known) + cells))
        if column.virtual or column.kind not in FUNCTIONS:
            return cells
        shared = [a for a in sorted(column.carries) if a in self.source.attributes]
        then, now = ([of[a] for a in shared] for of in (self.kept.attributes, self.source.attributes))
        differ = [t[at] != n[rows] for t, n in zip(then, now, strict=True)]
        changed = np.flatnonzero(np.any(differ, axis=0)) if differ else rows[:0]
        if len(changed):
            many = len(self.kept.people)
            both = [np.append(t, n[rows[changed]]) for t, n in zip(then, now, strict=True)]
            number, first = numbered(both, many + len(changed))
            same = first[number[many:]]
            cells[changed] = np.where(same < many, column.cells[np.minimum(same, many - 1)], cells[changed])
        return cells


def lost_attributes(beside: Sequence[BesideSource]) -> dict[str, Ints]:
    """Return codes (rows,) of the attributes that earlier files carry and the source has no more."""
    lost: dict[str, Ints] = {}
    for one in beside:
        for attribute, hashes in one.kept.attributes.items():
            if attribute not in one.source.attributes:
                values = np.where(one.row_of >= 0, hashes[one.row_of], NO_CELL)
                before = lost.get(attribute, values)
                lost[attribute] = np.where(before == NO_CELL, values, before)
    return {a: pd.factorize(values)[0].astype(np.int64) for a, values in lost.items()}


def with_orders(beside: Sequence[BesideSource], own: Sequence[str], rows: int) -> list[str]:
    """Return for each earlier file the name of its shared order, even if only a file of its run shares it; or nothing.

    ``own`` are the names that files of the run in the order of the source, of so many ``rows``, have for it.
    """
    places = {name: np.arange(rows) for name in own[:1]}
    names = []
    for number, one in enumerate(beside):
        name = ""
        if one.kept.order is not None:
            mine = np.where(one.row_of >= 0, one.kept.order[one.row_of], NO_CELL)
            name = next((n for n, other in places.items() if _in_one_order(mine, other)), f"{number}")
            places.setdefault(name, mine)
        names.append(name)
    return [name if name in own or names.count(name) > 1 else "" for name in names]


def _in_one_order(one: Ints, other: Ints) -> bool:
    """Say whether most neighbours among the rows that both have are in the same order."""
    one, other = (each[: min(len(one), len(other))] for each in (one, other))
    both = np.flatnonzero((one >= 0) & (other >= 0))
    steps = np.diff(one[both[np.argsort(other[both], kind="stable")]])
    return len(steps) > 0 and float((steps > 0).mean()) >= IN_ORDER


def with_one_name_a_key(
    beside: Sequence[BesideSource],
    files: Sequence[ReleasedFile],
    keyed: Sequence[tuple[frozenset[str], str, Ints]],
) -> tuple[ReleasedFile, ...]:
    """Return the earlier ``files`` with one name for each key: cells, not the names of keys, tell which is which.

    ``keyed`` are the columns of the run's own files: what they carry, their key, and hashes (rows of the source,).
    """
    every = list(keyed)
    out = []
    for one, file in zip(beside, files, strict=True):
        columns = []
        for kept, column in zip(one.kept.columns, file.columns, strict=False):  # `present` comes last
            if kept.hashes is None or kept.kind is not CellKind.KEYED:
                columns.append(column)
                continue
            hashes = np.where(one.unchanged(kept), one.hashes(kept), NO_CELL)
            alike = (k for carries, k, other in every if carries == column.carries and _mostly_equal(hashes, other))
            key = next(alike, f"{kept.key} of {file.name}")
            every.append((column.carries, key, hashes))
            columns.append(replace(column, key=key))
        out.append(replace(file, columns=(*columns, *file.columns[len(columns) :])))
    return tuple(out)


def hashes_of_pseudonyms(texts: Sequence[str], hashing: Hashing) -> Ints:
    """Return hashes of keyed cells, equal for those of one key and value that were cut to different lengths."""
    first = [text[:DIGITS] for text in texts]
    return hashing.values(first if len(set(first)) >= ALIKE * len(texts) else texts)


def _mostly_equal(one: Ints, other: Ints) -> bool:
    """Say whether at least half of the rows that both have are equal."""
    both = (one >= 0) & (other >= 0)
    return bool(both.any()) and 2 * int((one[both] == other[both]).sum()) >= int(both.sum())


def without_copies(files: Sequence[ReleasedFile], earlier: Sequence[ReleasedFile]) -> tuple[ReleasedFile, ...]:
    """Return the ``earlier`` files that show more than one of the ``files``, or of those before, shows already."""
    out: list[ReleasedFile] = []
    for file in earlier:
        if not any(_is_shown(file, other) for other in (*files, *out)):
            out.append(file)
    return tuple(out)


def _is_shown(one: ReleasedFile, other: ReleasedFile) -> bool:
    """Say whether one file has the rows of another one and no cells that tell them apart otherwise than its own do."""
    rows = np.flatnonzero(one.place >= 0)
    there = np.array_equal(one.place >= 0, other.place >= 0)
    there = there and np.array_equal(one.absent[one.place[rows]], other.absent[other.place[rows]])
    if one.sampled or other.sampled or one.moved or not there:
        return False
    columns_with_cells = [(each, each.cells[other.place[rows]]) for each in other.columns]
    return all(_is_told(each, each.cells[one.place[rows]], columns_with_cells) for each in one.columns)


def tells_more(earlier: ReleasedFile, own: Sequence[ReleasedFile], attributes: frozenset[str], *, drawn: bool) -> bool:
    """Say whether an earlier file shows of rows of one's ``own`` files, and of ``attributes``, more than these do.

    Not ``drawn``: columns of noisy and drawn cells are left out.
    """
    columns = tuple(c for c in earlier.columns if c.carries & attributes and (drawn or c.kind is not CellKind.NOISY))
    shared = [(file, _shown_by_both(earlier, file)) for file in own]
    shared = [(file, rows) for file, rows in shared if rows.any()]
    if not columns or not shared:
        return False
    part = replace(earlier, columns=columns)
    return not any(_is_shown(_of_rows(part, rows), _of_rows(file, rows)) for file, rows in shared)


def _shown_by_both(one: ReleasedFile, other: ReleasedFile) -> npt.NDArray[np.bool_]:
    """Say of each row of the source whether two files show it."""
    shown = [np.append(~file.absent, False)[file.place] for file in (one, other)]  # nowhere is last
    return np.asarray(shown[0] & shown[1])


def _of_rows(file: ReleasedFile, rows: npt.NDArray[np.bool_]) -> ReleasedFile:
    return replace(file, place=np.where(rows, file.place, NOWHERE))


def shows_no_more(one: KeptFile, other: KeptFile) -> bool:
    """Say whether one kept file shows of the same rows only what another one shows."""
    there = np.array_equal(one.people, other.people) and np.array_equal(one.absent, other.absent)
    if one.sampled or other.sampled or one.moved or not there:
        return False
    if one.order is not None and (other.order is None or not np.array_equal(one.order, other.order)):
        return False
    columns_with_cells = [(each, each.cells) for each in other.columns]
    same = (
        np.array_equal(values, other.attributes[name])
        for name, values in one.attributes.items()
        if name in other.attributes
    )
    return all(same) and all(
        _is_told(c, c.cells, columns_with_cells) if c.hashes is None else _is_shown_again(c, c.hashes, other.columns)
        for c in one.columns
    )


def _is_shown_again(column: KeptColumn, hashes: Ints, others: Sequence[KeptColumn]) -> bool:
    """Say whether another column has the same keyed or drawn cells."""
    alike = (each.hashes for each in others if all(getattr(column, n) == getattr(each, n) for n in OF_A_KIND))
    return any(each is not None and np.array_equal(hashes, each) for each in alike)


AnyColumn = ReleasedColumn | KeptColumn
OF_A_KIND = ("carries", "kind", "hidden", "virtual")


def _is_told(column: AnyColumn, cells: Ints, columns_with_cells: Sequence[tuple[AnyColumn, Ints]]) -> bool:
    """Say whether a column has the same cells as another one of the same kind, possibly under other labels."""
    for other, others in columns_with_cells:
        if any(getattr(column, n) != getattr(other, n) for n in (*OF_A_KIND, "key")):
            continue
        if column.kind not in FUNCTIONS and (cells != others).any():
            continue
        several = [len(numbered(columns, len(cells))[1]) for columns in ([cells], [others], [cells, others])]
        if len(set(several)) == 1 and ((cells == NO_CELL) == (others == NO_CELL)).all():
            return True
    return False
