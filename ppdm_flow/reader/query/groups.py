"""The groups of every reader."""

# ruff: noqa: S608, E501  # long lines are SQL; all names in these queries are numbered ones of our own

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import duckdb
import networkx as nx

from ppdm_flow.core.lineage import CellKind
from ppdm_flow.reader.faults import JoinTooLargeError, TruthExcludedError
from ppdm_flow.reader.files import FUNCTIONS, NO_CELL, ReleasedFile, SourceRows
from ppdm_flow.reader.query.query_reader import QueryColumn, QueryFile, QueryReader
from ppdm_flow.reader.query.tables import Atom, QueryTables, assignments, connected_atoms
from ppdm_flow.reader.row_kinds import MOST_PARTS, ReaderQuestion

READ_AS_SHOWN = (CellKind.EXCHANGED, CellKind.AVERAGED, CellKind.NOISY)


@dataclass(frozen=True, slots=True, eq=False)
class ReadingTables:
    """One way to read the sensitive attribute.

    ``cells(id, s, by_weight, equal)`` is the mass of a value among the rows of a group, ``people(id, unit, s, p,
    mean_by_weight, mean_equal)`` the chance that one of a unit's rows there has it, and the means of its rows.
    ``base(s, q)`` are the shares of the values in the released rows, each unit with the same weight.
    """

    name: str
    cells: str
    people: str
    base: str


@dataclass(frozen=True, slots=True, eq=False)
class GroupTables:
    """The groups of one file, as ``tables`` of these names.

    In ``units(id, unit, n, weight, sized)`` one line represents ``n`` units that are alike.

    ``sizes(id, by_weight, equal)`` is the mass of all rows of a group, ``together_chance`` the largest chance that one
    of several known rows has a value. ``reader_files`` are the reader's files; ``known(row, unit, id)`` is the group of
    each source row, where one row is known.
    """

    tables: QueryTables
    file: int
    reader_files: tuple[int, ...]
    known: str
    units: str
    sizes: str
    readings: tuple[ReadingTables, ...]
    together_chance: float = 0.0

    @property
    def names(self) -> set[str]:
        """The names of its tables."""
        return {self.known, self.units, self.sizes, *(t for r in self.readings for t in (r.cells, r.people, r.base))}


def groups(
    database: duckdb.DuckDBPyConnection,
    source: SourceRows,
    files: Sequence[ReleasedFile],
    question: ReaderQuestion,
    known_rows: int | Literal["all"] = 1,
    *,
    alone: Collection[int] | None = None,
) -> Iterator[GroupTables]:
    """Yield the groups of a reader who holds all files, and of those who hold one of the files ``alone``, or any."""
    single = range(len(files)) if alone is None else alone
    for reader_files in [list(range(len(files))), *([i] for i in single if len(files) > 1)]:
        by_row = bool(source.subject) and known_rows != 1
        reader = QueryReader(database, source, [files[i] for i in reader_files], question, by_row=by_row)
        base, tables = reader.base, list[GroupTables]()
        for f in reader.files if source.subject else ():
            base.keep(
                f"""SELECT kind, unit, count(DISTINCT place) AS rows FROM of{f.number} JOIN source USING (row) JOIN {f.kinds} USING (kind)
                WHERE NOT absent GROUP BY kind, unit""",
                f"people{f.number}",
            )
        sets = reader.steady
        reader.known(reader.steady_of_units)
        for f in reader.files:
            reader.fits(f)
        for f in reader.files:
            reader.shares(f, reader.files)
        by_chance = len(reader_files) > 1 and any(files[i].sampled for i in reader_files)
        weights = {
            (f.number, scaled): reader.weights(f, scaled=scaled)
            for f in reader.files for scaled in ((False, True) if by_chance else (True,))
        }  # fmt: skip
        linked = {
            (f.number, s): reader.linked_values(f, steady)
            for f in reader.files for s, steady in enumerate(sets) if source.subject and question.sensitive
        }  # fmt: skip
        for size, s, choices in _choices(reader, known_rows, len(sets)):
            waiting = [(choices, MOST_PARTS)]
            while waiting:  # all at once, or, where that is too much, each half
                some, parts = waiting.pop()
                try:
                    found = list(_tables_of(reader, some, size, s, weights, linked, reader_files))
                except JoinTooLargeError:
                    if parts == 1 or base.rows(f"SELECT count(*) FROM {some}")[0][0] == 1:
                        raise
                    bit = f"ch % {MOST_PARTS} // {MOST_PARTS // parts} % 2"
                    halves = [base.keep(f"SELECT * FROM {some} WHERE {bit} = {i}") for i in range(2)]
                    waiting += [(half, parts // 2) for half in halves]
                else:
                    tables += found
        base.keep_only(set[str]().union(*(one.names for one in tables)))
        yield from tables


def _choices(reader: QueryReader, known_rows: int | Literal["all"], sets: int) -> Iterator[tuple[int, int, str]]:
    """Yield the choices of known rows, by how many they are and by what is steady of their person."""
    base = reader.base
    if not reader.source.subject or known_rows == 1:
        for s in range(sets):
            yield 1, s, base.keep(f"SELECT id AS ch, id AS id0 FROM known WHERE s = {s}")
        return
    most = base.rows("SELECT max(n) FROM (SELECT count(*) AS n FROM source GROUP BY unit)")[0][0]
    for size in range(1, (most if known_rows == "all" else min(known_rows, most)) + 1):
        tables = ", ".join(f"known_of AS r{i}" for i in range(size))
        order = "".join(f" AND r{i}.unit = r0.unit AND r{i}.row > r{i - 1}.row" for i in range(1, size))
        places = [(i, j, f.number) for i, j in combinations(range(size), 2) for f in reader.files]
        alike = [(f"r{i}.id", f"id{i}") for i in range(size)]
        alike += [(f"r{i}.own{n} = r{j}.own{n}", f"same{n}_{i}_{j}") for i, j, n in places]
        columns = ", ".join(
            f"{what} AS {name}" for what, name in [*alike, *((f"r{i}.row", f"row{i}") for i in range(size))]
        )
        for s in range(sets):
            each = f"SELECT DISTINCT ON ({', '.join(what for what, _ in alike)}) {columns} FROM {tables} WHERE r0.s = {s}{order}"
            table = base.keep(f"SELECT row_number() OVER () AS ch, * FROM ({each})")
            if base.rows(f"SELECT 1 FROM {table} LIMIT 1"):
                yield size, s, table


def _tables_of(
    reader: QueryReader,
    choices: str,
    size: int,
    s: int,
    weights: Mapping[tuple[int, bool], str],
    linked: Mapping[tuple[int, int], str],
    reader_files: Sequence[int],
) -> Iterator[GroupTables]:
    """Yield what some choices of known rows of people with one set of steady attributes tell."""
    for guesses in guesses_of(reader, choices, size, reader.steady[s]):
        guesses.require_truth()
        for f in reader.files:
            here = [i for i in range(size) if any((i, f) in places for places in guesses.parts)]
            scalings = [scaled for n, scaled in weights if n == f.number]
            for scaled in scalings if here else ():
                stays = scaled and len(scalings) > 1
                yield from _tables(
                    guesses,
                    f,
                    here,
                    weights[f.number, scaled],
                    linked.get((f.number, s), ""),
                    reader_files,
                    stays=stays,
                )


def _tables(
    guesses: QueryGuesses,
    f: QueryFile,
    here: Sequence[int],
    weights: str,
    linked: str,
    reader_files: Sequence[int],
    *,
    stays: bool,
) -> Iterator[GroupTables]:
    """Yield the groups of one file; ``stays``: only those whose known row is a candidate."""
    r, base, question = guesses.reader, guesses.reader.base, guesses.reader.question
    part = next(n for n, places in enumerate(guesses.parts) if (here[0], f) in places)
    own = {i: f"k{f.number}_{i}" for i in here}
    joins = " ".join(f"JOIN {weights} AS w{i} ON w{i}.id = c.id{i} AND w{i}.kind = e.{own[i]}" for i in here)
    taken = base.keep(
        f"""SELECT row_number() OVER () AS taken, * FROM (SELECT DISTINCT e.ch, {", ".join(f"e.{k}" for k in own.values())},
        {" * ".join(f"w{i}.w" for i in here)} AS w FROM {guesses.tables[part]} AS e JOIN {guesses.choices} AS c USING (ch) {joins}) WHERE w > 0"""
    )
    group = f"ch * {guesses.size} + "
    each = " UNION ALL ".join(f"SELECT ch, {i} AS i, {group}{i} AS id, {own[i]} AS kind, w FROM {taken}" for i in here)
    candidates = base.keep(
        f"SELECT ch, i, id, kind, sum(w)::DOUBLE AS weight, any_value(k.units)::BIGINT AS n FROM ({each}) JOIN {f.kinds} AS k USING (kind) GROUP BY ch, i, id, kind"
    )
    if stays:
        owns = " UNION ALL ".join(
            f"SELECT {group}{i} AS id, o.kind FROM {guesses.choices} AS c {r.joined_rows(i)} JOIN of{f.number} AS o USING (row)"
            for i in here
        )
        left = base.keep(f"SELECT DISTINCT id FROM ({owns}) SEMI JOIN {candidates} USING (id, kind)")
        candidates = base.keep(f"SELECT * FROM {candidates} SEMI JOIN {left} USING (id)")
        taken = base.keep(f"SELECT * FROM {taken} SEMI JOIN {candidates} USING (ch)")
    if not base.rows(f"SELECT 1 FROM {candidates} LIMIT 1"):
        return
    sized = " UNION ALL ".join(
        f"SELECT {group}{i} AS id, st{f.number} = 1 AS sized FROM {guesses.choices} JOIN known AS n ON n.id = id{i}"
        for i in here
    )
    persons = bool(r.source.subject)
    everybody = f"everybody{f.number}"
    if persons and everybody not in base:
        base.keep(
            f"SELECT kind, unit, count(DISTINCT place) AS rows FROM of{f.number} JOIN source USING (row) GROUP BY kind, unit",
            everybody,
        )
    if persons:
        lines = f"SELECT id, unit, 1::BIGINT AS n, max(weight) AS weight FROM {candidates} JOIN {everybody} USING (kind) GROUP BY id, unit"
    else:
        lines = f"SELECT id, kind AS unit, n, weight FROM {candidates}"
    units = base.keep(f"SELECT * FROM ({lines}) JOIN ({sized}) USING (id)")
    sizes = base.keep(f"SELECT id, sum(weight * n) AS by_weight, sum(n)::DOUBLE AS equal FROM {candidates} GROUP BY id")
    readings: list[ReadingTables] = []
    chance = 0.0
    if question.sensitive:
        read = [("source", _source_reading(guesses, f, here, candidates))]
        shown_of = {}
        for c in f.columns:
            if c.plain and c.column.kind in READ_AS_SHOWN and question.sensitive in c.column.carries:
                shown_of[f"shown {c.key}"] = c.key
                shown = f"SELECT id, kind, {c.key} AS s, 1.0::DOUBLE AS p FROM {candidates} JOIN {f.kinds} USING (kind) WHERE {c.key} <> {NO_CELL}"
                read.append((f"shown {c.key}", _read_instead(base, shown, read[0][1])))
        if linked:
            shared = f"SELECT id, kind, s, p FROM {candidates} JOIN {linked} USING (kind)"
            read.append(("steady", _read_instead(base, shared, read[0][1])))
        for name, table in read:
            cells = base.keep(
                f"SELECT id, s, sum(p * weight * n) AS by_weight, sum(p * n) AS equal FROM {table} JOIN {candidates} USING (id, kind) GROUP BY id, s"
            )
            if persons:
                sums = "max(p)" if name == "steady" else "least(1, sum(p * rows))"
                share = "p / sum(p) OVER (PARTITION BY id, kind, unit)"
                rows = f"""SELECT id, unit, s, p, rows, weight, {share} AS q FROM {table} JOIN {candidates} USING (id, kind)
                    JOIN {everybody} USING (kind)"""
                text = f"""SELECT id, unit, s, {sums} AS p,
                    sum(q * rows * weight) / sum(sum(q * rows * weight)) OVER (PARTITION BY id, unit) AS mean_by_weight,
                    sum(q * rows) / sum(sum(q * rows)) OVER (PARTITION BY id, unit) AS mean_equal
                    FROM ({rows}) GROUP BY id, unit, s"""
            else:
                text = f"SELECT id, kind AS unit, s, p, p AS mean_by_weight, p AS mean_equal FROM {table}"
            readings.append(ReadingTables(name, cells, base.keep(text), _base_of(r, f, shown_of.get(name, ""))))
        if len(here) > 1:
            chance = _chance_together(base, taken, own, group, read[0][1])
    yield GroupTables(
        base, reader_files[f.number], tuple(reader_files), "known_of", units, sizes, tuple(readings), chance
    )


def _base_of(r: QueryReader, f: QueryFile, shown: str) -> str:
    """Return the table ``(s, q)`` of the shares of sensitive values in the released rows, each unit with the same weight.

    ``shown`` is the column that is read as it is shown. Else the rows are those of this file if it has the attribute,
    or of all files that do.
    """
    name = f"base{f.number}{shown}"
    if name in r.base:
        return name
    telling = [f] if shown or r.base.rows(f"SELECT 1 FROM {r.value_tables[f.number]} LIMIT 1") else r.files
    parts = []
    for g in telling:
        shares = f"(SELECT kind, s, n / sum(n) OVER (PARTITION BY kind) AS p FROM {r.value_tables[g.number]})"
        if shown:
            shares = f"(SELECT kind, {shown} AS s, 1.0::DOUBLE AS p FROM {g.kinds} WHERE {shown} <> {NO_CELL})"
        counts = f"(SELECT kind, 0 AS unit, units AS n FROM {g.kinds})"
        if r.source.subject:
            counts = f"(SELECT kind, unit, rows AS n FROM people{g.number})"
        parts.append(
            f"SELECT unit, s, n * p AS m FROM {shares} JOIN {counts} USING (kind) JOIN {g.kinds} USING (kind) WHERE NOT absent AND NOT skipped"
        )
    units = f"SELECT unit, s, sum(m) / sum(sum(m)) OVER (PARTITION BY unit) AS x FROM ({' UNION ALL '.join(parts)}) GROUP BY unit, s"
    return r.base.keep(
        f"WITH u AS ({units}) SELECT s, sum(x) / (SELECT count(DISTINCT unit) FROM u) AS q FROM u GROUP BY s", name
    )


def _source_reading(guesses: QueryGuesses, f: QueryFile, here: Sequence[int], candidates: str) -> str:
    """Return the table ``(id, kind, s, p)``: shares of values among rows alike, limited to what guesses allow."""
    r, base = guesses.reader, guesses.reader.base
    values, telling = r.value_tables[f.number], r.telling(f)
    queries = []
    for i in here:
        mine = f"(SELECT ch, id, kind FROM {candidates} WHERE i = {i})"
        allowed = guesses.allowed(f, i)
        if not allowed:
            queries.append(f"SELECT id, kind, s, n::DOUBLE AS n FROM {mine} JOIN {values} USING (kind)")
            continue
        limits = base.keep(f"SELECT id, kind, s, free FROM ({allowed}) JOIN {mine} USING (ch, kind)")
        free = f"(SELECT DISTINCT id, kind FROM {limits} WHERE free)"
        kept = base.keep(
            f"""SELECT id, kind, s, n::DOUBLE AS n FROM {mine} JOIN {values} USING (kind) SEMI JOIN {free} USING (id, kind) UNION ALL
            SELECT id, kind, s, n::DOUBLE AS n FROM {mine} JOIN {values} USING (kind) ANTI JOIN {free} USING (id, kind)
            SEMI JOIN {limits} USING (id, kind, s)"""
        )
        queries.append(f"SELECT * FROM {kept}")
        queries.append(
            f"""SELECT DISTINCT id, kind, s, 1.0::DOUBLE AS n FROM {limits} SEMI JOIN {telling} USING (kind)
            ANTI JOIN {free} USING (id, kind) ANTI JOIN {kept} USING (id, kind)"""
        )
    return base.keep(
        f"SELECT id, kind, s, n / sum(n) OVER (PARTITION BY id, kind) AS p FROM ({' UNION ALL '.join(queries)})"
    )


def _read_instead(base: QueryTables, reading: str, source: str) -> str:
    """Return a reading; for candidates that it says nothing of, return the one by source values."""
    mine = base.keep(reading)
    return base.keep(
        f"SELECT id, kind, s, p FROM {mine} UNION ALL SELECT id, kind, s, p FROM {source} ANTI JOIN {mine} USING (id, kind)"
    )


def _chance_together(base: QueryTables, taken: str, own: Mapping[int, str], group: str, reading: str) -> float:
    """Return the largest chance that one of the known rows of a choice has a value."""
    each = " UNION ALL ".join(
        f"SELECT t.taken, t.ch, t.w, r.s, r.p FROM {taken} AS t JOIN {reading} AS r ON r.id = t.{group}{i} AND r.kind = t.{k}"
        for i, k in own.items()
    )
    text = f"""SELECT max(chance / total) FROM (SELECT ch, s, sum(w * p) AS chance FROM
        (SELECT taken, ch, any_value(w) AS w, s, 1 - product(1 - p) AS p FROM ({each}) GROUP BY taken, ch, s) GROUP BY ch, s)
        JOIN (SELECT ch, sum(w) AS total FROM {taken} GROUP BY ch) USING (ch)"""
    return float(base.rows(text)[0][0] or 0.0)


class QueryGuesses:
    """The guesses of some choices of known rows that are sought in the same files.

    For each part of the files that hang together ``tables`` has one line a guess: ``ch``, and ``k{file}_{i}`` the kind.
    """

    def __init__(
        self,
        reader: QueryReader,
        choices: str,
        size: int,
        steady: frozenset[str],
        parts: list[list[tuple[int, QueryFile]]],
    ) -> None:
        self.reader, self.choices, self.size, self.steady, self.parts = reader, choices, size, steady, parts
        self.tables: list[str] = []
        self.values: list[dict[int, tuple[str, list[str]]]] = []
        for places in parts:
            self._guess(places)

    def _taken(self, places: list[tuple[int, QueryFile]], names: list[str]) -> str:
        """Return the choices of fitting rows: different ones for different known rows, with chances above 0."""
        r, base = self.reader, self.reader.base
        taken, before = self.choices, dict[int, list[QueryFile]]()
        for i in range(self.size):
            files = [f for j, f in places if j == i]
            if not files:
                continue
            joins, where = [f"JOIN {self._of_one(files)} AS s ON s.id = c.id{i}"], ["true"]
            for j, f in ((j, f) for j, those in before.items() for f in files if f in those):
                one, other = f"c.k{f.number}_{j}", f"s.k{f.number}"
                where.append(f"({one} = {other}) = c.same{f.number}_{j}_{i}")
                if j == max(before) and (alike := r.of_one_subject(f)):
                    joins.append(f"JOIN {alike} AS a{f.number} ON a{f.number}.p = {one} AND a{f.number}.q = {other}")
                elif j == max(before) and (keys := self._steady_keys(f)):
                    equal = " AND ".join(f"w{f.number}.{key} = v{f.number}.{key}" for key in keys)
                    joins.append(f"JOIN {f.kinds} AS v{f.number} ON v{f.number}.kind = {one}")
                    joins.append(f"JOIN {f.kinds} AS w{f.number} ON w{f.number}.kind = {other} AND {equal}")
            kinds = "".join(f", s.k{f.number} AS k{f.number}_{i}" for f in files)
            taken = base.keep(f"SELECT c.*{kinds} FROM {taken} AS c {' '.join(joins)} WHERE {' AND '.join(where)}")
            before[i] = files
        return base.keep(f"SELECT ch, {', '.join(names)} FROM {taken}")

    def _of_one(self, files: Sequence[QueryFile]) -> str:
        """Return the choices of fitting rows for single known rows, ``(id, k..)``, with chances above 0."""
        r, base = self.reader, self.reader.base
        name = "of_one_" + "_".join(str(f.number) for f in files)
        if name not in base:
            joins = [f"JOIN fit{f.number} AS t{f.number} ON t{f.number}.id = n.id" for f in files]
            for f, g in combinations(files, 2):
                link = f"{f.number}_{g.number}"
                joins.append(
                    f"""JOIN {r.parts(f, g)}k AS p{link} ON p{link}.kind = t{f.number}.kind
                    JOIN {r.parts(g, f)}k AS q{link} ON q{link}.kind = t{g.number}.kind
                    JOIN {r.chances(f, g, scaled=False)} AS c{link} ON c{link}.p = p{link}.part AND c{link}.q = q{link}.part"""
                )
            own = "".join(f", t{f.number}.kind AS k{f.number}" for f in files)
            base.keep(f"SELECT n.id{own} FROM known AS n {' '.join(joins)}", name)
        return name

    def _guess(self, places: list[tuple[int, QueryFile]]) -> None:
        r, base = self.reader, self.reader.base
        names = [f"k{f.number}_{i}" for i, f in places]
        every = self._taken(places, names)
        cells, wide, shapes = [], [], []
        for n, (_, f) in zip(names, places, strict=True):
            wide.append(f"JOIN {f.kinds} AS w{n} ON w{n}.kind = e.{n}")
            shapes.append(f"w{n}.shape")
            cells += [f"w{n}.{c.key} AS {n}{c.key}" for c in self._guessed_columns(f)]
        for i in range(self.size):
            wide.append(f"JOIN known AS n{i} ON n{i}.id = c.id{i}")
            cells += [f"n{i}.g{r.attributes[a]} AS g{r.attributes[a]}_{i}" for a in r.grouping]
        source = f"FROM {every} AS e JOIN {self.choices} AS c USING (ch) {' '.join(wide)}"
        values: dict[int, list[str]] = {i: [] for i in range(self.size)}
        kept = [f"SELECT * FROM {every} WHERE false"]
        limited: dict[int, bool] = {}
        for present, patterns in self._by_cells(
            places, base.rows(f"SELECT DISTINCT {', '.join(shapes)} {source}")
        ).items():
            among = ", ".join(f"({', '.join(map(str, pattern))})" for pattern in patterns)
            chosen = f"({', '.join(shapes)}) IN ({among})"
            table = base.keep(f"SELECT e.*{''.join(f', {c}' for c in cells)} {source} WHERE {chosen}")
            semi, wanted_of = self._assigned(places, names, present, table)
            valid = base.keep(f"SELECT e.* FROM {table} AS e {' '.join(semi)}")
            kept.append(f"SELECT {', '.join(['ch', *names])} FROM {valid}")
            for i in range(self.size):
                if i in wanted_of:
                    shown, keys, column = wanted_of[i]
                    limited[i] = True
                    values[i].append(
                        f"SELECT DISTINCT {', '.join(f'e.{x}' for x in ('ch', *names))}, y.{column} AS s, false AS free FROM {valid} AS e "
                        f"JOIN {shown} AS y ON {' AND '.join(f'y.{k} = e.{k}' for k in keys)}"
                    )
                else:
                    values[i].append(f"SELECT DISTINCT {', '.join(['ch', *names])}, 0 AS s, true AS free FROM {valid}")
        self.tables.append(base.keep(" UNION ALL ".join(kept)))
        self.values.append({i: (base.keep(" UNION ALL ".join(v)), names) for i, v in values.items() if limited.get(i)})

    def _by_cells(
        self, places: list[tuple[int, QueryFile]], patterns: list[tuple[int, ...]]
    ) -> dict[tuple[frozenset[str], ...], list[tuple[int, ...]]]:
        """Return shapes of rows by the guessed columns that have cells in them."""
        by_cells = defaultdict(list)
        keys = [{c.key for c in self._guessed_columns(f)} for _, f in places]
        for pattern in patterns:
            shapes = zip(places, keys, pattern, strict=True)
            by_cells[tuple(frozenset(own.intersection(f.shapes[shape])) for (_, f), own, shape in shapes)].append(
                pattern
            )
        return by_cells

    def _assigned(
        self, places: list[tuple[int, QueryFile]], names: list[str], present: tuple[frozenset[str], ...], table: str
    ) -> tuple[list[str], dict[int, tuple[str, list[str], str]]]:
        """Return the joins that leave guesses of rows with cells of some columns which one assignment is shown by.

        Beside them for each known row the table, keys and column of the sensitive values that it allows.
        """
        r, base = self.reader, self.reader.base
        atoms: list[Atom] = []
        bound: dict[str, str] = {}
        for i in range(self.size):
            for a in r.grouping:
                bound.setdefault(self._variable(a, i), f"g{r.attributes[a]}_{i}")
        for n, (i, f), keys in zip(names, places, present, strict=True):
            columns = [c for c in self._guessed_columns(f) if c.key in keys]
            renamed = {r.variable(name): self._variable(name, i) for c in columns for name, _ in r.shown_names(c)}
            atoms += r.atoms(f, columns, n, renamed)
        semi: list[str] = []
        wanted_of: dict[int, tuple[str, list[str], str]] = {}
        for number, part in enumerate(connected_atoms(atoms, bound)):
            used = {v for a in part for _, v in a.values}
            wanted = {self._variable(r.question.sensitive, i): f"s{i}" for i in range(self.size) if r.question.sensitive
                      and self._variable(r.question.sensitive, i) in used - set(bound)}  # fmt: skip
            shown = base.keep(assignments(part, table, wanted, bound))
            on = list(dict.fromkeys([a.cell for a in part] + [e for v, e in bound.items() if v in used]))
            semi.append(f"SEMI JOIN {shown} AS y{number} ON {' AND '.join(f'y{number}.{k} = e.{k}' for k in on)}")
            for i in range(self.size):
                variable = self._variable(r.question.sensitive, i) if r.question.sensitive else ""
                if variable in wanted:
                    wanted_of[i] = (shown, on, wanted[variable])
        return semi, wanted_of

    def require_truth(self) -> None:
        """Raise TruthExcludedError if the true rows are no guess."""
        base = self.reader.base
        for places, table in zip(self.parts, self.tables, strict=True):
            for i, f in places:
                lost = f"""SELECT 1 FROM {self.choices} AS c {self.reader.joined_rows(i)} JOIN of{f.number} AS o USING (row)
                    ANTI JOIN {table} AS t ON t.ch = c.ch AND t.k{f.number}_{i} = o.kind LIMIT 1"""
                if base.rows(lost):
                    raise TruthExcludedError

    def _steady_keys(self, f: QueryFile) -> list[str]:
        """Return the columns of a file whose cells are equal in all rows of a person, since each shows a steady value."""
        steady = [
            c.key
            for c in self._guessed_columns(f)
            if c.column.kind in FUNCTIONS and {n.partition("@")[0] for n in c.column.names} <= self.steady
        ]
        return [key for key in steady if all(key in shown for shown in f.shapes.values())]

    def _guessed_columns(self, f: QueryFile) -> list[QueryColumn]:
        return [c for c in f.columns if not c.for_values and c.openness in ("mixed", "closed")]

    def _variable(self, name: str, i: int) -> str:
        own = self.reader.variable(name)
        return own if name.partition("@")[0] in self.steady else f"{own}_{i}"

    def allowed(self, f: QueryFile, i: int) -> str:
        """Return the query ``(ch, kind, s, free)`` of the values that a guess with a row allows; none if any."""
        r, own = self.reader, f"k{f.number}_{i}"
        part = next(n for n, places in enumerate(self.parts) if (i, f) in places)
        if r.question.sensitive in r.question.grouping:
            known = f"n.g{r.attributes[r.question.sensitive]}"
            return f"SELECT DISTINCT ch, e.{own} AS kind, {known} AS s, false AS free FROM {self.tables[part]} AS e JOIN {self.choices} USING (ch) JOIN known AS n ON n.id = id{i}"
        if i in self.values[part]:
            return f"SELECT DISTINCT ch, {own} AS kind, s, free FROM {self.values[part][i][0]}"
        for values in self.values:
            if i in values:
                return f"SELECT DISTINCT e.ch, e.{own} AS kind, v.s, v.free FROM {self.tables[part]} AS e JOIN {values[i][0]} AS v USING (ch)"
        return ""


def guesses_of(reader: QueryReader, choices: str, size: int, steady: frozenset[str]) -> list[QueryGuesses]:
    """Return the guesses of some choices of known rows, ``choices(ch, id0, ..)``, for files that hang together."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(f.number for f in reader.files)
    graph.add_edges_from((f.number, g.number) for f, g in combinations(reader.files, 2) if reader.linked(f, g))
    states = ", ".join(f"k{i}.st{f.number}" for i in range(size) for f in reader.files)
    joins = " ".join(f"JOIN known AS k{i} ON k{i}.id = c.id{i}" for i in range(size))
    out = []
    for pattern in reader.base.rows(f"SELECT DISTINCT {states} FROM {choices} AS c {joins}"):
        every = [(i, f) for i in range(size) for f in reader.files]
        where = " AND ".join(f"k{i}.st{f.number} = {s}" for (i, f), s in zip(every, pattern, strict=True))
        chosen = reader.base.keep(f"SELECT c.* FROM {choices} AS c {joins} WHERE {where}")
        sought = [(i, f) for (i, f), s in zip(every, pattern, strict=True) if s]
        parts = [[(i, f) for i, f in sought if f.number in part] for part in nx.connected_components(graph)]
        out.append(QueryGuesses(reader, chosen, size, steady, [p for p in parts if p]))
    return out
