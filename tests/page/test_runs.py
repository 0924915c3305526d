"""Runs on the page: begun, read, compared, verified, mended; the same files as by the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from contextlib import suppress
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from prepared_runs import prepared_run
from sites import PASSWORD, PATIENCE, Browser, Server
from small_policies import write_policy

from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.jobs.job import JobState, VerbJob
from ppdm_flow.page.services.jobs.records import NewJob
from ppdm_flow.page.services.policies.given import GivenFiles
from ppdm_flow.page.services.runs import runs
from ppdm_flow.page.services.runs.runs import UnknownRunError
from ppdm_flow.page.views.runs import routes
from ppdm_flow.page.views.runs.changes import run_figures
from ppdm_flow.policy.edit.changes import from_json, put
from ppdm_flow.policy.edit.edited import edited

CHANGING = {"manifest.json", "events.jsonl", "report.json", "report.html", "report.md"}
"""Files with times in them."""


def _carried_out(server: Server, browser: Browser, address: str, **fields: str) -> VerbJob:
    answer = browser.send(address, **fields)
    assert answer.status_code == 303, answer.text
    return server.site.jobs.finished(server.site.jobs.get(answer.headers["location"].rpartition("/")[2]), PATIENCE)


@pytest.fixture
def steward(server: Server) -> Browser:
    write_policy(server.folder / "policies")
    return server.browser(PageRole.STEWARD)


def _files(run: Path) -> dict[str, bytes]:
    return {
        path.relative_to(run).as_posix(): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name not in CHANGING
    }


def _told(run: Path) -> dict:
    """Return what a report says, without times and what depends on the machine."""
    document = json.loads((run / "report.json").read_text())
    del document["run"]
    for step in document["steps"]:
        del step["seconds"]
    return document


@pytest.mark.slow
@pytest.mark.usefixtures("new_pythons")
def test_a_run_of_the_page_makes_the_files_that_the_command_line_makes(server: Server, steward: Browser, cli):
    assert "ward.yaml" in steward.get("/policies/ward.yaml/run").text
    job = _carried_out(server, steward, "/policies/ward.yaml/run")
    assert (job.state, job.exit_code, job.kind, job.about) == (JobState.DONE, 0, "run", "ward.yaml")
    run = server.site.runs.list()[0]
    assert job.made == run.key

    words = [word.replace(str(server.folder / "runs"), str(server.folder / "by-hand")) for word in job.words]
    assert cli(*words, cwd=server.folder).returncode == 0
    other = next((server.folder / "by-hand" / "ward").iterdir())
    assert _files(run.folder) == _files(other)
    assert _told(run.folder) == _told(other)


@pytest.mark.slow
def test_a_run_is_listed_with_who_made_it_and_shown_with_its_verdict_first(server: Server, steward: Browser):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    run = server.site.runs.list()[0]
    listed = steward.get("/runs").text
    assert run.name in listed
    assert "steward" in listed
    page = steward.get(f"/runs/{run.key}").text
    assert page.index("released") < page.index("k-anonymity") < page.index("Files of the run")
    assert "What to change" not in page
    assert "No data has left" not in page
    assert steward.get("/runs", state="withheld").text.count(run.name) == 0
    assert steward.get("/runs", state="released", policy="ward", page="999999").text.count(run.name) > 0
    assert server.browser(PageRole.APPROVER).get(f"/runs/{run.key}").status_code == 200
    assert server.browser(PageRole.GUEST).get(f"/runs/{run.key}").status_code == 403


@pytest.mark.slow
def test_the_report_is_framed_without_scripts_and_downloads_are_files_of_the_manifest(server, steward):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    run = server.site.runs.list()[0]
    assert re.search(r"<iframe[^>]* sandbox ", steward.get(f"/runs/{run.key}/report").text)
    framed = steward.get(f"/runs/{run.key}/report.html")
    policy = framed.headers["content-security-policy"]
    assert policy.startswith("sandbox;")
    assert "script-src" not in policy
    assert "allow-scripts" not in policy
    assert framed.headers["x-frame-options"] == "SAMEORIGIN"
    sent = steward.get(f"/runs/{run.key}/files/released/public/ward.csv")
    assert sent.content == (run.folder / "released/public/ward.csv").read_bytes()
    assert sent.headers["content-disposition"].startswith("attachment")
    assert sent.headers["content-type"] == "application/octet-stream"


NO_FILES = ("../../../state/page.sqlite3", "..%2f..%2f..%2fstate%2fpage.sqlite3", "/etc/passwd", "manifest.json", "")


@pytest.mark.slow
def test_a_report_that_is_too_long_to_be_shown_is_a_download(server: Server, steward: Browser, monkeypatch):
    run = prepared_run(server.folder / "runs")
    address = f"/runs/{run.parent.name}/{run.name}"
    assert [steward.get(f"{address}/{page}").status_code for page in ("report", "report.html")] == [200, 200]
    monkeypatch.setattr(routes, "_LONGEST", 1_000)
    assert [steward.get(f"{address}/{page}").status_code for page in ("report", "report.html")] == [413, 413]
    assert steward.get(address).status_code == 200
    assert steward.get(f"{address}/files/report.html").content == (run / "report.html").read_bytes()


def test_no_other_file_is_a_download(server: Server, steward: Browser):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    run = server.site.runs.list()[0]
    for name in NO_FILES:
        assert steward.client.get(f"/runs/{run.key}/files/{name}").status_code == 404, name


@pytest.mark.slow
def test_links_out_of_a_run_are_no_downloads_and_folders_that_are_links_are_no_runs(server, steward):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    run = server.site.runs.list()[0]
    secret = server.folder / "secret.csv"
    secret.write_text("name\nana\n")
    released = run.folder / "released/public/ward.csv"
    released.unlink()
    released.symlink_to(secret)
    assert steward.get(f"/runs/{run.key}/files/released/public/ward.csv").status_code == 404
    (server.folder / "runs" / "other").symlink_to(run.folder.parent)
    with pytest.raises(UnknownRunError):
        server.site.runs.get("other", run.name)


def test_what_a_step_wrote_for_the_owner_of_the_data_is_sent_to_who_made_the_run_alone(server: Server):
    folder = prepared_run(server.site.settings.runs)
    name = "internal/generate/code_table.json"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text('{"items": "VALUE"}')
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = {"bytes": 18, "sha256": "0" * 64}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    key, records = f"clinic/{folder.name}", server.site.jobs._records
    records.insert(
        NewJob("0" * 16, server.users[PageRole.STEWARD], "run", "ward.yaml", ["run"], "", (), False, GivenFiles())
    )
    records.end("0" * 16, JobState.DONE, 0, "", key, cut=False)

    maker = server.browser(PageRole.STEWARD)
    assert maker.get(f"/runs/{key}/files/{name}").text == '{"items": "VALUE"}'
    assert name in maker.get(f"/runs/{key}").text
    another = server.site.accounts.add("another", [PageRole.STEWARD, PageRole.APPROVER], PASSWORD)
    for browser in (Browser(server.site, another), server.browser(PageRole.APPROVER)):
        assert browser.get(f"/runs/{key}/files/{name}").status_code == 404
        shown = browser.get(f"/runs/{key}")
        assert (shown.status_code, name in shown.text) == (200, False)
        assert browser.get(f"/runs/{key}/files/plan.json").content == (folder / "plan.json").read_bytes()


NO_RUNS = ("%2e%2e", "%2e%2e/%2e%2e", "ward/%2e%2e", "ward/%00", "ward/x", "x/%2e", "ward%2f%2e%2e")


@pytest.mark.slow
def test_there_are_no_other_runs(server: Server, steward: Browser):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    for key in NO_RUNS:
        assert steward.client.get(f"/runs/{key}").status_code == 404, key
        both = {"old": unquote(key), "new": unquote(key)}
        assert steward.client.get("/runs/compare", params=both).status_code == 404, key


@pytest.mark.slow
def test_a_withheld_run_says_what_to_change_and_offers_edits(server: Server):
    write_policy(server.folder / "policies", protected=False)
    steward = server.browser(PageRole.STEWARD)
    job = _carried_out(server, steward, "/policies/ward.yaml/run")
    assert (job.state, job.exit_code) == (JobState.DONE, 1)
    run = server.site.runs.list()[0]
    assert run.state == "withheld"
    page = steward.get(f"/runs/{run.key}").text
    assert page.index("withheld") < page.index("What to change") < page.index("Requirements</h2>")
    links = [unescape(part) for part in re.findall(r'href="(/policies/ward\.yaml/propose\?[^"]+)"', page)]
    offered = [tuple(from_json(dict(parse_qsl(urlsplit(link).query))["changes"])) for link in links]
    assert (put(("steps", "mondrian"), {"use": "mondrian"}),) in offered
    assert "This asks for less protection" not in page, "a group of one is no protection"
    assert page.count('class="button"') == 1
    main = page.index('class="button" href="/policies/ward.yaml/propose?')
    assert main < page.index("See the edit") < page.index("/waivers/new/ward.yaml"), "waiving comes last"
    mended = edited((server.folder / "policies/ward.yaml").read_text(), offered[0])
    assert "# A comment that stays." in mended
    (server.folder / "policies/ward.yaml").write_text(mended)
    assert _carried_out(server, steward, "/policies/ward.yaml/run").exit_code == 0
    assert "/propose" not in server.browser(PageRole.APPROVER).get(f"/runs/{run.key}").text
    for file in run.folder.rglob("*"):
        assert "withheld" not in file.relative_to(run.folder).parts


@pytest.mark.slow
def test_what_was_measured_is_offered_as_a_bound_that_asks_for_less(server: Server):
    path = write_policy(server.folder / "policies", protected=False)
    path.write_text(path.read_text().replace("{k: 5}", "\n    k: 5  # as agreed"))
    rows = [f"{age},{zip_},flu" for age in range(20, 40) for zip_ in (100, 101) for _ in range(3)]
    (server.folder / "policies/people.csv").write_text("age,zip,disease\n" + "\n".join(rows) + "\n")
    steward = server.browser(PageRole.STEWARD)
    _carried_out(server, steward, "/policies/ward.yaml/run")
    page = steward.get(f"/runs/{server.site.runs.list()[0].key}").text
    assert "Set privacy.k_anonymity.k to 3 in place of at least 5" in page
    assert "This asks for less protection" in page
    assert not re.search(r'class="button" href="[^"]*/propose[^"]*privacy', page), "no main button asks for less"
    link = unescape(re.findall(r'href="(/policies/ward\.yaml/propose\?[^"]+)"', page)[-1])
    changes = from_json(dict(parse_qsl(urlsplit(link).query))["changes"])
    assert edited(path.read_text(), changes) == path.read_text().replace("k: 5 ", "k: 3 ")


@pytest.mark.slow
def test_two_runs_are_compared(server: Server, steward: Browser):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    path = server.folder / "policies/ward.yaml"
    path.write_text(path.read_text().replace("k: 5", "k: 3"))
    _carried_out(server, steward, "/policies/ward.yaml/run")
    new, old = sorted(server.site.runs.list(), key=lambda run: "k: 3" not in _policy(run.folder))
    page = steward.get("/runs/compare", old=old.key, new=new.key).text
    assert "policy is weaker" in page
    assert "privacy.k_anonymity" in page
    assert "All columns together" in page
    assert '<td data-label="Difference">weaker</td>' in page


@pytest.mark.slow
def test_a_run_says_what_changed_since_the_last_one_and_leads_back(server: Server, steward: Browser):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    first = server.site.runs.list()[0]
    page = steward.get(f"/runs/{first.key}").text
    assert "Since the last run" not in page
    assert f'href="/runs/{first.key}/files/released/public/ward.csv" download>Download ward.csv</a>' in page
    assert re.findall(r'aria-label="(\w+)"></meter>', page[page.index("Information kept</h2>") :]) == [
        "zip",
        "age",
        "disease",
    ]
    assert "One run." in steward.get("/runs").text
    assert 'name="old"' not in steward.get("/runs").text
    before = (server.folder / "policies/ward.yaml").read_text()
    edit = steward.get("/policies/ward.yaml/propose?set=privacy.k_anonymity.k=20").text
    digest = re.search(r'name="digest" value="(\w+)"', edit)[1]
    changed = before.replace("k: 5", "k: 20")
    assert steward.send("/policies/ward.yaml/edit", text=changed, digest=digest).status_code == 303
    _carried_out(server, steward, "/policies/ward.yaml/run")
    second = server.site.runs.list()[0]
    page = steward.get(f"/runs/{second.key}").text
    since = page[page.index("Since the last run") : page.index("Requirements</h2>")]
    assert "at least 5; measured 5" in since
    assert "at least 20; measured 20" in since
    assert ">stricter</td>" in since
    kept = [(run, routes.from_report(run.folder, run_figures).kept) for run in (first, second)]
    age = [shares["", "age"] for _, shares in kept]
    assert f"{100 * age[0]:.3g}%" in since
    assert age[1] < age[0]
    assert "points</td>" in since
    assert "Both runs side by side" in since
    back = unescape(re.search(r'href="([^"]+)">Go back<', since)[1])
    proposed = steward.client.get(back).text
    assert unescape(re.search(r'name="text"[^>]*>\n(.*?)</textarea>', proposed, re.DOTALL)[1]) == before
    digest = re.search(r'name="digest" value="(\w+)"', proposed)[1]
    assert steward.send("/policies/ward.yaml/edit", text=before, digest=digest).status_code == 303
    assert ">Go back<" not in steward.get(f"/runs/{second.key}").text, "the policy is that of the first run again"
    assert ">Go back<" not in server.browser(PageRole.APPROVER).get(f"/runs/{second.key}").text
    _carried_out(server, steward, "/policies/ward.yaml/run")
    third = server.site.runs.list()[0]
    assert "stricter" not in steward.get(f"/runs/{third.key}").text
    (second.folder / "report.json").write_text("[")
    assert steward.get(f"/runs/{third.key}").status_code == 200


def _policy(run: Path) -> str:
    text = (run / "policy.resolved.yaml").read_text()
    return text.replace("k: '3'", "k: 3").replace('k: "3"', "k: 3")


@pytest.mark.slow
def test_a_run_is_verified_as_a_job(server: Server, steward: Browser):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    run = server.site.runs.list()[0]
    job = _carried_out(server, steward, f"/runs/{run.key}/verify")
    assert (job.state, job.exit_code, job.leads_to) == (JobState.DONE, 0, f"/runs/{run.key}")
    (run.folder / "released/public/ward.csv").write_text("changed\n")
    assert _carried_out(server, steward, f"/runs/{run.key}/verify").exit_code == 1


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_the_server_up_and_no_release(server: Server, steward: Browser):
    draw = "\n".join(f"{20 + i % 60},{100 + i % 40},flu" for i in range(2_000_000))
    (server.folder / "policies/people.csv").write_text(f"age,zip,disease\n{draw}\n")
    answer = steward.send("/policies/ward.yaml/run")
    job = server.site.jobs.get(answer.headers["location"].rpartition("/")[2])
    until = time.monotonic() + PATIENCE
    while not (job.folder / "child.json").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    with suppress(ProcessLookupError):  # one that has ended says below how
        os.killpg(json.loads((job.folder / "child.json").read_text())["pid"], signal.SIGKILL)
    job = server.site.jobs.finished(job, PATIENCE)
    assert (job.state, job.reason, job.made) == (JobState.FAILED, "killed", "")
    page = steward.get(f"/jobs/{job.id}")
    assert page.status_code == 200
    assert "The system ended it" in page.text
    assert server.site.runs.list() == []
    assert steward.get("/runs").status_code == 200


def test_an_upload_of_somebody_else_is_none(server: Server, steward: Browser):
    assert steward.send("/policies/ward.yaml/run", upload="../people").status_code == 404
    assert server.site.jobs.of(server.users[PageRole.STEWARD]) == []


@pytest.mark.slow
def test_jobs_are_shown_to_who_asked_for_them_alone(server: Server, steward: Browser):
    job = _carried_out(server, steward, "/policies/ward.yaml/run")
    page = steward.get(f"/jobs/{job.id}").text
    assert "ppdm-flow run ward.yaml --out runs" in page
    assert str(server.folder) in job.command
    assert str(server.folder) not in page
    assert "ward.yaml" in steward.get("/jobs").text
    other = server.browser(PageRole.APPROVER)
    assert other.get(f"/jobs/{job.id}").status_code == 404
    assert other.send(f"/jobs/{job.id}/cancel").status_code == 404
    assert "ward.yaml" not in other.get("/jobs").text
    part = steward.client.get("/jobs", headers={"hx-request": "true"}).text
    assert "<html" not in part
    assert "hx-get" not in part


@pytest.mark.slow
def test_a_full_queue_is_a_page_that_says_so(server: Server, steward: Browser, monkeypatch):
    monkeypatch.setattr(type(server.site.jobs), "_watch", lambda _self: None)
    for _ in range(5):
        assert steward.send("/policies/ward.yaml/run").status_code == 303
    answer = steward.send("/policies/ward.yaml/run")
    assert answer.status_code == 429
    assert "5 jobs of yours" in answer.text
    page = steward.get("/jobs").text
    assert 'hx-trigger="every 2s"' in page
    for job in server.site.jobs.of(server.users[PageRole.STEWARD]):
        assert steward.send(f"/jobs/{job.id}/cancel").status_code == 303
    assert {job.state for job in server.site.jobs.of(server.users[PageRole.STEWARD])} == {JobState.CANCELLED}


@pytest.mark.slow
def test_a_sweep_is_a_picture_whose_points_are_edits(server: Server, steward: Browser):
    _carried_out(server, steward, "/policies/ward.yaml/run")
    form = steward.get("/policies/ward.yaml/sweep").text
    assert "privacy.k_anonymity.k" in form
    figures = re.findall(r'<option value="([^"]+)" selected>', form)
    job = _carried_out(
        server, steward, "/policies/ward.yaml/sweep", path_1="privacy.k_anonymity.k", values_1="2,5,20", figures=figures
    )
    assert (job.state, job.leads_to) == (JobState.DONE, f"/sweeps/{job.id}")
    page = steward.get(f"/sweeps/{job.id}").text
    assert page.count("<svg") > 1
    links = re.findall(r'href="(/policies/ward\.yaml/propose\?[^"]+)"', page)
    offered = [from_json(dict(parse_qsl(urlsplit(unescape(link)).query))["changes"]) for link in links]
    assert offered.count((put(("privacy", "k_anonymity", "k"), "20"),)) > 1
    assert "would be released" in page
    assert server.browser(PageRole.APPROVER).get(f"/sweeps/{job.id}").status_code == 403
    assert [run.policy for run in server.site.runs.list()] == ["ward"]


@pytest.mark.slow
def test_a_sweep_is_read_and_drawn_by_a_process_with_limits(server: Server, steward: Browser, monkeypatch):
    job = _carried_out(server, steward, "/policies/ward.yaml/sweep", path_1="privacy.k_anonymity.k", values_1="2,5")

    def not_here(_document: object) -> None:
        raise AssertionError("drawn by the server itself")

    monkeypatch.setattr(routes, "rows", not_here)
    page = steward.get(f"/sweeps/{job.id}")
    assert page.status_code == 200, (job, page.headers, page.text)
    assert "2 points" in page.text
    monkeypatch.setattr(runs.REPORTS, "output", 0)
    refused = steward.get(f"/sweeps/{job.id}")
    assert (refused.status_code, "PPF997" in refused.text) == (400, True)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("path", "values"),
    [("privacy.k_anonymity.q", "2,3"), ("", "2"), ("--out", "/tmp"), ("privacy.k_anonymity.k", "1..99999")],
)
def test_a_sweep_over_nothing_is_refused_before_it_is_queued(server: Server, steward: Browser, path, values):
    answer = steward.send("/policies/ward.yaml/sweep", path_1=path, values_1=values)
    assert answer.status_code == 400
    assert "PPF" in answer.text
    assert server.site.jobs.of(server.users[PageRole.STEWARD]) == []


@pytest.mark.slow
def test_a_sweep_of_the_page_makes_the_table_that_the_command_line_makes(server: Server, steward: Browser, cli):
    job = _carried_out(server, steward, "/policies/ward.yaml/sweep", path_1="privacy.k_anonymity.k", values_1="2,5")
    words = [word.replace(str(job.folder), str(server.folder / "by-hand")) for word in job.words]
    assert cli(*words, cwd=server.folder).returncode == 0
    mine, other = (
        json.loads(next((folder / "sweep").glob("*/*/sweep.json")).read_text())
        for folder in (job.folder, server.folder / "by-hand")
    )
    for document in (mine, other):
        del document["run"]
        for point in document["points"]:
            del point["seconds"]
    assert mine == other


@pytest.mark.slow
def test_a_large_report_is_parsed_by_another_process(server: Server, monkeypatch):
    """Parsing JSON lets no other thread of the server work: eight megabytes take a tenth of a second."""
    run = prepared_run(server.site.settings.runs)
    steward, address = server.browser(PageRole.STEWARD), f"/runs/{run.parent.name}/{run.name}"
    small = steward.get(address)
    assert small.status_code == 200
    monkeypatch.setattr(runs, "LARGE", 100)
    with monkeypatch.context() as patched:
        patched.setattr(runs, "read", lambda _folder: pytest.fail("it was parsed here"))
        large = steward.get(address)
    tokens = re.compile("[0-9a-f]{64}")
    assert tokens.sub("", large.text) == tokens.sub("", small.text)
    (run / "report.json").write_text("{" * 200)
    assert "PPF692" in steward.get(address).text


@pytest.mark.slow
def test_a_large_manifest_is_parsed_by_another_process(server: Server, monkeypatch):
    run = prepared_run(server.site.settings.runs)
    steward, address = server.browser(PageRole.STEWARD), f"/runs/{run.parent.name}/{run.name}"
    small = steward.get(address).text
    shutil.copytree(run, run.with_name("20990101T000000Z-aaaaaaaaaaaa"))
    monkeypatch.setattr(runs, "LARGE", 100)
    with monkeypatch.context() as patched:
        patched.setattr(runs, "json", SimpleNamespace(loads=lambda _text: pytest.fail("it was parsed here")))
        assert [each.state for each in server.site.runs.list()] == ["released", "released"]
        large = steward.get(address).text
    files = re.compile(r"<summary>.*?</summary>")
    assert files.findall(large) == files.findall(small)
    monkeypatch.setattr(runs.REPORTS, "output", 0)
    (run / "manifest.json").write_text((run / "manifest.json").read_text() + " ")
    assert len(server.site.runs.list()) == 1, "one that takes too much is not listed"
    monkeypatch.setattr(runs, "_read_manifest", lambda *_: pytest.fail("it was tried again at once"))
    assert len(server.site.runs.list()) == 1


def test_of_a_run_with_very_many_files_those_that_lie_deepest_are_left_out(tmp_path: Path, monkeypatch):
    names = [
        "report.html",
        "released/r/t.csv/a=1/part-0.csv",
        "released/r/t.csv/a=2/part-0.csv",
        "released/r/sheet.html",
    ]
    manifest = {"files": {name: {"bytes": 7} for name in names}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert runs.read_files(tmp_path).keys() == set(names)
    monkeypatch.setattr(runs, "_MOST_FILES", 3)
    assert runs.read_files(tmp_path) == dict.fromkeys((names[0], names[1], names[3]), 7)


def test_of_runs_in_their_final_state_no_more_is_looked_at_than_that_they_are_there(tmp_path: Path, monkeypatch):
    looked = []

    def noting(folder: Path) -> bool:
        looked.append(folder.name)
        return False

    monkeypatch.setattr(runs, "is_unpublished", noting)
    for name, verdict in (("a", "released"), ("b", "withheld"), ("c", "held")):
        _manifest(tmp_path / "p" / name, verdict)
    known = runs.RunFolder(tmp_path)
    assert {each.name: each.state for each in known.list()} == {"a": "released", "b": "withheld", "c": "held"}
    looked.clear()
    assert len(known.list()) == 3
    assert looked == ["c"], "it may be released"
    (tmp_path / "p" / "c" / "publication.json").write_text("{}")
    (tmp_path / "p" / "c" / "released").mkdir()
    assert known.get("p", "c").state == "released"
    _manifest(tmp_path / "p" / "a", "withheld")
    os.utime(tmp_path / "p" / "a" / "manifest.json", ns=(1, 1))
    assert known.get("p", "a").state == "withheld", "its manifest is another one"
    shutil.rmtree(tmp_path / "p" / "b")
    assert [each.name for each in known.list()] == ["c", "a"]
    assert set(known._known) == {("p", "a"), ("p", "c")}


def _manifest(folder: Path, verdict: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "verdict": verdict,
        "finished": "2026-01-01T00:00:00+00:00",
        "checks": {"total": 1, "failed": 0},
        "files": {},
    }
    (folder / "manifest.json").write_text(json.dumps(about))
