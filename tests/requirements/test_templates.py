"""The audit `templates`: the paper's example, a plain twin, SQL, and planted leaks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Nulls
from ppdm_flow.requirements.templates.algorithm import TemplatesAudit
from ppdm_flow.requirements.templates.requirement import InferenceTemplate, SensitiveChoice
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

AUDIT = TemplatesAudit(load("audits", "templates").params())
ID = "privacy.templates.t"
cells = st.sampled_from([None, "⊥", "a", "b"])
sensitive = st.sampled_from([None, "⊥", "h", "i", "j"])
tables = st.integers(0, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "p": st.lists(cells, min_size=n, max_size=n),
            "q": st.lists(cells, min_size=n, max_size=n),
            "s": st.lists(sensitive, min_size=n, max_size=n),
            "u": st.lists(sensitive, min_size=n, max_size=n),
            "w": st.lists(st.sampled_from(["0", "1", "2", "5"]), min_size=n, max_size=n),
        }
    )
)


def template(
    confidence: float = 0.5, channel=("p", "q"), values=(("s", "h"), ("s", "i"), ("u", "h")), **more
) -> InferenceTemplate:
    return InferenceTemplate.of(
        ID, "t", channel=tuple(channel), sensitive=by_attribute(tuple(values)), confidence=confidence, **more
    )


def twin(columns: dict, weights: list[int], nulls: Nulls, confidence: float, negated=False) -> dict[str, float]:
    """Row by row, in fractions."""

    def fits(a: tuple, b: tuple) -> bool:
        return all(y == x or (nulls is Nulls.WILDCARD and y is None) for x, y in zip(a, b, strict=True))

    rows = list(zip(columns["p"], columns["q"], columns["s"], columns["u"], weights, strict=True))
    rows = [r for r in rows if r[4] and not (nulls is Nulls.EXCLUDE and None in r[:2])]
    worst, beyond, hit, sizes = Fraction(0), 0, set(), [0]
    for group in {r[:2] for r in rows}:
        near = [r for r in rows if fits(group, r[:2])]
        sizes.append(sum(r[4] for r in near))
        for place, value in ((2, "h"), (2, "i"), (3, "h")):
            share = Fraction(sum(r[4] for r in near if (r[place] == value) != negated), sum(r[4] for r in near))
            worst = max(worst, share)
            if share > confidence:
                beyond += 1
                hit.add(group)
    return {
        "confidence": float(worst),
        "inferences": beyond,
        "violating_groups": len(hit),
        "violating_rows": sum(r[4] for r in rows if r[:2] in hit),
        "smallest_group": min(sizes[1:], default=0),
    }


@pytest.mark.slow
@examples(48)
@given(
    before=tables, after=tables, nulls=st.sampled_from(Nulls), weighted=st.booleans(), negated=st.booleans(),
    support=st.sampled_from([1, 3]),
)  # fmt: skip
def test_twin_and_recheck(before, after, nulls, weighted, negated, support, build, agree):
    names, roles = ("pqsuw", "qqssw") if weighted else ("pqsu", "qqss")
    example = build.case(
        {n: before[n] for n in names},
        {n: after[n] for n in names},
        roles,
        nulls=nulls,
        requirements=(template(negated=negated, min_support=support),),
        paired=False,
    )
    known = negated or (
        set(before["s"]) >= set(after["s"]) - {None, "⊥"} and set(before["u"]) >= set(after["u"]) - {None, "⊥"}
    )
    found = agree(AUDIT, example, least=8)
    for suffix, table in (("_before", before), ("", after)):
        if suffix == "" and not known:
            continue  # renamed values: tested below
        weights = [int(w) if weighted else 1 for w in table["w"]]
        for name, value in twin(table, weights, nulls, 0.5, negated).items():
            if support == 1 and name == "smallest_group":
                continue
            assert found[f"{ID}.{name}{suffix}"] == pytest.approx(value, abs=1e-12), name


PAPER = [
    ("Cook", "US", "No", "Current", 4),
    ("Artist", "France", "No", "Current", 4),
    ("Doctor", "US", "Yes", "Never", 6),
    ("Trader", "UK", "No", "Discharged", 4),
    ("Trader", "UK", "No", "Never", 1),
    ("Trader", "Canada", "No", "Never", 1),
    ("Clerk", "Canada", "No", "Never", 3),
    ("Clerk", "Canada", "No", "Discharged", 1),
]


def paper(hidden: set[str]) -> dict[str, list[str | None]]:
    job, country, child, bankruptcy, weight = zip(*PAPER, strict=True)
    return {
        "job": ["⊥" if v in hidden else v for v in job],
        "country": ["⊥" if v in hidden else v for v in country],
        "child": list(child),
        "bankruptcy": list(bankruptcy),
        "n": [str(w) for w in weight],
    }


def test_the_papers_table(build, agree):
    requirement = template(0.75, ("job", "country"), (("bankruptcy", "Discharged"),))
    hidden = paper({"Trader", "Clerk", "UK", "Canada"})
    example = build.case(paper(set()), hidden, "qqxsw", requirements=(requirement,))
    found = agree(AUDIT, example)
    assert found[f"{ID}.confidence_before"] == 0.8
    assert (found[f"{ID}.inferences_before"], found[f"{ID}.violating_rows_before"]) == (1, 5)
    assert found[f"{ID}.confidence"] == 0.5
    assert (found[f"{ID}.inferences"], found[f"{ID}.violating_rows"]) == (0, 0)
    every = build.case(paper(set()), paper({row[i] for row in PAPER for i in (0, 1)}), "qqxsw")
    every = every.but(requirements=(requirement,))
    assert agree(AUDIT, every)[f"{ID}.confidence"] == pytest.approx(5 / 24)


def test_the_unchanged_table_is_caught(build):
    requirement = template(0.75, ("job", "country"), (("bankruptcy", "Discharged"),))
    outcome = AUDIT.measure(*build.case(paper(set()), paper(set()), "qqxsw", requirements=(requirement,)).args)
    (measured,) = outcome.measured
    assert measured.figure.value == 0.8
    assert (measured.at_most, measured.bound) == (True, 0.75)
    assert "5 rows in 1 group allow" in measured.sentence
    assert "Trader" not in measured.sentence
    assert measured.metric in outcome.figures


def test_channel_attributes_that_are_not_released_drop_out(build, agree):
    before = {"p": ["a", "a", "b", "b"], "q": ["x", "y", "x", "y"], "s": ["h", "i", "i", "i"]}
    after = {"p": before["p"], "diagnosis": before["s"]}
    example = build.case(
        before, after, "qqs", sources={"diagnosis": "s"}, requirements=(template(values=(("s", "h"),)),)
    )
    found = agree(AUDIT, example)
    assert (found[f"{ID}.confidence_before"], found[f"{ID}.confidence"]) == (1.0, 0.5)
    nothing = build.case(before, {"s": before["s"]}, "qqs", requirements=(template(values=(("s", "h"),)),))
    assert agree(AUDIT, nothing)[f"{ID}.confidence"] == 0.25


def test_nothing_to_infer_where_the_sensitive_attribute_stays_home(build, agree):
    example = build.case(
        {"p": ["a"], "s": ["h"]}, {"p": ["a"]}, "qs", requirements=(template(channel=("p",), values=(("s", "h"),)),)
    )
    assert agree(AUDIT, example)[f"{ID}.confidence"] == 0.0
    assert "`s` is not released" in AUDIT.measure(*example.args).measured[0].sentence


def test_not_having_a_value_can_be_what_must_not_be_inferred(build):
    columns = {"p": ["a", "a", "b", "b"], "s": ["h", "i", "i", None]}
    requirement = template(0.6, ("p",), (("s", "h"),), negated=True)
    outcome = AUDIT.measure(*build.case(columns, columns, "qs", requirements=(requirement,)).args)
    (measured,) = outcome.measured
    assert measured.figure.value == 1.0
    assert "`s` ≠ `h`" in measured.sentence
    assert outcome.figures[f"{ID}.violating_rows"].value == 2


def test_a_new_name_is_not_the_value_that_a_negated_template_needs(build, agree):
    before = {"p": ["a", "a"], "s": ["h", "i"]}
    after = {"p": ["a", "a"], "s": ["X", "i"]}
    requirement = template(0.6, ("p",), (("s", "h"),), negated=True)
    assert agree(AUDIT, build.case(before, after, "qs", requirements=(requirement,)))[f"{ID}.confidence"] == 1.0


def test_a_support_is_judged_beside_the_confidence(build, agree):
    columns = {"p": ["a", "a", "b", "b", "b"], "s": ["h", "i", "i", "i", "i"]}
    requirement = template(0.6, ("p",), (("s", "h"),), min_support=3)
    example = build.case(columns, columns, "qs", requirements=(requirement,))
    confidence, support = AUDIT.measure(*example.args).measured
    assert (confidence.figure.value, confidence.bound, confidence.at_most) == (0.5, 0.6, True)
    assert (support.figure.value, support.bound, support.at_most) == (2, 3.0, False)
    assert support.metric == f"{ID}.smallest_group"
    assert agree(AUDIT, example)[support.metric] == 2


@pytest.mark.parametrize(("paired", "expected"), [(True, 0.5), (False, 1.0)])
def test_a_new_name_does_not_hide_a_value(build, agree, paired, expected):
    """h became X and i became Y: with pairs only X counts as h, without pairs both may be it."""
    before = {"p": ["a", "a", "b", "b"], "s": ["h", "i", "i", "h"]}
    after = {"p": before["p"], "s": ["X", "Y", "Y", "X"]}
    requirement = template(0.4, ("p",), (("s", "h"),))
    renamed = {"s": (("rename", Change.GENERALIZED),)}
    example = build.case(before, after, "qs", paired=paired, requirements=(requirement,), changes=renamed)
    assert agree(AUDIT, example)[f"{ID}.confidence"] == expected
    findings = AUDIT.measure(*example.args).findings
    assert [f.code for f in findings] == ([] if paired else ["PPF820", "PPF838"])
    assert all("X" not in f.text for f in findings)


def test_merging_into_a_harmless_value_hides_nothing(build, agree):
    """h became i, which means itself too: one of the two rows that show i was h, so i is h by a half."""
    before = {"p": ["a", "a", "b", "b"], "s": ["h", "i", "j", "j"]}
    after = {"p": before["p"], "s": ["i", "i", "j", "j"]}
    requirement = template(0.4, ("p",), (("s", "h"),))
    merged = {"s": (("coarsen", Change.GENERALIZED),)}
    example = build.case(before, after, "qs", requirements=(requirement,), changes=merged)
    assert agree(AUDIT, example)[f"{ID}.confidence"] == 0.5
    perturbed = {"s": (("perturb", Change.PERTURBED),)}
    example = build.case(before, after, "qs", requirements=(requirement,), changes=perturbed)
    assert not AUDIT.measure(*example.args).measured[0].verifiable
    negated = template(0.4, ("p",), (("s", "h"),), negated=True)
    example = build.case(before, after, "qs", requirements=(negated,), changes=merged)
    assert agree(AUDIT, example)[f"{ID}.confidence"] == 1.0


def test_a_misspelt_value_is_told(build):
    columns = {"p": ["a"], "s": ["h"]}
    example = build.case(columns, columns, "qs", requirements=(template(channel=("p",), values=(("s", "H"),)),))
    (finding,) = AUDIT.measure(*example.args).findings
    assert (finding.code, "`H`" in finding.text) == ("PPF821", True)


def test_a_template_whose_values_nobody_chose_does_not_hold(build):
    """Without values there would be nothing to infer: it is not measured, and what is not measured does not hold."""
    choice = SensitiveChoice(top=1, target="s", rarest=0.5)
    waiting = InferenceTemplate.of(ID, "t", channel=("p",), sensitive=choice, confidence=0.5)
    columns = {"p": list("aabb"), "s": list("hihi")}
    example = build.case(columns, columns, "qs", requirements=(waiting,))
    outcome = AUDIT.measure(*example.args)
    assert [m.figure.value for m in outcome.measured] == [None]
    assert AUDIT.recheck(*example.args) == {}


def test_exactly_the_threshold_holds(build):
    columns = {"p": ["a"] * 10, "s": ["h"] * 7 + ["i"] * 3}
    example = build.case(columns, columns, "qs", requirements=(template(0.7, ("p",), (("s", "h"),)),))
    assert AUDIT.measure(*example.args).figures[f"{ID}.inferences"].value == 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("hhi", {Nulls.OWN_CATEGORY: 1.0, Nulls.WILDCARD: 2 / 3, Nulls.EXCLUDE: 1.0}),
        ("hih", {Nulls.OWN_CATEGORY: 1.0, Nulls.WILDCARD: 2 / 3, Nulls.EXCLUDE: 1.0}),
        ("ihh", {Nulls.OWN_CATEGORY: 1.0, Nulls.WILDCARD: 1.0, Nulls.EXCLUDE: 0.0}),
    ],
)
def test_rows_with_a_missing_value_join_groups_that_do_not_join_theirs(build, agree, values, expected):
    """One row of `a` and two of a missing value: the latter are among themselves, the former among all three."""
    columns = {"p": ["a", None, None], "q": ["x", "x", "x"], "s": list(values)}
    requirement = template(0.6, ("p", "q"), (("s", "h"),))
    for nulls, share in expected.items():
        example = build.case(columns, columns, "qqs", nulls=nulls, requirements=(requirement,))
        assert agree(AUDIT, example)[f"{ID}.confidence"] == pytest.approx(share)


@pytest.mark.parametrize("nulls", list(Nulls))
def test_five_channel_columns(build, agree, nulls):
    """More columns than the second route splits by."""
    rng = np.random.default_rng(9)
    table = {}
    for name in "pqrxy":
        codes = rng.integers(0, 4, 300)
        table[name] = [None if c == 3 else "⊥" if c == 2 and name == "p" else f"{name}{c}" for c in codes]
    table["s"] = [f"s{c}" for c in rng.integers(0, 5, 300)]
    chosen = template(0.4, tuple("pqrxy"), (("s", "s0"), ("s", "s1"), ("s", "s4")))
    example = build.case(table, table, "qqqqqs", nulls=nulls, requirements=(chosen,))
    assert agree(AUDIT, example, least=8)[f"{ID}.inferences"] > 0


@pytest.mark.slow
def test_a_million_rows(build):
    rng = np.random.default_rng(5)
    widths = {"p": 60, "q": 40, "r": 30, "s": 12}
    columns = {
        n: Column(rng.integers(0, w, 1_000_000).astype(np.int32), Column.of([f"{v:02}" for v in range(w)]).categories)
        for n, w in widths.items()
    }
    table = Table(columns, np.arange(1_000_000))
    values = tuple(("s", f"{v:02}") for v in range(12))
    example = build.case(table, table, "qqqs", requirements=(template(0.9, ("p", "q", "r"), values),))
    counts = example.candidate.counts(("p", "q", "r", "s"))
    group, size = counts.groups(("p", "q", "r"))
    worst = (counts.counts / np.bincount(group, weights=counts.counts, minlength=size)[group]).max()
    assert AUDIT.measure(*example.args).figures[f"{ID}.confidence"].value == pytest.approx(worst)
