"""What guests are shown: releases that were released, and nothing by another name."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from held_runs import HeldHome
from prepared_runs import prepared_run
from signed_runs import BEGIN
from sites import PASSWORD, Browser, Server
from together import together

from ppdm_flow.page.services import shown as published
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.bounded import BoundedCalls
from ppdm_flow.page.services.shown import Refusal, SharedRelease

JOINED = f"""{BEGIN}\
  study: {{path: study.csv, from: recoded}}
  office: {{path: office.csv, from: recoded, audience: public}}
"""


def _run(server: Server, **words: str) -> Path:
    return prepared_run(server.site.settings.runs, **words)


@pytest.fixture
def guests(server: Server) -> list[User]:
    """Return the guest to whom releases are shown."""
    return [server.users[PageRole.GUEST]]


@pytest.mark.slow
def test_a_released_run_is_shown_with_its_report_or_without_and_taken_back(server: Server, guests):
    run, shown = _run(server, policy=JOINED), server.site.shown
    steward = server.users[PageRole.STEWARD]
    assert shown.releases() == []
    assert shown.published("clinic", run.name).audiences == {"office": "public", "study": "internal"}
    assert shown.show(steward, "clinic", run.name, "study", guests) is None
    assert shown.show(steward, "clinic", run.name, "office", guests, report=True) is None
    every = {each.release: each for each in shown.releases()}
    assert (every["study"].report, every["office"].report) == (False, True)
    assert every["office"].by == "steward"
    assert (every["office"].files / "office.csv").is_file()
    assert shown.show(steward, "clinic", run.name, "study", guests, report=True) is None
    assert shown.get("clinic", run.name, "study").report
    assert shown.hide("clinic", run.name, "study")
    assert not shown.hide("clinic", run.name, "study")
    assert [each.release for each in shown.releases()] == ["office"]


@pytest.mark.parametrize(
    "name",
    [
        ("clinic", "RUN", "other"),
        ("clinic", "..", "study"),
        ("..", "clinic", "study"),
        (".", "clinic", "RUN"),
        ("clinic", "RUN", "../held"),
        ("clinic", "RUN/released", "study"),
        ("", "", ""),
    ],
)
def test_nothing_is_shown_by_a_name_that_is_not_listed(server: Server, guests, name):
    run = _run(server)
    words = [part.replace("RUN", run.name) for part in name]
    assert server.site.shown.show(server.users[PageRole.STEWARD], *words, guests) is Refusal.MISSING
    assert server.site.shown.releases() == []


def test_one_person_shows_so_many_releases(server: Server, guests, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.shown.MOST", 1)
    run, shown, steward = _run(server, policy=JOINED), server.site.shown, server.users[PageRole.STEWARD]
    assert shown.show(steward, "clinic", run.name, "study", guests) is None
    assert shown.show(steward, "clinic", run.name, "office", guests) is Refusal.MANY
    refused = server.browser(PageRole.STEWARD).send(f"/shown/clinic/{run.name}/office/show", guest=guests[0].id)
    assert refused.status_code == 429
    assert (
        shown.show(steward, "clinic", run.name, "study", guests, report=True) is None
    )  # the same one, with its report
    assert shown.show(server.users[PageRole.APPROVER], "clinic", run.name, "office", guests) is None  # another person
    assert shown.hide("clinic", run.name, "study")
    assert shown.show(steward, "clinic", run.name, "study", guests) is None


def test_of_releases_for_recipients_apart_guests_see_one(server: Server, guests):
    run, shown, steward = _run(server), server.site.shown, server.users[PageRole.STEWARD]
    assert shown.show(steward, "clinic", run.name, "study", guests) is None
    assert shown.show(steward, "clinic", run.name, "office", guests) is Refusal.APART
    shown.hide("clinic", run.name, "study")
    assert shown.show(steward, "clinic", run.name, "office", guests) is None
    assert [each.release for each in shown.releases()] == ["office"]


def test_a_later_policy_does_not_bring_together_what_was_judged_apart(server: Server, guests):
    apart, together = _run(server), _run(server, policy=JOINED)
    another = shutil.copytree(together, together.with_name("20200101T000000Z-000000000000"))
    shown, steward = server.site.shown, server.users[PageRole.STEWARD]
    assert shown.show(steward, "clinic", apart.name, "study", guests) is None
    assert shown.show(steward, "clinic", together.name, "office", guests) is Refusal.APART
    assert shown.show(steward, "clinic", together.name, "study", guests) is None
    assert shown.hide("clinic", apart.name, "study")
    assert shown.show(steward, "clinic", together.name, "office", guests) is None
    assert shown.show(steward, "clinic", another.name, "office", guests) is None
    assert shown.show(steward, "clinic", apart.name, "study", guests) is Refusal.APART


def test_links_unpublished_runs_and_runs_that_are_gone_are_not_shown(server: Server, guests):
    run, shown, steward = _run(server, policy=JOINED), server.site.shown, server.users[PageRole.STEWARD]
    assert shown.show(steward, "clinic", run.name, "study", guests) is None
    (run / "candidate").mkdir()
    assert shown.releases() == []
    assert shown.show(steward, "clinic", run.name, "study", guests) is Refusal.MISSING
    (run / "candidate").rmdir()
    aside = run.with_name("aside")
    run.rename(aside)
    run.symlink_to(aside)
    assert shown.releases() == []
    assert shown.show(steward, "clinic", run.name, "study", guests) is Refusal.MISSING
    run.unlink()
    assert shown.releases() == []
    aside.rename(run)
    assert len(shown.releases()) == 1


def test_a_held_run_is_shown_once_its_approvals_are_there_and_not_because_its_folder_has_another_name(
    server: Server, guests
):
    home, shown, steward = HeldHome.make(server.folder / "home", ledger=False), server.site.shown, None
    steward = server.users[PageRole.STEWARD]
    made = home.run().run_dir
    forged = server.site.settings.runs / "ward" / made.name
    shutil.copytree(made, forged)
    assert shown.show(steward, "ward", made.name, "public", guests) is Refusal.MISSING
    (forged / "held").rename(forged / "released")
    assert shown.show(steward, "ward", made.name, "public", guests) is Refusal.MISSING
    home.approve(made)
    assert home.release(made).outcome.published
    said = json.loads((made / "publication.json").read_text())
    (forged / "publication.json").write_text(json.dumps({**said, "signatures": []}))
    assert shown.show(steward, "ward", made.name, "public", guests) is Refusal.MISSING
    shutil.rmtree(forged)
    shutil.copytree(made, forged)
    assert shown.show(steward, "ward", made.name, "public", guests) is None
    assert [each.release for each in shown.releases()] == ["public"]


def test_long_documents_of_released_runs_are_read_once_in_a_process_of_their_own(server: Server, monkeypatch):
    run, shown = _run(server, policy=JOINED), server.site.shown
    small = shown.published("clinic", run.name)
    asked, bounded = [], BoundedCalls.run

    def noting(self, function, *given):
        asked.append(function)
        return bounded(self, function, *given)

    def not_here(_file: Path) -> None:
        raise AssertionError("read by the server itself")

    monkeypatch.setattr(published, "LARGE", 0)
    monkeypatch.setattr(published, "_document", not_here)
    monkeypatch.setattr(BoundedCalls, "run", noting)
    assert small is not None
    assert shown.published("clinic", run.name) == small
    assert shown.newest() == [small]
    assert asked == [published.read_documents]
    plan = run / "plan.json"
    plan.write_text(plan.read_text().replace('"public"', '"partner"'))
    assert shown.published("clinic", run.name).audiences == {"office": "partner", "study": "internal"}
    assert len(asked) == 2
    monkeypatch.setattr(published, "SECONDS", 0.0)
    monkeypatch.setattr(published, "_DOCUMENTS", published.BoundedAnswers())
    assert shown.newest() == []
    (run / "manifest.json").write_text("[")
    assert shown.published("clinic", run.name) is None


def _walk(browser: Browser, address: str) -> set[int]:
    pages = ("", "/sheet", "/sheet.html", "/report", "/report.html", "/files", "/files.zip", "/files/study.csv")
    return {browser.get(address + page).status_code for page in pages}


def test_a_link_opens_for_invited_guests_who_are_signed_in_and_for_no_other_guest(server: Server, guests):
    run, shown, steward = _run(server, policy=JOINED), server.site.shown, server.users[PageRole.STEWARD]
    server.users["other"] = server.site.accounts.add("other", [PageRole.GUEST], PASSWORD)
    address = f"/released/clinic/{run.name}/study"
    guest, other, nobody = server.browser(PageRole.GUEST), server.browser("other"), server.browser()
    assert shown.show(steward, "clinic", run.name, "study", guests, report=True) is None
    assert _walk(guest, address) == {200}
    assert (_walk(other, address), _walk(nobody, address)) == ({404}, {303})
    assert (address in guest.get("/released").text, address in other.get("/released").text) == (True, False)
    assert _walk(server.browser(PageRole.STEWARD), address) == {200}
    assert _walk(server.browser(PageRole.ADMINISTRATOR), address) == {403}
    assert shown.show(steward, "clinic", run.name, "study", [server.users["other"]], report=True) is None
    assert (_walk(guest, address), _walk(other, address)) == ({404}, {200})
    assert address not in guest.get("/released").text
    assert shown.hide("clinic", run.name, "study")
    assert shown.show(steward, "clinic", run.name, "study", guests, report=True) is None
    assert (_walk(guest, address), _walk(other, address)) == ({200}, {404})


def test_who_signs_in_after_following_a_link_comes_to_the_table_and_nowhere_else(server: Server, guests):
    run, steward = _run(server, policy=JOINED), server.users[PageRole.STEWARD]
    assert server.site.shown.show(steward, "clinic", run.name, "study", guests) is None
    for asked, opened in ((f"/released/clinic/{run.name}/study", True), ("/policies", False)):
        browser = server.browser()
        assert browser.get(asked).headers["location"] == "/sign-in"
        answer = browser.send("/sign-in", name="guest", password=PASSWORD)
        assert answer.headers["location"] == (asked if opened else "/")
        browser.send("/sign-out")
        assert browser.send("/sign-in", name="guest", password=PASSWORD).headers["location"] == "/"
    for forged in ("https%3A%2F%2Felsewhere.example", "%2F%2Felsewhere.example", "%2Freleasedelsewhere"):
        browser = server.browser()
        browser.client.cookies.set("ppdm_flow_asked", forged)
        assert browser.send("/sign-in", name="guest", password=PASSWORD).headers["location"] == "/"


def test_a_guest_opens_one_of_two_releases_apart_however_they_are_shared(server: Server, guests):
    """Also where the first invitation was withdrawn, its run is gone, or both invitations stand in the database."""
    run, shown, steward = _run(server), server.site.shown, server.users[PageRole.STEWARD]
    other = server.site.accounts.add("other", [PageRole.GUEST], PASSWORD)
    guest, second = server.browser(PageRole.GUEST), f"/released/clinic/{run.name}/office"
    assert shown.show(steward, "clinic", run.name, "study", guests) is None
    assert shown.show(steward, "clinic", run.name, "office", [other]) is None  # somebody else
    assert shown.show(steward, "clinic", run.name, "office", [other, *guests]) is Refusal.APART
    there = shown.published("clinic", run.name)
    assert shown.barred(there, "office", [other, *guests]) == {guests[0].id}
    assert guest.get(f"/released/clinic/{run.name}/study").status_code == 200
    assert shown.hide("clinic", run.name, "study")
    assert shown.show(steward, "clinic", run.name, "office", guests) is Refusal.APART
    with server.site.database.changing() as connection:
        connection.execute("INSERT INTO invited VALUES ('clinic', ?, 'office', ?)", (run.name, guests[0].id))
    assert guest.get(f"{second}/files/office.csv").status_code == 403
    assert _walk(guest, second) == {403}
    together = _run(server, policy=JOINED)
    shutil.rmtree(run)
    assert shown.show(steward, "clinic", together.name, "office", guests) is Refusal.APART
    assert shown.show(steward, "clinic", together.name, "study", guests) is None


def test_two_releases_apart_are_not_opened_at_once(server: Server, guests):
    run, shown, steward = _run(server), server.site.shown, server.users[PageRole.STEWARD]
    other = server.site.accounts.add("other", [PageRole.GUEST], PASSWORD)
    for release, invited in (("study", guests), ("office", [other])):
        assert shown.show(steward, "clinic", run.name, release, invited) is None
    with server.site.database.changing() as connection:
        connection.execute("INSERT INTO invited VALUES ('clinic', ?, 'office', ?)", (run.name, guests[0].id))
    opened = together(*[partial(shown.opened, guests[0], "clinic", run.name, name) for name in ("study", "office") * 4])
    assert len({each.release for each in opened if isinstance(each, SharedRelease)}) == 1
    assert Refusal.APART in opened
