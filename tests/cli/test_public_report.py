"""A public report: canaries of the original data, its counts and its hashes, searched for in every form."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import jsonschema
import pytest

from ppdm_flow.api.documents import SCHEMAS
from ppdm_flow.core.plugin_info import FigureInfo
from ppdm_flow.report.forms import JUDGED
from ppdm_flow.report.run.checks import audience
from ppdm_flow.report.run.public import public

POLICY = """version: 1
name: study
description: who was ill
source: {path: zqsource.csv}
attributes:
  name: {role: identifier}
  job: {role: quasi_identifier}
  town: {role: quasi_identifier}
  ill: {role: sensitive, domain: [zqflu, zqcold, zqhiv]}
  wage: {role: sensitive, domain: [zqlow, zqhigh]}
privacy:
  k_anonymity: {k: KKK}
  sensitivities: {ill: {values: {zqhiv: {r1: 0.27182, r2: 0.6}}}}
  templates:
    t: {channel: [job], sensitive: {wage: [zqlow]}, confidence: 0.91}
steps:
  recode: {use: mondrian}
  perturb: {use: fine_grain_perturbation, with: {attribute: ill}}
gates: {big: {metric: class_sizes.largest, min: 5}, kept: {metric: perturb.record_utility, min: 0.01}}
releases: {study: {path: study.csv, audience: public}}
report: {values: show}
"""
ROWS = 131


@pytest.fixture(scope="module", params=["released", "withheld"])
def run(request, tmp_path_factory, cli) -> Path:
    home = tmp_path_factory.mktemp(request.param)
    ills, wages = ("zqflu", "zqcold", "zqhiv"), ("zqlow", "zqhigh")
    lines = [f"zqname{i},zqjob{i % 7},zqtown{i % 3},{ills[(i * i) % 3]},{wages[i % 2]}" for i in range(ROWS)]
    (home / "zqsource.csv").write_text("\n".join(["name,job,town,ill,wage", *lines]) + "\n")
    policy = POLICY if request.param == "released" else POLICY.replace("0.91", "0.01")
    (home / "policy.yaml").write_text(policy.replace("KKK", "4"))
    done = cli("run", "policy.yaml", "--out", "out", cwd=home)
    assert done.returncode == (request.param == "withheld"), done.stderr
    return next(p.parent for p in home.glob("out/*/*/manifest.json"))


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("form", JUDGED)
def test_nothing_of_the_original_is_in_it(here, run, form):
    internal = json.loads((run / "report.json").read_text())
    done = here("report", run, "--public", "--format", form)
    assert done.returncode in (0, 1), done.stderr
    text = done.stdout + done.stderr
    assert "zq" not in text, re.findall(".{60}zq.{60}", text)
    assert hashlib.sha256((run.parents[2] / "zqsource.csv").read_bytes()).hexdigest() not in text
    assert internal["run"]["input"]["sha256"][:16] not in text
    assert "27182" not in text
    for name, figure in internal["metrics"].items():
        value = figure["value"]
        exact = f"{value:.6g}" if isinstance(value, float) else ""
        if len(exact) > 5 and "class_sizes" not in name and "retention" not in name:
            assert re.search(rf"(?<![\w.]){re.escape(exact)}", text) is None, name


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize("form", ["text", "md", "html", "json", "markdown"])
def test_the_first_screen_says_who_may_read_it(here, run, form):
    for words, told in (((), "internal"), (("--public",), "public")):
        text = here("report", run, "--format", form, *words).stdout.lower()
        text = text.partition("<body>")[2] if form == "html" else text
        assert told in text[:3000]
        other = {"internal": "may be shared:", "public": "Do not share"}[told]
        assert other not in text


def test_its_documents_fit_the_schema(run):
    found = json.loads((run / "report.json").read_text())
    assert found["audience"] == "internal"
    told = public(found)
    assert told["audience"] == "public"
    jsonschema.validate(found, SCHEMAS["report"]())
    jsonschema.validate(told, SCHEMAS["report"]())
    assert public(told) == told, "twice changes nothing"
    verdicts = [(r["id"], r["release"], r["holds"]) for r in (*found["requirements"], *found["gates"])]
    assert [(r["id"], r["release"], r["holds"]) for r in (*told["requirements"], *told["gates"])] == verdicts
    assert told["releases"]["study"].get("sha256") == found["releases"]["study"].get("sha256")


def test_what_the_recipient_can_count_stays_and_small_counts_do_not(run):
    found = json.loads((run / "report.json").read_text())
    told = public(found)
    names = {name.rpartition(".")[2] for name in told["metrics"]}
    if found["verdict"] == "withheld":
        assert told["metrics"] == {}
        return
    assert {"smallest", "largest", "lowest_retention", "epsilon"} <= names
    assert not names & {"k", "confidence", "margin", "record_utility", "k_own_category"}
    for name, figure in told["metrics"].items():
        before = found["metrics"][name]["value"]
        if figure["unit"] in ("rows", "classes") and before is not None and before < 10:
            assert figure == {"value": None, "unit": figure["unit"], "note": "fewer than 10"}
        else:
            assert figure["value"] == before
    gates = {gate["id"]: gate for gate in told["gates"]}
    assert gates["gates.kept"]["measured"] is None
    assert "not for the public" in gates["gates.kept"]["sentence"]
    assert all(r["measured"] is None for r in told["requirements"])


def test_a_release_of_few_rows_does_not_tell_how_few(run):
    found = json.loads((run / "report.json").read_text())
    found["releases"]["study"]["rows"] = 7
    assert public(found)["releases"]["study"]["rows"] == "fewer than 10"


def test_internal_is_the_default():
    assert FigureInfo("anything").audience == "internal"
    assert not audience({}).public
