"""The true rows are a guess for every release, and figures are what such guesses allow."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.reader import figures
from adversary.reader.cases import random_files, random_source, released, table
from adversary.reader.files import HiddenCells, NotVerified, lineage_violations, prepare
from adversary.reader.showing import Inquiry
from adversary.reader.view import ReaderView

pytestmark = pytest.mark.random(quick=1)


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(10))
def test_truth_is_a_guess_in_random_files(part: int) -> None:
    for number in range(25 * part, 25 * part + 25):
        outcome = measure(number)
        assert outcome in {"measured", "not verified"}, number


def measure(number: int) -> str:
    """Measure a random case; it raises `TruthExcluded` where the true rows are no guess."""
    draw = Random(number)
    people = draw.random() < 0.5
    known_rows = draw.choice((1, 1, 2)) if people else 1
    source = random_source(draw, draw.randint(4, 6 if known_rows > 1 else 9), people=people, extra=("x",))
    files = random_files(draw, source, ["a", "b", "x", "s", *(["person"] if people else [])], draw.choice((1, 2, 2, 3)))
    if known_rows > 1:
        files = files[:2]
    nulls = draw.choice(("own_category", "own_category", "exclude", "wildcard"))
    prepared = prepare(source, files, subject="person" if people else None)
    assert not lineage_violations(prepared)
    try:
        groups = figures.find_groups(prepared, "ab", "s", known_rows=known_rows, nulls=nulls)
    except NotVerified:
        return "not verified"
    for group in groups:
        weights = group.unit_weights()
        assert min(weights.values()) > 0
        assert 0 <= figures.share_of(group, figures.possible_values(group)) <= 1 + 1e-9
        for shares, _ in figures.distributions(group):
            assert sum(shares.values()) == pytest.approx(1)
    return "measured"


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("part", range(5))
def test_the_true_row_is_a_candidate(part: int) -> None:
    seen = Counter()
    for number in range(500 + 20 * part, 520 + 20 * part):
        draw = Random(number)
        source = random_source(draw, draw.randint(4, 8), extra=("x",))
        files = [f for f in random_files(draw, source, ["a", "b", "x", "s"], 2) if not f.sampled]
        if not files:
            continue
        prepared = prepare(source, files)
        try:
            view = ReaderView(Inquiry(prepared, "ab", "s"))
        except NotVerified:
            continue
        for group in view.groups():
            file = next(f for f in prepared.files if f.name == group.file)
            seen[file.index[group.sought] in {c.row for c in group.candidates}] += 1
    assert seen[True] > 100
    assert not seen[False]


def sizes(source: list, files: list, known: str = "ab", **more: object) -> int | None:
    return figures.smallest_size(figures.find_groups(prepare(source, files), known, **more))


FOUR = table("a b x", "a0 b0 1 | a0 b1 2 | a1 b0 3 | a1 b1 4")


def test_copies_under_other_names_and_functions_join_two_files() -> None:
    one = released("1", FOUR, {"a": "a", "x": "x"})
    doubled = ({"x"}, lambda row: row["x"] * 2)
    assert sizes(FOUR, [one, released("2", FOUR, {"b": "b", "y": doubled})]) == 1
    halves = ({"x"}, lambda row: row["x"] // 3)
    assert sizes(FOUR, [one, released("2", FOUR, {"b": "b", "y": halves})]) == 1
    assert sizes(FOUR, [one, released("2", FOUR, {"b": "b"})]) == 2


def test_pseudonyms_of_a_known_attribute_are_not_known() -> None:
    def keyed(key: str) -> tuple:
        return {"a"}, lambda row: f"{key}{row['a']}", {"kind": "keyed", "key": key}

    source = table("a b", "a0 b0 | a0 b0 | a1 b0 | a1 b0")
    assert sizes(source, [released("1", source, {"p": keyed("K"), "b": "b"})]) == 4
    assert sizes(source, [released("1", source, {"a": "a", "b": "b"})]) == 2


def test_missing_and_suppressed_cells_of_a_keyed_column_are_not_keyed() -> None:
    source = table("a b", "- b0 | a0 b0 | a0 b0 | a0 b0")
    column = {"a"}, lambda row: row["a"] and f"K{row['a']}", {"kind": "keyed", "key": "K"}
    assert sizes(source, [released("1", source, {"p": column, "b": "b"})]) == 1


def test_a_declared_function_links_what_it_determines() -> None:
    source = table("a b zip region", "a0 b0 z1 M | a0 b1 z2 N | a1 b0 z3 M | a1 b1 z4 N")
    files = [released("1", source, {"a": "a", "zip": "zip"}), released("2", source, {"b": "b", "region": "region"})]
    assert figures.smallest_size(figures.find_groups(prepare(source, files), "ab")) == 2
    determined = prepare(source, files, determines={"zip": ["region"]})
    assert figures.smallest_size(figures.find_groups(determined, "ab")) == 1


def test_linked_tables_join_by_a_shared_attribute_only() -> None:
    source = table("hospital result visit", "h0 r0 v1 | h0 r1 v2 | h1 r0 v3 | h1 r1 v4")
    visits = {"hospital": "hospital", "visit": "visit"}
    known = ["hospital", "result"]

    def measured(first: dict, second: dict) -> int | None:
        files = [
            released("visits", source, first, table="visits"),
            released("results", source, second, table="results", refers=("visits",)),
        ]
        return figures.smallest_size(figures.find_groups(prepare(source, files), known))

    assert measured(visits, {"result": "result", "visit": "visit"}) == 1
    assert measured({"hospital": "hospital"}, {"result": "result", "visit": "visit"}) == 2


def test_what_a_secret_chose_tells_it_and_what_a_known_attribute_chose_does_not() -> None:
    source = table("a n s", "a0 1 x | a0 2 x | a1 1 y | a1 2 x")

    def alpha(chooser: str, value: str) -> float | None:
        hidden = HiddenCells(frozenset({"n", chooser}))
        column = {"n"}, lambda row: "*" if row[chooser] == value else row["n"], {"hidden": hidden}
        return figures.largest_share(
            figures.find_groups(prepare(source, [released("1", source, {"a": "a", "n": column})]), "a", "s")
        )

    assert alpha("s", "x") == 1.0
    assert alpha("a", "a0") is None


def test_rows_left_out_by_the_secret_tell_it_beside_a_file_that_has_them() -> None:
    source = table("a s", "a0 x | a0 y | a0 y | a1 y | a1 y | a1 z")
    kept = released("1", source, {"a": "a"}, [1, 2, 3, 4, 5], absent=[0], present=["s"])
    register = released("2", source, {"a": "a"})
    alone = figures.find_groups(prepare(source, [kept]), "a", "s")
    beside = figures.find_groups(prepare(source, [kept, register]), "a", "s")
    assert figures.largest_share(alone) == pytest.approx(0.8)
    assert figures.largest_share(beside) == 1.0


def test_rows_in_one_order_belong_together_by_blocks() -> None:
    source = table("a b x", "a0 b0 1 | a1 b0 1 | a0 b1 2 | a1 b1 2")

    def measured(*, shuffled: bool) -> int | None:
        files = [released(n, source, {n: n}, shuffled=shuffled) for n in "ab"]
        return sizes(source, files)

    assert measured(shuffled=False) == 1
    assert measured(shuffled=True) == 2
