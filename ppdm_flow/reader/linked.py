"""Linked tables as one source: their join by person and by the attributes that they share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.reader.files import MISSING, NO_CELL, Ints
from ppdm_flow.reader.row_kinds import agreeing
from ppdm_flow.tables.column import SUPPRESSED, Column
from ppdm_flow.tables.table import Table

PERSON, ROW = "(person)", "(row)"
"""Columns of joined rows, beside numbered attributes and tables by name."""
NOWHERE = -1
"""The place of a joined row in a table that has no row of it."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkedTableRows:
    """The rows of one linked table, and ``person`` (rows,), whose each is; ``key`` is the attribute that says so.

    ``refers`` are the tables to which it refers, by name.
    """

    name: str
    table: Table
    person: Ints
    key: str
    refers: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class JoinedTables:
    """The joined rows: ``places`` are, by table, the row of it that a joined row has, or `NOWHERE`.

    ``names`` are, by table and attribute, what the attribute is called in the join: shared ones have one name.
    ``codes`` and ``texts`` are the values by these names: from 0, with `MISSING`, and a suppressed one as the last.
    """

    person: Ints
    places: Mapping[str, Ints]
    names: Mapping[tuple[str, str], str]
    codes: Mapping[str, Ints]
    texts: Mapping[str, pa.StringArray]

    def first_of(self, table: str) -> Ints:
        """Return the first joined row of each row of a table."""
        place = self.places[table]
        there = np.flatnonzero(place != NOWHERE)[::-1]
        first = np.full(int(place.max(initial=-1)) + 1, NOWHERE, dtype=np.int64)
        first[place[there]] = there
        return first


def share_more_than_people(tables: Sequence[LinkedTableRows], carried: Mapping[str, Collection[str]]) -> bool:
    """Say whether two of the tables share an attribute beside the person's key, of those ``carried`` by their files."""
    names = _shared_names(tables)
    keys = {names[t.name, t.key] for t in tables}
    shown = [{names[t.name, a] for a in carried.get(t.name, ())} - keys for t in tables]
    return any(one & other for one, other in combinations(shown, 2))


def joined_tables(tables: Sequence[LinkedTableRows]) -> JoinedTables:
    """Join all rows of linked tables; that of the people comes first. Raises TooManyError."""
    names = _shared_names(tables)
    codes, texts = _coded(tables, names)
    of_tables = {t.name: {name for (table, _), name in names.items() if table == t.name} for t in tables}
    person = names[tables[0].name, tables[0].key]
    shared = [n for n in texts if sum(n in own for own in of_tables.values()) > 1 and n != person]
    rows = pd.DataFrame({PERSON: pd.Series(dtype=np.int64), **{n: pd.Series(dtype=np.int64) for n in shared}})
    for table in tables:
        own = [n for n in shared if n in of_tables[table.name]]
        mine = pd.DataFrame({PERSON: table.person, **{n: codes[table.name, n] for n in own}})
        rows = _with(rows, mine.assign(**{table.name: np.arange(len(mine))}), own, table.name, free=shared)
    places = {t.name: rows[t.name].to_numpy(np.int64) for t in tables}
    values: dict[str, Ints] = {}
    for table in tables:
        at = places[table.name]
        for name in of_tables[table.name]:
            known = values.get(name, np.full(len(rows), MISSING))
            values[name] = np.where(at != NOWHERE, codes[table.name, name][at], known) if len(table.person) else known
    return JoinedTables(rows[PERSON].to_numpy(np.int64), places, names, values, texts)


def _with(
    rows: pd.DataFrame, mine: pd.DataFrame, shared: Sequence[str], table: str, *, free: Sequence[str]
) -> pd.DataFrame:
    """Put the rows of a table beside the joined ones; what fits none stays alone, and ``free`` attributes open."""
    rows = rows.assign(**{ROW: np.arange(len(rows))})
    met = agreeing(rows, mine, [PERSON, *shared]) if len(rows) else rows.assign(**{table: 0})
    alone = rows[~rows[ROW].isin(met[ROW])].assign(**{table: NOWHERE})
    new = mine[~mine[table].isin(met[table])]
    every = pd.concat([met, alone, new]).drop(columns=ROW)
    return every.fillna({c: NO_CELL if c in free else NOWHERE for c in every.columns}).astype(np.int64)


def _shared_names(tables: Sequence[LinkedTableRows]) -> dict[tuple[str, str], str]:
    """Return what each attribute is called in the join: the person's key is one, and so are attributes that are shared.

    These are called the same, or every value that a person has of one occurs among that person's values of the other.
    """
    graph = nx.Graph()
    for table in tables:
        graph.add_nodes_from((table.name, n) for n in table.table.columns)
    for one, other in combinations(tables, 2):
        graph.add_edge((one.name, one.key), (other.name, other.key))
        for a, mine in one.table.columns.items():
            for b, theirs in other.table.columns.items():
                if a in (one.key, other.key) or b in (one.key, other.key):
                    continue
                if a == b or _within(one, mine, other, theirs) or _within(other, theirs, one, mine):
                    graph.add_edge((one.name, a), (other.name, b))
    order = {(t.name, n): i for i, (t, n) in enumerate((t, n) for t in tables for n in t.table.columns)}
    names: dict[tuple[str, str], str] = {}
    for part in nx.connected_components(graph):
        table, attribute = min(part, key=order.__getitem__)
        names |= dict.fromkeys(part, f"({order[table, attribute]})")
    return names


def _within(one: LinkedTableRows, mine: Column, other: LinkedTableRows, theirs: Column) -> bool:
    """Say whether every value that a person has in one column is one of that person's in the other."""
    into = pc.index_in(mine.categories, value_set=theirs.categories).fill_null(-1).to_numpy()
    shown = mine.codes >= 0
    codes = into[mine.codes[shown]] if len(into) else np.zeros(0, dtype=np.int64)
    if not len(codes) or (codes < 0).any():
        return False
    width = len(theirs.categories)
    return bool(
        np.isin(one.person[shown] * width + codes, (other.person * width + theirs.codes)[theirs.codes >= 0]).all()
    )


def _coded(
    tables: Sequence[LinkedTableRows], names: Mapping[tuple[str, str], str]
) -> tuple[dict[tuple[str, str], Ints], dict[str, pa.StringArray]]:
    """Return the codes (rows of the table,) of each table's attributes by their names in the join, and their texts."""
    columns = [(t.name, names[t.name, n], c) for t in tables for n, c in t.table.columns.items()]
    texts = {}
    for name in dict.fromkeys(name for _, name, _ in columns):
        texts[name] = pc.unique(pa.concat_arrays([c.categories for _, n, c in columns if n == name]))
    codes = {}
    for table, name, column in columns:
        into = pc.index_in(column.categories, value_set=texts[name]).to_numpy()
        special = {SUPPRESSED: len(texts[name]), MISSING: MISSING}
        by_code = np.concatenate([into, [special[SUPPRESSED], special[MISSING]]]).astype(np.int64)  # indices -2 and -1
        codes[table, name] = by_code[column.codes]
    return codes, texts
