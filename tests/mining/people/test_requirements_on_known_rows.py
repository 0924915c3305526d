"""What several known rows of a person tell, by both routes, against an adversary that tries every choice of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import columns
from ppdm_flow.mining.people import known_query, known_rows
from ppdm_flow.mining.people import known_rows as combinations_of_people
from ppdm_flow.mining.people.known import may_link
from ppdm_flow.mining.people.linkage import linked_rows
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.requirements.t_closeness.requirement import TCloseness
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column

ROWS = st.lists(
    st.tuples(
        st.sampled_from("1234"), st.sampled_from(["a", "b", None]), st.sampled_from("xyz"), st.sampled_from("mnopq")
    ),
    min_size=1,
    max_size=14,
)
"""Of each row: the person, a grouping cell, a sensitive one, and one of a further column that may link rows."""
K = KAnonymity.of("k", k=1, attributes=("p",))
L = LDiversity.of("l", "s", l=1, attributes=("p",))
ALPHA = AlphaK.of("a", "s", alpha=1.0, attributes=("p",))
T = TCloseness.of("t", "s", t=1.0, attributes=("p",))


def audit(requirement):
    spec = load("audits", requirement.kind)
    return spec.load()(spec.params())


def linked(rows, columns):
    """Return the places of rows whose cell of one column, or of all of these, is that of several rows of one person.

    A column in which no cell repeats says nothing of all of them.
    """
    found = set()
    repeating = [c for c in columns if max(Counter(r[c] for r in rows).values()) > 1]
    for some in [*((c,) for c in columns), *([tuple(repeating)] if repeating else [])]:
        cells = defaultdict(list)
        for place, row in enumerate(rows):
            cells[tuple(row[c] for c in some)].append(place)
        for places in cells.values():
            if len(places) > 1 and len({rows[i][0] for i in places}) == 1:
                found |= set(places)
    return found


def knowledge(rows, places, known):
    """Yield what somebody may know of a person with these linked rows: multisets of classes."""
    own = [rows[i][1] for i in places]
    if known is None:
        yield Counter(own)
        return
    for size in range(1, min(known, len(own)) + 1):
        for some in combinations(own, size):
            yield Counter(some)


def groups(rows, links, known):
    """Yield the people that are left, with their linked rows, for everything that somebody may know."""
    people = defaultdict(list)
    for place in sorted(links):
        people[rows[place][0]].append(place)
    profile = {p: Counter(rows[i][1] for i in places) for p, places in people.items()}
    for places in people.values():
        for told in knowledge(rows, places, known):
            left = [p for p, own in profile.items() if (own == told if known is None else told <= own)]
            yield {p: [rows[i][2] for i in people[p]] for p in left}


def confidence(group):
    every = [v for own in group.values() for v in own]
    return max(
        max(Fraction(every.count(v), len(every)), Fraction(sum(v in own for own in group.values()), len(group)))
        for v in every
    )


def distinct(group):
    taken = {}

    def place(person, seen):
        for value in set(group[person]) - seen:
            seen.add(value)
            if value not in taken or place(taken[value], seen):
                taken[value] = person
                return True
        return False

    matched = sum(place(person, set()) for person in group)
    return min(matched, 1 + min(sum(v not in own for own in group.values()) for own in group.values() for v in own))


def chance(rows, known, values="xyz"):
    """Return the largest chance that one of at most so many known rows of a person has some value."""
    sizes = Counter(r[1] for r in rows)
    having = Counter((r[1], r[2]) for r in rows)
    worst = Fraction(0)
    for person in {r[0] for r in rows}:
        own = [r[1] for r in rows if r[0] == person]
        for size in [len(own)] if known is None else range(1, min(known, len(own)) + 1):
            for some in combinations(own, size):
                for value in values:
                    none = prod(
                        Fraction(comb(sizes[c] - having[c, value], m), comb(sizes[c], m))
                        for c, m in Counter(some).items()
                    )
                    worst = max(worst, 1 - none)
    return worst


def share(group, value):
    every = [v for own in group.values() for v in own]
    people = Fraction(sum(value in own for own in group.values()), len(group))
    return max(Fraction(every.count(value), len(every)), people)


def partly(rows, links):
    """Whether somebody has linked rows and others."""
    return bool({rows[i][0] for i in links} & {r[0] for i, r in enumerate(rows) if i not in links})


def of_both(rows, links, known, values="xyz"):
    """Return the largest chance of a value that linked rows show, or the others that are known, one at least of each.

    Nothing where nobody has rows of both kinds.
    """
    if known == 1 or not partly(rows, links):
        return []
    fewer = None if known is None else known - 1
    shown = list(groups(rows, links, fewer))
    chances = [(max(share(g, v) for g in shown), chance(rows, fewer, v)) for v in values]
    return [max(1 - (1 - a) * (1 - b) for a, b in chances)]


def adversary(rows, links, known, value):
    """Return the largest chance when some linked rows of a person and some others are known: every choice tried."""
    sizes, worst = Counter(r[1] for r in rows), Fraction(0)
    having = Counter(r[1] for r in rows if r[2] == value)
    profile = {p: Counter(rows[i][1] for i in links if rows[i][0] == p) for p in {rows[i][0] for i in links}}
    for person in {r[0] for r in rows}:
        own = [i for i, r in enumerate(rows) if r[0] == person]
        for size in [len(own)] if known is None else range(1, min(known, len(own)) + 1):
            for some in combinations(own, size):
                told = Counter(rows[i][1] for i in some if i in links)
                others = Counter(rows[i][1] for i in some if i not in links)
                none = prod(Fraction(comb(sizes[c] - having[c], m), comb(sizes[c], m)) for c, m in others.items())
                left = [p for p, have in profile.items() if (have == told if known is None else told <= have)]
                if told:
                    crowd = {p: [rows[i][2] for i in sorted(links) if rows[i][0] == p] for p in left}
                    none *= 1 - share(crowd, value)
                worst = max(worst, 1 - none)
    return worst


# p1 and p2 have a linked row in class a; one of them shows x in another row. Half of class b, unlinked, has x.
HALF_LINKED = [
    *[("1", "a", "y", "k1"), ("1", "c", "x", "k1"), ("2", "a", "y", "k2"), ("2", "c", "y", "k2")],
    *[("1", "b", "x", None), ("2", "b", "y", None), *[(p, "c", "y", None) for p in "34567890"]],
    *[(p, "a", "y", None) for p in "34567890"],
    *[("9", "d", "x", None), *[(p, "d", "y", None) for p in "345678ABC"]],  # else x would be one person's alone
]


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize(("known", "expected"), [(1, 0.5), (2, 0.75), (3, 1 - (1 - 0.5) * (1 - 11 / 20))])
def test_linked_rows_and_others_of_one_person_tell_more_than_each_of_them(build, agree, known, expected):
    """A reader who knows a row of either kind has two chances to see x."""
    before = {n: [r[i] for r in HALF_LINKED] for i, n in enumerate(("person", "p", "s", "key"))}
    released = {n: before[n] for n in ("p", "s", "key")}
    people = PeopleCount("person", known)
    x = InferenceTemplate.of("i", channel=("p",), sensitive=by_attribute([("s", "x")]), confidence=1.0)
    example = build.case(
        {n: before[n] for n in ("person", "p", "s")},
        released,
        "uqs",
        sources={"key": "person"},
        requirements=(x,),
        people=people,
    )
    figure = agree(audit(x), example)["i.known_rows_confidence"]
    links = {i for i, r in enumerate(HALF_LINKED) if r[3]}
    assert figure == pytest.approx(expected, abs=1e-9)
    assert figure >= float(adversary(HALF_LINKED, links, known, "x")) - 1e-9


MIXED = st.lists(
    st.tuples(st.sampled_from("123"), st.sampled_from("ab"), st.sampled_from("xy"), st.booleans()),
    min_size=1,
    max_size=9,
)
"""Of each row: the person, a grouping cell, a sensitive one, and whether a pseudonym leaves with it."""


@pytest.mark.random
@pytest.mark.parametrize("known", [1, 2, 3, None])
@pytest.mark.parametrize("suppressed", [None, "⊥"])
@examples(10)
@given(rows=MIXED)
def test_nobody_who_knows_rows_of_both_kinds_finds_a_larger_chance(build, agree, known, suppressed, rows):
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "s"))}
    released = {n: before[n] for n in ("p", "s")} | {"key": [f"k{r[0]}" if r[3] else suppressed for r in rows]}
    people = PeopleCount("person", known)
    x = InferenceTemplate.of("i", channel=("p",), sensitive=by_attribute([("s", "x")]), confidence=1.0)
    example = build.case(before, released, "uqs", sources={"key": "person"}, requirements=(K, x), people=people)
    codes = [Column.of(released[name]).codes for name in ("key", "s")]
    seen = linked_rows(np.array([int(r[0]) for r in rows]), codes[:1], codes[1:]).rows
    links = set(np.flatnonzero(seen).tolist())
    figures = agree(audit(x), example)
    told = [v for n, v in figures.items() if n in ("i.known_rows_confidence", "i.confidence") and v is not None]
    assert max(told) >= float(adversary(rows, links, known, "x")) - 1e-9
    found = list(groups(rows, links, known))
    assert agree(audit(K), example).get("k.known_rows_k") == (min(map(len, found)) if found else None)


@pytest.mark.random
@pytest.mark.parametrize("known", [1, 2, 3, None])
@examples(12)
@given(rows=ROWS, pseudonym=st.booleans())
def test_every_choice_of_known_rows(build, agree, known, rows, pseudonym):
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "s", "x"))}
    released = {n: before[n] for n in ("p", "s", "x")} | ({"key": [f"k{r[0]}" for r in rows]} if pseudonym else {})
    every = (K, L, ALPHA, T)
    sources = {"key": "person"}
    people = PeopleCount("person", known)
    example = build.case(before, released, "uqsx", sources=sources, requirements=every, people=people)
    links = set(range(len(rows))) if pseudonym else linked(rows, (2, 3))
    found = list(groups(rows, links, known))
    figures = agree(audit(K), example)
    assert figures.get("k.known_rows_k") == (min(map(len, found)) if found else None)
    figures = agree(audit(L), example)
    assert figures.get("l.known_rows_l") == (min(map(distinct, found)) if found else None)
    told = [*map(confidence, found)]
    if known != 1 and len(links) < len(rows):
        told += [chance(rows, known), *of_both(rows, links, known)]
    figures = agree(audit(ALPHA), example)
    expected = pytest.approx(float(max(told)), abs=1e-9) if told else None
    assert figures.get("a.known_rows_alpha") == expected
    agree(audit(T), example)


@pytest.mark.random(quick=1)
@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("known", [1, 2, None])
@examples(10)
@given(rows=ROWS)
def test_templates(build, agree, known, negated, rows):
    """A negated template is about having another value than x, another is about x."""
    template = InferenceTemplate.of(
        "i", channel=("p",), sensitive=by_attribute([("s", "x")]), confidence=1.0, negated=negated
    )
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "s", "x"))}
    released = {n: before[n] for n in ("p", "s", "x")}
    example = build.case(before, released, "uqsx", requirements=(template,), people=PeopleCount("person", known))
    links = linked(rows, (2, 3))
    wanted = [(*r[:2], "it" if (r[2] == "x") != negated else "", r[3]) for r in rows]
    told = [share_of(group) for group in groups(wanted, links, known)]
    if known != 1 and len(links) < len(rows):
        told += [chance(wanted, known, ("it",)), *of_both(wanted, links, known, ("it",))]
    figures = agree(audit(template), example)
    assert figures.get("i.known_rows_confidence") == (pytest.approx(float(max(told)), abs=1e-9) if told else None)


def share_of(group):
    every = [v for own in group.values() for v in own]
    return max(
        Fraction(every.count("it"), len(every)), Fraction(sum("it" in own for own in group.values()), len(group))
    )


def test_too_many_combinations_are_not_measured(build, monkeypatch):
    for module in (combinations_of_people, known_rows, known_query, known_query):
        monkeypatch.setattr(module, "MOST_COMBINATIONS", 3)
    rows = [(str(i % 3), "ab"[i // 3 % 2], "xy"[i % 2], "m") for i in range(12)]
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "s", "x"))}
    released = {"p": before["p"], "s": before["s"], "key": [f"k{r[0]}" for r in rows]}
    template = InferenceTemplate.of("i", channel=("p",), sensitive=by_attribute([("s", "x")]), confidence=0.9)
    example = build.case(
        before, released, "uqsx", sources={"key": "person"}, requirements=(L, template), people=PeopleCount("person", 2)
    )
    for requirement in (L, template):
        outcome = audit(requirement).measure(*example.args)
        assert [m.verifiable for m in outcome.measured] == [False]
        assert "limit_rows" in outcome.measured[0].sentence
        assert audit(requirement).recheck(*example.args) == {}


ALIKE = st.lists(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("vwxyz")), min_size=1, max_size=4), min_size=1, max_size=3
)
"""Linked rows, by class and value, of pairs of people: the second has the same classes, and values of the next pair."""


@pytest.mark.random
@pytest.mark.parametrize("known", [1, 2, None])
@examples(12)
@given(people=ALIKE)
def test_values_of_crowds_are_matched(build, agree, known, people):
    """Everybody has somebody with the same classes, so that no crowd of one settles it."""
    rows = []
    for pair, own in enumerate(people):
        other = people[(pair + 1) % len(people)]
        values = [other[i % len(other)][1] for i in range(len(own))]
        rows += [(f"{pair}a", c, v, f"{pair}a") for c, v in own]
        rows += [(f"{pair}b", c, v, f"{pair}b") for (c, _), v in zip(own, values, strict=True)]
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "s"))}
    released = {"p": before["p"], "s": before["s"], "key": [r[3] for r in rows]}
    example = build.case(
        before, released, "uqs", sources={"key": "person"}, requirements=(L, T), people=PeopleCount("person", known)
    )
    found = list(groups(rows, set(range(len(rows))), known))
    assert agree(audit(L), example)["l.known_rows_l"] == min(map(distinct, found))
    agree(audit(T), example)


def test_linked_rows_are_drawn(build):
    before = {"person": ["1", "1", "2", "2"], "p": ["a", "b", "a", "b"], "s": ["x", "y", "x", "y"]}
    released = {"p": before["p"], "s": before["s"], "key": ["k", "k", "m", "m"]}
    example = build.case(
        before, released, "uqs", sources={"key": "person"}, requirements=(K,), people=PeopleCount("person", 1)
    )
    (chart,) = audit(K).measure(*example.args).charts
    assert (chart.id, chart.group, chart.x) == ("k.known_rows", "k_anonymity", ("1", "2", "3", "all"))
    assert chart.series[0].y == (2.0,) * 4
    alone = build.case(before, {"p": before["p"]}, "uqs", requirements=(K,), people=PeopleCount("person", 1))
    assert audit(K).measure(*alone.args).charts == ()


def test_linked_rows_and_wildcards_are_not_measured(build):
    rows = [("1", "a", "x", "m"), ("1", "b", "x", "m"), ("2", None, "y", "n")]
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "s", "x"))}
    released = {n: before[n] for n in ("p", "s", "x")}
    example = build.case(
        before, released, "uqsx", requirements=(K, L), people=PeopleCount("person", 1), nulls=Nulls.WILDCARD
    )
    for requirement in (K, L):
        outcome = audit(requirement).measure(*example.args)
        assert [m.verifiable for m in outcome.measured] == [False]
        assert audit(requirement).recheck(*example.args) == {}


@pytest.mark.parametrize(("values", "may"), [("xxxyyy", False), ("xxxyyz", True), ("xxyyzz", True)])
def test_cells_that_are_more_frequent_than_any_persons_rows_link_nothing(build, agree, values, may):
    before = {"person": [*"112233"], "p": ["a"] * 6, "s": [*values]}
    released = {"p": before["p"], "s": before["s"]}
    example = build.case(before, released, "uqs", requirements=(K,), people=PeopleCount("person", 1))
    assert may_link(columns(("p",), ("s",), example.candidate, example.ctx), example.candidate, example.ctx) or not may
    revealing = columns(("p",), (), example.candidate, example.ctx)
    assert may_link(revealing, example.candidate, example.ctx) is may
    assert ("k.known_rows_k" in agree(audit(K), example)) is (values == "xxyyzz")
