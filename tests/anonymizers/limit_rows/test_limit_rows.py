"""At most so many rows, or values, a person: beside a slow twin, and each choice as likely."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.anonymizers.limit_rows.algorithm import LimitRows
from ppdm_flow.anonymizers.limit_rows.spec import LimitRowsParams, effect
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
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
}
CONTEXT = StepContext("step", FACTS, ())


def visits(people, ills=None, days=None) -> Table:
    """``people``, ``ills`` of shape (rows,); ``days`` with None for a missing one."""
    count = len(people)
    days = [0] * count if days is None else days
    missing = np.array([d is None for d in days], dtype=bool)
    numbers = np.array([0 if d is None else d for d in days], dtype=np.int64)
    return Table(
        {
            "who": Column.of([f"p{p}" for p in people]),
            "ill": Column.of([None if i is None else f"i{i}" for i in ([0] * count if ills is None else ills)]),
            "day": NumericColumn(numbers, AttributeType.DATE, missing),
        },
        np.arange(count, dtype=np.int64),
    )


def fitted(table: Table, **params):
    return LimitRows(LimitRowsParams(**params)).fit(InMemoryView.of(table), CONTEXT)


def kept(table: Table, key: str = "k", **params) -> list[int]:
    return run(fitted(table, **params).transform, table, RunKey.from_seed(key))[""].rows.tolist()


def twin(table: Table, key: str = "k", rows=None, keep="random", order=None, values=None, attribute=None) -> list[int]:
    """Go through the people one by one, with the same lots."""
    lots = Draws(RunKey.from_seed(key).step("step"), 1).words(table.rows)[:, 0].tolist()
    cells = {n: table[n].texts() for n in table.names}
    of_person = defaultdict(list)
    for place in np.argsort(table.rows).tolist():
        of_person[cells["who"][place]].append(place)
    stay = []
    for own in of_person.values():
        if attribute is not None:
            first = {}
            for place in own:
                first.setdefault(cells[attribute][place], lots[place])
            chosen = sorted(first, key=first.__getitem__)[:values]
            stay += [p for p in own if cells[attribute][p] in chosen]
            continue
        sign = -1 if keep == "last" else 1
        numbers = table[order].values.tolist() if order else [0] * len(table)
        ranked = sorted(
            own,
            key=lambda p: (order is not None and cells[order][p] is None, sign * numbers[p], lots[p]),
        )
        stay += ranked[:rows]
    return [int(table.rows[p]) for p in sorted(stay)]


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([None, 0, 1, 2]), st.sampled_from([None, 0, 1, 5])),
    min_size=1,
    max_size=20,
)
PARAMS = st.one_of(
    st.fixed_dictionaries({"rows": st.integers(1, 4)}),
    st.fixed_dictionaries(
        {"rows": st.integers(1, 4), "keep": st.sampled_from(["first", "last"]), "order": st.just("day")}
    ),
    st.fixed_dictionaries({"values": st.integers(1, 3), "attribute": st.just("ill")}),
)


@examples(25)
@given(ROWS, PARAMS, st.randoms(use_true_random=False))
def test_the_twin_keeps_the_same_rows_in_any_order_of_the_table(rows, params, random):
    table = visits(*zip(*rows, strict=True))
    places = list(range(len(rows)))
    random.shuffle(places)
    other = table.take(np.array(places))
    assert kept(table, **params) == twin(table, **params)
    assert kept(other, **params) == twin(other, **params)
    assert sorted(kept(other, **params)) == kept(table, **params)


@examples(12)
@given(ROWS, st.integers(1, 3))
def test_figures_count_what_went(rows, most):
    table = visits(*zip(*rows, strict=True))
    figures = fitted(table, rows=most).figures
    gone = sorted(set(range(len(rows))) - set(kept(table, rows=most)))
    assert figures["rows_dropped"].value == len(gone)
    assert figures["people_touched"].value == len({table["who"].texts()[g] for g in gone})
    touched = fitted(table, values=most, attribute="ill").figures["people_touched"].value
    gone = sorted(set(range(len(rows))) - set(kept(table, values=most, attribute="ill")))
    assert touched == len({table["who"].texts()[g] for g in gone})


@pytest.mark.slow
def test_every_choice_of_rows_is_equally_likely():
    """Two of four rows of one person, 3,000 keys: six pairs, chi-square at an error of 1e-6."""
    table = visits([0, 1, 0, 0, 1, 0, 2])
    pairs = dict.fromkeys(itertools.combinations([0, 2, 3, 5], 2), 0)
    for i in range(3000):
        pairs[tuple(r for r in kept(table, f"key {i}", rows=2) if r in (0, 2, 3, 5))] += 1
    assert stats.chisquare(list(pairs.values())).pvalue > 1e-6


@pytest.mark.slow
def test_a_frequent_value_is_no_likelier_to_stay_and_the_figure_is_the_expected_one():
    """One of three values, of 5, 1 and 1 rows, 3,000 keys: chi-square at an error of 1e-6."""
    table = visits([0] * 7, [1, 1, 0, 1, 1, 2, 1])
    seen = {(2,): 0, (5,): 0, (0, 1, 3, 4, 6): 0}
    for i in range(3000):
        seen[tuple(kept(table, f"key {i}", values=1, attribute="ill"))] += 1
    assert stats.chisquare(list(seen.values())).pvalue > 1e-6
    figure = fitted(table, values=1, attribute="ill").figures["rows_dropped"]
    assert figure.value == pytest.approx(7 - 7 / 3)
    assert "expected" in figure.note


def test_first_and_last_go_by_the_order_and_rows_without_one_come_last():
    table = visits([0, 0, 0, 0], days=[5, None, 3, 9])
    assert kept(table, rows=2, keep="first", order="day") == [0, 2]
    assert kept(table, rows=2, keep="last", order="day") == [0, 3]
    assert kept(table, rows=3, keep="last", order="day") == [0, 2, 3]


@pytest.mark.parametrize("cell", [None, "⊥"])
def test_a_row_that_is_nobodys_is_named(cell):
    table = visits([0, 1, 2]).replaced({"who": Column.of(["a", "b", cell])})
    with pytest.raises(PluginError, match="row 3: the column `who`"):
        kept(table, rows=1)


def test_a_subject_of_numbers():
    numbers = NumericColumn(np.array([7, 8, 7, 7]), AttributeType.INTEGER)
    table = visits([0, 1, 0, 0]).replaced({"who": numbers})
    assert kept(table, rows=2) == kept(visits([0, 1, 0, 0]), rows=2)
    gone = NumericColumn(np.array([7, 0, 7, 7]), AttributeType.INTEGER, np.array([0, 1, 0, 0], dtype=bool))
    with pytest.raises(PluginError, match="row 2"):
        kept(table.replaced({"who": gone}), rows=2)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"rows": 1, "values": 1, "attribute": "ill"},
        {"values": 1},
        {"rows": 1, "attribute": "ill"},
        {"rows": 1, "keep": "first"},
        {"rows": 1, "order": "day"},
        {"values": 1, "attribute": "ill", "keep": "last", "order": "day"},
    ],
)
def test_parameters_that_clash(params):
    found = effect(LimitRowsParams(**params), Scope("s", FACTS, ()))
    assert {p.code for p in found.problems} == {"PPF782"}
    with pytest.raises(PluginError, match="PPF782"):
        kept(visits([0, 0]), **params)


def test_what_the_plan_is_told():
    found = effect(LimitRowsParams(rows=2, keep="last", order="day"), Scope("s", FACTS, ()))
    assert (found.reads, found.rows, found.by_others, found.problems) == (("who", "day"), "fewer", True, ())
    nobody = {n: f for n, f in FACTS.items() if n != "who"}
    assert [p.code for p in effect(LimitRowsParams(rows=2), Scope("s", nobody, ())).problems] == ["PPF780"]
    weighted = FACTS | {"n": AttributeFacts("n", Role.WEIGHT)}
    assert [p.code for p in effect(LimitRowsParams(rows=2), Scope("s", weighted, ())).problems] == ["PPF782"]
    texts = effect(LimitRowsParams(rows=2, keep="last", order="ill"), Scope("s", FACTS, ()))
    assert [p.code for p in texts.problems] == ["PPF848"]
    absent = effect(LimitRowsParams(values=2, attribute="il"), Scope("s", FACTS, ()))
    assert [p.code for p in absent.problems] == ["PPF606"]


def test_a_subject_of_other_values_says_no_longer_whose_row_it_is():
    for change, expected in ((Change.OTHER, ["PPF783"]), (Change.SUPPRESSED, ["PPF783"]), (Change.PSEUDONYMIZED, [])):
        facts = FACTS | {"who": FACTS["who"].changed("earlier", change)}
        assert [p.code for p in effect(LimitRowsParams(rows=2), Scope("s", facts, ())).problems] == expected


def test_rows_are_not_chosen_by_drawn_values():
    facts = FACTS | {"ill": FACTS["ill"].changed("earlier", Change.PERTURBED)}
    found = effect(LimitRowsParams(values=1, attribute="ill"), Scope("s", facts, ()))
    assert [(p.code, p.path) for p in found.problems] == [("PPF783", ("attribute",))]
    assert effect(LimitRowsParams(rows=1), Scope("s", facts, ())).problems == ()


def test_many_rows_of_many_people():
    rng = np.random.default_rng(1)
    names = pa.array([f"p{i:05}" for i in range(30_000)])
    table = Table(
        {
            "who": Column(rng.integers(0, 30_000, 100_000).astype(np.int32), names),
            "ill": Column(rng.integers(0, 20, 100_000).astype(np.int32), pa.array([f"i{i}" for i in range(20)])),
        },
        np.arange(100_000, dtype=np.int64),
    )
    one = run(fitted(table, rows=2).transform, table)[""]
    other = run(fitted(table, values=2, attribute="ill").transform, table)[""]
    assert np.bincount(one["who"].codes).max() == 2
    pairs = np.unique(np.column_stack([other["who"].codes, other["ill"].codes]), axis=0)
    assert np.bincount(pairs[:, 0]).max() == 2
