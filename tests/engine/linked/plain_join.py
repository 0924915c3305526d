"""What somebody makes of the released files of linked tables: joined by pseudonym, and counted by hand."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

ABSENT = "(nothing)"
Cell = str | None


def read(file: Path) -> list[dict[str, Cell]]:
    """Return the rows of a CSV; an empty cell is a missing value."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(lines)]


def write(folder: Path, policy: str, tables: Mapping[str, Sequence[Mapping[str, object]]]) -> Path:
    """Write tables with their policy; return the policy's file."""
    for name, rows in tables.items():
        columns = list(rows[0])
        lines = [columns, *([row.get(c, "") for c in columns] for row in rows)]
        text = "\n".join(",".join(map(str, line)) for line in lines)
        (folder / f"{name}.csv").write_text(text + "\n", encoding="utf-8")
    file = folder / "policy.yaml"
    file.write_text(policy, encoding="utf-8")
    return file


def joined(tables: list[list[dict[str, Cell]]], required: frozenset[int] = frozenset()) -> list[dict[str, Cell]]:
    """Return each combination of each person's rows, with ``patient``; ``required`` tables have to have one."""
    people = sorted({row["patient"] for rows in tables for row in rows})
    own = [defaultdict(list) for _ in tables]
    columns = [[name for name in rows[0] if name != "patient"] if rows else [] for rows in tables]
    for place, rows in enumerate(tables):
        for row in rows:
            own[place][row["patient"]].append(row)
    every = []
    for person in people:
        if any(not own[place][person] for place in required):
            continue
        parts = [own[i][person] or [dict.fromkeys(columns[i], ABSENT)] for i in range(len(tables))]
        every += [{k: v for row in some for k, v in row.items()} | {"patient": person} for some in product(*parts)]
    return every


def in_turn(tables: list[list[dict[str, Cell]]]) -> list[dict[str, Cell]]:
    """Return each row of the tables after the first beside its person's row there, and each person who has none."""
    first, *others = tables
    own = {row["patient"]: row for row in first}
    columns = {name: ABSENT for rows in tables for name in (rows[0] if rows else ()) if name != "patient"}
    every = [{**columns, **own.get(row["patient"], {}), **row} for rows in others for row in rows]
    there = {row["patient"] for row in every}
    return every + [{**columns, **row} for person, row in own.items() if person not in there]


def class_of(row: dict[str, Cell], by: list[str]) -> tuple[Cell, ...]:
    return tuple(row[name] for name in by)


def counted(rows: list[dict[str, Cell]], by: list[str], nulls: str) -> list[dict[str, Cell]]:
    """Return the rows that have a class."""
    return rows if nulls != "exclude" else [r for r in rows if None not in class_of(r, by)]


def k(rows: list[dict[str, Cell]], by: list[str], nulls: str) -> int:
    """Return the fewest people who have a row in a class."""
    people = defaultdict(set)
    for row in counted(rows, by, nulls):
        people[class_of(row, by)].add(row["patient"])
    return min(map(len, people.values()), default=0)


def known_k(rows: list[dict[str, Cell]], by: list[str], nulls: str, known: str) -> int | None:
    """Return the fewest people who have some rows of one person, of whom so many are known."""
    held = defaultdict(Counter)
    for row in counted(rows, by, nulls):
        held[row["patient"]][class_of(row, by)] += 1
    smallest = None
    for classes in held.values():
        every = list(classes.elements())
        sizes = [len(every)] if known == "all" else range(1, min(int(known), len(every)) + 1)
        for size in sizes:
            for some in {tuple(sorted(c, key=repr)) for c in combinations(every, size)}:
                wanted = Counter(some)
                if known == "all":
                    alike = sum(other == wanted for other in held.values())
                else:
                    alike = sum(all(other[c] >= n for c, n in wanted.items()) for other in held.values())
                smallest = alike if smallest is None else min(smallest, alike)
    return smallest


def alpha(rows: list[dict[str, Cell]], by: list[str], secret: str, nulls: str) -> float | None:
    """Return the largest share of rows, or of people, of a class who have one value; None where no row has a class."""
    of_class = defaultdict(list)
    for row in counted(rows, by, nulls):
        of_class[class_of(row, by)].append((row["patient"], row[secret]))
    worst = 0.0
    for cells in of_class.values():
        people = {person for person, _ in cells}
        for value in {value for _, value in cells}:
            having = [person for person, own in cells if own == value]
            worst = max(worst, len(having) / len(cells), len(set(having)) / len(people))
    return worst if of_class else None
