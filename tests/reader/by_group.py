"""What the two routes say of each group of a table: sizes, shares of values, distinct values, shares in the whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.figures import ROUNDING, distinct, masses, posteriors
from ppdm_flow.reader.query.figures import distinct as distinct_sql
from ppdm_flow.reader.query.figures import figures
from ppdm_flow.reader.query.groups import groups
from ppdm_flow.reader.view import views
from tests.reader.database import database
from tests.reader.drawn import Table, built

Figures = tuple[dict[str, Any], dict[str, list[float]]]
NOT_VERIFIED: Figures = ({"verified": False}, {})


def by_first_route(table: Table) -> Figures:
    """Return the worst figures, and the figures of all groups, each once and in order."""
    try:
        every = list(views(*built(table), table["known_rows"]))
    except NotVerifiedError:
        return NOT_VERIFIED
    found: dict[str, list[Any]] = {"sizes": [], "shares": [], "distinct": [], "base": [], "together": []}
    for view in every:
        found["sizes"] += posteriors(view).tolist()
        found["distinct"] += distinct(view).tolist()
        found["together"].append(view.together)
        for reading, values, totals in masses(view):
            found["shares"] += (values["mass"] / totals.reindex(values["group"]).to_numpy()).tolist()
            found["base"] += reading.base.tolist()
    shares = [*found["shares"], *filter(None, found["together"])]
    worst = {  # as `figures.worst`, which would take each figure once more
        "k": int(min(found["sizes"]) + ROUNDING) if found["sizes"] else None,
        "l": min(found["distinct"], default=None),
        "alpha": round(max(shares), 6) if shares else None,
        "posterior": round(min(found["sizes"]), 4) if found["sizes"] else None,
    }
    return worst, {name: _each_once(figures) for name, figures in found.items()}


def by_second_route(table: Table) -> Figures:
    """Return the same as it comes from SQL."""
    try:
        every = list(groups(database(), *built(table), table["known_rows"]))
    except NotVerifiedError:
        return NOT_VERIFIED
    found: dict[str, list[Any]] = {"sizes": [], "shares": [], "distinct": [], "base": [], "together": []}
    for one in every:
        rows = one.tables.rows
        found["sizes"] += rows(f"SELECT sum(weight * n) / max(weight) FROM {one.units} WHERE sized GROUP BY id")
        found["together"].append(one.together_chance)
        for reading in one.readings:
            for figure in ("by_weight", "equal"):
                found["shares"] += rows(
                    f"SELECT c.{figure} / z.{figure} FROM {reading.cells} AS c JOIN {one.sizes} AS z USING (id)"
                )
            for weight in ("weight", "1"):
                found["shares"] += rows(
                    f"""SELECT a.m / b.m FROM (SELECT id, s, sum(p * {weight} * n) AS m
                    FROM {reading.people} JOIN {one.units} USING (id, unit) GROUP BY id, s) AS a
                    JOIN (SELECT id, sum({weight} * n) AS m FROM {one.units} GROUP BY id) AS b USING (id)"""
                )
            found["base"] += rows(f"SELECT q FROM {reading.base}")
            found["distinct"] += distinct_sql(one, reading)
    return figures(every), {name: _each_once(figures) for name, figures in found.items()}


def _each_once(figures: Iterable[Any]) -> list[float]:
    return sorted({round(float(f[0] if isinstance(f, tuple) else f), 3) for f in figures})


def are_near(one: dict[str, list[float]], other: dict[str, list[float]]) -> bool:
    """Whether each figure of the first route is near one of the second, and the other way about.

    The second one has the distinct values of each reading, the first one the fewest of all readings.
    """
    return one.keys() == other.keys() and all(
        _near(one[n], other[n]) and (n == "distinct" or _near(other[n], one[n])) for n in one
    )


def _near(one: list[float], other: list[float]) -> bool:
    if not one or not other:
        return not one
    return bool((np.abs(np.subtract.outer(one, other)).min(axis=1) < 3e-3).all())
