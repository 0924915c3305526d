"""Likeness of generated rows: 1 for the same tables, 0 for even ones, by plain counting in between."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.distributions.algorithm import DistributionsAudit
from ppdm_flow.core.attributes import Change
from ppdm_flow.sdk.registry import load

AUDIT = DistributionsAudit(load("audits", "distributions").params())


def figures(build, before, after, roles, **more):
    """Measure generated columns: the figures of likeness by name."""
    changes = dict.fromkeys(after, (("make", Change.GENERATED),))
    case = build.case(before, after, roles, changes=changes, paired=False, **more)
    return {name: f for name, f in AUDIT.measure(*case.args).figures.items() if "likeness" in name}


def plain(before, after, names, values):
    """Count the tables of each two columns, by a loop."""
    released = even = 0.0
    for pair in combinations(names, 2):
        mine, theirs = (Counter(zip(*(t[n] for n in pair), strict=True)) for t in (before, after))
        sizes = len(before[names[0]]), len(after[names[0]])
        cells = list(product(*(values[n] for n in pair)))
        released += sum(abs(mine[c] / sizes[0] - theirs[c] / sizes[1]) for c in cells)
        even += sum(abs(mine[c] / sizes[0] - 1 / len(cells)) for c in cells)
    return max(0.0, 1 - released / even)


TABLES = st.lists(st.tuples(*(st.sampled_from("abc") for _ in range(3))), min_size=4, max_size=20)


@examples(30)
@given(before=TABLES, after=TABLES)
def test_the_same_as_plain_counting(before, after, build):
    before = [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"), ("a", "a", "a"), *before]
    both = [{n: [row[i] for row in table] for i, n in enumerate("pqr")} for table in (before, after)]
    found = figures(build, *both, "qqq")
    expected = plain(*both, "pqr", dict.fromkeys("pqr", "abc"))
    assert found["pair_likeness"].value == pytest.approx(expected, abs=1e-12)


def test_equal_rows_in_another_order_are_alike_and_rows_with_originals_have_no_such_figure(build):
    dice = Random(1)
    table = {"p": [dice.choice("aab") for _ in range(60)], "n": [str(dice.randrange(90)) for _ in range(60)]}
    order = dice.sample(range(60), 60)
    mixed = {name: [cells[i] for i in order] for name, cells in table.items()}
    assert figures(build, table, mixed, "qq")["pair_likeness"].value == 1
    case = build.case(table, table, "qq")
    assert not [name for name in AUDIT.measure(*case.args).figures if "likeness" in name]


def test_what_hides_all_is_like_nothing(build):
    table = {"p": list("aaabbc"), "q": list("xxxxyy")}
    hidden = {"p": ["*"] * 6, "q": ["⊥"] * 6}
    found = figures(build, table, hidden, "qq")
    assert found["pair_likeness"].value == pytest.approx(0, abs=1e-12)
    assert found["p.likeness"].value == pytest.approx(0, abs=1e-12)


def test_independent_columns_are_less_alike_than_joined_ones(build):
    """Each column alone is as in the original: the tables of two tell the difference."""
    p, q = list("aaaaabbbbb"), list("xxxxxyyyyy")
    found = figures(build, {"p": p, "q": q}, {"p": p, "q": list("xyxyxyxyxy")}, "qq")
    assert found["pair_likeness"].value < 0.3


def test_one_column_is_compared_alone_and_an_even_one_not_at_all(build):
    found = figures(build, {"p": list("aaab")}, {"p": list("aabb")}, "q")
    assert found["pair_likeness"].value == pytest.approx(1 - 0.25 / 0.25)
    even = figures(build, {"p": list("aabb")}, {"p": list("aaab")}, "q")["pair_likeness"]
    assert even.value is None
    assert "not compared" in even.note
