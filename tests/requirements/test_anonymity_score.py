"""The audits `anonymity_score` and `blend`: a pandas twin, SQL, planted leaks, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.requirements.anonymity_score.algorithm import AnonymityScoreAudit
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore
from ppdm_flow.requirements.blend.algorithm import BlendAudit
from ppdm_flow.requirements.blend.requirement import AUDIT, Blend, BlendParams
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.table import Table

SCORE = AnonymityScoreAudit(load("audits", "anonymity_score").params())
BLEND = BlendAudit(BlendParams())
NAS = AnonymityScore.of("privacy.anonymity_score", max=0.5)
RARE = Blend.of("privacy.blend", min_support=SupportBound(count=3), max=0.1)
CELLS = st.sampled_from([None, "⊥", "", "a", "b"])


def tables(most: int = 14):
    return st.integers(0, most).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                **{name: st.lists(CELLS, min_size=n, max_size=n) for name in "pqr"},
                "w": st.lists(st.sampled_from(["0", "1", "2", "4"]), min_size=n, max_size=n),
            }
        )
    )


def frame(columns: Mapping[str, list], *, weighted: bool) -> pd.Series:
    """Rows with their supports."""
    data = pd.DataFrame({n: pd.Series(columns[n], dtype=object).fillna("\0missing") for n in "pqr"})
    data["w"] = [int(w) for w in columns["w"]] if weighted else 1
    found = data.groupby(["p", "q", "r"])["w"].sum()
    return found[found > 0]


def twin(before: pd.Series, after: pd.Series, below: int) -> dict[str, float]:
    both = pd.DataFrame({"o": before, "p": after}).fillna(0).astype(int)
    there = both[both.o > 0]
    shares = (there.p > 0).groupby(there.o).mean()
    score = (shares / shares.index).sum()
    highest = (1 / shares.index.to_series()).sum()
    rare = both[(both.p > 0) & (both.p < below)]
    hit = rare[(rare.o > 0) & (rare.o < below)]
    return {
        "nas": score / highest if len(there) else 0.0,
        "as": score,
        "as_of_original": highest,
        "distinct": len(there),
        "found": int((there.p > 0).sum()),
        "alone": int((there.o == 1).sum()),
        "alone_found": int(((there.o == 1) & (there.p > 0)).sum()),
        "share": hit.p.sum() / rare.p.sum() if rare.p.sum() else 0.0,
        "rare_released": int(rare.p.sum()),
        "rare_in_both": int(hit.p.sum()),
        "rare_original": int(there.o[there.o < below].sum()),
        "rare_original_found": int(there.o[(there.o < below) & (there.p > 0)].sum()),
    }


@pytest.mark.slow
@examples(20)
@given(before=tables(), after=tables(), weighted=st.booleans(), nulls=st.sampled_from(Nulls))
def test_twin_and_recheck(before, after, weighted, nulls, build, agree):
    """Missing and suppressed cells are values of their own under every null semantics."""
    names = "pqrw" if weighted else "pqr"
    example = build.case(
        {n: before[n] for n in names},
        {n: after[n] for n in names},
        "qqqw" if weighted else "qqs",
        paired=False,
        nulls=nulls,
        requirements=(NAS, RARE),
    )
    found = agree(SCORE, example, least=7) | agree(BLEND, example, least=6)
    wanted = twin(frame(before, weighted=weighted), frame(after, weighted=weighted), 3)
    for name, value in wanted.items():
        kind = "anonymity_score" if f"privacy.anonymity_score.{name}" in found else "blend"
        assert found[f"privacy.{kind}.{name}"] == pytest.approx(value, rel=1e-12), name


def people(rows: int, seed: int) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    return {n: [str(v) for v in rng.geometric(0.2, rows)] for n in "abcd"}


def measured(audit, example):
    (result,) = audit.measure(*example.args).measured
    return result


@pytest.mark.slow
def test_copies_are_found(build, agree):
    data = people(300, 1)
    example = build.case(data, data, "qqqq", requirements=(NAS, RARE))
    assert agree(SCORE, example)["privacy.anonymity_score.nas"] == 1.0
    assert agree(BLEND, example)["privacy.blend.share"] == 1.0
    assert measured(SCORE, example).figure.value > NAS.max
    assert {f.code for f in SCORE.measure(*example.args).findings} == {"PPF852"}
    assert {f.code for f in BLEND.measure(*example.args).findings} == {"PPF853"}


@pytest.mark.slow
def test_strangers_are_not_found(build, agree):
    data = people(300, 1)
    other = {n: [f"x{v}" for v in values] for n, values in people(300, 2).items()}
    example = build.case(data, other, "qqqq", requirements=(NAS, RARE))
    assert agree(SCORE, example)["privacy.anonymity_score.nas"] == 0.0
    assert agree(BLEND, example)["privacy.blend.share"] == 0.0
    assert not SCORE.measure(*example.args).findings
    assert not BLEND.measure(*example.args).findings


@pytest.mark.slow
def test_one_planted_row_is_found(build, agree):
    """A single rare original row among strangers."""
    data = people(300, 1)
    other = {n: [*(f"x{v}" for v in values), "q"] for n, values in people(300, 2).items()}
    data = {n: [*values, "q"] for n, values in data.items()}
    example = build.case(data, other, "qqqq", requirements=(NAS, RARE))
    found = agree(SCORE, example) | agree(BLEND, example)
    assert found["privacy.anonymity_score.alone_found"] == 1
    assert found["privacy.anonymity_score.nas"] > 0
    assert found["privacy.blend.rare_in_both"] == 1
    assert "1 of" in SCORE.measure(*example.args).findings[0].text


def test_a_rare_row_that_is_made_frequent_is_told(build, agree):
    """`blend` bounds rows that are rare on both sides; the finding counts this one too."""
    data = {"a": ["x"] * 50 + ["q"]}
    example = build.case(data, {"a": ["q"] * 40 + ["x"] * 10}, "q", requirements=(RARE,))
    found = agree(BLEND, example)
    assert found["privacy.blend.share"] == 0.0
    assert found["privacy.blend.from_rare"] == 40
    assert found["privacy.blend.rare_original_found"] == 1
    assert BLEND.measure(*example.args).findings[0].code == "PPF853"


def test_the_support_as_a_ratio_is_one_of_each_table(build, agree):
    data = {"a": ["x"] * 90 + ["y"] * 10}
    release = {"a": ["x"] * 9 + ["y"]}
    tight = Blend.of("privacy.blend", min_support=SupportBound(ratio=0.11), max=0.1)
    loose = Blend.of("privacy.blend", min_support=SupportBound(ratio=0.1), max=0.1)
    found = [agree(BLEND, build.case(data, release, "q", requirements=(r,))) for r in (tight, loose)]
    assert [f["privacy.blend.share"] for f in found] == [1.0, 0.0]
    assert [f["privacy.blend.rare_released"] for f in found] == [1, 0]


def test_renamed_columns_are_compared_and_others_left_out(build, agree):
    data = {**people(60, 1), "id": [str(i) for i in range(60)]}
    release = {"z": data["a"], "b": data["b"], "id": [str(i + 1) for i in range(60)]}
    roles = {"a": "q", "b": "s", "c": "q", "d": "q", "id": "i"}
    roles = {n: build.roles[r] for n, r in roles.items()}
    example = build.case(data, release, roles, sources={"z": "a", "b": "b", "id": "id"}, requirements=(NAS,))
    assert agree(SCORE, example)["privacy.anonymity_score.nas"] == 1.0
    assert "over 2 attributes" in measured(SCORE, example).sentence


def test_values_with_other_names_cannot_hide_rows(build, agree):
    data = people(60, 1)
    release = data | {"a": [f"[{v}]" for v in data["a"]]}
    changes = {"a": (("coarser", Change.GENERALIZED),)}
    example = build.case(data, release, "qqqq", changes=changes, requirements=(NAS, RARE))
    assert agree(SCORE, example)["privacy.anonymity_score.nas"] == 1.0
    assert "PPF854" in {f.code for f in SCORE.measure(*example.args).findings}
    assert "over 3 attributes" in measured(SCORE, example).sentence


@pytest.mark.parametrize("audit", [SCORE, BLEND])
def test_nothing_to_compare_is_not_safe(audit, build):
    data = {"a": ["x", "y"]}
    changes = {"a": (("names", Change.PSEUDONYMIZED),)}
    example = build.case(data, data, "q", changes=changes, requirements=(NAS,) if audit is SCORE else (RARE,))
    result = measured(audit, example)
    assert result.figure.value is None
    assert not result.verifiable
    assert audit.recheck(*example.args) == {}


def test_suppressed_cells_are_told(build):
    data = people(30, 1)
    example = build.case(
        data, data | {"a": ["⊥"] * 30}, "qqqq", changes={"a": (("hide", Change.SUPPRESSED),)}, requirements=(NAS,)
    )
    outcome = SCORE.measure(*example.args)
    assert outcome.figures["privacy.anonymity_score.nas"].value == 0.0
    assert [f.code for f in outcome.findings] == ["PPF855"]


def with_intervals(example, name: str = "age", edges: tuple[float, ...] = (0.0, 18.0, 65.0)):
    facts = dict(example.ctx.original_attributes)
    facts[name] = replace(facts[name], hierarchy=HierarchySpec(intervals=edges))
    return example.but(original_attributes=facts)


def test_intervals_are_a_second_level_and_the_worse_counts(build, agree):
    """Exactly no row is the same; by interval all are."""
    data = {"age": ["3", "20", "70", "many", None], "b": list("vwxyz")}
    release = {"age": ["4", " 60.5", "1e3", "many", None], "b": list("vwxyz")}
    example = with_intervals(build.case(data, release, "qq", requirements=(NAS, RARE)))
    found = agree(SCORE, example, least=15) | agree(BLEND, example, least=13)
    assert found["privacy.anonymity_score.exact.nas"] == pytest.approx(0.4)
    assert found["privacy.anonymity_score.intervals.nas"] == found["privacy.anonymity_score.nas"] == 1.0
    assert found["privacy.blend.exact.share"] == pytest.approx(0.4)
    assert found["privacy.blend.share"] == 1.0
    assert "numbers compared by interval" in measured(SCORE, example).sentence


def test_exact_copies_count_where_intervals_hide_them(build, agree):
    """By interval no row is rare; exactly each released row is somebody's."""
    data = {"age": [str(20 + i) for i in range(20)]}
    example = with_intervals(build.case(data, data, "q", requirements=(RARE,)))
    found = agree(BLEND, example)
    assert found["privacy.blend.intervals.share"] == 0.0
    assert found["privacy.blend.share"] == 1.0


def test_released_names_of_intervals_are_compared_with_the_numbers_in_them(build, agree):
    data = {"age": ["-1", "3", "20", "70", None, "⊥"], "b": list("uvwxyz")}
    release = {"age": ["< 0", "[0, 18)", "[18, 65)", ">= 65", None, "⊥"], "b": list("uvwxyz")}
    changes = {"age": (("coarser", Change.GENERALIZED),)}
    example = with_intervals(build.case(data, release, "qq", changes=changes, requirements=(NAS,)))
    assert agree(SCORE, example)["privacy.anonymity_score.nas"] == 1.0
    other = build.case(data, release | {"age": ["[-9, 65)"] * 6}, "qq", changes=changes, requirements=(NAS,))
    assert "PPF854" in {f.code for f in SCORE.measure(*with_intervals(other).args).findings}


@pytest.mark.slow
@examples(12)
@given(
    texts=st.lists(
        st.one_of(
            st.none(),
            st.floats(-1e3, 1e3).map(repr),
            st.sampled_from(
                ["0", "18", "17.9999999999999999", "1e2", " 5", "5\t", "65.", ".5", "+3", "--3", "[0, 18)"]
            ),
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
        ),
        min_size=1,
        max_size=20,
    ),
    half=st.integers(0, 20),
)
def test_both_routes_place_numbers_alike(texts, half, build, agree):
    example = build.case({"age": texts}, {"age": texts[half:]}, "q", requirements=(NAS, RARE))
    example = with_intervals(example, edges=(0.0, 0.1, 18.0, 65.0))
    agree(SCORE, example, least=15)
    agree(BLEND, example, least=13)


def test_an_audit_of_its_own_bears_no_prefix(build, agree):
    data = people(50, 1)
    example = build.case(data, people(50, 2), "qqqq")
    assert {"nas", "as", "found"} <= set(agree(SCORE, example))
    rare = BlendAudit(BlendParams(min_support=SupportBound(count=3)))
    assert {"share", "rare_released"} <= set(agree(rare, example))
    assert AUDIT.effect(BlendParams(), Scope("x", {}, ())).problems[0].code == "PPF202"
    assert not AUDIT.effect(rare.params, Scope("x", {}, ())).problems


def test_charts_are_bounded(build):
    example = build.case(people(3000, 1), people(3000, 2), "qqqq", requirements=(NAS, RARE))
    for audit in (SCORE, BLEND):
        (chart,) = audit.measure(*example.args).charts
        assert len(chart.x) <= 11
        assert all(0 <= y <= 1 for s in chart.series for y in s.y)


@pytest.mark.slow
def test_many_columns(build, agree):
    rng = np.random.default_rng(5)
    names = [f"c{i}" for i in range(120)]
    data = {n: [str(v) for v in rng.integers(0, 2, 40)] for n in names}
    release = {n: v[:25] for n, v in data.items()}
    example = build.case(Table.of(data), Table.of(release), "q" * 120, requirements=(NAS,))
    assert agree(SCORE, example)["privacy.anonymity_score.nas"] == pytest.approx(25 / 40)


def test_attribute_facts_without_a_source_name(build):
    data = {"a": ["x"]}
    example = build.case(data, data, "q", requirements=(NAS,))
    example = example.but(attributes={"a": AttributeFacts("a", Role.QUASI_IDENTIFIER)})
    assert measured(SCORE, example).figure.value == 1.0
