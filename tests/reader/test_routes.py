"""The two routes give equal figures for random tables."""

from __future__ import annotations

from typing import Any

import pytest

from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.figures import worst
from ppdm_flow.reader.query.figures import figures
from ppdm_flow.reader.query.groups import groups
from ppdm_flow.reader.view import views
from tests.reader.database import Database
from tests.reader.drawn import FAMILIES, Table, built, drawn


def figures_of(table: Table, route: str) -> dict[str, Any]:
    """Return the figures of one route, or that it does not account for the table."""
    try:
        if route == "first":
            return worst(views(*built(table), table["known_rows"]))
        database = Database()
        return figures(database, groups(database, *built(table), table["known_rows"]))
    except NotVerifiedError:
        return {"verified": False}


def test_routes_agree_on_files_of_one_secret() -> None:
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
    assert figures_of(table, "second") == {"k": 1, "l": 1, "alpha": 1.0, "posterior": 1.0}
    assert figures_of(table, "first") == figures_of(table, "second")


def test_routes_agree_where_a_person_decided_which_rows_a_file_lacks() -> None:
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
    assert figures_of(table, "second") == figures_of(table, "first")
    assert figures_of(table, "first")["k"] == 1


@pytest.mark.random(quick=3)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("family", FAMILIES)
def test_routes_agree_on_random_tables(family: str, seed: int) -> None:
    """Figures of each family of tables are equal by both routes."""
    table = drawn(seed, family)
    assert figures_of(table, "first") == pytest.approx(figures_of(table, "second"), abs=1e-3)
