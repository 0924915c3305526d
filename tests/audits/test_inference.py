"""The audits `homogeneity` and `background_knowledge`: Bob, Carl, and everybody else against enumeration."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.audits.inference.people import holdings
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope

HEART = "Heart Disease"
PATIENTS = {
    "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
    "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
    "condition": [HEART] * 3 + ["Flu", HEART, "Cancer"] + [HEART, "Cancer", "Cancer"],
}
BOB = {"known": {"zip": "47678", "age": "27"}}
CARL = {"known": {"zip": "47673", "age": "36"}}
NO_HEART = {"condition": [HEART]}


def measured(name, case, **params):
    spec = load("audits", name)
    return spec.load()(spec.params(**params)).measure(*case.args)


def values(outcome):
    return {n: f.value for n, f in outcome.figures.items()}


def test_bob_has_heart_disease(build):
    case = build.case(PATIENTS, PATIENTS, "qqs", show_values=True)
    outcome = measured("homogeneity", case, targets={"bob": BOB, "carl": CARL})
    found = values(outcome)
    assert (found["certain_rows"], found["certain_classes"]) == (3, 1)
    assert found["certain"] == pytest.approx(1 / 3)
    assert (found["target.bob.condition.rows"], found["target.bob.condition.values"]) == (3, 1)
    assert (found["target.carl.condition.rows"], found["target.carl.condition.values"]) == (3, 2)
    assert [f.code for f in outcome.findings] == ["PPF892", "PPF892"]
    assert "`bob`" in outcome.findings[1].text
    assert f"({HEART})" in outcome.findings[1].text


def test_carl_has_cancer(build):
    case = build.case(PATIENTS, PATIENTS, "qqs", show_values=True)
    outcome = measured("background_knowledge", case, targets={"carl": {**CARL, "never": NO_HEART}})
    found = values(outcome)
    assert found["target.carl.condition.values"] == 1
    assert found["target.carl.condition.rows"] == 2
    assert found["certain"] == pytest.approx(6 / 9)
    assert found["certain_uninformed"] == pytest.approx(3 / 9)
    assert found["worst_posterior"] == found["worst_posterior_uninformed"] == 1
    assert [f.code for f in outcome.findings] == ["PPF893", "PPF893"]
    assert "(Cancer)" in outcome.findings[1].text


@pytest.mark.parametrize("name", ["homogeneity", "background_knowledge"])
def test_values_stay_closed(build, name):
    outcome = measured(name, build.case(PATIENTS, PATIENTS, "qqs"), targets={"bob": BOB})
    assert "Heart" not in repr(outcome)
    assert "476" not in repr(outcome)


def test_a_safe_release_tells_nothing(build):
    """Three values in each of three classes: nothing is certain, nor by ruling out one."""
    safe = {**PATIENTS, "condition": ["Flu", HEART, "Cancer"] * 3}
    case = build.case(safe, safe, "qqs")
    targets = {"bob": BOB, "carl": {**CARL, "never": NO_HEART}}
    for name in ("homogeneity", "background_knowledge"):
        outcome = measured(name, case, targets=targets)
        assert not outcome.findings
        assert values(outcome)["certain"] == 0
    assert values(outcome)["worst_posterior"] == 0.5


@pytest.mark.parametrize("name", ["homogeneity", "background_knowledge"])
def test_random_values_are_no_facts(build, name):
    """A class of one randomized value proves nothing of anybody."""
    changes = {"condition": (("perturb", Change.PERTURBED),)}
    outcome = measured(name, build.case(PATIENTS, PATIENTS, "qqs", changes=changes), targets={"bob": BOB})
    assert not outcome.findings
    assert "randomized" in outcome.figures["certain"].note


ROWS = st.lists(st.tuples(*[st.sampled_from("xy")] * 2, st.sampled_from(["a", "b", "c", None, "⊥"])), max_size=14)


@examples(45)
@given(ROWS, st.integers(0, 3))
def test_against_enumeration(build, rows, excluded):
    """Every class, every value, every set of others that may be ruled out."""
    table = {n: [r[i] for r in rows] for i, n in enumerate("pqs")}
    case = build.case(table, table, "qqs")
    groups = defaultdict(list)
    for row in rows:
        groups[row[:2]].append(row[2])
    certain, worst = 0, None
    for members in groups.values():
        tally = Counter(m for m in members if m in {"a", "b", "c"})
        sure = set()
        for value, own in tally.items():
            others = [v for v in tally if v != value]
            for size in range(min(excluded, len(others)) + 1):
                for out in combinations(others, size):
                    posterior = own / (len(members) - sum(tally[v] for v in out))
                    worst = max(worst or 0, posterior)
                    if posterior == 1:
                        sure.add(value)
        certain += sum(m in sure for m in members)
    found = values(measured("background_knowledge", case, excludes=excluded))
    assert found["worst_posterior"] == (None if worst is None else pytest.approx(worst))
    assert found["certain"] == (pytest.approx(certain / len(rows)) if rows else None)
    if excluded == 0:
        assert values(measured("homogeneity", case))["certain"] == found["certain"]


def test_what_chance_would_do(build):
    """Two classes of two rows, half the values a: for any value of a row, one of three others is like it."""
    table = {"p": ["x", "x", "y", "y"], "s": ["a", "b", "a", "b"]}
    case = build.case(table, table, "qs")
    assert holdings(case.candidate, ("p",), "s").certain_by_chance() == pytest.approx(1 / 3)


def test_what_chance_would_do_in_the_papers_table_4(build):
    """Three classes of three; five rows have heart disease, three cancer, one flu: (10 + 1) / 84."""
    table = {"p": [c for c in "abc" for _ in range(3)], "s": [*"hhhfhchcc"]}
    case = build.case(table, table, "qs")
    assert holdings(case.candidate, ("p",), "s").certain_by_chance() == pytest.approx(11 / 84)


@pytest.mark.parametrize("sizes", [(1, 2, 3), (2, 2), (4, 1)])
@pytest.mark.parametrize("secret", ["aabbcd", "aaa?bb", "aaaaaa"])
def test_chance_is_the_mean_over_all_ways_to_deal(build, sizes, secret):
    cells = [None if c == "?" else c for c in secret[: sum(sizes)]]
    groups = [place for place, size in enumerate(sizes) for _ in range(size)]
    table = {"p": list(map(str, groups)), "s": cells}
    expected = 0
    deals = list(permutations(cells))
    for deal in deals:
        for place, size in enumerate(sizes):
            members = {cell for cell, group in zip(deal, groups, strict=True) if group == place}
            expected += size * (len(members) == 1 and None not in members)
    case = build.case(table, table, "qs")
    found = holdings(case.candidate, ("p",), "s").certain_by_chance()
    assert found == pytest.approx(expected / len(deals) / len(cells))


@pytest.mark.parametrize("name", ["homogeneity", "background_knowledge"])
def test_without_a_secret_or_rows(build, name):
    for case in (
        build.case({"p": ["x"]}, {"p": ["x"]}, "q"),
        build.case({"p": [], "s": []}, {"p": [], "s": []}, "qs"),
        build.case({"s": ["a", "b"]}, {"s": ["a", "b"]}, "s"),
    ):
        outcome = measured(name, case, targets={"bob": {"known": {"p": "x"}}})
        assert all(f.value is not None or f.note for f in outcome.figures.values())


@pytest.mark.parametrize("name", ["homogeneity", "background_knowledge"])
def test_parameters_that_go_nowhere(name):
    spec = load("audits", name)
    facts = {"p": AttributeFacts("p", Role.QUASI_IDENTIFIER)}
    problems = spec.effect(spec.params(targets={"bob": {"known": {"pp": "1"}}}), Scope("", facts, ())).problems
    assert [(p.code, p.path) for p in problems] == [("PPF861", ("targets", "bob", "known", "pp")), ("PPF861", ())]
