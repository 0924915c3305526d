"""Figures of groups."""

# ruff: noqa: S608, E501  # long lines are SQL; all names in these queries are numbered ones of our own

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx

from ppdm_flow.reader.query.groups import GroupTables, ReadingTables

ROUNDING, CERTAIN = 0.001, 1 - 1e-9


def size(one: GroupTables) -> tuple[float, float] | None:
    """Return the smallest size of the groups with the known row, and before it is rounded; None where there is none."""
    text = f"""SELECT min(floor(size + {ROUNDING})), min(size) FROM
        (SELECT sum(weight * n) / max(weight) AS size FROM {one.units} WHERE sized GROUP BY id)"""
    rounded, exact = one.tables.rows(text)[0]
    return None if rounded is None else (float(rounded), float(exact))


def figures(every: Iterable[GroupTables]) -> dict[str, float | None]:
    """Return the worst size, distinct l, share and posterior of some groups."""
    k, least, share, posterior = [], [], [], []
    for one in every:
        if (size_and_posterior := size(one)) is not None:
            k.append(size_and_posterior[0])
            posterior.append(size_and_posterior[1])
        for reading in one.readings:
            largest = one.tables.rows(
                f"""SELECT max(greatest(c.by_weight / z.by_weight, c.equal / z.equal)) FROM {reading.cells} AS c JOIN {one.sizes} AS z USING (id)
                UNION ALL SELECT max(greatest(a.w / b.w, a.e / b.e)) FROM (SELECT id, s, sum(p * weight * n) AS w, sum(p * n) AS e
                FROM {reading.people} JOIN {one.units} USING (id, unit) GROUP BY id, s) AS a
                JOIN (SELECT id, sum(weight * n) AS w, sum(n) AS e FROM {one.units} GROUP BY id) AS b USING (id)"""
            )
            share += [x for (x,) in largest if x is not None]
            least += distinct(one, reading)
        if one.together_chance:
            share.append(one.together_chance)
    return {
        "k": int(min(k)) if k else None,
        "l": min(least, default=None),
        "alpha": round(max(share), 6) if share else None,
        "posterior": round(min(posterior), 4) if posterior else None,
    }


def distinct(one: GroupTables, reading: ReadingTables) -> list[int]:
    """Return the distinct l of each group: a matching, and at most 1 + the units for whom no value is certain."""
    can = f"SELECT id, unit, n, s, p FROM {reading.people} JOIN {one.units} USING (id, unit) WHERE p > 0"
    bounds = one.tables.rows(
        f"""SELECT id, 1 + z.n - coalesce(max(certain), 0), count(*), sum(x.lines) = any_value(l.lines)
        FROM (SELECT id, s, sum(n) FILTER (p >= {CERTAIN}) AS certain, count(*) AS lines FROM ({can}) GROUP BY id, s) AS x
        JOIN (SELECT id, sum(n) AS n FROM {one.units} GROUP BY id) AS z USING (id)
        JOIN (SELECT id, count(DISTINCT unit) AS lines FROM ({can}) GROUP BY id) AS l USING (id) GROUP BY id, z.n"""
    )
    out = [min(int(values), int(bound)) for _, bound, values, single in bounds if single]
    several = {group: int(bound) for group, bound, _, single in bounds if not single}
    by_group: dict[int, list[tuple[int, int, int]]] = {}
    for group, unit, n, s in (
        one.tables.rows(f"SELECT id, unit, n, s FROM ({can}) ORDER BY id, unit, s") if several else ()
    ):
        if group in several:
            by_group.setdefault(group, []).append((unit, n, s))
    for group, lines in by_group.items():
        values = {s for _, _, s in lines}
        graph: nx.Graph[Any] = nx.Graph()
        for unit, n, s in lines:
            graph.add_edges_from((("unit", unit, copy), ("s", s)) for copy in range(min(n, len(values))))
        matched = nx.bipartite.hopcroft_karp_matching(graph, [("s", s) for s in values])
        out.append(min(len(matched) // 2, several[group]))
    return out
