"""A random policy about numbers and its table, from a number."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Any

from adversary import requirements as others
from adversary import steps as common
from adversary import tables
from adversary.numbers import steps
from adversary.numbers.requirements import privacy
from adversary.policies import Case
from adversary.tables import NUMBERS, Row

FIRST = date(2020, 1, 1)


def case(number: int) -> Case:
    """Return the policy and the table of a number, always the same."""
    draw = Random(f"numbers {number}")
    attributes, rows = _table(draw)
    known, secret = ([n for n, a in attributes.items() if a["role"] == r] for r in ("quasi_identifier", "sensitive"))
    there = [n for n in attributes if n in NUMBERS]
    domains = {n: sorted({r[n] for r in rows if r[n]}) for n in attributes}
    clauses = privacy(draw, known, there, [steps.DATE] if steps.DATE in attributes else [])
    plain = [n for n in secret if n != steps.DATE]
    if plain and draw.random() < 0.3:
        clauses |= others.privacy(draw, [n for n in known if n != steps.DATE], plain, domains)
    gaps = {n for n in attributes if any(not r[n] for r in rows)}
    columns = {n: (n, True) for n in attributes}
    here = common.Here(draw, clauses, known, secret, domains, columns, len(rows), gaps)
    made: dict[str, Any] = {}
    for _ in range(draw.choice((1, 1, 2, 2, 3, 4))):
        drawn = steps.step(here) if draw.random() < 0.6 else None
        use, options = drawn or common.step(here)
        made[f"s{len(made) + 1}"] = {"use": use, "with": options}
    policy = {
        "version": "1",
        "name": f"numbers-{number}",
        "source": {"path": "data.csv", "format": "csv"},
        "attributes": attributes,
        "nulls": draw.choice(("own_category", "own_category", "exclude", "wildcard")),
        "privacy": clauses,
        "steps": made,
        "audits": {},
        "releases": {"a": {"path": "a.csv"} | ({"with": {"labels": "bounds"}} if draw.random() < 0.15 else {})},
        "randomness": {"mode": "reproducible", "seed": str(number)},
    }
    return Case(number, policy, rows)


def _table(draw: Random) -> tuple[dict[str, dict[str, Any]], list[Row]]:
    """Return columns with a number among them, at times a date, and rows whose numbers are often all different."""
    attributes = tables.attributes(draw)
    while not set(attributes) & set(NUMBERS):
        attributes = tables.attributes(draw)
    rows = tables.rows(draw, list(attributes))
    for name in [n for n in NUMBERS if n in attributes]:
        if draw.random() < 0.5:
            low = -20 if name == "income" and draw.random() < 0.3 else 0
            rows = [r | {name: r[name] and str(draw.randint(low, 59))} for r in rows]
    if "income" in attributes and draw.random() < 0.2:
        attributes = attributes | {"income": attributes["income"] | {"type": "float"}}
        rows = [r | {"income": r["income"] and r["income"] + draw.choice(("", ".25", ".5"))} for r in rows]
    if draw.random() < 0.3:
        role = draw.choice(("quasi_identifier", "sensitive", "insensitive"))
        attributes = attributes | {steps.DATE: {"role": role, "type": "date"}}
        rows = [r | {steps.DATE: _day(draw)} for r in rows]
    return attributes, rows


def _day(draw: Random) -> str:
    return "" if draw.random() < 0.05 else str(FIRST + timedelta(days=draw.choice((draw.randint(0, 9), 100, 700))))
