"""The plan as a document: schema, digest, pictures."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from ppdm_flow.pictures.graphs import placed
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.dag import SOURCE, document_graph, release_key
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.forms import FORMS, cards, dot, draw, last_layer, mermaid, shown_graph, svg
from ppdm_flow.plan.schemas import schema
from ppdm_flow.policy import load

NAMES = ("adult", "bank_credit", "crx", "hospital")


@pytest.fixture(scope="module")
def documents(root):
    return {name: document(compile_policy(load(root / f"pipelines/{name}.yaml")).plan) for name in NAMES}


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("name", NAMES)
def test_it_keeps_to_its_schema(documents, name):
    jsonschema.Draft7Validator.check_schema(schema())
    jsonschema.Draft7Validator(schema()).validate(json.loads(json.dumps(documents[name])))


def test_the_schema_knows_every_key(documents):
    for key in ("steps", "audits", "releases"):
        broken = json.loads(json.dumps(documents["hospital"]))
        broken[key][0]["surprise"] = 1
        assert list(jsonschema.Draft7Validator(schema()).iter_errors(broken))


def test_the_digest_travels(root, tmp_path):
    """The same policy in another folder, with other comments and key order, is the same plan."""
    text = (root / "pipelines/bank_credit.yaml").read_text()
    here = compile_policy(load(root / "pipelines/bank_credit.yaml")).plan
    other = tmp_path / "elsewhere.yaml"
    lines = text.replace("description: Credit records for an external study of ratings\n", "").splitlines()
    lines.insert(8, "description: Credit records for an external study of ratings  # moved")
    other.write_text("\n".join(lines) + "\n")
    there = compile_policy(load(other)).plan
    assert here.digest == there.digest
    assert str(root) not in json.dumps(document(here))
    other.write_text(text.replace("0.75", "0.74"))
    assert compile_policy(load(other)).plan.digest != here.digest


def test_columns_bind_the_plan(root):
    loaded = load(root / "pipelines/bank_credit.yaml")
    columns = ["weight", "rating", "bankruptcy", "child", "country", "job"]
    plan = compile_policy(loaded, columns).plan
    assert [a.name for a in plan.releases[0].attributes] == columns


WIDE = """version: 1
name: wide
source: {path: t.csv}
attributes:
  an-attribute-with-quite-a-long-name: {role: quasi_identifier}
  b: {role: quasi_identifier}
  "<c> & 'd'": {role: insensitive}
privacy: {k_anonymity: {k: 3}}
steps:
  a-step-whose-name-is-as-long-as-the-language-allows-it-to-be-her: {use: shuffle_rows}
  b1: {use: sample, with: {fraction: 0.5}, input: source}
  c1: {use: sample, with: {fraction: 0.5}, input: b1}
  c2: {use: drop, with: {attributes: [an-attribute-with-quite-a-long-name]}, input: b1}
  d1: {use: shuffle_rows, input: c1}
  d2: {use: shuffle_rows, input: c1}
  d3: {use: shuffle_rows, input: c2}
  unused: {use: shuffle_rows, input: c2}
releases:
  r0: {from: a-step-whose-name-is-as-long-as-the-language-allows-it-to-be-her, path: a.csv}
  r1: {from: d1, path: r1.csv}
  r2: {from: d2, path: r2.csv}
  r3: {from: d3, path: r3.csv}
  r4: {from: source, path: r4.csv}
"""


@pytest.fixture
def wide(compiled):
    outcome = compiled("", head=WIDE)
    assert outcome.plan is not None, outcome.diagnostics
    return document(outcome.plan)


def spots(found):
    return placed(shown_graph(found), cards(found), last_layer(found))[0]


def boxes(found):
    places = spots(found)
    return [(s.left, s.top, s.right, s.top + s.height) for s in (places[node] for node in cards(found))]


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize("name", [*NAMES, "wide"])
def test_no_two_cards_overlap_and_text_stays_inside(documents, wide, name):
    found = wide if name == "wide" else documents[name]
    every = boxes(found)
    written = [step for step in found["steps"] if not step["implicit"]]
    assert len(every) == 1 + len(written) + len(found["releases"])
    assert not [1 for i, a in enumerate(every) for b in every[:i] if overlap(a, b)]
    for node, card in cards(found).items():
        assert all(line.width <= spots(found)[node].width - 20 for line in card.lines)


@pytest.mark.parametrize("name", [*NAMES, "wide"])
def test_the_svg_is_wellformed_and_selfcontained(documents, wide, name):
    found = wide if name == "wide" else documents[name]
    text = svg(found)
    tree = ET.fromstring(text)
    assert tree.tag.endswith("svg")
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    written = [step["name"] for step in found["steps"] if not step["implicit"]]
    for name_ in written:
        assert name_ in "".join(tree.itertext())
    edges = [e for e in tree.iter() if e.get("class") == "pp-edge"]
    assert len(edges) == len(written) + len(found["releases"])
    assert text == svg(found)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_form_names_everything(documents, wide, form):
    for found in (*documents.values(), wide):
        text = draw(form, found)
        for node in (*found["releases"], *(s for s in found["steps"] if not s["implicit"])):
            assert node["name"] in text
        assert text.endswith("\n")


def test_mermaid_and_dot_escape_names(wide):
    wide["source"]["path"] = 'a"b#<c>.csv'
    assert "a#quot;b#35;#lt;c#gt;.csv" in mermaid(wide)
    assert 'a\\"b#<c>.csv' in dot(wide)
    assert ET.fromstring(svg(wide)) is not None


def test_release_and_step_may_share_a_name(compiled):
    text = """attributes: {a: {role: insensitive}}
steps: {r: {use: shuffle_rows}}
releases: {r: {path: r.csv}}
"""
    found = document(compiled(text).plan)
    assert set(document_graph(found)) == {SOURCE, "r", release_key("r")}
    assert ET.fromstring(svg(found)) is not None


CLASSES = """version: 1
name: classes
source: {path: t.csv}
attributes:
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 50, 100]}}
  sex: {role: quasi_identifier}
  town: {role: quasi_identifier}
  disease: {role: sensitive}
privacy: {k_anonymity: {k: 2, attributes: [age, sex]}}
steps:
  coarse: {use: generalize, with: {attributes: {age: {}}}}
  classes: {use: assign_class_id, with: {attributes: [age, disease], name: group}}
  models: {use: mondrian, with: {attributes: [age, sex]}}
  named: {use: rename, with: {attributes: {group: cohort, town: place}}}
releases:
  out: {from: named, path: out.csv}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    path = tmp_path_factory.mktemp("classes") / "p.yaml"
    path.write_text(CLASSES)
    return document(compile_policy(load(path)).plan)


def test_released_columns_say_where_they_come_from(classes):
    keys = ("name", "computed_from", "how", "chosen_by", "steps")
    assert [tuple(column[key] for key in keys) for column in classes["releases"][0]["attributes"]] == [
        ("age", ["age"], "other", ["sex"], ["coarse", "models"]),
        ("sex", ["sex"], "other", ["age"], ["models"]),
        ("place", ["town"], "unchanged", [], ["named"]),
        ("disease", ["disease"], "unchanged", [], []),
        ("cohort", ["age", "disease"], "other", [], ["coarse", "classes", "named"]),
    ]
    jsonschema.Draft7Validator(schema()).validate(json.loads(json.dumps(classes)))


def test_the_text_tells_of_columns_that_are_not_their_attribute_as_it_was(classes):
    told = (
        "columns: age, sex: not value by value, chosen together; place: computed from town; cohort: computed from age,"
    )
    assert f"{told} disease\n" in draw("text", classes)


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"text"}))
def test_pictures_tell_of_columns_that_are_computed_from_something_else(classes, form):
    drawn = draw(form, classes)
    assert "cohort from age, disease" in drawn
    assert "place from town" in drawn
    assert "disease from" not in drawn


def test_a_release_of_plain_columns_has_no_line_for_them(tmp_path):
    path = tmp_path / "p.yaml"
    plain = CLASSES[: CLASSES.index("steps:")] + "releases: {out: {from: source, path: out.csv}}\n"
    path.write_text(plain)
    assert "columns:" not in draw("text", document(compile_policy(load(path)).plan))
