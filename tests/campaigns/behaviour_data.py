"""Data for every good example and for the campaign's own policies: always the same, for any seed of text hashes.

`FILES` has the tables of a policy by its name, each under the path that the policy reads it from. A table under `DATA`
is for a policy that names no file, and is passed with ``--data``.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

DATA = "data.csv"
ROWS = 1_200
GROUPS = 3

Column = Callable[[Random, Sequence[int]], list[Any]]
"""Draws a column; the second argument is the hidden group of each row, on which values depend."""


def choice(*values: str | None, skew: float = 1.0) -> Column:
    """Values of which the first is the commonest, another one in each group; the larger ``skew``, the commoner."""
    weights = [(place + 1) ** -skew for place in range(len(values))]

    def draw(random: Random, groups: Sequence[int]) -> list[Any]:
        picked = random.choices(range(len(values)), weights, k=len(groups))
        return [values[(place + group) % len(values)] for place, group in zip(picked, groups, strict=True)]

    return draw


def integer(low: int, high: int) -> Column:
    """Whole numbers from ``low`` to ``high``, larger ones in later groups."""

    def draw(random: Random, groups: Sequence[int]) -> list[Any]:
        step = (high - low) // (2 * GROUPS)
        return [min(high, random.randint(low, high - step * (GROUPS - 1)) + step * group) for group in groups]

    return draw


def number(mean: float, deviation: float) -> Column:
    """Normal numbers with two decimals, larger ones in later groups."""
    return lambda random, groups: [round(random.gauss(mean + group * deviation / 2, deviation), 2) for group in groups]


def day(first: str, days: int, form: str = "%Y-%m-%d") -> Column:
    """Days from the ``first`` one on."""
    begin = date.fromisoformat(first)
    return lambda random, groups: [(begin + timedelta(random.randrange(days))).strftime(form) for _ in groups]


def name(prefix: str) -> Column:
    """A name of its own for each row."""
    return lambda _random, groups: [f"{prefix}{row}" for row in range(len(groups))]


def one_of(prefix: str, people: int) -> Column:
    """The name of one of so many people, who have several rows each."""
    return lambda random, groups: [f"{prefix}{random.randrange(people)}" for _ in groups]


def items(*values: str, longest: int = 5, skew: float = 1.0, repeated: bool = False) -> Column:
    """Sets of items, the first of which are the commonest; ``repeated`` ones may have an item twice."""
    weights = [(place + 1) ** -skew for place in range(len(values))]

    def draw(random: Random, groups: Sequence[int]) -> list[Any]:
        picked = [random.choices(values, weights, k=random.randint(1, longest)) for _ in groups]
        return picked if repeated else [sorted(set(row)) for row in picked]

    return draw


@dataclass(frozen=True)
class Table:
    """Columns by name, and how they are written; ``rows`` of other ``salt`` are other people."""

    columns: Mapping[str, Column]
    rows: int = ROWS
    header: bool = True
    delimiter: str = ","
    pairs: bool = False

    def draw(self, salt: str) -> dict[str, list[Any]]:
        """Return the cells of each column."""
        groups = Random(salt).choices(range(GROUPS), (6, 3, 2), k=self.rows)
        return {name: column(Random(f"{salt} {name}"), groups) for name, column in self.columns.items()}

    def write(self, path: Path, salt: str) -> None:
        """Write the table in the format that the ending of the path says."""
        path.parent.mkdir(parents=True, exist_ok=True)
        cells = self.draw(salt)
        if self.pairs:
            cells = _long_form(cells, Random(f"{salt} pairs"))
        _WRITERS[path.suffix](self, cells, path)


@dataclass(frozen=True)
class Text:
    """A file that is written as it stands."""

    text: str

    def write(self, path: Path, _salt: str) -> None:
        """Write it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text, encoding="utf-8")


def sent_sets(items: Sequence[str], cutoff: int, rho: float, rows: int = ROWS) -> str:
    """Return what clients send of sets of one or two items that they randomized by cut-and-paste."""
    random, lines = Random("sent"), []
    for _ in range(rows):
        own = random.sample(items, random.randint(1, 2))
        kept = random.sample(own, min(random.randint(0, cutoff), len(own)))
        sent = [item for item in items if item in kept or random.random() < rho]
        lines.append(json.dumps({"size": len(own), "items": sent}))
    return "\n".join(lines) + "\n"


def _long_form(cells: Mapping[str, list[Any]], random: Random) -> dict[str, list[Any]]:
    """Return sets as pairs of an id and an item, in no order."""
    ((id_name, ids), (item_name, sets)) = cells.items()
    pairs = [(row, item) for row, contents in zip(ids, sets, strict=True) for item in contents]
    random.shuffle(pairs)
    return {id_name: [row for row, _ in pairs], item_name: [item for _, item in pairs]}


def _rows(cells: Mapping[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*cells.values(), strict=True))


def _csv(table: Table, cells: Mapping[str, list[Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=table.delimiter, lineterminator="\n")
        writer.writerows([list(cells)] if table.header else [])
        writer.writerows(_rows(cells))


def _json_lines(_table: Table, cells: Mapping[str, list[Any]], path: Path) -> None:
    rows = (dict(zip(cells, row, strict=True)) for row in _rows(cells))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _sets(delimiter: str) -> Callable[[Table, Mapping[str, list[Any]], Path], None]:
    def write(_table: Table, cells: Mapping[str, list[Any]], path: Path) -> None:
        (sets,) = cells.values()
        path.write_text("".join(f"{delimiter.join(row)}\n" for row in sets), encoding="utf-8")

    return write


def _sqlite(_table: Table, cells: Mapping[str, list[Any]], path: Path) -> None:
    types = {int: "INTEGER", float: "REAL", str: "TEXT"}
    names = ", ".join(f'"{name}" {types[type(column[0])]}' for name, column in cells.items())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"CREATE TABLE {path.stem} ({names})")
        places = ", ".join("?" * len(cells))
        connection.executemany(f"INSERT INTO {path.stem} VALUES ({places})", _rows(cells))
    connection.close()


_WRITERS: Mapping[str, Callable[[Table, Mapping[str, list[Any]], Path], None]] = {
    ".csv": _csv,
    ".jsonl": _json_lines,
    ".dat": _sets(" "),
    ".baskets": _sets(","),
    ".parquet": lambda _table, cells, path: pq.write_table(pa.table(dict(cells)), path),
    ".xlsx": lambda _table, cells, path: pd.DataFrame(cells).to_excel(path, index=False),
    ".sav": lambda _table, cells, path: pyreadstat.write_sav(pd.DataFrame(cells), str(path)),
    ".dta": lambda _table, cells, path: pyreadstat.write_dta(pd.DataFrame(cells), str(path)),
    ".xpt": lambda _table, cells, path: pyreadstat.write_xport(pd.DataFrame(cells), str(path)),
    ".sqlite": _sqlite,
}

JOB = choice("nurse", "teacher", "driver", "clerk")
CITY = choice("Paris", "Rome", "Bonn")
DISEASE = choice("flu", "cold", "cancer", "hepatitis", "HIV", skew=1.3)
GRADE = choice("good", "bad")
ZIP = choice("47673", "47677", "47905", "47909")
SEX = choice("female", "male", skew=0.2)
ANALYSES = Table({"age": integer(20, 31), "sex": SEX, "income": number(3000, 700)})
APPROVALS = Table({"job": JOB, "city": CITY})

COUNTRIES = "France;EU;world\nItaly;EU;world\nPeru;South America;world\nChile;South America;world\n"

PATIENTS = Table(
    {
        "patient": name("p"),
        "age": integer(18, 80),
        "zip": ZIP,
        "sex": SEX,
        "disease": DISEASE,
        "severity": choice("mild", "moderate", "severe"),
        "income": number(3000, 700),
        "readmitted": choice("no", "yes"),
    }
)
STAYS = Table(
    {
        "patient": one_of("p", 500),
        "admitted": day("2024-01-01", 300),
        "left": day("2024-11-01", 60),
        "ward": choice("north", "south"),
        "disease": choice("flu", "cold", "HIV"),
        "bill": number(900, 200),
    }
)
ORDERS = Table({"basket": items("milk", "butter", "bread", "cake", "soap", "bleach")})
VISITS = Table({"age": integer(20, 29), "town": CITY, "illness": DISEASE, "bill": number(90, 20)})

WITHHELD: Mapping[str, Table] = {
    "patients.csv": PATIENTS,
    "voters.csv": Table(
        {"age": integer(18, 80), "ZIP": choice("47673", "47677", "47905", "47909"), "sex": SEX},
        rows=4000,
        delimiter=";",
    ),
    "people.csv": Table(
        {"name": name("v"), "age": integer(18, 80), "zip": choice("47673", "47677", "47905", "47909")}, rows=200
    ),
    "stays.csv": STAYS,
    "orders.baskets": ORDERS,
    "contacts.csv": Table(
        {
            "patient": name("p"),
            "zip": choice("47673", "47677"),
            "admitted": day("2024-01-01", 300),
            "email": choice("ana@clinic.example", "bob@clinic.example"),
            "note": choice("seen on 3 May 2024", "call 555-867-5309", "nothing"),
        },
        rows=300,
    ),
}
"""What policies in `withheld/` read that have no data of their own."""

FORMATS: Mapping[str, Table] = {
    **{f"visits.{ending}": VISITS for ending in ("xlsx", "sav", "dta", "xpt", "sqlite")},
    "sales.csv": Table({"receipt": name("r"), "product": items("milk", "butter", "bread", "soap")}, pairs=True),
    "shop.dat": Table({"basket": items(*map(str, range(1, 20)))}),
}
"""What policies in `formats/` read."""

FILES: Mapping[str, Mapping[str, Table | Text]] = {
    "received": {
        DATA: Table({"age": integer(20, 24), "illness": choice("flu", "cold", "cough")}),
    },
    "without_requirements": {
        DATA: Table({"district": choice("north", "south"), "trees": integer(0, 9)}),
    },
    "clients": {"sent.jsonl": Text(sent_sets(("bread", "milk", "tea"), cutoff=3, rho=0.5))},
    "all_text": {
        DATA: Table(
            {
                "country": choice("NO", "SE", "DK", "ON", skew=0.3),
                "code": choice("010", "0x1F", "1_000", "1e3", skew=0.3),
                "version": choice("1.10", "1.1"),
                "time": choice("12:30", "1:02:03", "~"),
                "day": choice("2024-01-01", "2024-02-29"),
                "answer": choice("no", "true", "yes"),
            },
            rows=2 * ROWS,
            header=False,
        )
    },
    "analyses-audit": {DATA: ANALYSES},
    "analyses": {DATA: ANALYSES},
    "approvals": {DATA: APPROVALS},
    "approvals_of_a_template": {DATA: APPROVALS},
    "attacks": {
        "patients.csv": Table(
            {
                "name": name("n"),
                "zip": choice("47673", "47677", "47678", "47905", "47909", "47602"),
                "age": integer(18, 80),
                "condition": choice("flu", "bronchitis", "gastritis", "ulcer", "cut", "burn"),
            }
        ),
        "voters.csv": Table(
            {"name": name("v"), "postcode": choice("47673", "47677", "47678", "47905", "47909", "47602")}, rows=300
        ),
        "spring.csv": Table(
            {"zip": choice("476**", "479**"), "condition": choice("flu", "bronchitis", "gastritis", "ulcer")}, rows=300
        ),
    },
    "bank_credit": {
        "data/bank.csv": Table(
            {
                "customer_id": name("c"),
                "job": JOB,
                "country": choice("France", "Italy", "Peru", "Chile"),
                "age": choice("19", "30", "60"),
                "bankruptcy": choice("Current", "Never", "Discharged"),
                "disease": DISEASE,
                "rating": GRADE,
            },
            header=False,
        ),
        "hierarchies/country.csv": Text(COUNTRIES),
    },
    "baskets": {
        "visits.parquet": Table(
            {"town": CITY, "basket": items("milk", "butter", "bread", "soap", longest=12, repeated=True)}
        )
    },
    "classes": {
        "patients.csv": Table(
            {
                "age": integer(0, 100),
                "region": choice("north", "south", "west"),
                "sex": SEX,
                "disease": choice("flu", "asthma", "cancer", "HIV", skew=0.5),
                "income": integer(10, 30),
                "severity": choice("mild", "moderate", "severe", skew=0.5),
            }
        ),
        "voters.csv": Table(
            {"age": integer(0, 100), "STATE": choice("north", "south", "west"), "sex": SEX}, rows=6000, delimiter=";"
        ),
    },
    "diamond": {DATA: Table({"job": JOB, "city": choice("Paris", "Rome", "Bonn", None), "rating": GRADE})},
    "fine_grain": {
        "microdata.csv": Table(
            {
                "Age": integer(21, 40),
                "Sex": choice("M", "F"),
                "Disease": choice("cancer", "H1N1", "HIV", "SARS", skew=0.7),
            },
            header=False,
        )
    },
    "floors_of_every_kind": {
        DATA: Table({"job": JOB, "city": CITY, "addr_street": name("street "), "disease": DISEASE})
    },
    "generated": {
        "people.csv": Table(
            {
                "person": name("p"),
                "age": integer(18, 80),
                "workclass": choice("private", "public", "?"),
                "education": choice("school", "college", "doctorate"),
                "class": GRADE,
            }
        )
    },
    "generated_rows": {
        "people.csv": Table(
            {
                "person": name("p"),
                "age": choice("25", "35", "50"),
                "education": choice("school", "college", "?"),
                "occupation": JOB,
                "class": GRADE,
            }
        )
    },
    "groups_and_conditions": {
        DATA: Table({"job": JOB, "disease": choice("flu", "cancer", "syphilis", "hepatitis", "HIV", skew=2)})
    },
    "hierarchies": {
        DATA: Table(
            {
                "age": integer(0, 100),
                "income": number(25_000, 9_000),
                "zip": choice("47673", "47677", "47905"),
                "born": day("1950-01-01", 9_000, "%d.%m.%Y"),
                "pain": choice("none", "mild", "strong"),
                "city": choice("Paris", "Rome"),
                "country": choice("France", "Italy", "Peru", "Chile"),
                "disease": DISEASE,
            }
        ),
        "country.csv": Text(COUNTRIES.replace(";", ",")),
    },
    "inherits": {
        "templates/clinic.csv": Table({"age": integer(20, 24), "region": CITY, "diagnosis": DISEASE}),
        "templates/region.csv": Text("Paris;west\nRome;south\nBonn;west\n"),
    },
    "ledger": {
        "patients.csv": Table(
            {
                "patient": name("p"),
                "zip": choice("47673", "47905"),
                "age": integer(20, 25),
                "disease": choice("flu", "cold", "HIV"),
            }
        )
    },
    "linked_tables": {
        "patients.csv": Table({"patient": name("p"), "age": integer(40, 45)}, rows=600),
        "visits.csv": Table(
            {"who": one_of("p", 600), "hospital": choice("north", "south"), "disease": choice("flu", "cold", "HIV")}
        ),
    },
    "list_params": {DATA: Table({"job": JOB, "city": CITY, "age": integer(30, 33), "disease": DISEASE})},
    "minimal": {DATA: Table({"age": integer(20, 40)})},
    "numbers_as_values": {
        DATA: Table(
            {
                "zone": choice("1", "2", "3"),
                "score": choice("0.5", "-2.25", "1", skew=0.5),
                "count": choice("1", "2", "5"),
            },
            header=False,
        )
    },
    "paper": {
        DATA: Table(
            {
                "job": choice("nurse", "teacher", "driver", None),
                "city": choice("Paris", "Rome", None),
                "disease": choice("flu", "cancer", "HIV"),
            }
        )
    },
    "patterns": {
        DATA: Table(
            {
                "addr_street": name("street "),
                "addr_country": choice("France", "Italy", "Peru"),
                "score_1": choice("1", "2", "3"),
                "diag_a": choice("flu", "cold", "HIV"),
                "diag_b": choice("none", "ulcer"),
                "remark": name("remark "),
            }
        )
    },
    "pram": {
        "people.csv": Table(
            {
                "age": integer(18, 80),
                "sex": choice("F", "M"),
                "region": choice("north", "south", "west"),
                "disease": choice("flu", "cold", "HIV"),
            },
            header=False,
        )
    },
    "randomized": {"shop.dat": Table({"basket": items(*map(str, range(1, 40)), longest=6, skew=0.0)}, rows=12_000)},
    "stricter_where_it_counts": {DATA: Table({"job": JOB, "city": CITY, "disease": DISEASE})},
    "templates_beyond_the_paper": {
        DATA: Table(
            {
                "age": integer(18, 80),
                "city": choice("Paris", "Lyon", "Bonn"),
                "disease": choice("flu", "cold", "HIV"),
                "outcome": GRADE,
            }
        )
    },
    "two_releases": {
        "patients.jsonl": Table(
            {
                "age": integer(18, 90),
                "region": choice("north", "south"),
                "disease": choice("flu", "cold", "HIV"),
                "outcome": GRADE,
            }
        )
    },
    "two_templates_twice": {
        DATA: Table(
            {
                "job": JOB,
                "region": choice("north", "south"),
                "disease": choice("flu", "cold", "HIV"),
                "income": choice("<=50K", "none", "unknown", ">50K", skew=1.5),
            }
        )
    },
    "unicode": {
        DATA: Table(
            {
                "Größe": choice("klein", "groß"),
                "職業": choice("医師", "教師", "tab\there"),
                "diagnose (kurz)": choice("Schnupfen", "Grippe: schwer", "😀"),
            }
        )
    },
    "waived-privacy": {DATA: Table({"job": choice("nurse", "teacher", "driver", "pilot", skew=3.3), "city": CITY})},
    "waivers": {DATA: Table({"job": JOB, "city": CITY, "disease": DISEASE, "rating": GRADE})},
}
