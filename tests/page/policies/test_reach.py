"""Policies that name files of the server's private folder are neither saved nor run."""

from __future__ import annotations

import pytest
from sites import PATIENCE

from ppdm_flow.page.services.accounts.roles import Role
from ppdm_flow.page.services.policies.reach import reaches

POLICY = """version: 1
name: p
source: {path: a.csv}
attributes: {age: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 5}}
releases: {r: {path: r.csv}}
"""
NAME, ADDRESS = "study/people.yaml", "/policies/study/people.yaml"


@pytest.fixture
def private(tmp_path):
    (tmp_path / "state" / "uploads" / "x").mkdir(parents=True)
    (tmp_path / "state" / "uploads" / "x" / "data.csv").write_text("a\n")
    (tmp_path / "policies" / "study").mkdir(parents=True)
    (tmp_path / "data").symlink_to(tmp_path / "state" / "uploads")
    (tmp_path / "policies" / "study" / "linked.csv").symlink_to(tmp_path / "state" / "uploads" / "x" / "data.csv")
    (tmp_path / "policies" / "study" / "harmless.csv").symlink_to(tmp_path / "policies")
    return tmp_path / "state"


WAYS = (
    "../../state/uploads/x/data.csv",
    "{state}/page.sqlite3",
    "../../state",
    "../.././policies/../state/page.sqlite3",
    "../../state/uploads/*/*.csv",
    "../../*/uploads/x/data.csv",
    "../../**/data.csv",
    "../../**",
    "/**/data.csv",
    "../../stat[e]/uploads/x/data.csv",
    "../../data/x/data.csv",
    "sqlite:///../../state/page.sqlite3",
    "sqlite:///{state}/page.sqlite3",
    "sqlite:{state}/page.sqlite3",
    "file://{state}/page.sqlite3",
    "select * from read_csv('{state}/uploads/x/data.csv')",
    "attach '../../state/page.sqlite3' as page",
    "../../st%61te/page.sqlite3",
    "linked.csv",
    "../.git/config",
    "../../**/.git/config",
    "../.g*/config",
    "sqlite:///../.git/index",
)


@pytest.mark.parametrize("way", WAYS)
def test_ways_into_the_private_folder_are_seen(private, way):
    home = private.parent / "policies" / "study"
    tree = {"source": {"options": [{"file": way.format(state=private)}]}}
    assert reaches(tree, home, private)
    assert reaches({way.format(state=private): None}, home, private)


@pytest.mark.parametrize(
    "text",
    [
        "people.csv",
        "harmless.csv",
        "../data/people.csv",
        "../../*.csv",
        "../../tables/**/x.csv",
        "../../statement/x.csv",
        "/elsewhere/state/x.csv",
        "../../state.csv",
        "a/b [1/2] * 3",
        "https://example.org/state/uploads",
        "state/uploads",
        "builtin:microdata-k",
        "https://example.org/policies.git",
        "../gitted/*.csv",
        "../.data/*.csv",
        "1/0\x00",
        "",
    ],
)
def test_other_texts_are_no_trouble(private, text):
    assert not reaches({"a": text}, private.parent / "policies" / "study", private)


@pytest.mark.parametrize("path", ["../../state/page.sqlite3", "'${params.there}/uploads/*/*.csv'"])
def test_such_a_policy_is_not_saved(steward, filled, path):
    before = filled.site.policies.read(NAME)
    text = (
        before.text.replace("people.csv}", f"{path}}}", 1) + "params: {there: {type: string, default: ../../state}}\n"
    )
    answer = steward.send(f"{ADDRESS}/edit", text=text, digest=before.digest)
    assert answer.status_code == 403
    assert "private folder" in answer.text
    assert filled.site.policies.read(NAME) == before
    assert filled.site.journal.newest(1)[0].outcome == "refused"


def test_such_a_policy_is_not_run_whoever_wrote_it(steward, filled):
    template = filled.site.policies.folder / "study" / "org.yaml"
    template.write_text(f"{template.read_text()}source: {{path: ../../state/page.sqlite3}}\n")
    file = filled.site.policies.folder / NAME
    file.write_text(file.read_text().replace("source: {path: people.csv}\n", ""))
    for verb in ("run", "sweep", "test"):
        assert steward.send(f"{ADDRESS}/{verb}").status_code == 403
    assert filled.site.jobs.active() == []


@pytest.mark.slow
def test_a_policy_beside_its_data_is_run(steward, filled):
    assert steward.send(f"{ADDRESS}/run").status_code == 303
    (job,) = filled.site.jobs.of(filled.users["steward"])
    assert job.about == NAME
    filled.site.jobs.finished(job, PATIENCE)


def test_a_check_does_not_tell_whether_a_private_file_is_there(server):
    """Neither while somebody types, nor in what a comparison says of the text."""
    (server.site.settings.policies / "p.yaml").write_text(POLICY)
    steward = server.browser(Role.STEWARD)
    state = server.site.settings.state
    there, missing = state / "page.sqlite3", state / "uploads" / "nothing.yaml"
    pages = []
    for path in (there, missing):
        text = f"{POLICY}extends: [{path}]\n"
        for place in ("check", "propose"):
            answer = steward.send(f"/policies/p.yaml/{place}", text=text)
            assert answer.status_code == 200
            assert "PPF966" in answer.text
            assert "PPF301" not in answer.text
            pages.append(answer.text.replace(str(path), "FILE"))
    assert pages[0] == pages[2]
    assert pages[1].count("PPF966") == pages[3].count("PPF966")
    public = steward.send("/policies/p.yaml/check", text=f"{POLICY}extends: [nothing.yaml]\n").text
    assert "PPF301" in public
    assert "PPF966" not in public
