"""Held runs on the page: signed by others than their author, released once the signatures are there, and not before."""

from __future__ import annotations

import base64
import json
import math
import shutil
import time

import pytest
from people_with_keys import PASSPHRASE, POLICY, ROLES, Ward
from sites import PASSWORD, Browser, Server
from together import together

from ppdm_flow import api
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import RefusedError
from ppdm_flow.engine.candidates.unpublished import is_held
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.page.services import approvals
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.approvals import BoundedAnswers
from ppdm_flow.page.services.bounded import BoundedCalls, LimitExceededError
from ppdm_flow.page.views.approvals import RoleState, WaitingRun
from ppdm_flow.sdk.spec import PASSWORD_VARIABLE


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A server whose people have keys, and a run of each kind: they take seconds to make."""
    folder = tmp_path_factory.mktemp("ward")
    ward = Ward.make(Server(folder))
    made = {("sue", True): ward.run("sue"), ("omar", True): ward.run("omar")}
    made |= {("sue", False): ward.run("sue", sign=False), ("omar", False): ward.run("omar", sign=False)}
    return ward, made, folder / "copies"


@pytest.fixture
def ward(people) -> Ward:
    """Return that server, with its list of signers and all runs as they were made."""
    ward, made, copies = people
    ward.signers(ROLES)
    (ward.policies / "ward.yaml").write_text(POLICY)
    for run in made.values():
        ward.again(run, copies / run)
    return ward


@pytest.fixture
def made(people):
    """Return a function that names the run of somebody, signed by its author or not."""
    return lambda name, *, sign=True: people[1][name, sign]


@pytest.mark.slow
def test_documents_of_runs_are_read_once_and_not_for_longer_than_a_page_waits(ward: Ward, made, monkeypatch):
    asked, run = [], BoundedCalls.run

    def noting(self, function, *given):
        if function is approvals.read_documents:
            asked.append(given[0].name)
        return run(self, function, *given)

    monkeypatch.setattr(approvals, "_DOCUMENTS", BoundedAnswers())
    monkeypatch.setattr(BoundedCalls, "run", noting)
    assert len(approvals.held_runs(ward.runs, utc_now())[0]) > 1
    assert asked == []  # short ones need no process
    monkeypatch.setattr(approvals, "LARGE", 0)
    before = approvals.held_runs(ward.runs, utc_now())[0]
    assert len(asked) == len(before) > 1
    assert [each.approval for each in approvals.held_runs(ward.runs, utc_now())[0]] == [
        each.approval for each in before
    ]
    assert len(asked) == len(before)
    name = made("sue").split("/")[1]
    report = ward.runs / made("sue") / "report.json"
    report.write_text("[")
    (changed,) = (each for each in approvals.held_runs(ward.runs, utc_now())[0] if each.name == name)
    assert changed.approval is not None
    assert changed.approval.signatures[0].damaged
    report.unlink()
    for _ in range(2):
        (changed,) = (each for each in approvals.held_runs(ward.runs, utc_now())[0] if each.name == name)
        assert [each.code for each in changed.faults] == ["PPF971"]
    assert asked[len(before) :] == [name]
    monkeypatch.setattr(approvals, "_DOCUMENTS", BoundedAnswers())
    monkeypatch.setattr(approvals, "SECONDS", 0.0)
    assert {each.faults[0].code for each in approvals.held_runs(ward.runs, utc_now())[0]} == {"PPF971", "PPF997"}
    assert approvals.find_held(ward.runs, *made("omar").split("/"), utc_now()).approval is not None


def test_the_newest_run_of_each_person_is_looked_at_before_older_ones_of_anybody(tmp_path, monkeypatch):
    looked_at: list[str] = []

    def noting(folder, *_given):
        looked_at.append(folder.name)
        return folder.name

    folders = [tmp_path / "ward" / name for name in ("5", "4", "3", "2", "1")]
    for folder in folders:
        (folder / "held").mkdir(parents=True)
    (tmp_path / "ward" / "6" / "released").mkdir(parents=True)
    monkeypatch.setattr(approvals, "held_run", noting)
    makers = {"ward/5": 1, "ward/4": 1, "ward/3": 1, "ward/2": 2}
    assert approvals.held_runs(tmp_path, utc_now(), makers.get) == (["5", "4", "3", "2", "1"], 1)
    assert looked_at == ["5", "2", "1", "4", "3"]
    monkeypatch.setattr(approvals, "_EACH", 2)
    looked_at.clear()
    pages = [approvals.held_runs(tmp_path, utc_now(), makers.get, page) for page in (1, 2, 3, 9)]
    assert pages == [(["5", "2"], 3), (["4", "1"], 3), (["3"], 3), (["3"], 3)]
    assert len(looked_at) == 6, "no others are looked at"


@pytest.mark.slow
def test_the_list_of_held_runs_has_pages(ward: Ward, made, monkeypatch):
    runs = [made("sue"), made("omar"), made("sue", sign=False)]
    monkeypatch.setattr(approvals, "_EACH", 1)
    olga = ward.browsers["olga"]
    texts = [olga.get("/approvals", page=page).text for page in ("1", "2", "3", "4", "5", "x")]
    listed = [[run for run in (*runs, made("omar", sign=False)) if f'/approvals/{run}"' in text] for text in texts]
    assert [len(each) for each in listed] == [1] * 6
    assert len({run for each in listed[:4] for run in each}) == 4
    assert (listed[4], listed[5]) == (listed[3], listed[0])
    assert "No run of this page waits for your signature" in ward.browsers["eve"].get("/approvals", page="2").text


def _sign(ward: Ward, name: str, run: str, role: str = "data-owner", passphrase: str = PASSPHRASE):
    return ward.browsers[name].send(f"/approvals/{run}/sign", role=role, passphrase=passphrase)


def _release(ward: Ward, name: str, run: str):
    return ward.browsers[name].send(f"/approvals/{run}/release")


@pytest.mark.slow
def test_a_run_that_waits_for_many_roles_takes_little_of_the_list(ward: Ward, made, monkeypatch):
    made("sue")
    roles = [RoleState(f"role-{number}", (), (), missing=number != 1) for number in range(40)]
    monkeypatch.setattr(WaitingRun, "roles", property(lambda _self: roles))
    page = ward.browsers["olga"].get("/approvals").text
    assert ["role-0<" in page, "role-1<" in page, "role-20<" in page, "role-21<" in page] == [True, False, True, False]
    monkeypatch.setattr(WaitingRun, "roles", property(lambda _self: roles[1:2]))
    assert "role-1<" not in ward.browsers["olga"].get("/approvals").text


@pytest.mark.slow
def test_a_run_is_signed_by_another_person_and_released(ward: Ward, made):
    run = made("sue")
    folder = ward.runs / run
    assert "No run waits for your signature" not in ward.browsers["olga"].get("/approvals").text
    page = ward.browsers["olga"].get(f"/approvals/{run}").text
    assert "Could be signed by: olga, omar." in page
    assert "k-anonymity" in page
    assert _release(ward, "sue", run).status_code == 409
    assert is_held(folder)
    assert _sign(ward, "olga", run).status_code == 303
    job = ward.ended(ward.users["olga"])
    assert (job.exit_code, job.kind, job.about) == (0, "sign", run)
    assert PASSPHRASE not in " ".join(job.words)
    assert "sign" in ward.browsers["olga"].get(f"/approvals/{run}/jobs").text
    assert ward.browsers["sue"].send(f"/approvals/{run}/check").status_code == 303
    assert ward.ended(ward.users["sue"]).exit_code == 0
    assert is_held(folder)
    assert ward.browsers["olga"].send(f"/approvals/{run}/release").status_code == 403
    assert _release(ward, "sue", run).status_code == 303
    assert ward.ended(ward.users["sue"]).exit_code == 0
    assert (folder / "released" / "public" / "ward.csv").is_file()
    said = json.loads((folder / "publication.json").read_text())
    assert {(s["role"], s["signer"]) for s in said["signatures"]} == {("author", "sue"), ("data-owner", "olga")}
    assert ward.browsers["sue"].get(f"/approvals/{run}").headers["location"].startswith(f"/runs/{run}")
    state = ward.server.site.settings.state
    assert not any(PASSPHRASE.encode() in p.read_bytes() for p in state.rglob("*") if p.is_file())
    entries = {(e.account, e.action, e.subject, e.outcome) for e in ward.server.site.journal.newest(100)}
    assert ("olga", "approvals.sign", run, "done") in entries
    assert ("sue", "approvals.release", run, "done") in entries


@pytest.mark.slow
@pytest.mark.parametrize("sign", [True, False])
def test_nobody_approves_the_run_that_they_started_signed_or_not(ward: Ward, made, sign):
    run = made("omar", sign=sign)
    page = ward.browsers["omar"].get(f"/approvals/{run}").text
    assert 'value="data-owner"' not in page
    answer = _sign(ward, "omar", run)
    assert answer.status_code == 403
    assert not any("data-owner" in p.name for p in (ward.runs / run).glob("attestations/*"))


@pytest.mark.slow
def test_a_run_of_nobody_knows_whom_is_approved_by_who_runs_nothing_or_after_its_author(ward: Ward, made):
    """A run stands there a moment before the page knows that its job has made it."""
    run = made("omar", sign=False)
    job = ward.server.site.jobs.maker(run).id
    _says_it_made(ward, job, "")
    try:
        assert _sign(ward, "omar", run).status_code == 403
        assert _sign(ward, "olga", run).status_code == 303
        assert ward.ended(ward.users["olga"]).exit_code == 0
        assert _sign(ward, "sue", run, "author").status_code == 303
        assert ward.ended(ward.users["sue"]).exit_code == 0
        assert 'value="data-owner"' in ward.browsers["omar"].get(f"/approvals/{run}").text
    finally:
        _says_it_made(ward, job, run)


def _says_it_made(ward: Ward, job: str, run: str) -> None:
    with ward.server.site.database.changing() as connection:
        connection.execute("UPDATE jobs SET made = ? WHERE id = ?", (run, job))


@pytest.mark.slow
def test_the_verb_refuses_the_own_run_as_well(ward: Ward, made):
    run = made("omar")
    key = ward.server.site.keys.of(ward.users["omar"]).path
    api.sign(ward.runs / run, key, "data-owner", password=PASSPHRASE.encode)
    assert _release(ward, "sue", run).status_code == 409
    with pytest.raises(RefusedError, match="PPF975"):
        api.release(ward.runs / run)
    assert is_held(ward.runs / run)
    _sign(ward, "olga", run)
    assert ward.ended(ward.users["olga"]).exit_code == 0
    _release(ward, "sue", run)
    assert ward.ended(ward.users["sue"]).exit_code == 0


@pytest.mark.slow
def test_an_author_who_forgot_to_sign_does_so_later_and_no_other_steward_for_them(ward: Ward, made):
    run = made("sue", sign=False)
    assert _sign(ward, "omar", run, "author").status_code == 403
    assert _sign(ward, "omar", run).status_code == 303
    assert ward.ended(ward.users["omar"]).exit_code == 0
    assert _release(ward, "omar", run).status_code == 409
    assert _sign(ward, "sue", run, "author").status_code == 303
    assert ward.ended(ward.users["sue"]).exit_code == 0
    assert _release(ward, "omar", run).status_code == 303
    assert ward.ended(ward.users["omar"]).exit_code == 0


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("olga", "author"),
        ("olga", "privacy-officer"),
        ("olga", "--help"),
        ("olga", ""),
        ("eve", "data-owner"),
        ("eve", "author"),
        ("sue", "data-owner"),
    ],
)
def test_nobody_signs_in_a_role_that_the_list_does_not_give_them(ward: Ward, made, name, role):
    run = made("sue")
    before = len(ward.server.site.jobs.of(ward.users[name]))
    assert _sign(ward, name, run, role).status_code == 403
    assert len(ward.server.site.jobs.of(ward.users[name])) == before


def test_a_wrong_passphrase_signs_nothing_and_says_so(ward: Ward, made):
    run = made("sue")
    assert _sign(ward, "olga", run, passphrase="four brown horses waiting").status_code == 303
    job = ward.ended(ward.users["olga"])
    assert job.exit_code == 2
    page = ward.browsers["olga"].get(f"/approvals/{run}").text
    assert "PPF961" in page
    assert "four brown horses" not in page
    assert _sign(ward, "olga", run, passphrase="").status_code == 400
    assert _release(ward, "sue", run).status_code == 409


@pytest.mark.slow
def test_an_account_that_lost_the_role_since_the_run_does_not_sign_and_its_signature_no_longer_counts(ward: Ward, made):
    run = made("sue")
    _sign(ward, "olga", run)
    assert ward.ended(ward.users["olga"]).exit_code == 0
    ward.signers({**ROLES, "olga": ("reader",)})
    assert _release(ward, "sue", run).status_code == 409
    assert _sign(ward, "olga", run).status_code == 403
    assert "does not count" in ward.browsers["sue"].get(f"/approvals/{run}").text
    ward.signers(ROLES)
    assert _release(ward, "sue", run).status_code == 303


@pytest.mark.slow
def test_several_who_release_at_once_release_it_once(ward: Ward, made):
    run = made("sue")
    _sign(ward, "olga", run)
    assert ward.ended(ward.users["olga"]).exit_code == 0
    names = ("sue", "omar", "eve")
    answers = together(*(lambda name=name: _release(ward, name, run) for name in names))
    asked = [name for name, answer in zip(names, answers, strict=True) if answer.status_code == 303]
    codes = sorted(ward.ended(ward.users[name]).exit_code for name in asked)
    assert codes[0] == 0
    assert set(codes[1:]) <= {2}
    policy, _, own = run.partition("/")
    assert ward.server.site.shown.published(policy, own) is not None


@pytest.mark.slow
def test_a_release_looks_at_the_files_again(ward: Ward, made):
    run = made("sue")
    _sign(ward, "olga", run)
    assert ward.ended(ward.users["olga"]).exit_code == 0
    table = ward.runs / run / "held" / "public" / "ward.csv"
    table.write_text(table.read_text().replace("flu", "hiv"))
    assert _release(ward, "sue", run).status_code == 303
    job = ward.ended(ward.users["sue"])
    assert job.exit_code == 1
    assert "PPF971" in job.talk
    assert is_held(ward.runs / run)
    assert "PPF971" in ward.browsers["sue"].get(f"/approvals/{run}").text


@pytest.mark.parametrize("broken", ["plan.json", "manifest.json", "held.private.json"])
def test_a_run_whose_documents_are_damaged_is_listed_and_neither_signed_nor_released(ward: Ward, made, broken):
    run = made("sue")
    (ward.runs / run / broken).write_text("[1]")
    for name in ("olga", "sue"):
        assert ward.browsers[name].get("/approvals").status_code == 200
        assert "cannot be read" in ward.browsers[name].get(f"/approvals/{run}").text
    assert _sign(ward, "olga", run).status_code == 403
    assert _release(ward, "sue", run).status_code == 409


@pytest.mark.parametrize(
    "run",
    ["ward/nothing", "%2e%2e/ward", "ward/%2e%2e", "%2e%2e/state", "ward/RUN%2fheld", "WARD/RUN", "ward%2fRUN/held"],
)
def test_a_name_that_is_not_listed_is_nothing(ward: Ward, made, run):
    there = made("sue")
    address = f"/approvals/{run.replace('RUN', there.partition('/')[2])}"
    assert ward.browsers["olga"].get(address).status_code == 404
    for verb in ("sign", "check"):
        assert ward.browsers["sue"].send(f"{address}/{verb}", role="author", passphrase=PASSPHRASE).status_code == 404


def test_a_link_in_the_place_of_a_run_is_no_run(ward: Ward, made):
    run = made("sue")
    elsewhere = ward.server.folder / "elsewhere"
    shutil.move(ward.runs / run, elsewhere)
    (ward.runs / run).symlink_to(elsewhere)
    assert ward.browsers["olga"].get(f"/approvals/{run}").status_code == 404
    (ward.runs / run).unlink()
    (ward.runs / run).mkdir()


@pytest.mark.slow
def test_waivers_that_a_run_rests_on_are_shown_with_their_role_and_their_last_day(ward: Ward):
    text = (
        POLICY
        + """
audits: {sizes: {use: class_sizes}}
gates: {many: {metric: sizes.classes, min: 50}}
waivers:
  few: {of: gates.many, reason: agreed, owner: dpo, until: 2027-06-30, signed_by: data-owner}
"""
    )
    (ward.policies / "ward.yaml").write_text(text)
    run = ward.run("sue")
    page = ward.browsers["olga"].get(f"/approvals/{run}").text
    assert "<strong>few</strong>" in page
    assert "2027-06-30" in page
    assert "It has to be signed by: data-owner." in page


def test_a_person_without_a_key_is_told_so(ward: Ward, made):
    run = made("sue")
    ivo = Browser(ward.server.site, ward.server.site.accounts.add("ivo", [PageRole.APPROVER], PASSWORD))
    assert "You need a signing key first" in ivo.get(f"/approvals/{run}").text
    assert ivo.send(f"/approvals/{run}/sign", role="data-owner", passphrase=PASSPHRASE).status_code == 403


def _payloads(folder):
    """What was signed in each envelope, but for the time."""
    told = {}
    for path in sorted(folder.rglob("attestations/*.json")):
        said = json.loads(base64.b64decode(json.loads(path.read_text())["payload"]))
        said["predicate"].pop("signed", None)
        told[path.relative_to(folder).as_posix()] = said
    return told


@pytest.mark.slow
def test_signing_and_releasing_leave_the_files_that_the_command_line_leaves(ward: Ward, made, cli):
    run, other = made("sue"), ward.server.folder / "typed" / made("sue")
    shutil.copytree(ward.runs / run, other)
    _sign(ward, "olga", run)
    words = {"sign": ward.ended(ward.users["olga"]).words}
    _release(ward, "sue", run)
    words["release"] = ward.ended(ward.users["sue"]).words
    for verb in ("sign", "release"):
        typed = [str(other) if word == str(ward.runs / run) else word for word in words[verb]]
        assert cli(*typed, env={PASSWORD_VARIABLE: PASSPHRASE}).returncode == 0
    places = {folder: {p.relative_to(folder) for p in folder.rglob("*")} for folder in (ward.runs / run, other)}
    assert places[ward.runs / run] == places[other]
    assert _payloads(ward.runs / run) == _payloads(other) != {}
    for place in places[other]:
        if (other / place).is_file() and "attestations" not in place.parts and place.name != "publication.json":
            assert (ward.runs / run / place).read_bytes() == (other / place).read_bytes()


@pytest.mark.slow
def test_a_run_is_begun_on_the_page_and_signed_by_its_author(ward: Ward):
    browser = ward.browsers["sue"]
    assert 'name="as_author"' in browser.get("/policies/ward.yaml/run").text
    assert 'name="as_author"' in ward.browsers["omar"].get("/policies/ward.yaml/run").text
    answer = browser.send("/policies/ward.yaml/run", as_author="yes", passphrase="")
    assert answer.status_code == 400
    assert browser.send("/policies/ward.yaml/run", as_author="yes", passphrase=PASSPHRASE).status_code == 303
    job = ward.ended(ward.users["sue"])
    assert job.exit_code == 4
    assert PASSPHRASE not in job.command
    assert next((ward.runs / job.made / "attestations").iterdir()).name.startswith("author-")
    page = browser.get(f"/runs/{job.made}").text
    assert f"/approvals/{job.made}" in page
    assert browser.send("/policies/ward.yaml/run", passphrase=PASSPHRASE).status_code == 303
    unsigned = ward.ended(ward.users["sue"])
    assert not (ward.runs / unsigned.made / "attestations").exists()


@pytest.mark.slow
def test_an_account_may_sign_again_since_a_release_may_ask_for_it(ward: Ward, made):
    run = made("sue")
    _sign(ward, "olga", run)
    assert ward.ended(ward.users["olga"]).exit_code == 0
    assert "No run waits for your signature" not in ward.browsers["omar"].get("/approvals").text
    page = ward.browsers["olga"].get(f"/approvals/{run}").text
    assert "<summary>Sign again</summary>" in page
    (envelope,) = (ward.runs / run / "attestations").glob("data-owner-*")
    envelope.unlink()
    assert "<summary>Sign again</summary>" not in ward.browsers["olga"].get(f"/approvals/{run}").text
    _sign(ward, "olga", run)
    assert ward.ended(ward.users["olga"]).exit_code == 0
    assert _sign(ward, "olga", run).status_code == 303
    assert ward.ended(ward.users["olga"]).exit_code == 0
    assert envelope.is_file()


def test_a_signature_that_was_changed_counts_for_nothing_and_is_shown_so(ward: Ward, made):
    run = made("sue")
    _sign(ward, "olga", run)
    assert ward.ended(ward.users["olga"]).exit_code == 0
    (envelope,) = (ward.runs / run / "attestations").glob("data-owner-*")
    said = json.loads(envelope.read_text())
    said["signatures"][0]["sig"] = base64.b64encode(bytes(64)).decode()
    envelope.write_text(json.dumps(said))
    assert ward.browsers["sue"].get(f"/approvals/{run}").status_code == 200
    assert _release(ward, "sue", run).status_code == 409


def test_a_report_that_cannot_be_read_is_said_and_the_list_stands(ward: Ward, made):
    run = made("sue")
    (ward.runs / run / "report.json").write_text("{")
    assert ward.browsers["olga"].get("/approvals").status_code == 200
    assert ward.browsers["olga"].get(f"/approvals/{run}").status_code == 400
    assert _release(ward, "sue", run).status_code == 409


def test_what_takes_long_is_tried_once_by_pages_that_have_as_little_time(monkeypatch):
    tried = []

    class Late:
        seconds = 10

        def within(self, _seconds):
            return self

        def run(self, *_words):
            tried.append(1)
            raise LimitExceededError(Diagnostic("PPF997", "late"))

    monkeypatch.setattr(approvals, "CHECKS", Late())
    answers = BoundedAnswers()
    for left, times in ((3, 1), (3, 1), (1, 1), (9, 2), (math.inf, 3), (math.inf, 3), (3, 3)):
        with pytest.raises(LimitExceededError):
            answers.ask("a list", 1, time.monotonic() + left, "late", print)
        assert len(tried) == times
