"""The kit for audits passes those of the program, and catches what it is there to catch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo
from ppdm_flow.core.results import AuditOutcome, Figure, Measured
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Params, PluginSpec
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.audit_conformance import AuditCase, AuditConformance
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.conformance import figures_are_told
from ppdm_flow.testing.quoting import untold

TABLE = Table.of({"x": ["a", "b", "b", None] * 10, "y": ["m", "n"] * 20})
TOLD = PluginInfo("counting", Kind.AUDIT, "Counts.", figures={"rows": FigureInfo("the rows")})


class TestClassSizes(AuditConformance):
    def case(self) -> AuditCase:
        roles = {"x": Role.QUASI_IDENTIFIER}
        return AuditCase(registry.load("audits", "class_sizes"), {}, TABLE, TABLE, roles)


class TestKAnonymity(AuditConformance):
    def case(self) -> AuditCase:
        asked = KAnonymity.of("privacy.k_anonymity", k=2, attributes=("x",))
        roles = {"x": Role.QUASI_IDENTIFIER}
        return AuditCase(registry.load("audits", "k_anonymity"), {}, TABLE, TABLE, roles, (asked,))


@dataclass(frozen=True)
class Spec(PluginSpec):
    """An audit that gives these figures; ``found`` is called with both views."""

    found: Any = None

    def load(self) -> Any:
        return lambda _params: type("A", (), {"measure": lambda _self, *views: self.found(*views)})()


def kit(found) -> AuditConformance:
    tests = AuditConformance()
    tests.case = lambda: AuditCase(Spec(TOLD, Params, "nowhere:Nothing", found=found), {}, TABLE, TABLE)
    return tests


def test_a_figure_that_is_not_on_the_card_fails():
    tests = kit(lambda *_: AuditOutcome({"x.rows": Figure(1, "rows"), "x.lines": Figure(1, "rows")}))
    with pytest.raises(AssertionError, match=r"the figure `x\.lines` is not on the card of `counting`: say what it"):
        tests.test_figures_are_told()


def test_figures_by_partition_fail():
    tests = kit(lambda view, *_: AuditOutcome({"rows": Figure(len(list(view.partitions(["x"]))), "rows")}))
    with pytest.raises(AssertionError, match="rows"):
        tests.test_any_partitioning_same_figures()


def test_what_is_measured_is_told_as_well():
    held = Measured("privacy.x", "privacy.x.lines", Figure(1, "rows"), 1.0, True, "All is well.")
    with pytest.raises(AssertionError, match=r"the figure `privacy\.x\.lines` is not on the card"):
        kit(lambda *_: AuditOutcome({}, (held,))).test_figures_are_told()


def test_a_step_tells_its_figures_too():
    spec = registry.load("anonymizers", "generalize")
    case = Case(spec, {"attributes": {"x": {"prefix": 0}}}, TABLE)
    assert case.fit().figures
    assert list(figures_are_told(case)) == []
    silent = replace(spec, info=replace(spec.info, figures={}))
    assert "`x.values_before` is not on the card" in next(figures_are_told(replace(case, spec=silent)))


@pytest.mark.parametrize(
    ("metric", "known"), [("rows", True), ("x.rows", True), ("rows.2", True), ("x", False), ("x.row", False)]
)
def test_a_name_is_told_by_any_of_its_parts(metric, known):
    assert (not list(untold(TOLD, [metric]))) is known


@pytest.mark.slow
def test_an_outcome_that_quotes_the_data_fails():
    towns = Table.of({"x": [f"town-{i % 3}" for i in range(40)]})
    tests = kit(lambda view, *_: AuditOutcome({"rows": Figure(1, "rows", note=f"{view.domain('x')[1]} is the worst")}))
    tests.case = lambda plain=tests.case: replace(plain(), original=towns)
    with pytest.raises(AssertionError, match="quotes a value of the column `x`"):
        tests.test_outcome_holds_no_data()
    tests.case = lambda plain=tests.case: replace(plain(), original=TABLE)
    tests.test_outcome_holds_no_data()


def test_an_audit_that_writes_into_what_it_was_given_fails():
    def scribbles(view, *_):
        table = view.table()
        table["x"].codes[:] = 0
        return AuditOutcome({"rows": Figure(1, "rows")})

    with pytest.raises(ValueError, match="read-only"):
        kit(scribbles).test_input_is_left_alone()
    kit(lambda view, *_: AuditOutcome({"rows": Figure(view.row_count, "rows")})).test_input_is_left_alone()
