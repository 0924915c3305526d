"""``check``: what it prints, what it exits with, and how light it starts."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

GOOD = """version: 1
name: good
source: {path: t.csv}
attributes: {age: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 3}}
releases: {r: {path: r.csv}}
"""
BAD = GOOD.replace("k: 3", "k: one")
WARNS = GOOD.replace("privacy: {k_anonymity: {k: 3}}\n", "")

HEAVY = ("numpy", "pandas", "pyarrow", "duckdb", "scipy", "sklearn", "jinja2", "numba", "cryptography")


@pytest.fixture
def policies(tmp_path):
    for name, text in (("good", GOOD), ("bad", BAD), ("warns", WARNS)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["good.yaml"], 0),
        (["bad.yaml"], 1),
        (["warns.yaml"], 0),
        (["warns.yaml", "--strict"], 1),
        (["good.yaml", "bad.yaml"], 1),
        (["nowhere.yaml"], 2),
        (["*.yml"], 2),
        ([], 2),
        (["good.yaml", "--set", "k"], 2),
        (["good.yaml", "--set", "k=1", "--set", "k=2"], 2),
        (["good.yaml", "--format", "xml"], 2),
        (["good.yaml", "--nonsense"], 2),
    ],
)
def test_exit_status(here, policies, words, status):
    done = here("check", *words, cwd=policies)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


NONE = WARNS.replace("releases:", "privacy: none\nreleases:")


def test_a_policy_without_requirements_is_called_so(here, policies):
    (policies / "none.yaml").write_text(NONE)
    (policies / "t.csv").write_text("age\n30\n31\n")
    done = here("check", "none.yaml", "good.yaml", cwd=policies)
    assert (done.returncode, done.stdout) == (0, "")
    assert "0 warnings, 1 WITHOUT REQUIREMENTS" in done.stderr
    planned = here("plan", "none.yaml", cwd=policies)
    assert planned.stdout.startswith("good: WITHOUT REQUIREMENTS, plan ")
    done = here("run", "none.yaml", "-q", cwd=policies)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("RELEASED WITHOUT REQUIREMENTS  good\n")
    strict = here("check", "none.yaml", "--strict", cwd=policies)
    assert (strict.returncode, strict.stdout[:14]) == (1, "error[PPF526]:")
    assert here("run", "none.yaml", "--strict", "-q", cwd=policies).returncode == 2


VISITS = """version: 1
name: visits
source: {path: visits.csv}
attributes:
  visit: {role: identifier}
  patient: {role: identifier}
  age: {role: quasi_identifier}
privacy: {k_anonymity: {k: 3}}
releases: {r: {path: r.csv}}
"""


@pytest.fixture
def visits(tmp_path):
    """Visits of 20 patients, three each."""
    rows = [f"v{i},p{i % 20},{i % 2}" for i in range(60)]
    (tmp_path / "visits.csv").write_text("\n".join(["visit,patient,age", *rows, ""]))
    (tmp_path / "visits.yaml").write_text(VISITS)
    return tmp_path


def test_data_that_repeats_its_people_is_told(here, visits):
    assert "PPF857" not in here("check", "visits.yaml", cwd=visits).stdout
    done = here("check", "visits.yaml", "--data", "visits.csv", cwd=visits)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PPF857" in done.stdout
    assert here("check", "visits.yaml", "--data", "visits.csv", "--strict", cwd=visits).returncode == 1
    once = "\n".join(["visit,patient,age", *(f"v{i},p{i},1" for i in range(60)), ""])
    (visits / "visits.csv").write_text(once)
    assert "PPF857" not in here("check", "visits.yaml", "--data", "visits.csv", cwd=visits).stdout


def test_data_that_rules_the_policy_out(here, visits):
    (visits / "visits.yaml").write_text(VISITS.replace("k: 3", "k: 61"))
    assert here("check", "visits.yaml", cwd=visits).returncode == 0
    done = here("check", "visits.yaml", "--data", "visits.csv", "--format", "concise", cwd=visits)
    assert done.returncode == 1
    assert "visits.yaml:8" in done.stdout, "at the requirement that no release of these rows can meet"


def test_data_that_cannot_be_judged(here, visits):
    (visits / "other.csv").write_text("visit,age\nv1,3\n")
    for name in ("nowhere.csv", "other.csv"):
        done = here("check", "visits.yaml", "--data", name, cwd=visits)
        assert done.returncode == 2, done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_folder_with_runs_is_checked_without_their_copies(here, policies):
    run = policies / "runs" / "good" / "1"
    run.mkdir(parents=True)
    (run / "policy.resolved.yaml").write_text(BAD)
    (run / "manifest.json").write_text("{}")
    (policies / "bad.yaml").unlink()
    assert here("check", ".", cwd=policies).stderr.startswith("2 policies checked: 0 errors, ")


def test_diagnostics_go_to_stdout_and_talk_to_stderr(here, policies):
    done = here("check", "bad.yaml", cwd=policies)
    assert done.stdout.startswith("error[PPF203]")
    assert "^^^" in done.stdout
    assert done.stderr == "1 policy checked: 1 error, 0 warnings\n"
    assert here("check", "good.yaml", cwd=policies).stdout == ""


def test_forms(here, policies):
    concise = here("check", "bad.yaml", "--format", "concise", cwd=policies).stdout
    assert concise.startswith("bad.yaml:5:")
    assert concise.count("\n") == 1
    found = json.loads(here("check", "bad.yaml", "--format", "json", cwd=policies).stdout)
    assert [d["code"] for d in found["diagnostics"]] == ["PPF203"]
    assert json.loads(here("check", "good.yaml", "--format", "json", cwd=policies).stdout)["diagnostics"] == []


def test_folders_and_patterns(here, policies):
    (policies / "deep" / ".hidden").mkdir(parents=True)
    (policies / "deep" / "also.yml").write_text(GOOD)
    (policies / "deep" / "workflow.yaml").write_text("on: push\njobs: {}\n")
    (policies / "deep" / ".hidden" / "bad.yaml").write_text(BAD)
    done = here("check", "deep", cwd=policies)
    assert done.returncode == 0, done.stdout
    assert "1 policy checked" in done.stderr
    assert "skipped 1 YAML file" in done.stderr
    assert "3 policies checked" in here("check", "*.yaml", cwd=policies).stderr
    assert "2 policies checked" in here("check", "**/also.yml", "good.yaml", "good.yaml", cwd=policies).stderr
    # a file that is named is checked, even if it does not look like a policy
    assert here("check", "deep/workflow.yaml", cwd=policies).returncode == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GOOD.replace("releases:", "release:"), "PPF201"),
        (GOOD.replace("releases:", "\treleases:"), "PPF105"),
        (GOOD.replace("releases: {r: {path: r.csv}}", "  releases: {r: {path: r.csv}"), "PPF104"),
        (GOOD.replace("releases: {r: {path: r.csv}}\n", ""), "PPF202"),
        ("{" + ", ".join(GOOD.splitlines()).replace("releases", "relases") + "}\n", "PPF201"),
        (GOOD.replace("releases:", "relases:").replace("version: 1\n", ""), "PPF202"),
    ],
)
def test_a_broken_policy_in_a_folder_is_not_skipped(here, policies, text, code):
    (policies / "deep").mkdir()
    (policies / "deep" / "good.yaml").write_text(GOOD)
    (policies / "deep" / "broken.yaml").write_text(text)
    done = here("check", "deep", "--format", "concise", cwd=policies)
    assert done.returncode == 1, done.stdout + done.stderr
    assert code in done.stdout
    assert "2 policies checked" in done.stderr
    assert here("lock", "deep", cwd=policies).returncode == 2


def test_broken_yaml_that_may_be_a_policy_is_named(here, policies):
    (policies / "deep").mkdir()
    (policies / "deep" / "good.yaml").write_text(GOOD)
    (policies / "deep" / "chart.yaml").write_text("kind: x\n{{- if .Values.a }}\n  a: {{ .b }}\n{{- end }}\n")
    done = here("check", "deep", cwd=policies)
    assert done.returncode == 1
    assert "`deep/chart.yaml` is not a policy: it is no valid YAML" in done.stdout


OTHERS = {
    "docker-compose.yaml": "version: '1'\nname: x\nservices: {db: {image: postgres}}\n",
    "workflow.yml": "name: ci\non: push\njobs: {a: {steps: [{run: 'echo ${{ x }}'}]}}\n",
    "mkdocs.yml": "site_name: x\ntheme: {name: material}\nemoji: !!python/name:materialx.emoji.twemoji\n",
    "azure.yaml": "trigger: main\nsteps: [{script: make}]\n",
    "pods.yaml": "kind: A\n---\nkind: B\n",
    "template.yaml": "version: 1\nprivacy: {k_anonymity: {k: 3}}\nsource: {missing: ['?']}\n",
    "child.yaml": "extends: template.yaml\n",
    "good.tests.yaml": "version: 1\npolicy: good.yaml\ntests: {}\n",
    "ppdm-flow.yaml": "version: 1\npolicies: [good.yaml]\n",
    "signers.yaml": "version: 1\nsigners: {}\n",
    "empty.yaml": "# nothing yet\n",
    "list.yaml": "- a\n- b\n",
    ".q.yaml": BAD,
    "q.txt": BAD,
}


def test_other_files_of_a_folder_are_skipped_and_named(here, policies):
    (policies / "deep").mkdir()
    for name, text in {**OTHERS, "good.yaml": GOOD}.items():
        (policies / "deep" / name).write_text(text)
    done = here("check", "deep", "--strict", "-v", cwd=policies)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 policy checked" in done.stderr
    assert f"skipped {len(OTHERS) - 2} YAML files" in done.stderr
    assert all(f"deep/{name}" in done.stderr for name in OTHERS if not name.startswith((".", "q")))
    assert "-v names them" in here("check", "deep", cwd=policies).stderr


@pytest.mark.parametrize("words", [["check"], ["test"], ["lock"]])
def test_a_broken_project_file_is_named(here, policies, words):
    (policies / "ppdm-flow.yaml").write_text("version: 1\npolicies: [good.yaml]\nrequires: [house.yaml]\n")
    done = here(*words, cwd=policies)
    assert done.returncode in (1, 2)
    assert "`requires`" in done.stdout + done.stderr
    (policies / "ppdm-flow.yaml").write_text("version: 1\npolicies: [good.yaml]\n")
    sound = here(*words, cwd=policies)
    assert (sound.returncode, "no tests found" in sound.stderr) == ((2, True) if words == ["test"] else (0, False))


def test_params_from_the_command_line(here, tmp_path):
    text = GOOD.replace("k: 3", "k: '${params.k}'") + "params: {k: {type: integer, default: 3}}\n"
    (tmp_path / "p.yaml").write_text(text)
    assert here("check", "p.yaml", cwd=tmp_path).returncode == 0
    assert here("check", "p.yaml", "--set", "k=7", cwd=tmp_path).returncode == 0
    assert here("check", "p.yaml", "--set", "k=x", cwd=tmp_path).returncode == 1
    assert here("check", "p.yaml", "--set", "kk=7", cwd=tmp_path).returncode == 1


@pytest.mark.slow
def test_check_imports_nothing_heavy(root):
    """The worked policies: the specs of all their plugins are loaded, none of their algorithms.

    Not that of clients, whose operator is read.
    """
    policies = [str(p) for p in sorted((root / "pipelines").glob("*.yaml")) if p.stem != "clicks"]
    code = (
        "import sys\nfrom ppdm_flow.cli.main import main\n"
        f"try:\n    main(['check', *{policies!r}])\n"
        f"except SystemExit as e:\n    print(e.code, sorted(set({HEAVY!r}) & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=1200)
    assert done.stdout.splitlines()[-1] == "0 []"


@pytest.fixture
def long_policy(tmp_path):
    """A policy of some 300 lines."""
    lines = ["version: 1", "name: long", "source:", "  path: t.csv", "attributes:"]
    for i in range(66):
        lines += [f"  q{i}:", "    role: quasi_identifier", f"    description: column {i}"]
    lines += ["  ill: {role: sensitive, domain: [a, b, c]}", "privacy:", "  k_anonymity: {k: 5}", "  templates:"]
    for i in range(12):
        lines += [f"    t{i}:", f"      channel: [q{i}, q{i + 1}]", "      sensitive: {ill: [a]}"]
        lines += [f"      confidence: 0.{10 + i}"]
    lines += ["  sensitivities:", "    ill: {default: {tolerance: 3}}", "steps:"]
    for i in range(10):
        lines += [f"  g{i}:", "    use: generalize", f"    with: {{attributes: {{q{i}: {{prefix: 1}}}}}}"]
    lines += ["  s: {use: progressive_disclosure}", "  p: {use: fine_grain_perturbation}"]
    lines += ["releases:", "  r: {path: r.csv}"]
    path = tmp_path / "long.yaml"
    path.write_text("\n".join(lines) + "\n")
    assert 280 <= len(lines) <= 320
    return path


def test_check_of_300_lines_passes(long_policy, cli):
    """How long it takes is measured by ``tests/benchmarks/whole_path.py``."""
    done = cli("check", long_policy)
    assert done.returncode == 0, done.stdout


HOUSE = """version: 1
floors:
  privacy.k_anonymity.k: ">= 5"
privacy:
  k_anonymity: {k: KKK}
"""


def test_of_a_template_nothing_is_asked_that_only_a_policy_has_to_say(here, tmp_path):
    template = tmp_path / "house.yaml"
    template.write_text(HOUSE.replace("KKK", "5"))
    done = here("check", template, "--strict")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "1 template checked: 0 errors, 0 warnings\n"
    template.write_text(HOUSE.replace("KKK", "1"))
    done = here("check", template)
    assert done.returncode == 1
    assert "PPF202" not in done.stdout


@pytest.mark.parametrize("own", ["name: study\n", "source: {path: t.csv}\n", "releases: {r: {path: r.csv}}\n"])
def test_what_says_one_thing_of_a_policy_has_to_say_all(here, tmp_path, own):
    policy = tmp_path / "policy.yaml"
    policy.write_text(HOUSE.replace("KKK", "5") + own)
    done = here("check", policy)
    assert done.returncode == 1
    assert "PPF202" in done.stdout
    assert "1 policy checked" in done.stderr
