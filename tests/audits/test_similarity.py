"""The audit `similarity`: values that differ and are of one kind."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.registry import load

SPEC = load("audits", "similarity")
LEVELS = {
    "gastritis": ("stomach", "illness"),
    "ulcer": ("stomach", "illness"),
    "cancer": ("stomach", "illness"),
    "flu": ("lungs", "illness"),
    "bronchitis": ("lungs", "illness"),
    "burn": ("skin", "illness"),
}


def measured(case, hierarchy=None, changes=()):
    own = HierarchySpec(levels=tuple(LEVELS.items())) if hierarchy is None else hierarchy
    facts = dict(case.ctx.attributes)
    facts["s"] = AttributeFacts("s", Role.SENSITIVE, hierarchy=own, source="s", changes=changes)
    return SPEC.load()(SPEC.params()).measure(*case.but(attributes=facts).args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def release(build, secrets):
    table = {"p": [c for c, _ in secrets], "s": [s for _, s in secrets]}
    return build.case(table, table, "qs")


def test_a_diverse_class_of_stomachs(build):
    rows = [("x", "gastritis"), ("x", "ulcer"), ("x", "cancer"), ("y", "gastritis"), ("y", "flu"), ("y", "burn")]
    outcome = measured(release(build, rows))
    found = values(outcome)
    assert found["similar"] == found["s.similar"] == 0.5
    assert (found["similar_rows"], found["similar_classes"], found["same"]) == (3, 1, 0)
    assert found["by_chance"] == pytest.approx(4 / 20)  # of the 20 ways to deal three of six cells
    assert [f.code for f in outcome.findings] == ["PPF896"]
    assert "stomach" not in repr(outcome)


def test_a_safe_release(build):
    rows = [(c, s) for c in "xy" for s in ("gastritis", "flu", "burn")]
    outcome = measured(release(build, rows))
    assert not outcome.findings
    assert values(outcome)["similar"] == 0


def test_a_top_of_all_tells_nothing(build):
    """One level only, and on it everything is an illness."""
    flat = HierarchySpec(levels=tuple((v, ("illness",)) for v in LEVELS))
    outcome = measured(release(build, [("x", "flu"), ("x", "ulcer")]), flat)
    assert values(outcome)["similar"] is None
    assert not outcome.findings


def test_random_values_and_labels_are_no_facts(build):
    case = release(build, [("x", "flu"), ("x", "bronchitis")])
    assert not measured(case, changes=(("perturb", Change.PERTURBED),)).findings
    outcome = measured(release(build, [("x", "lungs"), ("x", "skin")]))
    assert outcome.figures["similar"].value is None
    assert "hierarchy" in outcome.figures["similar"].note


@examples(30)
@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from([*LEVELS, None, "⊥"])), min_size=1, max_size=15))
def test_against_one_class_at_a_time(build, rows):
    classes = defaultdict(list)
    for name, value in rows:
        classes[name].append(value)
    similar = [m for m in classes.values() if len({LEVELS.get(v, ((v,),))[0] for v in m}) == 1 and m[0] in LEVELS]
    found = values(measured(release(build, rows)))
    assert (found["similar_rows"] or 0) == sum(map(len, similar))
    assert (found["similar_classes"] or 0) == len(similar)


def test_no_rows(build):
    outcome = measured(build.case({"p": [], "s": []}, {"p": [], "s": []}, "qs"))
    assert all(f.value is not None or f.note for f in outcome.figures.values())
