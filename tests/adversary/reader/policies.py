"""Random policies of two releases, with their tables, from a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

Row = dict[str, str]
Options = dict[str, Any]

KEY = "ADVERSARY_KEY"
VALUES = {
    "job": ("cook", "dean", "nurse", "smith"),
    "zip": ("101", "102", "201"),
    "age": ("12", "18", "31", "44"),
    "illness": ("cold", "flu", "hiv"),
    "note": ("n1", "n2", "n3"),
}
LEVELS = {"cook": ["house"], "dean": ["school"], "nurse": ["house"], "smith": ["school"]}
MILD = {"cold": ["mild"], "flu": ["mild"], "hiv": ["severe"]}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "job": {"role": "quasi_identifier", "hierarchy": {"levels": LEVELS}},
    "zip": {"role": "quasi_identifier", "hierarchy": {"prefix": ["2", "1", "0"]}},
    "age": {"role": "quasi_identifier", "type": "integer", "hierarchy": {"intervals": ["0", "20", "60"]}},
    "illness": {"role": "sensitive", "hierarchy": {"levels": MILD}},
    "note": {"role": "insensitive"},
}
SENSITIVE = "illness"


@dataclass(frozen=True)
class Case:
    """A policy and its table; ``number`` gives both."""

    number: int
    policy: dict[str, Any]
    rows: list[Row]
    tables: dict[str, list[Row]] = field(default_factory=dict)
    """Linked tables, whose join ``rows`` is then."""


def random_case(number: int) -> Case:
    """The case of a number, always the same."""
    draw = Random(f"reader {number}")
    people = draw.random() < 0.3
    known = sorted(draw.sample(("job", "zip", "age"), draw.choice((1, 2, 2))))
    names = [*known, SENSITIVE, *(["note"] if draw.random() < 0.5 else [])]
    attributes = {n: ATTRIBUTES[n] for n in names}
    if people or draw.random() < 0.4:
        attributes["person"] = {"role": "subject" if people else "identifier"}
    rows = random_rows(draw, list(attributes), draw.randint(5, 8 if people else 11), people=people)
    clauses = random_clauses(draw, {r[SENSITIVE] for r in rows} - {""}, known)
    steps: dict[str, Any] = {}
    ends = []
    for release in "ab":
        place, columns = "source", list(attributes)
        if release == "b" and ends[0][0] != "source" and draw.random() < 0.3:
            place, columns = ends[0]
        for _ in range(draw.choice((1, 1, 2, 2, 3))):
            use, options, columns = random_step(draw, columns, known)
            name = f"s{len(steps) + 1}"
            steps[name] = {"use": use, "input": place, "with": options}
            place = name
        ends.append((place, columns))
    policy = {
        "version": "1",
        "name": f"reader-{number}",
        "source": {"path": "data.csv", "format": "csv"},
        "attributes": attributes,
        "nulls": draw.choice(("own_category", "own_category", "own_category", "exclude", "wildcard")),
        "privacy": clauses,
        "steps": steps,
        "releases": {n: {"from": place, "path": f"{n}.csv"} for n, (place, _) in zip("ab", ends, strict=True)},
        "randomness": {"mode": "reproducible", "seed": str(number)},
        **({"people": {"known_rows": draw.choice("12")}} if people else {}),
    }
    return Case(number, policy, rows)


def random_uniques_case(number: int) -> Case:
    """The case of a number, of which few people may be singled out besides, by one known row."""
    case, draw = random_case(number), Random(f"uniques {number}")
    known = [n for n, a in case.policy["attributes"].items() if a["role"] == "quasi_identifier"]
    clause = {
        "attributes": draw.sample(known, draw.randint(1, len(known))),
        "size": draw.choice("12"),
        "max_share": draw.choice(("0", "0.2", "0.5")),
    }
    policy = {**case.policy, "privacy": {**case.policy["privacy"], "special_uniques": {"u": clause}}}
    if "people" in policy:
        policy["people"] = {"known_rows": "1"}
    return replace(case, policy=policy)


PATIENTS, VISITS, RESULTS = "patients", "visits", "results"
LINKED_STEPS = ("generalize", "recode", "mask", "drop", "pseudonymize", "pseudonymize", "suppress")


def random_linked_case(number: int) -> Case:
    """A case of two or three linked tables, of which two have a visit in common; a release of each but the first."""
    draw = Random(f"linked {number}")
    visit = {"role": draw.choice(("identifier", "identifier", "insensitive"))}
    person = {"role": "subject"}
    attributes: dict[str, dict[str, Any]] = {
        PATIENTS: {"person": person, "age": ATTRIBUTES["age"]},
        VISITS: {"person": person, "job": ATTRIBUTES["job"], "visit": visit},
        RESULTS: {"person": person, SENSITIVE: ATTRIBUTES[SENSITIVE], "visit": visit},
    }
    rows, people = [], [f"p{i}" for i in range(draw.choice((3, 4, 5)))]
    ages = {p: draw.choice(("12", "31")) for p in people}
    jobs, values = ("cook", "smith"), draw.sample(VALUES[SENSITIVE], 2)
    for i in range(draw.randint(len(people), 7)):
        p = people[i] if i < len(people) else draw.choice(people)
        rows.append(
            {"person": p, "age": ages[p], "job": draw.choice(jobs), "visit": f"v{i}", SENSITIVE: draw.choice(values)}
        )
    tables = {
        name: list(
            {tuple(r[n] for n in names): {n: r[n] for n in names} for r in draw.sample(rows, len(rows))}.values()
        )
        for name, names in attributes.items()
    }
    key = {
        PATIENTS: {"key": "person"},
        VISITS: {"refers": {"person": PATIENTS}},
        RESULTS: {"refers": {"person": PATIENTS}},
    }
    steps: dict[str, Any] = {}
    releases: dict[str, Any] = {}
    for table, names in attributes.items():
        if table == PATIENTS and draw.random() < 0.5:
            continue
        place, columns = table, list(names)
        for _ in range(draw.choice((0, 1, 1, 2))):
            use, options, after = random_step(draw, columns, [n for n in ("age", "job") if n in columns], LINKED_STEPS)
            if len([c for c in after if c != "person"]) == 0:
                continue
            name, columns = f"s{len(steps) + 1}", after
            steps[name] = {"use": use, "input": place, "with": options}
            place = name
        releases[table[0]] = {"from": place, "path": f"{table}.csv"}
    privacy = {
        "k_anonymity": {"k": "2"},
        "alpha_k": {f"{RESULTS}.{SENSITIVE}": {"alpha": draw.choice(("0.67", "0.8", "0.9"))}},
    }
    if draw.random() < 0.5:
        del privacy[draw.choice(list(privacy))]
    policy = {
        "version": "1",
        "name": f"linked-{number}",
        "tables": {
            t: {"source": {"path": f"{t}.csv", "format": "csv"}, **key[t], "attributes": own}
            for t, own in attributes.items()
        },
        "people": {"known_rows": "1"},
        "nulls": "own_category",
        "privacy": privacy,
        "steps": steps,
        "releases": releases,
        "randomness": {"mode": "reproducible", "seed": str(number)},
    }
    return Case(number, policy, rows, tables)


def random_rows(draw: Random, names: list[str], number: int, *, people: bool) -> list[Row]:
    """Rows of few values each; some cells are missing in every third table."""
    values = {
        n: draw.sample(VALUES[n], 2 if n in ("job", "zip", "age") else draw.choice((2, 3)))
        for n in names
        if n != "person"
    }
    missing = draw.choice((0.0, 0.0, 0.1))
    rows = []
    for i in range(number):
        row = {n: "" if draw.random() < missing else draw.choice(own) for n, own in values.items()}
        if "person" in names:
            row["person"] = f"p{draw.randrange((number + 1) // 2) if people else i}"
        rows.append(row)
    draw.shuffle(rows)
    return rows


def random_clauses(draw: Random, values: set[str], known: list[str]) -> dict[str, Any]:
    """One requirement or two, mild ones."""
    every: dict[str, Any] = {
        "k_anonymity": {"k": "2"},
        "l_diversity": {
            SENSITIVE: draw.choice(
                ({"l": "2"}, {"l": "1.5", "kind": "entropy"}, {"l": "2", "kind": "recursive", "c": "3"})
            )
        },
        "alpha_k": {SENSITIVE: {"alpha": draw.choice(("0.67", "0.8", "0.9"))}},
        "t_closeness": {SENSITIVE: {"t": draw.choice(("0.5", "0.7"))}},
        "beta_likeness": {SENSITIVE: {"beta": draw.choice(("1", "2"))}},
    }
    if values:
        every["templates"] = {
            "t": {
                "channel": draw.sample(known, draw.randint(1, len(known))),
                "sensitive": {SENSITIVE: [draw.choice(sorted(values))]},
                "confidence": "0.8",
            }
        }
    chosen = draw.sample(sorted(every), draw.choice((1, 1, 1, 2)))
    if draw.random() < 0.3:
        chosen = [*dict.fromkeys([*chosen, "k_anonymity"])]
    return {n: every[n] for n in chosen}


def random_step(
    draw: Random, columns: list[str], known: list[str], uses: Sequence[str] = ()
) -> tuple[str, Options, list[str]]:
    """A step with its options, and the columns after it."""
    while True:
        use = draw.choice(uses) if uses else draw.choices(list(STEPS), [WEIGHTS.get(u, 1) for u in STEPS])[0]
        made = STEPS[use](draw, [c for c in columns if c != "person"], [c for c in known if c in columns], columns)
        if made is not None:
            options, after = made
            return use, options, after


Made = tuple[Options, list[str]] | None
Maker = Callable[[Random, list[str], list[str], list[str]], Made]


def _some(draw: Random, names: list[str]) -> list[str]:
    return draw.sample(names, draw.randint(1, len(names)))


def _generalize(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    chosen = [n for n in names if n in ("job", "zip", "age", SENSITIVE)]
    return ({"attributes": {n: {} for n in _some(draw, chosen)}}, columns) if chosen else None


def _recode(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    chosen = [n for n in names if n in VALUES and n != "age"]
    if not chosen:
        return None
    name = draw.choice(chosen)
    values = draw.sample(VALUES[name], 2)
    rule: Options = {"values": {v: draw.choice(("H", "H", "I")) for v in values}}
    rule |= {"keep_others": "true"} if draw.random() < 0.5 else {"other": "rest"}
    return {"attributes": {name: rule}}, columns


def _mask(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    chosen = [n for n in names if n in ("job", "zip", SENSITIVE, "note")]
    return (
        ({"attributes": {draw.choice(chosen): {"first": draw.choice("01"), "last": "0"}}}, columns) if chosen else None
    )


def _drop(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    if len(names) < 2:
        return None
    gone = draw.choice(names)
    return {"attributes": [gone]}, [c for c in columns if c != gone]


def _full_domain(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    options = {"suppression": draw.choice(("0", "0.3")), "suppress": draw.choice(("rows", "cells"))}
    return ({"attributes": known, **options}, columns) if known else None


def _mondrian(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    return ({"attributes": known, "partitioning": "strict"}, columns) if known else None


def _suppress(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    kind = draw.choice(("rare", "cells", "rows"))
    if kind == "rare":
        return {"rare": {draw.choice(names): {"count": "2"}}, "small": "keep"}, columns
    return {"small": kind, "attributes": draw.sample(names, min(len(names), draw.choice((1, 2)))), "k": "2"}, columns


def _class_id(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    if any(c.startswith("class_") for c in columns):
        return None
    name = f"class_{len(columns)}"
    return {"name": name, "attributes": draw.sample(names, min(2, len(names)))}, [*columns, name]


def _pseudonymize(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    chosen = [n for n in columns if n in ("person", "visit", *VALUES)]
    if not chosen:
        return None
    named = [n for n in chosen if n in ("person", "visit")]
    name = draw.choice(named) if named and draw.random() < 0.7 else draw.choice(chosen)
    scope = {"scope": draw.choice(("one", "two"))} if draw.random() < 0.6 else {}
    return {"attributes": [name], "key_env": KEY, **scope}, columns


def _swap(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    name = draw.choice(names)
    rest = [n for n in names if n != name]
    return ({"attributes": [name], "within": [draw.choice(rest)], "share": "1"}, columns) if rest else None


def _sample(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    return {"fraction": "0.8"}, columns


def _numbers(options: Options) -> Maker:
    """A maker of steps on age that has these options beside."""

    def make(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
        return ({"attributes": ["age"], **options}, columns) if "age" in names else None

    return make


def _average(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    return ({"attributes": _some(draw, known), "k": "2"}, columns) if known else None


def _pram(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    return ({"attribute": SENSITIVE, "retain": "0.6"}, columns) if SENSITIVE in names else None


def _disclose(draw: Random, names: list[str], known: list[str], columns: list[str]) -> Made:
    return ({"hierarchies": "ignore", "k_anonymity": "true"}, columns) if known else None


STEPS: Mapping[str, Maker] = {
    "generalize": _generalize,
    "recode": _recode,
    "mask": _mask,
    "drop": _drop,
    "full_domain_recoding": _full_domain,
    "mondrian": _mondrian,
    "suppress": _suppress,
    "assign_class_id": _class_id,
    "pseudonymize": _pseudonymize,
    "swap": _swap,
    "sample": _sample,
    "add_noise": _numbers({"sd": "3"}),
    "rank_swap": _numbers({"percent": "100"}),
    "microaggregation": _average,
    "top_bottom_code": _numbers({"top": "30"}),
    "round_values": _numbers({"base": "20", "how": "nearest"}),
    "pram": _pram,
    "progressive_disclosure": _disclose,
}
WEIGHTS = {"generalize": 3, "drop": 6, "full_domain_recoding": 4, "mondrian": 4, "suppress": 3}
"""How often a step is drawn; once unless it is named here."""
