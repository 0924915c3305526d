"""Plugins that do other things than their effect says: nothing is released on their word."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ppdm_flow.sdk.anonymizer import Fitted
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table


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


class Sneaks(Step):
    """Writes one column into another, which its effect does not name."""

    def apply(self, part, draws):
        return part.replaced({"score": part["illness"]})


class Shifts(Step):
    """Leaves the counts of a column as they are, and moves its cells."""

    def apply(self, part, draws):
        town = part["town"]
        return part.replaced({"town": Column(np.roll(town.codes, 1), town.categories)})


class Exits(Step):
    def apply(self, part, draws):
        sys.exit(0)


class ExitsWithWords(Step):
    def fit(self, data, ctx):
        raise SystemExit(data.domain("town")[0].as_py())


@pytest.mark.parametrize(
    ("algorithm", "code"), [(Sneaks, "PPF905"), (Shifts, "PPF905"), (Exits, "PPF901"), (ExitsWithWords, "PPF901")]
)
def test_a_row_wise_step(bench, tools, algorithm, code, capfd):
    bench.data(tools.rows(200))
    error = bench.fails(tools.swapped(bench.plan(), "bands", algorithm))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (3, [code])
    assert tools.CANARY not in "".join(capfd.readouterr())


def test_an_audit_that_exits_is_no_success(bench, tools):
    class Leaves:
        def __init__(self, params):
            self.params = params

        def measure(self, original, candidate, ctx):
            sys.exit(0)

        def recheck(self, original, candidate, ctx):
            return {}

    bench.data(tools.rows(200))
    assert bench.fails(tools.swapped(bench.plan(), "k_anonymity", Leaves)).exit_status == 3


def test_the_same_cells_in_other_codes_are_no_change(bench, tools):
    class Recodes(Step):
        def apply(self, part, draws):
            town = part["town"]
            more = pa.array(["unused", *reversed(town.categories.to_pylist())])
            return part.replaced({"town": town.onto(more)})

    bench.data(tools.rows(200))
    done = bench.run(tools.swapped(bench.plan(), "bands", Recodes))
    for content in tools.released(done.run_dir).values():
        assert b"unused" not in content


def outsiders(plan, name: str):
    """The plan with the step of that name from another distribution."""

    def other(node):
        if node.name != name:
            return node
        return replace(node, bound=replace(node.bound, distribution="acme"))

    return replace(plan, steps=tuple(map(other, plan.steps)))


@pytest.mark.parametrize("what", ["codes", "rows"])
def test_another_distributions_plugin_cannot_write_into_its_input(bench, tools, what):
    class Scribbles(Step):
        def apply(self, part, draws):
            (part["town"].codes if what == "codes" else part.rows)[:] = 0
            return part

    bench.data(tools.rows(200))
    error = bench.fails(outsiders(tools.swapped(bench.plan(), "bands", Scribbles), "bands"))
    assert [d.code for d in error.diagnostics] == ["PPF901"]


class Whole:
    """A step that has the whole table."""

    draws_per_row = 0

    def __init__(self, params):
        self.params = params

    def fit(self, data, ctx):
        return Fitted(self)

    def describe(self):
        return {}

    def apply_table(self, table, draws):
        return {"": self.out(table)}


class OneNumber(Whole):
    """All rows would share the draws of the perturbation after it."""

    def out(self, table):
        return Table(table.columns, np.zeros(len(table), dtype=np.int64))


class Twice(Whole):
    def out(self, table):
        return table.take(np.repeat(np.arange(len(table)), 2))


class Loses(Whole):
    def out(self, table):
        return table.take(np.arange(len(table) - 1))


class Invents(Whole):
    def out(self, table):
        return Table(table.columns, table.rows + 1)


class Permutes(Whole):
    def out(self, table):
        town = table["town"]
        return table.replaced({"town": Column(np.roll(town.codes, 1), town.categories)})


@pytest.mark.parametrize("algorithm", [OneNumber, Twice, Loses, Invents, Permutes])
def test_a_step_with_the_whole_table(bench, tools, algorithm):
    bench.data(tools.rows(200))
    error = bench.fails(tools.swapped(bench.plan(), "bands", algorithm))
    assert (error.exit_status, [d.code for d in error.diagnostics]) == (3, ["PPF905"])


def test_generated_rows_have_the_numbers_that_were_asked_for(bench, tools):
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
            return Table({n: Column.of(["1"] * len(rows)) for n in self.names}, np.zeros_like(rows))

    bench.data(tools.rows(200))
    error = bench.fails(tools.swapped(bench.plan(), "bands", Generates))
    assert [d.code for d in error.diagnostics] == ["PPF905"]
