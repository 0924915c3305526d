"""The repository that `init` writes: every policy in it releases, every file is valid, every command of its CI runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pre_commit import clientlib as pre_commit_clientlib

from ppdm_flow import api
from ppdm_flow.api.scaffold import contents, variants
from ppdm_flow.core.errors import UsageError
from ppdm_flow.policy.inheritance.references import built_ins

POLICY = "policies/visits.yaml"


def of(template: str) -> str:
    return "policies/orders.yaml" if template == "randomized-baskets" else POLICY


def plain(path: Path) -> dict:
    """YAML with every scalar as text, so that `on:` is no truth value."""
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)


LINKED = "linked-tables"


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    """The key of pseudonyms that CI and README of linked tables name."""
    monkeypatch.setenv("PATIENTS_KEY", "for-invented-data-alone")


def test_every_built_in_template_has_one():
    assert set(variants()) == {*built_ins(), LINKED}


@pytest.mark.slow
def test_linked_tables_name_the_key_where_it_is_needed():
    """In the jobs of both CI services and in the README, and nowhere else: none of the others needs one."""
    files, others = contents(LINKED), contents()
    workflow = yaml.load(files[".github/workflows/policies.yml"], Loader=yaml.BaseLoader)["jobs"]["policies"]
    assert workflow["env"] == {"PATIENTS_KEY": "for-invented-data-alone"}
    assert yaml.load(files[".gitlab-ci.yml"], Loader=yaml.BaseLoader)["policies"]["variables"] == workflow["env"]
    assert "PATIENTS_KEY=for-invented-data-alone" in files["README.md"]
    assert not any("PATIENTS_KEY" in text for text in others.values())
    assert "!data/patients.csv\n!data/visits.csv\n" in files[".gitignore"]


def test_no_policy_of_linked_tables_goes_below_the_house(tmp_path):
    api.init(tmp_path, LINKED)
    path = tmp_path / POLICY
    text = path.read_text()
    for weaker in (
        text.replace("k: 5", "k: 4"),
        text.replace("alpha: 0.7", "alpha: 0.9"),
        text.replace("\nprivacy:", "\nrecipients: apart\nprivacy:"),
        text.replace("\nprivacy:", "\npeople: {unit: rows}\nprivacy:"),
    ):
        assert weaker != text
        path.write_text(weaker)
        assert not api.check([path]).passes(strict=True)


@pytest.mark.slow
def test_it_is_the_same_everywhere():
    assert contents() == contents()
    for template in variants():
        for text in words(template):
            assert not re.search(r"@[A-Z]+@", text), "a mark that nothing filled"


def test_its_files_are_in_the_wheel(root):
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="the extra `test` brings hatchling")
    packed = {f.distribution_path for f in wheel.WheelBuilder(str(root)).recurse_included_files()}
    kit = root / "ppdm_flow/api/scaffold/kit"
    files = {str(p.relative_to(root)) for p in kit.rglob("*") if p.is_file()}
    assert len(files) == 8 + 3 * len(variants())
    assert files <= packed


def words(template: str) -> list[str]:
    return [text for name, text in contents(template).items() if not name.startswith((".schemas/", "data/"))]


def test_another_template_is_suggested(tmp_path):
    with pytest.raises(UsageError) as caught:
        api.init(tmp_path / "new", "microdata-kk")
    (fault,) = caught.value.diagnostics
    assert fault.code == "PPF692"
    assert fault.hint in ("did you mean `microdata-k`?", "did you mean `microdata-kl`?")
    assert not (tmp_path / "new").exists()


def test_the_prefix_may_be_said(tmp_path):
    assert contents("builtin:microdata-k") == contents("microdata-k")


@pytest.mark.parametrize("taken", ["README.md", ".gitignore", "policies/visits.yaml"])
def test_nothing_is_overwritten(tmp_path, taken):
    file = tmp_path / taken
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine\n")
    with pytest.raises(UsageError) as caught:
        api.init(tmp_path)
    assert caught.value.diagnostics[0].code == "PPF673"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [file]
    assert file.read_text() == "mine\n"


def test_a_file_of_data_is_no_folder(tmp_path):
    (tmp_path / "data.csv").write_text("a\n1\n")
    with pytest.raises(UsageError) as caught:
        api.init(tmp_path / "data.csv")
    (fault,) = caught.value.diagnostics
    assert fault.code == "PPF673"
    assert "ppdm-flow profile" in fault.help


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("template", variants())
def test_its_policy_is_sound_and_releases(template, tmp_path):
    home = tmp_path / "house"
    files = api.init(home, template)
    assert files[0] == home / of(template)
    assert api.check([home]).passes(strict=True)
    tests = home / of(template).replace("policies/", "tests/").replace(".yaml", ".test.yaml")
    assert api.check([home]).files == (home / of(template), tests)
    tested = api.run_tests([tests], measure_coverage=True)
    assert tested.exit_status == 0, [(each.name, each.failures) for each in tested.results]
    assert tested.percent >= 75  # gates on usefulness are not made to fail
    ran = api.run(home / of(template), out=tmp_path / "runs", strict=True)
    assert ran.released


@pytest.mark.slow(quick=4)
@pytest.mark.parametrize("template", sorted(built_ins()))
def test_its_policy_stands_on_the_template(template):
    files = contents(template)
    assert f"builtin:{template}" in files["templates/organization.yaml"]
    assert "../templates/organization.yaml" in files[of(template)]
    assert "floors:" in files["templates/organization.yaml"]


@pytest.mark.slow
@pytest.mark.parametrize("template", variants())
def test_editors_find_the_schemas(template, tmp_path):
    """Both modelines name a schema that is there, and the file keeps it."""
    api.init(tmp_path, template)
    named = [p for folder in ("policies", "templates", "tests") for p in (tmp_path / folder).iterdir()]
    assert len(named) == 3
    for path in named:
        first, second = path.read_text().splitlines()[:2]
        schema = first.removeprefix("# yaml-language-server: $schema=")
        assert second == f"# $schema: {schema}"
        target = path.parent / schema
        assert json.loads(target.read_text())["$schema"]
        checked(target, path)


def checked(schema: Path, *files: Path) -> None:
    valid("--schemafile", str(schema), *map(str, files))


def valid(*options: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_ci_files_are_valid(tmp_path):
    api.init(tmp_path)
    valid("--builtin-schema", "vendor.github-workflows", str(tmp_path / ".github/workflows/policies.yml"))
    valid("--builtin-schema", "vendor.gitlab-ci", str(tmp_path / ".gitlab-ci.yml"))


def test_pre_commit_takes_its_files(tmp_path, root):
    """The scaffold's configuration, and the manifest for users who name this project as a repository of hooks."""
    api.init(tmp_path)
    config, manifest = tmp_path / ".pre-commit-config.yaml", root / ".pre-commit-hooks.yaml"
    assert pre_commit_clientlib.load_config(config)
    assert pre_commit_clientlib.load_manifest(manifest)
    (local,) = plain(config)["repos"]
    assert {hook["id"] for hook in local["hooks"]} == {hook["id"] for hook in plain(manifest)}
    files = contents()
    for hook in local["hooks"]:
        assert re.search(hook["files"], POLICY)
        assert re.search(hook["files"], "templates/organization.yaml")
        assert not re.search(hook["files"], "README.md")
    assert any(re.search(local["hooks"][1]["files"], name) for name in files if name.startswith("tests/"))


def test_every_command_of_the_readme_says_what_for(tmp_path, root):
    api.init(tmp_path)
    text = (tmp_path / "README.md").read_text()
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            assert line.startswith("ppdm-flow ")
            assert "  # " in line


# ---- what CI runs, in a fresh clone ----


class House:
    """A clone of a scaffold whose origin has it on `main`."""

    def __init__(self, folder: Path) -> None:
        self.first = folder / "house"
        self.clone = folder / "clone"
        tools = folder / "bin"
        tools.mkdir()
        program = tools / "ppdm-flow"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ppdm_flow "$@"\n')
        program.chmod(0o755)
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "GITHUB_", "CI_"))},
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1",
            "GITHUB_BASE_REF": "main",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "PRE_COMMIT_HOME": str(folder / "pre-commit"),
        }

    def git(self, *words: str, at: Path) -> None:
        who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        done = self.run(shlex.join(["git", *who, *words]), at=at)
        assert done.returncode == 0, done.stderr

    def run(self, command: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-ec", command],
            cwd=at or self.clone,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> House:
    if shutil.which("git") is None:
        pytest.skip("git is needed to clone the scaffold")
    made = House(tmp_path_factory.mktemp("ci"))
    api.init(made.first)
    done = made.run("ppdm-flow lock", at=made.first)  # as `init` and the README say: before the first commit
    assert done.returncode == 0, done.stderr
    made.git("init", "-q", "-b", "main", at=made.first)
    made.git("add", ".", at=made.first)
    made.git("commit", "-q", "-m", "Policies", at=made.first)
    made.git("clone", "-q", str(made.first), str(made.clone), at=made.first.parent)
    made.git("switch", "-q", "-c", "change", at=made.clone)
    made.git("fetch", "-q", "origin", "main", at=made.clone)  # a job's commands may run in several processes here
    return made


def workflow_commands() -> list[str]:
    jobs = yaml.load(contents()[".github/workflows/policies.yml"], Loader=yaml.BaseLoader)["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def gitlab_commands() -> list[str]:
    config = yaml.load(contents()[".gitlab-ci.yml"], Loader=yaml.BaseLoader)
    jobs = [config["default"], *(job for name, job in config.items() if name != "default")]
    return [line for job in jobs for line in (*job.get("before_script", ()), *job.get("script", ()))]


def hook_commands() -> list[str]:
    config = yaml.load(contents()[".pre-commit-config.yaml"], Loader=yaml.BaseLoader)
    return [hook["entry"] for hook in config["repos"][0]["hooks"]]


def readme_commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", contents()["README.md"], re.DOTALL)
    return [line.partition("  # ")[0].strip() for block in blocks for line in block.splitlines()]


def commands() -> list[str]:
    """All of them once; what installs the program from a registry is left out: here it is installed already."""
    every = [*workflow_commands(), *gitlab_commands(), *hook_commands(), *readme_commands()]
    return [c for c in dict.fromkeys(every) if not re.match("pip install ppdm_flow(_light)?==", c)]


@pytest.mark.slow
def test_what_ci_runs_is_what_was_agreed():
    verbs = [shlex.split(c)[1] for c in workflow_commands() if c.startswith("ppdm-flow")]
    assert verbs == ["check", "lock", "diff", "test"]
    assert sorted(shlex.split(c)[1] for c in gitlab_commands() if c.startswith("ppdm-flow")) == sorted(verbs)
    assert [shlex.split(c)[1] for c in hook_commands()] == ["check", "test", "lock"]
    installed = [c.partition("==")[0] for c in workflow_commands() if c.startswith("pip install")]
    assert installed == ["pip install ppdm_flow_light", "pip install ppdm_flow"]
    assert len(commands()) >= 8


@pytest.mark.slow
def test_the_clone_has_everything(house):
    """Nothing that CI needs is kept out by `.gitignore`."""
    have = {str(p.relative_to(house.clone)) for p in house.clone.rglob("*") if p.is_file() and ".git/" not in f"{p}"}
    assert set(contents()) <= have
    assert "ppdm-flow.lock" in have


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("command", commands())
def test_every_command_runs_as_written(house, command):
    done = house.run(command)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
def test_pre_commit_lets_what_is_sound_pass_and_nothing_else(house):
    asked = f"{shlex.quote(sys.executable)} -m pre_commit run --all-files --color never"
    done = house.run(asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == len(hook_commands())
    path = house.clone / POLICY
    before = path.read_text()
    path.write_text(before.replace("releases:", "relases:"))
    assert path.read_text() != before
    try:
        done = house.run(asked)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "did you mean `releases`?" in done.stdout
    finally:
        path.write_text(before)


@pytest.mark.slow
def test_a_weaker_change_does_not_pass(house):
    """The clause is named; a person who weakens a policy does not learn it by chance."""
    path = house.clone / POLICY
    before = path.read_text()
    path.write_text(before.replace("k: 10", "k: 8"))
    assert path.read_text() != before
    try:
        for command in (c for c in commands() if "--forbid-weaker" in c):
            house.run("git fetch -q origin main")
            done = house.run(command)
            assert done.returncode == 1, f"{command}\n{done.stdout}{done.stderr}"
            assert "k_anonymity" in done.stdout
        assert house.run("ppdm-flow check policies/ --strict").returncode == 0
    finally:
        path.write_text(before)


@pytest.mark.slow
def test_a_weaker_house_does_not_pass_either(house):
    """The policy is the same; the template that it stands on is not."""
    path = house.clone / "templates/organization.yaml"
    before = path.read_text()
    (house.clone / POLICY).write_text((house.clone / POLICY).read_text().replace("k: 10, ", ""))
    path.write_text(before.replace("k: {default: 8}", "k: {default: 5}"))
    try:
        done = house.run(workflow_commands()[-1])
        assert done.returncode == 1, done.stdout + done.stderr
        assert house.run("ppdm-flow lock --check").returncode == 1
    finally:
        path.write_text(before)
        house.git("checkout", "-q", "--", POLICY, at=house.clone)


@pytest.mark.slow
def test_below_the_house_is_an_error(house):
    path = house.clone / POLICY
    before = path.read_text()
    path.write_text(before.replace("k: 10", "k: 4"))
    try:
        done = house.run("ppdm-flow check policies/ --format concise")
        assert done.returncode == 1
        assert "PPF308" in done.stdout
    finally:
        path.write_text(before)
