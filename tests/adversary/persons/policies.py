"""A random policy that counts people and its table, from a number."""

from __future__ import annotations

from random import Random
from typing import Any

from adversary import requirements, steps, tables
from adversary.numbers.steps import DATE, shift_dates
from adversary.policies import Case
from adversary.steps import Here, Maker, Options
from adversary.tables import DECLARED, MISSING, NUMBERS, Row

KINDS = ("k_anonymity", "l_diversity", "alpha_k", "templates", "lkc")


def limit_rows(here: Here) -> Options | None:
    """Keep some rows of everybody."""
    draw = here.draw
    numbers = here.of([*NUMBERS, DATE])
    if draw.random() < 0.3 and here.all_but_people():
        return {"values": draw.choice("12"), "attribute": draw.choice(here.all_but_people())}
    ordered = {"keep": draw.choice(("first", "last")), "order": draw.choice(numbers)} if numbers else {}
    return {"rows": draw.choice("123"), **(ordered if draw.random() < 0.5 else {})}


def one_row_each(here: Here) -> Options | None:
    """Make one row of each person's."""
    draw = here.draw
    numbers = here.of([*NUMBERS, DATE])
    ordered = {"keep": draw.choice(("first", "last")), "order": draw.choice(numbers)} if numbers else {}
    options: Options = ordered if draw.random() < 0.5 else {}
    merged = draw.sample(here.all_but_people(), 1) if draw.random() < 0.6 else []
    return options | ({"attributes": dict.fromkeys(merged, "most_frequent")} if merged else {})


def pseudonymize(here: Here) -> Options | None:
    """Let a pseudonym say which rows are one person's."""
    if not here.of(["person"]):
        return None
    here.changed(["person"])
    return {"attributes": ["person"], "key_env": steps.KEY}


MAKERS: dict[str, tuple[Maker, int]] = {
    "limit_rows": (limit_rows, 3),
    "one_row_each": (one_row_each, 2),
    "pseudonymize": (pseudonymize, 3),
    "shift_dates": (shift_dates, 2),
}


def case(number: int) -> Case:
    """Return the policy and the table of a number, always the same."""
    draw = Random(f"persons {number}")
    attributes, rows = _table(draw)
    known, secret = ([n for n, a in attributes.items() if a["role"] == r] for r in ("quasi_identifier", "sensitive"))
    domains = {n: sorted({r[n] for r in rows if r[n]}) for n in attributes}
    clauses: dict[str, Any] = {}
    while not clauses:
        drawn = requirements.privacy(draw, known, secret, domains)
        clauses = {kind: clause for kind, clause in drawn.items() if kind in KINDS}
    gaps = {n for n in attributes if any(not r[n] for r in rows)}
    here = Here(draw, clauses, known, secret, domains, {n: (n, True) for n in attributes}, len(rows), gaps)
    made: dict[str, Any] = {}
    for _ in range(draw.choice((1, 1, 2, 2, 3))):
        use, options = _step(here)
        made[f"s{len(made) + 1}"] = {"use": use, "with": options}
    policy = {
        "version": "1",
        "name": f"persons-{number}",
        "source": {"path": "data.csv", "format": "csv"},
        "attributes": attributes,
        "people": {"known_rows": draw.choice(("1", "2", "3", "all"))},
        "nulls": draw.choice(("own_category", "own_category", "exclude", "wildcard")),
        "privacy": clauses,
        "steps": made,
        "audits": {},
        "releases": {"a": {"path": "a.csv"}},
        "randomness": {"mode": "reproducible", "seed": str(number)},
    }
    return Case(number, policy, rows)


def _step(here: Here) -> tuple[str, Options]:
    if here.draw.random() < 0.4:
        uses = list(MAKERS)
        use = here.draw.choices(uses, [MAKERS[u][1] for u in uses])[0]
        options = MAKERS[use][0](here)
        if options is not None:
            return use, options
    return steps.step(here)


def _table(draw: Random) -> tuple[dict[str, dict[str, Any]], list[Row]]:
    """Return few people with up to four rows each; a person's rows often share what others know, and a note."""
    attributes = {n: a for n, a in tables.attributes(draw).items() if n != "person"}
    attributes = {"person": DECLARED["person"] | {"role": "subject"}} | attributes
    if draw.random() < 0.3:
        attributes |= {DATE: {"role": draw.choice(("insensitive", "sensitive")), "type": "date"}}
    rows = tables.rows(draw, [n for n in attributes if n != DATE])
    many = draw.choice((2, 3, 4))
    people = [f"p{i:02d}" for i in range(max(2, 2 * len(rows) // many))]
    same = [n for n, a in attributes.items() if a["role"] in ("quasi_identifier", "insensitive") and n != DATE]
    first: dict[str, Row] = {}
    found = []
    for row in rows:
        who = draw.choice(people)
        own = first.setdefault(who, row)
        alike = {n: own[n] for n in same if draw.random() < 0.6}
        day = f"2020-01-{draw.randint(1, 9):02d}" if draw.random() < 0.9 else MISSING
        found.append(row | alike | {"person": who} | ({DATE: day} if DATE in attributes else {}))
    return attributes, found
