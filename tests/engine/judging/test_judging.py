"""From figures to a verdict."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.results import AuditOutcome, Figure, Measured
from ppdm_flow.core.roles import Nulls
from ppdm_flow.engine.judging.auditing import AuditResult
from ppdm_flow.engine.judging.judging import gates_of, metrics_of, requirements_of, verdict
from ppdm_flow.plan.definition import AuditNode, Plan, ReleaseNode, SourceNode
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity

K = KAnonymity.of("privacy.k_anonymity", k=5, attributes=("age",))


def plan(releases: tuple[str, ...] = ("one",), gates: tuple[FigureGate, ...] = (), requirements=(K,)) -> Plan:
    source = SourceNode(None, None, {}, None, (), False, "error", (), ())
    nodes = tuple(ReleaseNode(r, "source", "r.csv", "csv", {}, "internal", ()) for r in releases)
    return Plan(
        "p", "p", "", ".", source, (), (), nodes, requirements, gates, Nulls.OWN_CATEGORY, "sealed", None, False, {}
    )


def audited(release: str, name: str, figures: dict[str, float | None], measured=(), requirements=()) -> AuditResult:
    node = AuditNode(name, None, release, requirements)  # type: ignore[arg-type]
    return AuditResult(node, AuditOutcome({k: Figure(v, "share") for k, v in figures.items()}, tuple(measured)))


def measured(value, bound: float = 5.0, at_most: bool = False, **options) -> Measured:
    return Measured(K.id, f"{K.id}.k", Figure(value, "rows"), bound, at_most, "So.", **options)


@pytest.mark.parametrize(
    ("value", "bound", "at_most", "holds"),
    [
        (5, 5, False, True),
        (4, 5, False, False),
        (5 - 1e-10, 5, False, True),
        (5 - 1e-7, 5, False, False),
        (0.75, 0.75, True, True),
        (0.75 + 5e-10, 0.75, True, True),
        (0.75 + 2e-9, 0.75, True, False),
        (1e-10, 0.0, True, True),
        (1e-8, 0.0, True, False),
        (None, 5, False, False),
        (-math.inf, 5, True, True),
    ],
)
def test_a_requirement_holds_within_the_relative_tolerance(value, bound, at_most, holds):
    found = requirements_of(plan(), [audited("one", "k", {}, [measured(value, bound, at_most)], (K,))])
    assert [r.holds for r in found] == [holds]
    assert verdict(found) == ("released" if holds else "withheld")
    assert found[0].direction == ("at_most" if at_most else "at_least")


def test_what_nobody_measured_or_nobody_can_verify_does_not_hold():
    assert not requirements_of(plan(), [])[0].holds
    unsure = audited("one", "k", {}, [measured(50, verifiable=False)], (K,))
    assert not requirements_of(plan(), [unsure])[0].holds


def test_every_release_has_to_hold():
    both = plan(("one", "two"))
    only = [audited("one", "k", {}, [measured(9)], (K,))]
    assert [(r.release, r.holds) for r in requirements_of(both, only)] == [("one", True), ("two", False)]


def test_names_of_metrics():
    done = [
        audited("one", "utility", {"distance": 0.1}),
        audited("one", "k", {"privacy.k_anonymity.k": 9}, [measured(9)], (K,)),
    ]
    assert set(metrics_of(plan(), done, ())) == {"utility.distance", "privacy.k_anonymity.k"}
    assert set(metrics_of(plan(("one", "two")), done, ())) == {"one/utility.distance", "one/privacy.k_anonymity.k"}


def gate(metric: str, low: float | None = None, high: float | None = None) -> FigureGate:
    return FigureGate("gates.g", metric, low, high)


@pytest.mark.parametrize(
    ("value", "low", "high", "holds"),
    [
        (0.5, None, 0.5, [True]),
        (0.6, None, 0.5, [False]),
        (0.5, 0.2, 0.6, [True, True]),
        (0.1, 0.2, 0.6, [False, True]),
    ],
)
def test_gates_on_either_side(value, low, high, holds):
    found = gates_of(plan(gates=(gate("a.b", low, high),)), {"a.b": Figure(value, "share")})
    assert [r.holds for r in found] == holds
    assert all(r.release == "one" for r in found)


def test_a_gate_without_its_figure_does_not_hold():
    for metrics in ({}, {"a.b": Figure(None, "share", note="none")}, {"a.c": Figure(0.1, "share")}):
        assert [r.holds for r in gates_of(plan(gates=(gate("a.b", None, 0.5),)), metrics)] == [False]


@pytest.mark.parametrize(
    ("value", "interval", "width", "holds", "verified"),
    [
        (0.0, (-0.658, 0.658), 0.2, False, False),  # says nothing
        (0.0, (-0.658, 0.658), 1.4, True, True),  # and a policy may be content with that
        (0.0, (-0.1, 0.1), 0.2, True, True),
        (0.0, (-0.1, 0.11), 0.2, False, False),
        (0.0, (0.0, 0.05), 0.04, False, False),
        (0.0, None, 0.01, True, True),  # exact
        (0.3, (0.1, 0.5), 0.2, False, True),  # beyond the bound anyway
        (0.3, None, 0.2, False, True),
    ],
)
def test_a_gate_on_an_estimate_holds_within_a_stated_width(value, interval, width, holds, verified):
    asked = replace(gate("a.b", None, 0.1), max_width=width)
    (found,) = gates_of(plan(gates=(asked,)), {"a.b": Figure(value, "share", interval)})
    assert (found.holds, found.verified) == (holds, verified)
    assert ("too little to hold" in found.sentence) is (value < 0.1 and not holds)


def test_the_width_of_figures_above_1_is_a_share_of_them():
    figures = {"a.b": Figure(500.0, "rows", (455.0, 550.0))}
    (found,) = gates_of(plan(gates=(gate("a.b", 400.0),)), figures)
    assert found.holds
    (found,) = gates_of(plan(gates=(replace(gate("a.b", 400.0), max_width=0.1),)), figures)
    assert not found.holds
    assert "from 455 to 550" in found.sentence


def test_a_gate_says_why_its_figure_does_not_exist():
    figures = {"a.b": Figure(None, "share", note="3 labels could not be read")}
    (found,) = gates_of(plan(gates=(gate("a.b", None, 0.5),)), figures)
    assert (found.holds, found.verified) == (False, False)
    assert "3 labels could not be read" in found.sentence


def test_a_gate_without_a_prefix_must_hold_on_every_release_that_has_the_figure():
    metrics = {"one/a.b": Figure(0.1, "share"), "two/a.b": Figure(0.9, "share"), "three/c.d": Figure(0, "share")}
    several = plan(("one", "two", "three"), (gate("a.b", None, 0.5),))
    assert [(r.release, r.holds) for r in gates_of(several, metrics)] == [("one", True), ("two", False)]
    named = replace(several, gates=(gate("one/a.b", None, 0.5),))
    assert [(r.release, r.holds) for r in gates_of(named, metrics)] == [("one", True)]
    of_step = replace(several, gates=(gate("s.t", 0.2),))
    assert [r.holds for r in gates_of(of_step, {"s.t": Figure(0.3, "share")})] == [True]


def test_a_gate_that_names_the_only_release():
    metrics = {"a.b": Figure(0.1, "share")}
    assert [r.holds for r in gates_of(plan(gates=(gate("one/a.b", None, 0.5),)), metrics)] == [True]
    assert [r.holds for r in gates_of(plan(gates=(gate("two/a.b", None, 0.5),)), metrics)] == [False]
