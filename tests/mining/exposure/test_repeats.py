"""Which original rows generated ones repeat: both routes against counting row by row."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.exposure.repeated import Repeats
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import Generation
from ppdm_flow.tables.table import Table

CELLS = st.sampled_from([None, "⊥", "a", "b", "c"])
ROWS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["1", "2", None]), st.sampled_from("0123")), max_size=14)
COARSE = {"a": "ab", "b": "ab"}


def table(names, rows, numbers=None):
    columns = {n: [row[i] for row in rows] for i, n in enumerate(names)}
    found = Table.of(columns)
    return found if numbers is None else Table(found.columns, np.asarray(numbers, dtype=np.int64))


def generation(build, source, read, made, released, **more):
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER, source=n) for n in "pqs"}
    return Generation(build.Pairs(made, released), build.Pairs(source, read), facts, facts, **more)


def twin(generated, learned, released, made, source):
    """(released cells, source values): rows, looking at every row of every class."""
    found = Counter()
    for cells in {released(row) for row in generated}:
        tuples = {made(row) for row in generated if released(row) == cells}
        for row, weight in learned:
            if made(row) in tuples:
                found[*cells, *source(row)] += weight
    return +found


def rows_of(counts):
    names = [[*c.to_pylist(), "⊥", None] for c in counts.categories]
    return {
        tuple(names[i][code] for i, code in enumerate(codes)): int(n)
        for codes, n in zip(counts.codes.tolist(), counts.counts.tolist(), strict=True)
    }


@examples(20)
@given(
    original=ROWS, made=ROWS, both=st.booleans(), told=st.booleans(), weighted=st.booleans(), share=st.booleans(),
    gone=st.integers(0, 3),
)  # fmt: skip
def test_both_routes_against_counting_row_by_row(original, made, both, told, weighted, share, gone, build):
    """The release shows `p` coarser; `q` as it is, or not at all; a step before the generator made `s` of the source
    into one value; some rows of the source never reached it, and others are held out."""
    numbers = np.arange(len(original))
    source = table("pqsw", original)
    read = table("pqs", [(p, q, "1") for p, q, _, _ in original], numbers).take(numbers >= gone)
    output = table("pqs", made)
    released = table("xyz", [(COARSE.get(p, p), q, s) for p, q, s, _ in made])
    holdout = Holdout(0.4) if share else None
    given_ = generation(build, source, read, output, released, holdout=holdout, weight="w" if weighted else None)
    columns, same = ("x", "y") if both else ("x",), ("p", "q") if both else ("p",)
    secret = ("s",) if told else ()
    repeats = Repeats(given_, ("y", "x"), ("q", "p"), ("s",))
    width = len(columns)
    kept = [
        (row, int(row[3]) if weighted else 1)
        for i, row in enumerate(original)
        if i >= gone and not (share and Holdout(0.4).held_out(np.array([i]))[0])
    ]
    expected = twin(
        made,
        kept,
        lambda r: (COARSE.get(r[0], r[0]), r[1])[:width],
        lambda r: r[:width],
        lambda r: r[2:3] if told else (),
    )
    counts = repeats.counts(columns, same, secret)
    assert rows_of(counts) == expected
    text, tables = repeats.relation(columns, same, secret)
    again = {tuple(row[:-1]): row[-1] for row in build.Sql({}).rows(text, (), tables)}
    assert again == expected
    text, tables = repeats.relation(columns, same, secret, known=columns)
    again = {tuple(row[:-1]): row[-1] for row in build.Sql({}).rows(text, (), tables)}
    assert again == {key: n for key, n in expected.items() if None not in key[:width]}


def test_no_grouping_column_at_all(build):
    made, original = [("a", "b", "1", "1")] * 3, [("c", "c", "2", "1")] * 5
    given_ = generation(build, table("pqsw", original), table("pqs", original), table("pqs", made), table("pqs", made))
    repeats = Repeats(given_, (), (), ("s",))
    assert rows_of(repeats.counts((), (), ("s",))) == {("2",): 5}
    assert rows_of(repeats.counts((), (), ())) == {(): 5}
    for secret, expected in (((), [(5,)]), (("s",), [("2", 5)])):
        text, tables = repeats.relation((), (), secret)
        assert build.Sql({}).rows(text, (), tables) == expected
    nothing = generation(build, table("pqsw", original), table("pqs", original), table("pqs", []), table("pqs", []))
    assert rows_of(Repeats(nothing, (), (), ("s",)).counts((), (), ("s",))) == {}


def test_a_class_that_merges_others_has_the_rows_of_all_of_them(build):
    """Case of the issue: copies of unique rows in large classes of generated ones."""
    original = [(f"p{i}", "x", "1", "1") for i in range(10)]
    made = original * 40
    whole = generation(build, table("pqsw", original), table("pqs", original), table("pqs", made), table("pqs", made))
    found = Repeats(whole, ("p",), ("p",), ()).counts(("p",), ("p",))
    assert found.counts.tolist() == [1] * 10
    coarse = table("pqs", [("any", *row[1:3]) for row in made])
    merged = generation(build, table("pqsw", original), table("pqs", original), table("pqs", made), coarse)
    assert Repeats(merged, ("p",), ("p",), ()).counts(("p",), ("p",)).counts.tolist() == [10]
