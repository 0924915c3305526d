"""Which rows of two files can belong together, and with what chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from ppdm_flow.reader.chances import Floats, scaled
from ppdm_flow.reader.faults import TruthExcludedError
from ppdm_flow.reader.files import NO_CELL, Ints, numbered
from ppdm_flow.reader.relations import agreeing, components, joined
from ppdm_flow.reader.row_kinds import RowKinds, shown_together

ONE, OTHER, HERE, THERE = "one", "other", "here", "there"


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
    """Return the pairs of parts of which one assignment of values is shown by both."""
    pairs = None
    for mine, theirs, names in linked:
        numbers, shown = [], []
        for cells, keys, rows, side in ((left, mine, one, HERE), (right, theirs, other, THERE)):
            number, first = numbered([cells[k].to_numpy() for k in keys], len(cells))
            different = cells.loc[first, keys].assign(**{side: range(len(first))})
            numbers.append(number)
            shown.append(shown_together(different, keys, rows.shown, names)[[side, *names]].drop_duplicates())
        found = agreeing(shown[0], shown[1], names)[[HERE, THERE]].drop_duplicates()
        if pairs is None:
            here, there = (
                pd.DataFrame({n: range(len(number)), side: number})
                for n, number, side in zip((ONE, OTHER), numbers, (HERE, THERE), strict=True)
            )
            pairs = joined(joined(here, found), there)
        else:
            at = {HERE: numbers[0][pairs[ONE].to_numpy()], THERE: numbers[1][pairs[OTHER].to_numpy()]}
            pairs = pairs.assign(**at).merge(found, on=[HERE, THERE])
    if pairs is None:
        pairs = joined(pd.DataFrame({ONE: range(len(left))}), pd.DataFrame({OTHER: range(len(right))}))
    return pairs[[ONE, OTHER]]


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
    found = agreeing(rows, shown, names)[["mixed", "seen", "row", "units"]].drop_duplicates()
    sums = found.groupby(["mixed", "seen"])["units"].sum()
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
