"""The kit catches what it is there to catch: each broken plugin fails the check that is about its fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, Operator
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing import claims
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import faults, run, same_table
from ppdm_flow.testing.view import InMemoryView

TABLE = Table.of({"x": [f"value-{i % 7}" for i in range(100)], "y": [f"other-{i % 3}" for i in range(100)]})


@dataclass(frozen=True)
class Transform:
    """``do`` is what it does to a partition."""

    do: Callable[[Table, Any], Table]
    draws_per_row: int = 0
    told: Any = "nothing"

    def apply(self, part, draws):
        return self.do(part, draws)

    def describe(self):
        return {"told": self.told}


@dataclass
class Plugin:
    """Fake that is spec and algorithm at once."""

    make: Callable[[Any], Fitted]
    randomized: bool = False
    announced: Effect = field(default_factory=Effect)

    @property
    def spec(self) -> PluginSpec:
        outer = self

        class Broken(PluginSpec):
            def load(self):
                return lambda _params: type("A", (), {"fit": lambda _self, data, _ctx: outer.make(data)})()

        info = PluginInfo("broken", Kind.ROW_WISE, "Does something wrong.", randomized=self.randomized)
        return Broken(info, Params, "nowhere:Nothing", lambda _p, _s: outer.announced)

    def case(self, **rest) -> Case:
        return Case(self.spec, {}, TABLE, **rest)


def does(do, *, draws_per_row=0, told="nothing", **rest) -> Plugin:
    return Plugin(lambda _data: Fitted(Transform(do, draws_per_row, told)), **rest)


def keep(part, _draws):
    return part


def coarse(part, _draws):
    return part.replaced({"x": Column.of([text[:-1] + str(int(text[-1]) % 2) for text in part["x"].texts()])})


def by_code(part, _draws):
    return part.replaced({"x": Column(part["x"].codes % 2, part["x"].categories)})


def coin(part, draws):
    return part.take(draws.words(part.rows)[:, 0] % np.uint64(2) == 0)


def scribble(part, _draws):
    part["x"].codes[:] = 0
    return part


def _one(data):
    return f"{data.domain('x')[3].as_py()}.share"


CHANGES_X = Effect(changes={"x": Change.OTHER})
counter = iter(range(10_000))


def test_a_right_plugin_passes():
    assert faults(does(keep).case()) == {}
    assert faults(does(coarse, announced=CHANGES_X).case(domains={"x": frozenset(TABLE["x"].texts())})) == {}
    assert faults(does(coin, draws_per_row=1, randomized=True, announced=Effect(rows="fewer")).case()) == {}


@pytest.mark.slow(quick=13)
@pytest.mark.parametrize(
    ("check", "plugin"),
    [
        ("same_draws_same_output", does(lambda part, _: part.take(np.arange(len(part)) != next(counter) % len(part)))),
        ("draws_are_declared", does(coin, draws_per_row=1, announced=Effect(rows="fewer"))),
        ("draws_are_declared", does(keep, randomized=True)),
        ("draws_are_declared", does(keep, draws_per_row=1, randomized=True)),
        ("any_partitioning_same_output", does(lambda part, _: part.take(np.arange(len(part) // 2)))),
        ("any_partitioning_same_output", does(by_code, announced=CHANGES_X)),
        (
            "any_row_order_same_output",
            does(
                lambda part, _: part.replaced({"x": Column(np.roll(part["x"].codes, 1), part["x"].categories)}),
                announced=CHANGES_X,
            ),
        ),
        ("rows_follow_the_rule", does(lambda part, _: part.take(part.rows % 2 == 0))),
        ("rows_follow_the_rule", does(lambda part, _: part.take(np.repeat(np.arange(len(part)), 2)))),
        ("columns_follow_the_effect", does(lambda part, _: part.select(["y", "x"]))),
        ("columns_follow_the_effect", does(lambda part, _: part.select(["x"]))),
        ("untouched_columns_stay", does(coarse)),
        ("empty_partition_passes", does(lambda part, _: part if len(part) else part.select(["x"]))),
        ("account_is_json", does(keep, told=float("nan"))),
        ("account_is_json", does(keep, told=b"bytes")),
        ("account_holds_no_data", does(keep, told=f"the worst is {TABLE['x'].texts()[3]}")),
        ("account_holds_no_data", Plugin(lambda data: Fitted(Transform(keep), artifacts={"a.json": {_one(data): 1}}))),
        ("account_holds_no_data", Plugin(lambda data: Fitted(Transform(keep), {_one(data): Figure(1, "rows")}))),
        ("input_is_left_alone", does(scribble, announced=CHANGES_X)),
        ("transform_pickles", does(keep)),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_a_wrong_plugin_fails(check, plugin):
    if check == "transform_pickles":
        plugin = Plugin(lambda _data: Fitted(Forgetful()))
    assert check in faults(plugin.case())


class Forgetful:
    """Loses its state when it is pickled."""

    draws_per_row = 0
    state = "kept"

    def __setstate__(self, _state):
        self.state = "lost"

    def __getstate__(self):
        return {"some": "state"}

    def apply(self, part, _draws):
        return part if self.state == "kept" else part.take(np.arange(0))

    def describe(self):
        return {}


def test_values_outside_the_domain_are_found():
    plugin = does(coarse, announced=CHANGES_X)
    assert "domain_is_kept" in faults(plugin.case(domains={"x": frozenset({"value-0"})}))


def _refusing(column: str | None) -> Plugin:
    def make(data):
        if len(data.whole) == 1 and column is not None:
            raise PluginError(Diagnostic("PPF999", f"the column `{column}` is not fit"))
        return Fitted(Transform(keep))

    return Plugin(make)


@pytest.mark.slow
def test_bad_input_must_be_refused_with_the_columns_name():
    bad = (BadInput("x", TABLE.take(np.arange(1))),)
    assert faults(_refusing("x").case(bad=bad)) == {}
    assert "does not name" in faults(_refusing("z").case(bad=bad))["bad_input_is_refused"][0]
    assert "is accepted" in faults(_refusing(None).case(bad=bad))["bad_input_is_refused"][0]


@pytest.mark.slow
def test_an_error_must_not_quote_the_data():
    def make(data):
        if len(data.whole) == 1:
            raise PluginError(Diagnostic("PPF999", f"the column `x` has {data.domain('x')[0].as_py()[::-1]}"))
        return Fitted(Transform(keep))

    bad = (BadInput("x", TABLE.take(np.arange(1))),)
    assert "may be data" in faults(Plugin(make).case(bad=bad))["bad_input_is_refused"][0]


@pytest.mark.slow
def test_a_channel_publishes_its_domain_beside_the_release_alone():
    def make(told):
        operator = Operator("x", tuple(sorted({*TABLE["x"].texts()})), np.full(7, 0.5))
        artifacts = {"operator.json": {"operators": [operator.document()]}}
        return Fitted(Transform(keep, told=told), artifacts=artifacts, operators={"x": operator})

    assert faults(Plugin(lambda _data: make("nothing")).case()) == {}
    assert "account_holds_no_data" in faults(Plugin(lambda data: make(data.domain("x").to_pylist())).case())


def test_claims_are_measured():
    assert faults(does(coin, draws_per_row=1, randomized=True, announced=Effect(rows="fewer")).case(
        claims=(claims.share_is_kept(0.5), claims.exactly(3)))) == {"claims_hold": [ANY_COUNT]}  # fmt: skip


class _AnyCount(str):
    def __eq__(self, other):
        return str(other).endswith("rows instead of 3")

    __hash__ = None


ANY_COUNT = _AnyCount()


def test_a_wrong_channel_is_found():
    """The operator says 1/2 kept, the transform keeps all."""
    table = Table.of({"x": ["a", "b"] * 500})
    operator = Operator("x", ("a", "b"), np.array([0.5, 0.5]))
    assert claims.smallest_p(table, table, operator) < 1e-6
    flat = Operator("x", ("a", "b"), np.array([1.0, 1.0]))
    assert claims.smallest_p(table, table, flat) == 1.0
    assert claims.smallest_p(table, table.take(np.roll(np.arange(1000), 1)), flat) == 0.0


def test_an_unshuffled_order_is_found():
    case = does(keep).case(claims=(claims.order_is_random(),))
    assert "rank correlation" in faults(case)["claims_hold"][0]


def test_functions_and_their_inverses():
    said = (claims.is_function("x"), claims.is_function("x", one_to_one=True))
    case = does(coarse, announced=CHANGES_X).case(claims=said)
    assert faults(case)["claims_hold"] == ["different values of `x` become equal"]


def test_something_that_is_no_transform():
    with pytest.raises(TypeError, match="neither"):
        run(type("T", (), {"draws_per_row": 0})(), TABLE)


def test_the_view_is_the_same_in_any_partitioning():
    one, many = InMemoryView.of(TABLE), InMemoryView.of(TABLE, partition_rows=9)
    assert many.row_count == 100
    assert len(list(many.partitions())) == 12
    for columns in (["x"], ["y", "x"], []):
        a, b = one.counts(columns), many.counts(columns)
        assert a.codes.tolist() == b.codes.tolist()
        assert a.counts.tolist() == b.counts.tolist()
    assert many.domain("y").to_pylist() == ["other-0", "other-1", "other-2"]
    assert same_table(many.table(["x"]), TABLE.select(["x"]))
    assert many.sample(5).rows.tolist() == [0, 24, 49, 74, 99]
    assert many.sample(500) is TABLE
