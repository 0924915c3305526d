"""Shuffles, audits and gates that the plan puts in place."""

from __future__ import annotations

import pytest

from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.wording import gates_of
from ppdm_flow.sdk.spec import Effect, Problem

ATTRIBUTES = """attributes:
  age: {role: quasi_identifier, type: integer}
  ill: {role: sensitive, domain: [flu, cold, hiv]}
  out: {role: target}
privacy:
  k_anonymity: {k: 3}
  sensitivities: {ill: {default: {tolerance: 3}}}
"""
STEPS = """steps:
  p: {use: fine_grain_perturbation}
  d: {use: drop, with: {attributes: [ill, age]}}
"""
RELEASES = """releases:
  r: {from: p, path: r.csv}
  s: {from: d, path: s.parquet}
"""


def plan_of(compiled, text):
    outcome = compiled(text)
    assert outcome.plan is not None, outcome.diagnostics
    return outcome.plan


def audits(plan):
    return {(a.release, a.name, a.implicit) for a in plan.audits}


def test_requirements_and_the_usual_audits_run_by_themselves(compiled):
    plan = plan_of(compiled, ATTRIBUTES + STEPS + RELEASES)
    assert audits(plan) == {
        ("r", "k_anonymity", True),
        ("r", "sensitivities", True),
        ("r", "information_kept", True),
        ("r", "distributions", True),
        ("r", "class_sizes", True),
        ("r", "reidentification_risk", True),
        ("r", "perturbation_utility", True),
        ("s", "k_anonymity", True),
        ("s", "sensitivities", True),
        ("s", "information_kept", True),
        ("s", "distributions", True),
    }
    judged = {(a.release, r.id) for a in plan.audits for r in a.requirements}
    assert judged == {(r, i) for r in "rs" for i in ("privacy.k_anonymity", "privacy.sensitivities.ill")}


def test_an_audit_of_the_policy_replaces_the_usual_one_where_it_stands(compiled):
    text = "audits:\n  sizes: {use: class_sizes, release: r}\n  all: {use: distributions}\n"
    plan = plan_of(compiled, ATTRIBUTES + STEPS + text + RELEASES)
    found = {(a.release, a.name) for a in plan.audits if a.bound.info.name in ("class_sizes", "distributions")}
    assert found == {("r", "sizes"), ("r", "all"), ("s", "all")}


def test_an_audit_is_left_out_where_it_does_not_fit(compiled, fakes):
    def effect(_params, scope):
        missing = "age" not in scope.attributes
        return Effect(problems=(Problem("PPF777", "there is no age here"),) if missing else ())

    fakes.add("aged", effect, kind=Kind.AUDIT, group="audits")
    text = "audits:\n  a: {use: aged}\n"
    outcome = compiled(ATTRIBUTES + STEPS + text + RELEASES)
    assert [a.release for a in outcome.plan.audits if a.name == "a"] == ["r"]
    assert [(d.code, d.message) for d in outcome.diagnostics] == [
        ("PPF618", "audit `a` cannot be measured on release `s`: there is no age here")
    ]
    named = text.replace("aged}", "aged, release: s}")
    assert [d.code for d in compiled(ATTRIBUTES + STEPS + named + RELEASES).diagnostics] == ["PPF777"]


def test_an_audit_needs_what_it_reads(compiled, fakes):
    fakes.add("reads", Effect(reads=("nobody",)), kind=Kind.AUDIT, group="audits")
    found = compiled(ATTRIBUTES + STEPS + "audits:\n  a: {use: reads}\n" + RELEASES).diagnostics
    assert [(d.code, d.message) for d in found] == [("PPF606", "audit `a` needs `nobody`, which does not reach it")]


@pytest.mark.parametrize(
    ("audit", "code"),
    [
        ("k: {use: k_anonymity}", "PPF617"),
        ("a: {use: class_sizes, release: rr}", "PPF614"),
        ("p: {use: class_sizes}", "PPF616"),
        ("distributions: {use: class_sizes, release: r}", "PPF616"),
        ("a: {use: class_size}", "PPF401"),
    ],
)
def test_audits_that_cannot_be(compiled, audit, code):
    found = compiled(ATTRIBUTES + STEPS + f"audits:\n  {audit}\n" + RELEASES).diagnostics
    assert [d.code for d in found] == [code]


@pytest.mark.parametrize(
    ("metric", "hint"),
    [
        ("p.record_utility", None),
        ("r/class_sizes.smallest", None),
        ("distributions.max_tvd", None),
        ("privacy.k_anonymity.k", None),
        ("s/privacy.sensitivities.ill.margin", None),
        ("shuffle-r.anything", None),
        ("privacy.k_anonimity.k", "did you mean `privacy.k_anonymity.k`?"),
        ("class_size.smallest", "did you mean `class_sizes.smallest`?"),
        ("q/class_sizes.smallest", ""),
        ("privacy.k_anonymity", ""),
        ("p.", ""),
        ("nonsense", ""),
    ],
)
def test_gates_need_a_figure_that_can_exist(compiled, metric, hint):
    found = compiled(ATTRIBUTES + STEPS + f'gates: {{g: {{metric: "{metric}", max: 1}}}}\n' + RELEASES).diagnostics
    if hint is None:
        assert found == ()
    else:
        assert [d.code for d in found] == ["PPF615"]
        if hint:
            assert found[0].hint == hint
        assert found[0].span.column > 20


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("metric: class_sizes.smallest", "PPF644"),  # `s` has no quasi-identifier
        ("metric: class_sizes.smallest, releases: [r, s]", "PPF644"),
        ("metric: class_sizes.smallest, releases: [s]", "PPF644"),
        ("metric: s/class_sizes.smallest", "PPF644"),
        ("metric: class_sizes.smallest, releases: [r]", None),
        ("metric: r/class_sizes.smallest", None),
        ("metric: one.smallest", None),  # its audit says which release it is about
        ("metric: one.smallest, releases: [r]", None),
        ("metric: one.smallest, releases: [r, s]", "PPF644"),
        ("metric: distributions.mean_tvd", None),
        ("metric: distributions.mean_tvd, releases: [r, s]", None),
        ("metric: privacy.k_anonymity.k, releases: [s]", None),
        ("metric: p.record_utility", None),
        ("metric: shuffle-r.anything", None),
        ("metric: p.record_utility, releases: [r]", "PPF614"),
        ("metric: r/p.record_utility", "PPF614"),
        ("metric: distributions.mean_tvd, releases: [r, t]", "PPF614"),
        ("metric: r/distributions.mean_tvd, releases: [r]", "PPF614"),
    ],
)
def test_a_gate_is_measured_on_every_release_that_it_is_about(compiled, gate, code):
    audits = "audits:\n  one: {use: class_sizes, release: r}\n" if "one." in gate else ""
    found = compiled(ATTRIBUTES + STEPS + audits + f"gates: {{g: {{{gate}, max: 1}}}}\n" + RELEASES).diagnostics
    assert [d.code for d in found] == ([code] if code else [])


def test_what_gates_are_about_stands_in_the_plan(compiled):
    gates = {
        "every": "distributions.mean_tvd",
        "named": "s/distributions.mean_tvd",
        "step": "p.record_utility",
        "shuffle": "shuffle-r.anything",
    }
    text = "gates:\n" + "".join(f"  {name}: {{metric: {metric}, max: 1}}\n" for name, metric in gates.items())
    plan = plan_of(compiled, ATTRIBUTES + STEPS + text + RELEASES)
    found = {gate["id"].removeprefix("gates."): gate["releases"] for gate in document(plan)["gates"]}
    assert found == {"every": ["r", "s"], "named": ["s"], "step": [], "shuffle": []}
    assert [len(gates_of(document(plan), release)) for release in "rs"] == [3, 4]


class TestShuffles:
    """Every release in an order of its own."""

    def inputs(self, compiled, steps, releases):
        plan = plan_of(compiled, ATTRIBUTES + steps + releases)
        return {r.name: r.input for r in plan.releases}, {s.name for s in plan.steps if s.implicit}

    def test_before_each_release(self, compiled):
        found, implicit = self.inputs(compiled, STEPS, RELEASES)
        assert found == {"r": "shuffle-r", "s": "shuffle-s"}
        assert implicit == {"shuffle-r", "shuffle-s"}

    def test_not_after_one_that_is_its_own(self, compiled):
        steps = STEPS + "  mix: {use: shuffle_rows}\n"
        found, _ = self.inputs(compiled, steps, RELEASES.replace("from: d", "from: mix"))
        assert found == {"r": "shuffle-r", "s": "mix"}

    def test_but_after_one_that_two_releases_share(self, compiled):
        """The same order in two releases would let their rows be matched one to one."""
        steps = "steps:\n  p: {use: fine_grain_perturbation}\n  d: {use: shuffle_rows}\n"
        found, _ = self.inputs(compiled, steps, RELEASES.replace("from: p", "from: d"))
        assert found == {"r": "shuffle-r", "s": "shuffle-s"}

    def test_a_name_that_is_taken(self, compiled):
        steps = "steps:\n  shuffle-r: {use: fine_grain_perturbation}\n"
        found, implicit = self.inputs(compiled, steps, "releases:\n  r: {path: r.csv}\n")
        assert found == {"r": "shuffle-r-again"}
        assert implicit == {"shuffle-r-again"}
