"""Small tables of a source and its files, random or made by hand, and what the reader's routes take of them."""

from __future__ import annotations

from itertools import combinations, groupby
from random import Random
from typing import Any

import numpy as np

from ppdm_flow.core.lineage import CellKind
from ppdm_flow.reader.files import MISSING, NO_CELL, ReleasedColumn, ReleasedFile, SourceRows
from ppdm_flow.reader.row_kinds import ReaderQuestion

Table = dict[str, Any]
KNOWN, OTHERS, SENSITIVE, SUBJECT = ("a", "b"), ("c", "x"), "s", "p"
FAMILIES = (
    "maps",
    "mixed",
    "keyed",
    "numbers",
    "hidden",
    "absent",
    "sampled",
    "people",
    "known",
    "nulls",
    "linked",
    "order",
    "any",
)


def drawn(seed: int, family: str) -> Table:
    """Return a random table of one family: its source, its files, and the question."""
    random = Random(f"{family}{seed}")
    every = family == "any"
    people = family in ("people", "known", "linked") or random.random() < (
        0.5 if family in ("absent", "sampled", "any") else 0.15
    )
    known = 2 if family == "known" or (every and people and random.random() < 0.5) else 1
    size = random.randint(5, 7) if known == 2 else random.randint(5, 8)
    attributes = [*KNOWN, *OTHERS, SENSITIVE, *([SUBJECT] if people else [])]
    missing = family == "nulls" or (every and random.random() < 0.4)
    rows = _source(random, size, people, missing=0.15 if missing else 0)
    nulls = random.choice(["own_category", "exclude", "wildcard"]) if missing else "own_category"
    number = random.choice([1, 2] if known == 2 else [1, 2, 2, 2] if size > 6 else [1, 2, 2, 3])
    files = [_file(random, rows, family, i, people) for i in range(number)]
    if family == "linked":
        files = [*files[:2], _linked(random, rows)]
        files[0]["refers"] = ["people"]
    grouping = random.choice([["a"], ["a", "b"], ["a", "b"], ["b"]])
    return {
        "name": f"{family} {seed}",
        "source": {"attributes": attributes, "rows": [[r[a] for a in attributes] for r in rows]},
        "files": files,
        "grouping": grouping,
        "sensitive": SENSITIVE if random.random() < 0.85 else None,
        "subject": SUBJECT if people else None,
        "known_rows": known,
        "nulls": nulls,
    }


def _source(random: Random, size: int, people: bool, missing: float) -> list[dict[str, Any]]:
    """Rows with two or three values an attribute; ``b`` and ``x`` are mostly one in all rows of a person."""
    domain = {a: random.choice([2, 2, 3]) for a in (*KNOWN, *OTHERS, SENSITIVE)}
    persons = [random.randrange(max(2, size - 2)) for _ in range(size)] if people else list(range(size))
    own = {u: {a: random.randrange(domain[a]) for a in domain} for u in persons}
    rows = []
    for u in persons:
        row: dict[str, Any] = {a: random.randrange(n) for a, n in domain.items()}
        if people:
            row |= {a: own[u][a] for a in ("b", "x") if random.random() < 0.9}
        row = {a: None if random.random() < missing else v for a, v in row.items()}
        rows.append(row | ({SUBJECT: f"p{u}"} if people else {}))
    return rows


def _file(random: Random, rows: list[dict[str, Any]], family: str, i: int, people: bool) -> Table:
    of = list(range(len(rows)))
    out: Table = {"name": f"f{i}"}
    if random.random() < {"absent": 0.7, "any": 0.4}.get(family, 0.07):
        decided = random.sample([*KNOWN, *OTHERS, SENSITIVE], random.choice([1, 1, 2]))
        parts = sorted({str([rows[k][a] for a in decided]) for k in of})
        gone = set(random.sample(parts, random.randint(1, max(1, len(parts) // 2)))) if len(parts) > 1 else set()
        absent = [k for k in of if str([rows[k][a] for a in decided]) in gone]
        of = [k for k in of if k not in absent]
        out |= {"absent": absent, "present": decided}
    if random.random() < {"sampled": 0.7, "any": 0.25}.get(family, 0.04) and len(of) > 2:
        of = sorted(random.sample(of, random.randint(max(2, len(of) - 3), len(of) - 1)))
        out |= {"sampled": True}
    if family == "order" and random.random() < 0.5:
        out |= {"shuffled": False}
    columns = [
        _column(random, [rows[k] for k in of], family, f"c{j}", people) for j in range(random.choice([1, 2, 2, 3, 3]))
    ]
    if random.random() < 0.6:
        columns.append({"name": "s", "carries": ["s"], "kind": "map", "cells": [rows[k]["s"] for k in of]})
    if family == "order" and random.random() < 0.5:
        attributes = random.sample(["a", "b", "c", "x"], 2)
        moves = [random.choice([0, 5, 10]) for _ in of]
        for j, a in enumerate(attributes):
            cells = [rows[k][a] + move for k, move in zip(of, moves, strict=True)]
            columns.append({"name": f"m{j}", "carries": [a], "kind": "noisy", "cells": cells})
        out |= {"moved": ["m0", "m1"]}
    return out | {"of": of, "columns": columns}


def _column(random: Random, rows: list[dict[str, Any]], family: str, name: str, people: bool) -> Table:
    every = [*KNOWN, *OTHERS, SENSITIVE]
    one = random.choice([*KNOWN, *KNOWN, *OTHERS, SENSITIVE])
    two = sorted(random.sample(every, 2))
    kinds = {
        "mixed": ["mixed", "mixed", "class_id", "map"],
        "keyed": ["keyed", "keyed", "map", "plain"],
        "numbers": ["noisy", "exchanged", "averaged", "map", "plain"],
        "hidden": ["hidden", "hidden", "map", "plain"],
        "nulls": ["plain", "map", "plain", "hidden", "mixed"],
        "people": ["subject", "plain", "map", "mixed", "plain"],
        "known": ["subject", "plain", "map", "mixed", "plain"],
        "any": [
            "subject",
            "plain",
            "plain",
            "map",
            "map",
            "mixed",
            "keyed",
            "noisy",
            "hidden",
            "exchanged",
            "class_id",
        ],
    }.get(family, ["map", "map", "plain", "plain", "mixed", "keyed", "noisy", "hidden", "generated", "exchanged"])
    kind = random.choice(kinds)
    if kind == "subject" and people:
        key = random.choice(["k1", "k2"])
        length = random.choice([9, 9, 1])
        codes = {v: n % 3 if length == 1 else n for n, v in enumerate(sorted({r[SUBJECT] for r in rows}))}
        return _made(rows, name, [SUBJECT], lambda v: f"{key}{codes[v[0]]}", "keyed", key=key)
    if kind == "keyed":
        key = random.choice(["k1", "k2"])
        return _made(rows, name, [one], lambda v: None if v[0] is None else f"y{v[0]}", "keyed", key=key)
    if kind in ("noisy", "generated", "exchanged", "averaged"):
        cells = [r[one] for r in rows]
        if kind == "averaged":
            label = random.choice(["a", "c", "x"])
            parts: dict[Any, list[Any]] = {}
            for r in rows:
                parts.setdefault(r[label], []).append(r[one] or 0)
            means = {part: round(sum(values) / len(values), 3) for part, values in parts.items()}
            return {
                "name": name,
                "carries": sorted({one, label}),
                "kind": kind,
                "cells": [means[r[label]] for r in rows],
            }
        if kind == "exchanged":
            random.shuffle(cells)
        else:
            cells = [None if v is None else v + random.choice([0, 0, 1, 0.5]) for v in cells]
        carries = [] if kind == "generated" else [one]
        return {"name": name, "carries": carries, "kind": kind, "cells": cells}
    if kind in ("mixed", "class_id"):
        labels: dict[Any, int] = {}
        sort = "class_id" if kind == "class_id" else "map"
        return _made(rows, name, two, lambda v: labels.setdefault(v, random.randrange(3)), sort)
    coarse: dict[Any, Any] = {}
    plain = kind == "plain" or kind == "subject" or (kind == "hidden" and random.random() < 0.7)
    out = _made(
        rows,
        name,
        [one],
        lambda v: v[0] if plain or v[0] is None else coarse.setdefault(v[0], f"g{random.randrange(2)}"),
    )
    if kind == "hidden":
        carries = sorted({one, random.choice(every)} if random.random() < 0.8 else {one})
        parts = sorted({str([r[a] for a in carries]) for r in rows})
        hidden = set(random.sample(parts, random.randint(1, max(1, len(parts) // 2))))
        cells = ["*" if str([r[a] for a in carries]) in hidden else v for r, v in zip(rows, out["cells"], strict=True)]
        by_class = random.random() < 0.6
        out["cells"] = cells
        out["hidden"] = {"carries": carries, "cell": "*"}
        if by_class:
            secret = SENSITIVE if random.random() < 0.6 else None
            out["hidden"] |= {"requirement": "r", "sensitive": secret}
            out["hidden"]["carries"] = sorted({*carries, *([secret] if secret else [])})
    return out


def _made(rows: list[dict[str, Any]], name: str, carries: list[str], of: Any, kind: str = "map", **more: Any) -> Table:
    cells = [of(tuple(r[a] for a in carries)) for r in rows]
    return {"name": name, "carries": carries, "kind": kind, "cells": cells, **more}


def _linked(random: Random, rows: list[dict[str, Any]]) -> Table:
    """A table of people beside that of their rows."""
    of = [[k for k, r in enumerate(rows) if r[SUBJECT] == p] for p in sorted({r[SUBJECT] for r in rows})]
    columns = []
    for j, a in enumerate(random.sample(["b", "x", "s"], random.choice([1, 2, 3]))):
        columns.append({"name": f"q{j}", "carries": [a], "kind": "map", "cells": [rows[o[0]][a] for o in of]})
    if random.random() < 0.6:
        columns.append(
            {
                "name": "who",
                "carries": [SUBJECT],
                "kind": "keyed",
                "key": "k1",
                "cells": [f"k1{i}" for i in range(len(of))],
            }
        )
    return {"name": "people", "of": of, "columns": columns, "table": "people"}


def column(name: str, cells: list[Any], *carries: str, kind: str = "map") -> Table:
    """Return a column of a table made by hand; it carries the attribute that it is called after unless told."""
    return {"name": name, "carries": list(carries or (name,)), "kind": kind, "cells": cells}


def asked(attributes: list[str], rows: list[list[Any]], files: list[Table], grouping: str = "a", **more: Any) -> Table:
    """Return a table made by hand; files have all rows unless told, and nothing is sensitive."""
    every = [{"name": f"f{i}", "of": [*range(len(rows))], **file} for i, file in enumerate(files)]
    question = {"sensitive": None, "subject": None, "known_rows": 1, "nulls": "own_category", **more}
    source = {"attributes": attributes, "rows": rows}
    return {"source": source, "files": every, "grouping": list(grouping), **question}


def built(table: Table) -> tuple[SourceRows, list[ReleasedFile], ReaderQuestion]:
    """Return what the routes take of a table: cells and values as codes, hidden cells as a kind of their own."""
    attributes, rows = table["source"]["attributes"], table["source"]["rows"]
    values = {a: [r[i] for r in rows] for i, a in enumerate(attributes)}
    codes = {a: _codes(v) for a, v in values.items()}
    same: dict[str, str] = {}
    for one, other in combinations(attributes, 2):
        if one not in same and values[one] == values[other]:
            same.setdefault(other, one)
    subject = table["subject"]
    unit = codes[subject] if subject else np.arange(len(rows))
    source = SourceRows(codes, unit, np.ones(len(rows), dtype=np.int64), subject or "")
    question = ReaderQuestion(
        tuple(dict.fromkeys(same.get(a, a) for a in table["grouping"])),
        same.get(table["sensitive"], table["sensitive"]) or "",
        table["nulls"],
    )
    return source, [_built_file(f, values, same) for f in table["files"]], question


def _codes(cells: list[Any], known: dict[Any, int] | None = None) -> np.ndarray:
    """Number cells; those in ``known`` have its numbers, and others none of these."""
    numbers = dict(known or {})
    first = 1000 * bool(known)
    return np.array(
        [MISSING if c is None else numbers.setdefault(c, first + len(numbers)) for c in cells], dtype=np.int64
    )


def _built_file(file: Table, values: dict[str, list[Any]], same: dict[str, str]) -> ReleasedFile:
    of = [o if isinstance(o, list) else [o] for o in file["of"]]
    gone = file.get("absent", [])
    place = np.full(len(next(iter(values.values()))), -1)
    for i, behind in enumerate([*of, *([k] for k in gone)]):
        place[behind] = i
    columns: list[ReleasedColumn] = []

    def add(name: str, cells: Any, carries: Any, **more: Any) -> None:
        padded = np.concatenate([np.asarray(cells, dtype=np.int64), np.full(len(gone), NO_CELL)])
        columns.append(ReleasedColumn(name, padded, frozenset(same.get(a, a) for a in carries), **more))

    for c in file["columns"]:
        kind, carries = CellKind(c["kind"]), c["carries"]
        of_source = kind in (CellKind.EXCHANGED, CellKind.NOISY) and len(carries) == 1
        known = dict(zip(values[carries[0]], _codes(values[carries[0]]).tolist(), strict=True)) if of_source else None
        cells = _codes(c["cells"], {v: n for v, n in known.items() if v is not None} if known else None)
        hidden = c.get("hidden")
        if hidden:
            gone_cells = np.array([v == "*" for v in c["cells"]])
            beside = set(hidden["carries"]) - {hidden.get("sensitive")}
            add(c["name"], np.where(gone_cells, NO_CELL, cells), {*carries, *beside}, kind=kind)
            add(
                c["name"],
                np.where(gone_cells, cells, NO_CELL),
                hidden["carries"],
                kind=kind,
                hidden_for=hidden.get("requirement", ""),
            )
        else:
            add(c["name"], cells, carries, kind=kind, key=c.get("key", ""))
        if kind is CellKind.KEYED and not file.get("sampled"):
            add(f"rows {c['name']}", np.bincount(cells + 1)[cells + 1], carries, virtual=True)
    for a, every in values.items() if not file.get("shuffled", True) else ():
        runs = [v for v, _ in groupby(every)]
        if len(runs) == len(set(every)) < len(every):
            add(f"place {a}", [runs.index(every[behind[0]]) for behind in of], [a], virtual=True)
    by_one_draw: tuple[frozenset[str], ...] = ()
    if file.get("moved"):
        one, other = (next(c for c in file["columns"] if c["name"] == n) for n in file["moved"])
        moved = _codes([x - y for x, y in zip(one["cells"], other["cells"], strict=True)])
        add("difference", moved, [*one["carries"], *other["carries"]], virtual=True)
        by_one_draw = (frozenset(same.get(a, a) for c in (one, other) for a in c["carries"]),)
    decided = file.get("present")
    if decided is not None:
        there = np.repeat([1, 0], [len(of), len(gone)])
        attributes = frozenset(same.get(a, a) for a in decided)
        columns.append(ReleasedColumn("present", there, attributes, virtual=True))
        decided = attributes
    return ReleasedFile(
        file["name"],
        place,
        tuple(columns),
        np.repeat([False, True], [len(of), len(gone)]),
        decided,
        file.get("sampled", False),
        file.get("table", ""),
        frozenset(file.get("refers", ())),
        by_one_draw,
    )
