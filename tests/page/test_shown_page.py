"""Stewards decide on the page what guests see: with its public report or without, and never two that are apart."""

from __future__ import annotations

import shutil

import pytest
from prepared_runs import prepared_run
from signed_runs import POLICY
from sites import Server

from ppdm_flow.page.services.accounts.roles import PageRole

JOINED = (
    POLICY.replace("recipients: apart\n", "")
    .replace("audience: partner", "audience: public")
    .replace("randomness: {mode: reproducible, seed: 7}\n", "")
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run whose releases may be seen together, and one whose releases are for recipients apart."""
    folder = tmp_path_factory.mktemp("runs")
    return prepared_run(folder, JOINED), prepared_run(folder)


def _put(server: Server, run):
    shutil.copytree(run, server.site.settings.runs / "clinic" / run.name)
    return f"/shown/clinic/{run.name}"


def _guest(server: Server) -> str:
    return str(server.users[PageRole.GUEST].id)


def test_a_steward_shows_a_release_and_takes_it_back_and_the_journal_has_both(server: Server, runs):
    address = _put(server, runs[0])
    browser = server.browser(PageRole.STEWARD)
    assert "Nothing is shared with guests." in browser.get("/shown").text
    assert runs[0].name in browser.get("/shown").text
    page = browser.get(address).text
    assert "The policy made it for the public." in page
    assert browser.send(f"{address}/office/show", guest=_guest(server), report="yes").status_code == 303
    assert [(s.release, s.report) for s in server.site.shown.releases()] == [("office", True)]
    assert "public report" in browser.get("/shown").text
    assert browser.send(f"{address}/office/show", guest=_guest(server)).status_code == 303
    assert [(s.release, s.report) for s in server.site.shown.releases()] == [("office", False)]
    assert browser.send(f"{address}/study/show", guest=_guest(server)).status_code == 303
    assert browser.send(f"{address}/office/hide").status_code == 303
    assert [s.release for s in server.site.shown.releases()] == ["study"]
    assert browser.send(f"{address}/office/hide").status_code == 404
    name = f"clinic/{runs[0].name}/office"
    entries = [(e.action, e.subject, e.outcome) for e in server.site.journal.newest(20) if e.account == "steward"]
    assert ("shown.hide", name, "done") in entries
    assert ("shown.show", name, "done") in entries


def test_a_steward_names_guests_and_the_journal_has_each(server: Server, runs):
    address, browser = _put(server, runs[0]), server.browser(PageRole.STEWARD)
    other = server.site.accounts.add("Olga", [PageRole.GUEST])
    page = browser.get(address).text
    assert ("Olga" in page, "approver" in page) == (True, False)
    assert browser.send(f"{address}/study/show").status_code == 409
    for nobody in ("0", "x", str(server.users[PageRole.ADMINISTRATOR].id)):
        assert browser.send(f"{address}/study/show", guest=[_guest(server), nobody]).status_code == 404
    assert server.site.shown.releases() == []
    assert browser.send(f"{address}/study/show", guest=[_guest(server), str(other.id)]).status_code == 303
    assert f"http://127.0.0.1:8471/released/clinic/{runs[0].name}/study" in browser.get(address).text
    assert "guest, Olga" in browser.get("/shown").text
    assert browser.send(f"{address}/study/show", guest=_guest(server)).status_code == 303
    entries = {(e.action, e.subject.partition(":")[0]) for e in server.site.journal.newest(20) if "invite" in e.action}
    assert entries == {("shown.invite", "guest"), ("shown.invite", "Olga"), ("shown.uninvite", "Olga")}
    server.site.accounts.lock(other.id)
    assert "Olga" not in browser.get(address).text
    assert browser.send(f"{address}/study/show", guest=str(other.id)).status_code == 404


def test_of_releases_for_recipients_apart_the_page_shows_one(server: Server, runs):
    address = _put(server, runs[1])
    browser = server.browser(PageRole.STEWARD)
    assert "nobody sees two of its releases" in browser.get(address).text
    assert browser.send(f"{address}/study/show", guest=_guest(server)).status_code == 303
    answer = browser.send(f"{address}/office/show", guest=_guest(server))
    assert answer.status_code == 409
    assert "guest: is invited to another release" in browser.get(address).text
    assert [s.release for s in server.site.shown.releases()] == ["study"]


def test_another_run_of_the_policy_that_guests_see_is_warned_of(server: Server, runs):
    address = _put(server, runs[0])
    again = runs[0].with_name("20200101T000000Z-000000000000")
    shutil.copytree(runs[0], server.site.settings.runs / "clinic" / again.name)
    browser = server.browser(PageRole.STEWARD)
    assert "can put them together" not in browser.get(address).text
    assert browser.send(f"/shown/clinic/{again.name}/study/show", guest=_guest(server)).status_code == 303
    assert "can put them together" in browser.get(address).text


@pytest.mark.parametrize("place", ["clinic/nothing", "clinic/%2e%2e", "%2e%2e/state", "nothing/RUN"])
def test_what_is_not_listed_is_not_shown(server: Server, runs, place):
    _put(server, runs[0])
    address = f"/shown/{place.replace('RUN', runs[0].name)}"
    browser = server.browser(PageRole.STEWARD)
    assert browser.get(address).status_code == 404
    assert browser.send(f"{address}/study/show", guest=_guest(server)).status_code == 404
    assert server.site.shown.releases() == []


@pytest.mark.parametrize("release", ["nothing", "%2e%2e", "study%2f..", "held"])
def test_a_release_that_the_run_does_not_have_is_not_shown(server: Server, runs, release):
    address = _put(server, runs[0])
    assert server.browser(PageRole.STEWARD).send(f"{address}/{release}/show", guest=_guest(server)).status_code == 404
    assert server.site.shown.releases() == []


@pytest.mark.slow
def test_only_stewards_decide(server: Server, runs):
    address = _put(server, runs[0])
    for role in (PageRole.GUEST, PageRole.APPROVER, PageRole.ADMINISTRATOR):
        assert server.browser(role).get(address).status_code == 403
        assert server.browser(role).send(f"{address}/study/show", guest=_guest(server)).status_code == 403
    assert server.site.shown.releases() == []
