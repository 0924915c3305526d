"""Each verb from end to end, on a small policy."""

from __future__ import annotations

import json
import re
import shutil
from xml.etree import ElementTree as ET

import pytest

from ppdm_flow.api import scaffold
from ppdm_flow.cli.program import VERBS

POLICY = """version: 1
name: small
source: {path: t.csv}
attributes:
  id: {role: identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 50, 100]}}
  ill: {role: sensitive, domain: [flu, cold, hiv]}
privacy:
  k_anonymity: {k: KKK}
  sensitivities: {ill: {default: {tolerance: 3}}}
steps:
  coarsen: {use: generalize}
  perturb: {use: fine_grain_perturbation}
releases:
  r: {path: r.csv}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, cli):
    """A policy that releases, one that is withheld, and a finished run of each."""
    home = tmp_path_factory.mktemp("small")
    rows = [f"p{i},{(i * 37) % 90},{('flu', 'flu', 'cold', 'hiv')[i % 4]}" for i in range(80)]
    (home / "t.csv").write_text("id,age,ill\n" + "\n".join(rows) + "\n")
    for name, k in (("yes", 5), ("no", 60)):
        (home / f"{name}.yaml").write_text(POLICY.replace("KKK", str(k)).replace("small", name))
    for name, status in (("yes", 0), ("no", 1)):
        done = cli("run", f"{name}.yaml", "--out", "runs", cwd=home)
        assert done.returncode == status, done.stderr
    return home


def run_of(folder, name):
    (found,) = (folder / "runs" / name).iterdir()
    return found


def test_run_says_what_was_decided_and_where(here, folder):
    done = here("run", "yes.yaml", "--out", "other", cwd=folder)
    lines = done.stdout.splitlines()
    assert lines[0] == "RELEASED  yes"
    assert re.search(r"^  ok  privacy\.k_anonymity +\d+ +at least 5$", done.stdout, re.MULTILINE)
    assert (folder / lines[-1] / "released/r/r.csv").exists()
    assert "coarsen: 80 rows in" in done.stderr
    withheld = here("run", "no.yaml", "--out", "other", cwd=folder)
    assert withheld.returncode == 1
    assert withheld.stdout.startswith("WITHHELD  no\n  1 of 2 checks does not hold.")
    assert "  NO  privacy.k_anonymity" in withheld.stdout
    shutil.rmtree(folder / "other")


def test_run_quiet_and_verbose(here, folder):
    quiet = here("run", "yes.yaml", "--out", "other", "-q", cwd=folder)
    assert quiet.stderr == ""
    assert quiet.stdout.startswith("RELEASED  yes")
    loud = here("run", "yes.yaml", "--out", "other", "-v", cwd=folder)
    assert "privacy.k_anonymity on r: holds" in loud.stderr
    shutil.rmtree(folder / "other")


def test_run_keeps_the_withheld_only_when_asked(here, folder):
    assert not (run_of(folder, "no") / "withheld").exists() or not list(
        (run_of(folder, "no") / "withheld").rglob("*.csv")
    )
    done = here("run", "no.yaml", "--out", "kept", "--keep-withheld", cwd=folder)
    assert done.returncode == 1
    assert list((folder / "kept").rglob("withheld/r/r.csv"))
    assert not list((folder / "kept").rglob("released"))


def test_run_options_do_not_change_the_release(here, folder):
    text = (folder / "yes.yaml").read_text() + "randomness: {mode: reproducible, seed: one}\n"
    (folder / "seeded.yaml").write_text(text)
    found = set()
    for number, words in enumerate((["--partition-rows", "7"], *(["--workers", w] for w in "123"), [])):
        out = f"seeded{number}"
        assert here("run", "seeded.yaml", "--out", out, *words, cwd=folder).returncode == 0
        (file,) = (folder / out).rglob("released/r/r.csv")
        found.add(file.read_bytes())
    assert len(found) == 1


def test_run_refuses_nonsense(here, folder):
    assert here("run", "yes.yaml", "--partition-rows", "0", cwd=folder).returncode == 2
    assert here("run", "yes.yaml", "--data", "nowhere.csv", cwd=folder).returncode == 2
    assert here("run", "nowhere.yaml", cwd=folder).returncode == 2


def test_escrow(here, folder):
    done = here("run", "yes.yaml", "--out", "escrowed", "--escrow", "key", cwd=folder)
    assert done.returncode == 0
    assert (folder / "key").exists()
    assert (folder / "key").stat().st_mode & 0o077 == 0
    assert here("run", "yes.yaml", "--out", "escrowed", "--escrow", "key", cwd=folder).returncode == 2


@pytest.mark.parametrize("form", ["text", "mermaid", "dot", "svg", "json"])
@pytest.mark.parametrize("data", [(), ("--data", "t.csv")])
def test_plan(here, folder, form, data):
    done = here("plan", "yes.yaml", "--format", form, *data, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "coarsen" in done.stdout
    if form == "svg":
        assert ET.fromstring(done.stdout).tag.endswith("svg")
    if form == "json":
        assert ("preview" in json.loads(done.stdout)) == bool(data)
    if form == "text" and data:
        assert "data    80 rows" in done.stdout


def test_plan_on_spark(here, folder):
    done = here("plan", "yes.yaml", "--engine", "spark", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(here("plan", "yes.yaml", cwd=folder).stdout)
    assert "about 80 rows" in done.stdout
    assert "step coarsen" in done.stdout
    told = json.loads(
        here("plan", "yes.yaml", "--engine", "spark", "--format", "json", "--rows", "7", cwd=folder).stdout
    )
    assert told["cluster"]["rows"]["source"]["rows"] == 7
    told.pop("cluster")
    assert told == json.loads(here("plan", "yes.yaml", "--format", "json", cwd=folder).stdout)


def test_rows_and_memory_of_a_plan_are_for_spark(here, folder):
    for words in (("--rows", "7"), ("--memory", "100")):
        done = here("plan", "yes.yaml", *words, cwd=folder)
        assert done.returncode == 2
        assert "PPF954" in done.stderr


def test_plan_on_spark_refuses_what_the_driver_cannot_hold(here, folder):
    text = POLICY.replace("KKK", "5").replace(
        "steps:", "steps:\n  mixed: {use: swap, with: {attributes: [ill], share: 0.1}}"
    )
    (folder / "mixed.yaml").write_text(text)
    words = ("plan", "mixed.yaml", "--engine", "spark", "--rows", "100000000")
    done = here(*words, cwd=folder)
    assert done.returncode == 3
    assert "PPF953" in done.stderr
    assert "step mixed" in done.stderr
    assert "step mixed" in done.stdout
    assert here(*words, "--memory", "64000", cwd=folder).returncode == 0


def test_plan_to_a_file(here, folder):
    done = here("plan", "yes.yaml", "--format", "svg", "--output-file", "plan.svg", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert (folder / "plan.svg").read_text().startswith("<svg")
    assert here("plan", "yes.yaml", "-o", "nowhere/plan.svg", cwd=folder).returncode == 2


def test_plan_with_data_that_rules_a_requirement_out(here, folder):
    text = POLICY.replace("KKK", "5").replace(
        "  sensitivities: {ill",
        "  templates: {t: {channel: [age], sensitive: {ill: [flu]}, confidence: 0.1}}\n  sensitivities: {ill",
    )
    (folder / "never.yaml").write_text(text)
    assert here("plan", "never.yaml", cwd=folder).returncode == 0
    done = here("plan", "never.yaml", "--data", "t.csv", cwd=folder)
    assert done.returncode == 1
    assert "cannot hold" in done.stderr


def test_the_plan_is_the_one_that_runs(here, folder):
    planned = json.loads(here("plan", "yes.yaml", "--data", "t.csv", "--format", "json", cwd=folder).stdout)
    planned.pop("preview")
    assert planned == json.loads((run_of(folder, "yes") / "plan.json").read_text())
    assert run_of(folder, "yes").name.endswith(planned["digest"][:12])


def test_verify(here, folder, tmp_path):
    assert here("verify", run_of(folder, "yes")).returncode == 0
    assert here("verify", run_of(folder, "yes"), "--data", folder / "t.csv").returncode == 0
    assert here("verify", folder).returncode == 2
    copy = tmp_path / run_of(folder, "yes").name
    shutil.copytree(run_of(folder, "yes"), copy)
    assert here("verify", copy).returncode == 0
    with (copy / "released/r/r.csv").open("a") as file:
        file.write("1,flu\n")
    done = here("verify", copy)
    assert done.returncode == 1
    assert "r.csv" in done.stdout


def test_the_kept_policy_is_the_policy(here, folder):
    """What a run keeps compiles to the same plan: it can be judged again without the repository."""
    kept = run_of(folder, "yes") / "policy.resolved.yaml"
    original = json.loads((run_of(folder, "yes") / "plan.json").read_text())
    again = json.loads(here("plan", kept, "--data", folder / "t.csv", "--format", "json").stdout)
    assert again["policy_digest"] == original["policy_digest"]
    assert again["digest"] == original["digest"]


@pytest.mark.parametrize(("form", "start"), [("html", "<!doctype html>"), ("md", "## "), ("json", "{")])
def test_report(here, folder, form, start):
    for name in ("yes", "no"):
        done = here("report", run_of(folder, name), "--format", form)
        assert done.returncode == 0, done.stderr
        assert done.stdout.lower().startswith(start)
        assert done.stdout.rstrip() == (run_of(folder, name) / f"report.{form}").read_text().rstrip()


def test_report_of_nothing(here, folder, tmp_path):
    assert here("report", folder).returncode == 2
    (tmp_path / "report.json").write_text("{")
    assert here("report", tmp_path).returncode == 2
    (tmp_path / "report.json").write_text("[]")
    assert here("report", tmp_path).returncode == 2


def test_audit(here, folder):
    run = run_of(folder, "yes")
    words = ("audit", "yes.yaml", "--original", "t.csv", "--released", run / "released/r/r.csv")
    done = here(*words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("HOLDS  yes\n")
    shutil.copy(run / "released/r/r.csv", folder / "alone.csv")  # without the operator beside it
    alone = ("audit", "yes.yaml", "--original", "t.csv", "--released", "alone.csv")
    assert here(*alone, cwd=folder).returncode == 1
    assert here(*alone, "--operator", run / "released/r/operator.json", cwd=folder).returncode == 0
    assert here(*words, "--release", "rr", cwd=folder).returncode == 2
    report = json.loads(here(*words, "--format", "json", cwd=folder).stdout)
    assert report["verdict"] == "released"
    stricter = here("audit", "no.yaml", *words[2:], cwd=folder)
    assert stricter.returncode == 1
    assert "does not hold" in stricter.stdout


def test_audit_asks_which_release(here, folder):
    text = POLICY.replace("KKK", "5") + "  s: {path: s.csv}\n"
    (folder / "two.yaml").write_text(text)
    done = here("audit", "two.yaml", "--original", "t.csv", "--released", "t.csv", cwd=folder)
    assert done.returncode == 2
    assert "--release NAME" in done.stderr


@pytest.mark.parametrize("group", ["anonymizers", "audits", "sources", "sinks"])
def test_list(here, group):
    text = here("list", group).stdout
    found = json.loads(here("list", group, "--format", "json").stdout)
    assert [card["name"] for card in found] == sorted(card["name"] for card in found)
    assert all(card["name"] in text and card["summary"] in text and not card["fault"] for card in found)


def test_list_of_nothing(here):
    done = here("list", "anonymizer")
    assert done.returncode == 2
    assert "did you mean `anonymizers`?" in done.stderr


def test_show(here, folder):
    done = here("show", "yes.yaml", cwd=folder)
    assert done.returncode == 0
    (folder / "shown.yaml").write_text(done.stdout)
    assert here("show", "shown.yaml", cwd=folder).stdout == done.stdout
    origin = here("show", "yes.yaml", "--origin", cwd=folder).stdout
    assert re.search(r"^privacy\.k_anonymity\.k +yes\.yaml:9$", origin, re.MULTILINE)


def test_schema(here, tmp_path, root):
    assert here("schema", "--check", cwd=root).returncode == 0, (
        "the schemas in the repository are stale: run `ppdm-flow schema`"
    )
    assert here("schema", "--dir", tmp_path / "new").returncode == 0
    files = sorted(p.name for p in (tmp_path / "new").iterdir())
    assert files == sorted(p.name for p in (root / "schemas").iterdir())
    assert {"plan.v1.json", "policy.v1.json", "template.v1.json", "test.v1.json"} <= set(files)
    for name in files:
        assert (tmp_path / "new" / name).read_text() == (root / "schemas" / name).read_text()
    (tmp_path / "new/plan.v1.json").write_text("{}")
    done = here("schema", "--check", "--dir", tmp_path / "new")
    assert done.returncode == 1
    assert "plan.v1.json" in done.stdout
    assert json.loads(here("schema", "plan").stdout)["title"]
    assert here("schema", "plans").returncode == 2
    named = here("schema", "--help").stdout
    assert all(re.search(rf"\b{name.partition('.')[0]}\b", named) for name in files)


def test_init_checks_and_runs(here, tmp_path):
    home = tmp_path / "mine"
    assert here("init", home).returncode == 0
    assert here("check", home, "--strict").returncode == 0
    done = here("run", home / "policies/visits.yaml", "--out", tmp_path / "runs", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    again = here("init", home)
    assert again.returncode == 2
    assert "nothing was written" in again.stderr
    assert {p: p.read_bytes() for p in home.rglob("*") if p.is_file()} == before
    (tmp_path / "file").write_text("")
    assert here("init", tmp_path / "file").returncode == 2


def test_doctor(here):
    done = here("doctor")
    assert done.returncode == 0, done.stdout
    assert "ok    trial run of microdata-kl: released" in done.stdout
    assert "FAULT" not in done.stdout
    assert done.stderr == "all is well\n"


@pytest.mark.slow
def test_doctor_tries_each_built_in_template_to_compile_its_kernels(here):
    done = here("doctor", "--compile")
    assert done.returncode == 0, done.stdout
    tried = re.findall(r"ok    trial run of ([\w-]+): released", done.stdout)
    assert tried == [name for name in scaffold.variants() if name != scaffold.LINKED]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_quiet_and_verbose(here, verb):
    shown = here(verb, "--help").stdout
    assert re.search(r"-q, --quiet", shown)
    assert re.search(r"-v, --verbose", shown)


def test_an_audit_tells_its_stages_unless_it_is_quiet(here, folder):
    words = ("audit", "yes.yaml", "--original", "t.csv", "--released", run_of(folder, "yes") / "released/r/r.csv")
    usual, quiet, verbose = (here(*words, *more, cwd=folder) for more in ((), ("-q",), ("-v",)))
    assert usual.stdout == quiet.stdout == verbose.stdout
    assert quiet.stderr == ""
    assert "source: 80 rows" in usual.stderr
    assert "seconds: " not in usual.stderr
    assert "seconds: " in verbose.stderr


def test_a_quiet_verb_still_says_errors(here, folder):
    done = here("run", "yes.yaml", "-q", "--set", "nothing=1", cwd=folder)
    assert done.returncode == 2
    assert "error[" in done.stderr
