"""Candidates of a known row: the rows of each file that fit, which of them belong together, and their chances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ppdm_flow.core.lineage import CellKind
from ppdm_flow.reader.chances import Bools, Floats, scaled
from ppdm_flow.reader.compatible import compatible_pairs
from ppdm_flow.reader.faults import JoinTooLargeError, NotVerifiedError, TruthExcludedError
from ppdm_flow.reader.files import MISSING, NO_CELL, Ints, ReleasedColumn, ReleasedFile, SourceRows, numbered
from ppdm_flow.reader.row_kinds import (
    ReaderQuestion,
    RowKinds,
    ShownValues,
    agreeing,
    components,
    joined,
    require_room,
    rows_of,
    shown_together,
)

KNOWN, KIND, GUESS = "known", "kind", "guess"
NOWHERE = -1
ANYTHING = -1
"""The code of a cell that any value fits, as `compatible_pairs` takes it."""
PRODUCTS_AT_ONCE = 4_000_000
MOST_PRODUCTS = 1_000_000_000
"""Chances that are added up, in some minutes; what needs more is not verified."""


class CandidateSearch:
    """The files of one reader before one question."""

    def __init__(
        self, source: SourceRows, files: Sequence[ReleasedFile], question: ReaderQuestion, steady: Iterable[str] = ()
    ) -> None:
        self.source, self.files, self.question = source, files, question
        self.rows = rows_of(source, files, question, steady)
        self._require_verifiable()
        self.known = self._known()

    def _require_verifiable(self) -> None:
        """Raise NotVerifiedError where no figure says what a reader can know."""
        mixed = [c for rows in self.rows for c in rows.columns.values() if self.question.openness(c) == "mixed"]
        if self.question.nulls == "wildcard" and any(not c.virtual for c in mixed):
            raise NotVerifiedError(
                "missing values that fit any other, beside cells that others than the known attributes made"
            )
        every = [c for rows in self.rows for c in rows.columns.values() if not c.virtual]
        for column in (c for c in mixed if c.kind is CellKind.CLASS_ID):
            others = column.carries.difference(self.question.grouping)
            if any(c is not column and c.carries & others for c in every):
                raise NotVerifiedError(
                    f"`{column.name}` numbers classes by known and other attributes, and one of these is shown"
                )

    @cached_property
    def pairings(self) -> dict[tuple[int, int], FilePairing]:
        """The chances between any two files."""
        out = {}
        for f, g in combinations(range(len(self.files)), 2):
            out[f, g] = pairing(self.rows[f], self.rows[g])
            out[g, f] = out[f, g].turned()
        return out

    # -- known rows --

    def _places(self) -> list[Ints]:
        """The row of each source row in each file where it is sought, or `NOWHERE`."""
        places = []
        seen = [(f.place >= 0) & ~f.absent[f.place] for f in self.files]
        for i, (file, rows) in enumerate(zip(self.files, self.rows, strict=True)):
            place = file.place.copy()
            place[(place >= 0) & rows.left_out[place]] = NOWHERE
            elsewhere = np.zeros(len(self.source), dtype=bool)
            for j, there in enumerate(seen):
                if j != i:
                    elsewhere |= np.isin(self.source.unit, self.source.unit[there])
            absent = (place >= 0) & file.absent[place]
            place[absent & ~elsewhere] = NOWHERE
            places.append(place)
        return places

    def _known(self) -> pd.DataFrame:
        """Distinct known rows: their open cells in each file, and their values of the grouping where these matter."""
        places = self._places()
        table: dict[str, Any] = {}
        for i, (p, r) in enumerate(zip(places, self.rows, strict=True)):
            opened = (r.cells[k].to_numpy() for k in r.keys("open", virtual=False))
            number, _ = numbered([*opened, r.absent.astype(np.int64)], len(r.cells))
            table[f"own{i}"] = np.where(p >= 0, number[r.kind[p]], NOWHERE)
        if any(r.mixed for r in self.rows) or any(f.absent.any() for f in self.files):
            table |= {f"of {a}": self.source.codes[a] for a in self.question.grouping}
        table |= {f"others{i}": self._others(f) for i, f in enumerate(self.files) if f.absent.any()}
        frame = pd.DataFrame(table)
        frame["source"] = np.arange(len(self.source))
        for i, p in enumerate(places):
            frame[f"place{i}"] = p
        sought = np.logical_or.reduce([p >= 0 for p in places])
        sought &= True if self.source.sought is None else self.source.sought
        number, first = numbered([frame[c].to_numpy() for c in table], len(frame))
        self.known_of = np.where(sought, number, NOWHERE)
        return frame.iloc[first].assign(**{KNOWN: np.arange(len(first))})

    def _others(self, file: ReleasedFile) -> Bools:
        """Say of each source row that a file lacks whether its person has other rows there."""
        there = (file.place >= 0) & ~file.absent[file.place]
        return ~there & np.isin(self.source.unit, self.source.unit[there])

    def own_kinds(self, f: int) -> pd.DataFrame:
        """Return the kinds of row that each known row may itself be in the file: known rows are alike in open cells."""
        place = self.files[f].place
        there = (place >= 0) & (self.known_of >= 0)
        return pd.DataFrame({KNOWN: self.known_of[there], KIND: self.rows[f].kind[place[there]]}).drop_duplicates()

    def require_truth(self, f: int, candidates: pd.DataFrame) -> None:
        """Raise TruthExcludedError where the own row of a known row is not among its candidates in a file."""
        sought, _ = self.own(f)
        own = self.own_kinds(f)
        own = own[sought[own[KNOWN]] & own[KNOWN].isin(candidates[KNOWN])]
        if len(own.merge(candidates[[KNOWN, KIND]].drop_duplicates(), on=[KNOWN, KIND])) < len(own):
            raise TruthExcludedError

    def own(self, f: int) -> tuple[Bools, Ints]:
        """Say for each known row whether it is sought in the file, and the kind of its own row."""
        place = self.known[f"place{f}"].to_numpy()
        return place >= 0, self.rows[f].kind[place]

    # -- fits --

    @cached_property
    def fitting(self) -> list[pd.DataFrame]:
        """For each file: known row, kind of row that fits it, and the share of that kind's mixed cells."""
        return [self._fitting(f) for f in range(len(self.files))]

    def _fitting(self, f: int) -> pd.DataFrame:
        rows = self.rows[f]
        there, own = self.own(f)
        absent = there & rows.absent[own]
        fits = [self._fits_present(f, there & ~absent, own), self._fits_absent(f, absent)]
        table = pd.concat(fits, ignore_index=True)
        return table.assign(share=self._shares(f, table))

    def _fits_present(self, f: int, sought: Bools, own: Ints) -> pd.DataFrame:
        rows = self.rows[f]
        opened = rows.keys("open", virtual=False)
        excluded = np.zeros(len(rows.cells), dtype=bool)
        excluded[rows.kind[rows.left_out]] = True
        kinds = np.flatnonzero(~rows.absent & ~excluded)
        known = self.known[sought][[KNOWN, *self._grouping_columns()]]
        cells = rows.cells[opened].to_numpy()
        look, fits, room = self._fitting_looks(np.concatenate([cells[own[sought]], cells[kinds]]), len(known))
        require_room(room, len(known.columns) + len(opened) + 1)
        mine = known.assign(look=look[: len(known)])
        table = mine.merge(fits, on="look").merge(pd.DataFrame({"fits": look[len(known) :], KIND: kinds}), on="fits")
        table = table[[KNOWN, *self._grouping_columns(), KIND]]
        mixed = rows.keys("mixed", virtual=False)
        if mixed:
            table = self._that_can_show(table, rows, mixed)
        return table[[KNOWN, KIND]]

    def _fitting_looks(self, cells: Ints, known: int) -> tuple[Ints, pd.DataFrame, float]:
        """Number rows of cells by what they tell: the first ``known`` of them are known rows, the others kinds of row.

        Return the number of each, which ``look`` of a known row each look that ``fits`` it has, and how many pairs of
        rows that are at most of those kinds that hide the same cells.
        """
        free = (cells == NO_CELL) | ((cells == MISSING) if self.question.nulls == "wildcard" else False)
        codes = [np.where(hides, ANYTHING, pd.factorize(cell)[0]) for cell, hides in zip(cells.T, free.T, strict=True)]
        number, first = numbered(codes, len(cells))
        distinct = np.array(codes, dtype=np.int32).reshape(len(codes), len(cells))[:, first].T
        look, fits = compatible_pairs(distinct)
        counts = [np.bincount(some, minlength=len(first)) for some in (number[:known], number[known:])]
        rows = counts[0][look].astype(np.float64) * counts[1][fits]
        shape, _ = numbered(list(free[first].T.astype(np.int64)), len(first))
        room = float(np.bincount(shape[fits], rows).max(initial=0.0))
        return number, pd.DataFrame({"look": look, "fits": fits})[rows > 0], room

    def _grouping_columns(self) -> list[str]:
        return [c for c in self.known.columns if c.startswith("of ")]

    def _that_can_show(self, table: pd.DataFrame, rows: RowKinds, keys: list[str]) -> pd.DataFrame:
        """Keep the kinds whose cells in ``keys``, taken together, can show the known row's values."""
        for numbers, names in components((i, rows.columns[k].names) for i, k in enumerate(keys)):
            mine = [keys[i] for i in numbers]
            inside = sorted(names.intersection(self.question.grouping))
            shown = shown_together(rows.cells[mine].drop_duplicates(), mine, rows.shown, inside)
            shown = shown.rename(columns={n: f"of {n}" for n in inside})
            cells = table.assign(**{k: rows.cells[k].to_numpy()[table[KIND]] for k in mine})
            kept = agreeing(cells, shown, [f"of {n}" for n in inside])
            table = kept[list(table.columns)].drop_duplicates()
        return table

    def _fits_absent(self, f: int, sought: Bools) -> pd.DataFrame:
        """Absent rows fit, and rows with the values of the grouping if the person has other rows here."""
        rows = self.rows[f]
        known = self.known[sought]
        gone = pd.DataFrame({KIND: np.flatnonzero(rows.absent)})
        table = joined(known[[KNOWN]], gone)
        file, source = rows.file, self.source
        there = (file.place >= 0) & ~file.absent[file.place]
        others = self._others(file)[known["source"]]
        if others.any():
            there &= ~rows.left_out[file.place]
            alike = pd.DataFrame(
                {
                    KIND: rows.kind[file.place[there]],
                    **{f"of {a}": source.codes[a][there] for a in self.question.grouping},
                }
            )
            table = pd.concat(
                [
                    table,
                    joined(known[others][[KNOWN, *self._grouping_columns()]], alike.drop_duplicates())[[KNOWN, KIND]],
                ]
            )
        return table.drop_duplicates()

    def _shares(self, f: int, table: pd.DataFrame) -> Floats:
        """Of the rows with a kind's mixed cells that the known row's open cells can show, the part that agrees."""
        rows = self.rows[f]
        mixed = [k for k in rows.mixed if not rows.columns[k].virtual]
        if not mixed or not len(table):
            return np.ones(len(table))
        number, cells = rows.parts(mixed)
        names = rows.inside(mixed)
        values = told_inside(rows, cells)
        values = values[~rows.left_out[values["row"]]]
        opened = self._open_cells(names)
        wanted = table[[KNOWN]].assign(mixed=number[table[KIND]])
        possible = self._possible(wanted.drop_duplicates(), values, opened, names)
        mine = self.known[[KNOWN, *(f"of {n}" for n in names)]]
        possible = possible.merge(mine, on=KNOWN)
        agrees = np.logical_and.reduce(
            [(possible[n] == possible[f"of {n}"]) | (possible[n] == NO_CELL) for n in names], initial=True
        )
        possible = possible.assign(agrees=agrees)
        by = possible.groupby([KNOWN, "mixed", "row"], as_index=False).agg(
            units=("units", "first"), agrees=("agrees", "any")
        )
        sums = by.assign(mine=by["units"] * by["agrees"]).groupby([KNOWN, "mixed"])[["mine", "units"]].sum()
        share = (sums["mine"] / sums["units"]).rename("share").reset_index()
        return wanted.merge(share, how="left", on=[KNOWN, "mixed"])["share"].fillna(0.0).to_numpy()

    def _possible(
        self, wanted: pd.DataFrame, values: pd.DataFrame, opened: pd.DataFrame | None, names: list[str]
    ) -> pd.DataFrame:
        rows = joined(wanted, values)
        if opened is None:
            return rows
        shown = opened.rename(columns={n: f"can {n}" for n in names})
        pairs = joined(rows, shown)
        fits = np.logical_and.reduce(
            [(pairs[n] == pairs[f"can {n}"]) | (pairs[n] == NO_CELL) | (pairs[f"can {n}"] == NO_CELL) for n in names],
            initial=True,
        )
        return pairs[fits][list(rows.columns)].drop_duplicates()

    def _open_cells(self, names: list[str]) -> pd.DataFrame | None:
        """Return for each known row the values of ``names`` that its open cells in all files can show together."""
        cells: dict[str, Ints] = {}
        shown: dict[str, ShownValues] = {}
        for f, rows in enumerate(self.rows):
            there, own = self.own(f)
            opened = rows.keys("open", virtual=False)
            cells |= {k: np.where(there, rows.cells[k].to_numpy()[own], NO_CELL) for k in opened}
            shown |= rows.shown
        if not cells:
            return None
        known = pd.DataFrame({**cells, KNOWN: self.known[KNOWN].to_numpy()})
        return shown_together(known, list(cells), shown, names)[[KNOWN, *names]].drop_duplicates()

    # -- guesses --

    def weights(self, f: int, *, scaled: bool) -> pd.DataFrame:
        """Return the rows of a file that fit each known row, with their weight for it alone."""
        table = self.fitting[f]
        weight = table["share"].to_numpy().copy()
        for g in range(len(self.files)):
            if g != f:
                weight *= self._sums(f, g, table, scaled=scaled)
        return table[[KNOWN, KIND]].assign(weight=weight)

    def _sums(self, f: int, g: int, table: pd.DataFrame, *, scaled: bool) -> Floats:
        """For each fitting row of f: the sum over g's fitting rows of the chance times that row's share."""
        pair, other = self.pairings[f, g], self.fitting[g]
        sought, _ = self.own(g)
        key, first = self._fit_keys(g)
        theirs = other[np.isin(other[KNOWN], first)]
        units = theirs["share"] * self.rows[g].count[theirs[KIND]]
        parts = int(pair.one.max(initial=-1)) + 1, int(pair.other.max(initial=-1)) + 1
        fitting = sparse.csr_array((units, (key[theirs[KNOWN]], pair.other[theirs[KIND]])), (len(first), parts[1]))
        by_chance = self.files[f].sampled or self.files[g].sampled
        chance = pair.pairs["chance" if scaled or not by_chance else "start"]
        chances = sparse.csr_array((chance, (pair.pairs[ONE], pair.pairs[OTHER])), parts)
        known = table[KNOWN].to_numpy()
        number, example = numbered([pair.one[table[KIND]], key[known]], len(table))
        part, fitting_row = pair.one[table[KIND].to_numpy()[example]], key[known[example]]
        sums = sum_products(chances, part, fitting, fitting_row)[number]
        return np.where(sought[known], sums, 1.0)

    def _fit_keys(self, f: int) -> tuple[Ints, Ints]:
        """Return a number of each known row, equal where the same rows of a file fit, and the first one of each."""
        if self.rows[f].mixed or self.files[f].absent.any():
            every = np.arange(len(self.known))
            return every, every
        return numbered([self.known[f"own{f}"].to_numpy()], len(self.known))

    @cached_property
    def is_plain(self) -> bool:
        """Whether every row that fits, and can belong to fitting rows of each other file, is in some guess.

        This holds for two linked files with open or closed cells, if one of them has the sensitive attribute, or what
        may limit it.
        """
        linked = sum(not self.tells_nothing(f, g) for f, g in combinations(range(len(self.files)), 2))
        limiting = self._limiting
        telling = sum(any(not limiting.isdisjoint(c.names) for c in rows.columns.values()) for rows in self.rows)
        return linked <= 1 and telling <= 1 and not any(rows.mixed or rows.moved_back for rows in self.rows)

    @cached_property
    def guesses(self) -> pd.DataFrame:
        """All guesses: for each known row a kind of row in each file, or `NOWHERE`."""
        table = self.known[[KNOWN, *self._grouping_columns()]]
        for f in range(len(self.files)):
            mine = self.fitting[f][[KNOWN, KIND]].rename(columns={KIND: f"kind{f}"})
            sought, _ = self.own(f)
            earlier = [g for g in range(f) if not self.tells_nothing(g, f)]
            first = earlier[0] if earlier else None
            table = self._beside(table, mine, sought, first, f)
            for g in earlier[1:]:
                pair, pairs = self.pairings[g, f], self._possible_pairs(g, f)
                here, there = table[f"kind{g}"].to_numpy(), table[f"kind{f}"].to_numpy()
                own = pd.MultiIndex.from_arrays([pair.one[here], pair.other[there]])
                possible = own.isin(pd.MultiIndex.from_frame(pairs))
                table = table[possible | (here < 0) | (there < 0)]
        table = self._with_one_assignment(table)
        return table.assign(**{GUESS: np.arange(len(table))})

    def tells_nothing(self, g: int, f: int) -> bool:
        """Whether any row of one file can belong to any row of the other, with the same chance.

        Files that both reveal the sensitive attribute, or what limits it, tell more: each limits what somebody may have
        by the other.
        """
        if all(self._tells(each) for each in (g, f)):
            return False
        pair = self.pairings[g, f]
        parts = int(pair.one.max(initial=-1)) + 1, int(pair.other.max(initial=-1)) + 1
        return len(self._possible_pairs(g, f)) == parts[0] * parts[1] and len(np.unique(pair.pairs["start"])) <= 1

    def _tells(self, f: int) -> bool:
        """Whether a column of a file carries the sensitive attribute, or what may limit it."""
        sensitive, limiting = self.question.sensitive, self._limiting
        columns = (c for c in self.files[f].columns if not c.virtual)
        return any(sensitive in c.carries or not limiting.isdisjoint(c.names) for c in columns)

    @cached_property
    def _limiting(self) -> frozenset[str]:
        """The sensitive attribute and those that share cells with it, directly or through others.

        A cell that shows values of several limits one of them where another file shows the other.
        """
        every = [frozenset(c.names).difference(self.question.grouping) for r in self.rows for c in r.columns.values()]
        limiting = frozenset((self.question.sensitive,))
        while more := frozenset(n for names in every if names & limiting for n in names) - limiting:
            limiting |= more
        return limiting

    def _possible_pairs(self, g: int, f: int) -> pd.DataFrame:
        pair = self.pairings[g, f]
        by_chance = self.files[f].sampled or self.files[g].sampled
        return pair.pairs[pair.pairs["start" if by_chance else "chance"] > 0][[ONE, OTHER]]

    def _beside(self, table: pd.DataFrame, mine: pd.DataFrame, sought: Bools, g: int | None, f: int) -> pd.DataFrame:
        """Add to guesses a row of file f that can belong to that of file g, where both are sought."""
        nobody = pd.DataFrame({KNOWN: np.flatnonzero(~sought), f"kind{f}": NOWHERE})
        if g is None:
            return joined(table, pd.concat([mine, nobody]))
        pair = self.pairings[g, f]
        alone = joined(table[table[f"kind{g}"] < 0], mine)
        both = table[table[f"kind{g}"] >= 0]
        both = both.assign(**{ONE: pair.one[both[f"kind{g}"]]})
        mine = mine.assign(**{OTHER: pair.other[mine[f"kind{f}"]]})
        both = met_by(both, mine, self._possible_pairs(g, f)).drop(columns=[ONE, OTHER])
        return pd.concat([joined(table, nobody), alone, both])

    def _with_one_assignment(self, table: pd.DataFrame) -> pd.DataFrame:
        """Keep the guesses of which one assignment of values is shown by all mixed and closed cells."""
        for keys, inside in self._linked():
            table = self._assigned(table, keys, inside, [])[list(table.columns)].drop_duplicates()
        return table

    def _linked(self) -> list[tuple[list[str], list[str]]]:
        """Return the mixed and closed columns that hang together, and the attributes of the grouping that they show."""
        every = {k: c for r in self.rows for k, c in r.of_guesses.items()}
        keys = list(every)
        linked = []
        for numbers, names in components((i, every[k].names) for i, k in enumerate(keys)):
            linked.append(([keys[i] for i in numbers], sorted(names.intersection(self.question.grouping))))
        return linked

    def _assigned(self, table: pd.DataFrame, keys: list[str], inside: list[str], wanted: list[str]) -> pd.DataFrame:
        """Return the guesses with the values of ``wanted`` that the cells ``keys`` can show, given the known values."""
        shown = {k: s for r in self.rows for k, s in r.shown.items()}
        cells = {}
        for f, rows in enumerate(self.rows):
            kinds = table[f"kind{f}"].to_numpy()
            for k in rows.of_guesses:
                if k in keys:
                    cells[k] = np.where(kinds >= 0, rows.cells[k].to_numpy()[kinds], NO_CELL)
        known_columns = [f"of {n}" for n in inside if f"of {n}" in table.columns]
        frame = pd.DataFrame(cells, index=table.index).assign(**{a: table[a] for a in known_columns})
        distinct = frame.drop_duplicates()
        values = shown_together(distinct[keys].drop_duplicates(), keys, shown, {*inside, *wanted})
        values = values.assign(**{f"of {n}": values[n] for n in inside}).drop(
            columns=[n for n in inside if n not in wanted]
        )
        met = agreeing(distinct, values, known_columns)
        both = joined(pd.concat([table, frame[keys]], axis=1), met[[*keys, *known_columns, *wanted]].drop_duplicates())
        return both[[*table.columns, *wanted]].drop_duplicates()

    def allowed(self, wanted: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield for columns that hang together which values of these attributes each guess allows."""
        for keys, inside in self._linked():
            names = [n for n in wanted if any(n in self._column(k).names for k in keys)]
            if names:
                yield self._assigned(self.guesses, keys, inside, names)[[GUESS, *names]].drop_duplicates()

    def _column(self, key: str) -> ReleasedColumn:
        return next(r.of_guesses[key] for r in self.rows if key in r.of_guesses)


def sum_products(one: sparse.csr_array, rows: Ints, other: sparse.csr_array, columns: Ints) -> Floats:
    """Return the scalar product of each of ``rows`` of a matrix with that of ``columns``, a row of the other.

    Each is the sum over the cells of the shorter of both rows: a product of the matrices would have a cell for each
    row and each column that a single long row links. Raises JoinTooLargeError for more cells than `MOST_PRODUCTS`.
    """
    lengths = np.diff(one.indptr)[rows], np.diff(other.indptr)[columns]
    if np.minimum(*lengths).sum(dtype=np.int64) > MOST_PRODUCTS:
        raise JoinTooLargeError
    by_first = lengths[0] <= lengths[1]
    sums = np.zeros(len(rows))
    for chosen, short, at_short, long, at_long in (
        (by_first, one, rows, other, columns),
        (~by_first, other, columns, one, rows),
    ):
        long.sum_duplicates()  # sorted, so that cells are looked up by bisection
        every = np.flatnonzero(chosen)
        cells = np.diff(short.indptr)[at_short[every]]
        blocks = np.cumsum(cells) // PRODUCTS_AT_ONCE
        for block in np.split(every, np.flatnonzero(np.diff(blocks)) + 1):
            first, length = short.indptr[at_short[block]], np.diff(short.indptr)[at_short[block]]
            product = np.repeat(np.arange(len(block)), length)
            cell = np.arange(len(product)) + np.repeat(first - np.cumsum(length) + length, length)
            factors = long[at_long[block][product], short.indices[cell]]
            sums[block] = np.bincount(product, short.data[cell] * np.asarray(factors).reshape(-1), len(block))
    return sums


def met_by(one: pd.DataFrame, other: pd.DataFrame, pairs: pd.DataFrame, *, common: str = KNOWN) -> pd.DataFrame:
    """Join rows that have ``common`` alike and whose parts are among the pairs, each over the smaller middle."""
    paired = one[ONE].map(pairs[ONE].value_counts()).fillna(0)
    few = paired <= one[common].map(other[common].value_counts()).fillna(0)
    return pd.concat([joined(joined(one[few], pairs), other), joined(joined(one[~few], other), pairs)])


# Which rows of two files can belong together, and with what chance.


ONE, OTHER, PART, BEGINNING, LONGER = "one", "other", "part", "beginning", "longer"


@dataclass(frozen=True, slots=True, eq=False)
class FilePairing:
    """The chances between two files, by parts of their rows' cells.

    ``one`` and ``other`` (kinds,) are the part of each kind of row. ``pairs`` have the parts that can belong together,
    with their chance as it started (``start``) and scaled (``chance``).
    """

    one: Ints
    other: Ints
    pairs: pd.DataFrame

    def turned(self) -> FilePairing:
        """The same from the other side."""
        names = {ONE: OTHER, OTHER: ONE}
        return FilePairing(self.other, self.one, self.pairs.rename(columns=names))


def pairing(one: RowKinds, other: RowKinds) -> FilePairing:
    """Return the chances between the rows of two files. Raises TruthExcludedError and UnscaledError."""
    linked = _linked(one, other)
    first, second = ([k for mine, theirs, _ in linked for k in (mine, theirs)[i]] for i in range(2))
    telling = [bool(rows.mixed) for rows in (one, other)]
    first += [k for k in _telling(one, *telling) if k not in first]
    second += [k for k in _telling(other, *reversed(telling)) if k not in second]
    (left, left_cells), (right, right_cells) = one.parts(first), other.parts(second)
    pairs = _possible(left_cells, right_cells, linked, one, other)
    shares = _shares(one, other, left_cells, right_cells, pairs)
    turned = pairs.rename(columns={ONE: OTHER, OTHER: ONE})
    shares *= _shares(other, one, right_cells, left_cells, turned)
    pairs = pairs.assign(start=shares)[shares > 0]
    rows, others = (
        np.bincount(p, r.count, len(c)).astype(np.int64)
        for p, r, c in ((left, one, left_cells), (right, other, right_cells))
    )
    return FilePairing(left, right, pairs.assign(chance=_chances(pairs, rows, others, one, other)))


def _telling(rows: RowKinds, mixed: bool, others: bool) -> list[str]:
    return [*(rows.mixed if mixed else ()), *(rows.keys("open") if others else ())]


def _linked(one: RowKinds, other: RowKinds) -> list[tuple[list[str], list[str], list[str]]]:
    """Return the columns of both files that hang together by what they show, and the attributes that both show."""
    keys = [*one.columns, *other.columns]
    every = one.columns | other.columns
    linked = []
    for numbers, _ in components((i, every[k].names) for i, k in enumerate(keys)):
        sides = [[keys[i] for i in numbers if keys[i] in rows.columns] for rows in (one, other)]
        names = [{n for k in side for n in every[k].names} for side in sides]
        if all(sides):
            linked.append((sides[0], sides[1], sorted(names[0] & names[1])))
    return linked


def _possible(
    left: pd.DataFrame,
    right: pd.DataFrame,
    linked: list[tuple[list[str], list[str], list[str]]],
    one: RowKinds,
    other: RowKinds,
) -> pd.DataFrame:
    """Return the pairs of parts of which one assignment of values is shown by both.

    The columns that hang together are added one after the other; of the other side each different beginning counts
    once, so that no step has more pairs than the parts that fit so far.
    """
    pairs = pd.DataFrame({PART: range(len(left)), BEGINNING: 0})
    beginning = np.zeros(len(right), dtype=np.int64)
    for mine, theirs, names in linked:
        numbers, shown = [], []
        for cells, keys, rows, side in ((left, mine, one, ONE), (right, theirs, other, OTHER)):
            number, first = numbered([cells[k].to_numpy() for k in keys], len(cells))
            different = cells.loc[first, keys].assign(**{side: range(len(first))})
            numbers.append(number)
            shown.append(shown_together(different, keys, rows.shown, names)[[side, *names]].drop_duplicates())
        agreed = agreeing(shown[0], shown[1], names)[[ONE, OTHER]].drop_duplicates()
        longer, first = numbered([beginning, numbers[1]], len(right))
        continued = {BEGINNING: beginning[first], OTHER: numbers[1][first], LONGER: range(len(first))}
        here = pairs.assign(**{ONE: numbers[0][pairs[PART].to_numpy()]})
        met = met_by(here, pd.DataFrame(continued), agreed, common=BEGINNING)
        pairs, beginning = met[[PART, LONGER]].rename(columns={LONGER: BEGINNING}), longer
    parts = pd.DataFrame({BEGINNING: beginning, OTHER: range(len(right))})
    return joined(pairs, parts)[[PART, OTHER]].rename(columns={PART: ONE})


def _shares(one: RowKinds, other: RowKinds, left: pd.DataFrame, right: pd.DataFrame, pairs: pd.DataFrame) -> Floats:
    """Return for each pair: of the rows with the one's mixed cells, the share whose values the other can show."""
    if not one.mixed:
        return np.ones(len(pairs))
    opened = other.keys("open")
    alike, first = numbered([left[k].to_numpy() for k in one.mixed], len(left))
    seen, example = numbered([right[k].to_numpy() for k in opened], len(right))
    cells = left.loc[first, one.mixed], right.loc[example, opened]
    agreeing_units, units = _agreeing_units(one, *cells, other)
    part = alike[pairs[ONE].to_numpy()]
    of_pairs = np.asarray(agreeing_units[part, seen[pairs[OTHER].to_numpy()]]).reshape(-1)
    shares: Floats = of_pairs / units[part]
    return shares


def _agreeing_units(
    one: RowKinds, mixed: pd.DataFrame, opened: pd.DataFrame, other: RowKinds
) -> tuple[sparse.csr_array, Floats]:
    """Return the units of rows with the mixed cells: (mixed cells, open cells) that agree, and (mixed cells,) of all.

    A row agrees if the open cells can show its values of what the mixed cells carry.
    """
    names = one.inside(one.mixed)
    rows = told_inside(one, mixed)
    shown = shown_together(opened.assign(seen=range(len(opened))), list(opened.columns), other.shown, names)
    shown = shown[["seen", *names]].drop_duplicates()
    matches = agreeing(rows, shown, names)[["mixed", "seen", "row", "units"]].drop_duplicates()
    sums = matches.groupby(["mixed", "seen"])["units"].sum()
    totals = rows.drop_duplicates(["mixed", "row"]).groupby("mixed")["units"].sum()
    places = sums.index.get_level_values(0).to_numpy(), sums.index.get_level_values(1).to_numpy()
    units = sparse.csr_array((sums.to_numpy(np.float64), places), (len(mixed), len(opened)))
    return units, totals.reindex(range(len(mixed))).to_numpy(np.float64)


def told_inside(one: RowKinds, mixed: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with each of the mixed cells: number, units, and values of the grouping that these carry."""
    names = one.inside(one.mixed)
    source, file = one.source, one.file
    there = np.flatnonzero(file.place >= 0)
    rows = file.place[there]
    cells = one.cells.loc[one.kind[rows], list(mixed.columns)]
    numbers = cells.merge(mixed.assign(mixed=range(len(mixed))), how="left", on=list(mixed.columns))["mixed"]
    table = pd.DataFrame({"mixed": numbers.to_numpy(), "row": rows, "units": one.weight_of_rows[rows]})
    for name in names:
        carrying = [k for k in mixed.columns if name in one.columns[k].carries]
        carried = (cells[carrying] != NO_CELL).any(axis=1).to_numpy()
        table[name] = np.where(carried, source.codes[name][there], NO_CELL)
    table = table[table["mixed"].notna()].astype(np.int64)
    return table.drop_duplicates()


def _chances(pairs: pd.DataFrame, rows: Ints, others: Ints, one: RowKinds, other: RowKinds) -> Floats:
    i, j, start = (pairs[c].to_numpy() for c in (ONE, OTHER, "start"))
    if one.file.table != other.file.table:
        refers = other.file.table in one.file.refers or (
            one.file.table not in other.file.refers and rows.sum() <= others.sum()
        )
        sums = (
            np.bincount(i, start * others[j], len(rows))[i]
            if refers
            else np.bincount(j, start * rows[i], len(others))[j]
        )
        return np.asarray(start / sums, dtype=np.float64)
    chances = scaled(i, j, start, rows, others)
    if chances is None and not (one.file.sampled or other.file.sampled):
        raise TruthExcludedError
    return start if chances is None else chances
