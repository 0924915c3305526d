"""The plan as a graph of networkx, and steps that read several tables."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import networkx as nx
import pytest

from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.dag import release_key
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.forms import FORMS, draw
from ppdm_flow.plan.schemas import schema
from ppdm_flow.policy import load
from ppdm_flow.sdk.spec import Effect

USED = {
    "ppdm_flow/evidence/assignment.py",
    "ppdm_flow/page/views/hierarchies/routes.py",
    "ppdm_flow/pictures/graphs.py",
    "ppdm_flow/plan/dag.py",
    "ppdm_flow/plan/definition.py",
    "ppdm_flow/plan/linked.py",
    "ppdm_flow/plan/pictures/forms.py",
    "ppdm_flow/plan/releases.py",
    "ppdm_flow/plan/binding.py",
    "ppdm_flow/reader/linked.py",
    "ppdm_flow/reader/query/figures.py",
    "ppdm_flow/reader/query/groups.py",
    "ppdm_flow/reader/query/scaling.py",
    "ppdm_flow/reader/query/tables.py",
    "ppdm_flow/reader/row_kinds.py",
    "ppdm_flow/report/openlineage.py",
}
"""Where networkx is used when the program runs: the plan and its pictures, connected columns, and matchings."""


def test_where_networkx_is_used_at_run_time(root):
    imports = re.compile(r"^ *(import networkx|from networkx)", re.MULTILINE)
    files = (root / "ppdm_flow").rglob("*.py")
    assert {path.relative_to(root).as_posix() for path in files if imports.search(path.read_text())} == USED


def plan_of(root, name):
    return compile_policy(load(root / f"pipelines/{name}.yaml")).plan


def test_sources_steps_releases_audits_requirements_and_gates_are_nodes(root):
    plan = plan_of(root, "hospital")
    kinds = plan.graph.nodes(data="kind")
    of = lambda kind: {node for node, each in kinds if each == kind}  # noqa: E731
    assert of("source") == {"source"}
    assert of("step") == {step.name for step in plan.steps}
    assert of("release") == {"release billing", "release medical"}
    assert of("audit") == {f"{audit.release}/{audit.name}" for audit in plan.audits}
    assert of("requirement") == {requirement.id for requirement in plan.requirements}
    assert of("gate") == {"gates.still-predictive"}
    assert nx.is_directed_acyclic_graph(plan.graph)


def test_a_part_of_a_plan_has_a_graph_of_its_own(root):
    plan = plan_of(root, "hospital")
    part = replace(plan, releases=plan.releases[:1], requirements=()).graph
    assert set(part) < set(plan.graph)
    assert None not in dict(part.nodes(data="kind")).values()
    assert dict(part.pred["medical/distributions"]) == {}


def test_edges_say_what_flows(root):
    graph = plan_of(root, "hospital").graph
    assert graph.edges["suppress", "perturb"] == {"outputs": ("",)}
    for reader in ("billing/readmission", "billing/k_anonymity"):
        assert dict(graph.pred[reader]) == {"source": {"reads": "original"}, "release billing": {"reads": "candidate"}}
    for reader in ("billing/readmission", "privacy.k_anonymity"):
        assert graph.edges["source", reader] == {"reads": "original"}
        assert graph.edges["release billing", reader] == {"reads": "candidate"}
    assert graph.edges["billing/k_anonymity", "privacy.k_anonymity"] == {"figure": "privacy.k_anonymity"}
    assert dict(graph.pred["gates.still-predictive"]) == {"billing/readmission": {"figure": "error_increase"}}


def test_outputs_of_a_step_are_on_the_edges(root):
    graph = plan_of(root, "hospital_partition").graph
    outputs = {tuple(data["outputs"]) for _, _, data in graph.out_edges("split", data=True)}
    assert outputs == {("people",), ("sensitive",)}


def test_linked_tables_are_the_sources_of_what_is_made_of_them(root):
    plan = plan_of(root, "clinic_visits")
    graph = plan.graph
    assert {node for node in graph if not graph.pred[node]} == {"patients", "visits"}
    assert {table for table in plan.roots if table in nx.ancestors(graph, "visits/costs")} == {"visits"}
    assert graph.edges["patients", "patients + visits/k_anonymity"] == {"reads": "original"}
    assert graph.edges["visits", "patients + visits/k_anonymity"] == {"reads": "original"}
    assert graph.has_edge("patients + visits/k_anonymity", "privacy.k_anonymity")


GATES = """
attributes:
  age: {role: quasi_identifier}
  town: {role: target}
privacy: {k_anonymity: {k: 3}}
steps:
  mix: {use: shuffle_rows}
  left: {use: shuffle_rows}
  right: {use: shuffle_rows, input: mix}
audits:
  mix2: {use: distributions}
releases:
  one: {from: left, path: one.csv}
  two: {from: right, path: two.csv}
gates:
  all: {metric: mix2.worst, max: 1}
  one: {metric: one/mix2.worst, max: 1}
  step: {metric: mix.rows, min: 1}
  k: {metric: privacy.k_anonymity.classes, min: 1}
"""


def test_gates_read_the_figures_of_audits_steps_and_requirements(compiled):
    graph = compiled(GATES).plan.graph
    figures = {
        gate: {node: data["figure"] for node, data in graph.pred[f"gates.{gate}"].items()}
        for gate in ("all", "one", "step", "k")
    }
    assert figures == {
        "all": {"one/mix2": "worst", "two/mix2": "worst"},
        "one": {"one/mix2": "worst"},
        "step": {"mix": "rows"},
        "k": {"privacy.k_anonymity": "classes"},
    }


SEVERAL = """
attributes:
  age: {role: quasi_identifier}
  town: {role: insensitive}
steps:
  first: {use: drop, with: {attributes: [town]}}
  second: {use: shuffle_rows, input: source}
  both: {use: stack, input: [first, second]}
  after: {use: shuffle_rows}
releases:
  out: {path: out.csv}
  side: {from: second, path: side.csv}
"""


def test_a_step_with_several_inputs_needs_a_plugin_that_reads_several(codes, fakes, compiled):
    fakes.add("stack", Effect())
    (fault,) = [d for d in compiled(SEVERAL).diagnostics if d.code == "PPF636"]
    assert fault.message == "step `both` has 2 inputs, and `stack` takes one"
    assert fault.span.line == 3 + 1 + SEVERAL.splitlines().index("  both: {use: stack, input: [first, second]}")
    assert "PPF636" in codes(SEVERAL.replace("stack", "shuffle_rows"))
    assert "PPF636" not in codes(SEVERAL.replace("[first, second]", "[first]"))


@pytest.fixture
def several(fakes, compiled):
    fakes.add("stack", lambda _params, scope: Effect(reads=tuple(scope.attributes)), several_inputs=True)
    outcome = compiled(SEVERAL)
    assert outcome.plan is not None, outcome.diagnostics
    return outcome.plan


def test_what_several_inputs_bring_reaches_the_step_and_what_comes_after(several):
    assert several.step("both").inputs == ("first", "second")
    assert several.step("both").effect.reads == ("age", "town")
    assert [step.name for step in several.upstream("both")] == ["first", "second", "both"]
    assert [fact.name for fact in several.arriving(several.step("both"))] == ["age", "town"]
    order = [step.name for step in several.steps]
    assert order.index("both") > max(order.index("first"), order.index("second"))
    levels = list(nx.topological_generations(several.graph))
    assert [
        {n for n in level if several.graph.nodes[n]["kind"] == "step"} & {"first", "second", "both", "after"}
        for level in levels
    ][1:4] == [
        {"first", "second"},
        {"both"},
        {"after"},
    ]
    assert {"first", "second"} <= nx.ancestors(several.graph, release_key("out"))
    (out, _) = several.releases
    assert out.ordered_by in ("after", "shuffle-out")


def test_a_document_has_a_list_where_a_step_reads_several(several):
    found = json.loads(json.dumps(document(several)))
    assert {step["name"]: step["input"] for step in found["steps"]} == {
        "first": "source",
        "second": "source",
        "both": ["first", "second"],
        "after": "both",
        "shuffle-side": "second",
    }
    jsonschema.Draft7Validator(schema()).validate(found)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_pictures_have_an_arrow_for_each_input(several, form):
    text = draw(form, document(several))
    if form == "text":
        assert "both  stack" in text
        assert "reads too: second" in text
    elif form == "svg":
        assert len([e for e in ET.fromstring(text).iter() if e.get("class") == "pp-edge"]) == 7
    else:
        arrow = "->" if form == "dot" else "-->"
        assert len(re.findall(rf"^  (?:source|s\d+) {arrow} ", text, re.MULTILINE)) == 8


def test_a_circle_through_several_inputs_is_found(codes, fakes):
    fakes.add("stack", Effect(), several_inputs=True)
    assert "PPF602" in codes(SEVERAL.replace("first: {use: drop,", "first: {use: drop, input: after,"))


def test_each_wrong_input_is_told_at_its_place(compiled, fakes):
    fakes.add("stack", Effect(), several_inputs=True)
    wrong = compiled(SEVERAL.replace("[first, second]", "[frist, second, secnd.left]"))
    told = [(d.code, d.hint, d.span.column) for d in wrong.diagnostics if d.code == "PPF601"]
    line = "  both: {use: stack, input: [frist, second, secnd.left]}"
    assert told == [
        ("PPF601", "did you mean `first`?", 1 + line.index("frist")),
        ("PPF601", "did you mean `second`?", 1 + line.index("secnd")),
    ]


def test_no_engine_carries_such_a_step_out(several, tmp_path):
    from ppdm_flow.core.errors import DataError
    from ppdm_flow.engine.run.finishing import execute

    data = tmp_path / "table.csv"
    data.write_text("age,town\n1,a\n2,b\n")
    with pytest.raises(DataError) as caught:
        execute(several, data, tmp_path / "runs")
    assert [d.code for d in caught.value.diagnostics] == ["PPF636"]
    assert not list(Path(tmp_path / "runs").glob("*/*"))


LINKED = """version: 1
name: linked
tables:
  patients:
    source: {path: patients.csv}
    key: patient
    attributes: {patient: {role: subject}, age: {role: quasi_identifier}}
  visits:
    source: {path: visits.csv}
    refers: {patient: patients}
    attributes: {day: {role: insensitive}}
steps:
  both: {use: shuffle_rows, input: INPUT}
releases: {out: {from: both, path: out.csv}}
"""


@pytest.mark.parametrize(("given", "told"), [("[patients, visits]", ["PPF636"]), ("[visits]", []), ("visits", [])])
def test_steps_of_linked_tables_take_one_input(codes, given, told):
    assert [code for code in codes("", head=LINKED.replace("INPUT", given)) if code.startswith("PPF63")] == told
