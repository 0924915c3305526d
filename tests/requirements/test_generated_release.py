"""Requirements on releases of generated rows: counted by the original rows that these repeat, by both routes."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.registry import load
from ppdm_flow.sdk.view import Generation
from ppdm_flow.tables.table import Table

CELLS = st.sampled_from([None, "⊥", "a", "b", "c"])
VALUES = st.sampled_from(["1", "2", "3", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, VALUES), min_size=1, max_size=12)
COARSE = {"a": "ab", "b": "ab"}
QI = ("p", "q")
MADE = dict.fromkeys("pqs", (("generate", Change.GENERATED),))
REQUIREMENTS = (
    KAnonymity.of("r", k=2, attributes=QI),
    LDiversity.of("r", "s", l=2, attributes=QI),
    AlphaK.of("r", "s", alpha=0.5, attributes=QI),
    TCloseness.of("r", "s", t=0.3, attributes=QI),
    InferenceTemplate.of("r", "t", channel=QI, sensitive=by_attribute((("s", "1"),)), confidence=0.5, min_support=2),
    LKC.of("r", l=2, k=2, attributes=QI, c=0.5, sensitive=by_attribute((("s", "1"), ("s", "2")))),
)


def audit(requirement):
    spec = load("audits", requirement.kind)
    return spec.load()(spec.params())


def table(rows):
    return {n: [row[i] for row in rows] for i, n in enumerate("pqs")}


def example(build, original, made, requirement, nulls=Nulls.OWN_CATEGORY, learned=True, coarse=COARSE):
    """The release shows what was made, with `p` coarser."""
    released = [(coarse.get(p, p), q, s) for p, q, s in made]
    source, output, shown = (Table.of(table(rows)) for rows in (original, made, released))
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER, source=n) for n in "pqs"}
    pairs = build.Pairs(source, source) if learned else None
    found = Generation(build.Pairs(output, shown), pairs, facts, facts)
    return build.case(
        table(original), table(released), "qqs", paired=False, changes=MADE, nulls=nulls, requirements=(requirement,),
        generation=found,
    )  # fmt: skip


def fits(a, b, nulls):
    return all(y == x or (nulls is Nulls.WILDCARD and y is None) for x, y in zip(a, b, strict=True))


def classes(original, made, known, nulls):
    """(values of the generated rows, values of the original ones) of each class over the columns ``known``."""
    shown = [
        (tuple(COARSE.get(r[i], r[i]) if i == 0 else r[i] for i in known), tuple(r[i] for i in known), r[2])
        for r in made
    ]
    repeats = {}
    for cells, _, _ in shown:
        tuples = {m for c, m, _ in shown if c == cells}
        repeats[cells] = [r[2] for r in original if tuple(r[i] for i in known) in tuples]
    kept = [c for c in repeats if not (nulls is Nulls.EXCLUDE and None in c)]
    own = {c: [v for other, _, v in shown if other in kept and fits(c, other, nulls)] for c in kept}
    people = {c: [v for other in kept if fits(c, other, nulls) for v in repeats[other]] for c in kept if repeats[c]}
    return own, people


@pytest.mark.slow
@examples(20)
@given(original=ROWS, made=ROWS, nulls=st.sampled_from([Nulls.OWN_CATEGORY, Nulls.WILDCARD]))
def test_sizes_and_shares_against_a_plain_twin(original, made, nulls, build, agree):
    own, people = classes(original, made, (0, 1), nulls)
    both = [*own.values(), *people.values()]
    most = max(max(Counter(v).values()) / len(v) for v in both)
    new = {r[2] for r in made} - {r[2] for r in original} - {None}  # may hide any value
    expected = {
        "k_anonymity": ("k", min(map(len, people.values()), default=0)),
        "l_diversity": ("l", min(len(set(v)) for v in both)),
        "alpha_k": ("alpha", most),
        "templates": ("confidence", max(sum(x in {"1", *new} for x in v) / len(v) for v in both)),
    }
    for requirement in REQUIREMENTS:
        if requirement.kind not in expected:
            continue
        figure, value = expected[requirement.kind]
        case = example(build, original, made, requirement, nulls)
        found = agree(audit(requirement), case, least=4)
        assert found[f"r.{figure}"] == pytest.approx(value), requirement.kind
        if requirement.kind == "templates":
            assert found["r.smallest_group"] == expected["k_anonymity"][1]
    repeated = sum(len(v) for v in classes(original, made, (0, 1), Nulls.OWN_CATEGORY)[1].values())
    figures = audit(REQUIREMENTS[0]).measure(*example(build, original, made, REQUIREMENTS[0]).args).figures
    assert figures["r.repeated"].value == repeated
    nobodys = sum(len(v) for c, v in classes(original, made, (0, 1), Nulls.OWN_CATEGORY)[0].items() if c not in people)
    assert nulls is Nulls.WILDCARD or figures["r.rows_of_nobody"].value == nobodys


@pytest.mark.slow
@examples(20)
@given(original=ROWS, made=ROWS, nulls=st.sampled_from([Nulls.OWN_CATEGORY, Nulls.WILDCARD]), known=st.integers(1, 2))
def test_lkc_against_a_plain_twin(original, made, nulls, known, build, agree):
    requirement = LKC.of("r", l=known, k=2, attributes=QI, c=0.5, sensitive=by_attribute((("s", "1"), ("s", "2"))))
    sizes, shares = [], [0.0]
    for many in range(1, known + 1):
        for chosen in combinations((0, 1), many):
            own, people = classes(original, made, chosen, nulls)
            sizes += [len(v) for v in people.values()]
            shares += [sum(x in ("1", "2") for x in v) / len(v) for v in (*own.values(), *people.values())]
    found = agree(audit(requirement), example(build, original, made, requirement, nulls), least=2)
    assert found["r.k"] == min(sizes, default=0)
    assert found["r.confidence"] == pytest.approx(max(shares))


@pytest.mark.slow
@examples(12)
@given(original=ROWS, made=ROWS, nulls=st.sampled_from(Nulls))
def test_the_distance_of_both_tables_by_two_routes(original, made, nulls, build, agree):
    requirement = TCloseness.of("r", "s", t=0.3, attributes=QI)
    found = agree(audit(requirement), example(build, original, made, requirement, nulls), least=1)
    if nulls is not Nulls.OWN_CATEGORY:
        return
    worst = 0.0
    for every in classes(original, made, (0, 1), nulls):
        whole = Counter(v for values in every.values() for v in values)
        total = sum(whole.values())
        for values in every.values():
            mine = Counter(values)
            worst = max(worst, sum(abs(mine[v] / len(values) - whole[v] / total) for v in whole) / 2)
    assert found["r.t"] == pytest.approx(worst)


UNIQUE = [(f"p{i}", "x", "1") for i in range(12)]


@pytest.mark.parametrize(
    ("coarse", "k"), [({}, 1), ({f"p{i}": "any" for i in range(12)}, 12), ({f"p{i}": str(i % 2) for i in range(12)}, 6)]
)
def test_copies_of_unique_rows_in_large_classes(build, agree, coarse, k):
    """Each row of twelve people is generated forty times: k is of people, not of copies."""
    found = agree(audit(REQUIREMENTS[0]), example(build, UNIQUE, UNIQUE * 40, REQUIREMENTS[0], coarse=coarse))
    assert found["r.k"] == k
    outcome = audit(REQUIREMENTS[0]).measure(*example(build, UNIQUE, UNIQUE * 40, REQUIREMENTS[0], coarse=coarse).args)
    assert "12 original rows that they repeat" in outcome.measured[0].sentence


@pytest.mark.parametrize("requirement", [r for r in REQUIREMENTS if r.kind in ("k_anonymity", "lkc", "templates")])
def test_rows_that_nobody_has_find_nobody(build, agree, requirement):
    made = [("b", "y", "2"), ("c", "y", "3")]
    case = example(build, UNIQUE, made, requirement)
    agree(audit(requirement), case)
    assert audit(requirement).recheck(*case.args)["r.repeated"] == 0
    outcome = audit(requirement).measure(*case.args)
    sizes = [m for m in outcome.measured if m.metric == "r.repeated"]
    assert [(m.figure.value, m.bound, m.at_most, m.verifiable) for m in sizes] == [(0, 0.0, True, True)]
    if requirement.kind == "k_anonymity":
        assert outcome.figures["r.rows_of_nobody"].value == 2


@pytest.mark.parametrize(
    "requirement", [r for r in REQUIREMENTS if r.kind in ("l_diversity", "alpha_k", "t_closeness")]
)
@pytest.mark.parametrize("learned", [True, False])
def test_generated_rows_without_the_sensitive_attribute_tell_nothing_by_either_route(build, requirement, learned):
    source, made = Table.of(table(UNIQUE)), Table.of({n: c for n, c in table(UNIQUE).items() if n != "s"})
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER, source=n) for n in "pq"}
    case = build.case(
        table(UNIQUE), {n: c for n, c in table(UNIQUE).items() if n != "s"}, "qqs", paired=False, changes=MADE,
        requirements=(requirement,),
        generation=Generation(
            build.Pairs(made, made), build.Pairs(source, source) if learned else None, facts, facts
        ),
    )  # fmt: skip
    assert [m.verifiable and m.figure.value == 0 for m in audit(requirement).measure(*case.args).measured] == [True]
    assert audit(requirement).recheck(*case.args) == {}


def test_a_template_on_what_is_not_released_holds_whatever_was_learned_from(build):
    less = {n: c for n, c in table(UNIQUE).items() if n != "s"}
    made = Table.of(less)
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER, source=n) for n in "pq"}
    generation = Generation(build.Pairs(made, made), None, facts, facts)
    template = InferenceTemplate.of("r", "t", channel=QI, sensitive=by_attribute((("s", "1"),)), confidence=0.5)
    case = build.case(
        table(UNIQUE), less, "qqs", paired=False, changes=MADE, requirements=(template,), generation=generation
    )
    (measured,) = audit(template).measure(*case.args).measured
    assert measured.verifiable
    assert measured.figure.value == audit(template).recheck(*case.args)["r.confidence"] == 0


def test_a_class_of_the_original_rows_that_all_have_one_value(build, agree):
    """Generated values are diverse; those of the people whose rows come up again are not."""
    original = [("a", "x", "1")] * 5 + [("c", "x", "2")] * 5
    made = [("a", "x", v) for v in "12312"] + [("c", "x", v) for v in "12312"]
    for requirement, figure, value in ((REQUIREMENTS[1], "l", 1), (REQUIREMENTS[2], "alpha", 1.0)):
        assert agree(audit(requirement), example(build, original, made, requirement))[f"r.{figure}"] == value
    harmless = [("a", "x", v) for v in "12312"] + [("c", "x", v) for v in "12312"]
    for requirement, figure, value in ((REQUIREMENTS[1], "l", 3), (REQUIREMENTS[2], "alpha", 0.4)):
        assert agree(audit(requirement), example(build, harmless, made, requirement))[f"r.{figure}"] == value


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda r: r.kind)
def test_rows_that_were_generated_from_generated_ones_cannot_be_counted(build, requirement):
    case = example(build, UNIQUE, UNIQUE, requirement, learned=False)
    outcome = audit(requirement).measure(*case.args)
    assert outcome.measured
    assert not any(m.verifiable for m in outcome.measured)
    assert [f.code for f in outcome.findings] == ["PPF867"]
    assert audit(requirement).recheck(*case.args) == {}


@pytest.mark.parametrize(
    ("nulls", "shown", "k"),
    [
        (Nulls.WILDCARD, None, None),
        (Nulls.OWN_CATEGORY, None, 1),
        (Nulls.WILDCARD, "b", 1),
    ],
)
def test_an_original_row_counts_once_in_a_crowd(build, nulls, shown, k):
    """Both rows repeat the one original; where a missing value may be any, their classes are one crowd."""
    source, output = ({n: [v] * rows for n, v in zip("pqs", "ab1", strict=True)} for rows in (1, 2))
    released = {**output, "q": ["b", shown]}
    facts = {n: AttributeFacts(n, Role.QUASI_IDENTIFIER, source=n) for n in "pqs"}
    tables = [Table.of(t) for t in (source, output, released)]
    found = Generation(build.Pairs(*tables[1:]), build.Pairs(tables[0], tables[0]), facts, facts)
    case = build.case(
        source, released, "qqs", paired=False, changes=MADE, nulls=nulls, requirements=REQUIREMENTS[:1],
        generation=found,
    )  # fmt: skip
    (measured,) = audit(REQUIREMENTS[0]).measure(*case.args).measured
    assert measured.figure.value == k
    assert measured.verifiable is (k is not None)


def test_a_column_that_the_source_of_a_generator_does_not_have(build):
    case = example(build, UNIQUE, UNIQUE, REQUIREMENTS[0])
    found = case.ctx.generation
    less = {n: f for n, f in found.inputs.items() if n != "p"}
    changed = Generation(found.made, found.source, less, found.outputs)
    outcome = audit(REQUIREMENTS[0]).measure(*case.but(generation=changed).args)
    assert [f.code for f in outcome.findings] == ["PPF867"]
    assert np.array([not m.verifiable for m in outcome.measured]).all()
