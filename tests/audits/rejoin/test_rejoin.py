"""The audit `rejoin`: two files, joined by their key and laid side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.api.explain.explain import explain
from ppdm_flow.audits.multisets import common_rows, expected_hits
from ppdm_flow.audits.rejoin.algorithm import RejoinAudit
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.audit import sibling
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table

SPEC = load("audits", "rejoin")
AUDIT = RejoinAudit(SPEC.params(other="illness", key="c"))


def pair(build, people, illness, original=None):
    """A release with class and age beside one with class and disease; rows of ``people`` pair with the original."""
    whole = original or {"a": people["a"], "d": illness["d"]}
    roles = {"a": Role.QUASI_IDENTIFIER, "d": Role.SENSITIVE, "c": Role.QUASI_IDENTIFIER}
    case = build.case({**whole, "c": people["c"]}, people, roles)
    other = build.view(illness, roles)
    tables = {"candidate": case.candidate.whole, "original": case.original.whole, sibling("illness"): other.whole}
    ctx = replace(case.ctx, siblings={"illness": other}, sql=build.Sql(tables))
    return replace(case, ctx=ctx)


PEOPLE = {"c": ["1", "1", "1", "2", "2"], "a": ["20", "21", "22", "30", "31"]}
ILLNESS = {"c": ["1", "1", "1", "2", "2"], "d": ["flu", "flu", "cold", "HIV", "HIV"]}


def test_by_hand(build, agree):
    found = agree(AUDIT, pair(build, PEOPLE, ILLNESS), least=3)
    assert found["posterior_bound"] == 1.0  # class 2 has one value
    assert found["homogeneous_rows"] == 2
    assert (found["joined_tuples"], found["spurious_tuples"]) == (9 + 4, 6 + 2)
    assert found["guessed"] == 4 / 5
    assert found["guessed_without"] == 2 / 5
    assert found["linked_by_order"] == 1.0  # unshuffled, and every record is of one person
    assert found["same_order"] == 1.0


def test_what_is_told(build):
    outcome = AUDIT.measure(*pair(build, PEOPLE, ILLNESS).args)
    assert [f.code for f in outcome.findings] == ["PPF889"]  # five rows in one order may be chance
    (chart,) = outcome.charts
    assert chart.series[0].y == (0, 0, 0, 0, 0, 0, 3, 0, 0, 2)


cells = st.sampled_from([None, "⊥", "a", "b", "c"])


@examples(20)
@given(
    st.lists(st.tuples(cells, cells), min_size=1, max_size=30),
    st.lists(st.tuples(cells, cells), min_size=1, max_size=30),
)
def test_twin(build, agree, mine, theirs):
    people = {"c": [r[0] for r in mine], "a": [r[1] for r in mine]}
    illness = {"c": [r[0] for r in theirs], "d": [r[1] for r in theirs]}
    case = pair(build, people, illness, {"a": people["a"], "d": ["a"] * len(mine)})
    found = agree(AUDIT, case, least=3)
    assert found["joined_tuples"] == sum(a[0] == b[0] for a in mine for b in theirs)
    by_class = {k: Counter(d for c, d in theirs if c == k) for k in {c for c, _ in theirs}}
    assert found["posterior_bound"] == pytest.approx(max(max(n.values()) / n.total() for n in by_class.values()))


def planted(rows: int, *, shuffle: bool):
    rng = np.random.default_rng(8)
    classes, disease = rng.integers(0, 20, rows), rng.integers(0, 6, rows)
    people = {"c": [f"{c}" for c in classes], "a": [f"{i}" for i in range(rows)]}
    order = rng.permutation(rows) if shuffle else np.arange(rows)
    illness = {"c": [people["c"][i] for i in order], "d": [f"{disease[i]}" for i in order]}
    return people, illness, {"a": people["a"], "d": [f"{d}" for d in disease]}


def test_an_unshuffled_pair_is_found(build):
    outcome = AUDIT.measure(*pair(build, *planted(400, shuffle=False)).args)
    assert "PPF887" in [f.code for f in outcome.findings]
    assert outcome.figures["linked_by_order"].value == 1.0


def test_a_shuffled_pair_raises_no_alarm(build):
    outcome = AUDIT.measure(*pair(build, *planted(400, shuffle=True)).args)
    assert [f.code for f in outcome.findings] == []
    assert outcome.figures["same_order"].value == pytest.approx(0.05, abs=0.06)
    assert outcome.figures["linked_by_order"].value == pytest.approx(1 / 6, abs=0.12)
    assert outcome.figures["guessed"].value < 0.4


def test_a_file_alone_is_not_measured(build):
    case = pair(build, PEOPLE, ILLNESS).but(siblings={})
    outcome = AUDIT.measure(*case.args)
    assert outcome.figures["posterior_bound"].value is None
    assert AUDIT.recheck(*case.args) == {}


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("xy")), min_size=1, max_size=12)
)
def test_expected_hits(rows):
    one = Table.of({"r": [r for r, _, _ in rows], "v": [v for _, v, _ in rows]})
    other = Table.of({"r": [r for r, _, _ in rows], "v": [v for _, _, v in rows]})
    expected = 0.0
    for record, _, true in rows:
        alike = [v for r, v, _ in rows if r == record]
        expected += alike.count(true) / len(alike)
    assert expected_hits(one, other, "v") == pytest.approx(expected)
    pairs = [Counter((r, row[i]) for r, *row in rows) for i in (0, 1)]
    assert common_rows(one, other) == (pairs[0] & pairs[1]).total()


@pytest.mark.parametrize(
    ("params", "codes"),
    [({"other": "b", "key": "c"}, []), ({"key": "c"}, ["PPF614"]), ({"other": "b", "key": "k"}, ["PPF861"])],
)
def test_problems(params, codes):
    scope = Scope("s", {"c": AttributeFacts("c", Role.QUASI_IDENTIFIER)}, ())
    assert [p.code for p in SPEC.effect(SPEC.params(**params), scope).problems] == codes


def test_every_figure_has_a_page(build):
    for name in AUDIT.measure(*pair(build, PEOPLE, ILLNESS).args).figures:
        assert explain(f"together.{name}").startswith(f"# {name}")
