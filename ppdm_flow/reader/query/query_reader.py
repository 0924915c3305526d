"""The files that a reader has before a question: whose rows may be whose, and how likely."""

# ruff: noqa: S608, E501  # long lines are SQL; all names in these queries are numbered ones of our own

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import duckdb
import numpy as np

from ppdm_flow.core.lineage import CellKind
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.files import MISSING, NO_CELL, ReleasedColumn, ReleasedFile, SourceRows, values_moved_back
from ppdm_flow.reader.query.scaling import scaled_chances
from ppdm_flow.reader.query.tables import Atom, QueryTables, assignments, connected_atoms
from ppdm_flow.reader.row_kinds import ReaderQuestion


@dataclass(slots=True)
class QueryColumn:
    """A column of a file: its relation to the grouping, and its purpose."""

    key: str
    column: ReleasedColumn
    openness: str
    for_guesses: bool = False
    for_values: bool = False

    @property
    def plain(self) -> bool:
        """Whether it takes part in all but fits and weights."""
        return not self.for_guesses and not self.for_values


@dataclass(slots=True)
class QueryFile:
    """A file in SQL: ``kind{n}(kind, absent, skipped, units, shape, cells)`` and ``of{n}(row, place, kind)``."""

    number: int
    file: ReleasedFile
    columns: list[QueryColumn]
    shapes: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def kinds(self) -> str:
        """The name of the table of its kinds of rows."""
        return f"kind{self.number}"

    def present(self, shape: int) -> list[QueryColumn]:
        """Return the columns that rows of a shape have cells in."""
        return [c for c in self.columns if c.key in self.shapes[shape]]

    def mixed(self, *, virtual: bool) -> list[QueryColumn]:
        """Return the columns that are mixed in some row, with all kinds of their cells."""
        names = {
            c.column.name
            for c in self.columns
            if c.plain and c.openness == "mixed" and (virtual or not c.column.virtual)
        }
        return [c for c in self.columns if c.plain and c.column.name in names]


class QueryReader:
    """Somebody who holds files, before one question."""

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        source: SourceRows,
        files: Sequence[ReleasedFile],
        question: ReaderQuestion,
        *,
        by_row: bool,
    ) -> None:
        self.base = QueryTables(database)
        self.source, self.question, self.by_row = source, question, by_row
        self.attributes = {name: i for i, name in enumerate(source.codes)}
        self.names: dict[str, str] = {}
        self.base.put_arrays(
            {"row": np.arange(len(source)), "unit": source.unit, "weight": source.weight}
            | {"sought": np.ones(len(source), dtype=np.bool_) if source.sought is None else source.sought}
            | {f"a{i}": source.codes[name] for name, i in self.attributes.items()},
            "source",
        )
        self.steady_of_units, self.steady = self._steady_sets()
        telling = self._telling_columns(files)
        self.files = [self._file(n, replace(f, columns=c)) for n, (f, c) in enumerate(zip(files, telling, strict=True))]
        self._refuse()
        needed = any(c.plain and c.openness == "mixed" for f in self.files for c in f.columns)
        needed |= any(f.file.absent.any() for f in self.files) or question.sensitive in question.grouping
        self.grouping = question.grouping if needed else ()
        self._chances: dict[tuple[int, int, bool], str] = {}
        self._parts: dict[tuple[int, int], tuple[str, list[str]]] = {}
        self.value_tables = {f.number: self._probabilities(f) for f in self.files} if question.sensitive else {}

    # -- what was released --

    def variable(self, name: str) -> str:
        """Return the variable of an attribute, or of an attribute under a key."""
        return self.names.setdefault(name, f"v{len(self.names)}")

    def _telling_columns(self, files: Sequence[ReleasedFile]) -> list[tuple[ReleasedColumn, ...]]:
        """Return the columns of each file that reveal an attribute asked for, or another file or row of a person.

        What a column tells may go through other columns of its file, if they show values of common attributes.
        """
        every = [[(c, {n for n, _ in self._names(c)}) for c in f.columns] for f in files]
        of_files = [set[str]().union(*(names for _, names in columns)) for columns in every]
        question_names = {
            *self.question.grouping,
            self.question.sensitive,
            *(a for steady in self.steady for a in steady),
        }
        out = []
        for i, columns in enumerate(every):
            elsewhere = set[str]().union(*(names for j, names in enumerate(of_files) if j != i))
            reached = {n for n in of_files[i] if n in elsewhere or n.partition("@")[0] in question_names}
            while more := {n for _, names in columns if names & reached for n in names} - reached:
                reached |= more
            out.append(tuple(c for c, names in columns if names & reached))
        return out

    def _file(self, number: int, file: ReleasedFile) -> QueryFile:
        columns = [QueryColumn(f"c{j}", c, self.question.openness(c)) for j, c in enumerate(file.columns) if c.carries]
        moved = values_moved_back(file, self.source, self.question.grouping)
        columns += [
            QueryColumn(f"c{len(file.columns) + i}", c, "closed", for_guesses=True) for i, c in enumerate(moved)
        ]
        columns += self._of_absent(file, len(file.columns) + len(self.attributes))
        out = QueryFile(number, file, columns)
        rows = np.arange(len(file))
        base, keys = self.base, [c.key for c in columns]
        base.put_arrays(
            {"place": rows, "absent": file.absent} | {c.key: c.column.cells for c in columns}, f"cells{number}"
        )
        there = np.flatnonzero(file.place >= 0)
        base.put_arrays({"row": there, "place": file.place[there]}, f"places{number}")
        cells = "".join(f", {k}" for k in keys)
        pattern = " || ".join(["''", *(f"CASE WHEN {k} = {NO_CELL} THEN '0' ELSE '1' END" for k in keys)])
        every = "place AS kind" if self.by_row else f"row_number() OVER (ORDER BY absent{cells}) AS kind"
        numbered = base.keep(
            f"SELECT absent{cells}, {every} FROM (SELECT DISTINCT {'place, ' * self.by_row}absent{cells} FROM cells{number})"
        )
        by = "c.place = k.kind" if self.by_row else " AND ".join(f"c.{k} = k.{k}" for k in ("absent", *keys))
        base.keep(
            f"""SELECT c.*, k.kind, w.units FROM cells{number} AS c JOIN {numbered} AS k ON {by}
            JOIN (SELECT place, arg_min(weight, source.row) AS units
            FROM places{number} JOIN source USING (row) GROUP BY place) AS w ON w.place = c.place""",
            f"rows{number}",
        )
        checked_keys = [c.key for c in columns if c.plain and not c.column.virtual
                 and (c.openness in ("open", "mixed") or self.question.sensitive in c.column.carries)]  # fmt: skip
        missing = (
            " OR ".join(f"{k} = {MISSING}" for k in checked_keys)
            if self.question.nulls == "exclude" and checked_keys
            else "false"
        )
        base.keep(
            f"""SELECT kind, absent, dense_rank() OVER (ORDER BY {pattern}) AS shape{cells}, ({missing}) AS skipped, units
            FROM (SELECT kind, absent{cells}, sum(units)::BIGINT AS units FROM rows{number} GROUP BY kind, absent{cells})""",
            out.kinds,
        )
        base.keep(
            f"SELECT p.row, p.place, r.kind FROM places{number} AS p JOIN rows{number} AS r USING (place)",
            f"of{number}",
        )
        for row in base.rows(
            f"SELECT DISTINCT shape{cells and ', '}{', '.join(f'{k} <> {NO_CELL}' for k in keys)} FROM {out.kinds}"
        ):
            out.shapes[row[0]] = tuple(k for k, has in zip(keys, row[1:], strict=True) if has)
        for column in columns:
            if not column.for_values:
                self._shown(out, column)
        return out

    def _of_absent(self, file: ReleasedFile, first: int) -> list[QueryColumn]:
        """Return values of the source that chances of sensitive values of absent rows, or fits to them, go by."""
        if not file.absent.any():
            return []
        sensitive = self.question.sensitive
        cells: list[ReleasedColumn] = []
        if self.source.subject:  # rows with the values of G of an absent known row may fit it
            every = [self._values_of(file, a, ~file.absent) for a in self.question.grouping]
            cells += [replace(c, carries=frozenset()) for c in every]
        if sensitive and sensitive in (file.decided or ()):
            cells += [
                self._values_of(file, a, file.absent) for a in sorted((file.decided or frozenset()) - {sensitive})
            ]
        return [QueryColumn(f"c{first + i}", c, "none", for_values=True) for i, c in enumerate(cells)]

    def _values_of(self, file: ReleasedFile, attribute: str, rows: Any) -> ReleasedColumn:
        cells = np.full(len(file), NO_CELL, dtype=np.int64)
        there = np.flatnonzero(file.place >= 0)[::-1]
        cells[file.place[there]] = self.source.codes[attribute][there]
        return ReleasedColumn("", np.where(rows, cells, NO_CELL), frozenset((attribute,)))

    def shown_name(self, file: QueryFile, column: QueryColumn) -> str:
        """Return the table of what a column's cells show."""
        return f"show{file.number}_{column.key}"

    def shown_names(self, column: QueryColumn) -> list[tuple[str, str]]:
        """Return the names that a column shows values of, with their attributes."""
        return self._names(column.column)

    @staticmethod
    def _names(column: ReleasedColumn) -> list[tuple[str, str]]:
        key = f"@{column.key}" if column.kind is CellKind.KEYED else ""
        return [(f"{a}{key}", a) for a in sorted(column.carries)]

    def _shown(self, file: QueryFile, column: QueryColumn) -> None:
        named = [(self.variable(n), f"a{self.attributes[a]}", a) for n, a in self.shown_names(column)]
        values = ", ".join(f"s.{a} AS {v}" for v, a, _ in named)
        occurring = f"""(SELECT DISTINCT r.{column.key} AS cell, {values} FROM source AS s JOIN of{file.number} AS o USING (row)
            JOIN rows{file.number} AS r ON r.place = o.place)"""
        every = ", ".join(v for v, _, _ in named)
        query = f"SELECT cell, {every} FROM {occurring} WHERE cell <> {NO_CELL}"
        if column.openness == "mixed":
            inside = ", ".join(v for v, _, a in named if a in self.question.grouping)
            outside = ", ".join(v for v, _, a in named if a not in self.question.grouping)
            crossed = f"""SELECT cell, {every} FROM (SELECT DISTINCT cell, {inside} FROM {occurring} WHERE cell <> {NO_CELL})
                JOIN (SELECT DISTINCT cell, {outside} FROM {occurring} WHERE cell <> {NO_CELL}) USING (cell)
                ANTI JOIN (SELECT DISTINCT {every} FROM {occurring}) USING ({every})"""
            query = f"{query} UNION {crossed}"
        self.base.keep(query, self.shown_name(file, column))

    def atoms(
        self, file: QueryFile, columns: Iterable[QueryColumn], prefix: str = "", named: Mapping[str, str] | None = None
    ) -> list[Atom]:
        """Return the atoms of some cells of one row; ``named`` renames variables."""
        out = []
        for c in columns:
            variables = [self.variable(n) for n, _ in self.shown_names(c)]
            renamed = [(v, v if named is None else named.get(v, v)) for v in variables]
            out.append(Atom(f"{prefix}{c.key}", self.shown_name(file, c), tuple(renamed)))
        return out

    def _refuse(self) -> None:
        inside = set(self.question.grouping)
        every = [(f, c) for f in self.files for c in f.columns if c.plain]
        mixed = [(f, c) for f, c in every if c.openness == "mixed" and not c.column.virtual]
        if self.question.nulls == "wildcard":
            for f, c in mixed:
                if self.base.rows(f"SELECT 1 FROM {f.kinds} WHERE {c.key} <> {NO_CELL} LIMIT 1"):
                    raise NotVerifiedError("wildcards beside mixed columns")
        for _, c in mixed:
            if c.column.kind is CellKind.CLASS_ID:
                others = c.column.carries - inside
                if any(d is not c and not d.column.virtual and d.column.carries & others for _, d in every):
                    raise NotVerifiedError("a class id over known and other attributes beside these others")

    # -- chances --

    def linked(self, f: QueryFile, g: QueryFile) -> bool:
        """Whether two files show values of a common attribute."""
        one, other = ({n for c in x.columns if c.plain for n, _ in self.shown_names(c)} for x in (f, g))
        return bool(one & other)

    def _link_columns(self, f: QueryFile, g: QueryFile) -> list[QueryColumn]:
        """Return the columns of ``f`` that its chances with rows of ``g`` go by."""
        keys: set[str] = set()
        for shape, other in product(f.shapes, g.shapes):
            here = self.atoms(f, [c for c in f.present(shape) if c.plain], "f")
            there = self.atoms(g, [c for c in g.present(other) if c.plain], "g")
            for part in connected_atoms([*here, *there]):
                if len({atom.cell[0] for atom in part}) > 1:
                    keys |= {atom.cell[1:] for atom in part if atom.cell[0] == "f"}
        keys |= {c.key for c in f.mixed(virtual=True)}
        if g.mixed(virtual=True):
            keys |= {c.key for c in f.columns if c.plain and c.openness == "open"}
        return [c for c in f.columns if c.key in keys]

    def parts(self, f: QueryFile, g: QueryFile) -> str:
        """Return the table of parts of kinds of ``f`` before ``g``: ``part, n, shape, cells``; ``..k`` has their kinds."""
        name = f"part{f.number}_{g.number}"
        if name not in self.base:
            columns = self._link_columns(f, g)
            cells = "".join(f", {c.key}" for c in columns)
            pattern = " || ".join(["''", *(f"CASE WHEN {c.key} = {NO_CELL} THEN '0' ELSE '1' END" for c in columns)])
            rank = f"dense_rank() OVER (ORDER BY {cells[2:]})" if columns else "1"
            self.base.keep(f"SELECT kind, units, {rank} AS part, {pattern} AS shape{cells} FROM {f.kinds}", f"{name}k")
            self.base.keep(
                f"SELECT part, shape{cells}, sum(units)::BIGINT AS n FROM {name}k GROUP BY part, shape{cells}", name
            )
        return name

    def _start(self, f: QueryFile, g: QueryFile) -> str:
        """Return the table ``(p, q, x)`` of parts that can belong together, with what their chance starts at."""
        one, other = self.parts(f, g), self.parts(g, f)
        columns = {"f": self._link_columns(f, g), "g": self._link_columns(g, f)}
        queries = []
        shapes = [
            [s for (s,) in self.base.rows(f"SELECT DISTINCT shape FROM {t} ORDER BY shape")] for t in (one, other)
        ]
        for s, t in product(*shapes):
            here = [c for c, has in zip(columns["f"], s, strict=True) if has == "1"]
            there = [c for c, has in zip(columns["g"], t, strict=True) if has == "1"]
            joins, conditions = [], [f"p.shape = '{s}'", f"q.shape = '{t}'"]
            parts = connected_atoms([*self.atoms(f, here, "f"), *self.atoms(g, there, "g")])
            for number, part in enumerate(p for p in parts if len({atom.cell[0] for atom in p}) > 1):
                mine = [a.cell[1:] for a in part if a.cell[0] == "f"]
                yours = [a.cell[1:] for a in part if a.cell[0] == "g"]
                tables = "".join(f", {a.shown} AS r{i}" for i, a in enumerate(part))
                equal = _equalities(part, [f"{'x' if a.cell[0] == 'f' else 'y'}.{a.cell[1:]}" for a in part])
                together = self.base.keep(
                    f"""SELECT DISTINCT {", ".join(f"x.{k} AS f{k}" for k in mine)}, {", ".join(f"y.{k} AS g{k}" for k in yours)}
                    FROM (SELECT DISTINCT {", ".join(mine)} FROM {one} WHERE shape = '{s}') AS x,
                    (SELECT DISTINCT {", ".join(yours)} FROM {other} WHERE shape = '{t}') AS y{tables}
                    WHERE {" AND ".join(equal)}"""
                )
                joins.append(f", {together} AS j{number}")
                conditions += [f"j{number}.f{k} = p.{k}" for k in mine] + [f"j{number}.g{k} = q.{k}" for k in yours]
            queries.append(
                f"SELECT p.part AS p, q.part AS q FROM {one} AS p, {other} AS q{''.join(joins)} WHERE {' AND '.join(conditions)}"
            )
        pairs = self.base.keep(" UNION ALL ".join(queries))
        first = self._agreeing_shares(f, g, f"(SELECT p AS m, q AS o FROM {pairs})")
        second = self._agreeing_shares(g, f, f"(SELECT q AS m, p AS o FROM {pairs})")
        return self.base.keep(
            f"""SELECT p, q, coalesce(a.told, {0 if first else 1}) * coalesce(b.told, {0 if second else 1}) AS x FROM {pairs}
            LEFT JOIN {first or "(SELECT 0 AS m, 0 AS o, 1.0 AS told WHERE false)"} AS a ON a.m = p AND a.o = q
            LEFT JOIN {second or "(SELECT 0 AS m, 0 AS o, 1.0 AS told WHERE false)"} AS b ON b.m = q AND b.o = p"""
        )

    def _items(
        self, f: QueryFile, parts: str, key: str, columns: Sequence[QueryColumn], *, name: str, left_out: bool = False
    ) -> dict[str, list[str]]:
        """Keep the values in G of the rows of each part, as ``(part, item, units, values)``.

        Return for each shape of the part's mixed cells the attributes of G that they carry.
        """
        inside: dict[str, list[str]] = {}
        pattern = " || ".join(["''", *(f"CASE WHEN k.{c.key} = {NO_CELL} THEN '0' ELSE '1' END" for c in columns)])
        for (shape,) in self.base.rows(f"SELECT DISTINCT {pattern} FROM {f.kinds} AS k"):
            here = [c for c, has in zip(columns, shape, strict=True) if has == "1"]
            inside[shape] = sorted({a for c in here for a in c.column.carries if a in self.question.grouping})
        every = sorted({a for names in inside.values() for a in names})
        values = "".join(f", s.a{self.attributes[a]}" for a in every)
        skipped = "AND NOT k.skipped" if left_out else ""
        raw = self.base.keep(
            f"""SELECT DISTINCT {key} AS part, {pattern} AS mixed, o.place AS item, w.units{values} FROM {parts} AS p
            JOIN {f.kinds} AS k ON k.kind = p.kind JOIN of{f.number} AS o ON o.kind = k.kind
            JOIN rows{f.number} AS w ON w.place = o.place JOIN source AS s ON s.row = o.row WHERE true {skipped}"""
        )
        several = self.base.rows(f"SELECT count(*) > count(DISTINCT place) FROM of{f.number}")[0][0]
        if several:
            self.base.keep(f"SELECT * FROM {raw}", name)
        else:
            cells = values.replace("s.", "")
            rank = f"dense_rank() OVER (ORDER BY part{cells})"
            self.base.keep(
                f"SELECT part, mixed{cells}, {rank} AS item, sum(units)::BIGINT AS units FROM {raw} GROUP BY part, mixed{cells}",
                name,
            )
        return inside

    def _agreeing_shares(self, f: QueryFile, g: QueryFile, pairs: str) -> str:
        """Return the share of the rows of ``f`` with a row's mixed cells that open cells of ``g`` can show, for pairs (m, o)."""
        columns = f.mixed(virtual=True)
        if not columns:
            return ""
        parts, other = self.parts(f, g), self.parts(g, f)
        cells = ", ".join(f"k.{c.key}" for c in columns)
        mixed = self.base.keep(f"SELECT kind, part, dense_rank() OVER (ORDER BY {cells}) AS mixed FROM {parts}k AS k")
        name = f"told{f.number}_{g.number}"
        inside = self._items(f, mixed, "p.mixed", columns, name=name)
        wide = self._link_columns(g, f)
        queries = []
        for (shape,) in self.base.rows(f"SELECT DISTINCT shape FROM {other}"):
            there = [c for c, has in zip(wide, shape, strict=True) if has == "1" and c.openness == "open"]
            for own, names in inside.items():
                conditions, joins = self._can_show(
                    self.atoms(g, there), names, f"(SELECT * FROM {other} WHERE shape = '{shape}')", "o"
                )
                queries.append(
                    f"""SELECT DISTINCT x.m, x.o, i.item, i.units FROM {pairs} AS x
                    JOIN (SELECT DISTINCT part, mixed FROM {mixed}) AS z ON z.part = x.m
                    JOIN {name} AS i ON i.part = z.mixed JOIN {other} AS o ON o.part = x.o {joins}
                    WHERE o.shape = '{shape}' AND i.mixed = '{own}' {conditions}"""
                )
        total = f"(SELECT part, sum(units) AS n FROM (SELECT DISTINCT part, item, units FROM {name}) GROUP BY part)"
        return self.base.keep(
            f"""SELECT m, o, sum(units) / any_value(n) AS told FROM ({" UNION ALL ".join(queries)}) AS y
            JOIN (SELECT DISTINCT part, mixed FROM {mixed}) AS z ON z.part = y.m JOIN {total} AS t ON t.part = z.mixed GROUP BY m, o"""
        )

    def _can_show(self, atoms: Sequence[Atom], names: Sequence[str], source: str, alias: str) -> tuple[str, str]:
        """Return conditions and joins: items whose values of some attributes the atoms' cells in ``alias`` can show."""
        wanted = {self.variable(a): a for a in names}
        conditions, joins = [], []
        for number, part in enumerate(connected_atoms(atoms)):
            variables = {v for a in part for _, v in a.values} & set(wanted)
            if variables:
                mine = {v: f"a{self.attributes[wanted[v]]}" for v in sorted(variables)}
                shown = self.base.keep(assignments(part, source, mine))
                joins.append(
                    f"JOIN {shown} AS w{number} ON {' AND '.join(f'w{number}.{a.cell} = {alias}.{a.cell}' for a in part)}"
                )
                conditions += [f"AND w{number}.{c} = i.{c}" for c in mine.values()]
        return " ".join(conditions), " ".join(joins)

    def chances(self, f: QueryFile, g: QueryFile, *, scaled: bool) -> str:
        """Return the table ``(p, q, x)`` of chances above 0 that rows of two parts belong together, by the files' order."""
        if f.number > g.number:
            return f"(SELECT q AS p, p AS q, x FROM {self.chances(g, f, scaled=scaled)})"
        by_chance = f.file.sampled or g.file.sampled
        key = (f.number, g.number, scaled or not by_chance)
        if key not in self._chances:
            start = self._chances.get((f.number, g.number, False)) or self.base.keep(
                f"SELECT p, q, x FROM {self._start(f, g)} WHERE x > 0"
            )
            if by_chance:
                self._chances[f.number, g.number, False] = start
            if key[2]:
                self._chances[key] = self._scaled(f, g, start)
        return self._chances[key]

    def _scaled(self, f: QueryFile, g: QueryFile, start: str) -> str:
        one, other = self.parts(f, g), self.parts(g, f)
        if f.file.table != g.file.table:
            turn = g.file.table in f.file.refers or (f.file.table not in g.file.refers and len(f.file) <= len(g.file))
            by, counted, key = ("p", other, "q") if turn else ("q", one, "p")
            return self.base.keep(
                f"""SELECT p, q, x / sum(x * n) OVER (PARTITION BY {by}) AS x FROM {start} JOIN {counted} AS c ON c.part = {start}.{key}"""
            )
        n, m = (np.asarray(self.base.columns(f"SELECT n FROM {t} ORDER BY part")[0], dtype=float) for t in (one, other))
        p, q, x = (np.asarray(c) for c in self.base.columns(f"SELECT p - 1, q - 1, x FROM {start} ORDER BY p, q"))
        truth = None
        if not (f.file.sampled or g.file.sampled):
            pairs = self.base.columns(
                f"""SELECT DISTINCT a.part - 1 AS p, b.part - 1 AS q FROM of{f.number} AS o JOIN of{g.number} AS r USING (row)
                JOIN {one}k AS a ON a.kind = o.kind JOIN {other}k AS b ON b.kind = r.kind ORDER BY p, q"""
            )
            truth = (np.asarray(pairs[0]), np.asarray(pairs[1]))
        scaled = scaled_chances(p, q, x.astype(float), n, m, truth)
        if scaled is None:
            return start
        kept = scaled > 0
        return self.base.put_arrays({"p": p[kept] + 1, "q": q[kept] + 1, "x": scaled[kept]})

    # -- known rows --

    def known(self, sets: str) -> list[str]:
        """Keep ``known(id, s, g.., o.., st.., ot..)``, its rows ``known_of(row, unit, id, own..)``; return the columns of ``known``.

        ``sets(unit, s)`` are the steady attributes of each unit. For each file ``own`` is the kind of the row itself,
        ``st`` 1 where it is present and sought, 2 where it is absent and sought; ``ot`` says that its unit has others.
        ``o`` is the first kind with the same open cells.
        """
        columns, joins, own = [], [], []
        columns += [f"s.a{self.attributes[a]} AS g{self.attributes[a]}" for a in self.grouping]
        for f in self.files:
            n = f.number
            others = " UNION ALL ".join(
                f"SELECT unit FROM of{g.number} JOIN source USING (row) JOIN {g.kinds} USING (kind) WHERE NOT absent"
                for g in self.files if g is not f
            ) or "SELECT unit FROM source WHERE false"  # fmt: skip
            joins.append(
                f"LEFT JOIN of{n} AS o{n} ON o{n}.row = s.row LEFT JOIN {f.kinds} AS k{n} ON k{n}.kind = o{n}.kind"
            )
            elsewhere = f"s.unit IN ({others})"
            here = f"s.unit IN (SELECT unit FROM of{n} JOIN source USING (row) JOIN {f.kinds} USING (kind) WHERE NOT absent)"
            opened = "".join(f", {c.key}" for c in f.columns if c.plain and c.openness == "open")
            alike = f"min(kind) OVER (PARTITION BY absent, skipped{opened})"
            self.base.keep(f"SELECT kind, {alike} AS known FROM {f.kinds}", f"alike{n}")
            joins.append(f"LEFT JOIN alike{n} ON alike{n}.kind = o{n}.kind")
            columns.append(f"coalesce(alike{n}.known, -1) AS o{n}")
            own.append(f"coalesce(o{n}.kind, -1) AS own{n}")
            columns.append(
                f"CASE WHEN k{n}.kind IS NULL OR k{n}.skipped THEN 0 WHEN NOT k{n}.absent THEN 1 WHEN {elsewhere} THEN 2 ELSE 0 END AS st{n}"
            )
            columns.append(f"CASE WHEN k{n}.absent AND {here} THEN 1 ELSE 0 END AS ot{n}")
        names = [c.rpartition(" AS ")[2] for c in columns]
        raw = self.base.keep(
            f"SELECT s.row, s.unit, z.s, {', '.join([*columns, *own])} FROM source AS s {' '.join(joins)} JOIN {sets} AS z USING (unit) WHERE s.sought"
        )
        self.base.keep(f"SELECT *, dense_rank() OVER (ORDER BY s, {', '.join(names)}) AS id FROM {raw}", "known_of")
        self.base.keep(f"SELECT DISTINCT id, s, {', '.join(names)} FROM known_of", "known")
        return names

    def joined_rows(self, i: int) -> str:
        """Return the join of choices ``c`` of known rows with the ``row`` of the i-th, one of all those alike, or all."""
        if self.by_row:
            return f"JOIN known_of AS n ON n.row = c.row{i}"
        return f"JOIN known_of AS n ON n.id = c.id{i}"

    def fits(self, f: QueryFile) -> str:
        """Keep ``fit(id, kind)``: the kinds of rows of a file that fit each known row that is sought there."""
        n, wildcard = f.number, self.question.nulls == "wildcard"
        opened = [c for c in f.columns if c.plain and not c.column.virtual and c.openness == "open"]
        mixed = [c for c in f.columns if c.plain and not c.column.virtual and c.openness == "mixed"]
        cells = "".join(f", {c.key}" for c in (*opened, *mixed))
        hides = {c.key: f"{c.key} IN ({NO_CELL}{f', {MISSING}' if wildcard else ''})" for c in opened}
        free = " || ".join(["'0'", *(f"CASE WHEN {is_free} THEN '1' ELSE '0' END" for is_free in hides.values())])
        shape = " || ".join(["''", *(f"CASE WHEN {c.key} = {NO_CELL} THEN '0' ELSE '1' END" for c in mixed)])
        told = "".join(
            f", CASE WHEN {is_free} THEN {NO_CELL} ELSE {key} END AS told_{key}" for key, is_free in hides.items()
        )
        rows = self.base.keep(
            f"SELECT kind, ({free})::BIT AS free, {shape} AS mixed{cells}{told} FROM {f.kinds} WHERE NOT absent AND NOT skipped"
        )
        looks = self.base.keep(
            f"SELECT row_number() OVER () AS look, ({free})::BIT AS free, * FROM (SELECT DISTINCT {', '.join(c.key for c in opened) or '0 AS none'}"
            f" FROM {f.kinds} WHERE kind IN (SELECT o{n} FROM known WHERE st{n} = 1))"
        )
        same = " AND ".join(f"l.{c.key} = w.{c.key}" for c in opened) or "true"
        equal = [f"AND t.told_{c.key} = r.told_{c.key}" for c in opened]
        out = []
        for (present,) in self.base.rows(f"SELECT DISTINCT mixed FROM {rows}"):
            there = f"(SELECT * FROM {rows} WHERE mixed = '{present}')"
            # known rows as they look with the cells hidden that some row hides
            hidden = "".join(
                f", CASE WHEN get_bit(p.free, {i}) = 1 THEN {NO_CELL} ELSE l.{c.key} END AS told_{c.key}"
                for i, c in enumerate(opened, 1)
            )
            turned = f"""(SELECT l.look, p.free{hidden} FROM {looks} AS l JOIN (SELECT DISTINCT free FROM {there}) AS p
                ON (l.free & p.free) = l.free)"""
            here = [c for c, has in zip(mixed, present, strict=True) if has == "1"]
            joins, bound = [], {self.variable(a): f"g{self.attributes[a]}" for a in self.grouping}
            atoms = self.atoms(f, here)
            for number, part in enumerate(connected_atoms(atoms, bound)):
                used = {v for a in part for _, v in a.values} & set(bound)
                if not used:
                    continue
                wanted = {v: f"x{bound[v]}" for v in sorted(used)}
                shown = self.base.keep(assignments(part, there, wanted))
                on = [f"y{number}.{a.cell} = r.{a.cell}" for a in part] + [
                    f"y{number}.x{bound[v]} = k.{bound[v]}" for v in sorted(used)
                ]
                joins.append(f"JOIN {shown} AS y{number} ON {' AND '.join(on)}")
            out.append(
                f"""SELECT k.id, r.kind FROM known AS k JOIN {f.kinds} AS w ON w.kind = k.o{n} JOIN {looks} AS l ON {same}
                JOIN {turned} AS t ON t.look = l.look JOIN {there} AS r ON r.free = t.free {" ".join(equal)} {" ".join(joins)}
                WHERE k.st{n} = 1"""
            )
        out.append(f"SELECT k.id, r.kind FROM known AS k, {f.kinds} AS r WHERE k.st{n} = 2 AND r.absent")
        values = [f"s.a{self.attributes[a]} = k.g{self.attributes[a]}" for a in self.grouping]
        out.append(
            f"""SELECT k.id, o.kind FROM known AS k JOIN source AS s ON {" AND ".join(values) or "true"} JOIN of{n} AS o ON o.row = s.row
            JOIN {f.kinds} AS r ON r.kind = o.kind WHERE k.st{n} = 2 AND k.ot{n} = 1 AND NOT r.skipped"""
        )
        return self.base.keep(" UNION ".join(out), f"fit{n}")

    def shares(self, f: QueryFile, files: Sequence[QueryFile]) -> str:
        """Keep ``share(id, kind, share)``: of the rows with a candidate's mixed cells, those that agree with the known row."""
        n, columns = f.number, f.mixed(virtual=False)
        name = f"share{n}"
        if not columns:
            return self.base.keep(f"SELECT id, kind, 1.0::DOUBLE AS share FROM fit{n}", name)
        cells = ", ".join(f"k.{c.key}" for c in columns)
        mixed = self.base.keep(f"SELECT kind, dense_rank() OVER (ORDER BY {cells}) AS part FROM {f.kinds} AS k")
        items = f"items{n}"
        inside = self._items(f, mixed, "p.part", columns, name=items, left_out=True)
        opened = {
            g.number: [c for c in g.columns if c.plain and not c.column.virtual and c.openness == "open"] for g in files
        }
        pairs = self.base.keep(f"SELECT DISTINCT id, part FROM fit{n} JOIN {mixed} USING (kind)")
        seen = ", ".join(f"k.st{g.number}, coalesce(k{g.number}.shape, -1)" for g in files)
        joins = " ".join(f"LEFT JOIN {g.kinds} AS k{g.number} ON k{g.number}.kind = k.o{g.number}" for g in files)
        queries = []
        for pattern in self.base.rows(f"SELECT DISTINCT {seen} FROM known AS k {joins}"):
            atoms, own, where = [], [], []
            for g, status, shape in zip(files, pattern[::2], pattern[1::2], strict=True):
                where.append(f"k.st{g.number} = {status} AND coalesce(k{g.number}.shape, -1) = {shape}")
                if status:
                    there = [c for c in opened[g.number] if c.key in g.shapes[shape]]
                    atoms += self.atoms(g, there, f"k{g.number}_")
                    own += [f"k{g.number}.{c.key} AS k{g.number}_{c.key}" for c in there]
            known = self.base.keep(
                f"SELECT k.id{''.join(f', {c}' for c in own)} FROM known AS k {joins} WHERE {' AND '.join(where)}"
            )
            for shape, names in inside.items():
                conditions, more = self._can_show(atoms, names, known, "o")
                queries.append(
                    f"""SELECT DISTINCT x.id, x.part, i.* EXCLUDE (part, mixed) FROM {pairs} AS x JOIN {known} AS o ON o.id = x.id
                    JOIN {items} AS i ON i.part = x.part {more} WHERE i.mixed = '{shape}' {conditions}"""
                )
                agree = " AND ".join(f"k.g{self.attributes[a]} = i.a{self.attributes[a]}" for a in names) or "true"
                queries[-1] = f"SELECT x.id, x.part, x.item, x.units, bool_or({agree.replace('i.', 'x.')}) AS agrees FROM ({queries[-1]}) AS x JOIN known AS k ON k.id = x.id GROUP BY x.id, x.part, x.item, x.units"  # fmt: skip
        shares = self.base.keep(
            f"""SELECT id, part, sum(units) FILTER (agrees) / sum(units) AS share FROM ({" UNION ALL ".join(queries)}) GROUP BY id, part"""
        )
        return self.base.keep(
            f"""SELECT x.id, x.kind, coalesce(s.share, 0)::DOUBLE AS share FROM fit{n} AS x JOIN {mixed} AS m USING (kind)
            LEFT JOIN {shares} AS s ON s.id = x.id AND s.part = m.part""", name
        )  # fmt: skip

    def weights(self, f: QueryFile, *, scaled: bool) -> str:
        """Return the table ``(id, kind, w)`` of the weight of each fitting row for each known row."""
        n = f.number
        factors, joins = ["s.share"], []
        for g in self.files:
            if g is f:
                continue
            m = g.number
            chances = self.chances(f, g, scaled=scaled)
            mass = self.base.keep(
                f"""SELECT id, part AS q, sum(share * p.units) AS mass FROM share{m} JOIN {self.parts(g, f)}k AS p USING (kind) GROUP BY id, part"""
            )
            candidates = self.base.keep(
                f"SELECT DISTINCT id, part AS p FROM share{n} JOIN {self.parts(f, g)}k AS p USING (kind) WHERE share > 0"
            )
            sums = self.base.keep(
                f"""SELECT a.id, a.p, sum(c.x * m.mass) AS w FROM {candidates} AS a JOIN {mass} AS m ON m.id = a.id
                JOIN {chances} AS c ON c.p = a.p AND c.q = m.q GROUP BY a.id, a.p"""
            )
            joins.append(
                f"""JOIN {self.parts(f, g)}k AS p{m} ON p{m}.kind = s.kind JOIN known AS k{m} ON k{m}.id = s.id
                LEFT JOIN {sums} AS c{m} ON c{m}.id = s.id AND c{m}.p = p{m}.part"""
            )
            factors.append(f"CASE WHEN k{m}.st{m} = 0 THEN 1 ELSE coalesce(c{m}.w, 0) END")
        return self.base.keep(f"SELECT s.id, s.kind, {' * '.join(factors)} AS w FROM share{n} AS s {' '.join(joins)}")

    def _probabilities(self, f: QueryFile) -> str:
        """Keep ``told(kind, s, n)``: how many of the rows with a kind's telling cells have each value."""
        s, name = self.question.sensitive, f"told{f.number}s"
        queries = [f"SELECT kind, 0::BIGINT AS s, 0::BIGINT AS n FROM {f.kinds} WHERE false"]
        for shape in f.shapes:
            here = f.present(shape)
            telling = [c for c in here if c.plain and s in c.column.carries]
            if not telling:
                continue
            beside = {a for c in telling if not c.column.hidden_for for a in c.column.carries} - {s}
            alike = [*telling, *(c for c in here if c not in telling and c.plain and c.column.carries & beside)]
            alike += [c for c in here if c.for_values and c.column.carries & beside]
            keys, named = ", ".join(c.key for c in alike), ", ".join(f"r.{c.key}" for c in alike)
            counts = self.base.keep(
                f"""SELECT {keys}, s, sum(units)::BIGINT AS n FROM (SELECT DISTINCT r.place, r.units, {named}, a{self.attributes[s]} AS s
                FROM rows{f.number} AS r JOIN of{f.number} AS o ON o.place = r.place JOIN source ON source.row = o.row
                JOIN {f.kinds} AS k ON k.kind = r.kind WHERE NOT k.skipped) GROUP BY {keys}, s"""
            )
            queries.append(
                f"SELECT k.kind, c.s, c.n FROM {f.kinds} AS k JOIN {counts} AS c USING ({keys}) WHERE k.shape = {shape}"
            )
        return self.base.keep(" UNION ALL ".join(queries), name)

    def telling(self, f: QueryFile) -> str:
        """Return the query of the kinds that have cells which carry the sensitive attribute."""
        s = self.question.sensitive
        shapes = [str(n) for n in f.shapes if any(c.plain and s in c.column.carries for c in f.present(n))]
        return f"(SELECT kind FROM {f.kinds} WHERE shape IN ({', '.join(shapes) or 'NULL'}))"

    # -- people --

    def _steady_sets(self) -> tuple[str, list[frozenset[str]]]:
        """Keep ``sets(unit, s)``, the steady attributes of each unit; return the sets."""
        if not self.source.subject:
            return self.base.keep("SELECT DISTINCT unit, 0 AS s FROM source"), [frozenset()]
        pairs = "coalesce(sum(n * (n - 1) // 2), 0)::HUGEINT"
        every, within = (
            self.base.rows(f"SELECT {pairs} FROM (SELECT count(*) AS n FROM source GROUP BY {by})")[0][0]
            for by in ("1 + 0 * unit * 0", "unit")
        )
        between = every - within
        usual = [self.source.subject]
        for name, i in self.attributes.items():
            if name == self.source.subject or not within or not between:
                continue
            equal = self.base.rows(f"SELECT {pairs} FROM (SELECT count(*) AS n FROM source GROUP BY a{i})")[0][0]
            inside = self.base.rows(f"SELECT {pairs} FROM (SELECT count(*) AS n FROM source GROUP BY unit, a{i})")[0][0]
            outside = equal - inside
            differ = between - outside
            if differ and (
                (within - inside) * 4 * between <= differ * within
                or (inside * between >= 4 * outside * within and inside)
            ):
                usual.append(name)
        flags = "".join(f", count(DISTINCT a{self.attributes[a]}) = 1" for a in usual if a in self.attributes)
        inside_source = [a for a in usual if a in self.attributes]
        rows = self.base.rows(f"SELECT unit{flags} FROM source GROUP BY unit ORDER BY unit")
        sets: dict[frozenset[str], int] = {}
        numbers = []
        for row in rows:
            own = frozenset(a for a, has in zip(inside_source, row[1:], strict=True) if has) | {self.source.subject}
            numbers.append(sets.setdefault(own, len(sets)))
        self.base.put_arrays({"unit": np.array([r[0] for r in rows]), "s": np.array(numbers)}, "sets")
        return "sets", list(sets)

    def linked_values(self, f: QueryFile, steady: frozenset[str]) -> str:
        """Return the table ``(kind, s, p)`` of values of the people who share the steady cells of a row."""
        queries = ["SELECT 0::BIGINT AS kind, 0::BIGINT AS s, 0.0::DOUBLE AS p WHERE false"]
        for g in self.files:
            pairs = self._sharing(
                f,
                g,
                lambda c: c.plain and c.column.carries <= steady,
                {*self.question.grouping, self.question.sensitive},
            )
            shared = self.base.keep(f"SELECT * FROM ({pairs}) SEMI JOIN people{g.number} AS u ON u.kind = q")
            n = self.base.keep(
                f"SELECT p, count(DISTINCT unit) AS n FROM {shared} JOIN people{g.number} AS u ON u.kind = q GROUP BY p"
            )
            queries.append(
                f"""SELECT p AS kind, s, (count(DISTINCT unit) / any_value(c.n))::DOUBLE AS p FROM {shared} JOIN people{g.number} AS u ON u.kind = q
                JOIN {self.value_tables[g.number]} AS t ON t.kind = q JOIN {n} AS c USING (p) GROUP BY p, s"""
            )
        return self.base.keep(f"SELECT kind, s, max(p) AS p FROM ({' UNION ALL '.join(queries)}) GROUP BY kind, s")

    def _sharing(
        self,
        f: QueryFile,
        g: QueryFile,
        wanted: Callable[[QueryColumn], bool],
        but_of: AbstractSet[str],
        *,
        absent: bool = False,
    ) -> str:
        """Return the query ``(p, q)`` of kinds of two files whose wanted cells one assignment can show.

        They show values of a common attribute other than those of ``but_of``. Absent rows count if ``absent``.
        """
        pairs = ["SELECT 0::BIGINT AS p, 0::BIGINT AS q WHERE false"]
        for s, t in product(f.shapes, g.shapes):
            here = [c for c in f.present(s) if wanted(c)]
            there = [c for c in g.present(t) if wanted(c)]
            common = {n for c in here for n, _ in self.shown_names(c)} & {
                n for c in there for n, _ in self.shown_names(c)
            } - but_of
            if not common:
                continue
            one = self._numbered(f, here, s, absent=absent)
            other = self._numbered(g, there, t, absent=absent)
            joins, where = [], []
            atoms = [*self.atoms(f, here, "f_"), *self.atoms(g, there, "g_")]
            for number, part in enumerate(p for p in connected_atoms(atoms) if len({a.cell[0] for a in p}) > 1):
                equal = _equalities(part, [f"{a.cell[0]}.{a.cell[2:]}" for a in part])
                cells = [(a.cell[0], a.cell[2:]) for a in part]
                table = self.base.keep(
                    f"""SELECT DISTINCT {", ".join(f"{x}.{k} AS {x}{k}" for x, k in cells)} FROM {one}p AS f, {other}p AS g,
                    {", ".join(f"{a.shown} AS r{i}" for i, a in enumerate(part))} WHERE {" AND ".join(equal)}"""
                )
                joins.append(f", {table} AS j{number}")
                where += [f"j{number}.{x}{k} = {x}.{k}" for x, k in cells]
            shared = self.base.keep(
                f"SELECT f.part AS p, g.part AS q FROM {one}p AS f, {other}p AS g{''.join(joins)} WHERE {' AND '.join(where)}"
            )
            pairs.append(
                f"SELECT a.kind AS p, b.kind AS q FROM {shared} AS s JOIN {one} AS a ON a.part = s.p JOIN {other} AS b ON b.part = s.q"
            )
        return " UNION ALL ".join(pairs)

    def of_one_subject(self, f: QueryFile) -> str:
        """Return the table ``(p, q)`` of kinds of a file that can be one person's by what it shows of the subject.

        Empty where some rows show nothing of the subject.
        """

        def shows_subject(c: QueryColumn) -> bool:
            return c.plain and c.openness in ("mixed", "closed") and c.column.carries == {self.source.subject}

        if not all(any(map(shows_subject, f.present(shape))) for shape in f.shapes):
            return ""
        name = f"subject{f.number}"
        if name not in self.base:
            self.base.keep(f"SELECT DISTINCT * FROM ({self._sharing(f, f, shows_subject, set(), absent=True)})", name)
        return name

    def _numbered(self, f: QueryFile, columns: Sequence[QueryColumn], shape: int, *, absent: bool) -> str:
        """Keep the parts of kinds of one shape, without absent rows unless ``absent``, and with ``p`` their cells."""
        cells = ", ".join(c.key for c in columns)
        table = self.base.keep(
            f"SELECT kind, {cells}, dense_rank() OVER (ORDER BY {cells}) AS part FROM {f.kinds} WHERE shape = {shape}{'' if absent else ' AND NOT absent'}"
        )
        self.base.keep(f"SELECT DISTINCT part, {cells} FROM {table}", f"{table}p")
        return table


def _equalities(part: Sequence[Atom], cells: Sequence[str]) -> list[str]:
    """Return that the cells of tables ``r0``, ``r1``, ... are these, and that their values are one assignment."""
    equal, seen = [], dict[str, str]()
    for i, (atom, cell) in enumerate(zip(part, cells, strict=True)):
        equal.append(f"r{i}.cell = {cell}")
        for column, variable in atom.values:
            equal += [f"r{i}.{column} = {seen[variable]}"] if variable in seen else []
            seen.setdefault(variable, f"r{i}.{column}")
    return equal
