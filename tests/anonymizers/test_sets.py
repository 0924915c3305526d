"""Steps on sets of items: through the kit, against plain Python, and on what they must refuse."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts, Change, HierarchySpec
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.sets import Baskets, PackedSets
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance
from ppdm_flow.testing.view import InMemoryView

SETTINGS = examples(20)
ITEMS = [f"item-{n:02d}-canary" for n in range(40)]
LINES = tuple((name, (f"kind-{n % 7}-canary", f"class-{n % 7 % 2}-canary")) for n, name in enumerate(ITEMS))
FACTS = AttributeFacts("basket", Role.ITEMS, hierarchy=HierarchySpec(levels=LINES), source="basket")
DRAWS = Draws(RunKey.from_seed("sets").step("step"), 0)


def spec(name):
    return registry.load("anonymizers", name)


def shop(rows: int = 1500) -> Table:
    rng = np.random.default_rng(4)
    baskets = [list(rng.choice(ITEMS, rng.integers(0, 9), replace=False)) for _ in range(rows)]
    towns = Table.of({"town": [f"town-{i % 9}" for i in range(rows)]})
    return towns.resettled({"basket": Baskets.of(baskets)})


def packed() -> Table:
    whole = shop(20)
    return whole.resettled({"basket": PackedSets.of(whole.sets["basket"])})


def case(name, params, **more):
    return Case(spec(name), params, shop(), facts={"basket": FACTS}, **more)


def at_most(most, least=0):
    def claim(outcome):
        sizes = outcome.released.sets["basket"].sizes
        return None if len(sizes) and sizes.max() <= most and sizes.min() >= least else "a set is too long or too short"

    return claim


class TestDiscard(AnonymizerConformance):
    def case(self):
        bad = (BadInput("basket", table=packed()), BadInput("baskt", params={"max": 3, "attribute": "baskt"}))
        return case("limit_items", {"max": "5", "min": "2"}, claims=(at_most(5, 2),), bad=bad)


class TestTruncate(AnonymizerConformance):
    def case(self):
        return case("limit_items", {"max": "3", "longer": "truncate"}, claims=(at_most(3),))


def only(kept):
    def claim(outcome):
        there = set(outcome.released.sets["basket"].compact().categories.to_pylist())
        return None if there <= kept else "an item was not left out"

    return claim


class TestLeaveOut(AnonymizerConformance):
    def case(self):
        params = {"without": ITEMS[:3], "rarer_than": {"count": 2}}
        bad = (BadInput("basket", params={"without": ["a stranger"]}),)
        return case("limit_items", params, claims=(only(set(ITEMS[3:])),), bad=bad)


class TestRollUp(AnonymizerConformance):
    def case(self):
        domain = frozenset(above[0] for _, above in LINES)
        stranger = shop(3).resettled({"basket": Baskets.of([["a stranger"], [], []])})
        bad = (BadInput("basket", table=packed()), BadInput("basket", table=stranger))
        return case("roll_up", {}, domains={"basket": domain}, bad=bad)


class TestRename(AnonymizerConformance):
    def case(self):
        return case("rename", {"attributes": {"basket": "bag"}})


class TestDrop(AnonymizerConformance):
    def case(self):
        return case("drop", {"attributes": ["basket"]})


class TestSample(AnonymizerConformance):
    def case(self):
        return case("sample", {"fraction": "0.5"})


class TestShuffle(AnonymizerConformance):
    def case(self):
        return case("shuffle_rows", {})


def run(name, params, baskets, facts=FACTS, start=0):
    whole = Table({}, np.arange(start, start + len(baskets)), {"basket": Baskets.of(baskets)})
    view = InMemoryView(whole, Schema((Field("basket", Role.ITEMS),)))
    plugin = spec(name)
    bound = plugin.params.model_validate(params)
    fitted = plugin.load()(bound).fit(view, StepContext("step", {"basket": facts}, ()))
    return fitted.transform.apply(whole, DRAWS), fitted


ROWS = st.lists(st.sets(st.sampled_from(ITEMS), max_size=7).map(sorted), max_size=20)


@SETTINGS
@given(rows=ROWS, most=st.integers(1, 6), least=st.integers(0, 6))
def test_discarding_is_what_python_discards(rows, most, least):
    least = min(least, most)
    out, fitted = run("limit_items", {"max": most, "min": least}, rows)
    stays = [i for i, row in enumerate(rows) if least <= len(row) <= most]
    assert out.rows.tolist() == stays
    assert out.sets["basket"].texts() == [rows[i] for i in stays]
    assert fitted.figures["discarded"].value == len(rows) - len(stays)
    assert fitted.figures["longer"].value == sum(len(row) > most for row in rows)
    assert fitted.figures["items_lost"].value == sum(map(len, rows)) - sum(len(rows[i]) for i in stays)


@SETTINGS
@given(rows=ROWS, most=st.integers(1, 6))
def test_truncated_sets_are_parts_of_what_they_were(rows, most):
    out, fitted = run("limit_items", {"max": most, "longer": "truncate"}, rows)
    found = out.sets["basket"].texts()
    assert out.sets["basket"].valid()
    assert [len(row) for row in found] == [min(len(row), most) for row in rows]
    assert all(set(after) <= set(before) for after, before in zip(found, rows, strict=True))
    assert fitted.figures["items_lost"].value == sum(len(row) - min(len(row), most) for row in rows)


@SETTINGS
@given(rows=ROWS, named=st.sets(st.sampled_from(ITEMS), max_size=4), least=st.integers(1, 4), most=st.integers(1, 6))
def test_items_are_left_out_before_sets_are_measured(rows, named, least, most):
    facts = AttributeFacts("basket", Role.ITEMS, domain=tuple(ITEMS), source="basket")
    params = {"rarer_than": {"count": least}, "max": most} | ({"without": sorted(named)} if named else {})
    out, fitted = run("limit_items", params, rows, facts)
    count = {item: sum(item in row for row in rows) for item in ITEMS}
    left = [[i for i in row if i not in named and count[i] >= least] for row in rows]
    stays = [i for i, row in enumerate(left) if len(row) <= most]
    assert out.rows.tolist() == stays
    assert out.sets["basket"].texts() == [left[i] for i in stays]
    assert out.sets["basket"].valid()
    assert not named & set(out.sets["basket"].categories.to_pylist())
    gone = {i for row in rows for i in row} - {i for i in ITEMS if i not in named and count[i] >= least}
    assert fitted.figures["left_out"].value == len(gone)
    assert fitted.figures["left_out_occurrences"].value == sum(count[i] for i in gone)


def test_a_share_of_the_sets_and_sets_that_become_empty():
    rows = [["a", "b"], ["a"], ["b"], ["c"]]
    facts = AttributeFacts("basket", Role.ITEMS, source="basket")
    out, _ = run("limit_items", {"rarer_than": {"ratio": 0.5}}, rows, facts)
    assert out.sets["basket"].texts() == [["a", "b"], ["a"], ["b"], []]
    out, _ = run("limit_items", {"rarer_than": {"ratio": 0.5}, "min": 1}, rows, facts)
    assert out.sets["basket"].texts() == [["a", "b"], ["a"], ["b"]]
    out, _ = run("limit_items", {"without": ["a"]}, rows, facts)
    assert out.sets["basket"].texts() == [["b"], [], ["b"], ["c"]]


@pytest.mark.parametrize("params", [{}, {"longer": "truncate", "min": 1}, {"without": []}, {"max": 2, "min": 3}])
def test_nothing_is_limited_by_halves(params):
    with pytest.raises(ValueError, match="validation error"):
        spec("limit_items").params.model_validate(params)


def test_a_misspelt_item_is_not_left_in():
    facts = AttributeFacts("basket", Role.ITEMS, source="basket")
    with pytest.raises(PluginError) as raised:
        run("limit_items", {"without": ["insuline"]}, [["insulin"]], facts)
    assert raised.value.diagnostics[0].code == "PPF665"
    assert "`insulin`" not in str(raised.value)


def test_every_item_of_a_truncated_set_is_as_likely_to_stay():
    out, _ = run("limit_items", {"max": 3, "longer": "truncate"}, [ITEMS[:10]] * 20_000)
    counts = np.bincount(out.sets["basket"].items, minlength=10)
    expected = 20_000 * 3 / 10
    # each count is binomial; the hash is fixed, so this cannot flake: 6 standard deviations
    assert np.abs(counts - expected).max() < 6 * np.sqrt(expected * 0.7)
    pairs = np.zeros((10, 10))
    for row in out.sets["basket"].items.reshape(-1, 3):
        pairs[np.ix_(row, row)] += 1
    together = 20_000 * (3 * 2) / (10 * 9)
    assert np.abs(pairs[~np.eye(10, dtype=bool)] - together).max() < 6 * np.sqrt(together)


@SETTINGS
@given(rows=ROWS, level=st.integers(1, 2))
def test_rolling_up_is_what_python_rolls_up(rows, level):
    out, fitted = run("roll_up", {"level": level}, rows)
    above = {item: ancestors[level - 1] for item, ancestors in LINES}
    assert [set(row) for row in out.sets["basket"].texts()] == [{above[i] for i in row} for row in rows]
    assert out.sets["basket"].valid()
    assert fitted.figures["items_before"].value == len({i for row in rows for i in row})


def test_rolling_up_twice_goes_one_level_further():
    once, _ = run("roll_up", {}, [ITEMS[:4], []])
    facts = FACTS.changed("coarse", Change.GENERALIZED)
    twice, _ = run("roll_up", {}, once.sets["basket"].texts(), facts)
    assert twice.sets["basket"].texts() == [["class-0-canary", "class-1-canary"], []]


def test_a_hierarchy_file_takes_the_place_of_the_declared_one(tmp_path):
    (tmp_path / "h.csv").write_text("a,x\nb,x\n")
    whole = Table({}, np.arange(1), {"basket": Baskets.of([["a", "b"]])})
    view = InMemoryView(whole, Schema((Field("basket", Role.ITEMS),)))
    plugin = spec("roll_up")
    params = plugin.params.model_validate({"hierarchy": "h.csv", "delimiter": ","})
    context = StepContext("step", {"basket": FACTS}, (), home=tmp_path)
    out = plugin.load()(params).fit(view, context).transform.apply(whole, DRAWS)
    assert out.sets["basket"].texts() == [["x"]]


@pytest.mark.parametrize(
    ("facts", "rows", "code"),
    [
        (AttributeFacts("basket", Role.ITEMS), [["a"]], "PPF780"),
        (AttributeFacts("basket", Role.ITEMS, hierarchy=HierarchySpec(levels=(("a", ("b",)),))), [["zq"]], "PPF789"),
        (
            AttributeFacts("basket", Role.ITEMS, hierarchy=HierarchySpec(levels=(("a", ("b",)), ("b", ("c",))))),
            [["a", "b"]],
            "PPF788",
        ),
    ],
)
def test_hierarchies_that_cannot_be_used(facts, rows, code):
    with pytest.raises(PluginError) as caught:
        run("roll_up", {}, rows, facts)
    assert caught.value.diagnostics[0].code == code
    assert "zq" not in str(caught.value)


def test_steps_say_beforehand_what_is_wrong():
    towns = {"town": AttributeFacts("town", Role.QUASI_IDENTIFIER)}
    both = {**towns, "basket": AttributeFacts("basket", Role.ITEMS)}

    def codes(name, params, attributes):
        plugin = spec(name)
        effect = plugin.effect(plugin.params.model_validate(params), Scope("step", attributes, ()))
        return [p.code for p in effect.problems]

    assert codes("limit_items", {"max": 3}, towns) == ["PPF573"]
    assert codes("limit_items", {"max": 3, "attribute": "town"}, both) == ["PPF573"]
    assert codes("limit_items", {"max": 3, "attribute": "twn"}, both) == ["PPF606"]
    assert codes("roll_up", {}, both) == ["PPF780"]
    assert codes("roll_up", {"hierarchy": "h.csv"}, both) == []
    with pytest.raises(ValueError, match="min"):
        spec("limit_items").params.model_validate({"max": 2, "min": 3})


def test_effects_say_what_becomes_of_rows_and_items():
    def effect(params):
        plugin = spec("limit_items")
        return plugin.effect(plugin.params.model_validate(params), Scope("step", {"basket": FACTS}, ()))

    assert (effect({"max": 3}).rows, dict(effect({"max": 3}).changes)) == ("fewer", {})
    cut = effect({"max": 3, "longer": "truncate"})
    assert (cut.rows, dict(cut.changes)) == ("same", {"basket": Change.SUPPRESSED})
    assert effect({"max": 3, "longer": "truncate", "min": 1}).rows == "fewer"


def test_the_alphabet_of_a_partition_does_not_matter():
    rows = [ITEMS[:6], ITEMS[3:9]]
    out, fitted = run("limit_items", {"max": 2, "longer": "truncate"}, rows)
    wide = Baskets.of(rows).onto(pa.array(list(reversed(ITEMS))))
    again = fitted.transform.apply(Table({}, np.arange(2), {"basket": wide}), DRAWS)
    assert [set(r) for r in again.sets["basket"].texts()] == [set(r) for r in out.sets["basket"].texts()]
