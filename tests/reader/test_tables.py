"""Both routes beside each other and beside the oracle's brute force, on small tables of a source and its files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from adversary.reader.test_tables import measured

from tests.reader.by_group import are_near, by_first_route, by_second_route
from tests.reader.drawn import Table, drawn

TABLES = (
    "any 0", "nulls 3", "numbers 3", "keyed 2", "any 2", "numbers 6", "hidden 1", "nulls 6", "people 1", "sampled 5",
    "sampled 6", "numbers 5", "absent 5", "numbers 2", "sampled 1", "people 0", "any 5", "absent 2", "nulls 5",
    "nulls 1", "known 2", "mixed 3", "people 4", "nulls 4", "people 2", "linked 2", "order 4", "order 3", "linked 5",
    "known 4", "known 6",
)  # fmt: skip
"""Random tables that reach each line of both routes twice, and that take little time; the quickest ones first."""
STRICTER = {"linked 1", "keyed 2"}
"""Judged stricter than by the oracle: keyed cells of known attributes count as known, as they do in a single file."""


def judged(table: Table) -> dict[str, Any]:
    """Return the figures of a table, the same by both routes; each group of the one is among those of the other."""
    (first, by_group), (second, by_group_sql) = by_first_route(table), by_second_route(table)
    assert first == pytest.approx(second, abs=1e-3)
    assert are_near(by_group, by_group_sql), (by_group, by_group_sql)
    return first


def of_oracle(table: Table) -> dict[str, Any]:
    """Return the figures of the oracle, or that it does not account for the table."""
    figures, _ = measured({"bound": {}, **table})
    return {"verified": False} if figures is None else figures


@pytest.mark.random(quick=12)
@pytest.mark.parametrize("name", TABLES)
def test_random_tables_have_the_figures_of_the_oracle(name: str) -> None:
    family, seed = name.split()
    table = drawn(int(seed), family)
    found, wanted = judged(table), of_oracle(table)
    if name in STRICTER:
        assert not is_milder(found, wanted)
    else:
        assert found == pytest.approx(wanted, abs=1e-3)


def is_milder(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a figure promises more than the oracle's, or is there where the oracle has none."""
    if "verified" in found or "verified" in wanted:
        return "verified" not in found
    for name, figure in found.items():
        if (figure is None) != (wanted[name] is None):
            return True
        if figure is not None and (wanted[name] - figure if name == "alpha" else figure - wanted[name]) > 1e-3:
            return True
    return False


def test_files_of_one_secret() -> None:
    """Three people of one class, two of whom share a secret; a second file tells them apart."""
    rows = [[0, 0, 0, 0, "F"], [0, 1, 0, 0, "F"], [0, 0, 0, 0, "C"], [1, 1, 0, 0, "C"]]

    def as_is(name: str, at: int) -> Table:
        return {"name": name, "carries": [name], "kind": "map", "cells": [r[at] for r in rows]}

    files = [
        {"name": "one", "of": [0, 1, 2, 3], "columns": [as_is("a", 0), as_is("s", 4)]},
        {"name": "other", "of": [0, 1, 2, 3], "columns": [as_is("b", 1), as_is("s", 4)]},
    ]
    table = {
        "source": {"attributes": ["a", "b", "c", "x", "s"], "rows": rows},
        "files": files,
        "grouping": ["a", "b"],
        "sensitive": "s",
        "subject": None,
        "known_rows": 1,
        "nulls": "own_category",
    }
    assert judged(table) == {"k": 1, "l": 1, "alpha": 1.0, "posterior": 1.0}


def test_a_person_decided_which_rows_a_file_lacks() -> None:
    """One file has the first visit of each person, sorted by person; the other file has all visits."""
    rows = [["n", 0, "p"], ["n", 0, "p"], ["m", 0, "q"], ["m", 1, "q"]]

    def as_is(name: str, at: int, of: list[int]) -> Table:
        return {"name": name, "carries": [name], "kind": "map", "cells": [rows[i][at] for i in of]}

    first = {"name": "first", "of": [0, 2], "absent": [1, 3], "present": ["person"], "shuffled": False}
    first["columns"] = [as_is("a", 0, [0, 2]), as_is("s", 1, [0, 2])]
    every = {"name": "every", "of": [0, 1, 2, 3], "columns": [as_is("a", 0, [0, 1, 2, 3]), as_is("s", 1, [0, 1, 2, 3])]}
    table = {
        "source": {"attributes": ["a", "s", "person"], "rows": rows},
        "files": [first, every],
        "grouping": ["a"],
        "sensitive": "s",
        "subject": "person",
        "known_rows": 2,
        "nulls": "own_category",
    }
    assert judged(table)["k"] == 1


@pytest.mark.parametrize("beside", [False, True])
def test_a_class_id_over_known_and_other_attributes(*, beside: bool) -> None:
    """Who knows ``a`` takes either class of its value; beside the other attribute the numbers are not verified."""
    rows = [[0, 0], [0, 1], [1, 0], [1, 0]]
    classes = {"name": "class", "carries": ["a", "c"], "kind": "class_id", "cells": [0, 1, 2, 2]}
    other = {"name": "c", "carries": ["c"], "kind": "map", "cells": [c for _, c in rows]}
    table = {
        "source": {"attributes": ["a", "c"], "rows": rows},
        "files": [{"name": "file", "of": [0, 1, 2, 3], "columns": [classes, *([other] if beside else [])]}],
        "grouping": ["a"],
        "sensitive": None,
        "subject": None,
        "known_rows": 1,
        "nulls": "own_category",
    }
    expected = {"verified": False} if beside else {"k": 2, "l": None, "alpha": None, "posterior": 2.0}
    assert judged(table) == of_oracle(table) == expected
