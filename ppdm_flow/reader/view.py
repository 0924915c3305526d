"""What candidates reveal: for each known row and file the units, the values they may have, and how likely each is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ppdm_flow.core.lineage import CellKind
from ppdm_flow.reader.candidates import KIND, KNOWN, CandidateSearch
from ppdm_flow.reader.faults import JoinTooLargeError, TruthExcludedError
from ppdm_flow.reader.files import NO_CELL, ReleasedFile, SourceRows, numbered
from ppdm_flow.reader.people import (
    CHOICE,
    MANY,
    UNIT,
    choice_guesses,
    choice_weights,
    choices,
    linked_values,
    people_of_kinds,
    plain_weights,
    steady_of_people,
    usually_steady,
)
from ppdm_flow.reader.row_kinds import MOST_PARTS, ReaderQuestion, RowKinds, components, joined

GROUP = "group"
READ_AS_SHOWN = (CellKind.EXCHANGED, CellKind.AVERAGED, CellKind.NOISY)


@dataclass(frozen=True, slots=True, eq=False)
class ValueReading:
    """One way to read the sensitive attribute.

    ``probabilities`` has a group, a kind of row, a value and its probability. ``base`` are the shares of the values in
    the released rows, each unit with the same weight. ``per_person``: a probability is a person's, however many of
    their rows are candidates.
    """

    probabilities: pd.DataFrame
    base: pd.Series[Any]
    per_person: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CandidateGroups:
    """The groups of one file.

    ``rows`` have a group with its known row, a kind of row, how many ``units`` have a row of the kind, or that many
    rows, and the weight of each; ``people`` which units have rows of which kind, None where a row is a unit. ``sized``
    are the groups whose known row is in the file. ``many`` are how many choices of known rows a group is for.
    ``together`` is the chance that one of several known rows has a value.
    """

    rows: pd.DataFrame
    readings: tuple[ValueReading, ...]
    sized: frozenset[int]
    many: pd.Series
    people: pd.DataFrame | None = None
    together: float = 0.0


def views(
    source: SourceRows, files: Sequence[ReleasedFile], question: ReaderQuestion, known_rows: int | Literal["all"] = 1
) -> Iterator[CandidateGroups]:
    """Yield the views of a reader who holds all files, and of those who hold one."""
    readers = [list(files), *([f] for f in files if len(files) > 1)]
    for reader_files in readers:
        search = CandidateSearch(source, reader_files, question, usually_steady(source) if source.subject else ())
        yield from (view for _, view in views_of(search, known_rows))


def views_of(search: CandidateSearch, known_rows: int | Literal["all"]) -> Iterator[tuple[int, CandidateGroups]]:
    """Yield the views of a reader of some files, each with its file."""
    source, sensitive = search.source, search.question.sensitive
    by_chance = len(search.files) > 1 and any(f.sampled for f in search.files)
    scalings = (False, True) if by_chance else (True,)
    sets, number = steady_of_people(source) if source.subject else ([frozenset[str]()], np.zeros(len(source), int))
    values_by_file = [probabilities(rows, sensitive) for rows in search.rows] if sensitive else []
    for every in choices(search, number, known_rows):
        for i, steady in enumerate(sets):
            chosen = every[every["steady"] == i]
            waiting = [(chosen, MOST_PARTS)] if len(chosen) else []
            while waiting:  # all at once, or, where that is too much, each half
                some, parts = waiting.pop()
                try:
                    found = list(_views(search, some, steady, values_by_file, scalings))
                except JoinTooLargeError:
                    if parts == 1 or len(some) == 1:
                        raise
                    waiting += [(some.iloc[i::2], parts // 2) for i in range(2)]
                else:
                    yield from found


def together(
    source: SourceRows,
    files: Sequence[ReleasedFile],
    question: ReaderQuestion,
    known_rows: int | Literal["all"] = 1,
    *,
    alone: Collection[int] = (),
    own: int | None = None,
) -> tuple[dict[int, list[CandidateGroups]], dict[int, list[int]]] | None:
    """Return the views of all files together, and which others tell something of the rows of each.

    ``alone`` are the files that tell more by themselves than equal cells do. None where no file does, and none reveals
    anything of another's rows. After the first ``own`` files come those of earlier runs. What these reveal of each
    other was judged before, unless one of the first files is linked to them, even through others.
    """
    if not have_links(files, question) and not alone:
        return None
    search = search_of(source, files, question)
    linked = linked_files(search, own)
    if not any(linked.values()) and not alone:
        return None
    out: dict[int, list[CandidateGroups]] = {f: [] for f in linked}
    for f, one in views_of(search, known_rows):
        if linked[f] or f in alone:
            out[f].append(one)
    for f in alone if len(files) > 1 else ():
        out[f] += [one for _, one in views_of(search_of(source, [files[f]], question), known_rows)]
    return {f: views for f, views in out.items() if views}, linked


def search_of(source: SourceRows, files: Sequence[ReleasedFile], question: ReaderQuestion) -> CandidateSearch:
    """Return the search of a reader who holds some files."""
    return CandidateSearch(source, files, question, usually_steady(source) if source.subject else ())


def linked_to(
    source: SourceRows, files: Sequence[ReleasedFile], question: ReaderQuestion, own: int
) -> dict[int, list[int]]:
    """Return for each file which others tell something of its rows. ``own`` is as in :func:`together`."""
    if not have_links(files, question):
        return {f: [] for f in range(len(files))}
    return linked_files(search_of(source, files, question), own)


def have_links(files: Sequence[ReleasedFile], question: ReaderQuestion) -> bool:
    """Whether any two files have something in common, or one lacks rows for the sensitive attribute."""
    names = [frozenset(n for c in f.columns for n in c.names) for f in files]
    return any(a & b for a, b in combinations(names, 2)) or any(_drops(f, question) for f in files)


def _drops(file: ReleasedFile, question: ReaderQuestion) -> bool:
    return file.decided is not None and question.sensitive in file.decided


def linked_files(search: CandidateSearch, own: int | None = None) -> dict[int, list[int]]:
    """Return for each file which others tell something of its rows. ``own`` is as in :func:`together`."""
    every = range(len(search.files))
    of_run = frozenset(range(len(every) if own is None else own))
    dropping = [_drops(f, search.question) for f in search.files]
    links = [(f, g) for f, g in combinations(every, 2) if not search.tells_nothing(f, g)]
    both = {*links, *((g, f) for f, g in links)}
    linked = {f: [g for g in every if g != f and (dropping[f] or dropping[g] or (f, g) in both)] for f in every}
    parts = components((f, [str(link) for link in links if f in link]) for f in every)
    reached = {f for part, _ in parts if not of_run.isdisjoint(part) for f in part}
    return {f: others if f in reached or not of_run.isdisjoint(others) else [] for f, others in linked.items()}


def _views(
    search: CandidateSearch,
    chosen: pd.DataFrame,
    steady: frozenset[str],
    values_by_file: Sequence[pd.DataFrame],
    scalings: Sequence[bool],
) -> Iterator[tuple[int, CandidateGroups]]:
    size = sum(c.startswith("row") for c in chosen.columns)
    plain, by_chance = size == 1 and search.is_plain, len(scalings) > 1
    guesses = pd.DataFrame() if plain else choice_guesses(search, chosen, steady)
    if not plain and guesses[CHOICE].nunique() < len(chosen):
        raise TruthExcludedError
    for f, rows in enumerate(search.rows):
        linked = linked_values(search, values_by_file, steady, f) if search.source.subject and values_by_file else None
        there, own = search.own(f)
        for scaled in scalings:
            if plain:
                taken = plain_weights(search, f, chosen, scaled=scaled)
            else:
                taken = choice_weights(search, f, guesses, size, scaled=scaled)
            table = _candidates(f, rows, taken, size)
            if table is None:
                continue
            readings = [
                _readings(search, f, part, values_by_file[f], guesses, i)
                for i, part in ((i, table[table[GROUP] % size == i]) for i in range(size))
                if values_by_file and len(part)
            ]
            if size == 1 and not (scaled and by_chance):
                search.require_truth(f, table)
            if scaled and by_chance:  # where the scaled chances leave the true row out, they are not read
                table = table[table[GROUP].isin(table.merge(search.own_kinds(f), on=[KNOWN, KIND])[GROUP])]
                if not len(table):
                    continue
                taken = taken[taken[CHOICE].isin(table[CHOICE])]
                readings = [[r[r[GROUP].isin(table[GROUP])] for r in each] for each in readings]
            sized = table[(there & ~rows.absent[own])[table[KNOWN]]][GROUP]
            many = table[[GROUP, CHOICE]].drop_duplicates().set_index(GROUP)[CHOICE].map(chosen[MANY])
            table = table[[GROUP, KNOWN, KIND, "weight"]].assign(units=rows.count[table[KIND]])
            bases = _bases(search, values_by_file, f) if values_by_file else []
            every = tuple(
                ValueReading(pd.concat(each), b) for each, b in zip(zip(*readings, strict=True), bases, strict=True)
            )
            known_together = _together(taken, every, f, size) if size > 1 and every else 0.0
            if linked is not None and len(linked):
                every = (
                    *every,
                    ValueReading(_by_steady_cells(table, every[0].probabilities, linked), bases[0], per_person=True),
                )
            people = people_of_kinds(rows) if search.source.subject else None
            yield f, CandidateGroups(table, every, frozenset(sized), many, people, known_together)


def _candidates(f: int, rows: RowKinds, taken: pd.DataFrame, size: int) -> pd.DataFrame | None:
    """Return the candidates for each known row of each choice, with their weights; None where there are none."""
    parts = []
    for i in range(size):
        mine = taken[taken[f"kind{f}_{i}"] >= 0]
        if len(mine):
            each = mine["product"] * mine["ways"] / np.bincount(rows.kind)[mine[f"kind{f}_{i}"]]
            key = [CHOICE, f"row{i}", f"kind{f}_{i}"]
            table = mine[key].assign(weight=each).groupby(key)["weight"].sum().reset_index()
            table = table.rename(columns={f"row{i}": KNOWN, f"kind{f}_{i}": KIND})
            parts.append(table.assign(**{GROUP: table[CHOICE] * size + i}))
    return pd.concat(parts) if parts else None


def _readings(
    search: CandidateSearch, f: int, table: pd.DataFrame, values: pd.DataFrame, guesses: pd.DataFrame, i: int
) -> list[pd.DataFrame]:
    rows = search.rows[f]
    candidates = table[[GROUP, CHOICE, KIND]]
    allowed = None
    if f"value{i}" in guesses.columns:
        allowed = guesses[[CHOICE, f"kind{f}_{i}", f"value{i}"]].drop_duplicates()
        allowed = allowed.rename(columns={f"kind{f}_{i}": KIND, f"value{i}": "value"})
        allowed = joined(candidates, allowed)[[GROUP, KIND, "value"]]
    out = [_limited(candidates[[GROUP, KIND]], values, allowed)]
    for key in _read_as_shown(rows):
        cells = rows.cells[key].to_numpy()[table[KIND]]
        shown = table[[GROUP, KIND]].assign(value=cells, probability=1.0)[cells != NO_CELL]
        rest = out[0][~_among(out[0], shown)]
        out.append(pd.concat([shown, rest]))
    return out


def _read_as_shown(rows: RowKinds) -> list[str]:
    sensitive = rows.question.sensitive
    return [k for k, c in rows.columns.items() if c.kind in READ_AS_SHOWN and sensitive in c.carries]


def _bases(search: CandidateSearch, values_by_file: Sequence[pd.DataFrame], f: int) -> list[pd.Series[Any]]:
    """Return the shares of sensitive values in the released rows, by each way to read them but by steady cells.

    They are the rows of this file if it has the attribute, else those of all files that do.
    """
    telling = [f] if len(values_by_file[f]) else [g for g in range(len(values_by_file)) if len(values_by_file[g])]
    rows, keys = search.rows[f], _read_as_shown(search.rows[f])
    source = _shares_of_units([(search.rows[g], values_by_file[g]) for g in telling])
    shown = []
    for key in keys:
        cells = rows.cells[key].to_numpy()
        kinds = np.flatnonzero(cells != NO_CELL)
        table = pd.DataFrame({KIND: kinds, "value": cells[kinds], "probability": 1.0})
        shown.append(_shares_of_units([(rows, table)]))
    return [source, *shown]


def _shares_of_units(kinds_with_values: Sequence[tuple[RowKinds, pd.DataFrame]]) -> pd.Series[Any]:
    parts = [pd.DataFrame({UNIT: [], "value": [], "mass": []}, dtype=np.int64)]
    for rows, values in kinds_with_values:
        kept = ~(rows.file.absent | rows.left_out)
        if rows.source.subject:
            whose = rows.source.unit[rows.first_source]
            counts = (
                pd.DataFrame({KIND: rows.kind[kept], UNIT: whose[kept]}).value_counts().rename("rows").reset_index()
            )
        else:  # all rows have one weight, whose they are
            number = np.bincount(rows.kind[kept], rows.weight_of_rows[kept], len(rows.cells))
            counts = pd.DataFrame({KIND: np.arange(len(number)), UNIT: 0, "rows": number})
        met = joined(counts, values)
        parts.append(met.assign(mass=met["rows"] * met["probability"])[[UNIT, "value", "mass"]])
    every = pd.concat(parts)
    share = every["mass"] / every.groupby(UNIT)["mass"].transform("sum") / max(1, every[UNIT].nunique())
    return share.groupby(every["value"]).sum()


def _among(one: pd.DataFrame, other: pd.DataFrame, *also: str) -> npt.NDArray[np.bool_]:
    key = [GROUP, KIND, *also]
    return pd.MultiIndex.from_frame(one[key]).isin(pd.MultiIndex.from_frame(other[key]))


def _by_steady_cells(table: pd.DataFrame, source: pd.DataFrame, linked: pd.DataFrame) -> pd.DataFrame:
    """Read candidates by the people who share their steady cells, and others as before."""
    read = joined(table[[GROUP, KIND]], linked)
    return pd.concat([read, source[~_among(source, read)]])


def _together(taken: pd.DataFrame, readings: Sequence[ValueReading], f: int, size: int) -> float:
    """Return the largest chance that one of a choice of known rows has a value, over all values and choices."""
    values = readings[0].probabilities
    taken = taken.assign(taken=np.arange(len(taken)))
    mass = taken["product"] * taken["ways"]
    total = mass.groupby(taken[CHOICE]).sum()
    missed = []
    for i in range(size):
        mine = taken[["taken", CHOICE, f"kind{f}_{i}"]].rename(columns={f"kind{f}_{i}": KIND})
        met = joined(mine.assign(**{GROUP: mine[CHOICE] * size + i}), values)
        missed.append(met[["taken", "value"]].assign(missed=np.log1p(-np.minimum(met["probability"], 1 - 1e-15))))
    every = pd.concat(missed)
    if not len(every):
        return 0.0
    one = every.groupby(["taken", "value"], as_index=False)["missed"].sum()
    one["chance"] = mass.to_numpy()[one["taken"]] * -np.expm1(one["missed"])
    sums = one.assign(choice=taken[CHOICE].to_numpy()[one["taken"]]).groupby(["choice", "value"])["chance"].sum()
    return float((sums / total.reindex(sums.index.get_level_values(0)).to_numpy()).max())


def probabilities(rows: RowKinds, sensitive: str) -> pd.DataFrame:
    """Return for each kind of row the values of the sensitive attribute with their shares among the rows alike.

    Alike are rows with equal cells in the columns that carry the attribute and in those that carry any attribute that
    these carry beside it; of absent rows, those with equal values. Absent rows have no cells but of `present`: they
    count only where it carries the attribute.
    """
    file, source = rows.file, rows.source
    out = [pd.DataFrame({KIND: [], "value": [], "probability": []}).astype({KIND: np.int64, "value": np.int64})]
    there = np.flatnonzero(file.place >= 0)
    row = file.place[there]
    for shape in dict.fromkeys(rows.shapes):
        telling = [k for k in shape if sensitive in rows.columns[k].carries]
        if not telling:
            continue
        beside = {a for k in telling if not rows.columns[k].hidden_for for a in rows.columns[k].carries} - {sensitive}
        number, _ = rows.parts([*telling, *(k for k in shape if k not in telling and rows.columns[k].carries & beside)])
        number, _ = numbered([number, np.where(rows.absent, rows.own, NO_CELL)], len(number))
        table = pd.DataFrame({"part": number[rows.kind[row]], "row": row, "value": source.codes[sensitive][there]})
        table = table.assign(units=rows.weight_of_rows[row])[~rows.left_out[row]].drop_duplicates(["row", "value"])
        counts = table.groupby(["part", "value"], as_index=False)["units"].sum()
        kinds = np.flatnonzero([s == shape for s in rows.shapes])
        shares = pd.DataFrame({KIND: kinds, "part": number[kinds]}).merge(counts, on="part")
        shares["probability"] = shares["units"] / shares.groupby(KIND)["units"].transform("sum")
        out.append(shares[[KIND, "value", "probability"]])
    return pd.concat(out)


def _limited(table: pd.DataFrame, values: pd.DataFrame, allowed: pd.DataFrame | None) -> pd.DataFrame:
    """Limit the values of each candidate to those that some guess allows, and let them sum to 1."""
    every = joined(table, values)
    if allowed is None:
        return every
    key = [GROUP, KIND]
    kept = every[_among(every, allowed, "value") | _among(every, allowed[allowed["value"] == NO_CELL])]
    lost = every[key].drop_duplicates()
    lost = lost[~_among(lost, kept)].merge(allowed, on=key).assign(probability=1.0)
    out = pd.concat([kept, lost])
    return out.assign(probability=out["probability"] / out.groupby(key)["probability"].transform("sum"))
