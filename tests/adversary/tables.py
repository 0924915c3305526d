"""Random small tables whose columns invite every step: texts, numbers, codes, and one that says who somebody is."""

from __future__ import annotations

from random import Random
from typing import Any

Row = dict[str, str]
MISSING = ""

JOBS = ("cook", "dean", "nurse", "smith")
ZIPS = ("101", "102", "201")
AGES = ("12", "18", "25", "31", "44", "58")
ILLNESSES = ("cold", "flu", "hiv", "ulcer")
INCOMES = ("10", "20", "30", "40", "70")
NOTES = ("n1", "n2", "n3")

DECLARED: dict[str, dict[str, Any]] = {
    "job": {
        "role": "quasi_identifier",
        "hierarchy": {
            "levels": {"cook": ["house"], "dean": ["school"], "nurse": ["house"], "smith": ["house"]},
        },
    },
    "age": {"role": "quasi_identifier", "type": "integer", "hierarchy": {"intervals": ["0", "20", "40", "60"]}},
    "zip": {"role": "quasi_identifier", "hierarchy": {"prefix": ["2", "1", "0"]}},
    "illness": {
        "role": "sensitive",
        "hierarchy": {
            "levels": {"cold": ["mild"], "flu": ["mild"], "hiv": ["severe"], "ulcer": ["severe"]},
        },
    },
    "income": {"role": "sensitive", "type": "integer", "hierarchy": {"intervals": ["0", "25", "50", "100"]}},
    "note": {"role": "insensitive"},
    "person": {"role": "identifier"},
}
SETS: dict[str, Any] = {
    "role": "items",
    "hierarchy": {"levels": {"ale": ["drink"], "rum": ["drink"], "oat": ["food"], "pea": ["food"], "zinc": ["metal"]}},
}
ITEMS = tuple(SETS["hierarchy"]["levels"])
VALUES = {"job": JOBS, "age": AGES, "zip": ZIPS, "illness": ILLNESSES, "income": INCOMES, "note": NOTES}
NUMBERS = ("age", "income")


def attributes(draw: Random) -> dict[str, dict[str, Any]]:
    """Choose columns: one to three that others know, one or two that are secret, and at times more."""
    known = draw.sample(("job", "age", "zip"), draw.choice((1, 2, 2, 3)))
    secret = draw.choice((["illness"], ["illness"], ["income"], ["illness", "income"]))
    more = [n for n, share in (("note", 0.2), ("person", 0.5)) if draw.random() < share]
    return {n: DECLARED[n] for n in (*more, *known, *secret)}


def rows(draw: Random, names: list[str]) -> list[Row]:
    """Draw rows, mostly few values so that classes are not all alone; half of the tables have cells missing."""
    size = draw.choice((3, 5, 6, 8, 8, 10, 12, 12, 16, 16, 20, 24))
    used = {n: _domain(draw, n) for n in names if n in VALUES}
    missing = draw.choice((0.0, 0.0, 0.05, 0.15))
    found = []
    templates: list[Row] = []
    for i in range(size):
        row = {n: draw.choice(values) for n, values in used.items()}
        if templates and draw.random() < 0.5:  # somebody whom others know like an earlier one
            known = draw.choice(templates)
            row |= {n: known[n] for n in used if DECLARED[n]["role"] == "quasi_identifier"}
        row = {n: MISSING if draw.random() < missing else v for n, v in row.items()}
        templates.append(row)
        found.append({n: f"p{i:02d}" if n == "person" else row[n] for n in names})
    if "person" in names:  # numbers of people tell nothing of the order of rows
        people = [r["person"] for r in found]
        draw.shuffle(people)
        for row, person in zip(found, people, strict=True):
            row["person"] = person
    return found


def _domain(draw: Random, name: str) -> list[str]:
    values = VALUES[name]
    return draw.sample(values, draw.randint(min(2, len(values)), len(values)))


def with_sets(draw: Random, found: list[Row]) -> list[Row]:
    """Put a set of items into each row, as items between semicolons; it may be empty."""
    often = draw.choice((0.3, 0.6, 0.9))
    few = [[i for i in ITEMS if draw.random() < often] for _ in range(4)]
    every = [draw.choice(few) if draw.random() < 0.7 else [i for i in ITEMS if draw.random() < often] for _ in found]
    return [row | {"basket": ";".join(items)} for row, items in zip(found, every, strict=True)]
