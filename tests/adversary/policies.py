"""A random policy and its table, from a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from adversary import steps, tables
from adversary.requirements import privacy
from adversary.tables import Row

Policy = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """What ``number`` gives."""

    number: int
    policy: Policy
    rows: list[Row]


def case(number: int, most_releases: int = 2) -> Case:
    """Return the policy and the table of a number, always the same."""
    draw = Random(f"adversary {number}")
    attributes = tables.attributes(draw)
    rows = tables.rows(draw, list(attributes))
    known, secret = ([n for n, a in attributes.items() if a["role"] == r] for r in ("quasi_identifier", "sensitive"))
    domains = {n: sorted({r[n] for r in rows if r[n]}) for n in attributes}
    clauses = privacy(draw, known, secret, domains)
    if draw.random() < 0.12:
        clauses["sensitivities"] = {draw.choice(secret): {"default": {"r1": "0.3", "r2": "0.7"}}}
    here = steps.Here(draw, clauses, known, secret, domains, {n: (n, True) for n in attributes})
    made: dict[str, Any] = {}
    for _ in range(draw.choice((1, 1, 2, 2, 2, 3, 3, 4))):
        use, options = steps.step(here)
        made[f"s{len(made) + 1}"] = {"use": use, "with": options}
    releases = {"a": {"path": "a.csv"}}
    if most_releases > 1 and draw.random() < 0.3:
        made, releases = _two(draw, here, made)
    policy = {
        "version": "1",
        "name": f"adversary-{number}",
        "source": {"path": "data.csv", "format": "csv"},
        "attributes": attributes,
        "nulls": draw.choice(("own_category", "own_category", "own_category", "exclude", "wildcard")),
        "privacy": clauses,
        "steps": made,
        "releases": releases,
        "randomness": {"mode": "reproducible", "seed": str(number)},
    }
    return Case(number, policy, rows)


def _two(draw: Random, here: steps.Here, made: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Let a second release come from another place: an earlier step, or a branch of its own."""
    last = next(reversed(made))
    other = draw.choice(["source", *made])
    if draw.random() < 0.6:
        start = replace(here, columns={n: (n, True) for n in here.domains})
        use, options = steps.step(start)
        made = made | {"branch": {"use": use, "input": "source", "with": options}}
        other = "branch"
    return made, {"a": {"from": last, "path": "a.csv"}, "b": {"from": other, "path": "b.csv"}}
