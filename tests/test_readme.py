"""Every code block of the README, and of the pages with files or commands, is carried out, in order, in a folder."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ppdm_flow.api.explain.explain import CONCEPTS
from ppdm_flow.policy.language.kinds import built_in
from ppdm_flow.sdk import registry

BLOCK = re.compile(r"^(?P<fence>```+)(\w+)(?: file=(\S+))?\n(.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
PAGES = Path(__file__).parents[1] / "ppdm_flow" / "pages" / "concepts"
OTHER_COMMANDS = {"serve": "starts a server", "spark": "needs a cluster"}
"""Pages whose commands are not carried out here."""


def blocks(file: Path) -> list[tuple[str, str, str]]:
    return [(m[2], m[3] or "", m[4]) for m in BLOCK.finditer(file.read_text(encoding="utf-8"))]


EXECUTED = sorted(
    page.stem
    for page in PAGES.glob("*.md")
    if page.stem not in OTHER_COMMANDS and any(name or kind == "sh" for kind, name, _ in blocks(page))
)
"""Pages that write files or have commands. They may use the files of the README."""


def write_files(folder: Path, *documents: Path) -> None:
    for document in documents:
        for _, name, text in blocks(document):
            if name:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")


def run_commands(document: Path, folder: Path, cli) -> list[str]:
    """Write each file and run each command of a document, in order; return what the commands print."""
    printed = []
    for kind, name, text in blocks(document):
        if name:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for line in text.splitlines() if kind == "sh" else ():
            if line.startswith("python3 -m venv"):
                continue  # CI runs the two set-up commands, word by word: here the program is installed already
            words = shlex.split(line, comments=True)
            done = cli(*words[1:], cwd=folder) if words[0] == "ppdm-flow" else in_shell(line, folder)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            assert done.stdout.strip() or done.stderr.strip(), line
            printed.append(done.stdout)
    return printed


def in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = re.sub(r"^python\b", lambda _: shlex.quote(sys.executable), line)
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.fixture
def readme(root) -> Path:
    return root / "README.md"


def test_every_block_is_of_a_kind_that_is_carried_out(readme):
    for document in (readme, *(PAGES / f"{page}.md" for page in EXECUTED)):
        kinds = {kind for kind, _, _ in blocks(document)}
        assert kinds <= {"sh", "yaml", "csv", "text", "toml", "python", "markdown"}, document
    assert all(name for kind, name, _ in blocks(readme) if kind not in ("sh", "text"))


def test_the_readme_has_every_requirement_and_step(readme):
    text = readme.read_text(encoding="utf-8")
    required = {spec.name for spec in built_in() if spec.written}
    steps = {plugin.name for plugin in registry.listed("anonymizers") if plugin.distribution == "ppdm_flow"}
    assert [name for name in sorted(required) if f"\n| `{name}` | " not in text] == []
    assert [name for name in sorted(steps) if f"`{name}`" not in text] == []


def test_the_page_on_audits_has_every_audit():
    text = (PAGES / "audits.md").read_text(encoding="utf-8")
    required = {spec.name for spec in built_in()}
    audits = {plugin.name for plugin in registry.listed("audits") if plugin.distribution == "ppdm_flow"}
    assert [name for name in sorted(audits - required) if f"`{name}`" not in text] == []


@pytest.mark.slow
def test_commands_of_the_readme_run_in_order(readme, cli, tmp_path):
    printed = run_commands(readme, tmp_path, cli)
    assert len(printed) >= 8
    (shown,) = [text for kind, _, text in blocks(readme) if kind == "text" and text.startswith("RELEASED")]
    assert set(shown.splitlines()) <= set("".join(printed).splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("page", EXECUTED)
def test_commands_of_pages_run_in_order(readme, cli, tmp_path, page):
    write_files(tmp_path, readme)
    run_commands(PAGES / f"{page}.md", tmp_path, cli)


@pytest.mark.slow
def test_the_plugins_are_installed_used_and_conform(readme, tmp_path):
    if importlib.util.find_spec("pip") is None or importlib.util.find_spec("hatchling") is None:
        pytest.skip("pip and hatchling are needed to build plugins; the extra `test` brings hatchling")
    write_files(tmp_path, readme, PAGES / "plugins.md", PAGES / "plugin_requirements.md")
    packages = ["acme", "acme_common", "acme_distinct"]
    words = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", "site"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PIP_ROOT_USER_ACTION": "ignore"}
    policy = (tmp_path / "clinic.yaml").read_text()
    policy = policy.replace("steps: ", "steps:\n  cut: {use: acme_initials, with: {attribute: job}}\n#", 1)
    policy = policy.replace("privacy: ", "privacy:\n  acme_common_values: {job: {rows: 2}}\n#", 1)
    policy += "audits: {values: {use: acme_distinct}}\ngates: {few: {metric: values.job.distinct, max: 4}}\n"
    (tmp_path / "clinic.yaml").write_text(policy)
    for command in (
        ["pip", "install", *words, *(f"./{package}" for package in packages)],
        ["pytest", "-q", "-p", "no:cacheprovider", "acme", "acme_common"],
        ["ppdm_flow", "run", "clinic.yaml"],
        ["ppdm_flow", "explain", "acme_initials"],
        ["ppdm_flow", "explain", "values.job.distinct"],
        ["ppdm_flow", "explain", "acme_common_values"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_the_picture_is_the_plan(root, cli):
    done = cli("plan", root / "pipelines/hospital.yaml", "--format", "svg")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == (root / "pipelines/hospital.svg").read_text().strip()


def test_without_suppression_it_is_withheld(readme, cli, tmp_path):
    """What the README says of the first policy without its last step."""
    write_files(tmp_path, readme)
    policy = tmp_path / "clinic.yaml"
    text = policy.read_text()
    start = text.index("  suppress:")
    policy.write_text(text[:start] + text[text.index("releases:") :])
    done = cli("run", policy, "--out", tmp_path / "runs")
    assert done.returncode == 1
    assert "with a confidence of at most 50.0%" in " ".join(done.stdout.split())
    assert "{use: progressive_disclosure}" in done.stdout
    assert not list((tmp_path / "runs").rglob("released"))


@pytest.mark.parametrize(("least", "certain"), [(2, True), (3, False)])
def test_what_one_ruled_out_illness_tells(readme, cli, tmp_path, least, certain):
    """What the page on classes says of its policy: released, with a warning that `l: 3` ends."""
    write_files(tmp_path, readme, PAGES / "equivalence_classes.md")
    policy = tmp_path / "classes.yaml"
    policy.write_text(policy.read_text().replace("l: 2", f"l: {least}"))
    done = cli("run", policy, "--out", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    (report,) = (tmp_path / "runs").rglob("report.md")
    assert ("to someone who can rule out 1 value" in report.read_text()) is certain


def test_two_files_are_withheld_where_their_join_singles_somebody_out(cli, tmp_path):
    """What the page on tables says of the same people in other hospitals."""
    write_files(tmp_path, PAGES / "tables.md")
    visits = tmp_path / "ward_visits.csv"
    visits.write_text(visits.read_text().replace("P2,north", "P2,south").replace("P3,south", "P3,north"))
    (tmp_path / "ward.key").write_text(bytes(range(32)).hex())
    (tmp_path / "ward.key").chmod(0o600)
    done = cli("run", tmp_path / "ward.yaml", "--out", tmp_path / "runs", "--format", "json")
    assert done.returncode == 1, done.stderr
    failed = [entry for entry in json.loads(done.stdout)["requirements"] if not entry["holds"]]
    assert {entry["release"] for entry in failed} == {"patients + visits"}


LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def test_links_lead_somewhere(readme):
    links = LINK.findall(readme.read_text(encoding="utf-8"))
    assert len(links) >= 7
    assert [link for link in links if not (readme.parent / link).exists()] == []


def test_the_readme_names_pages_that_there_are(readme):
    text = readme.read_text(encoding="utf-8")
    table = text[text.index("| page | what it is about |") :]
    named = {
        *re.findall(r"`ppdm-flow explain ([a-z_]+)`", text),
        *re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE))),
    }
    plugins = {plugin.name for group in registry.GROUPS for plugin in registry.listed(group)}
    assert sorted(named - plugins - set(CONCEPTS)) == []
