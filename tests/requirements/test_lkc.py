"""The audit `lkc`: against a plain twin, in SQL, and on a planted leak."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Nulls
from ppdm_flow.requirements.lkc import algorithm
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.sdk.registry import load

AUDIT = load("audits", "lkc").load()(load("audits", "lkc").params())
CELLS = st.sampled_from([None, "⊥", "a", "b"])
TABLES = st.integers(1, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {name: st.lists(CELLS, min_size=n, max_size=n) for name in "pqr"}
        | {"s": st.lists(st.sampled_from([None, "⊥", "1", "2", "3"]), min_size=n, max_size=n)}
    )
)


def twin(table, known, values, nulls):
    """(k, confidence) over every combination of at most ``known`` columns."""
    size, worst = [], [0.0]
    rows = list(zip(*(table[n] for n in "pqrs"), strict=True))

    def alike(a, b, chosen):
        return all(b[i] == a[i] or (nulls is Nulls.WILDCARD and b[i] is None) for i in chosen)

    for many in range(known + 1):
        for chosen in combinations(range(3), many):
            kept = [r for r in rows if not (nulls is Nulls.EXCLUDE and any(r[i] is None for i in chosen))]
            sized = [sum(alike(a, b, chosen) for b in kept) for a in kept]
            size.append(min(sized, default=0))
            told = [r for r in kept if not (nulls is Nulls.EXCLUDE and r[3] is None)]
            for a in told:
                fit = [b for b in told if alike(a, b, chosen)]
                worst.append(sum(b[3] in values for b in fit) / len(fit))
    return min(size), max(worst)


@pytest.mark.slow
@examples(20)
@given(table=TABLES, nulls=st.sampled_from(Nulls), known=st.integers(1, 3))
def test_twin_and_recheck(table, nulls, known, build, agree):
    requirement = LKC.of(
        "privacy.lkc", l=known, k=2, attributes=("p", "q", "r"), c=0.5, sensitive=by_attribute((("s", "1"), ("s", "2")))
    )
    found = agree(AUDIT, build.case(table, table, "qqqs", nulls=nulls, requirements=(requirement,)), least=2)
    k, confidence = twin(table, known, ("1", "2"), nulls)
    assert found["privacy.lkc.k"] == k
    assert found["privacy.lkc.confidence"] == pytest.approx(confidence)


def test_two_attributes_that_find_somebody(build):
    """Each attribute alone has 50 rows a value; two together find one row."""
    columns = {
        "p": ["a"] * 50 + ["b"] * 51,
        "q": ["x"] * 50 + ["y"] * 50 + ["x"],
        "r": ["1"] * 101,
        "s": ["flu"] * 100 + ["HIV"],
    }
    sensitive = (("s", "HIV"),)
    alone = LKC.of("privacy.lkc", l=1, k=50, attributes=("p", "q", "r"), c=0.5, sensitive=by_attribute(sensitive))
    outcome = AUDIT.measure(*build.case(columns, columns, "qqqs", requirements=(alone,)).args)
    assert [m.figure.value for m in outcome.measured] == [50, pytest.approx(1 / 51)]
    both = LKC.of("privacy.lkc", l=2, k=50, attributes=("p", "q", "r"), c=0.5, sensitive=by_attribute(sensitive))
    outcome = AUDIT.measure(*build.case(columns, columns, "qqqs", requirements=(both,)).args)
    assert [m.figure.value for m in outcome.measured] == [1, 1.0]
    assert [(m.bound, m.at_most) for m in outcome.measured] == [(50.0, False), (0.5, True)]
    assert "`p` and `q`" in outcome.measured[0].sentence
    assert "HIV" not in outcome.measured[1].sentence


def test_the_values_of_an_attribute_count_together(build, agree):
    """Half has the one and half the other: everybody has one of them."""
    columns = {"p": ["a"] * 4 + ["b"] * 4, "s": ["HIV", "syphilis"] * 2 + ["HIV", "syphilis", "flu", "flu"]}
    both = LKC.of(
        "privacy.lkc", l=1, k=2, attributes=("p",), c=0.5, sensitive=by_attribute((("s", "HIV"), ("s", "syphilis")))
    )
    assert agree(AUDIT, build.case(columns, columns, "qs", requirements=(both,)))["privacy.lkc.confidence"] == 1.0
    one = LKC.of("privacy.lkc", l=1, k=2, attributes=("p",), c=0.5, sensitive=by_attribute((("s", "HIV"),)))
    assert agree(AUDIT, build.case(columns, columns, "qs", requirements=(one,)))["privacy.lkc.confidence"] == 0.5


def test_the_values_of_two_attributes_do_not_count_together(build, agree):
    columns = {"p": ["a"] * 4, "s": ["HIV", "HIV", "flu", "flu"], "t": ["y", "n", "y", "n"]}
    requirement = LKC.of(
        "privacy.lkc", l=1, k=2, attributes=("p",), c=0.5, sensitive=by_attribute((("s", "HIV"), ("t", "y")))
    )
    found = agree(AUDIT, build.case(columns, columns, "qss", requirements=(requirement,)))
    assert found["privacy.lkc.confidence"] == 0.5


def test_nothing_sensitive_released(build, agree):
    columns = {"p": ["a", "a"], "s": ["1", "2"]}
    requirement = LKC.of("privacy.lkc", l=1, k=2, attributes=("p",), c=0.5, sensitive=by_attribute((("s", "1"),)))
    example = build.case(columns, {"p": columns["p"]}, "qs", requirements=(requirement,))
    assert agree(AUDIT, example)["privacy.lkc.confidence"] == 0.0
    assert "released" in AUDIT.measure(*example.args).measured[1].sentence
    plain = LKC.of("privacy.lkc", l=1, k=2, attributes=("p",))
    assert len(AUDIT.measure(*example.but(requirements=(plain,)).args).measured) == 1


def test_an_empty_release_does_not_pass(build, agree):
    requirement = LKC.of("privacy.lkc", l=1, k=2, attributes=("p",), c=0.5, sensitive=by_attribute((("s", "1"),)))
    example = build.case({"p": [], "s": []}, {"p": [], "s": []}, "qs", requirements=(requirement,))
    assert agree(AUDIT, example)["privacy.lkc.k"] == 0


def test_randomized_values_prove_nothing(build):
    columns = {"p": ["a", "a"], "s": ["1", "2"]}
    requirement = LKC.of("privacy.lkc", l=1, k=2, attributes=("p",), c=0.5, sensitive=by_attribute((("s", "1"),)))
    changes = {"s": (("perturb", Change.PERTURBED),)}
    outcome = AUDIT.measure(*build.case(columns, columns, "qs", changes=changes, requirements=(requirement,)).args)
    assert [m.verifiable for m in outcome.measured] == [True, False]
    assert [f.code for f in outcome.findings] == ["PPF880"]


def test_pictures_show_the_worst_knowledge_first(build):
    columns = {n: [str(i % m) for i in range(24)] for n, m in zip("abcdefg", (2, 3, 4, 2, 6, 2, 2), strict=True)}
    columns["s"] = ["1" if i % 4 == 0 else "2" for i in range(24)]
    requirement = LKC.of(
        "privacy.lkc", l=2, k=3, attributes=tuple("abcdefg"), c=0.5, sensitive=by_attribute((("s", "1"),))
    )
    example = build.case(columns, columns, "qqqqqqqs", requirements=(requirement,))
    outcome = AUDIT.measure(*example.args)
    rows, shares = outcome.charts
    assert rows.series[0].y[0] == outcome.figures["privacy.lkc.k"].value
    assert list(rows.series[0].y) == sorted(rows.series[0].y)
    assert len(rows.x) == 12
    assert "9 further combinations" in rows.note
    assert shares.series[0].y[0] == outcome.figures["privacy.lkc.confidence"].value
    assert list(shares.series[0].y) == sorted(shares.series[0].y, reverse=True)
    assert (rows.group, shares.group) == ("lkc", "lkc")


def test_what_releases_tell_together_is_bounded_from_above(build, monkeypatch):
    """Like the confidence of one release: a higher one is worse."""
    requirement = LKC.of("i", l=1, k=1, c=0.5, attributes=("p",), sensitive=by_attribute([("s", "v")]))
    columns = {"p": ["a", "b"], "s": ["v", "w"]}
    example = build.case(columns, columns, "qs", requirements=(requirement,))
    monkeypatch.setattr(algorithm, "together_confidence", lambda *_: (0.9, ("other",)))
    measured = {m.metric: m for m in AUDIT.measure(*example.args).measured}
    both = measured["i.confidence"], measured["i.together_confidence"]
    assert [(m.bound, m.at_most) for m in both] == [(0.5, True), (0.5, True)]
    assert both[1].figure.value == 0.9


@pytest.mark.parametrize("most", [1, 150, 1 << 19])
def test_sets_of_columns_share_queries(monkeypatch, most, build, agree):
    monkeypatch.setattr(algorithm, "_GROUPS", most)
    draw = np.random.default_rng(5)
    table = {name: [("a", "b", None)[v] for v in draw.integers(0, 3, 60)] for name in "pqr"}
    table["s"] = [str(v) for v in draw.integers(1, 4, 60)]
    requirement = LKC.of(
        "privacy.lkc", l=2, k=2, attributes=("p", "q", "r"), c=0.5, sensitive=by_attribute((("s", "1"), ("s", "2")))
    )
    found = agree(AUDIT, build.case(table, table, "qqqs", requirements=(requirement,)), least=2)
    assert (found["privacy.lkc.k"], found["privacy.lkc.confidence"]) == twin(table, 2, ("1", "2"), Nulls.OWN_CATEGORY)
