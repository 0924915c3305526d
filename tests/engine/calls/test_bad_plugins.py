"""Plugins that break their promises: the run fails as a defect, and nothing that they raise is quoted."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.core.errors import DisagreementError, PluginError, RunError
from ppdm_flow.core.results import AuditOutcome, Figure, Measured
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


class FitFails(Step):
    def fit(self, data, ctx):
        raise KeyError(data.domain("town")[0].as_py())


class ApplyFails(Step):
    def apply(self, part, draws):
        raise ValueError(part["town"].texts()[0])


class DropsAColumn(Step):
    def apply(self, part, draws):
        return part.select(["age", "illness", "score"])


class DropsRows(Step):
    def apply(self, part, draws):
        return part.take(np.arange(len(part)) % 2 == 0)


class InventsRows(Step):
    def apply(self, part, draws):
        return Table(part.columns, part.rows + 10**6)


class NoTransform(Step):
    def fit(self, data, ctx):
        return Fitted(object.__new__(type("Nothing", (), {"draws_per_row": 0})))


class DescribeFails(Step):
    def describe(self):
        raise ValueError("zqcanary")


class WritesTheSign(Step):
    """Writes the sign of suppressed cells as if it were a value."""

    def apply(self, part, draws):
        return part.replaced({"age": Column.of(["x"] * len(part)).mapped(np.zeros(1), _sign())})


def _sign():
    import pyarrow as pa

    return pa.array(["⊥"])


class OutOfMemory(Step):
    def apply(self, part, draws):
        raise MemoryError


@pytest.mark.slow(quick=6)
@pytest.mark.parametrize(
    ("algorithm", "code"),
    [
        (FitFails, "PPF901"),
        (ApplyFails, "PPF901"),
        (DropsAColumn, "PPF905"),
        (DropsRows, "PPF905"),
        (InventsRows, "PPF905"),
        (NoTransform, "PPF905"),
        (DescribeFails, "PPF901"),
        (WritesTheSign, "PPF903"),
        (OutOfMemory, "PPF733"),
    ],
)
def test_a_step_that_misbehaves(bench, tools, algorithm, code):
    bench.data(tools.rows(200))
    error = bench.fails(tools.swapped(bench.plan(), "bands", algorithm))
    assert isinstance(error, RunError)
    assert error.exit_status == 3
    assert [d.code for d in error.diagnostics] == [code]


def test_a_steps_own_error_is_passed_on_as_it_is(bench, tools):
    class Picky(Step):
        def fit(self, data, ctx):
            from ppdm_flow.core.diagnostics import Diagnostic

            raise PluginError(Diagnostic("PPF780", "the column `town` will not do"))

    bench.data(tools.rows(50))
    error = bench.fails(tools.swapped(bench.plan(), "bands", Picky))
    assert error.exit_status == 2
    assert "`town`" in str(error)


def test_the_order_step_has_to_give_one_key_a_row(bench, tools):
    class Short(Step):
        def keys(self, part, draws):
            return np.zeros(1, dtype=np.uint64)

        apply = None

    del Short.apply
    bench.data(tools.rows(50))
    plan = tools.swapped(bench.plan(), "shuffle-study", _without_apply(Short))
    assert bench.fails(plan).diagnostics[0].code == "PPF905"


def _without_apply(cls):
    """A class of its own: having `apply` would make it a row transform."""

    class Alone:
        draws_per_row = 0
        fit, describe, keys = Step.fit, Step.describe, cls.keys

        def __init__(self, params):
            self.params = params

    return Alone


class Audit:
    """Measures k as the policy wants it."""

    def __init__(self, params):
        self.params = params

    def measure(self, original, candidate, ctx):
        found = tuple(
            Measured(r.id, f"{r.id}.k", Figure(50, "rows"), r.k, at_most=False, sentence="Fine.")
            for r in ctx.requirements
        )
        return AuditOutcome({m.metric: m.figure for m in found}, found)

    def recheck(self, original, candidate, ctx):
        return {f"{r.id}.k": 50 for r in ctx.requirements}


def test_an_audit_by_two_routes_that_agree(bench, tools):
    bench.data(tools.rows(300))
    plan = tools.swapped(bench.plan(), "k_anonymity", Audit)
    found = [r for r in bench.run(plan).report.requirements if r.id == "privacy.k_anonymity"]
    assert [(r.measured, r.holds) for r in found] == [(50, True), (50, True)]


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    ("again", "why"),
    [
        ({"k": 49}, "one route computed 50, the other 49"),
        ({"k": 50.0001}, "one route computed 50, the other 50.0001"),
        ({"k": None}, "one route computed 50, the other none"),
        ({}, "the second route did not compute it"),
        ({"k": 50, "other": 1}, "only the second route has it"),
    ],
    ids=str,
)
def test_two_routes_that_disagree_are_a_defect(bench, tools, again, why):
    class Lying(Audit):
        def recheck(self, original, candidate, ctx):
            return {f"{r.id}.{k}": v for r in ctx.requirements for k, v in again.items()}

    bench.data(tools.rows(300))
    error = bench.fails(tools.swapped(bench.plan(), "k_anonymity", Lying))
    assert isinstance(error, DisagreementError)
    assert (error.exit_status, error.diagnostics[0].code) == (3, "PPF902")
    assert error.diagnostics[0].message.endswith(why)


def test_a_difference_in_the_last_digits_is_none(bench, tools):
    class Close(Audit):
        def recheck(self, original, candidate, ctx):
            return {f"{r.id}.k": 50 * (1 + 5e-10) for r in ctx.requirements}

    bench.data(tools.rows(300))
    assert bench.run(tools.swapped(bench.plan(), "k_anonymity", Close)).report.verdict == "released"


def test_a_requirement_needs_an_audit_with_a_second_route(bench, tools):
    class Once:
        measure = Audit.measure

        def __init__(self, params):
            self.params = params

    bench.data(tools.rows(300))
    error = bench.fails(tools.swapped(bench.plan(), "k_anonymity", Once))
    assert (error.exit_status, error.diagnostics[0].code) == (3, "PPF909")


def test_an_audit_that_fails_is_not_quoted(bench, tools):
    class Broken(Audit):
        def measure(self, original, candidate, ctx):
            raise ValueError(candidate.domain("town")[0].as_py())

    bench.data(tools.rows(300))
    error = bench.fails(tools.swapped(bench.plan(), "k_anonymity", Broken))
    assert error.diagnostics[0].code == "PPF901"
    assert "ValueError" in str(error)


def test_sql_that_fails_is_not_quoted(bench, tools):
    class Casting(Audit):
        def recheck(self, original, candidate, ctx):
            return {"k": ctx.sql.rows("SELECT CAST(town AS INTEGER) FROM candidate")[0][0]}

    bench.data(tools.rows(300))
    assert bench.fails(tools.swapped(bench.plan(), "k_anonymity", Casting)).diagnostics[0].code == "PPF908"


def test_a_requirement_that_nobody_measures_does_not_hold(bench, tools):
    from dataclasses import replace

    bench.data(tools.rows(300))
    plan = bench.plan()
    plan = replace(plan, audits=tuple(a for a in plan.audits if a.name != "k_anonymity"))
    report = bench.run(plan).report
    assert report.verdict == "withheld"
    found = [r for r in report.requirements if r.id == "privacy.k_anonymity"]
    assert [(r.measured, r.holds) for r in found] == [(None, False), (None, False)]


def test_a_figure_that_cannot_be_verified_does_not_hold(bench, tools):
    class Unsure(Audit):
        def measure(self, original, candidate, ctx):
            outcome = super().measure(original, candidate, ctx)
            unsure = tuple(
                Measured(m.requirement, m.metric, m.figure, m.bound, m.at_most, "?", verifiable=False)
                for m in outcome.measured
            )
            return AuditOutcome(outcome.figures, unsure)

    bench.data(tools.rows(300))
    assert bench.run(tools.swapped(bench.plan(), "k_anonymity", Unsure)).report.verdict == "withheld"
