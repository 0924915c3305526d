"""Audits of sensitive values in classes: against plain twins, in SQL, on planted leaks and printed tables."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.roles import AttributeType, Nulls, Role
from ppdm_flow.reader import compatible
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.registry import load

CELLS = st.sampled_from([None, "⊥", "a", "b"])
VALUES = st.sampled_from([None, "⊥", "1", "2", "10"])
TABLES = st.integers(0, 14).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "p": st.lists(CELLS, min_size=n, max_size=n),
            "q": st.lists(CELLS, min_size=n, max_size=n),
            "s": st.lists(VALUES, min_size=n, max_size=n),
            "w": st.lists(st.sampled_from(["0", "1", "2", "5"]), min_size=n, max_size=n),
        }
    )
)
QI = ("p", "q")
REQUIREMENTS = (
    LDiversity.of("r", "s", l=2, attributes=QI),
    LDiversity.of("r", "s", l=1.8, attributes=QI, variant=Diversity.ENTROPY),
    LDiversity.of("r", "s", l=2, attributes=QI, variant=Diversity.RECURSIVE, c=1.5),
    TCloseness.of("r", "s", t=0.3, attributes=QI),
    TCloseness.of("r", "s", t=0.3, attributes=QI, distance=Distance.ORDERED),
    TCloseness.of("r", "s", t=0.3, attributes=QI, distance=Distance.ORDERED, order=("2", "10", "1", "never")),
    AlphaK.of("r", "s", alpha=0.5, attributes=QI),
    AlphaK.of("r", "s", alpha=0.5, attributes=QI, values=("1", "2")),
    DeltaDisclosure.of("r", "s", delta=1.0, attributes=QI),
    BetaLikeness.of("r", "s", beta=1.0, attributes=QI),
)


def audit(requirement):
    spec = load("audits", requirement.kind)
    return spec.load()(spec.params())


def fits(a, b, nulls):
    return all(y == x or (nulls is Nulls.WILDCARD and y is None) for x, y in zip(a, b, strict=True))


def classes_of(rows, nulls):
    """(rows that belong to it, sensitive values of all that look like it) of every class; and the whole table."""
    kept = [(q, s, w) for q, s, w in rows if w and not (nulls is Nulls.EXCLUDE and None in (*q, s))]
    whole = Counter()
    for _, s, w in kept:
        whole[s] += w
    found = {}
    for q, _, w in kept:
        alike = Counter()
        for other, s, weight in kept:
            if fits(q, other, nulls):
                alike[s] += weight
        found[q] = (found.get(q, (0, None))[0] + w, alike)
    return list(found.values()), whole


def share(counts):
    total = sum(counts.values())
    return {value: n / total for value, n in counts.items()}


def order_of(requirement, whole):
    known = [v for v in whole if v not in (None, "⊥")]
    return sorted(known, key=requirement.order.index if requirement.order else float)


def figure(requirement, alike, whole):
    """The figure of one class, as the definition says; infinite for none."""
    p, q = share(alike), share(whole)
    match requirement:
        case LDiversity(variant=Diversity.DISTINCT):
            return len(alike)
        case LDiversity(variant=Diversity.ENTROPY):
            return math.exp(-sum(x * math.log(x) for x in p.values()))
        case LDiversity():
            falling = sorted(alike.values(), reverse=True)
            kept = [i for i in range(1, len(falling) + 1) if falling[0] < requirement.c * sum(falling[i - 1 :])]
            return max(kept, default=0)
        case TCloseness(distance=Distance.EQUAL):
            return sum(abs(p.get(v, 0) - q[v]) for v in q) / 2
        case TCloseness():
            return ordered_twin(p, q, order_of(requirement, whole))
        case AlphaK():
            return max((x for v, x in p.items() if not requirement.values or v in requirement.values), default=0.0)
        case DeltaDisclosure():
            return max((abs(math.log(p[v] / q[v])) if v in p else math.inf) for v in q)
        case BetaLikeness():
            return max(max(0.0, (p.get(v, 0) - q[v]) / q[v]) for v in q)


def ordered_twin(p, q, order):
    """What marks differ by at the cost of 1, the rest in proportion."""
    marks = [v for v in q if v not in order]
    more = sum(max(0, p.get(v, 0) - q[v]) for v in marks)
    less = sum(max(0, q[v] - p.get(v, 0)) for v in marks)
    inside, of_table = (sum(x.get(v, 0) for v in order) for x in (p, q))
    if not inside or len(order) < 2:
        return max(more, less)
    running, total = 0.0, 0.0
    for v in order[:-1]:
        running += p.get(v, 0) / inside - q[v] / of_table
        total += abs(running)
    return max(more, less) + min(inside, of_table) * total / (len(order) - 1)


@pytest.fixture(params=[compatible._MEMBERS, 1], ids=["whole", "in parts"])
def block(request):
    """How many members of classes are held at once, where classes overlap."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compatible, "_MEMBERS", request.param)
        yield


@pytest.mark.slow(quick=3)
@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda r: f"{r.kind}-{REQUIREMENTS.index(r)}")
@examples(12)
@given(table=TABLES, nulls=st.sampled_from(Nulls), weighted=st.booleans())
def test_twin_and_recheck(requirement, table, nulls, weighted, build, agree):
    names = "pqsw" if weighted else "pqs"
    columns = {n: table[n] for n in names}
    example = build.case(columns, columns, "qqsw"[: len(names)], nulls=nulls)
    example = example.but(requirements=(requirement,))
    judge = audit(requirement)
    found = agree(judge, example, least=4)
    weights = [int(w) if weighted else 1 for w in table["w"]]
    every, whole = classes_of(
        list(zip(zip(table["p"], table["q"], strict=True), table["s"], weights, strict=True)), nulls
    )
    each = [figure(requirement, alike, whole) for _, alike in every]
    worst = (max if judge.at_most else min)(each, default=math.inf)
    value = found[f"r.{judge.metric}"]
    assert (value is None) if math.isinf(worst) else value == pytest.approx(worst, abs=1e-9)
    assert found["r.classes"] == len(every)
    bound = judge.bound(requirement)
    bad = [
        rows
        for (rows, _), v in zip(every, each, strict=True)
        if (v > bound + 1e-9 if judge.at_most else v < bound - 1e-9)
    ]
    assert found["r.rows_beyond"] == sum(bad)
    left = sum(w for *cells, w in zip(table["p"], table["q"], table["s"], weights, strict=True) if None in cells)
    assert found["r.rows_left_out"] == (left if nulls is Nulls.EXCLUDE else 0)


def transport(p, q, order):
    """The earth mover's distance itself: marks are at a distance of 1 from everything."""
    values = list(q)
    far = max(1, len(order) - 1)

    def cost(a, b):
        if a == b:
            return 0.0
        return abs(order.index(a) - order.index(b)) / far if a in order and b in order else 1.0

    n = len(values)
    supply = [[1.0 if k // n == i else 0.0 for k in range(n * n)] for i in range(n)]
    demand = [[1.0 if k % n == j else 0.0 for k in range(n * n)] for j in range(n)]
    costs = [cost(a, b) for a in values for b in values]
    limits = [p.get(v, 0) for v in values] + [q[v] for v in values]
    return linprog(costs, A_eq=supply + demand, b_eq=limits).fun


@examples(20)
@given(
    counts=st.fixed_dictionaries({v: st.integers(0, 6) for v in ("1", "2", "3", "9", "⊥", None)}),
    others=st.fixed_dictionaries({v: st.integers(1, 6) for v in ("1", "2", "3", "9", "⊥", None)}),
    marks=st.booleans(),
)
def test_the_ordered_distance_is_the_earth_movers_or_above(counts, others, marks, build):
    """Without marks it is equal to it; with marks it may only be larger, so that nothing looks closer than it is."""
    chosen = [v for v in counts if marks or v not in ("⊥", None)]
    one = [v for v in chosen for _ in range(counts[v])]
    other = [v for v in chosen for _ in range(others[v])]
    if not one:
        return
    columns = {"p": ["a"] * len(one) + ["b"] * len(other), "s": one + other}
    requirement = TCloseness.of("r", "s", t=0.1, attributes=("p",), distance=Distance.ORDERED)
    example = build.case(columns, columns, "qs", requirements=(requirement,))
    value = audit(requirement).measure(*example.args).figures["r.t"].value
    whole = share(Counter(one + other))
    order = sorted((v for v in whole if v not in ("⊥", None)), key=float)
    exact = max(transport(share(Counter(part)), whole, order) for part in (one, other))
    assert value >= exact - 1e-9
    assert value <= 1 + 1e-9
    if not marks:
        assert value == pytest.approx(exact, abs=1e-9)


HOMOGENEOUS = {
    "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
    "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
    "disease": ["Heart Disease"] * 3 + ["Flu", "Heart Disease", "Cancer"] + ["Heart Disease", "Cancer", "Cancer"],
}


def test_a_homogeneous_class_has_one_value(build, agree):
    """3-anonymous, and Bob (47678, 27) has heart disease for certain."""
    many = LDiversity.of("privacy.l_diversity.disease", "disease", l=2, attributes=("zip", "age"))
    example = build.case(HOMOGENEOUS, HOMOGENEOUS, "qqs", requirements=(many,))
    found = agree(audit(many), example)
    assert found["privacy.l_diversity.disease.l"] == 1
    assert found["privacy.l_diversity.disease.rows_beyond"] == 3
    (measured,) = audit(many).measure(*example.args).measured
    assert "everybody's value is known" in measured.sentence
    assert "Heart" not in measured.sentence
    most = AlphaK.of("a", "disease", alpha=0.9, attributes=("zip", "age"), values=("Heart Disease",))
    assert agree(audit(most), example.but(requirements=(most,)))["a.alpha"] == 1.0
    close = TCloseness.of("t", "disease", t=0.9, attributes=("zip", "age"))
    assert agree(audit(close), example.but(requirements=(close,)))["t.t"] == pytest.approx(1 - 5 / 9)
    gone = DeltaDisclosure.of("d", "disease", delta=9.0, attributes=("zip", "age"))
    outcome = audit(gone).measure(*example.but(requirements=(gone,)).args)
    assert outcome.measured[0].figure.value is None
    assert outcome.figures["d.classes_lacking_a_value"].value == 2
    assert outcome.figures["d.rows_beyond"].value == 6


def test_salaries_as_in_the_paper(build, agree):
    """Li, Li, Venkatasubramanian, section 4.3: P1 = {3k,4k,5k}: 0.375, P2 = {6k,8k,11k}: 0.167."""
    salaries = [str(n) for n in (3000, 4000, 5000, 6000, 11000, 8000, 7000, 9000, 10000)]
    for zipcode, expected in ((["476**"] * 3 + ["4790*"] * 6, 0.375), (["b"] * 3 + ["a", "a", "a"] + ["b"] * 3, 1 / 6)):
        columns = {"zip": zipcode, "salary": salaries}
        close = TCloseness.of("t", "salary", t=0.1, attributes=("zip",), distance=Distance.ORDERED)
        example = build.case(columns, columns, "qs", requirements=(close,))
        assert agree(audit(close), example)["t.t"] == pytest.approx(expected, abs=2e-9)


def test_attributes_that_are_not_released(build):
    original = {"p": ["a", "b"], "s": ["1", "2"]}
    for requirement in REQUIREMENTS:
        example = build.case(original, {"p": ["a", "b"]}, "qs", requirements=(requirement,))
        outcome = audit(requirement).measure(*example.args)
        assert (outcome.measured[0].figure.value, outcome.measured[0].bound, outcome.measured[0].at_most) == (
            0,
            0,
            True,
        )
        assert "not released" in outcome.measured[0].sentence
        assert audit(requirement).recheck(*example.args) == {}


def test_dropped_quasi_identifiers_and_two_columns_of_one_attribute(build, agree):
    original = {"p": ["a", "a", "b", "b"], "s": ["1", "2", "1", "2"]}
    many = LDiversity.of("l", "s", l=2, attributes=("p", "q"))
    example = build.case(original, {"s": original["s"]}, "qs", requirements=(many,))
    assert agree(audit(many), example)["l.l"] == 2
    released = {"p": original["p"], "s": original["s"], "coarse": ["x", "x", "x", "y"]}
    example = build.case(original, released, "qs", sources={"coarse": "s"}, requirements=(many,))
    assert agree(audit(many), example)["l.l"] == 1


def test_values_without_a_rank_are_not_verified(build):
    columns = {"p": ["a", "a"], "s": ["low", "7"]}
    for order in ((), ("low", "high")):
        close = TCloseness.of("t", "s", t=0.5, attributes=("p",), distance=Distance.ORDERED, order=order)
        example = build.case(columns, columns, "qs", requirements=(close,))
        outcome = audit(close).measure(*example.args)
        assert not outcome.measured[0].verifiable
        assert [f.code for f in outcome.findings] == ["PPF877"]
        assert "1 of 2 released values" in outcome.measured[0].sentence
        assert audit(close).recheck(*example.args) == {}


def test_dates_have_an_order(build, agree):
    days = [date(2020 + i, 1, 1).isoformat() for i in (0, 1, 2)]
    columns = {"p": ["a", "b", "b"], "s": days}
    close = TCloseness.of("t", "s", t=0.5, attributes=("p",), distance=Distance.ORDERED)
    facts = {
        "p": AttributeFacts("p", Role.QUASI_IDENTIFIER),
        "s": AttributeFacts("s", Role.SENSITIVE, AttributeType.DATE),
    }
    example = build.case(columns, columns, "qs", requirements=(close,), original_attributes=facts)
    assert agree(audit(close), example)["t.t"] == pytest.approx(0.5)


def test_excluded_rows_are_told(build):
    columns = {"p": ["a", "a", None], "s": ["1", "2", "1"]}
    many = LDiversity.of("l", "s", l=2, attributes=("p",))
    outcome = audit(many).measure(*build.case(columns, columns, "qs", nulls=Nulls.EXCLUDE, requirements=(many,)).args)
    assert [f.code for f in outcome.findings] == ["PPF822"]
    assert "1 row with a missing value" in outcome.measured[0].sentence


def test_an_empty_release_does_not_pass(build, agree):
    for requirement in REQUIREMENTS:
        example = build.case(
            {"p": [], "q": [], "s": []}, {"p": [], "q": [], "s": []}, "qqs", requirements=(requirement,)
        )
        judge = audit(requirement)
        assert agree(judge, example)[f"r.{judge.metric}"] is None
        assert "no row" in judge.measure(*example.args).measured[0].sentence


def test_rows_of_a_picture_add_up(build):
    columns = {"p": [str(i % 7) for i in range(100)], "q": ["x"] * 100, "s": [str(i % 3) for i in range(100)]}
    for requirement in REQUIREMENTS[:2]:
        charts = (
            audit(requirement).measure(*build.case(columns, columns, "qqs", requirements=(requirement,)).args).charts
        )
        assert sum(charts[0].series[0].y) == 100


def test_randomized_values_prove_nothing(build):
    """A homogeneous class looks diverse once its values are drawn anew."""
    columns = {"p": ["a"] * 4, "q": ["x"] * 4, "s": ["1"] * 4}
    released = columns | {"s": ["1", "2", "10", "1"]}
    for requirement in REQUIREMENTS:
        changes = {"s": (("perturb", Change.PERTURBED),)}
        example = build.case(columns, released, "qqs", changes=changes, requirements=(requirement,))
        outcome = audit(requirement).measure(*example.args)
        assert not outcome.measured[0].verifiable
        assert [f.code for f in outcome.findings] == ["PPF880"]
        assert audit(requirement).recheck(*example.args) == {}
