"""Requirements counted by people, by both routes, against plain Python from the definitions, on random tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Nulls
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.registry import load

CELL = st.sampled_from(["a", "b", None])
ROWS = st.lists(
    st.tuples(st.sampled_from("12345"), CELL, CELL, st.sampled_from(["x", "y", "z", None])), min_size=1, max_size=20
)
"""Of each row: the person, two grouping cells and a sensitive one."""
G = ("p", "q")
K = KAnonymity.of("k", k=1, attributes=G)
L = LDiversity.of("l", "s", l=1, attributes=G)
ENTROPY = LDiversity.of("e", "s", l=1, attributes=G, variant=Diversity.ENTROPY)
ALPHA = AlphaK.of("a", "s", alpha=1.0, attributes=G)
T = TCloseness.of("t", "s", t=1.0, attributes=G)
DELTA = DeltaDisclosure.of("d", "s", delta=1.0, attributes=G)
BETA = BetaLikeness.of("b", "s", beta=1.0, attributes=G)
ONE = PeopleCount("person", 1)


def audit(requirement):
    spec = load("audits", requirement.kind)
    return spec.load()(spec.params())


def table(rows):
    names = ("person", "p", "q", "s")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def fits(one, other):
    return all(b is None or a == b for a, b in zip(one, other, strict=True))


def groups(rows, nulls, *, values_known=True):
    """Return the rows of each group: of each class, or of the crowd of each combination."""
    if nulls is Nulls.EXCLUDE:
        rows = [r for r in rows if None not in r[1:3] and (r[3] is not None or not values_known)]
    combos = {r[1:3] for r in rows}
    if nulls is Nulls.WILDCARD:
        return rows, [[r for r in rows if fits(c, r[1:3])] for c in combos]
    return rows, [[r for r in rows if r[1:3] == c] for c in combos]


def one_persons_cells(rows):
    """Whether some sensitive cell occurs twice, and only with one person: then rows are linked."""
    people = defaultdict(list)
    for row in rows:
        people[row[3]].append(row[0])
    return any(len(own) > 1 and len(set(own)) == 1 for value, own in people.items() if value is not None)


def by_person(rows):
    people = defaultdict(list)
    for row in rows:
        people[row[0]].append(row[3])
    return people


def distribution(rows):
    """Each person weighs 1, spread over its rows."""
    people, shares = by_person(rows), Counter()
    for values in people.values():
        for value in values:
            shares[value] += Fraction(1, len(values) * len(people))
    return shares


def confidence(rows):
    people = by_person(rows)
    return max(
        max(
            Fraction(sum(r[3] == v for r in rows), len(rows)),
            Fraction(sum(v in own for own in people.values()), len(people)),
        )
        for v in {r[3] for r in rows}
    )


def distinct(rows):
    people = by_person(rows)
    taken = {}

    def place(person, seen):
        for value in set(people[person]) - seen:
            seen.add(value)
            if value not in taken or place(taken[value], seen):
                taken[value] = person
                return True
        return False

    matched = sum(place(person, set()) for person in people)
    return min(matched, 1 + min(sum(v not in own for own in people.values()) for v in {r[3] for r in rows}))


@pytest.mark.slow
@pytest.mark.parametrize("nulls", list(Nulls))
@examples(12)
@given(rows=ROWS)
def test_every_requirement_counts_people(build, agree, nulls, rows):
    every = (K, L, ENTROPY, ALPHA, T, DELTA, BETA)
    released = {n: c for n, c in table(rows).items() if n != "person"}
    example = build.case(table(rows), released, "uqqs", nulls=nulls, requirements=every, people=ONE)
    if nulls is Nulls.WILDCARD and one_persons_cells(rows):
        assert not any(m.verifiable for r in every for m in audit(r).measure(*example.args).measured)
        return
    kept, of_k = groups(rows, nulls, values_known=False)
    figures = agree(audit(K), example)
    assert figures["k.k"] == min((len({r[0] for r in g}) for g in of_k), default=0)
    kept, found = groups(rows, nulls)
    if not kept:
        return
    figures = {n: v for r in (L, ALPHA, T, DELTA, BETA) for n, v in agree(audit(r), example).items()}
    assert figures["l.l"] == min(map(distinct, found))
    assert figures["a.alpha"] == pytest.approx(float(max(map(confidence, found))), abs=1e-12)
    base, own = distribution(kept), [distribution(g) for g in found]
    entropies = [exp(-sum(float(q) * log(q) for q in d.values())) for d in own]
    assert figures["e.l"] == pytest.approx(min(entropies), abs=1e-9)
    distances = [sum(abs(d[v] - base[v]) for v in base) / 2 for d in own]
    assert figures["t.t"] == pytest.approx(float(max(distances)), abs=1e-9)
    if any(set(d) != set(base) for d in own):
        assert figures["d.delta"] is None
    else:
        assert figures["d.delta"] == pytest.approx(max(abs(log(d[v] / base[v])) for d in own for v in base), abs=1e-9)
    gains = [(d[v] - base[v]) / base[v] for d in own for v in d if d[v] > base[v]]
    assert figures["b.beta"] == pytest.approx(float(max(gains, default=0)), abs=1e-9)


@pytest.mark.random
@pytest.mark.parametrize("nulls", list(Nulls))
@examples(10)
@given(rows=ROWS)
def test_one_row_a_person_is_as_counting_rows(build, agree, nulls, rows):
    rows = [(str(i), *row[1:]) for i, row in enumerate(rows)]
    every = (K, L, ENTROPY, ALPHA, T, DELTA, BETA)
    released = {n: c for n, c in table(rows).items() if n != "person"}
    example = build.case(table(rows), released, "uqqs", nulls=nulls, requirements=every)
    for requirement in (K, L, ALPHA, T, DELTA, BETA):
        one, other = agree(audit(requirement), example), agree(audit(requirement), example.but(people=ONE))
        assert one == pytest.approx(other, abs=1e-9)


@pytest.mark.slow
@examples(20)
@given(rows=ROWS)
def test_decoded_values(build, agree, rows):
    """The sensitive attribute leaves as labels: each counts by what is behind it."""
    label = {"x": "low", "y": "low", "z": "high", None: None}
    rows = [(*row[:3], row[3] or "x") for row in rows]
    cells = [label[r[3]] for r in rows]
    before = table(rows)
    released = {"p": before["p"], "q": before["q"], "s": cells}
    changes = {"s": (("coarse", Change.GENERALIZED),)}
    example = build.case(before, released, "uqqs", changes=changes, requirements=(L, ALPHA, T), people=ONE)
    behind = defaultdict(Counter)
    for cell, row in zip(cells, rows, strict=True):
        behind[cell][row[3]] += 1
    chance = {c: {v: Fraction(n, sum(b.values())) for v, n in b.items()} for c, b in behind.items()}
    worst, least = Fraction(0), 99
    for combo in {r[1:3] for r in rows}:
        here = [(r[0], c) for r, c in zip(rows, cells, strict=True) if r[1:3] == combo]
        people = defaultdict(list)
        for person, cell in here:
            people[person].append(cell)
        for v in "xyz":
            of_rows = sum(chance[c].get(v, Fraction(0)) for _, c in here) / len(here)
            each = [min(Fraction(1), sum(chance[c].get(v, Fraction(0)) for c in own)) for own in people.values()]
            worst = max(worst, of_rows, sum(each) / len(people))
        possible = {p: {v for c in own for v in chance[c]} for p, own in people.items()}
        certain = {p: {v for c in own for v in chance[c] if chance[c][v] == 1} for p, own in people.items()}
        values = set().union(*possible.values())
        lacking = min(sum(v not in own for own in certain.values()) for v in values)
        least = min(least, 1 + lacking, matching(list(possible.values())))
    assert agree(audit(ALPHA), example)["a.alpha"] == pytest.approx(float(worst), abs=1e-9)
    assert agree(audit(L), example)["l.l"] == least
    agree(audit(T), example)


def matching(people: list[set[str]]) -> int:
    taken: dict[str, int] = {}

    def place(person: int, seen: set[str]) -> bool:
        for value in people[person] - seen:
            seen.add(value)
            if value not in taken or place(taken[value], seen):
                taken[value] = person
                return True
        return False

    return sum(place(person, set()) for person in range(len(people)))


@pytest.mark.slow
@examples(20)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("1234"),
            st.sampled_from("ab"),
            st.sampled_from("xy"),
            st.sampled_from("vw"),
            st.sampled_from("mn"),
        ),
        min_size=1,
        max_size=14,
    )
)
def test_mixed_columns(build, agree, rows):
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "q", "s"))}
    after = {"p": before["p"], "mix": [r[4] for r in rows]}
    example = build.case(before, after, "uqqs", sources={"mix": "q"}, requirements=(K, L, ALPHA, T), people=ONE)
    mix = replace(
        example.ctx.attributes["mix"],
        changes=(("ids", Change.OTHER),),
        derived=Lineage(frozenset(("q", "s")), value_map=False),
    )
    example = example.but(attributes=example.ctx.attributes | {"mix": mix})
    smallest, worst = 99, Fraction(0)
    for p in {r[1] for r in rows}:
        members = [r for r in rows if r[1] == p]
        for q in {r[2] for r in members}:
            shown = Counter(r[4] for r in members if r[2] == q)
            crowd = [r for r in members if r[4] in shown]
            smallest = min(smallest, len({r[0] for r in crowd}))
            for place in (3, 4):  # the original values, and the shown cells
                part = lambda own, place=place: shares_of([(r[0], None, None, r[place]) for r in own])  # noqa: E731
                parts = {c: part([r for r in members if r[4] == c]) for c in shown}
                for v, share in part(crowd).items():
                    mean = sum(
                        Fraction(n, sum(shown.values())) * parts[c].get(v, Fraction(0)) for c, n in shown.items()
                    )
                    worst = max(worst, share, mean)
    assert agree(audit(K), example)["k.k"] == smallest
    assert agree(audit(ALPHA), example)["a.alpha"] == pytest.approx(float(worst), abs=1e-9)
    agree(audit(L), example)
    agree(audit(T), example)


def shares_of(rows):
    people = by_person(rows)
    return {
        v: max(
            Fraction(sum(r[3] == v for r in rows), len(rows)),
            Fraction(sum(v in own for own in people.values()), len(people)),
        )
        for v in {r[3] for r in rows}
    }


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("nulls", list(Nulls))
@examples(10)
@given(rows=ROWS)
def test_templates(build, agree, nulls, negated, rows):
    template = InferenceTemplate.of(
        "i", channel=G, sensitive=by_attribute([("s", "x")]), confidence=1.0, negated=negated, min_support=2
    )
    released = {n: c for n, c in table(rows).items() if n != "person"}
    example = build.case(table(rows), released, "uqqs", nulls=nulls, requirements=(template,), people=ONE)
    if nulls is Nulls.WILDCARD and one_persons_cells(rows):
        assert not any(m.verifiable for m in audit(template).measure(*example.args).measured)
        return
    _, found = groups(rows, nulls, values_known=False)
    figures = agree(audit(template), example)
    assert figures["i.smallest_group"] == min((len({r[0] for r in g}) for g in found), default=0)
    worst = Fraction(0)
    for group in found:
        people = by_person(group)
        hits = [(r[3] != "x") if negated else (r[3] == "x") for r in group]
        having = sum(any((v != "x") if negated else (v == "x") for v in own) for own in people.values())
        worst = max(worst, Fraction(sum(hits), len(group)), Fraction(having, len(people)))
    assert figures["i.confidence"] == pytest.approx(float(worst), abs=1e-9)


def test_what_has_no_people_is_not_measured(build):
    rows = [("1", "a", "a", "x"), ("1", "a", "a", "y")]
    released = {n: c for n, c in table(rows).items() if n != "person"}
    example = build.case(table(rows), released, "uqqs", paired=False, requirements=(K, L), people=ONE)
    for requirement in (K, L):
        outcome = audit(requirement).measure(*example.args)
        assert [m.verifiable for m in outcome.measured] == [False]
        assert [f.code for f in outcome.findings] == ["PPF900"]
