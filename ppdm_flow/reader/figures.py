"""Figures over the groups of a view: size, the largest share of a value, and distinct values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from ppdm_flow.reader.candidates import KIND
from ppdm_flow.reader.people import UNIT
from ppdm_flow.reader.row_kinds import joined
from ppdm_flow.reader.view import GROUP, CandidateGroups, ValueReading

ROUNDING = 0.001
"""Added before a size is rounded down, by both routes."""
CERTAIN = 1 - 1e-9


def _units(view: CandidateGroups) -> pd.DataFrame:
    """Return the units of each group with the largest weight of their rows, and how many there are of it."""
    if view.people is None:
        return view.rows[[GROUP, "weight", "units"]]
    rows = joined(view.rows[[GROUP, KIND, "weight"]], view.people[[KIND, UNIT]].drop_duplicates())
    return rows.groupby([GROUP, UNIT])["weight"].max().reset_index().assign(units=1)


def posteriors(view: CandidateGroups) -> pd.Series[Any]:
    """Return for each group with the known row one over the largest posterior of a unit."""
    units = _units(view)
    groups = units.assign(total=units["weight"] * units["units"])[units[GROUP].isin(view.sized)].groupby(GROUP)
    sizes: pd.Series[Any] = groups["total"].sum() / groups["weight"].max()
    return sizes


def sizes(view: CandidateGroups) -> pd.Series[Any]:
    """Return for each group with the known row its size in units."""
    return (posteriors(view) + ROUNDING).apply(np.floor).astype(int)


def shares(view: CandidateGroups) -> pd.Series[Any]:
    """Return for each group the largest share of a value: of rows and of units, by weight and with equal weights."""
    best = [pd.Series([view.together] if view.together else [], dtype=float)]
    for _, values, totals in masses(view):
        best.append((values.groupby(GROUP)["mass"].max() / totals).dropna())
    return pd.concat(best)


def masses(
    view: CandidateGroups, *, spread: bool = False
) -> Iterator[tuple[ValueReading, pd.DataFrame, pd.Series[Any]]]:
    """Yield for each reading, by weight and with equal weights, the mass of each value in each group, and the totals.

    Rows count; where people do, units count besides. With ``spread`` units count alone, each with its weight spread
    over those of its rows that reveal a value.
    """
    for reading in view.readings:
        for equal in (False, True):
            rows = view.rows.assign(weight=1.0) if equal else view.rows
            if view.people is None or not spread:
                met = reading.probabilities.merge(rows, on=[GROUP, KIND])
                values = _mass(met, met["probability"] * met["weight"] * met["units"])
                totals = (rows["weight"] * rows["units"]).groupby(rows[GROUP]).sum()
                yield reading, values, values.groupby(GROUP)["mass"].sum() if spread else totals
            if view.people is not None:
                units = _units(replace(view, rows=rows))
                chances = _spread(rows, view.people, reading) if spread else _of_people(view.people, reading)
                met = chances.merge(units, on=[GROUP, UNIT])
                values = _mass(met, met["probability"] * met["weight"])
                totals = units.groupby(GROUP)["weight"].sum()
                yield reading, values, values.groupby(GROUP)["mass"].sum() if spread else totals


def _mass(values: pd.DataFrame, mass: pd.Series[Any]) -> pd.DataFrame:
    return values[[GROUP, "value"]].assign(mass=mass).groupby([GROUP, "value"])["mass"].sum().reset_index()


def _of_people(people: pd.DataFrame, reading: ValueReading) -> pd.DataFrame:
    """Return each unit's chance that one of its rows in the group has a value."""
    met = joined(reading.probabilities, people)
    key = [GROUP, UNIT, "value"]
    if reading.per_person:
        return met.groupby(key)["probability"].max().reset_index()
    met["probability"] *= met["rows"]
    sums = met.groupby(key)["probability"].sum().reset_index()
    return sums.assign(probability=sums["probability"].clip(upper=1.0))


def _spread(rows: pd.DataFrame, people: pd.DataFrame, reading: ValueReading) -> pd.DataFrame:
    """Return each unit's values as its rows in the group have them, by the weights of these."""
    met = joined(reading.probabilities, people).merge(rows[[GROUP, KIND, "weight"]], on=[GROUP, KIND])
    of_row = met.groupby([GROUP, KIND, UNIT])["probability"].transform("sum")
    met["probability"] *= met["rows"] * met["weight"] / of_row
    sums = met.groupby([GROUP, UNIT, "value"])["probability"].sum().reset_index()
    return sums.assign(probability=sums["probability"] / sums.groupby([GROUP, UNIT])["probability"].transform("sum"))


def masses_of_all_readings(view: CandidateGroups) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Return the values of each group by any reading, each once, and the totals: one alone may tell nothing of some."""
    _, values, totals = zip(*masses(view, spread=False), strict=True)
    return pd.concat(values).drop_duplicates([GROUP, "value"]), max(totals, key=len)


def distinct(view: CandidateGroups) -> pd.Series[Any]:
    """Return for each group the matching of units and possible values, at most 1 + those for whom none is certain."""
    every = []
    for reading in view.readings:
        if view.people is None:
            met = reading.probabilities.merge(view.rows, on=[GROUP, KIND])
            units = view.rows.groupby(GROUP)["units"].sum()
        else:
            met = _of_people(view.people, reading).rename(columns={UNIT: KIND}).assign(units=1)
            units = _units(view).groupby(GROUP)["units"].sum()
        met = met[met["probability"] > 0]
        certain = met[met["probability"] >= CERTAIN].groupby([GROUP, "value"])["units"].sum()
        certain = certain.groupby(level=0).max().reindex(units.index, fill_value=0)
        bound = 1 + units - certain
        single = ~met.duplicated([GROUP, KIND], keep=False).groupby(met[GROUP]).transform("any")
        matched = met[single].groupby(GROUP)["value"].nunique()  # each unit has one value
        several = met[~single]
        by_group = {int(str(g)): _matching(part) for g, part in several.groupby(several[GROUP].to_numpy())}
        matched = pd.concat([matched, pd.Series(by_group, dtype=np.int64)])
        matchings = np.minimum(matched, bound.reindex(matched.index))
        every.append(matchings)
    least = pd.concat(every) if every else pd.Series(dtype=float)
    return least.astype(float).groupby(level=0).min()


def _matching(part: pd.DataFrame) -> int:
    """Return the largest number of values that units of a group can have, each another one."""
    kinds, i = np.unique(part[KIND], return_inverse=True)
    values, j = np.unique(part["value"], return_inverse=True)
    room = np.zeros(len(kinds), dtype=np.int32)
    room[i] = np.minimum(part["units"], len(values))
    first, last = 1 + len(kinds), 1 + len(kinds) + len(values)
    tail = np.concatenate([np.zeros(len(kinds)), 1 + i, first + np.arange(len(values))]).astype(int)
    head = np.concatenate([1 + np.arange(len(kinds)), first + j, np.full(len(values), last)]).astype(int)
    capacity = np.concatenate([room, np.ones(len(part) + len(values))]).astype(np.int32)
    return int(maximum_flow(sparse.csr_array((capacity, (tail, head)), (last + 1, last + 1)), 0, last).flow_value)


def worst(views: Iterable[CandidateGroups]) -> dict[str, float | None]:
    """Return the worst of each figure over all groups."""
    sized, posterior, share, least = [], [], [], []
    for one in views:
        sized += sizes(one).tolist()
        posterior += posteriors(one).tolist()
        share += shares(one).tolist()
        least += distinct(one).tolist()
    return {
        "k": min(sized, default=None),
        "l": min(least, default=None),
        "alpha": round(max(share), 6) if share else None,
        "posterior": round(min(posterior), 4) if posterior else None,
    }
