"""One row of all rows of a person: beside a slow twin, and what requirements cannot judge is refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.anonymizers.one_row_each.algorithm import OneRowEach
from ppdm_flow.anonymizers.one_row_each.spec import OneRowEachParams, effect
from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.draws import RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure, Width
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

FACTS = {
    "who": AttributeFacts("who", Role.SUBJECT),
    "ill": AttributeFacts("ill", Role.SENSITIVE),
    "day": AttributeFacts("day", Role.INSENSITIVE, AttributeType.DATE),
    "cost": AttributeFacts("cost", Role.INSENSITIVE, AttributeType.INTEGER),
    "dose": AttributeFacts("dose", Role.INSENSITIVE, AttributeType.FLOAT),
}
CONTEXT = StepContext("step", FACTS, ())
ROWS = st.lists(
    st.tuples(
        st.sampled_from("123"),
        st.sampled_from([None, "⊥", "a", "b"]),
        st.sampled_from([None, 0, 1, 2, 5]),
        st.sampled_from([None, -3, 0, 2, 4]),
    ),
    min_size=1,
    max_size=12,
)
"""Of each row: the person, an illness, a day, and a cost that is the dose as well."""


def numbers(cells, kind):
    missing = np.array([c is None for c in cells], dtype=bool)
    dtype = np.float64 if kind is AttributeType.FLOAT else np.int64
    return NumericColumn(np.array([0 if c is None else c for c in cells], dtype=dtype), kind, missing)


def visits(rows) -> Table:
    who, ill, day, cost = ([row[i] for row in rows] for i in range(4))
    columns = {
        "who": Column.of(who),
        "ill": Column.of(ill),
        "day": numbers(day, AttributeType.DATE),
        "cost": numbers(cost, AttributeType.INTEGER),
        "dose": numbers(cost, AttributeType.FLOAT),
    }
    return Table(columns, np.arange(len(rows), dtype=np.int64) * 3 + 1)


def made(table: Table, key: str = "k", **params) -> Table:
    fitted = OneRowEach(OneRowEachParams(**params)).fit(InMemoryView.of(table), CONTEXT)
    return run(fitted.transform, table, RunKey.from_seed(key))[""]


def texts(table: Table, name: str) -> dict[str, str | None]:
    return dict(zip(table["who"].texts(), table[name].texts(), strict=True))


def people(rows):
    of_person = defaultdict(list)
    for place, row in enumerate(rows):
        of_person[row[0]].append(place)
    return of_person


@pytest.mark.parametrize("keep", ["first", "last"])
@examples(20)
@given(rows=ROWS)
def test_the_row_that_stays_and_its_most_frequent_cell(keep, rows):
    table = visits(rows)
    out = made(table, keep=keep, order="day", attributes={"ill": "most_frequent"})
    assert sorted(out["who"].texts()) == sorted(people(rows))
    stays = dict(zip(out["who"].texts(), ((out.rows - 1) // 3).tolist(), strict=True))
    for who, places in people(rows).items():
        known = [rows[p][2] for p in places if rows[p][2] is not None]
        best = None if not known else min(known) if keep == "first" else max(known)
        assert rows[stays[who]][2] == best
        cells = [rows[p][1] for p in places if rows[p][1] is not None]
        found, most = texts(out, "ill")[who], Counter(cells)
        if not cells:
            assert found is None
            continue
        tied = [c for c in dict.fromkeys(cells) if most[c] == max(most.values())]
        assert found == (rows[stays[who]][1] if rows[stays[who]][1] in tied else tied[0])
    assert texts(out, "cost") == {who: table["cost"].texts()[place] for who, place in stays.items()}


@pytest.mark.parametrize("how", ["smallest", "largest", "sum", "mean"])
@examples(12)
@given(rows=ROWS)
def test_numbers_of_all_rows(how, rows):
    out = made(visits(rows), attributes={"cost": how, "dose": how})
    for who, places in people(rows).items():
        cells = [rows[p][3] for p in places if rows[p][3] is not None]
        at = out["who"].texts().index(who)
        for name in ("cost", "dose"):
            column = out[name]
            assert bool(column.missing is not None and column.missing[at]) == (not cells)
            if not cells:
                continue
            of_all = {"smallest": min(cells), "largest": max(cells), "sum": sum(cells)}
            exact = of_all.get(how, Fraction(sum(cells), len(cells)))
            assert column.values[at] == (round(exact) if name == "cost" else float(exact))


@pytest.mark.parametrize("keep", ["random", "first"])
@examples(12)
@given(rows=ROWS)
def test_rows_are_counted_whatever_they_hold(keep, rows):
    order = {} if keep == "random" else {"order": "day"}
    out = made(visits(rows), keep=keep, attributes={"cost": "count", "dose": "sum"}, **order)
    assert isinstance(out["cost"], NumericColumn)
    assert texts(out, "cost") == {who: str(len(places)) for who, places in people(rows).items()}


def test_a_count_is_what_no_requirement_can_judge():
    near = IntervalDisclosure.of("privacy.interval_disclosure.cost", "cost", width=Width(sd=0.1), max=0.1)
    l_diverse = LDiversity.of("privacy.l_diversity.ill", "ill", l=2, attributes=("cost",))
    assert problems([near], attributes={"cost": "count"}) == ["PPF783"]
    assert problems([l_diverse], attributes={"cost": "count"}) == ["PPF783"]
    assert problems(attributes={"cost": "count"}) == []


@examples(20)
@given(rows=ROWS)
def test_all_values_of_a_person_become_a_set(rows):
    for name, of, place in (("ills", "ill", 1), ("days", "day", 2)):
        out = made(visits(rows), sets={name: of})
        assert out.names == (*(n for n in FACTS if n != of), name)
        found = dict(zip(out["who"].texts(), out.sets[name].texts(), strict=True))
        texts_of = visits(rows)[of].texts()
        for who, places in people(rows).items():
            cells = {texts_of[p] for p in places if rows[p][place] not in (None, "⊥")}
            assert set(found[who]) == cells
            assert len(found[who]) == len(cells)


def test_an_attribute_becomes_a_set_with_its_hierarchy():
    above = HierarchySpec(levels=(("a", ("x",)), ("b", ("x",))))
    facts = {**FACTS, "ill": replace(FACTS["ill"], hierarchy=above, domain=("a", "b"))}
    found = effect(OneRowEachParams(sets={"ills": "ill"}), Scope("step", facts, ()))
    assert found.problems == ()
    assert (found.drops, found.derivations["ills"].computed_from) == (("ill",), ("ill",))
    (added,) = found.adds
    assert (added.name, added.role, added.hierarchy, added.domain) == ("ills", Role.ITEMS, above, ("a", "b"))


@pytest.mark.parametrize(
    ("sets", "more", "codes"),
    [
        ({"ills": "illl"}, {}, ["PPF606"]),
        ({"ills": "who"}, {}, ["PPF782"]),
        ({"ills": "ill"}, {"basket": AttributeFacts("basket", Role.ITEMS)}, ["PPF782"]),
        ({"ills": "ill"}, {"ill": FACTS["ill"].changed("noise", Change.PERTURBED)}, ["PPF783"]),
        ({"ills": "ill", "days": "day"}, {}, ["PPF782"]),
        ({"ills": "ill"}, {}, []),
    ],
)
def test_what_makes_no_set(sets, more, codes):
    found = effect(OneRowEachParams(sets=sets), Scope("step", FACTS | more, ()))
    assert [p.code for p in found.problems] == codes


def test_one_cell_and_a_set_of_the_same_attribute():
    params = OneRowEachParams(attributes={"ill": "most_frequent"}, sets={"ills": "ill"})
    assert "PPF782" in [p.code for p in effect(params, Scope("step", FACTS, ())).problems]
    with pytest.raises(PluginError, match="PPF782"):
        OneRowEach(params).fit(InMemoryView.of(visits([("1", "a", 0, 0)])), CONTEXT)


def test_a_requirement_on_the_values_is_not_one_on_the_set():
    asked = (LDiversity.of("privacy.l_diversity.ill", "ill", l=2, attributes=("cost",)),)
    found = effect(OneRowEachParams(sets={"ills": "ill"}), Scope("step", FACTS, asked))
    assert [p.code for p in found.problems] == ["PPF783"]
    assert "km_anonymity" in (found.problems[0].hint or "")
    on_sets = (KmAnonymity.of("privacy.km_anonymity", attribute="ill", k=2, m=2),)
    assert effect(OneRowEachParams(sets={"ills": "ill"}), Scope("step", FACTS, on_sets)).problems == ()


def test_any_row_is_as_likely_to_stay_and_one_row_each_stays_as_it_is():
    table = visits([("1", "a", 1, 1)] * 4 + [("2", "b", 2, 7)])
    stayed = Counter(made(table, str(key)).rows[0] for key in range(400))
    assert sorted(stayed) == [1, 4, 7, 10]
    assert all(60 < n < 140 for n in stayed.values())
    alone = visits([("1", "a", 1, 1), ("2", None, None, None)])
    every = {"ill": "most_frequent", "cost": "sum", "dose": "mean", "day": "largest"}
    out = made(alone, attributes=every)
    assert all(out[n].texts() == alone[n].texts() for n in alone.names)


def test_a_sum_beyond_its_type_ends_the_run():
    table = visits([("1", "a", 1, 2**62), ("1", "a", 1, 2**62)])
    with pytest.raises(PluginError, match="beyond its type"):
        made(table, attributes={"cost": "sum"})


def problems(requirements=(), facts=FACTS, **params):
    found = effect(OneRowEachParams(**params), Scope("step", facts, tuple(requirements)))
    return [p.code for p in found.problems]


def test_what_no_requirement_can_judge_is_refused():
    l_diverse = LDiversity.of("privacy.l_diversity.ill", "ill", l=2, attributes=("day",))
    near = IntervalDisclosure.of("privacy.interval_disclosure.cost", "cost", width=Width(sd=0.1), max=0.1)
    assert problems([l_diverse], attributes={"ill": "most_frequent"}) == []
    assert problems([l_diverse], attributes={"day": "largest"}) == ["PPF783"]
    assert problems([l_diverse, near], attributes={"dose": "sum"}) == []
    for how in ("sum", "mean", "largest", "most_frequent"):
        assert problems([near], attributes={"cost": how}) == ["PPF783"]
    renamed = {**FACTS, "price": AttributeFacts("price", Role.INSENSITIVE, AttributeType.INTEGER, source="cost")}
    assert problems([near], renamed, attributes={"price": "sum"}) == ["PPF783"]


@pytest.mark.parametrize(
    ("params", "codes"),
    [
        ({"keep": "first"}, ["PPF782"]),
        ({"order": "day"}, ["PPF782"]),
        ({"keep": "last", "order": "ill"}, ["PPF848"]),
        ({"keep": "last", "order": "dya"}, ["PPF606"]),
        ({"attributes": {"ill": "sum"}}, ["PPF848"]),
        ({"attributes": {"day": "sum"}}, ["PPF782"]),
        ({"attributes": {"ill": "count"}}, ["PPF848"]),
        ({"attributes": {"day": "count"}}, ["PPF782"]),
        ({"attributes": {"dose": "count"}}, ["PPF782"]),
        ({"attributes": {"who": "count"}}, ["PPF782"]),
        ({"attributes": {"who": "most_frequent"}}, ["PPF782"]),
        ({"attributes": {"il": "most_frequent"}}, ["PPF606"]),
    ],
)
def test_what_makes_no_sense_is_refused(params, codes):
    assert problems(**params) == codes


def test_without_a_subject_or_with_drawn_values_nothing_is_made():
    assert problems(facts={n: f for n, f in FACTS.items() if n != "who"}) == ["PPF780"]
    drawn = {**FACTS, "ill": AttributeFacts("ill", Role.SENSITIVE, changes=(("pram", Change.PERTURBED),))}
    assert problems(facts=drawn, attributes={"ill": "most_frequent"}) == ["PPF783"]
