"""Dates move by an offset of their person: intervals stay, offsets are uniform."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiers import examples

from ppdm_flow.anonymizers.shift_dates.algorithm import ShiftDates
from ppdm_flow.anonymizers.shift_dates.spec import ShiftParams, effect
from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.table import Table
from ppdm_flow.testing import claims
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance, run
from ppdm_flow.testing.view import InMemoryView

FACTS = {
    "who": AttributeFacts("who", Role.SUBJECT),
    "came": AttributeFacts("came", Role.QUASI_IDENTIFIER, AttributeType.DATE),
    "seen": AttributeFacts("seen", Role.INSENSITIVE, AttributeType.TIMESTAMP),
    "age": AttributeFacts("age", Role.INSENSITIVE, AttributeType.INTEGER),
}
NOBODY = {n: f for n, f in FACTS.items() if n != "who"}
DAY = 86_400_000_000


def stays(people, days, missing=None) -> Table:
    days = np.asarray(days, dtype=np.int64)
    mask = None if missing is None else np.asarray(missing, dtype=bool)
    return Table(
        {
            "who": Column.of([f"p{p}" for p in people]),
            "came": NumericColumn(days, AttributeType.DATE, mask),
            "seen": NumericColumn(days * DAY + 5_000_007, AttributeType.TIMESTAMP),
        },
        np.arange(len(days), dtype=np.int64),
    )


def shifted(table: Table, key: str = "k", facts=FACTS, partition_rows=None, **params) -> Table:
    params = {"attributes": ("came", "seen"), **params}
    step = ShiftDates(ShiftParams(**params)).fit(InMemoryView.of(table), StepContext("step", facts, ()))
    return run(step.transform, table, RunKey.from_seed(key), partition_rows)[""]


def twin(table: Table, low: int, high: int, zero: bool, key: str = "k") -> list[int]:
    """One person after the other: the offset is a place in the list of all offsets."""
    draws = Draws(RunKey.from_seed(key).step("step"), 1)
    offsets = [o for o in range(low, high + 1) if zero or o != 0]
    moved = []
    for who, day in zip(table["who"].texts(), table["came"].values.tolist(), strict=True):
        word = int(draws.words_at(draws.addresses("subject", [who]), 1)[0, 0])
        moved.append(day + offsets[(word >> 11) * len(offsets) // 2**53])
    return moved


@examples(20)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-5000, 20000)), min_size=1, max_size=12),
    st.integers(-400, 400),
    st.integers(2, 400),
    st.booleans(),
    st.integers(1, 5),
)
def test_the_twin_moves_alike_whatever_the_partitions(rows, low, width, zero, size):
    table = stays(*zip(*rows, strict=True))
    moved = shifted(table, partition_rows=size, days=(low, low + width), zero=zero)
    assert moved["came"].values.tolist() == twin(table, low, low + width, zero)
    by_days = moved["seen"].values - table["seen"].values
    assert (by_days == (moved["came"].values - table["came"].values) * DAY).all()


def test_a_persons_rows_move_alike_and_people_differ():
    table = stays([0, 1, 0, 2, 0], [10, 10, 200, 10, 3000])
    moved = shifted(table, days=(-10_000, 10_000))["came"].values - table["came"].values
    assert len({moved[i] for i in (0, 2, 4)}) == 1
    assert len(set(moved.tolist())) == 3


@pytest.mark.parametrize(("low", "high", "zero"), [(-3, 3, True), (-3, 3, False), (2, 8, False), (-5, 0, False)])
def test_offsets_are_uniform(low, high, zero):
    """20,000 people: chi-square over all offsets at an error of 1e-6."""
    table = stays(range(20_000), np.zeros(20_000))
    moved = shifted(table, days=(low, high), zero=zero)["came"].values
    offsets = [o for o in range(low, high + 1) if zero or o]
    assert set(moved.tolist()) == set(offsets)
    assert stats.chisquare([(moved == o).sum() for o in offsets]).pvalue > 1e-6


@pytest.mark.slow
def test_one_person_is_uniform_over_keys_and_two_are_independent():
    """3,000 keys, two people, three offsets: chi-square over nine pairs at an error of 1e-6."""
    table = stays([0, 1], [0, 0])
    seen = np.zeros((3, 3))
    for i in range(3000):
        one, other = shifted(table, f"key {i}", days=(0, 2))["came"].values
        seen[one, other] += 1
    assert stats.chisquare(seen.ravel()).pvalue > 1e-6


def test_without_a_subject_each_row_moves_by_itself_and_its_attributes_alike():
    table = stays([0] * 200, np.zeros(200))
    moved = shifted(table, facts=NOBODY, days=(-50, 50))
    assert len(set(moved["came"].values.tolist())) > 50
    assert (moved["seen"].values - table["seen"].values == moved["came"].values * DAY).all()


@pytest.mark.parametrize(("unit", "size"), [("hours", 3600), ("seconds", 1)])
def test_timestamps_move_by_smaller_units(unit, size):
    table = stays(range(50), np.zeros(50))
    moved = shifted(table, attributes=("seen",), **{unit: (1, 3)})["seen"].values - table["seen"].values
    assert set(moved.tolist()) == {n * size * 1_000_000 for n in (1, 2, 3)}


def test_missing_cells_and_types_stay():
    table = stays([0, 1, 2], [5, 6, 7], [False, True, False])
    moved = shifted(table, days=(1, 9))["came"]
    assert isinstance(moved, NumericColumn)
    assert (moved.kind, moved.missing.tolist()) == (AttributeType.DATE, [False, True, False])


NO_END = 2_932_896
"""9999-12-31 in days since 1970."""


def test_values_to_keep_stay_and_others_move():
    table = stays([0, 0, 1], [5, NO_END, 7])
    moved = shifted(table, attributes=("came",), days=(1, 9), keep=("9999-12-31",))["came"].values
    assert moved[1] == NO_END
    assert 1 <= moved[0] - 5 <= 9
    assert 1 <= moved[2] - 7 <= 9


def test_dates_beyond_the_calendar_name_what_this_step_can_do():
    with pytest.raises(PluginError) as raised:
        shifted(stays([0], [NO_END]), attributes=("came",), days=(1, 9))
    diagnostic = raised.value.diagnostics[0]
    assert diagnostic.code == "PPF849"
    assert "source.missing" in diagnostic.help
    assert "keep" in diagnostic.help


def test_values_to_keep_are_dates():
    params = ShiftParams(attributes=("came",), days=(1, 9), keep=("9999-12-31", "never"))
    problems = effect(params, Scope("step", FACTS, ())).problems
    assert [(p.code, p.path) for p in problems] == [("PPF782", ("keep", "1"))]


def test_a_row_that_is_nobodys_is_named_and_dates_beyond_the_calendar_are_refused():
    table = stays([0, 1, 2], [5, 6, 7])
    with pytest.raises(PluginError, match="row 2: the column `who`"):
        shifted(table.replaced({"who": Column.of(["a", None, None])}), days=(1, 9))
    with pytest.raises(PluginError, match="PPF849"):
        shifted(table, days=(4_000_000, 5_000_000))
    with pytest.raises(PluginError, match="PPF849"):
        shifted(table, days=(2**39, 2**40))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"days": (0, 2), "hours": (0, 2)},
        {"days": (2, 1)},
        {"days": (3, 3)},
        {"days": (0, 1), "zero": False},
        {"hours": (0, 5)},
    ],
)
def test_parameters_that_clash(params):
    found = effect(ShiftParams(attributes=("came",), **params), Scope("s", FACTS, ()))
    assert {p.code for p in found.problems} == {"PPF782"}
    with pytest.raises(PluginError, match="PPF782"):
        shifted(stays([0], [1]), **params)


def test_what_the_plan_is_told():
    found = effect(ShiftParams(attributes=("came",), days=(0, 5)), Scope("s", FACTS, ()))
    assert (found.reads, found.numbers, found.serves, found.problems) == (("came", "who"), ("came",), (), ())
    derivation = found.derivations["came"]
    assert (derivation.computed_from, derivation.chosen_by, derivation.value_map) == (("came",), ("who",), False)
    amounts = effect(ShiftParams(attributes=("age",), days=(0, 5)), Scope("s", FACTS, ()))
    assert [p.code for p in amounts.problems] == ["PPF848"]


def test_a_subject_of_other_values_says_no_longer_whose_row_it_is():
    for change, expected in ((Change.OTHER, ["PPF783"]), (Change.SUPPRESSED, ["PPF783"]), (Change.PSEUDONYMIZED, [])):
        facts = FACTS | {"who": FACTS["who"].changed("earlier", change)}
        assert [
            p.code for p in effect(ShiftParams(attributes=("came",), days=(0, 5)), Scope("s", facts, ())).problems
        ] == expected


class TestShiftOfRows(AnonymizerConformance):
    """Without a subject: the kit moves subjects to other rows, and offsets go with them."""

    def case(self):
        table = stays([i % 700 for i in range(2000)], [i * 37 % 900 for i in range(2000)])
        facts = {n: f for n, f in NOBODY.items() if n in table.names}
        return Case(
            registry.load("anonymizers", "shift_dates"),
            {"attributes": ["came", "seen"], "days": ["-90", "90"]},
            table,
            {n: f.role for n, f in facts.items()},
            facts=facts,
            claims=(claims.exactly(2000),),
            bad=(BadInput("age", params={"attributes": ["age"], "days": ["-90", "90"]}),),
        )


def test_many_rows_of_many_people():
    rng = np.random.default_rng(1)
    names = pa.array([f"p{i:05}" for i in range(30_000)])
    days = rng.integers(0, 20_000, 100_000)
    table = Table(
        {
            "who": Column(rng.integers(0, 30_000, 100_000).astype(np.int32), names),
            "came": NumericColumn(days, AttributeType.DATE),
        },
        np.arange(100_000, dtype=np.int64),
    )
    moved = shifted(table, attributes=("came",), days=(-182, 182))["came"].values - days
    own = np.full(30_000, -999)
    own[table["who"].codes] = moved
    assert (own[table["who"].codes] == moved).all()


def test_dates_of_people_whose_subject_is_gone_are_warned_of():
    params, gone = ShiftParams(attributes=("came",), days=(0, 5)), {n: f for n, f in FACTS.items() if n != "who"}
    found = effect(params, Scope("s", gone, (), people=PeopleCount("who", 1))).problems
    assert [(p.code, p.warning) for p in found] == [("PPF780", True)]
    assert effect(params, Scope("s", gone, ())).problems == ()
    assert effect(params, Scope("s", FACTS, (), people=PeopleCount("who", 1))).problems == ()
