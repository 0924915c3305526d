"""The requirement and the audit `special_uniques`: a plain twin, SQL, planted leaks and their harmless images."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.policy.language.kinds import spec_of
from ppdm_flow.requirements.special_uniques.requirement import FewUniques
from ppdm_flow.sdk.registry import load
from ppdm_flow.testing.requirement_case import BadEntry, RequirementCase
from ppdm_flow.testing.requirement_conformance import RequirementConformance

SPEC = load("audits", "special_uniques")
AUDIT = SPEC.load()(SPEC.params())
CELLS = st.sampled_from([None, "⊥", "a", "b", "c"])
TABLES = st.integers(1, 14).flatmap(
    lambda n: st.fixed_dictionaries({name: st.lists(CELLS, min_size=n, max_size=n) for name in "pqrs"})
)
SHARE = "privacy.special_uniques.share"


def few(size=3, max_share=0.0, attributes=("p", "q", "r", "s")):
    return FewUniques.of("privacy.special_uniques", size=size, max_share=max_share, attributes=attributes)


def measured(case, **params):
    return SPEC.load()(SPEC.params(**params)).measure(*case.args)


def unique_rows(rows, size, nulls):
    """How many rows some set of at most `size` columns singles out."""

    def alone(one, chosen):
        if nulls is Nulls.EXCLUDE and any(one[i] is None for i in chosen):
            return False
        known = [r for r in rows if nulls is not Nulls.EXCLUDE or all(r[i] is not None for i in chosen)]
        wild = nulls is Nulls.WILDCARD
        return sum(all(r[i] == one[i] or (wild and r[i] is None) for i in chosen) for r in known) == 1

    sets = [c for many in range(1, size + 1) for c in combinations(range(len(rows[0])), many)]
    return sum(any(alone(one, chosen) for chosen in sets) for one in rows)


class TestConformance(RequirementConformance):
    def case(self):
        return RequirementCase(
            spec_of("special_uniques"),
            (
                {"size": 2, "max_share": 0.2},
                {"size": 2, "max_share": 0.4},
                {"size": 1, "max_share": 0.4},
                {"size": 2, "max_share": 0.4, "attributes": ["age"]},
                {},
            ),
            bad=(BadEntry({"attributes": ["agee"]}, "agee"), BadEntry({"max_share": 1}, "max_share")),
        )


@examples(36)
@given(table=TABLES, nulls=st.sampled_from(Nulls), size=st.integers(1, 4))
def test_twin_and_recheck(table, nulls, size, build, agree):
    case = build.case(table, table, "qqqq", nulls=nulls, requirements=(few(size),))
    found = agree(AUDIT, case, least=2 + size)
    rows = list(zip(*table.values(), strict=True))
    assert found[SHARE] == pytest.approx(unique_rows(rows, size, nulls) / len(rows))


@pytest.mark.slow
@examples(20)
@given(table=TABLES, nulls=st.sampled_from(Nulls), data=st.data())
def test_a_weight_counts_as_so_many_rows(table, nulls, data, build, agree):
    length = len(table["p"])
    weights = data.draw(st.lists(st.integers(0, 2), min_size=length, max_size=length).filter(any))
    weighted = table | {"w": [str(w) for w in weights]}
    written_out = {n: [c for c, w in zip(cells, weights, strict=True) for _ in range(w)] for n, cells in table.items()}
    one = agree(AUDIT, build.case(weighted, weighted, "qqqqw", nulls=nulls, requirements=(few(),)), least=2)
    other = agree(AUDIT, build.case(written_out, written_out, "qqqq", nulls=nulls, requirements=(few(),)), least=2)
    assert one == other


CROWD = {"p": ["a", "b"] * 50, "q": ["x", "x", "y", "y"] * 25, "r": ["1", "2", "3", "4", "5"] * 20}


def test_a_planted_special_unique(build, agree):
    """Each value of the last row is frequent; two of them together are not. Every row more of its kind hides it."""
    crowd = {"p": ["a", "b"] * 50, "q": ["x"] * 50 + ["y"] * 50, "r": ["1", "1", "2", "2"] * 25, "s": ["m"] * 100}
    alone = {n: [*cells, v] for (n, cells), v in zip(crowd.items(), ("a", "y", "3", "m"), strict=True)}
    case = build.case(alone, alone, "qqqq", requirements=(few(2),))
    outcome = AUDIT.measure(*case.args)
    assert outcome.measured[0].figure.value == pytest.approx(1 / 101)
    assert "1 of 101 rows (0.99%) is singled out by at most 2 attributes of" in outcome.measured[0].sentence
    assert outcome.figures["privacy.special_uniques.rows_1"].value == 1
    twice = {n: [*cells, cells[-1]] for n, cells in alone.items()}
    assert agree(AUDIT, build.case(twice, twice, "qqqq", requirements=(few(2),)))[SHARE] == 0


def test_by_two_and_not_by_one(build, agree):
    rows = [("a", "x"), ("a", "x"), ("b", "y"), ("b", "y"), ("a", "y")]
    table = {"p": [r[0] for r in rows], "q": [r[1] for r in rows]}
    found = [agree(AUDIT, build.case(table, table, "qq", requirements=(few(s, 0.1, ("p", "q")),))) for s in (1, 2)]
    assert [f[SHARE] for f in found] == [0, pytest.approx(0.2)]


def test_renamed_and_composed_columns_count(build, agree):
    """A column of another name and role reveals its attribute; so does one that was made of two."""
    table = {"p": ["a", "a", "b", "b"], "q": ["x", "y", "x", "y"]}
    shown = {"z": [f"{p}{q}" for p, q in zip(table["p"], table["q"], strict=True)]}
    for sources, share in ((("p", "q"), 1.0), (("other",), 0.0)):
        facts = {"z": AttributeFacts("z", Role.INSENSITIVE, derived=Lineage(frozenset(sources)))}
        case = build.case(
            table, shown, "qq", sources={"z": "p"}, attributes=facts, requirements=(few(1, 0.0, ("p", "q")),)
        )
        assert agree(AUDIT, case)[SHARE] == share


def test_nothing_released_singles_out_nobody(build, agree):
    table = {"p": ["a", "b"], "s": ["1", "2"]}
    case = build.case(table, {"s": table["s"]}, "qs", requirements=(few(1, 0.0, ("p",)),))
    assert agree(AUDIT, case)[SHARE] == 0
    assert "released" in AUDIT.measure(*case.args).measured[0].sentence


def test_an_empty_release_does_not_pass(build):
    case = build.case({"p": []}, {"p": []}, "q", requirements=(few(1, 0.5, ("p",)),))
    assert [m.verifiable for m in AUDIT.measure(*case.args).measured] == [False]


def test_rows_that_miss_all_attributes_are_told(build, agree):
    table = {"p": [None, "a", "a"], "q": [None, None, "x"]}
    case = build.case(table, table, "qq", nulls=Nulls.EXCLUDE, requirements=(few(2, 0.5, ("p", "q")),))
    outcome = AUDIT.measure(*case.args)
    assert outcome.figures["privacy.special_uniques.rows_left_out"].value == 1
    assert {f.code for f in outcome.findings} == {"PPF822"}
    assert agree(AUDIT, case)[SHARE] == pytest.approx(1 / 3)


def test_figures_of_the_audit(build):
    """Scores by hand: four attributes, one row with a value of its own and one pair."""
    rows = [("a", "x", "1", "m"), ("a", "y", "1", "m"), ("b", "x", "1", "m"), ("b", "y", "2", "m")]
    rows += [("a", "x", "1", "m"), ("a", "y", "1", "m"), ("b", "x", "1", "m")]
    table = {n: [r[i] for r in rows] for i, n in enumerate("pqrs")}
    case = build.case(table, table, "qqqq")
    figures = {n: f.value for n, f in measured(case, sampling_fraction=0.1, threshold=0.05).figures.items()}
    assert figures["rows"] == figures["rows_1"] == 1
    assert figures["minimal_sets"] == 2
    assert figures["score_max"] == 8
    assert figures["score_mean"] == pytest.approx(8 / 7)
    assert figures["dis"] == pytest.approx(0.1 / (0.1 + 0.9 * 6))
    assert figures["dis_suda_max"] == pytest.approx(figures["dis"])
    assert figures["dis_suda_mean"] == pytest.approx(figures["dis"] / 7)
    assert figures["rows_above"] == 0
    assert {n: figures[f"{n}.contribution"] for n in "pqrs"} == {"p": 0.5, "q": 0.5, "r": 0.5, "s": 0}
    charts = measured(case).charts
    assert [c.id for c in charts] == ["special_uniques.by_size", "special_uniques.by_attribute"]


def test_the_audit_looks_at_named_attributes_by_either_name(build):
    table = {"p": ["a", "b", "b"], "q": ["x", "x", "x"]}
    case = build.case(table, table, "qs")
    assert measured(case, size=1).figures["rows"].value == 1
    assert measured(case, size=1, attributes=("q",)).figures["rows"].value == 0
    assert "p.contribution" in measured(case).figures
    assert "q.contribution" not in measured(case).figures


def test_no_value_is_told(build):
    table = {"p": ["secret-one", "b", "b"], "q": ["x", "y", "y"]}
    outcome = measured(build.case(table, table, "qq"))
    assert "secret" not in repr(outcome)
    assert "secret" not in repr(AUDIT.measure(*build.case(table, table, "qq", requirements=(few(2),)).args))


def test_changes_do_not_matter(build, agree):
    """Suppressed and generalized cells count as they are."""
    table = {"p": ["a", "b", "c"]}
    shown = {"p": ["⊥", "⊥", "c"]}
    changes = {"p": (("hide", Change.SUPPRESSED),)}
    case = build.case(table, shown, "q", changes=changes, requirements=(few(1, 0.5, ("p",)),))
    assert agree(AUDIT, case)[SHARE] == pytest.approx(1 / 3)
