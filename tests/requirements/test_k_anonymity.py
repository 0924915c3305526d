"""The audit `k_anonymity`: against a plain twin, in SQL, and on planted leaks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tiers import examples

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Nulls
from ppdm_flow.reader import compatible
from ppdm_flow.reader.compatible import compatible_sums
from ppdm_flow.requirements.k_anonymity.algorithm import KAnonymityAudit
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

AUDIT = KAnonymityAudit(load("audits", "k_anonymity").params())
cells = st.sampled_from([None, "⊥", "a", "b"])
tables = st.integers(0, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            **{name: st.lists(cells, min_size=n, max_size=n) for name in ("p", "q", "r")},
            "w": st.lists(st.sampled_from(["0", "1", "2", "5"]), min_size=n, max_size=n),
        }
    )
)


def twin(rows: list[tuple], weights: list[int], nulls: Nulls, k: int) -> dict[str, int]:
    """Row by row, as the definition says."""

    def fits(a: tuple, b: tuple) -> bool:
        return all(y == x or (nulls is Nulls.WILDCARD and y is None) for x, y in zip(a, b, strict=True))

    kept = [(r, w) for r, w in zip(rows, weights, strict=True) if w and not (nulls is Nulls.EXCLUDE and None in r)]
    sizes = [sum(w for other, w in kept if fits(row, other)) for row, _ in kept]
    return {
        "k": min(sizes, default=0),
        "rows_below": sum(w for (_, w), s in zip(kept, sizes, strict=True) if s < k),
        "uniques": sum(w for (_, w), s in zip(kept, sizes, strict=True) if s == 1),
        "classes": len({r for r, _ in kept}),
    }


def requirement(k: int = 3, attributes: tuple[str, ...] = ("p", "q", "r")) -> KAnonymity:
    return KAnonymity.of("privacy.k_anonymity", k=k, attributes=attributes)


@examples(25)
@given(table=tables, nulls=st.sampled_from(Nulls), weighted=st.booleans())
def test_twin_and_recheck(table, nulls, weighted, build, agree):
    roles = "qqqw" if weighted else "qqq"
    columns = {n: table[n] for n in "pqrw"[: len(roles)]}
    example = build.case(columns, columns, roles, nulls=nulls, requirements=(requirement(),))
    found = agree(AUDIT, example, least=7)
    rows = list(zip(table["p"], table["q"], table["r"], strict=True))
    weights = [int(w) if weighted else 1 for w in table["w"]]
    for name, value in twin(rows, weights, nulls, 3).items():
        assert found[f"privacy.k_anonymity.{name}"] == value, name
    for other in Nulls:
        assert found[f"privacy.k_anonymity.k_{other}"] == twin(rows, weights, other, 3)["k"]


@examples(20)
@given(st.data())
def test_compatible_sums(data):
    size = data.draw(st.integers(1, 40))
    width = data.draw(st.integers(0, 5))
    drawn = data.draw(
        st.lists(st.lists(st.integers(-2, 2), min_size=width, max_size=width), min_size=size, max_size=size)
    )
    codes = np.unique(np.array(drawn, dtype=np.int32).reshape(size, width), axis=0)
    values = np.arange(2 * len(codes), dtype=np.int64).reshape(-1, 2)
    fits = ((codes[:, None] == codes[None]) | (codes[None] == -1)).all(axis=2)
    assert np.array_equal(compatible_sums(codes, values), fits.astype(np.int64) @ values)


def test_the_kernel_is_its_plain_self():
    """The same code without compilation, on rows with many missing cells."""
    codes = np.unique(np.random.default_rng(1).integers(-2, 3, (120, 4)).astype(np.int32), axis=0)
    values = np.arange(len(codes), dtype=np.int64)[:, None]
    columns = np.ascontiguousarray(codes.T)
    crowds = []
    for kernel in (compatible.members, compatible.members.py_func):
        begins, found = np.zeros(len(codes) + 1, dtype=np.int64), np.zeros(2000, dtype=np.int32)
        last = kernel(columns, 0, begins, found)
        crowds.append((last, begins.tolist(), found.tolist()))
    assert crowds[0] == crowds[1]
    assert crowds[0][0] == len(codes)
    sums = [sum(values[j, 0] for j in crowds[0][2][a:b]) for a, b in itertools.pairwise(crowds[0][1])]
    assert sums == compatible_sums(codes, values)[:, 0].tolist()


@pytest.mark.parametrize("room", [1, 150, 1 << 22])
def test_crowds_in_any_room(monkeypatch, room):
    monkeypatch.setattr(compatible, "_MEMBERS", room)
    codes = np.unique(np.random.default_rng(2).integers(-2, 3, (120, 4)).astype(np.int32), axis=0)
    fits = ((codes[:, None] == codes[None]) | (codes[None] == -1)).all(axis=2).astype(np.int64)
    values = np.random.default_rng(3).integers(0, 3, (len(codes), 7))
    assert np.array_equal(compatible_sums(codes, values), fits @ values)
    assert np.array_equal(compatible.compatible_rows(codes, csr_array(values)).toarray(), fits @ values)


def test_the_second_route_in_chunks(monkeypatch, build, agree):
    monkeypatch.setattr("ppdm_flow.requirements.k_anonymity.algorithm.CHUNK_PAIRS", 5000)
    table = big(400, (5, 4, 3, 3, 2), 0.2)
    example = build.case(table, table, "qqqqq", nulls=Nulls.WILDCARD, requirements=(requirement(3, table.names),))
    agree(AUDIT, example, least=7)


def test_one_column_and_all_missing():
    assert compatible_sums(np.array([[-1], [0], [1]], dtype=np.int32), np.array([[1], [2], [4]])).tolist() == [
        [1],
        [3],
        [5],
    ]
    assert compatible_sums(np.array([[-1, -1]], dtype=np.int32), np.array([[3]])).tolist() == [[3]]
    assert compatible_sums(np.zeros((1, 0), dtype=np.int32), np.array([[3]])).tolist() == [[3]]


@pytest.mark.parametrize(
    ("rows", "k"),
    [
        ([("z", None), (None, "3")], 1),  # who is known to be (z, 5) fits one of them only
        ([("z", None), ("z", "3")], 1),
        ([("z", None), ("z", None), ("z", "3")], 2),
        ([(None, None), (None, None), ("z", None), (None, "3"), ("z", "3")], 2),
    ],
)
def test_a_persons_missing_value_may_be_one_that_no_other_row_has(build, agree, rows, k):
    columns = {name: list(cells) for name, cells in zip("pq", zip(*rows, strict=True), strict=True)}
    asked = (requirement(2, ("p", "q")),)
    example = build.case(columns, columns, "qq", nulls=Nulls.WILDCARD, requirements=asked)
    assert agree(AUDIT, example)["privacy.k_anonymity.k"] == k
    assert "no other row has" in AUDIT.measure(*example.args).measured[0].sentence


def test_a_single_planted_row_is_found(build):
    columns = {"p": ["a"] * 50 + ["b"] * 50 + ["b"], "q": ["x"] * 100 + ["y"]}
    example = build.case(columns, columns, "qq", requirements=(requirement(5, ("p", "q")),))
    outcome = AUDIT.measure(*example.args)
    (measured,) = outcome.measured
    assert (measured.figure.value, measured.bound, measured.at_most, measured.verifiable) == (1, 5.0, False, True)
    assert measured.metric == "privacy.k_anonymity.k"
    assert measured.metric in outcome.figures
    assert "1 of 101 rows" in measured.sentence
    assert not any(word in measured.sentence for word in ("x", "y") if f" {word} " in measured.sentence)


def test_renamed_and_dropped_attributes(build, agree):
    original = {"p": ["a", "a", "b"], "q": ["1", "2", "3"], "s": ["h", "h", "h"]}
    released = {"place": ["a", "a", "b"], "s": ["h", "h", "h"]}
    example = build.case(original, released, "qqs", sources={"place": "p"}, requirements=(requirement(2, ("p", "q")),))
    found = agree(AUDIT, example)
    assert found["privacy.k_anonymity.k"] == 1
    assert found["privacy.k_anonymity.classes"] == 2


def test_no_quasi_identifier_is_one_class(build, agree):
    example = build.case({"p": ["a", "b"], "s": ["h", "h"]}, {"s": ["h", "h"]}, "qs", requirements=(requirement(2),))
    assert agree(AUDIT, example)["privacy.k_anonymity.k"] == 2
    assert "No quasi-identifier" in AUDIT.measure(*example.args).measured[0].sentence


def test_an_empty_release_does_not_pass(build, agree):
    example = build.case({"p": []}, {"p": []}, "q", requirements=(requirement(2, ("p",)),))
    assert agree(AUDIT, example)["privacy.k_anonymity.k"] == 0


def test_excluded_rows_are_told(build, agree):
    columns = {"p": ["a", "a", None], "q": ["x", "x", "x"]}
    example = build.case(columns, columns, "qq", nulls=Nulls.EXCLUDE, requirements=(requirement(2, ("p", "q")),))
    found = agree(AUDIT, example)
    assert found["privacy.k_anonymity.k"] == 2
    assert found["privacy.k_anonymity.rows_left_out"] == 1
    outcome = AUDIT.measure(*example.args)
    assert "1 row with a missing value" in outcome.measured[0].sentence
    assert [f.code for f in outcome.findings] == ["PPF822"]


def test_suppressed_is_a_category_even_for_wildcards(build, agree):
    columns = {"p": ["⊥", "a", "a"]}
    example = build.case(columns, columns, "q", nulls=Nulls.WILDCARD, requirements=(requirement(2, ("p",)),))
    assert agree(AUDIT, example)["privacy.k_anonymity.k"] == 1


def big(rows: int, widths: tuple[int, ...], missing: float, seed: int = 3) -> Table:
    rng = np.random.default_rng(seed)
    columns = {}
    for i, width in enumerate(widths):
        codes = rng.integers(0, width, rows).astype(np.int32)
        codes[rng.random(rows) < missing] = -1
        columns[f"c{i}"] = Column(codes, Column.of([str(v) for v in range(width)]).categories)
    return Table(columns, np.arange(rows))


@pytest.mark.slow
def test_wildcards_on_many_combinations(build):
    table = big(30_000, (9, 8, 7, 6, 5, 5, 4, 4), 0.1)
    names = table.names
    example = build.case(table, table, "q" * 8, nulls=Nulls.WILDCARD, requirements=(requirement(2, names),))
    AUDIT.measure(*build.case({"c0": ["a", None]}, {"c0": ["a", None]}, "q", requirements=(requirement(),)).args)
    found = AUDIT.measure(*example.args).figures
    assert found["privacy.k_anonymity.k"].value > found["privacy.k_anonymity.k_own_category"].value - 1


def test_hundreds_of_quasi_identifiers(build, agree):
    """Grouped by a hash there: cells that would be written alike without their lengths stay apart."""
    names = tuple(f"c{i}" for i in range(100))
    columns = {name: ["x"] * 4 for name in names[:-2]}
    columns |= {names[-2]: ["1", "11", None, "11"], names[-1]: ["11", "1", "1", "1"]}
    example = build.case(columns, columns, "q" * 100, requirements=(requirement(2, names),))
    found = agree(AUDIT, example, least=7)
    assert found["privacy.k_anonymity.classes"] == 3
    assert found["privacy.k_anonymity.k_wildcard"] == 1
    assert found["privacy.k_anonymity.uniques"] == 2
    assert "`c9` and 90 more" in AUDIT.measure(*example.args).measured[0].sentence


def test_of_people_with_missing_cells_each_semantics_of_missing_cells_has_its_own_k(build):
    """Under each semantics of the policy, the figures of the others are those that they would find themselves."""
    before = {
        "person": ["1", "2", "3", "4", "5", "5", "6", "7"],
        "p": ["a", "a", "a", None, "b", "b", "b", "b"],
        "q": ["x", "x", "x", "x", "y", "y", None, "y"],
    }
    found = {}
    for nulls in Nulls:
        example = build.case(
            before,
            {name: before[name] for name in ("p", "q")},
            "uqq",
            nulls=nulls,
            requirements=(requirement(2, ("p", "q")),),
            people=PeopleCount("person", 1),
        )
        found[nulls] = AUDIT.measure(*example.args).figures
    for nulls in Nulls:
        own = found[nulls]["privacy.k_anonymity.k"].value
        assert {f[f"privacy.k_anonymity.k_{nulls}"].value for f in found.values()} == {own}
    assert found[Nulls.OWN_CATEGORY]["privacy.k_anonymity.k"].value == 1
    assert found[Nulls.EXCLUDE]["privacy.k_anonymity.k"].value == 2
