"""The templates that come with the program: each documented, usable as it is, and holding its promise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from ppdm_flow import api
from ppdm_flow.core.diagnostics import Severity, has_errors
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
from ppdm_flow.policy.inheritance.references import built_ins, listed
from ppdm_flow.policy.inheritance.template_words import described
from ppdm_flow.report.diagnostics import render

NAMES = tuple(built_ins())
EXAMPLE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def example(name: str) -> str:
    """The policy that a template's own words show."""
    (text,) = EXAMPLE.findall(described(f"builtin:{name}").words)
    return text


@pytest.fixture
def child(tmp_path):
    """Load a policy with these lines that extends the example of a template, with params by ``--set``."""

    def read(name: str, more: str = "", **sets: str):
        (tmp_path / "example.yaml").write_text(example(name))
        path = tmp_path / "child.yaml"
        path.write_text(f"version: 1\nname: child\nextends: example.yaml\n{more}\n")
        return load(path, sets)

    return read


def test_there_are_five_and_one_that_extends_another():
    assert set(NAMES) >= {
        "microdata-k",
        "microdata-kl",
        "modified-k-anonymity",
        "inference-templates",
        "sensitive-value-perturbation",
        "synthetic-categorical",
        "randomized-baskets",
    }
    assert [each.reference for each in listed() if each.distribution == "ppdm_flow"] == [f"builtin:{n}" for n in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_is(name):
    told = described(f"builtin:{name}")
    assert len(told.description) > 20
    for words in ("What it promises", "What it does not", "A policy gives"):
        assert words in " ".join(told.words.split())
    assert told.params
    assert all(p.help for p in told.params)
    assert all(p.limits for p in told.params if p.type in ("integer", "float"))
    assert len(told.floors) >= 3
    assert all(f.why for f in told.floors)
    assert "#" not in told.description


@pytest.mark.parametrize("name", NAMES)
def test_its_example_passes_check(child, name):
    loaded = child(name)
    compiled = compile_policy(loaded)
    assert render(compiled.diagnostics, compiled.sources) == ""
    assert compiled.plan is not None


@pytest.mark.parametrize("name", NAMES)
def test_every_param_changes_something(child, name):
    """A param that nothing reads would promise what does not happen."""
    body = "".join(Path(built_ins()[n.removeprefix("builtin:")]).read_text() for n in _chain(f"builtin:{name}"))
    for param in described(f"builtin:{name}").params:
        assert f"${{params.{param.name}}}" in body


def _chain(reference: str) -> list[str]:
    return [reference, *(each for parent in described(reference).parents for each in _chain(parent))]


SEED = "randomness: {mode: reproducible, seed: '1'}"
IN_ORDER = "releases: {study: {shuffle: false}}"
WEAKER = [
    ("microdata-k", "privacy: {k_anonymity: {k: 2}}", "privacy.k_anonymity.k"),
    ("microdata-k", "privacy: {k_anonymity: null}", "privacy.k_anonymity.k"),
    ("microdata-k", "privacy: null", "privacy.k_anonymity.k"),
    ("microdata-k", "privacy: {k_anonymity: {attributes: [region]}}", "privacy.k_anonymity.attributes"),
    ("microdata-k", "privacy: {l_diversity: {outcome: {l: 1.5}}}", "privacy.l_diversity.outcome.l"),
    ("microdata-k", "privacy: {l_diversity: {outcome: {l: 2, attributes: [age]}}}", "l_diversity.outcome.attributes"),
    ("microdata-k", "nulls: exclude", "nulls"),
    ("microdata-k", "gates: {nobody-alone: {max: 0.5}}", "gates.nobody-alone.max"),
    ("microdata-k", "gates: {nobody-alone: null}", "gates.nobody-alone"),
    ("microdata-k", "gates: {nobody-alone: {metric: risk.marketer_average}}", "gates.nobody-alone.metric"),
    ("microdata-k", "gates: {nobody-alone: {releases: [study]}}", "gates.nobody-alone.releases"),
    ("microdata-k", "audits: {alone: {use: class_sizes}}", "audits.alone.use"),
    ("microdata-k", "audits: {alone: {with: {attributes: [region]}}}", "audits.alone.with"),
    ("microdata-k", "audits: {alone: {release: study}}", "audits.alone.release"),
    ("microdata-k", SEED, "randomness.mode"),
    ("microdata-k", IN_ORDER, "releases.study.shuffle"),
    ("microdata-kl", "privacy: {k_anonymity: {k: 2}}", "privacy.k_anonymity.k"),
    ("microdata-kl", "privacy: {l_diversity: {illness: {l: 1.5}}}", "privacy.l_diversity.illness.l"),
    ("microdata-kl", "privacy: {l_diversity: {illness: {l: 3, attributes: [age]}}}", "l_diversity.illness.attributes"),
    ("microdata-kl", "privacy: {l_diversity: null}", "privacy.l_diversity.illness"),
    ("microdata-kl", "attributes: {illness: {role: insensitive}}", "attributes.illness.role"),
    ("microdata-kl", "gates: {nobody-certain: {max: 0.2}}", "gates.nobody-certain.max"),
    ("microdata-kl", "gates: {nobody-certain: null}", "gates.nobody-certain"),
    ("microdata-kl", "gates: {nobody-certain: {releases: [study]}}", "gates.nobody-certain.releases"),
    ("modified-k-anonymity", "privacy: {k_anonymity: {k: 2}}", "privacy.k_anonymity.k"),
    ("modified-k-anonymity", "privacy: {l_diversity: {illness: {l: 1.5}}}", "privacy.l_diversity.illness.l"),
    ("modified-k-anonymity", "gates: {bounded: {max: 0.9}}", "gates.bounded.max"),
    ("modified-k-anonymity", "gates: {bounded: null}", "gates.bounded"),
    ("modified-k-anonymity", "gates: {no-order: null}", "gates.no-order"),
    ("modified-k-anonymity", "audits: {together: {with: {sensitive: [class_id]}}}", "audits.together.with.sensitive"),
    ("modified-k-anonymity", "audits: {order: {release: people}}", "audits.order.release"),
    ("modified-k-anonymity", "releases: {people: {shuffle: false}}", "releases.people.shuffle"),
    ("inference-templates", "privacy: {templates: {protected: null}}", "privacy.templates.protected"),
    ("inference-templates", "privacy: {templates: {protected: {confidence: 0.9}}}", "templates.protected.confidence"),
    ("inference-templates", "privacy: {templates: {protected: {channel: [region]}}}", "templates.protected.channel"),
    (
        "inference-templates",
        "privacy: {templates: {protected: {sensitive: {illness: [flu]}}}}",
        "templates.protected.sensitive.illness",
    ),
    ("inference-templates", "privacy: {templates: {protected: {negated: true}}}", "templates.protected.negated"),
    (
        "inference-templates",
        "privacy: {templates: {more: {channel: [age], sensitive: {illness: [flu]}, confidence: 0.95}}}",
        "privacy.templates.more.confidence",
    ),
    ("inference-templates", "attributes: {illness: {role: target}}", "attributes.illness.role"),
    ("inference-templates", "nulls: exclude", "nulls"),
    ("inference-templates", SEED, "randomness.mode"),
    ("inference-templates", IN_ORDER, "releases.study.shuffle"),
    ("sensitive-value-perturbation", "privacy: {sensitivities: null}", "privacy.sensitivities.illness"),
    (
        "sensitive-value-perturbation",
        "privacy: {sensitivities: {illness: {default: {tolerance: 11}}}}",
        "privacy.sensitivities.illness.default.tolerance",
    ),
    (
        "sensitive-value-perturbation",
        "privacy: {sensitivities: {illness: {default: {tolerance: null, r1: 0.1, r2: 0.9}}}}",
        "privacy.sensitivities.illness.default.tolerance",
    ),
    (
        "sensitive-value-perturbation",
        "privacy: {sensitivities: {illness: {values: {HIV: {r1: 0.0001, r2: 0.5}}}}}",
        "privacy.sensitivities.illness.values",
    ),
    (
        "sensitive-value-perturbation",
        "privacy: {sensitivities: {illness: {groups: {g: {values: [flu], r1: 0.1, r2: 0.9}}}}}",
        "privacy.sensitivities.illness.groups",
    ),
    (
        "sensitive-value-perturbation",
        "privacy: {sensitivities: {illness: {directions: upward}}}",
        "privacy.sensitivities.illness.directions",
    ),
    ("sensitive-value-perturbation", SEED, "randomness.mode"),
    ("synthetic-categorical", "privacy: {blend: null}", "privacy.blend"),
    ("synthetic-categorical", "privacy: {blend: {min_support: {count: 2}}}", "privacy.blend.min_support"),
    ("synthetic-categorical", "privacy: {blend: {min_support: 0.00001}}", "privacy.blend.min_support"),
    ("synthetic-categorical", "privacy: {blend: {max: 0.5}}", "privacy.blend.max"),
    ("synthetic-categorical", "privacy: {anonymity_score: {max: 1}}", "privacy.anonymity_score.max"),
    ("synthetic-categorical", "privacy: {anonymity_score: null}", "privacy.anonymity_score"),
    ("synthetic-categorical", "steps: {generate: {with: {holdout: null}}}", "steps.generate.with.holdout"),
    ("synthetic-categorical", "steps: {generate: {with: {blend: allow}}}", "steps.generate.with.blend"),
    ("synthetic-categorical", "gates: {no-members: {metric: likeness.internal}}", "gates.no-members.metric"),
    ("synthetic-categorical", "gates: {no-members: {max: 0.9}}", "gates.no-members.max"),
    ("synthetic-categorical", "gates: {no-copies: null}", "gates.no-copies"),
    ("synthetic-categorical", "audits: {members: {with: {attributes: [sex]}}}", "audits.members.with"),
    ("synthetic-categorical", "audits: {copies: {release: teaching}}", "audits.copies.release"),
    ("synthetic-categorical", SEED, "randomness.mode"),
    ("randomized-baskets", "privacy: {itemset_breach: {level: 0.6}}", "privacy.itemset_breach.level"),
    ("randomized-baskets", "privacy: {itemset_breach: {sizes: [1]}}", "privacy.itemset_breach.sizes"),
    ("randomized-baskets", "privacy: null", "privacy.itemset_breach"),
    ("randomized-baskets", "privacy: {itemset_breach: {pool: 100000}}", "privacy.itemset_breach.pool"),
    ("randomized-baskets", IN_ORDER, "releases.study.shuffle"),
    ("randomized-baskets", SEED, "randomness.mode"),
]


@pytest.mark.parametrize(("name", "lines", "place"), WEAKER)
def test_a_child_cannot_undo_the_promise(child, name, lines, place):
    """Both places are named: where the policy weakens it, and the floor in the template."""
    loaded = child(name, lines)
    found = [d for d in loaded.diagnostics if d.code == "PPF308" and place in d.message]
    assert found, render(loaded.diagnostics, loaded.sources)
    assert all(d.severity is Severity.ERROR for d in found)
    assert all(d.span.file.endswith("child.yaml") for d in found)
    assert all(any(r.span.file.startswith("builtin:") for r in d.related) for d in found)


@pytest.mark.parametrize(
    ("name", "audit"),
    [
        ("microdata-k", "alone"),
        ("microdata-kl", "alike"),
        ("synthetic-categorical", "members"),
        ("synthetic-categorical", "copies"),
    ],
)
def test_an_attack_that_a_gate_reads_cannot_be_left_out(child, name, audit):
    assert has_errors(compile_policy(child(name, f"audits: {{{audit}: null}}")).diagnostics)


STRICTER = [
    ("microdata-k", "privacy: {k_anonymity: {k: 25}, l_diversity: {outcome: {l: 2}}}"),
    ("microdata-k", "nulls: wildcard"),
    ("microdata-k", "gates: {nobody-alone: {max: 0}, associations-stay: null}"),
    ("microdata-kl", "privacy: {l_diversity: {illness: {l: 4, kind: entropy}}}"),
    ("inference-templates", "privacy: {templates: {protected: {confidence: 0.1, channel: [age, region, outcome]}}}"),
    ("sensitive-value-perturbation", "privacy: {sensitivities: {illness: {default: {tolerance: 2}}}}"),
    ("synthetic-categorical", "privacy: {blend: {min_support: {count: 9}, max: 0}}"),
    ("synthetic-categorical", "steps: {generate: {with: {attributes: [age, sex, illness], holdout: 0.3}}}"),
    ("randomized-baskets", "privacy: {itemset_breach: {level: 0.3, sizes: [1, 2, 3, 4]}}"),
    ("modified-k-anonymity", "privacy: {l_diversity: {illness: {l: 4}}}\ngates: {bounded: {max: 0.3}}"),
]


@pytest.mark.parametrize(("name", "lines"), STRICTER)
def test_but_it_may_ask_for_more(child, name, lines):
    loaded = child(name, lines)
    assert not has_errors(compile_policy(loaded).diagnostics), render(loaded.diagnostics, loaded.sources)


BELOW = [
    ("microdata-k", "k", "2"),
    ("microdata-kl", "l", "1"),
    ("inference-templates", "confidence", "0.9"),
    ("microdata-kl", "certain", "0.5"),
    ("sensitive-value-perturbation", "tolerance", "50"),
    ("synthetic-categorical", "support", "1"),
    ("synthetic-categorical", "score", "1"),
    ("synthetic-categorical", "membership", "0.9"),
    ("randomized-baskets", "level", "0.9"),
    ("modified-k-anonymity", "k", "2"),
    ("modified-k-anonymity", "l", "1"),
    ("modified-k-anonymity", "posterior", "0.9"),
]


@pytest.mark.parametrize(("name", "param", "value"), BELOW)
def test_nor_by_a_param(child, name, param, value):
    loaded = child(name, **{param: value})
    assert loaded.policy is None or has_errors(loaded.diagnostics)
    assert "PPF306" in {d.code for d in loaded.diagnostics}


def test_they_are_in_the_wheel(root):
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="the extra `test` brings hatchling")
    files = {f.distribution_path for f in wheel.WheelBuilder(str(root)).recurse_included_files()}
    assert {f"ppdm_flow/templates/{name}.yaml" for name in NAMES} <= files


@pytest.mark.slow
def test_the_schema_of_templates_accepts_them(root):
    schema = json.loads((root / "schemas/template.v1.json").read_text())
    for path in (*built_ins().values(), *(root / "pipelines/templates").glob("*.yaml")):
        jsonschema.validate(yaml.safe_load(path.read_text()), schema)


@pytest.mark.parametrize("lines", ["steps: {a: {ues: drop}}", "attributes: {a: {role: sensitiv}}", "gates: []"])
def test_and_no_other_words(root, lines):
    schema = json.loads((root / "schemas/template.v1.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(lines), schema)


@pytest.mark.parametrize(
    ("more", "floor"),
    [
        ("audits: {order: {with: {attributes: [phone]}}}", "audits.order.with"),
        ("gates: {no-order: {releases: [people]}}", "gates.no-order.releases"),
        ("audits: {together: {with: {key: illness}}}", "audits.together.with.key"),
        ("privacy: {alpha_k: {illness: {alpha: 0.9}}}", "privacy.alpha_k.illness.alpha"),
        ("privacy: {alpha_k: {illness: {values: [flu]}}}", "privacy.alpha_k.illness.values"),
        ("privacy: {alpha_k: {illness: {alpha: 0.4}}}", None),
    ],
)
def test_the_attacks_of_the_modified_model_stay_whole(child, more, floor):
    found = [each for each in child("modified-k-anonymity", more).diagnostics if each.severity is Severity.ERROR]
    assert [each.code for each in found] == ([] if floor is None else ["PPF308"])
    assert floor is None or floor in found[0].message


PLAIN = """
source: {path: people.csv}
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30, 50, 120]}}
  region: {role: quasi_identifier}
releases: {study: {path: study.csv}}
"""


@pytest.mark.parametrize("name", ["microdata-k", "synthetic-categorical", "hipaa-safe-harbor"])
def test_what_promises_nothing_of_a_sensitive_attribute_needs_none(tmp_path, name):
    params = "{as_of: 2026}" if name == "hipaa-safe-harbor" else "{}"
    (tmp_path / "policy.yaml").write_text(
        f"version: 1\nname: plain\nextends: [{{template: 'builtin:{name}', with: {params}}}]\n{PLAIN}"
    )
    compiled = compile_policy(load(tmp_path / "policy.yaml"))
    assert not has_errors(compiled.diagnostics), render(compiled.diagnostics, compiled.sources)


@pytest.mark.slow
def test_generated_rows_without_a_sensitive_attribute_are_judged(tmp_path):
    rows = "".join(f"{20 + i % 60},{'north' if i % 3 else 'south'}\n" for i in range(2000))
    (tmp_path / "people.csv").write_text(f"age,region\n{rows}")
    text = f"version: 1\nname: plain\nextends: builtin:synthetic-categorical\n{PLAIN}"
    (tmp_path / "policy.yaml").write_text(text)
    report = api.run(tmp_path / "policy.yaml", out=tmp_path / "runs").report
    assert report.metrics["disclosure.risk"].value is None
    assert {gate.id: gate.holds for gate in report.gates} == {
        "gates.no-members": True,
        "gates.no-copies": True,
        "gates.still-alike": True,
    }
