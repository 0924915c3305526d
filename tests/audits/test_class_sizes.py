"""The audit `class_sizes`."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.class_sizes.algorithm import EDGES, ClassSizesAudit, bins
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope

SPEC = load("audits", "class_sizes")
AUDIT = ClassSizesAudit(SPEC.params())
rows = st.lists(st.tuples(*[st.sampled_from([None, "⊥", "a", "b"])] * 2), min_size=1, max_size=60)


@examples(25)
@given(rows)
def test_twin(build, rows):
    table = {n: list(column) for n, column in zip("pq", zip(*rows, strict=True), strict=True)}
    outcome = AUDIT.measure(*build.case(table, table, "qq").args)
    sizes = sorted(Counter(rows).values())
    found = {n: f.value for n, f in outcome.figures.items()}
    assert (found["classes"], found["smallest"], found["largest"]) == (len(sizes), sizes[0], sizes[-1])
    assert found["uniques"] == sizes.count(1)
    assert found["mean"] == pytest.approx(len(rows) / len(sizes))
    assert found["mean_of_a_row"] == pytest.approx(sum(s * s for s in sizes) / len(rows))
    by_class, by_row = outcome.charts
    assert sum(by_class.series[1].y) == len(sizes)
    assert sum(by_row.series[1].y) == len(rows)
    assert by_class.series[1].y[0] == sizes.count(1)


def test_bins():
    assert bins() == ("1", "2", "3–4", "5–9", "10–19", "20–49", "50–99", "100–999", "1,000+")
    assert len(bins()) == len(EDGES)


def test_before_and_after_and_weights(build):
    before = {"p": ["a", "b", "c"], "w": ["1", "4", "7"]}
    case = build.case(before, {"place": ["*", "*", "*"], "w": ["1", "4", "7"]}, "qw", sources={"place": "p"})
    outcome = AUDIT.measure(*case.args)
    assert outcome.figures["smallest"].value == 12
    original, released = outcome.charts[0].series
    assert original.y == (1, 0, 1, 1, 0, 0, 0, 0, 0)
    assert released.y == (0, 0, 0, 0, 1, 0, 0, 0, 0)


def test_chosen_attributes_and_no_rows(build):
    table = {"p": ["a", "a", "b"], "q": ["x", "y", "z"]}
    chosen = ClassSizesAudit(SPEC.params(attributes=("p",)))
    assert chosen.measure(*build.case(table, table, "qq").args).figures["classes"].value == 2
    empty = {"p": [], "q": []}
    found = AUDIT.measure(*build.case(empty, empty, "qq").args).figures
    assert (found["classes"].value, found["smallest"].value, found["smallest"].note) == (0, None, "there are no rows")


@pytest.mark.parametrize("name", ["class_sizes", "reidentification_risk"])
def test_unknown_attributes_at_compile_time(name):
    spec = load("audits", name)
    facts = {"place": AttributeFacts("place", Role.QUASI_IDENTIFIER, source="city")}
    scope = Scope("sizes", facts, ())
    assert not spec.effect(spec.params(attributes=("place", "city")), scope).problems
    assert not spec.effect(spec.params(), scope).problems
    (problem,) = spec.effect(spec.params(attributes=("city", "plce")), scope).problems
    assert (problem.code, problem.path, problem.hint) == ("PPF861", ("attributes", "1"), "did you mean `place`?")
