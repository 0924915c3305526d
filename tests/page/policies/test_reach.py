"""Policies that name files of the server's private folder are neither saved nor run."""

from __future__ import annotations

import pytest
from sites import PATIENCE

from ppdm_flow.page.services.accounts.roles import PageRole
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
    ".git",
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
        ".gitignore",
        "a.git",
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


def test_such_a_policy_is_not_run_for_any_author(steward, filled):
    template = filled.site.policies.folder / "study" / "org.yaml"
    template.write_text(f"{template.read_text()}source: {{path: ../../state/page.sqlite3}}\n")
    file = filled.site.policies.folder / NAME
    file.write_text(file.read_text().replace("source: {path: people.csv}\n", ""))
    for verb in ("run", "sweep", "test"):
        assert steward.send(f"{ADDRESS}/{verb}").status_code == 403
    assert filled.site.jobs.active() == []


IN_FLOW = """{"version": 1, "name": "p", "source": {"path": "PATH", "format": "csv"},
"attributes": {"age": {"role": "quasi_identifier"}},
"privacy": {"k_anonymity": {"k": 5}}, "releases": {"r": {"path": "r.csv"}}}
"""
IN_BLOCK = POLICY.replace("a.csv", "PATH, format: csv")
SPELLINGS = {
    "flow": IN_FLOW,
    "carriage returns": IN_BLOCK.replace("\n", "\r"),
    "indented": "".join(f" {line}" for line in IN_BLOCK.splitlines(keepends=True)),
    "quoted keys": IN_FLOW.replace('"releases"', '"rele\\x61ses"'),
}


@pytest.mark.parametrize("spelled", SPELLINGS)
@pytest.mark.parametrize(("path", "status"), [("../${params.a}/config", 403), ("../a.csv", 303)])
def test_however_a_policy_is_written_what_it_reads_is_looked_at(server, spelled, path, status):
    folder = server.site.settings.policies
    (folder / "sub").mkdir()
    file, steward = folder / "sub" / "p.yaml", server.browser(PageRole.STEWARD)
    param = '"params": {"a": {"type": "string", "default": ".git"}}, "source"'
    text = SPELLINGS[spelled].replace("PATH", path)
    if "git" not in text and status == 403:
        flow = text.replace('"source"', param, 1)
        indent = " " if spelled == "indented" else ""
        end = "\r" if spelled == "carriage returns" else "\n"
        text = flow if flow != text else f"{text}{indent}params: {{a: {{type: string, default: .git}}}}{end}"
    file.write_bytes(text.encode())
    assert server.site.policies.names() == ("sub/p.yaml",)
    assert steward.send("/policies/sub/p.yaml/run").status_code == status
    other = folder / "q.yaml"
    other.write_text(POLICY.replace("name: p", "name: q"))
    digest = server.site.policies.read("q.yaml").digest
    taken = steward.send("/policies/q.yaml/edit", text=SPELLINGS[spelled], digest=digest)
    assert (taken.status_code, "is the policy `p`" in taken.text) == (409, True)


@pytest.mark.parametrize(("k", "weaker"), [(3, True), (7, False)])
def test_a_policy_in_flow_style_is_compared_and_its_waivers_are_listed(server, k, weaker):
    waiver = (
        """"waivers": {"late": {"of": "privacy.k_anonymity", "reason": "r", "owner": "o", "until": "2999-01-01"}}"""
    )
    text = IN_FLOW.replace("PATH", "a.csv").replace('"releases"', f'{waiver}, "releases"')
    (server.site.settings.policies / "p.yaml").write_text(text)
    steward = server.browser(PageRole.STEWARD)
    page = steward.send("/policies/p.yaml/propose", text=text.replace('"k": 5', f'"k": {k}')).text
    assert ("It becomes weaker" in page) is weaker
    assert "late" in steward.get("/waivers").text


@pytest.mark.parametrize(
    ("name", "text"), [("p.test.yaml", POLICY), ("p.yaml", "version: 1\n"), ("p.yaml", POLICY + "extends: [x.yaml]\n")]
)
def test_what_does_not_load_as_a_policy_is_not_run(server, name, text):
    (server.site.settings.policies / name).write_text(text)
    steward = server.browser(PageRole.STEWARD)
    for verb in ("run", "sweep"):
        assert steward.send(f"/policies/{name}/{verb}").status_code == 409
    assert server.site.jobs.active() == []


def test_only_tests_are_run_as_tests_of_a_policy_that_reaches_nothing_private(server):
    folder, steward = server.site.settings.policies, server.browser(PageRole.STEWARD)
    params = "params: {there: {type: string, default: a.csv}}\n"
    (folder / "p.yaml").write_text(POLICY.replace("a.csv", "'${params.there}/${params.there}'") + params)
    cases = "policy: p.yaml\nset: {there: THERE}\ntests: {one: {data: {rows: [{age: 1}]}, expect: {}}}\n"
    (folder / "p.test.yaml").write_text(cases.replace("THERE", "other"))
    assert steward.send("/policies/p.yaml/test").status_code == 409
    assert steward.send("/policies/p.test.yaml/test").status_code == 303
    (folder / "p.test.yaml").write_text(cases.replace("THERE", ".git"))
    assert steward.send("/policies/p.test.yaml/test").status_code == 403


@pytest.mark.parametrize(("value", "status"), [("git", 403), ("other", 303)])
def test_values_of_a_sweep_do_not_lead_to_a_private_file(server, value, status):
    params = "params: {there: {type: string, default: data}}\n"
    text = POLICY.replace("a.csv", "'.${params.there}/config', format: csv") + params
    (server.site.settings.policies / "p.yaml").write_text(text)
    swept = {"path_1": "params.there", "values_1": f"data,{value}"}
    assert server.browser(PageRole.STEWARD).send("/policies/p.yaml/sweep", **swept).status_code == status
    assert len(server.site.jobs.of(server.users[PageRole.STEWARD])) == (status == 303)


@pytest.mark.slow
def test_a_policy_beside_its_data_is_run(steward, filled):
    assert steward.send(f"{ADDRESS}/run").status_code == 303
    (job,) = filled.site.jobs.of(filled.users["steward"])
    assert job.about == NAME
    filled.site.jobs.finished(job, PATIENCE)


FAULTS = ("", "name: again\n", "? [a]\n: 1\n", "\ufeff")
"""What a text has besides, with which no change can be written into it."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_check_does_not_tell_whether_a_private_file_is_there(server, fault):
    """Neither while somebody types, nor in what a comparison says of the text."""
    (server.site.settings.policies / "p.yaml").write_text(POLICY)
    steward = server.browser(PageRole.STEWARD)
    state = server.site.settings.state
    there, missing = state / "page.sqlite3", state / "uploads" / "nothing.yaml"
    pages = []
    for path in (there, missing):
        text = f"{fault}{POLICY}extends: [{path}]\n"
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
