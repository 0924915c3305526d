"""The code tables and sizes of the authors' program, on its own files (items ordered as in them)."""

from __future__ import annotations

import pytest

from ppdm_flow.mining.itemsets.mine import mine
from ppdm_flow.mining.krimp.compress import krimp, slim

IRIS = """0 3 6 7 8 (37,37); 0 6 7 8 11 (5,5); 3 4 9 10 12 (1,1); 3 6 7 8 (8,45); 2 5 10 11 (26,26); 1 4 9 13 (21,21);
1 4 9 15 (16,16); 1 4 9 11 (8,8); 2 3 5 10 (6,6); 2 5 10 (12,44); 1 2 4 (4,4); 1 2 5 (4,4); 1 5 9 (2,2)"""
SINGLES = {0: 25, 11: 4, 12: 32, 13: 7, 14: 26, 15: 9, 16: 14, 17: 10, 18: 2}

EXACT = [
    ("iris", 1, False, 543, 3_231, 1_475, 13),
    ("pima", 1, False, 28_845, 26_822, 9_143, 58),
    ("led7", 1, False, 15_250, 107_333, 30_625, 152),
    ("pageblocks", 1, False, 63_599, 217_453, 10_911, 53),
    ("nursery", 1, False, 307_591, 569_388, 258_898, 260),
    ("chessBig", 1, False, 373_421, 1_083_791, 667_630, 1_684),
    ("mushroom", 20, True, 109_304, 1_113_312, 277_931, 202),
    ("mushroom", 1, True, 238_709, 1_113_312, 274_220, 206),
]
UNPRUNED = [
    ("iris", 1_475, 13),
    ("led7", 31_544, 194),
    ("nursery", 261_144, 356),
    ("pima", 9_534, 72),
    ("chessBig", 681_472, 2_203),
]
SLIM = [("led7", 29_408), ("pima", 8_342), ("nursery", 251_466), ("mushroom", 208_207), ("chessBig", 622_946)]


def test_iris_to_the_unit(krimp_db):
    database = krimp_db("iris")
    table = krimp(database, mine(database, 1).in_candidate_order()).table
    lines = [
        f"{' '.join(map(str, items))} ({usage},{support})"
        for (items, support), usage in zip(table.itemsets, table.usages, strict=True)
    ]
    assert lines == [line.strip() for line in IRIS.replace("\n", " ").split(";")]
    assert {i: u for i, u in enumerate(table.singles.tolist()) if u} == SINGLES
    assert (round(table.sizes.data), round(table.sizes.table)) == (1116, 359)
    assert table.compression == pytest.approx(0.4823, abs=5e-5)


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(("name", "least", "closed", "mined", "start", "final", "used"), EXACT)
def test_exactly(krimp_db, name, least, closed, mined, start, final, used):
    database = krimp_db(name)
    candidates = mine(database, least, only_closed=closed)
    assert len(candidates) == mined
    table = krimp(database, candidates.in_candidate_order()).table
    assert abs(table.start.total - start) < 1
    assert abs(table.sizes.total - final) < 1
    assert table.non_singletons == used


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize(("name", "final", "used"), UNPRUNED)
def test_without_pruning(krimp_db, name, final, used):
    database = krimp_db(name)
    table = krimp(database, mine(database, 1).in_candidate_order(), pruning=False).table
    assert abs(table.sizes.total - final) < 1
    assert table.non_singletons == used


@pytest.mark.slow
def test_pendigits_within_two_percent(krimp_db):
    database = krimp_db("pendigits")
    candidates = mine(database, 50, only_closed=True)
    assert len(candidates) == 694_810
    table = krimp(database, candidates.in_candidate_order()).table
    assert table.sizes.total == pytest.approx(523_805, rel=0.005)
    assert table.non_singletons == pytest.approx(986, rel=0.005)


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize(("name", "bits"), SLIM)
def test_slim_within_two_percent(krimp_db, name, bits):
    assert slim(krimp_db(name)).table.sizes.total <= 1.02 * bits
