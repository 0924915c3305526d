"""Plugins of other distributions are lent memory that they cannot write to, and what they return is copied."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ppdm_flow.core.attributes import Change
from ppdm_flow.engine.calls.lending import Loan, frozen_operator
from ppdm_flow.sdk.anonymizer import Fitted, Operator
from ppdm_flow.sdk.matrix_operator import MatrixOperator
from ppdm_flow.sdk.spec import Effect
from ppdm_flow.tables.buffers import frozen, frozen_texts
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.frozen import frozen_counts, frozen_sets
from ppdm_flow.tables.sets import Baskets, Expansion, PackedSets, SeededSets
from ppdm_flow.tables.table import Table

WAYS = {
    "its flag": lambda a: a.setflags(write=True),
    "its flags": lambda a: setattr(a.flags, "writeable", True),
    "a view": lambda a: a.view().setflags(write=True),
    "a slice": lambda a: a[:1].setflags(write=True),
    "its base": lambda a: memoryview(a.base).cast("B").__setitem__(0, 1),
    "an array over its base": lambda a: np.frombuffer(a.base, np.uint8).setflags(write=True),
    "a memoryview": lambda a: memoryview(a).cast("B").__setitem__(0, 1),
    "strides": lambda a: np.lib.stride_tricks.as_strided(a, writeable=True).fill(0),
    "an Arrow buffer": lambda a: np.frombuffer(pa.py_buffer(a), np.uint8).setflags(write=True),
    "DLPack": lambda a: np.from_dlpack(a).setflags(write=True),
    "an output": lambda a: np.add(a, a, out=a),
    "a fill": lambda a: a.fill(0),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_frozen_array_cannot_be_made_writeable(way):
    ours = np.arange(6, dtype=np.int32)
    theirs = frozen(ours)
    with pytest.raises((ValueError, TypeError, BufferError)):
        WAYS[way](theirs)
    assert ours.tolist() == list(range(6))


def test_it_shows_the_same_memory_and_nothing_leads_back_to_it():
    ours = np.arange(6, dtype=np.int32)
    theirs = frozen(ours)
    assert np.shares_memory(ours, theirs)
    assert not isinstance(theirs.base, np.ndarray)
    assert theirs.base.parent is None
    turned = frozen(ours.reshape(2, 3).T)
    assert turned.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert frozen(np.zeros((0, 3))).shape == (0, 3)


def test_an_array_that_is_pointed_elsewhere_takes_nothing_with_it():
    """``__setstate__`` gives an array other memory: the one who did it is alone with that."""
    ours = np.arange(6, dtype=np.int32)
    theirs = frozen(ours)
    theirs.__setstate__(pickle.loads(pickle.dumps(ours + 9)).__reduce__()[2])
    theirs.fill(0)
    assert ours.tolist() == list(range(6))


def test_texts_cannot_be_spelled_anew():
    ours = pa.array(["Rome", "Oslo", "Bern"]).slice(1)
    assert not memoryview(ours.buffers()[2]).readonly  # this is why
    theirs = frozen_texts(ours)
    assert theirs.to_pylist() == ["Oslo", "Bern"]
    assert all(b is None or (not b.is_mutable and b.parent is None) for b in theirs.buffers())
    with pytest.raises(TypeError):
        memoryview(theirs.buffers()[2])[0] = 65
    assert frozen_texts(pa.array([], pa.string())).to_pylist() == []


def test_counts_and_sets():
    table = Table.of({"town": ["x", "y", "x", None]})
    found = frozen_counts(count(table, ["town"]))
    baskets = Baskets.of([["a", "b"], [], ["c"], ["a"]])
    packed = PackedSets.of(baskets)
    seeded = SeededSets(np.zeros((1, 5), np.uint16), np.zeros(1, np.int32), baskets.categories, Expansion((0.5, 0.5)))
    arrays = [found.codes, found.counts, frozen_sets(baskets).items, frozen_sets(packed).words]
    for array in (*arrays, frozen_sets(seeded).seeds):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    assert frozen_sets(baskets).texts() == baskets.texts()
    assert frozen_sets(packed).baskets().texts() == baskets.texts()


def outsider(plan, name, algorithm, tools, **effect):
    """The plan with another algorithm in the step or audit of that name, of another distribution."""

    def other(node):
        if node.name != name:
            return node
        told = {"effect": replace(node.effect, **effect)} if effect else {}
        return replace(node, bound=replace(node.bound, distribution="acme"), **told)

    plan = tools.swapped(plan, name, algorithm)
    return replace(plan, steps=tuple(map(other, plan.steps)), audits=tuple(map(other, plan.audits)))


class Step:
    """A step that does nothing, for others to spoil."""

    draws_per_row = 0

    def __init__(self, params):
        self.params = params

    def fit(self, data, ctx):
        return Fitted(self)

    def describe(self):
        return {}

    def apply(self, part, draws):
        return part


def forced(array):
    """Write into an array by all means that numpy has."""
    for way in WAYS.values():
        try:
            way(array)
        except (ValueError, TypeError, BufferError):
            continue
    with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
        array.setflags(write=True)


class Scribbles(Step):
    """Tries to change all that it is given, where others would see it."""

    def fit(self, data, ctx):
        counts, table = data.counts(["town"]), data.table(["town", "age"])
        for array in (counts.codes, counts.counts, table["age"].codes, table.rows, data.sample(9)["town"].codes):
            forced(array)
        forced(next(data.partitions(["town"]))["town"].codes)
        with pytest.raises(TypeError):
            memoryview(data.domain("town").buffers()[2])[0] = 65
        with pytest.raises(TypeError):
            ctx.declared["town"] = frozenset()
        return Fitted(self)

    def apply(self, part, draws):
        forced(part["town"].codes)
        forced(part.rows)
        return part


def same_but_for(one, other):
    return {name for name in one if one[name] != other[name]}


@pytest.mark.slow
def test_a_step_that_tries_to_write_changes_nothing(bench, tools):
    bench.data(tools.rows(200))
    honest = tools.released(bench.run(outsider(bench.plan(), "bands", Step, tools)).run_dir)
    tried = tools.released(bench.run(outsider(bench.plan(), "bands", Scribbles, tools)).run_dir)
    assert same_but_for(honest, tried) == set()


def test_what_it_takes_out_of_its_own_dictionary_is_missed(bench, tools):
    class Pops(Step):
        def apply(self, part, draws):
            part.columns.pop("town")
            return part

    bench.data(tools.rows(200))
    error = bench.fails(outsider(bench.plan(), "bands", Pops, tools))
    assert [d.code for d in error.diagnostics] == ["PPF905"]


def test_another_column_in_the_place_of_what_was_lent_is_a_change(bench, tools):
    class Points(Step):
        """Gives the column that it was lent other cells, and hands on the very same object."""

        def apply(self, part, draws):
            object.__setattr__(part["town"], "codes", np.zeros(len(part), dtype=np.int32))
            return part

    bench.data(tools.rows(200))
    error = bench.fails(outsider(bench.plan(), "bands", Points, tools))
    assert [d.code for d in error.diagnostics] == ["PPF905"]


class Sly(np.ndarray):
    """Says of itself that it equals everything."""

    def __array_function__(self, function, types, args, kwargs):
        return True

    def __array_ufunc__(self, *args, **kwargs):
        return np.array(True)


def test_an_array_that_lies_about_itself_is_made_plain(bench, tools):
    class Lies(Step):
        def apply(self, part, draws):
            town = part["town"]
            return part.replaced({"town": Column(np.zeros(len(town), np.int32).view(Sly), town.categories)})

    bench.data(tools.rows(200))
    error = bench.fails(outsider(bench.plan(), "bands", Lies, tools))
    assert [d.code for d in error.diagnostics] == ["PPF905"]


@pytest.mark.slow
def test_what_a_step_changes_after_it_returned_reaches_nobody(bench, tools):
    """A step hands back arrays of its own, keeps them, and writes into them when it is next asked."""
    written = []

    class Later(Step):
        held = ()

        def apply(self, part, draws):
            for codes, rows, texts in self.held:
                codes[:], rows[:] = 0, 0
                memoryview(texts.buffers()[2])[0] = 65
                written.append(len(rows))
            town = part["town"]
            mine, rows = Column(town.codes.copy(), pa.array(town.categories.to_pylist())), part.rows.copy()
            self.held = ((mine.codes, rows, mine.categories),)
            return Table({**part.columns, "town": mine}, rows)

    bench.data(tools.rows(400))
    small = {"partition_rows": 50, "workers": 1}
    honest = tools.released(bench.run(outsider(bench.plan(), "bands", Step, tools), **small).run_dir)
    sly = tools.released(bench.run(outsider(bench.plan(), "bands", Later, tools), **small).run_dir)
    assert len(written) > 7
    assert same_but_for(honest, sly) == set()


@pytest.mark.slow
def test_one_thread_at_a_time_calls_a_step(bench, tools):
    """What a plugin keeps between calls is its own affair: nothing says that it may be called by several threads."""
    inside, most = [], []

    class Busy(Step):
        def apply(self, part, draws):
            inside.append(part)
            most.append(len(inside))
            time.sleep(0.002)
            inside.pop()
            return part

    bench.data(tools.rows(400))
    bench.run(outsider(bench.plan(), "bands", Busy, tools), partition_rows=20, workers=4)
    assert len(most) >= 20
    assert set(most) == {1}


@pytest.mark.parametrize(
    "column",
    [
        lambda size: Column(np.full(size, 7, np.int32), pa.array(["x"])),
        lambda size: Column(np.full(size, -3, np.int32), pa.array(["x"])),
        lambda size: Column(np.zeros(size), pa.array(["x"])),
        lambda size: Column(np.zeros(size, np.int32), ["x"]),
        lambda size: Column(np.zeros(size, np.int32), pa.array(["x", None])),
        lambda size: Column(
            np.zeros(size, np.int32),
            pa.Array.from_buffers(
                pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
            ),
        ),
        lambda size: None,
    ],
    ids=["codes above", "codes below", "fractions", "a list", "a missing category", "bytes that are no text", "none"],
)
def test_malformed_columns_are_refused(bench, tools, column):
    class Spoils(Step):
        def apply(self, part, draws):
            changed = column(len(part))
            if changed is None:
                return None
            return part.replaced({"age": changed})

    bench.data(tools.rows(200))
    error = bench.fails(outsider(bench.plan(), "bands", Spoils, tools))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (3, ["PPF905"])


def test_a_well_formed_change_that_is_declared_passes(bench, tools):
    class Coarser(Step):
        def apply(self, part, draws):
            return part.replaced({"age": Column(np.zeros(len(part), np.int16), pa.array(["all"]))})

    bench.data(tools.rows(200))
    done = bench.run(outsider(bench.plan(), "bands", Coarser, tools))
    assert tools.released(done.run_dir)["study/study.csv"].count(b"all") == 200


def test_an_audit_cannot_change_what_others_measure(bench, tools):
    class Audits:
        def __init__(self, params):
            self.params = params

        def measure(self, original, candidate, ctx):
            forced(original.counts(["town"]).counts)
            forced(candidate.counts(["town"]).counts)
            for left, right in ctx.pairs.pairs(["town"], ["town"]):
                forced(left["town"].codes)
                forced(right["town"].codes)
            forced(ctx.pairs.joint("town", "town").counts)
            for operator in ctx.operators.values():
                forced(operator.retention)
            for view in ctx.siblings.values():
                forced(view.counts(["town"]).codes)
            raise ValueError("seen")

    bench.data(tools.rows(200))
    error = bench.fails(outsider(bench.plan(), "k_anonymity", Audits, tools))
    assert [d.code for d in error.diagnostics] == ["PPF901"]
    assert "a ValueError" in str(error)


def test_operators_of_either_form_are_lent_over_memory_that_cannot_be_written_to():
    fine = frozen_operator(Operator("town", ("a", "b"), np.array([0.5, 0.5])))
    whole = frozen_operator(MatrixOperator("town", ("a", "b"), np.eye(2)))
    for values in (fine.retention, whole.transition, whole.staying, whole.matrix()):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0
        assert not values.flags.writeable


def test_a_generator_cannot_renumber_its_rows(bench, tools):
    class Generates:
        draws_per_row = 0

        def __init__(self, params):
            self.params = params

        def fit(self, data, ctx):
            self.names = data.schema.names
            return Fitted(self)

        def describe(self):
            return {}

        def generate(self, rows, draws):
            rows[:] = 0
            return Table({n: Column.of(["1"] * len(rows)) for n in self.names}, rows)

    bench.data(tools.rows(200))
    error = bench.fails(outsider(bench.plan(), "bands", Generates, tools))
    assert [d.code for d in error.diagnostics] == ["PPF901"]


def test_what_is_handed_on_is_the_engines_own(bench, tools):
    """No copy is made of a column that a step leaves alone."""
    plan = outsider(bench.plan(data=bench.data(tools.rows(20))), "bands", Step, tools, changes={"age": Change.OTHER})
    ours = Table.of({"age": ["1", "2"], "town": ["x", "y"]}).resettled({"basket": Baskets.of([["a"], []])})
    loan = Loan.of(plan.step("bands"), ours)
    back = loan.back(loan.theirs)
    assert back["town"] is ours["town"]
    assert back.sets["basket"] is ours.sets["basket"]
    assert back.rows is ours.rows
    own = Loan.of(replace(plan.step("bands"), effect=Effect(), bound=bench.plan().step("bands").bound), ours)
    assert own.theirs is ours
