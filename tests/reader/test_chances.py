"""Chances that rows of two files belong together, by both routes, beside a plain scaling of a table of rows."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.reader import chances
from ppdm_flow.reader.chances import UnscaledError, scaled
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.query import scaling
from ppdm_flow.reader.query.scaling import scaled_chances


def in_plain_words(
    pairs: list[tuple[int, int]], start: list[float], rows: list[int], others: list[int]
) -> list[float] | None:
    """Return the chances of pairs of kinds, row by row; the smaller file is filled up with rows that fit all."""
    if sum(rows) > sum(others):
        return in_plain_words([(j, i) for i, j in pairs], start, others, rows)
    left = [i for i, n in enumerate(rows) for _ in range(n)] + [-1] * (sum(others) - sum(rows))
    right = [j for j, n in enumerate(others) for _ in range(n)]
    chance = dict(zip(pairs, start, strict=True))
    matrix = np.array([[1.0 if i < 0 else chance.get((i, j), 0.0) for j in right] for i in left], dtype=float)
    at = np.arange(len(left))
    complete = [p for p in permutations(at) if (matrix[at, list(p)] > 0).all()]
    if not complete:
        return None
    possible = np.zeros(matrix.shape, dtype=bool)
    for p in complete:
        possible[at, list(p)] = True
    matrix *= possible
    for _ in range(3000):
        matrix /= matrix.sum(axis=1, keepdims=True)
        matrix /= matrix.sum(axis=0)
    return [float(matrix[left.index(i), right.index(j)]) for i, j in pairs]


def by_both_routes(pairs: list[tuple[int, int]], start: list[float], rows: list[int], others: list[int]) -> list[Any]:
    """Return the chances by each route, by the second one also with pairs that are known to belong together."""
    p, q = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    x, n, m = np.array(start, dtype=float), np.array(rows, dtype=np.int64), np.array(others, dtype=np.int64)
    return [scaled(p, q, x, n, m), scaled_chances(p, q, x, n.astype(float), m.astype(float), None)]


def agree(pairs: list[tuple[int, int]], start: list[float], rows: list[int], others: list[int]) -> list[float] | None:
    """Return the chances, the same by three ways."""
    expected = in_plain_words(pairs, start, rows, others)
    for found in by_both_routes(pairs, start, rows, others):
        if expected is None:
            assert found is None
        else:
            assert found.tolist() == pytest.approx(expected, abs=2e-3)
            assert [x == 0 for x in found] == [x == 0 for x in expected]
    return expected


def test_chances_of_rows_that_all_fit_are_equal() -> None:
    assert agree([(0, 0)], [0.5], [2], [4]) == [0.25]
    assert agree([(0, 0), (1, 0)], [1, 1], [2, 1], [3]) == pytest.approx([1 / 3, 1 / 3])


def test_a_pair_in_no_complete_pairing_has_no_chance() -> None:
    """The second row fits the first one only, so the first row does not belong to it."""
    assert agree([(0, 0), (0, 1), (1, 0)], [1, 1, 1], [1, 1], [1, 1]) == [0, 1, 1]
    assert agree([(0, 0), (1, 0)], [1, 1], [1, 1], [1, 1]) is None
    assert agree([(0, 0), (1, 0)], [1, 1], [1, 1], [1, 5]) is None


def test_chances_start_as_they_were_told() -> None:
    """Of two rows that fit both, one fits the first three times as well."""
    first, *_ = agree([(0, 0), (0, 1), (1, 0), (1, 1)], [1, 1, 1 / 9, 1], [1, 1], [1, 1]) or []
    assert first == pytest.approx(0.75, abs=1e-3)


def test_blocks_of_a_file_are_scaled_apart() -> None:
    """In the first block each fits each; in the second a row is lacking, so that what fits all takes part."""
    pairs = [(0, 0), (1, 1), (1, 2), (2, 2)]
    expected = agree(pairs, [1, 1, 1, 1], [1, 1, 1], [1, 2, 1])
    assert expected is not None
    assert expected[0] == pytest.approx(1)
    assert agree([*pairs, (3, 3)], [1, 1, 1, 1, 0.2], [1, 1, 1, 2], [1, 2, 1, 2]) == pytest.approx(
        [*expected, 0.5], abs=1e-3
    )


@pytest.mark.parametrize("seed", range(12))
def test_chances_of_random_files(seed: int) -> None:
    """Small files of two to four kinds of rows, of which some fit and start with some chance."""
    random = Random(seed)
    found = 0
    while found < 2:
        rows = [random.randint(1, 2) for _ in range(random.randint(2, 3))]
        others = [random.randint(1, 2) for _ in range(random.randint(2, 4))]
        if sum(others) > 6:
            continue
        pairs = [(i, j) for i in range(len(rows)) for j in range(len(others)) if random.random() < 0.6]
        if {i for i, _ in pairs} != set(range(len(rows))) or {j for _, j in pairs} != set(range(len(others))):
            continue
        found += agree(pairs, [random.choice([0.2, 0.5, 1]) for _ in pairs], rows, others) is not None


def test_pairs_that_belong_together_represent_a_complete_pairing() -> None:
    """The second route is given one where no file lacks rows, and then need not look for it."""
    pairs, rows = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)], np.array([1.0, 2.0, 1.0])
    p, q = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    x = np.array([1, 0.5, 0.5, 1, 0.3])
    told = scaled_chances(p, q, x, rows, rows, (np.array([0, 1, 2]), np.array([0, 1, 2])))
    assert told == pytest.approx(scaled_chances(p, q, x, rows, rows, None))
    fewer = scaled_chances(q, p, x, np.array([1.0, 3.0, 1.0]), rows, (np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2])))
    assert fewer == pytest.approx(scaled_chances(q, p, x, np.array([1.0, 3.0, 1.0]), rows, None))


SLOW: tuple[list[tuple[int, int]], list[float], list[int], list[int]] = (
    [(0, 0), (0, 1), (1, 0), (1, 1)], [1, 1, 1e-6, 1], [1, 1], [1, 1]
)  # fmt: skip
"""Takes about twenty passes until the sums are 1."""


@pytest.mark.parametrize("enough", [False, True])
def test_sums_that_do_not_come_to_one_are_not_verified(monkeypatch: pytest.MonkeyPatch, *, enough: bool) -> None:
    """After the last pass they have to be near 1."""
    for module in (chances, scaling):
        monkeypatch.setattr(module, "PASSES", 2)
        monkeypatch.setattr(module, "ENOUGH", 0.999 if enough else 1e-3)
    p, q = (np.array([pair[side] for pair in SLOW[0]]) for side in (0, 1))
    x, n = np.array(SLOW[1]), np.array(SLOW[2])
    if enough:
        assert all(found is not None for found in by_both_routes(*SLOW))
        return
    with pytest.raises(UnscaledError):
        scaled(p, q, x, n, n)
    with pytest.raises(NotVerifiedError):
        scaled_chances(p, q, x, n.astype(float), n.astype(float), None)


def test_what_fills_up_a_file_counts_among_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand rows come to nearly 1 at once; the lacking one, and so the chances of the other row, are far off."""
    monkeypatch.setattr(chances, "PASSES", 1)
    one, other, start = np.array([0, 0]), np.array([0, 1]), np.array([1, 1e-3])
    with pytest.raises(UnscaledError):
        scaled(one, other, start, np.array([1000]), np.array([1000, 1]))


@pytest.mark.parametrize("seed", range(5))
def test_both_routes_have_the_same_chances_where_rows_lack_in_several_blocks(seed: int) -> None:
    """One route fills up each block, the other all of them: near enough for either is not near enough for both."""
    draws = Random(seed)
    pairs = [(4 * b + i, 4 * b + j) for b in range(3) for i in range(4) for j in range(4) if (i + j) % 4 < 3]
    start = [draws.random() for _ in pairs]
    rows, others = [draws.randint(1, 3) for _ in range(12)], [draws.randint(3, 6) for _ in range(12)]
    one, again = by_both_routes(pairs, start, rows, others)
    assert one.tolist() == pytest.approx(again.tolist(), rel=TOLERANCE)
