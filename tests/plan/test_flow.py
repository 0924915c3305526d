"""Attributes followed through steps."""

from __future__ import annotations

import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect

ATTRIBUTES = """attributes:
  id: {role: identifier}
  age: {role: quasi_identifier, type: integer}
  job: {role: quasi_identifier}
  ill: {role: sensitive}
privacy:
  k_anonymity: {k: 3}
  templates: {t: {channel: [age], sensitive: {ill: [x]}, confidence: 0.5}}
"""
RELEASE = "releases:\n  r: {path: r.csv}\n"


def names(facts):
    return [f.name for f in facts]


def plan_of(compiled, steps, release=RELEASE, **how):
    outcome = compiled(ATTRIBUTES + steps + release, **how)
    assert outcome.plan is not None, outcome.diagnostics
    return outcome.plan


def test_identifiers_go_no_further_than_the_source(compiled):
    plan = plan_of(compiled, "steps:\n  s: {use: sample, with: {fraction: 0.5}}\n")
    assert names(plan.source.attributes) == ["id", "age", "job", "ill"]
    assert names(plan.step("s").attributes) == ["age", "job", "ill"]
    assert names(plan.releases[0].attributes) == ["age", "job", "ill"]


def test_an_identifier_that_a_later_step_needs_comes_along(compiled):
    steps = """steps:
  s: {use: sample, with: {fraction: 0.5}}
  p: {use: pseudonymize, with: {attributes: [id], key_env: KEY}}
  d: {use: drop, input: s, with: {attributes: [job]}}
"""
    release = "releases:\n  r: {from: p, path: r.csv}\n  t: {from: d, path: t.csv}\n"
    plan = plan_of(compiled, steps, release)
    assert names(plan.step("s").attributes) == ["id", "age", "job", "ill"]
    assert names(plan.step("d").attributes) == ["age", "ill"]
    assert [names(r.attributes) for r in plan.releases] == [["id", "age", "job", "ill"], ["age", "ill"]]
    (changed,) = [f for f in plan.releases[0].attributes if f.name == "id"]
    assert changed.changes == (("p", Change.PSEUDONYMIZED),)


def test_changes_and_renames_are_remembered(compiled):
    steps = """steps:
  g: {use: generalize, with: {attributes: {age: {intervals: [0, 50, 100]}}}}
  n: {use: rename, with: {attributes: {age: years}}}
"""
    plan = plan_of(compiled, steps)
    (years,) = [f for f in plan.releases[0].attributes if f.name == "years"]
    assert (years.source, years.changes, years.role) == (
        "age",
        (("g", Change.GENERALIZED),),
        Role.QUASI_IDENTIFIER,
    )


def test_names_may_be_exchanged(compiled):
    plan = plan_of(compiled, "steps:\n  n: {use: rename, with: {attributes: {age: job, job: age}}}\n")
    assert [(f.name, f.source) for f in plan.releases[0].attributes] == [("job", "age"), ("age", "job"), ("ill", "ill")]


def test_a_dropped_attribute_does_not_reach_a_later_step(compiled, fakes):
    fakes.add("reader", Effect(reads=("job",)))
    steps = "steps:\n  d: {use: drop, with: {attributes: [job]}}\n  x: {use: reader}\n"
    found = compiled(ATTRIBUTES + steps + RELEASE).diagnostics
    assert [(d.code, d.message) for d in found] == [("PPF606", "step `x` needs `job`, which does not reach it")]


def test_a_name_given_twice(compiled, fakes):
    fakes.add("adder", Effect(adds=(AttributeFacts("job", Role.INSENSITIVE),)))
    found = compiled(ATTRIBUTES + "steps:\n  x: {use: adder}\n" + RELEASE).diagnostics
    assert [d.code for d in found] == ["PPF607"]


def test_outputs_have_their_own_attributes(compiled, fakes):
    fakes.add("split", Effect(outputs={"left": ("age", "job"), "right": ("ill",)}), kind=Kind.TABLE)
    steps = "steps:\n  s: {use: split}\n"
    release = "releases:\n  a: {from: s.left, path: a.csv}\n  b: {from: s.right, path: b.csv}\n"
    plan = plan_of(compiled, steps, release)
    assert [names(r.attributes) for r in plan.releases] == [["age", "job"], ["ill"]]
    found = compiled(ATTRIBUTES + steps + release.replace("s.left", "s")).diagnostics
    assert [(d.code, d.help) for d in found] == [("PPF608", "it has `s.left`, `s.right`")]


def test_a_step_with_one_output_has_no_others(compiled):
    steps = "steps:\n  s: {use: shuffle_rows}\n  t: {use: shuffle_rows, input: s.left}\n"
    found = [d for d in compiled(ATTRIBUTES + steps + RELEASE).diagnostics if d.code == "PPF608"]
    assert [d.help for d in found] == ["write `s`"]


def test_faults_of_a_step_do_not_multiply_downstream(compiled):
    """What a broken step feeds is not judged: one cause, one fault."""
    steps = """steps:
  n: {use: rename, with: {attributes: {jbo: work}}}
  d: {use: drop, with: {attributes: [work]}}
"""
    found = compiled(ATTRIBUTES + steps + RELEASE).diagnostics
    assert found[0].code == "PPF606"
    assert {d.code for d in found} <= {"PPF606"}


@pytest.mark.parametrize("kind", [Kind.ROW_WISE, Kind.TABLE])
def test_the_first_randomized_step_expands_weights(compiled, fakes, kind):
    fakes.add("noise", Effect(), kind=kind, randomized=True)
    fakes.add("more", Effect(), randomized=True)
    text = ATTRIBUTES.replace("privacy:", "  n: {role: weight, type: integer}\nprivacy:")
    steps = """steps:
  g: {use: drop, with: {attributes: [job]}}
  x: {use: noise}
  y: {use: more}
  z: {use: shuffle_rows, input: g}
"""
    release = "releases:\n  r: {from: y, path: r.csv}\n  c: {from: z, path: c.csv}\n"
    plan = compiled(text + steps + release).plan
    nodes = {name: plan.step(name) for name in "gxyz"}
    assert {n: node.expands for n, node in nodes.items()} == {"g": False, "x": True, "y": False, "z": False}
    assert "n" in names(nodes["g"].attributes)
    assert "n" not in names(nodes["x"].attributes)
    assert "n" in names(nodes["z"].attributes)


@pytest.mark.slow
def test_a_chain_of_steps_is_compiled_however_long(compiled):
    names_of = [f"s{number}" for number in range(1_100)]
    steps = "steps:\n" + "".join(f"  {name}: {{use: shuffle_rows}}\n" for name in names_of)
    assert [node.name for node in plan_of(compiled, steps).steps] == names_of


class TestPatterns:
    """Globs among the attributes."""

    TEXT = """attributes:
  id: {role: identifier}
  "addr_*": {role: quasi_identifier}
  "*": {role: insensitive}
privacy: {k_anonymity: {k: 2}}
steps:
  d: {use: drop, with: {attributes: [addr_street]}}
  g: {use: generalize, with: {attributes: {addr_zip: {prefix: 2}}}}
releases:
  r: {path: r.csv}
"""

    def test_names_under_a_pattern_are_known_while_columns_are_not(self, compiled):
        plan = compiled(self.TEXT).plan
        facts = {f.name: f for f in plan.releases[0].attributes}
        assert list(facts) == ["addr_*", "*", "addr_zip"]
        assert facts["addr_zip"].role is Role.QUASI_IDENTIFIER
        assert facts["addr_zip"].changes == (("g", Change.GENERALIZED),)

    def test_columns_expand_patterns(self, compiled):
        plan = compiled(self.TEXT, columns=["x", "addr_zip", "addr_street", "id", "addr_city"]).plan
        assert names(plan.releases[0].attributes) == ["x", "addr_zip", "addr_city"]
        (k,) = plan.requirements
        assert k.attributes == ("addr_zip", "addr_street", "addr_city")
        assert plan.source.patterns == ("id", "addr_*", "*")

    def test_a_pattern_without_a_column_is_told(self, compiled):
        text = self.TEXT.replace("[addr_street]", '["i*"]').replace("addr_zip", "id")
        outcome = compiled(text, columns=["id", "x"])
        assert [d.code for d in outcome.diagnostics if d.code.startswith("PPF61")] == ["PPF612"]


@pytest.mark.parametrize("randomized", [False, True])
def test_only_a_random_order_stands_for_the_shuffle(compiled, fakes, randomized):
    fakes.add("sorted", Effect(rows="reordered"), kind=Kind.ORDER, randomized=randomized)
    found = compiled(
        "attributes: {a: {role: insensitive}}\nsteps: {sort: {use: sorted}}\nreleases: {r: {path: r.csv}}\n"
    )
    assert found.plan is not None, found.diagnostics
    assert found.plan.releases[0].input == ("sort" if randomized else "shuffle-r")


NAMED = """
  one: {use: recode, with: {attributes: {job: {values: {nurse: N, clerk: C, cook: F, host: F}}}}}
"""


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ("", {"N": "nurse", "C": "clerk"}),
        (
            "  two: {use: recode, with: {attributes: {job: {values: {N: X, C: N, F: F}}}}}\n",
            {"X": "nurse", "N": "clerk"},
        ),
        ("  two: {use: recode, with: {attributes: {job: {values: {N: nurse, C: X, F: X}}}}}\n", {}),
        ("  two: {use: suppress, with: {attributes: [job], k: 2}}\n", {"N": "nurse", "C": "clerk"}),
        ("  two: {use: swap, with: {attributes: [job]}}\n", {"N": "nurse", "C": "clerk"}),
        ("  two: {use: rename, with: {attributes: {job: work}}}\n", {"N": "nurse", "C": "clerk"}),
        ("  two: {use: generalize, with: {attributes: {job: {prefix: 1}}}}\n", {}),
    ],
)
def test_cells_that_are_other_names_of_values(compiled, steps, names):
    release = plan_of(compiled, f"steps:{NAMED}{steps}").releases[0]
    (fact,) = [f for f in release.attributes if f.source == "job"]
    assert fact.other_names(["nurse", "clerk", "cook", "host"]) == names


def test_a_cell_is_another_name_of_values_that_are_there(compiled):
    release = plan_of(compiled, f"steps:{NAMED}").releases[0]
    (fact,) = [f for f in release.attributes if f.source == "job"]
    assert fact.other_names(["nurse", "cook"]) == {"N": "nurse", "F": "cook"}
    assert fact.other_names(["nurse", "N", "clerk"]) == {"C": "clerk"}
