"""Apriori anonymization: the paper's example, random tables judged by brute force, the kit, and what it refuses."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from random import Random

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.sets import Baskets, PackedSets
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance
from ppdm_flow.testing.view import InMemoryView

SPEC = registry.load("anonymizers", "apriori_anonymization")
PAPER = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
AB = tuple((item, (item[0].upper(),)) for item in ("a1", "a2", "b1", "b2"))
BYS = (None, ["roll_up"], ["leave_out"], ["roll_up", "leave_out"])


def facts(levels=None):
    return AttributeFacts("basket", Role.ITEMS, hierarchy=levels and HierarchySpec(levels=levels), source="basket")


def asked(k, m):
    return (KmAnonymity.of("privacy.km_anonymity", attribute="basket", k=k, m=m),)


def run(params, rows, levels=None, requirements=(), weights=None):
    columns = {} if weights is None else {"w": Column.of([str(w) for w in weights])}
    fields = [Field("basket", Role.ITEMS), *([Field("w", Role.WEIGHT)] if weights is not None else [])]
    whole = Table(columns, np.arange(len(rows)), {"basket": Baskets.of(rows)})
    ctx = StepContext("step", {"basket": facts(levels)}, requirements)
    fitted = SPEC.load()(SPEC.params.model_validate(params)).fit(InMemoryView(whole, Schema(tuple(fields))), ctx)
    return fitted.transform.apply(whole, Draws(RunKey.from_seed("x").step("step"), 0)).sets["basket"].texts(), fitted


def rarest(rows, m, weights=None):
    """The fewest sets of a combination that occurs, by counting all; None where none does."""
    found = Counter()
    for row, weight in zip(rows, weights or [1] * len(rows), strict=True):
        for size in range(1, m + 1):
            for items in combinations(sorted(row), size):
                found[items] += weight
    return min(found.values(), default=None)


def test_the_example_of_the_paper():
    assert rarest(PAPER, 2) == 1
    released, fitted = run({}, PAPER, AB, asked(2, 2))
    assert released == [["A", "b1", "b2"], ["A", "b1"], ["A", "b1", "b2"], ["A", "b2"]]
    assert fitted.figures["ncp"].value == pytest.approx(2.5 / 11)
    assert {n: f.value for n, f in fitted.figures.items() if n != "ncp"} == {
        "items_before": 4, "items_after": 3, "left_out": 0, "left_out_occurrences": 0, "emptied": 0,
        "mean_size_before": 11 / 4, "mean_size_after": 10 / 4,
    }  # fmt: skip
    assert fitted.transform.describe() == {"attribute": "basket", "k": 2, "m": 2, "items": 3}


@pytest.mark.slow(quick=71)
@pytest.mark.parametrize("seed", range(500))
def test_random_releases_are_frequent_by_brute_force(seed):
    draw = Random(seed)
    items = [f"i{n}" for n in range(draw.randint(1, 9))]
    depth, groups = draw.randint(1, 3), [draw.randint(1, 4) for _ in range(3)]
    levels = []
    for n, item in enumerate(items):
        above, at = [], n
        for level in range(depth):
            at %= groups[level] if level == 0 else max(1, at)
            at = at % groups[0] if level == 0 else at // 2
            above.append(f"g{level}-{at}")
        levels.append((item, tuple(above)))
    rows = [draw.sample(items, draw.randint(0, min(6, len(items)))) for _ in range(draw.randint(0, 20))]
    weights = [draw.randint(1, 3) for _ in rows] if draw.random() < 0.3 else None
    by, k, m = BYS[seed % 4], draw.randint(2, 5), draw.randint(1, 4)
    own = tuple(levels) if draw.random() < 0.8 or by == ["roll_up"] else None
    mixed = {label for _, above in levels for label in above}
    if own and draw.random() < 0.3:  # some items are categories already
        rows = [sorted({*row, *([draw.choice(sorted(mixed))] if draw.random() < 0.4 else [])}) for row in rows]
    params = {"k": k, "m": m, **({"by": by} if by and (own or by != ["roll_up", "leave_out"]) else {})}
    held = sum(w for w, r in zip(weights or [1] * len(rows), rows, strict=True) if r)
    if by == ["roll_up"] and any(rows) and held < k:
        with pytest.raises(PluginError, match="PPF784"):
            run(params, rows, own, (), weights)
        return
    released, fitted = run(params, rows, own, (), weights)
    least = rarest(released, m, weights)
    assert least is None or least >= k
    stands_for = {label: {i for i, above in levels if label in (i, *above)} for label in {*items, *mixed}}
    stands_for["*"] = set(items)
    for before, after in zip(rows, released, strict=True):  # nothing is said of anybody that is not so
        assert all(any(stands_for[item] <= stands_for[label] for item in before) for label in after)
    assert 0 <= (fitted.figures["ncp"].value or 0) <= 1


@pytest.mark.slow(quick=63)
@pytest.mark.parametrize("seed", range(200))
def test_every_combination_is_in_sets_of_enough_people(seed):
    draw = Random(seed)
    items = [f"i{n}" for n in range(draw.randint(1, 7))]
    levels = tuple((item, (f"g{n % 3}",)) for n, item in enumerate(items)) if draw.random() < 0.6 else None
    whose = [f"p{p}" for p in range(draw.randint(1, 9)) for _ in range(draw.randint(1, 4))]
    draw.shuffle(whose)
    rows = [draw.sample(items, draw.randint(0, min(4, len(items)))) for _ in whose]
    k, m = draw.randint(2, 4), draw.randint(1, 3)
    released = of_people(rows, whose, {"k": k, "m": m}, levels)
    holders = defaultdict(set)
    for row, person in zip(released, whose, strict=True):
        for combination in (c for size in range(1, m + 1) for c in combinations(sorted(row), size)):
            holders[combination].add(person)
    assert all(len(people) >= k for people in holders.values())


def of_people(rows, whose, params, levels=None, requirements=()):
    table = Table({"who": Column.of(whose)}, np.arange(len(rows)), {"basket": Baskets.of(rows)})
    every = {"who": AttributeFacts("who", Role.SUBJECT, source="who"), "basket": facts(levels)}
    ctx = StepContext("step", every, requirements, people=PeopleCount.of("who", "1"))
    view = InMemoryView(table, Schema((Field("who", Role.SUBJECT), Field("basket", Role.ITEMS))))
    fitted = SPEC.load()(SPEC.params.model_validate(params)).fit(view, ctx)
    return fitted.transform.apply(table, Draws(RunKey.from_seed("x").step("step"), 0)).sets["basket"].texts()


def test_the_sets_of_one_person_are_no_crowd():
    rows = [["wine"]] * 5 + [["bread"]] * 5
    assert of_people(rows, ["one"] * 5 + list("abcde"), {"k": 5, "m": 1}) == [[]] * 5 + [["bread"]] * 5
    assert of_people(rows, list("vwxyzabcde"), {"k": 5, "m": 1}) == rows


def test_whose_the_sets_are_has_to_reach_the_step():
    people, params = PeopleCount.of("who", "1"), SPEC.params.model_validate({})
    effect = SPEC.effect(params, Scope("s", {"basket": facts(AB)}, asked(5, 2), people=people))
    assert [p.code for p in effect.problems] == ["PPF780"]
    both = {"who": AttributeFacts("who", Role.SUBJECT), "basket": facts(AB)}
    effect = SPEC.effect(params, Scope("s", both, asked(5, 2), people=people))
    assert (effect.problems, effect.reads) == ((), ("basket", "who"))
    assert "sets of 5 people or more" in effect.guarantee
    with pytest.raises(PluginError, match="PPF780"):
        SPEC.load()(params).fit(
            InMemoryView.of(Table.of({})), StepContext("s", {"basket": facts()}, asked(2, 2), people=people)
        )


def test_one_way_each():
    rows = [["a1", "b1"], ["a2", "b1"], ["b1"]]
    assert run({"k": 2, "by": ["roll_up"]}, rows, AB)[0] == [["A", "b1"], ["A", "b1"], ["b1"]]
    out, fitted = run({"k": 2, "by": ["leave_out"]}, rows, AB)
    assert out == [["b1"], ["b1"], ["b1"]]
    assert (fitted.figures["left_out"].value, fitted.figures["left_out_occurrences"].value) == (2, 2)
    assert fitted.figures["ncp"].value == pytest.approx(2 / 5)
    assert run({"k": 2, "m": 1}, [["a1"], ["b1"], ["b1"]], AB)[0] == [[], ["b1"], ["b1"]]  # `*` says no more
    assert run({"k": 2, "m": 1, "by": ["roll_up"]}, [["a1"], ["b1"], ["b1"]], AB)[0] == [["*"], ["*"], ["*"]]
    out, fitted = run({"k": 2}, [["a"], ["b"], ["b"]])
    assert (out, fitted.figures["emptied"].value) == ([[], ["b"], ["b"]], 1)


def test_an_item_and_its_category_become_one():
    rows = [["A", "a1"], ["A", "a1"], ["a2"], ["A", "a2"]]
    assert run({"k": 3, "m": 2}, rows, AB)[0] == [["A"], ["A"], ["A"], ["A"]]


def test_no_row_no_item_and_one_row():
    for rows in ([], [[]], [[], []]):
        out, fitted = run({"k": 2}, rows, AB)
        assert out == rows
        assert fitted.figures["ncp"].value is None
    assert run({"k": 2}, [["a1", "b1"]], AB)[0] == [[]]
    assert run({"k": 2}, [["a1", "b1"]] * 2, AB)[0] == [["a1", "b1"]] * 2
    assert run({"k": 2}, [["a1"]], AB, (), [2])[0] == [["a1"]]  # one row for two people
    assert run({"k": 2, "by": ["leave_out"]}, [["a1"], ["b1"]], AB, (), [0, 2])[0] == [[], ["b1"]]


def test_steps_before_may_leave_nothing(monkeypatch):
    monkeypatch.setattr(InMemoryView, "partitions", lambda _self, _names: iter(()))
    assert run({"k": 2}, [], AB, asked(2, 2))[1].figures["items_before"].value == 0


def test_categories_of_texts_and_numbers():
    prefix = AttributeFacts("basket", Role.ITEMS, hierarchy=HierarchySpec(prefix=(1,)), source="basket")
    whole = Table({}, np.arange(3), {"basket": Baskets.of([["J45"], ["J46"], ["K20"]])})
    view = InMemoryView(whole, Schema((Field("basket", Role.ITEMS),)))
    fitted = SPEC.load()(SPEC.params.model_validate({"k": 2, "m": 1})).fit(
        view, StepContext("s", {"basket": prefix}, ())
    )
    out = fitted.transform.apply(whole, Draws(RunKey.from_seed("x").step("s"), 0)).sets["basket"].texts()
    assert out == [["J**"], ["J**"], []]


@pytest.mark.parametrize(
    ("params", "requirements", "kept"),
    [
        ({}, asked(5, 3), (5, 3, True)),
        ({"k": 7}, asked(5, 3), (7, 3, True)),
        ({"k": 4}, asked(5, 3), (4, 3, False)),
        ({"m": 2}, asked(5, 3), (5, 2, False)),
        ({"k": 4}, (), (4, 2, False)),
    ],
)
def test_what_is_kept_is_what_is_asked(params, requirements, kept):
    found = SPEC.effect(SPEC.params.model_validate(params), Scope("s", {"basket": facts(AB)}, requirements))
    assert (f"at most {kept[1]} items" in found.guarantee, f"in {kept[0]} sets" in found.guarantee) == (True, True)
    assert found.serves == (("privacy.km_anonymity",) if kept[2] else ())
    assert found.problems == ()
    assert found.changes == {"basket": Change.GENERALIZED}
    assert found.derivations["basket"].value_map


def test_problems():
    def effect(params, attributes, requirements=()):
        return SPEC.effect(SPEC.params.model_validate(params), Scope("s", attributes, requirements))

    def codes(*args):
        return [(p.code, p.path) for p in effect(*args).problems]

    assert codes({}, {"basket": facts(AB)}) == [("PPF780", ())]
    assert codes({"by": ["roll_up"], "k": 2}, {"basket": facts()}) == [("PPF780", ("by",))]
    assert codes({}, {"town": AttributeFacts("town", Role.INSENSITIVE)}) == [("PPF573", ())]
    assert codes({"attribute": "baskt"}, {"basket": facts(AB)}) == [("PPF606", ("attribute",))]
    assert effect({"by": ["leave_out"], "k": 2}, {"basket": facts(AB)}).changes == {"basket": Change.SUPPRESSED}
    for params in ({"k": 1}, {"m": 0}, {"m": 5}, {"by": []}, {"by": ["swap"]}):
        with pytest.raises(ValueError, match=r"k|m|by"):
            SPEC.params.model_validate(params)
    other = facts(AB), (KmAnonymity.of("privacy.km_anonymity", attribute="films", k=2, m=2),)
    assert codes({}, {"basket": other[0]}, other[1]) == [("PPF780", ())]


def test_a_hierarchy_that_divides_a_label_is_refused():
    levels = (("a", ("X", "P")), ("b", ("X", "Q")), ("c", ("Y", "Q")))
    with pytest.raises(PluginError) as error:
        run({"k": 2}, [["a"], ["b"]], levels)
    assert [d.code for d in error.value.diagnostics] == ["PPF788"]
    with pytest.raises(PluginError) as error:
        run({"k": 2}, [["a"], ["c"]], AB)
    assert [d.code for d in error.value.diagnostics] == ["PPF789"]


ITEMS = [f"item-{n:02d}-canary" for n in range(40)]
LINES = tuple((name, (f"kind-{n % 7}-canary", f"class-{n % 7 % 2}-canary")) for n, name in enumerate(ITEMS))


def shop(rows=1500):
    rng = np.random.default_rng(4)
    baskets = [list(rng.choice(ITEMS, rng.integers(0, 7), replace=False)) for _ in range(rows)]
    return Table.of({"town": [f"town-{i % 9}" for i in range(rows)]}).resettled({"basket": Baskets.of(baskets)})


def frequent(k, m):
    def claim(outcome):
        least = rarest(outcome.released.sets["basket"].texts(), m)
        return None if least is None or least >= k else "a combination is rare"

    return claim


class TestConformance(AnonymizerConformance):
    def case(self):
        packed = shop(20).resettled({"basket": PackedSets.of(shop(20).sets["basket"])})
        stranger = shop(3).resettled({"basket": Baskets.of([["a stranger"], [], []])})
        return Case(
            SPEC,
            {},
            shop(),
            requirements=asked(5, 3),
            facts={"basket": facts(LINES)},
            claims=(frequent(5, 3),),
            bad=(
                BadInput("basket", table=packed),
                BadInput("basket", table=stranger),
                BadInput("basket", requirements=()),
            ),
        )


class TestLeavingOut(AnonymizerConformance):
    def case(self):
        return Case(SPEC, {"k": "3", "m": "2"}, shop(), facts={"basket": facts()}, claims=(frequent(3, 2),))


class TestCheaper(AnonymizerConformance):
    def case(self):
        params = {"k": "9", "m": "2", "by": ["roll_up", "leave_out"]}
        return Case(SPEC, params, shop(), facts={"basket": facts(LINES)}, claims=(frequent(9, 2),))
