"""Guesses: which rows may be those of known ones, all at once."""

# ruff: noqa: S608, E501  # long lines are SQL; all names in these queries are numbered ones of our own

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import networkx as nx

from ppdm_flow.reader.faults import TruthExcludedError
from ppdm_flow.reader.query.held import QueryColumn, QueryFile, QueryReader
from ppdm_flow.reader.query.tables import Atom, assignments, connected_atoms


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
                joins.append(f"JOIN known AS n{f.number}_{j} ON n{f.number}_{j}.id = c.id{j}")
                where.append(f"({one} = {other}) = (n{f.number}_{j}.o{f.number} = s.o{f.number})")
                if j == max(before) and (alike := r.of_one_subject(f)):
                    joins.append(f"JOIN {alike} AS a{f.number} ON a{f.number}.p = {one} AND a{f.number}.q = {other}")
            kinds = "".join(f", s.k{f.number} AS k{f.number}_{i}" for f in files)
            taken = base.keep(f"SELECT c.*{kinds} FROM {taken} AS c {' '.join(joins)} WHERE {' AND '.join(where)}")
            before[i] = files
        return base.keep(f"SELECT ch, {', '.join(names)} FROM {taken}")

    def _of_one(self, files: Sequence[QueryFile]) -> str:
        """Return the choices of fitting rows for single known rows, ``(id, k.., o..)``, with chances above 0."""
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
            own = "".join(f", t{f.number}.kind AS k{f.number}, n.o{f.number}" for f in files)
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
            cells += [f"w{n}.{c.key} AS {n}{c.key}" for c in self._asked(f)]
        for i in range(self.size):
            wide.append(f"JOIN known AS n{i} ON n{i}.id = c.id{i}")
            cells += [f"n{i}.g{r.attributes[a]} AS g{r.attributes[a]}_{i}" for a in r.asked]
        source = f"FROM {every} AS e JOIN {self.choices} AS c USING (ch) {' '.join(wide)}"
        values: dict[int, list[str]] = {i: [] for i in range(self.size)}
        kept = [f"SELECT * FROM {every} WHERE false"]
        told: dict[int, bool] = {}
        for pattern in base.rows(f"SELECT DISTINCT {', '.join(shapes)} {source}"):
            chosen = " AND ".join(f"{s} = {v}" for s, v in zip(shapes, pattern, strict=True))
            table = base.keep(f"SELECT e.*{''.join(f', {c}' for c in cells)} {source} WHERE {chosen}")
            semi, wanted_of = self._assigned(places, names, pattern, table)
            valid = base.keep(f"SELECT e.* FROM {table} AS e {' '.join(semi)}")
            kept.append(f"SELECT {', '.join(['ch', *names])} FROM {valid}")
            for i in range(self.size):
                if i in wanted_of:
                    shown, keys, column = wanted_of[i]
                    told[i] = True
                    values[i].append(
                        f"SELECT DISTINCT {', '.join(f'e.{x}' for x in ('ch', *names))}, y.{column} AS s, false AS free FROM {valid} AS e "
                        f"JOIN {shown} AS y ON {' AND '.join(f'y.{k} = e.{k}' for k in keys)}"
                    )
                else:
                    values[i].append(f"SELECT DISTINCT {', '.join(['ch', *names])}, 0 AS s, true AS free FROM {valid}")
        self.tables.append(base.keep(" UNION ALL ".join(kept)))
        self.values.append({i: (base.keep(" UNION ALL ".join(v)), names) for i, v in values.items() if told.get(i)})

    def _assigned(
        self, places: list[tuple[int, QueryFile]], names: list[str], shapes: tuple[int, ...], table: str
    ) -> tuple[list[str], dict[int, tuple[str, list[str], str]]]:
        """Return the joins that leave guesses of rows of some shapes which one assignment is shown by.

        Beside them for each known row the table, keys and column of the sensitive values that it allows.
        """
        r, base = self.reader, self.reader.base
        atoms: list[Atom] = []
        bound: dict[str, str] = {}
        for i in range(self.size):
            for a in r.asked:
                bound.setdefault(self._variable(a, i), f"g{r.attributes[a]}_{i}")
        for n, (i, f), shape in zip(names, places, shapes, strict=True):
            asked = [c for c in self._asked(f) if c.key in f.shapes[shape]]
            renamed = {r.variable(name): self._variable(name, i) for c in asked for name, _ in r.shown_names(c)}
            atoms += r.atoms(f, asked, n, renamed)
        semi: list[str] = []
        wanted_of: dict[int, tuple[str, list[str], str]] = {}
        for number, part in enumerate(connected_atoms(atoms, bound)):
            used = {v for a in part for _, v in a.values}
            wanted = {self._variable(r.question.sensitive, i): f"s{i}" for i in range(self.size) if r.question.sensitive
                      and self._variable(r.question.sensitive, i) in used - set(bound)}  # fmt: skip
            shown = base.keep(assignments(part, table, wanted, bound))
            keys = list(dict.fromkeys([a.cell for a in part] + [e for v, e in bound.items() if v in used]))
            semi.append(f"SEMI JOIN {shown} AS y{number} ON {' AND '.join(f'y{number}.{k} = e.{k}' for k in keys)}")
            for i in range(self.size):
                variable = self._variable(r.question.sensitive, i) if r.question.sensitive else ""
                if variable in wanted:
                    wanted_of[i] = (shown, keys, wanted[variable])
        return semi, wanted_of

    def require_truth(self) -> None:
        """Raise TruthExcludedError if the true rows are no guess."""
        base = self.reader.base
        for places, table in zip(self.parts, self.tables, strict=True):
            for i, f in places:
                lost = f"""SELECT 1 FROM {self.choices} AS c JOIN known_of AS n ON n.id = c.id{i} JOIN of{f.number} AS o ON o.row = n.row
                    ANTI JOIN {table} AS t ON t.ch = c.ch AND t.k{f.number}_{i} = o.kind LIMIT 1"""
                if base.rows(lost):
                    raise TruthExcludedError

    def _asked(self, f: QueryFile) -> list[QueryColumn]:
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
