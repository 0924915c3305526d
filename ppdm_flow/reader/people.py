"""Several rows of one person: what is the same in all of them, and what they reveal together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ppdm_flow.reader.candidates import GUESS, KIND, KNOWN, CandidateSearch
from ppdm_flow.reader.chances import Bools
from ppdm_flow.reader.files import Ints, SourceRows, numbered
from ppdm_flow.reader.row_kinds import RowKinds, agreeing, joined, shown_together

CHOICE, UNIT, MANY = "choice", "unit", "many"
SELDOM = 4
"""A steady attribute differs so many times less often within people than between them, or agrees so many times more."""


def usually_steady(source: SourceRows) -> frozenset[str]:
    """Return the attributes that are steady, over all pairs of rows."""
    within = _pairs(np.bincount(source.unit))
    between = _pairs(np.array([len(source)])) - within
    if not within or not between:
        return frozenset({source.subject})
    steady = {source.subject}
    for name, values in source.codes.items():
        together = pd.DataFrame({"unit": source.unit, "value": values}).value_counts().to_numpy(np.int64)
        alike = _pairs(together)
        others = _pairs(np.bincount(pd.factorize(values)[0])) - alike
        # shares as whole numbers, as in SQL: a quarter is one, however its nearest floats compare
        seldom_differs = SELDOM * (within - alike) * between <= (between - others) * within
        often_agrees = alike > 0 and alike * between >= SELDOM * others * within
        if others < between and (seldom_differs or often_agrees):
            steady.add(name)
    return frozenset(steady)


def _pairs(counts: npt.NDArray[np.integer[Any]]) -> int:
    return int((counts.astype(np.int64) * (counts.astype(np.int64) - 1) // 2).sum())


def steady_of_people(source: SourceRows) -> tuple[list[frozenset[str]], Ints]:
    """Return the distinct sets of attributes that are steady and the same within a person, and each unit's set."""
    units = int(source.unit.max(initial=-1)) + 1
    names = sorted(usually_steady(source))
    frame = pd.DataFrame({n: source.codes[n] for n in names})
    same = frame.groupby(source.unit).nunique(dropna=False).reindex(range(units), fill_value=0) <= 1
    number, first = numbered(list(same.to_numpy().T.astype(np.int64)), units)
    return [frozenset(n for n, yes in zip(names, same.iloc[f], strict=True) if yes) for f in first], number


def choices(search: CandidateSearch, steady: Ints, most: int | Literal["all"]) -> Iterator[pd.DataFrame]:
    """Yield the distinct choices of 1, 2, … known rows of one person.

    ``steady`` (units,) is the number of each person's set of steady attributes. A choice has ``steady``, and ``row0``,
    ``row1``, … as numbers of known rows, and ``many`` people have one. ``same{file}_{i}_{j}``: two of them lie in one
    row of a file, as in linked tables.
    """
    source = search.source
    frame = pd.DataFrame({UNIT: source.unit, "source": np.arange(len(source)), "row": search.known_of})
    frame = frame[frame["row"] >= 0]
    largest = max(frame[UNIT].value_counts(), default=0) if most == "all" else most
    table = frame[[UNIT]].drop_duplicates().assign(steady=lambda t: steady[t[UNIT]])
    for size in range(largest):
        sources = [f"source{i}" for i in range(size)]
        table = joined(table, frame.rename(columns={"source": f"source{size}", "row": f"row{size}"}))
        if sources:
            table = table[table[sources[-1]] < table[f"source{size}"]]
        if not len(table):
            return
        for f, file in enumerate(search.files):
            for i in range(size):
                one, other = (file.place[table[f"source{k}"]] for k in (i, size))
                table[f"same{f}_{i}_{size}"] = (one == other) & (one >= 0)
        kept = [c for c in table.columns if c != UNIT and not c.startswith("source")]
        yield table.groupby(kept).size().rename(MANY).reset_index()


def linked_values(
    search: CandidateSearch, values_by_file: Sequence[pd.DataFrame], steady: frozenset[str], f: int
) -> pd.DataFrame:
    """Return for each kind of row of a file the values of the people whose rows share its steady cells.

    ``values_by_file`` are the values of each file's kinds. The probability is the share of a file's people with these
    cells who have the value, the largest over the files.
    """
    mine = search.rows[f]
    out = []
    for rows, values in zip(search.rows, values_by_file, strict=True):
        alike = _sharing(mine, rows, steady)
        who = people_of_kinds(rows)[[KIND, UNIT]].drop_duplicates()
        met = joined(alike, who.rename(columns={KIND: "other"}))
        people = met.drop_duplicates([KIND, UNIT]).groupby(KIND)[UNIT].size()
        have = joined(met, values.rename(columns={KIND: "other"})[["other", "value"]].drop_duplicates())
        have = (
            have.drop_duplicates([KIND, UNIT, "value"])
            .groupby([KIND, "value"])[UNIT]
            .size()
            .rename("people")
            .reset_index()
        )
        out.append(have.assign(probability=have["people"] / people.reindex(have[KIND]).to_numpy()))
    every = pd.concat(out)
    return every.groupby([KIND, "value"])["probability"].max().reset_index()


def _sharing(mine: RowKinds, theirs: RowKinds, steady: frozenset[str]) -> pd.DataFrame:
    """Return the kinds of rows that share steady cells: one assignment of values can show all of these of both.

    What they share is neither known nor the sensitive attribute: that two rows may have one value of it says no more
    of the value than the cells themselves.
    """
    grouping, sensitive = mine.question.grouping, mine.question.sensitive
    first, second = _steady_keys(mine, steady), _steady_keys(theirs, steady)
    out = []
    for shape in dict.fromkeys(mine.shapes):
        for other in dict.fromkeys(theirs.shapes):
            here, there = [k for k in first if k in shape], [k for k in second if k in other]
            names = [{n for k in keys for n in rows.columns[k].names} for keys, rows in ((here, mine), (there, theirs))]
            common = sorted(names[0] & names[1])
            if not set(common) - {*grouping, sensitive}:
                continue
            sides = []
            for keys, rows, which in ((here, mine, shape), (there, theirs, other)):
                kinds = np.flatnonzero([s == which for s in rows.shapes])
                kinds = kinds[~rows.absent[kinds]]
                cells = rows.cells.loc[kinds, keys]
                shown = shown_together(cells.drop_duplicates(), keys, rows.shown, common)
                sides.append(joined(cells.assign(kind=kinds), shown)[["kind", *common]].drop_duplicates())
            met = agreeing(sides[0], sides[1].rename(columns={"kind": "other"}), common)
            out.append(met[[KIND, "other"]].drop_duplicates())
    return pd.concat(out) if out else pd.DataFrame({KIND: [], "other": []}, dtype=np.int64)


def _steady_keys(rows: RowKinds, steady: frozenset[str]) -> list[str]:
    return [k for k, c in rows.columns.items() if c.names and all(n.partition("@")[0] in steady for n in c.names)]


def people_of_kinds(rows: RowKinds) -> pd.DataFrame:
    """Return which people have rows of which kind, and how many."""
    table = pd.DataFrame({KIND: rows.kind, UNIT: rows.source.unit[rows.first_source]})
    return table.value_counts().rename("rows").reset_index()


def choice_guesses(search: CandidateSearch, chosen: pd.DataFrame, steady: frozenset[str]) -> pd.DataFrame:
    """Return the guesses for choices of known rows, with ``choice`` and the kinds ``kind{file}_{row}`` of all rows.

    Different rows of a file are taken for different known rows, and steady attributes have one value for all of them.
    ``value{row}``: the values of the sensitive attribute that the guess allows, one a line, if cells reveal any.
    """
    size = sum(c.startswith("row") for c in chosen.columns)
    sensitive, guesses = search.question.sensitive, search.guesses
    every = {n for rows in search.rows for c in rows.columns.values() for n in c.names}
    common = {n for n in every if n.partition("@")[0] in steady} if size > 1 else set()
    mine = guesses[[KNOWN, GUESS]]
    for allowed in search.allowed(sorted(common | ({sensitive} if sensitive else set()))):
        mine = joined(mine, allowed)
    shared = [n for n in mine.columns if n in common]
    table = chosen.drop(columns=MANY).rename_axis(CHOICE).reset_index()
    for i in range(size):
        own = mine if sensitive in shared else mine.rename(columns={sensitive: f"value{i}"})
        own = own.rename(columns={KNOWN: f"row{i}", GUESS: f"guess{i}"})
        table = agreeing(table, own, shared) if i else joined(table, own)
    if sensitive in shared:
        table = table.assign(**{f"value{i}": table[sensitive] for i in range(size)})
    table = table.drop(columns=shared).drop_duplicates()
    for f in range(len(search.rows)):
        kinds = guesses[f"kind{f}"].to_numpy()
        for i in range(size):
            table[f"kind{f}_{i}"] = kinds[table[f"guess{i}"]]
    return table[_possible(search, table, size)]


def _possible(search: CandidateSearch, table: pd.DataFrame, size: int) -> Bools:
    """Say of each guess whether it takes different rows for different known rows, and one for those that lie in one."""
    possible = np.ones(len(table), dtype=bool)
    for f, rows in enumerate(search.rows):
        room = np.bincount(rows.kind)
        kinds = table[[f"kind{f}_{i}" for i in range(size)]].to_numpy()
        for i, j in combinations(range(size), 2):
            possible &= ~table[f"same{f}_{i}_{j}"].to_numpy() | (kinds[:, i] == kinds[:, j])
        for i in range(size):
            taken = sum((kinds[:, i] == kinds[:, j]) & _counts(table, f, j) for j in range(size))
            possible &= (kinds[:, i] < 0) | (taken <= room[kinds[:, i]])
    return possible


def _counts(table: pd.DataFrame, f: int, j: int) -> Bools:
    """Say of each guess whether the row of known row ``j`` is another one than those of the known rows before it."""
    same = [table[f"same{f}_{i}_{j}"].to_numpy() for i in range(j)]
    return ~np.logical_or.reduce(same) if same else np.ones(len(table), dtype=bool)


def plain_weights(search: CandidateSearch, f: int, chosen: pd.DataFrame, *, scaled: bool) -> pd.DataFrame:
    """Return the same as :func:`choice_weights` for single known rows, where every row that fits is in some guess."""
    kind = f"kind{f}_0"
    mine = search.weights(f, scaled=scaled).rename(columns={KNOWN: "row0", KIND: kind, "weight": "product"})
    table = chosen[["row0"]].rename_axis(CHOICE).reset_index().merge(mine[mine["product"] > 0], on="row0")
    return table.assign(ways=np.bincount(search.rows[f].kind)[table[kind]])


def choice_weights(search: CandidateSearch, f: int, table: pd.DataFrame, size: int, *, scaled: bool) -> pd.DataFrame:
    """Return the distinct choices of kinds of rows of a file, with ``product``, the product of their rows' weights.

    ``ways`` is in how many ways rows of these kinds can be taken.
    """
    kinds = [f"kind{f}_{i}" for i in range(size)]
    out = table[
        [CHOICE, *(f"row{i}" for i in range(size)), *(c for c in table.columns if c.startswith(f"same{f}_")), *kinds]
    ]
    out = out.drop_duplicates()
    product = np.ones(len(out))
    weights = search.weights(f, scaled=scaled)
    for i in range(size):
        mine = out[[f"row{i}", kinds[i]]].rename(columns={f"row{i}": KNOWN, kinds[i]: KIND})
        row_weights = mine.merge(weights, how="left", on=[KNOWN, KIND])["weight"].to_numpy()
        product *= np.where(mine[KIND] < 0, 1.0, row_weights)
    rows, ways = np.bincount(search.rows[f].kind), np.ones(len(out))
    for i in range(size):
        own = out[kinds[i]].to_numpy()
        before = sum(((out[kinds[j]].to_numpy() == own) & _counts(out, f, j) for j in range(i)), np.zeros(len(out)))
        ways *= np.where((own >= 0) & _counts(out, f, i), rows[own] - before, 1)
    return out.assign(product=product, ways=ways)[product > 0]
