"""Steps of every kind, in a chain: rows that go, orders that wait, whole tables, generated rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.engine.events import ignore_events
from ppdm_flow.engine.local.engine import LocalEngine
from ppdm_flow.engine.local.transforms import MemoryStream
from ppdm_flow.engine.seam import Resources
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.steps.origins import channels
from ppdm_flow.engine.streams.reading import Budget
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import ConfiguredPlugin, Plan, ReleaseNode, SourceNode, StepNode
from ppdm_flow.sdk.anonymizer import Fitted, Operator
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec
from ppdm_flow.tables.table import Table

FACTS = tuple(AttributeFacts(n, Role.INSENSITIVE, source=n) for n in ("x", "y"))


class Spec(PluginSpec):
    __slots__ = ("local",)

    def load(self):
        return self.local


def step(name: str, algorithm: type, kind: Kind, source: str, effect: Effect, facts=FACTS) -> StepNode:
    spec = Spec(PluginInfo(name, kind, ""), Params, "")
    object.__setattr__(spec, "local", algorithm)
    return StepNode(name, ConfiguredPlugin(spec, Params(), {}, "tests", "0"), (source,), effect, facts)


def plan(*steps: StepNode) -> Plan:
    source = SourceNode(None, None, {}, None, (), False, "error", FACTS, ())
    return Plan("p", "p", "", ".", source, steps, (), (), (), (), Nulls.OWN_CATEGORY, "reproducible", "1", False, {})


def graph(tools, *steps: StepNode, rows: int = 20, partition: int = 6) -> Graph:
    table = Table.of({"x": [str(i) for i in range(rows)], "y": [str(i % 3) for i in range(rows)]})
    stream = MemoryStream(table, FACTS, partition, Stop())
    resources = Resources(partition, Budget(1 << 20), Stop())
    made = Graph(plan(*steps), tools.KEY, stream, None, LocalEngine(), resources, ignore_events)
    made.fit(2)
    return made


class Plain:
    draws_per_row = 0

    def __init__(self, params):
        pass

    def fit(self, data, ctx):
        return Fitted(type(self).Transform())


class Evens(Plain):
    class Transform:
        draws_per_row = 0

        def describe(self):
            return {}

        def apply(self, part, draws):
            return part.take(part.rows % 2 == 0)


class Descending(Plain):
    class Transform:
        draws_per_row = 0

        def describe(self):
            return {}

        def keys(self, part, draws):
            return (np.uint64(1000) - part.rows.astype(np.uint64)).astype(np.uint64)


class First(Plain):
    """Keeps the first rows of the table, as it is ordered; the others are an output of their own."""

    class Transform:
        draws_per_row = 0

        def describe(self):
            return {}

        def apply_table(self, table, draws):
            return {"": table.take(np.arange(3)), "rest": table.take(np.arange(3, len(table))).select(["x"])}


class Made(Plain):
    class Transform:
        draws_per_row = 1

        def describe(self):
            return {}

        def generate(self, rows, draws):
            words = draws.words(rows)[:, 0]
            texts = [str(int(w) % 10) for w in words]
            return Table({"x": Table.of({"x": texts})["x"], "y": Table.of({"y": texts})["y"]}, rows)


def texts(graph: Graph, reference: str, column: str = "x") -> list[str]:
    return graph.views[reference].table([column])[column].texts()


def test_rows_that_go_take_their_keys_with_them(tools):
    made = graph(
        tools,
        step("down", Descending, Kind.ORDER, "source", Effect(rows="reordered")),
        step("evens", Evens, Kind.ROW_WISE, "down", Effect(rows="fewer")),
        step("first", First, Kind.TABLE, "evens", Effect(rows="fewer", outputs={"": ("x", "y"), "rest": ("x",)})),
    )
    assert texts(made, "first") == ["18", "16", "14"]
    assert texts(made, "first.rest") == ["12", "10", "8", "6", "4", "2", "0"]
    assert made.views["first.rest"].schema.names == ("x",)
    results = {r.name: (r.rows_in, r.rows_out) for r in made.results()}
    assert results == {"down": (20, 20), "evens": (20, 10), "first": (10, 3)}


def test_an_order_that_waits_leaves_rows_where_they_are_for_views(tools):
    made = graph(tools, step("down", Descending, Kind.ORDER, "source", Effect(rows="reordered")))
    assert texts(made, "down") == [str(i) for i in range(20)]
    keys = np.concatenate([p.keys for p in made.streams["down"].parts()])
    assert keys.tolist() == [1000 - i for i in range(20)]


@pytest.mark.parametrize("partition", [1, 7, 100])
def test_generated_rows_do_not_depend_on_partitions(tools, partition):
    made = graph(tools, step("made", Made, Kind.GENERATOR, "source", Effect(rows="generated")), partition=partition)
    whole = graph(tools, step("made", Made, Kind.GENERATOR, "source", Effect(rows="generated")), partition=1000)
    assert texts(made, "made") == texts(whole, "made")
    assert made.views["made"].row_count == 20


def test_columns_that_a_step_leaves_alone_do_not_pass_through_it(tools):
    calls = []

    class Watched(Plain):
        class Transform:
            draws_per_row = 0

            def describe(self):
                return {}

            def apply(self, part, draws):
                calls.append(part.names)
                return part

    effect = Effect(changes={"x": Change.OTHER})
    made = graph(tools, step("watched", Watched, Kind.ROW_WISE, "source", effect))
    made.views["watched"].counts(["y"])
    assert calls == []
    made.views["watched"].counts(["x"])
    assert calls
    assert set(calls) == {("x", "y")}


# which operators still describe a release


def operator(name: str) -> Operator:
    return Operator(name, ("a", "b"), np.array([0.5, 0.5]))


def perturbing(name: str, attribute: str, source: str) -> StepNode:
    return step(name, Evens, Kind.ROW_WISE, source, Effect(changes={attribute: Change.PERTURBED}))


def release(source: str, *names: str) -> ReleaseNode:
    facts = tuple(AttributeFacts(n, Role.SENSITIVE, source="x") for n in names)
    return ReleaseNode("r", source, "r.csv", "csv", {}, "internal", facts)


def known(steps: list[StepNode], fitted: dict[str, dict[str, Operator]], *names: str) -> dict[str, tuple[str, str]]:
    """(step, reference) of the channel of each released attribute."""
    whole = {s.name: Fitted(object(), operators=fitted.get(s.name, {})) for s in steps}  # type: ignore[arg-type]
    found = channels(plan(*steps), release(steps[-1].name, *names), whole)
    return {n: (c.operator.step, c.reference) for n, c in found.items()}


def test_an_operator_is_known_where_nothing_happens_after_it():
    steps = [perturbing("p", "x", "source"), step("s", Descending, Kind.ORDER, "p", Effect(rows="reordered"))]
    assert known(steps, {"p": {"x": operator("x")}}, "x", "y") == {"x": ("p", "source")}
    assert known(steps, {"p": {"x": operator("x")}}, "y") == {}


def test_an_operator_follows_a_new_name():
    steps = [perturbing("p", "x", "source"), step("n", Evens, Kind.ROW_WISE, "p", Effect(renames={"x": "z"}))]
    assert known(steps, {"p": {"x": operator("x")}}, "z") == {"z": ("p", "source")}


@pytest.mark.parametrize(
    "effect",
    [
        Effect(changes={"x": Change.GENERALIZED}),
        Effect(drops=("x",)),
        Effect(rows="generated"),
    ],
)
def test_an_operator_is_not_known_after_a_change(effect):
    steps = [perturbing("p", "x", "source"), step("n", Evens, Kind.ROW_WISE, "p", effect)]
    assert known(steps, {"p": {"x": operator("x")}}, "x") == {}


def test_two_operators_on_top_of_each_other_are_no_known_one():
    steps = [perturbing("p", "x", "source"), perturbing("q", "x", "p")]
    fitted = {"p": {"x": operator("x")}, "q": {"x": operator("x")}}
    assert known(steps, fitted, "x") == {}
    assert known(steps[:1], fitted, "x") == {"x": ("p", "source")}


def test_operators_of_two_steps_are_both_known():
    steps = [perturbing("p", "x", "source"), perturbing("q", "y", "p")]
    fitted = {"p": {"x": operator("x")}, "q": {"y": operator("y")}}
    assert known(steps, fitted, "x", "y") == {"x": ("p", "source"), "y": ("q", "p")}
    assert replace(operator("x"), step="p").step == "p"
