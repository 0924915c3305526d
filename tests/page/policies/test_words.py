"""What the editor offers at a place of a policy, by the script itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import ppdm_flow.page
from ppdm_flow.page.services.accounts.roles import PageRole

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")
SCRIPT = Path(ppdm_flow.page.__file__).parent / "static" / "policies_words.js"
ASKING = """
import { readFileSync } from "node:fs";
import { choices, placeAt, useIn } from "./words.mjs";
const { texts, words, names } = JSON.parse(readFileSync(0, "utf8"));
const answered = (text) => {
  const before = text.slice(0, text.indexOf("|")).split("\\n");
  const lines = text.replace("|", "").split("\\n");
  const place = placeAt(lines, before.length - 1, before[before.length - 1].length);
  const found = choices(words, place, names, (section, name) => useIn(lines, section, name));
  return { place, labels: found.map((each) => each.label) };
};
console.log(JSON.stringify(texts.map((text) => {
  try {
    return answered(text);
  } catch (error) {
    return { error: String(error) };
  }
})));
"""
NAMES = {"attributes": ["age", "town"], "steps": ["recode"], "params": ["k"]}


CASES = [
    ("|", [], {"privacy", "steps", "releases"}),
    ("version: 1\npri|\n", [], {"privacy"}),
    ("nulls: |", ["nulls"], {"own_category", "wildcard", "exclude"}),
    ("privacy:\n  |", ["privacy"], {"k_anonymity", "l_diversity", "templates"}),
    ("privacy:\n  k_anonymity: {|}", ["privacy", "k_anonymity"], {"k", "attributes"}),
    ("privacy:\n  k_anonymity: {k: 5, |}", ["privacy", "k_anonymity"], {"k", "attributes"}),
    ("privacy:\n  k_anonymity:\n    |", ["privacy", "k_anonymity"], {"k"}),
    ("privacy:\n  k_anonymity:\n    - |", ["privacy", "k_anonymity"], {"k"}),
    ("privacy:\n  k_anonymity: {attributes: [age, |]}", ["privacy", "k_anonymity", "attributes"], {"age", "town"}),
    ("attributes:\n  age: {role: |}", ["attributes", "age", "role"], {"quasi_identifier", "sensitive"}),
    ('attributes:\n  "a: b": {role: |}', ["attributes", "a: b", "role"], {"identifier"}),
    ("attributes:\n  age:\n    # a remark\n\n    type: |", ["attributes", "age", "type"], {"integer", "date"}),
    ("steps:\n  s: {use: |}", ["steps", "s", "use"], {"mondrian", "suppress"}),
    ("steps:\n  s:\n    use: mondrian\n    with:\n      |", ["steps", "s", "with"], {"attributes"}),
    ("steps:\n  s: {use: full_domain_recoding, with: {|}}", ["steps", "s", "with"], {"suppression", "cost"}),
    (
        "steps:\n  s: {use: full_domain_recoding, with: {cost: |}}",
        ["steps", "s", "with", "cost"],
        {"loss", "precision"},
    ),
    ("steps:\n  t: {use: drop}\n  s:\n    with: {|}\n    use: mondrian", ["steps", "s", "with"], {"attributes"}),
    ("releases:\n  public: {from: x,\n    path: a.csv, |}", ["releases", "public"], {"format", "audience"}),
    ("releases:\n  public: {from: |}", ["releases", "public", "from"], {"source", "recode"}),
    ("releases:\n  public:\n    format: |", ["releases", "public", "format"], {"csv", "parquet"}),
    ("extends: [{template: |}]", ["extends", "template"], {"builtin:microdata-k"}),
    ("privacy:\n  k_anonymity: {k: $|}", ["privacy", "k_anonymity", "k"], {"${params.k}"}),
    ("audits:\n  a: {use: |}", ["audits", "a", "use"], {"classification_error"}),
    ("source: {path: 'a, {b', |}", ["source"], {"format", "missing"}),
    ("description: it's {new\nsource: {path: it's, |}", ["source"], {"format", "missing"}),
    ("source: {path: a}\nprivacy:\n  |", ["privacy"], {"k_anonymity"}),
]
BROKEN = ["{|", "[[[|", "a: 'b|", ": |", "- - - |", "a: {b: }}}|", "\t|", '"|']


@pytest.fixture(scope="module")
def offered(shared_server, tmp_path_factory):
    """What is offered at the bar in each text, and where the script thinks that it is, or its error."""
    folder = tmp_path_factory.mktemp("words")
    (folder / "words.mjs").write_text(SCRIPT.read_text())
    (folder / "ask.mjs").write_text(ASKING)
    words = shared_server.browser(PageRole.STEWARD).get("/policies/words").json()
    texts = [*(text for text, _, _ in CASES), *BROKEN]
    given = json.dumps({"texts": texts, "words": words, "names": NAMES})
    done = subprocess.run([NODE, "ask.mjs"], input=given, cwd=folder, capture_output=True, text=True, check=True)
    return dict(zip(texts, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(("text", "path", "some"), CASES)
def test_what_can_stand_there_is_offered(offered, text, path, some):
    assert "error" not in offered[text]
    assert offered[text]["place"]["path"] == path
    assert some <= set(offered[text]["labels"])


@pytest.mark.parametrize("text", BROKEN)
def test_broken_text_is_no_trouble(offered, text):
    assert "error" not in offered[text]
