"""Counts of values: numbers in intervals as the product puts them there."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

import pytest

from ppdm_flow.mining.hierarchies.building import by_number_or_rows
from ppdm_flow.mining.hierarchies.coarsening import UnplacedError
from ppdm_flow.mining.hierarchies.intervals import Intervals
from ppdm_flow.page.services.hierarchies.drafts import read_counts
from ppdm_flow.page.services.hierarchies.spread import as_edges, interval_levels, spread_of


def _counts(values):
    counts = Counter(values)
    return [(value, counts[value]) for value in by_number_or_rows(counts)]


def _spread(values):
    counts = _counts(values)
    return spread_of(counts, len(counts))


@pytest.mark.parametrize("seed", range(30))
def test_rows_of_intervals_are_those_that_the_product_labels_so(seed):
    dice = random.Random(seed)
    values = [f"{dice.choice((1, -1)) * dice.randint(0, 900) / dice.choice((1, 4, 10)):g}" for _ in range(300)]
    edges = as_edges([str(dice.randint(-300, 300) / 4) for _ in range(dice.randint(2, 7))])
    if len(edges) < 2:
        return
    spread = _spread(values)
    assert spread.exact
    open_ends = dice.choice(("none", "below", "above", "both"))
    made = interval_levels(edges, (2,), open_ends, spread)
    rungs = [Intervals(edges, "both")]
    labelled = Counter(rungs[0].labels(values))
    for each in made.levels[0]:
        assert each.rows == labelled[each.label]
    inside = sum(each.rows for each in made.levels[0])
    assert inside + made.outside == len(values) == sum(each.rows for each in made.levels[1]) + made.outside


def test_levels_without_data_have_labels_and_no_rows():
    made = interval_levels((0, 18, 65), (2,), "above", None)
    assert [[each.label for each in level] for level in made.levels] == [
        ["[0, 18)", "[18, 65)", ">= 65"],
        ["[0, 65)", ">= 65"],
    ]
    assert {each.rows for level in made.levels for each in level} == {None}
    assert (made.outside, made.fewest) == (None, None)


def test_bins_hold_every_row_and_the_suggestion_every_value():
    long = [f"{10**40 + n}" for n in (0, 1, 9)]  # more digits than decimals count with by themselves
    squares = [str(n * n) for n in range(500)]
    for values in (["17", "18", "90"], ["0.5", "0.25", "7"], ["-3", "-3"], ["5"], squares, long):
        spread = _spread(values)
        assert sum(rows for _, _, rows in spread.bins()) == len(values)
        assert len(spread.bins()) < 140
        edges = spread.suggestion()
        made = interval_levels(edges, (), "none", spread)
        assert made.outside == 0
        assert 1 <= len(edges) - 1 <= 12


def test_many_different_numbers_are_counted_between_some_of_them():
    values = [f"{n}.{n % 10}" for n in range(20_000)]
    spread = _spread(values)
    assert not spread.exact
    assert (spread.rows, spread.low, spread.high) == (20_000, Decimal("0.0"), Decimal("19999.9"))
    assert spread.below(Decimal(10_000)) == pytest.approx(10_000, abs=6)
    assert spread.below(Decimal(-1)) == 0
    assert spread.below(Decimal(30_000)) == 20_000


def test_edges_ascend_and_are_numbers():
    assert as_edges(["65", "0", "18", "18.0"]) == (0.0, 18.0, 65.0)
    assert as_edges(["-1e300", "1e-320", "1e300"]) == (-1e300, 1e-320, 1e300)
    for wrong in ("x", "", "nan", "inf", "1_0", "1e399", "-1e308"):
        with pytest.raises(UnplacedError):
            as_edges(["0", wrong])


@pytest.mark.parametrize("pieces", [1 << 20, 0])  # read in a loop, and as columns
def test_numbers_too_far_from_0_have_no_histogram_and_those_before_have_one(tmp_path, monkeypatch, pieces):
    monkeypatch.setattr("ppdm_flow.page.services.hierarchies.drafts._LARGE", pieces)
    file = tmp_path / "counts.csv"
    file.write_text("-1e308;1\n0;2\n1e308;1\n")
    assert read_counts(file, 10).spread is None
    file.write_text('-1e300;1\n0;2\n"1e300";1\n')
    spread = read_counts(file, 10).spread
    assert spread is not None
    assert sum(rows for _, _, rows in spread.bins()) == 4
    assert interval_levels(as_edges(["-1e300", "1e300"]), (), "above", spread).outside == 0


@pytest.mark.slow
def test_a_file_of_counts_is_read(tmp_path):
    file = tmp_path / "counts.csv"
    file.write_text('"a;b";3\n"line\nend";2\nc;1\n')
    counts = read_counts(file, 10)
    assert (counts.values, counts.rows, counts.spread) == (3, 6, None)
    assert counts.listed == {"a;b": 3, "line\nend": 2, "c": 1}
    assert read_counts(file, 2).listed is None
    file.write_text("".join(f"{n}.5;2\n" for n in range(200_000)))
    many = read_counts(file, 10)
    assert (many.values, many.rows, many.listed) == (200_000, 400_000, None)
    assert many.spread is not None
    assert many.spread == spread_of(((f"{n}.5", 2) for n in range(200_000)), 200_000)
    file.write_text("".join(f'"v;{n}";2\n' for n in range(100_000)))
    assert read_counts(file, 100_000).listed == {f"v;{n}": 2 for n in range(100_000)}
    assert read_counts(file, 10).spread is None
    file.write_text("1;5\n2;6\n10;1\n")
    numbers = read_counts(file, 10)
    assert numbers.spread is not None
    assert numbers.spread.below(Decimal(10)) == 11


def test_values_are_listed_up_to_some_bytes_whatever_their_number(tmp_path):
    file = tmp_path / "counts.csv"
    for letters, listed in ((10_000, True), (30_000, False)):
        file.write_text("".join(f"{'a' * letters}{n};2\n" for n in range(100)))
        counts = read_counts(file, 10_000)
        assert (counts.values, counts.rows, counts.listed is not None) == (100, 200, listed)
