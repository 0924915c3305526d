"""LKC-privacy where people count: by both routes, against plain Python from the definition, on random small tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from math import prod
from random import Random

import pytest

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Nulls
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.sdk.registry import load

AUDIT = load("audits", "lkc").load()(load("audits", "lkc").params())
KNOWN = ("p", "q", "r")
SECRET = {"s": "xyz", "t": "uv"}
ONE = Fraction(1)
COUNT = 2
"""Tables for each of the null semantics and numbers of known rows."""


def lkc(most, values, c=1.0, k=2):
    pairs = [(name, value) for name, some in values.items() for value in some]
    return LKC.of("i", l=most, k=k, c=c if pairs else None, attributes=KNOWN, sensitive=by_attribute(pairs))


def random_rows(draw, *, missing=True):
    """Rows of few people, up to six each; a person's rows often share cells."""
    gap = [None] if missing and draw.random() < 0.6 else []
    domains = {"p": ["a", "b"], "q": ["a", "b", "c"], "r": ["a", "b"], "s": list("xyz"), "t": list("uv")}
    rows = []
    for person in range(draw.randint(1, 6)):
        first = {}
        for _ in range(draw.randint(1, draw.choice((1, 3, 6)))):
            row = {n: draw.choice(d + gap) for n, d in domains.items()}
            row |= {n: first[n] for n in first if draw.random() < 0.4}
            first = first or row
            rows.append({"person": f"p{person}", "x": draw.choice("klm"), **row})
    draw.shuffle(rows)
    return rows


def columns_of(rows, names):
    return {n: [row[n] for row in rows] for n in names}


def linked(rows, outside, keyed):
    """Return the places of rows that some cells outside of the known ones show to be one person's."""
    if keyed:
        return set(range(len(rows)))
    repeating = [c for c in outside if max(Counter(r[c] for r in rows).values(), default=0) > 1]
    found = set()
    for size in {1, 2, 3, len(outside) - 1, len(outside)} - {0, -1}:
        for some in combinations(outside, size):
            told = [c for c in some if c in repeating]
            cells = defaultdict(list)
            for place, row in enumerate(rows):
                cells[tuple(row[c] for c in told)].append(place)
            for shown, places in cells.items() if told else ():
                if len(places) > 1 and len({rows[i]["person"] for i in places}) == 1 and set(shown) != {None}:
                    found |= set(places)
    return found


def choices(own, known):
    """Yield every set of places that may be known of one person."""
    if known is None:
        yield tuple(own)
        return
    for size in range(1, min(known, len(own)) + 1):
        yield from combinations(own, size)


def share(rows, places, named):
    """The larger share with a named value: of rows, and of people who have one in any of them; ``named``: by row."""
    people = defaultdict(Fraction)
    for i in places:
        people[rows[i]["person"]] += named[i]
    of_people = sum(min(ONE, whole) for whole in people.values())
    return max(sum((named[i] for i in places), Fraction(0)) / len(places), Fraction(of_people) / len(people))


def left_for(rows, seen, classes, known):
    """Yield the linked rows of all who are left for a reader who knows some linked rows of one person."""
    mine = defaultdict(list)
    for i in sorted(seen):
        mine[rows[i]["person"]].append(i)
    have = {p: Counter(classes[i] for i in own) for p, own in mine.items()}
    for own in mine.values():
        for chosen in choices(own, known):
            need = Counter(classes[i] for i in chosen)
            fits = [p for p, h in have.items() if (h == need if known is None else need <= h)]
            yield [mine[p] for p in fits]


def chance(rows, classes, known, named):
    """The largest chance that one of the known rows has a named value, each being any of its class."""
    sizes, having = Counter(classes), Counter()
    for i, c in enumerate(classes):
        having[c] += named[i]
    mine, worst = defaultdict(list), Fraction(0)
    for i, row in enumerate(rows):
        mine[row["person"]].append(i)
    for own in mine.values():
        for chosen in choices(own, known):
            none = prod(
                max(Fraction(0), sizes[c] - having[c] - i) / (sizes[c] - i)
                for c, many in Counter(classes[j] for j in chosen).items()
                for i in range(many)
            )
            worst = max(worst, 1 - none)
    return worst


def both_chances(rows, seen, classes, known, named):
    """What linked rows tell and what the others do, one known row of either kind at least."""
    people = {rows[i]["person"] for i in seen} & {r["person"] for i, r in enumerate(rows) if i not in seen}
    if known == 1 or not people:
        return []
    fewer = None if known is None else known - 1
    groups = left_for(rows, seen, classes, fewer)
    shown = max(share(rows, [i for own in some for i in own], named) for some in groups)
    return [1 - (1 - shown) * (1 - chance(rows, classes, fewer, named))]


def groups_of(rows, classes, nulls):
    """Return the rows of each class, or of the crowd of each."""
    if nulls is Nulls.WILDCARD:
        fits = {
            c: [d for d in set(classes) if all(b is None or a == b for a, b in zip(c, d, strict=True))] for c in classes
        }
        return [[i for i, d in enumerate(classes) if d in some] for some in fits.values()]
    return [[i for i, d in enumerate(classes) if d == c] for c in set(classes)]


def twin(rows, requirement, nulls, known, released, *, keyed, chance_of=None):
    """Return the figures; None where they cannot be told. ``chance_of``: of a row, that it has a named value."""
    sizes, shares, known_k, told = [], [Fraction(0)], [], []
    wanted = defaultdict(set)
    for name, value in requirement.pairs:
        wanted[name].add(value)
    if nulls is Nulls.WILDCARD and wanted and known != 1:
        return None
    for size in range(requirement.l + 1):
        for knowing in combinations(KNOWN, size):
            outside = [c for c in released if c not in knowing and c != "key"]
            for name in (None, *wanted):
                needed = (*knowing, *((name,) if name else ()))
                left = nulls is Nulls.EXCLUDE
                kept = [r for r in rows if not (left and any(r[c] is None for c in needed))]
                classes = [tuple(r[c] for c in knowing) for r in kept]
                seen = linked(kept, outside, keyed)
                if nulls is Nulls.WILDCARD and seen:
                    return None
                groups, found = groups_of(kept, classes, nulls), list(left_for(kept, seen, classes, known))
                if name is None:
                    sizes.append(min((len({kept[i]["person"] for i in g}) for g in groups), default=0))
                    known_k += [len(some) for some in found]
                    continue
                named = [chance_of(r) if chance_of else Fraction(r[name] in wanted[name]) for r in kept]
                shares += [share(kept, g, named) for g in groups]
                told += [share(kept, [i for own in some for i in own], named) for some in found]
                if known != 1 and len(seen) < len(kept):
                    told.append(chance(kept, classes, known, named))
                    told += both_chances(kept, seen, classes, known, named)
    figures = {"i.k": min(sizes), "i.confidence": max(shares)}
    figures |= {"i.known_rows_k": min(known_k)} if known_k else {}
    return figures | ({"i.known_rows_confidence": max(told)} if told else {})


def example_of(build, rows, requirement, nulls, known, *, keyed, more=False, rename=None):
    before = columns_of(rows, ("person", *KNOWN, "s", "t", "x"))
    names = (*KNOWN, "s", "t", *(("x",) if more else ()))
    released = {n: before[n] for n in names} | ({"key": [f"k{p}" for p in before["person"]]} if keyed else {})
    if rename:
        released["s"] = [rename[v] for v in released["s"]]
    changes = {"s": (("coarse", Change.GENERALIZED),)} if rename else None
    sources = {"key": "person"} if keyed else None
    return (
        build.case(
            before,
            released,
            "uqqqssx",
            nulls=nulls,
            requirements=(requirement,),
            people=PeopleCount("person", known),
            **({"sources": sources} if sources else {}),
            **({"changes": changes} if changes else {}),
        ),
        [*names, *(("key",) if keyed else ())],
    )


def named_values(draw):
    if draw.random() < 0.2:
        return {}
    names = draw.sample(sorted(SECRET), draw.choice((1, 1, 2)))
    return {n: draw.sample(SECRET[n], draw.randint(1, len(SECRET[n]))) for n in names}


def approximately(figures):
    return {n: pytest.approx(float(v), abs=1e-9) for n, v in figures.items()}


@pytest.mark.slow
@pytest.mark.parametrize("nulls", list(Nulls))
@pytest.mark.parametrize("known", [1, 2, 3, None])
def test_both_routes_and_the_definition(build, agree, nulls, known):
    measured = 0
    for number in range(COUNT):
        draw = Random(f"{nulls} {known} {number}")
        rows, requirement = random_rows(draw), lkc(draw.randint(1, 3), named_values(draw))
        keyed, more = draw.random() < 0.3 and nulls is not Nulls.WILDCARD, draw.random() < 0.4
        example, released = example_of(build, rows, requirement, nulls, known, keyed=keyed, more=more)
        expected = twin(rows, requirement, nulls, known, released, keyed=keyed)
        if expected is None:
            assert not any(m.verifiable for m in AUDIT.measure(*example.args).measured), number
            assert not AUDIT.recheck(*example.args), number
            continue
        measured += 1
        figures = agree(AUDIT, example, least=len(expected))
        held = {m.metric: m.figure.value for m in AUDIT.measure(*example.args).measured}
        assert {n: figures.get(n) for n in expected} == approximately(expected), number
        assert {n for n in figures if "known_rows" in n} == {n for n in expected if "known_rows" in n}, number
        assert held.items() <= figures.items()
        assert set(held) == {n for n in expected if requirement.c is not None or "confidence" not in n}, number
    assert measured or nulls is Nulls.WILDCARD


@pytest.mark.slow
@pytest.mark.parametrize("known", [1, 2, None])
def test_labels_count_for_the_values_behind_them(build, agree, known):
    """A person's chances of having one of the values add up over its rows, to 1 at most."""
    label = {"x": "low", "y": "low", "z": "high"}
    for number in range(COUNT):
        draw = Random(f"labels {known} {number}")
        rows = random_rows(draw, missing=False)
        requirement = lkc(draw.randint(1, 2), {"s": draw.choice((["x"], ["x", "z"], ["y", "z"]))})
        example, released = example_of(build, rows, requirement, Nulls.OWN_CATEGORY, known, keyed=False, rename=label)
        shown = [r | {"s": label[r["s"]], "behind": r["s"]} for r in rows]
        wanted = {value for _, value in requirement.pairs}
        behind = defaultdict(list)
        for row in shown:
            behind[row["s"]].append(row["behind"] in wanted)
        chances = {cell: Fraction(sum(some), len(some)) for cell, some in behind.items()}
        expected = twin(
            shown,
            requirement,
            Nulls.OWN_CATEGORY,
            known,
            released,
            keyed=False,
            chance_of=lambda row, chances=chances: chances[row["s"]],
        )
        figures = agree(AUDIT, example, least=len(expected))
        assert {n: figures.get(n) for n in expected} == approximately(expected), number


@pytest.mark.slow
@pytest.mark.parametrize("nulls", list(Nulls))
@pytest.mark.parametrize("known", [1, 3])
def test_one_row_a_person_is_as_counting_rows(build, agree, nulls, known):
    if nulls is Nulls.WILDCARD and known != 1:
        return
    for number in range(COUNT):
        draw = Random(f"one {nulls} {number}")
        rows = [row | {"person": f"p{i}"} for i, row in enumerate(random_rows(draw))]
        requirement = lkc(draw.randint(1, 3), named_values(draw))
        example, _ = example_of(build, rows, requirement, nulls, known, keyed=False)
        one, other = agree(AUDIT, example), agree(AUDIT, example.but(people=None))
        told = ("i.k", "i.confidence", "i.rows_left_out")
        assert {n: one[n] for n in told} == pytest.approx({n: other[n] for n in told}, abs=1e-9)
        assert one.get("i.known_rows_confidence", 0.0) <= 1.0


# Each person has v in one of two groups: in either half of the people, in both together everybody.
TURNS = [("A", "g1", "v"), ("A", "g2", "n"), ("B", "g1", "n"), ("B", "g2", "v")]


def turns(build, requirement, rows=TURNS, **options):
    before = {n: [r[i] for r in rows] for i, n in enumerate(("person", "p", "s"))}
    released = {n: before[n] for n in ("p", "s")}
    return build.case(before, released, "uqs", requirements=(requirement,), people=PeopleCount("person", 1), **options)


def only(**fields):
    return LKC.of("i", attributes=("p",), sensitive=by_attribute([("s", "v")]), **fields)


def test_knowing_nothing_gives_more_confidence_than_knowing_a_group(build, agree):
    example = turns(build, only(l=1, k=2, c=0.5))
    figures = agree(AUDIT, example)
    assert figures["i.confidence"] == 1.0
    by_rows = agree(AUDIT, example.but(people=None))
    assert by_rows["i.confidence"] == 0.5
    assert by_rows["i.k"] == figures["i.k"] == 2


def test_values_count_together_for_people_with_any_of_them(build, agree):
    """Two people of four have v, two others w: each of the values is had by half of them, one of both by all."""
    rows = [(p, "g", value) for p, own in {"A": "vn", "B": "vn", "C": "wn", "D": "wn"}.items() for value in own]
    both = LKC.of("i", l=1, k=2, c=1.0, attributes=("p",), sensitive=by_attribute([("s", "v"), ("s", "w")]))
    assert agree(AUDIT, turns(build, both, rows))["i.confidence"] == 1.0
    assert agree(AUDIT, turns(build, only(l=1, k=2, c=1.0), rows))["i.confidence"] == 0.5


@pytest.mark.slow
def test_rows_that_are_left_out_leave_others_linked(build, agree):
    """Everybody's x is b's, too; without b's rows, which miss what is known, x is one person's."""
    rows = [("a", "g", "v"), ("a", "g", "v"), ("b", None, "v"), ("b", None, "v")]
    found = agree(AUDIT, turns(build, only(l=1, k=2, c=1.0), rows, nulls=Nulls.EXCLUDE))
    assert found["i.known_rows_k"] == 1


def test_what_nobody_can_count_is_not_verifiable(build):
    requirement = only(l=1, k=2, c=0.5)
    example = turns(build, requirement)
    for faulty in (example.but(pairs=None), example.but(people=PeopleCount("person", 2), nulls=Nulls.WILDCARD)):
        measured = AUDIT.measure(*faulty.args).measured
        assert {m.metric for m in measured} == {"i.k", "i.confidence"}
        assert not any(m.verifiable for m in measured)
        assert not AUDIT.recheck(*faulty.args)
