"""The source and the files of a run, made of their rows beside those of the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import CellKind, Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.reader.earlier import (
    PRESENT,
    SUPPRESSED_HASH,
    BesideSource,
    HashedSource,
    Hashing,
    KeptColumn,
    KeptFile,
    beside_source,
    hashes_of_pseudonyms,
    lost_attributes,
    with_one_name_a_key,
    with_orders,
    without_copies,
)
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.files import (
    FUNCTIONS,
    MISSING,
    NO_CELL,
    Ints,
    ReleasedColumn,
    ReleasedFile,
    SourceRows,
    as_one,
    numbered,
)
from ppdm_flow.reader.linked import NOWHERE, LinkedTableRows, joined_tables
from ppdm_flow.reader.people import usually_steady
from ppdm_flow.reader.row_kinds import ReaderQuestion
from ppdm_flow.sdk.audit import OtherRelease
from ppdm_flow.tables.column import SUPPRESSED, Column
from ppdm_flow.tables.counts import weights_of
from ppdm_flow.tables.numeric.column import floats_of_texts
from ppdm_flow.tables.table import RowNumbers, Table, concat

Floats = npt.NDArray[np.float64]
T = TypeVar("T")
V = TypeVar("V")

_COPIES = 2
"""Files that show the same cells, of which any number tells as much."""
MICROSECONDS_OF_DAY = 86_400_000_000
ORDER = "(order) "
"""Begins the attribute that rows in one order have in common: no attribute of a policy has such a name."""


@dataclass(frozen=True, slots=True, eq=False)
class RunFiles:
    """The source and the files of a run. ``same`` names the attribute that is equal to another in every row.

    ``texts`` are the texts of each attribute's codes. After the ``own`` files of the run come those of earlier ones,
    since which values of somebody have ``changed``. ``hashed`` is the source as their ledger knows it. ``copies``: all
    files show the same cells of each row, so that two of them tell as much as all of them.
    """

    source: SourceRows
    files: tuple[ReleasedFile, ...]
    same: Mapping[str, str]
    texts: Mapping[str, pa.StringArray]
    own: int
    changed: bool = False
    hashed: HashedSource | None = None
    copies: bool = False

    def telling(self, question: ReaderQuestion, alone: Collection[int] = ()) -> tuple[ReleasedFile, ...]:
        """Return the files that have to be looked at: the first two where all are copies of each other.

        With each file that shows the same cells a guess takes a row with the same cells, all of whose chances with one
        row add up to 1: another such file changes no weight and allows no value less. ``alone`` are files whose views
        are taken by themselves too.
        """
        few = self.copies and not alone and question.nulls != Nulls.WILDCARD.value
        return self.files[:_COPIES] if few else self.files

    def spread(self, found: Mapping[int, T], telling: Sequence[ReleasedFile]) -> dict[int, T]:
        """Return what was found of the files that were looked at for all files: of copies it is the same."""
        if len(telling) == len(self.files):
            return dict(found)
        return {f: found[min(f, _COPIES - 1)] for f in range(len(self.files)) if min(f, _COPIES - 1) in found}

    def spread_links(self, linked: Mapping[int, list[int]], telling: Sequence[ReleasedFile]) -> dict[int, list[int]]:
        """Return for all files which others tell something of their rows: of copies all others, or none."""
        if len(telling) == len(self.files):
            return dict(linked)
        every = range(len(self.files))
        return {f: [g for g in every if g != f] if others else [] for f, others in self.spread(linked, telling).items()}

    def question(self, grouping: Sequence[str], sensitive: str, nulls: Nulls) -> ReaderQuestion:
        """Return a question about attributes of the source; attributes that are equal in every row are one."""
        known = tuple(dict.fromkeys(self.same[a] for a in grouping if a in self.same))
        return ReaderQuestion(known, self.same.get(sensitive, ""), nulls.value)

    def texts_of(self, attribute: str) -> pa.StringArray:
        """Return the texts of an attribute's codes."""
        return self.texts[self.same[attribute]] if attribute in self.same else pa.array([], pa.string())

    def by_name(self, views: Mapping[int, Sequence[V]], sensitive: str) -> dict[str, tuple[V, ...]]:
        """Return the views by file, for those that show ``sensitive`` with those that do not: nobody asks about these.

        Rows that belong together may reveal more of a person among the rows of a file that shows nothing of it. Those
        of earlier runs' files, of which no audit asks any more, are with each file of the run.
        """
        shown = self.same.get(sensitive)
        telling = {f for f, file in enumerate(self.files) if any(shown in c.carries for c in file.columns)}
        silent = [v for f, each in views.items() if telling and f not in telling for v in each]
        with_silent = {f: (*each, *(silent if f in telling else ())) for f, each in views.items()}
        earlier = [v for f, each in with_silent.items() if f >= self.own for v in each]
        own = range(self.own) if earlier else [f for f in with_silent if f < self.own]
        return {self.files[f].name: (*with_silent.get(f, ()), *earlier) for f in own}

    def read_alone(
        self, question: ReaderQuestion, quasi_identifiers: Collection[str], *, determined: bool, several: bool
    ) -> list[int]:
        """Return the files that tell more by themselves than equal cells do.

        They hide cells by class, move several by one draw or have cells that known attributes and others made, which
        are no ``quasi_identifiers``, or some attribute is ``determined`` by another. Where ``several`` rows of a person
        may be known, so do files that say of rows what is mostly the same in all rows of a person.
        """
        usual = {self.same[a] for a in quasi_identifiers if a in self.same}

        def tells(column: ReleasedColumn) -> bool:
            mixed = not column.virtual and question.openness(column) == "mixed"
            return column.hidden or (mixed and not column.carries <= usual.union(question.grouping))

        linking = self.linking(question) if several else []
        own = enumerate(self.files[: self.own])
        return [i for i, f in own if determined or f.moved or any(map(tells, f.columns)) or i in linking]

    def linking(self, question: ReaderQuestion) -> list[int]:
        """Return the files without a pseudonym that say of rows what is mostly the same in all rows of a person."""
        steady = usually_steady(self.source).difference(question.grouping)

        def links(file: ReleasedFile) -> bool:
            named = any(c.kind is CellKind.KEYED and self.source.subject in c.carries for c in file.columns)
            return not named and any(not steady.isdisjoint(c.names) for c in file.columns if c.name != PRESENT)

        return [i for i, f in enumerate(self.files[: self.own]) if links(f)]


def read_files(
    files: Sequence[OtherRelease],
    people: PeopleCount | None,
    known: frozenset[str],
    earlier: Sequence[KeptFile] = (),
    hashing: Hashing | None = None,
    attributes: frozenset[str] = frozenset(),
    *,
    merged: bool = True,
    apart: bool = False,
    hashed: HashedSource | None = None,
    checked: bool = True,
) -> RunFiles:
    """Read the rows of all files beside their originals, each once.

    After them come those of ``earlier`` runs, which know their people by ``hashing``. ``attributes`` are those of the
    source: the others that earlier files carry are what the ledger knows of them. ``merged``: attributes that are equal
    in every row are one. ``apart``: rows of earlier files that were made of other values are rows of their own, and
    their people are not sought. ``hashed`` is the source as the ledger knows it, where it has been read before. Unless
    ``checked``, cells may differ where all is equal that they are made of.
    """
    subject = () if people is None else (people.subject,)
    lineages = {f.name: _lineages(f) for f in files}
    carried = {
        a for of in lineages.values() for each in of.values() for a in each.carries | each.hidden_by | each.hidden_for
    }
    carried |= {a for kept in earlier for a in kept.attributes if a in attributes}
    ids = () if hashing is None else (hashing.subject,)
    names = tuple(sorted({*carried, *subject, *ids, *known, *(a for f in files for a in f.decided_by)}))
    pairs = {f.name: _paired(f, names, tuple(lineages[f.name])) for f in files}
    in_files = [left for left, _, _ in pairs.values()]
    lacking = _left_out(files, in_files, names, people, hashing, earlier)
    lefts = [*in_files, *lacking]
    rows, first = np.unique(np.concatenate([left.rows for left in lefts]), return_index=True)
    original = concat(lefts).take(first)
    ones = [np.ones(len(each), dtype=np.int64) for each in lacking]
    weight = np.concatenate([*(weights for _, _, weights in pairs.values()), *ones])[first]
    values, texts = {}, {}
    for name in names:
        values[name], texts[name] = _coded(original[name])
    first_of = {name: name for name in names}
    if merged:
        first_of = as_one(values, {name: each.to_pylist() for name, each in texts.items()})
    own = {name: f"({number})" for number, name in enumerate(names)}  # no name of a policy gets into tables
    same = {name: own[one] for name, one in first_of.items()}
    unit = values[people.subject] if people is not None else np.arange(len(rows))
    orders = {o for o, number in Counter(f.ordered_by for f in files).items() if o and number > 1}
    beside: Sequence[BesideSource] = ()
    in_order: Sequence[str] = ()
    gone, sought = 0, None
    if earlier and hashing is not None:
        hashed = hashed or HashedSource.of(values, texts, hashing)
        beside = beside_source(earlier, hashed, apart=apart)
        gone = max((len(each.row_of) for each in beside), default=len(rows)) - len(rows)
        in_order = with_orders(beside, [f.ordered_by for f in files if f.in_source_order], len(rows))
        orders = orders.union(filter(None, in_order))
    if gone:
        others = beside[0].source
        there, later = np.split(others.people, [len(rows)])
        sought = ~(np.isin(others.people, there) & np.isin(others.people, later))
        unit = np.append(unit, len(unit) + np.arange(gone) if people is None else _units_of_others(unit, there, later))
        values = {n: np.append(v, others.codes(n, gone)) for n, v in values.items()}
        values |= {} if people is None else {people.subject: unit}
        rows = np.append(rows, rows.max() + 1 + np.arange(gone))
        weight = np.append(weight, np.ones(gone, dtype=np.int64))
    every = {own[a]: values[a] for a in names if first_of[a] == a} | {ORDER + o: np.arange(len(rows)) for o in orders}
    lost = lost_attributes(beside)
    same |= {name: f"({len(own) + number}, earlier)" for number, name in enumerate(lost)}
    every |= {same[name]: codes for name, codes in lost.items()}
    source = SourceRows(every, unit, weight, "" if people is None else same[people.subject], sought)
    made = tuple(
        _file(f, lineages[f.name], rows, *pairs[f.name][:2], source=source, same=same, texts=texts, gone=gone)
        for f in files
    )
    if checked:
        require_functions(source, made)
    if beside and hashing is not None:
        keyed = _keyed(files, pairs, rows, same, hashing)
        named = with_one_name_a_key(beside, [each.released(same) for each in beside], keyed)
        made += without_copies(made, [_in_order(f, o) if o else f for f, o in zip(named, in_order, strict=True)])
    of_codes = {own[name]: each for name, each in texts.items()}
    changed = any(one.has_changed for one in beside)
    copies = people is None and not earlier and are_copies(made)
    return RunFiles(source, made, same, of_codes, len(files), changed, hashed, copies)


def _units_of_others(unit: Ints, there: Ints, later: Ints) -> Ints:
    """Return the units of the rows of ``later`` people: new units, except for people who are ``there`` already."""
    new = unit.max() + 1 + pd.factorize(later)[0]
    known = pd.Series(unit, there)
    own = known[~known.index.duplicated()].reindex(later, fill_value=-1).to_numpy()
    return np.where(own < 0, new, own)


def _left_out(
    files: Sequence[OtherRelease],
    lefts: Sequence[Table],
    names: Sequence[str],
    people: PeopleCount | None,
    hashing: Hashing | None,
    earlier: Sequence[KeptFile],
) -> list[Table]:
    """Return rows of the source that no file may have, where files lack some: ``lefts`` are those that files have.

    A ledger keeps all. Beside ``earlier`` files are those of people in these, and all where somebody is sought among
    the rows that a file lacks: whose row another file has, or whose other rows are in one.
    """
    every = next((f.everyone for f in files if f.everyone), None)
    decided = any(f.decided_by for f in files)
    sampled = hashing is not None and any(len(f.left_out_at_random) for f in files)
    if every is None or not (decided or sampled):
        return []
    rows = np.unique(np.concatenate([left.rows for left in lefts]))
    differ = any(
        not np.isin(rows, np.concatenate([left.rows, file.left_out_at_random])).all()
        for file, left in zip(files, lefts, strict=True)
    )
    if hashing is None and people is None and not differ:
        return []
    table = concat([Table.of({n: [] for n in names}), *every(names)])
    keeping = hashing is not None and not earlier
    if keeping or (decided and (differ or _have_rows(table, rows, people))):
        return [table]
    if hashing is None:
        return []
    ids = table[hashing.subject].compact()
    known = np.append(hashing.people(ids.categories.to_pylist()), [MISSING, MISSING])[ids.codes]
    return [table.take(np.isin(known, np.concatenate([kept.people for kept in earlier])))]


def _have_rows(table: Table, rows: RowNumbers, people: PeopleCount | None) -> bool:
    """Say whether people of other rows of a table have some of these ``rows`` as well."""
    if people is None:
        return False
    here = np.isin(table.rows, rows)
    present, lacking = (
        set(table.take(each)[people.subject].compact().categories.to_pylist()) for each in (here, ~here)
    )
    return not present.isdisjoint(lacking)


def keep(file: OtherRelease, hashing: Hashing, table: str = "") -> KeptFile:
    """Return what a ledger keeps of a file, one of a linked ``table``.

    Raises NotVerifiedError where its rows are not those of the source.
    """
    run_files = read_files((file,), None, frozenset(), hashing=hashing, merged=False)
    (released,), source = run_files.files, run_files.source
    named = {one: name for name, one in run_files.same.items()}
    there = np.flatnonzero(released.place >= 0)
    codes = {n: source.codes[one] for n, one in run_files.same.items()}
    hashed = HashedSource.of(codes, {n: run_files.texts_of(n) for n in codes}, hashing)
    there = there[np.argsort(hashed.people[there], kind="stable")]
    at = released.place[there]
    drawn = {
        c.name for c in released.columns if not c.virtual and (c.kind is CellKind.KEYED or c.kind not in FUNCTIONS)
    }
    _, right, _ = _paired(file, (), tuple(sorted(drawn)))

    def hashes(column: ReleasedColumn) -> Ints | None:
        if column.name not in drawn:
            return None
        cells = right[column.name].compact()
        texts = cells.categories.to_pylist()
        of_texts = hashes_of_pseudonyms(texts, hashing) if column.kind is CellKind.KEYED else hashing.values(texts)
        every = np.append(of_texts, [SUPPRESSED_HASH, MISSING])[cells.codes]
        every = np.append(every, np.full(released.absent.sum(), NO_CELL))
        return np.where(column.cells == NO_CELL, NO_CELL, every)[at]

    columns = tuple(
        KeptColumn(
            c.name,
            frozenset(named[a] for a in c.carries),
            c.kind,
            c.key,
            c.hidden,
            c.hidden_for,
            c.virtual,
            c.cells[at],
            hashes(c),
        )
        for c in released.columns
        if not (c.virtual and c.name in (ORDER, PRESENT))
    )
    decided = None if released.decided is None else frozenset(named[a] for a in released.decided)
    carried = {a for c in columns for a in c.carries} | (decided or frozenset())
    return KeptFile(
        file.name,
        table,
        hashed.people[there],
        {a: hashed.attributes[a][there] for a in sorted(carried)},
        columns,
        released.absent[at],
        decided,
        released.sampled,
        tuple(frozenset(named[a] for a in each) for each in released.moved),
        np.where(released.absent[at], NO_CELL, there) if file.in_source_order else None,
    )


def _keyed(
    files: Sequence[OtherRelease],
    pairs: Mapping[str, tuple[Table, Table, Ints]],
    rows: RowNumbers,
    same: Mapping[str, str],
    hashing: Hashing,
) -> list[tuple[frozenset[str], str, Ints]]:
    """Return the keyed columns of files: what they carry, their key, and hashes of their cells (rows,)."""
    out = []
    for file in files:
        left, right, _ = pairs[file.name]
        for name, lineage in _lineages(file).items():
            if lineage.kind is CellKind.KEYED and lineage.carries:
                cells = right[name].compact()
                of_texts = hashes_of_pseudonyms(cells.categories.to_pylist(), hashing)
                by_code = np.append(of_texts, [SUPPRESSED_HASH, MISSING])
                hashes = np.full(len(rows), NO_CELL)
                hashes[np.searchsorted(rows, left.rows)] = by_code[cells.codes]
                out.append((frozenset(same[a] for a in lineage.carries), lineage.key, hashes))
    return out


def read_linked_files(
    files: Sequence[OtherRelease], people: PeopleCount | None, tables: Sequence[LinkedTableRows]
) -> RunFiles:
    """Read the rows of the files of linked tables beside the join of these. Raises NotVerifiedError."""
    join, by_name = joined_tables(tables), {t.name: t for t in tables}
    same = as_one(join.codes, {name: each.to_pylist() for name, each in join.texts.items()})
    same |= {f"{table}.{attribute}": same[name] for (table, attribute), name in join.names.items()}
    orders = [o for o, number in Counter((f.table, f.ordered_by) for f in files).items() if o[1] and number > 1]
    every = {a: c for a, c in join.codes.items() if same[a] == a}
    every |= {f"{ORDER}{table}.{by}": join.places[table] for table, by in orders}
    subject = join.names[tables[0].name, tables[0].key]
    unit = np.arange(len(join.person)) if people is None else join.person
    source = SourceRows(every, unit, np.ones(len(unit), dtype=np.int64), "" if people is None else same[subject])
    made = []
    for file in files:
        names = {attribute: name for (table, attribute), name in join.names.items() if table == file.table}
        lineages = {n: each.mapped(names.__getitem__) for n, each in _lineages(file).items()}
        table, first = by_name[file.table], join.first_of(file.table)
        left, right, _ = _paired(file, (), tuple(lineages))
        one = _file(
            replace(
                file,
                decided_by=frozenset(names[n] for n in file.decided_by),
                ordered_by=file.ordered_by and f"{file.table}.{file.ordered_by}",
            ),
            lineages,
            table.table.rows,
            left,
            right,
            source=source,
            same=same,
            texts=join.texts,
            join=join.places[file.table],
            values={same[n]: join.codes[n][first] for n in names.values()},
        )
        made.append(replace(one, table=file.table, refers=table.refers))
    require_functions(source, made)
    return RunFiles(source, tuple(made), same, join.texts, len(made))


def show_equal_attributes(files: Sequence[OtherRelease]) -> bool:
    """Say whether two files show attributes that may be equal in every row, under two names.

    Rows are read until each two attributes differ in one.
    """
    carried = [frozenset(a for each in _lineages(f).values() for a in each.carries) for f in files]
    for (file, mine), (_, theirs) in combinations(zip(files, carried, strict=True), 2):
        left = [(a, b) for a in mine - theirs for b in theirs - mine]
        for table, _ in file.pairs.pairs(sorted(mine | theirs), []) if left else ():
            left = [
                (a, b)
                for a, b in left
                if a not in table.columns or b not in table.columns or _are_equal(table[a], table[b])
            ]
            if not left:
                break
        if left:
            return True
    return False


def _are_equal(one: Column, other: Column) -> bool:
    """Say whether two columns have equal cells."""
    into = pc.index_in(other.categories, value_set=one.categories).fill_null(NO_CELL - 1)
    codes = np.append(into.to_numpy(), [SUPPRESSED, MISSING])[other.codes]
    return bool((codes == one.codes).all())


def _lineages(file: OtherRelease) -> dict[str, Lineage]:
    return {n: a.lineage for n, a in file.attributes.items() if a.role not in (Role.ITEMS, Role.WEIGHT)}


def require_functions(source: SourceRows, files: Sequence[ReleasedFile]) -> None:
    """Raise NotVerifiedError where rows that are equal in what a column carries show different cells."""
    for file in files:
        there = np.flatnonzero(file.place >= 0)
        for column in (c for c in file.columns if c.kind in FUNCTIONS and not c.virtual):
            cells = column.cells[file.place[there]]
            rows = there[cells != NO_CELL]
            carried, first = numbered([source.codes[a][rows] for a in sorted(column.carries)], len(rows))
            cells = cells[cells != NO_CELL]
            if (cells != cells[first][carried]).any():
                raise NotVerifiedError(
                    f"`{column.name}` of `{file.name}` has different cells where all is equal that it is made of"
                )


def are_copies(files: Sequence[ReleasedFile]) -> bool:
    """Whether more than two files show the same cells of each row, each cell a function of one attribute.

    Different cells of a column then show different values, and only rows with equal cells can belong together.
    """
    first, *others = files
    if len(others) < _COPIES or not all(map(_shows_single_values, files)):
        return False
    cells = [column.cells[first.place] for column in first.columns]
    return all(
        list(map(_definition, file.columns)) == list(map(_definition, first.columns))
        and all(_alike(one, column.cells[file.place]) for one, column in zip(cells, file.columns, strict=True))
        for file in others
    )


def _shows_single_values(file: ReleasedFile) -> bool:
    whole = (file.place >= 0).all() and not (file.absent.any() or file.sampled or file.moved or file.table)
    return bool(whole) and all(
        c.kind is CellKind.MAP and len(c.carries) == 1 and not (c.hidden or c.virtual) for c in file.columns
    )


def _definition(column: ReleasedColumn) -> tuple[object, ...]:
    return column.name, column.carries, column.key


def _alike(one: Ints, other: Ints) -> bool:
    """Whether cells of two files are the same, possibly under other codes."""
    if any(not np.array_equal(one == mark, other == mark) for mark in (MISSING, NO_CELL)):
        return False
    ways = [len(numbered(columns, len(one))[1]) for columns in ([one], [other], [one, other])]
    return len(set(ways)) == 1


def _paired(file: OtherRelease, names: tuple[str, ...], columns: tuple[str, ...]) -> tuple[Table, Table, Ints]:
    weight = file.candidate.schema.weight
    wanted = [*columns, *([] if weight is None else [weight])]
    parts = list(file.pairs.pairs(list(names), wanted))
    if any(n not in part.columns for part, _ in parts for n in names):
        raise NotVerifiedError(f"rows of `{file.name}` go by sets of items")
    left = concat([Table.of({n: [] for n in names}), *(a for a, _ in parts)])
    right = concat([Table.of({n: [] for n in wanted}), *(b for _, b in parts)])
    weights = np.ones(len(right), dtype=np.int64) if weight is None else weights_of(right[weight])
    return left, right, weights


def _coded(column: Column) -> tuple[Ints, pa.StringArray]:
    """Return codes from 0 with `MISSING`, a suppressed cell being a value of its own, and the text of each code."""
    codes = column.codes.astype(np.int64)
    return np.where(codes == SUPPRESSED, len(column.categories), codes), column.categories


def _file(
    file: OtherRelease,
    lineages: Mapping[str, Lineage],
    rows: RowNumbers,
    left: Table,
    right: Table,
    *,
    source: SourceRows,
    same: Mapping[str, str],
    texts: Mapping[str, pa.StringArray],
    join: Ints | None = None,
    values: Mapping[str, Ints] | None = None,
    gone: int = 0,
) -> ReleasedFile:
    """Make the file of which ``left`` and ``right`` are the rows, before and after; ``rows`` are numbers of its table.

    ``join`` (rows of the source,) is the row of the linked table that is in a joined row, and ``values`` are those of
    the table. The last rows, so many as are ``gone``, are those of other people, who are in earlier files only: a file
    lacks them as it lacks others.
    """
    row_of = np.full(len(rows), -1, dtype=np.int64)
    here = np.searchsorted(rows, left.rows)
    row_of[here] = np.arange(len(left))
    others = (np.arange(len(rows)) >= len(rows) - gone) & (len(file.left_out_at_random) > 0)
    by_chance = np.isin(rows, file.left_out_at_random) | others
    missing = np.flatnonzero((row_of < 0) & ~by_chance)
    row_of[missing] = len(left) + np.arange(len(missing))
    absent = np.arange(len(left) + len(missing)) >= len(left)
    sampled = len(file.left_out_at_random) > 0

    def all_rows(cells: Ints) -> Ints:
        return np.concatenate([cells, np.full(len(missing), NO_CELL)])

    def one(names: frozenset[str]) -> frozenset[str]:
        return frozenset(same[n] for n in names)

    columns: list[ReleasedColumn] = []
    for name, lineage in lineages.items():
        if not lineage.carries:
            continue
        columns += _columns(name, right[name], lineage, one, all_rows, texts)
        if lineage.kind is CellKind.KEYED and not sampled:
            number, _ = numbered([columns[-1].cells], len(absent))
            counts = np.bincount(number[~absent])[number[~absent]]
            columns.append(ReleasedColumn(f"rows of {name}", all_rows(counts), one(lineage.carries), virtual=True))
    moved = _moved_together(file.attributes.values())
    for one_name, other_name, attributes in moved:
        cells = all_rows(_differences(file, right, one_name, other_name))
        columns.append(ReleasedColumn(f"difference of {one_name}, {other_name}", cells, one(attributes), virtual=True))
    if ORDER + file.ordered_by in source.codes:
        columns.append(_order(file.ordered_by, absent))
    if file.in_source_order:
        of_source = {a: c[: len(rows) - gone] for a, c in source.codes.items()} if values is None else values
        columns += [
            ReleasedColumn(f"place of {a}", all_rows(v[here]), frozenset((a,)), virtual=True)
            for a, v in _blocks(of_source)
        ]
    decided = None
    if len(missing):
        decided = one(frozenset(file.decided_by))
        columns.append(ReleasedColumn(PRESENT, (~absent).astype(np.int64), decided, virtual=True))
    by_one_draw = tuple(one(attributes) for _, _, attributes in moved)
    place = row_of if join is None else np.where(join == NOWHERE, -1, row_of[join])
    return ReleasedFile(file.name, place, tuple(columns), absent, decided, sampled, moved=by_one_draw)


def _order(by: str, absent: npt.NDArray[np.bool_]) -> ReleasedColumn:
    """Return the places of a file's rows in an order that others have too."""
    cells = np.where(absent, NO_CELL, np.arange(len(absent)))
    return ReleasedColumn(ORDER, cells, frozenset((ORDER + by,)), virtual=True)


def _in_order(file: ReleasedFile, by: str) -> ReleasedFile:
    return replace(file, columns=(*file.columns, _order(by, file.absent)))


def _moved_together(attributes: Iterable[AttributeFacts]) -> list[tuple[str, str, frozenset[str]]]:
    """Return the pairs of columns that were moved by one draw, with what both carry."""
    return [
        (a.name, b.name, a.lineage.carries | b.lineage.carries)
        for a, b in combinations(attributes, 2)
        if a.lineage.moved_by & b.lineage.moved_by
    ]


def _differences(file: OtherRelease, right: Table, one: str, other: str) -> Ints:
    """Return codes of the differences between two columns of moments. Raises NotVerifiedError for labels."""
    moments = []
    for name in (one, other):
        kind = file.attributes[name].type
        column = right[name].compact()
        numbers = floats_of_texts(column.categories, kind) if kind.is_time else None
        if numbers is None:
            raise NotVerifiedError(f"`{one}` and `{other}` were moved by one draw, and their differences are not known")
        scale = MICROSECONDS_OF_DAY if kind is AttributeType.DATE else 1
        moments.append(np.append(numbers * scale, [np.nan, np.nan])[column.codes])
    difference = moments[0] - moments[1]
    codes = np.unique(difference, return_inverse=True)[1].astype(np.int64)
    return np.where(np.isnan(difference), MISSING, codes)


def _columns(
    name: str,
    column: Column,
    lineage: Lineage,
    one: Callable[[frozenset[str]], frozenset[str]],
    all_rows: Callable[[Ints], Ints],
    texts: Mapping[str, pa.StringArray],
) -> list[ReleasedColumn]:
    """Return the kinds of cells of one column: shown ones, and those that were hidden by class."""
    codes = column.codes.astype(np.int64)
    if lineage.kind in (CellKind.EXCHANGED, CellKind.AVERAGED, CellKind.NOISY) and len(lineage.carries) == 1:
        known = texts[next(iter(lineage.carries))]
        into = pc.index_in(column.categories, value_set=known).fill_null(-1).to_numpy()
        other = len(known) + 1 + np.arange(len(into))
        table = np.concatenate([np.where(into >= 0, into, other), [len(known), MISSING]]).astype(np.int64)
        cells = table[codes]
    else:
        cells = np.where(codes == SUPPRESSED, len(column.categories), codes)
    hidden = codes == SUPPRESSED
    if not lineage.hidden_by or not hidden.any():
        return [ReleasedColumn(name, all_rows(cells), one(lineage.carries), lineage.kind, lineage.key)]
    shown = lineage.carries | (lineage.hidden_by - lineage.hidden_for)
    reason = ", ".join(sorted(lineage.hidden_for))
    return [
        ReleasedColumn(name, all_rows(np.where(hidden, NO_CELL, cells)), one(shown), lineage.kind, lineage.key),
        ReleasedColumn(
            name,
            all_rows(np.where(hidden, cells, NO_CELL)),
            one(lineage.carries | lineage.hidden_by | lineage.hidden_for),
            lineage.kind,
            lineage.key,
            hidden=True,
            hidden_for=reason,
        ),
    ]


def _blocks(codes: Mapping[str, Ints]) -> list[tuple[str, Ints]]:
    """Return the attributes whose equal values lie together in the source and that have fewer values than rows."""
    out = []
    for name, values in codes.items():
        blocks = 1 + int((values[1:] != values[:-1]).sum()) if len(values) else 0
        if blocks == len(np.unique(values)) < len(values) and not name.startswith(ORDER):
            out.append((name, np.cumsum(np.concatenate([[0], values[1:] != values[:-1]]))))
    return out
