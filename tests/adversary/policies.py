"""A random policy and its table, from a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from adversary import steps, tables
from adversary.requirements import privacy
from adversary.tables import Row

Policy = dict[str, Any]

EVERY, PLACE = 5, 3
"""One of so many numbers gives a policy with a step that the others do not have."""
FURTHER = (("krimp_generator",), ("lossy_join",))
"""What it is of, in turn."""


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
    further = FURTHER[number // EVERY % len(FURTHER)] if number % EVERY == PLACE else ()
    while "lossy_join" in further and steps.counts(clauses):
        clauses = privacy(draw, known, secret, domains)
    if draw.random() < 0.12:
        clauses["sensitivities"] = {draw.choice(secret): {"default": {"r1": "0.3", "r2": "0.7"}}}
    gaps = {n for n in attributes if any(not r[n] for r in rows)}
    columns = {n: (n, True) for n in attributes}
    here = steps.Here(draw, clauses, known, secret, domains, columns, len(rows), gaps)
    made: dict[str, Any] = {}
    count = draw.choice((1, 1, 2, 2, 2, 3, 3, 4))
    at = draw.randrange(count) if further else -1
    for i in range(count):
        again = bool(further) and draw.random() < 0.05
        use, options = steps.step(here, further if i == at or again else ())
        made[f"s{len(made) + 1}"] = {"use": use, "with": options}
    releases: dict[str, Any] = {"a": {"path": "a.csv"}}
    audits: dict[str, Any] = {}
    if most_releases > 1 and draw.random() < 0.3:
        parts = draw.random() < 0.25 and _parts(draw, here, made)
        if parts:
            releases, audits = parts
        else:
            made, releases = _two(draw, here, made)
    apart = {"recipients": "apart"} if len(releases) > 1 and draw.random() < 0.15 else {}
    policy = {
        "version": "1",
        "name": f"adversary-{number}",
        "source": {"path": "data.csv", "format": "csv"},
        "attributes": attributes,
        "nulls": draw.choice(("own_category", "own_category", "own_category", "exclude", "wildcard")),
        "privacy": clauses,
        "steps": made,
        "audits": audits,
        "releases": releases,
        "randomness": {"mode": "reproducible", "seed": str(number)},
        **apart,
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


def _parts(draw: Random, here: steps.Here, made: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Split the table by a class id, and release both parts."""
    key = next((n for n, (a, _) in here.columns.items() if not a), None)
    if key is None:
        made["ids"] = {"use": "assign_class_id", "with": steps.assign_class_id(here)}
        key = made["ids"]["with"]["name"]
    rest = [n for n in here.columns if n != key]
    if len(rest) < 2:
        return None
    some = draw.sample(rest, draw.randint(1, len(rest) - 1))
    tables = {"one": some, "two": [n for n in rest if n not in some]}
    made["split"] = {"use": "vertical_partition", "with": {"key": key, "tables": tables}}
    releases = {"a": {"from": "split.one", "path": "a.csv"}, "b": {"from": "split.two", "path": "b.csv"}}
    return releases, {"both": {"use": "rejoin", "release": "a", "with": {"other": "b", "key": key}}}
