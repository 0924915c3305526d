"""Sessions: they end, they cannot be planted, and they end together."""

from __future__ import annotations

import http.cookies
from collections.abc import Callable

import pytest
from sites import CHEAP, PASSWORD, Browser
from starlette.requests import Request

from ppdm_flow.page.http import cookies
from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.passwords import Passwords
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.accounts.sessions import Sessions
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import Site, opened_site

VISIT = "ppdm_flow_visit"
NEW = "plum orchard window"


def _word(browser: Browser) -> str:
    return browser.client.cookies[VISIT]


def test_a_word_that_was_planted_before_signing_in_opens_nothing_afterwards(server):
    thief, victim = Browser(server.site), Browser(server.site)
    thief.get("/sign-in")
    planted = _word(thief)
    victim.client.cookies.set(VISIT, planted, domain="127.0.0.1", path="/")
    assert victim.send("/sign-in", name="steward", password=PASSWORD).status_code == 303
    assert [cookie.value for cookie in victim.client.cookies.jar if cookie.name == VISIT] != [planted]
    assert thief.get("/account").headers["location"] == "/sign-in"


def test_signing_in_again_ends_the_session_before(server):
    browser = server.browser(PageRole.STEWARD)
    before = _word(browser)
    browser.send("/sign-in", name="guest", password=PASSWORD)
    assert _word(browser) != before
    assert server.site.sessions.visit(before).user is None


def test_after_signing_out_the_word_opens_nothing(server):
    browser = server.browser(PageRole.STEWARD)
    before = _word(browser)
    assert browser.send("/sign-out").headers["location"] == "/sign-in?said=accounts.signed_out"
    assert VISIT not in browser.client.cookies
    assert server.site.sessions.visit(before).user is None


@pytest.mark.parametrize("pauses", [[61], [50, 61], [59] * 9])
def test_a_session_ends_after_a_pause_and_after_its_whole_time(server, pauses):
    now = [1_000_000.0]
    sessions = Sessions(server.site.database, server.site.accounts, lifetime=480, idle=60, now=lambda: now[0])
    visit = sessions.begin(server.users[PageRole.STEWARD])
    for pause in pauses[:-1]:
        now[0] += pause
        assert sessions.visit(visit.word).user is not None
    assert sessions.many(visit.user.id) == 1
    now[0] += pauses[-1]
    assert sessions.visit(visit.word).user is None
    assert sessions.many(visit.user.id) == 0


def test_an_account_has_so_many_sessions_at_most(server):
    visits = [server.site.sessions.begin(server.users[PageRole.GUEST]) for _ in range(23)]
    opened = [server.site.sessions.visit(visit.word).user is not None for visit in visits]
    assert opened == [False] * 3 + [True] * 20


def test_a_changed_password_ends_all_other_sessions_and_renews_this_one(server):
    here, there = server.browser(PageRole.STEWARD), server.browser(PageRole.STEWARD)
    before = _word(here)
    wrong = here.send("/account/password", old_password="not it at all", password=NEW, password_again=NEW)
    assert wrong.status_code == 400
    assert server.site.accounts.signed_in("steward", NEW) is None
    done = here.send("/account/password", old_password=PASSWORD, password=NEW, password_again=NEW)
    assert done.headers["location"] == "/account?said=accounts.password_changed"
    assert "The password is changed" in here.client.get(done.headers["location"]).text
    assert _word(here) != before
    assert there.get("/account").headers["location"] == "/sign-in"
    assert server.site.accounts.signed_in("steward", NEW) is not None


def _while_a_password_is_compared(monkeypatch, deed: Callable[[], object]) -> None:
    """Have something happen while the next password is compared, which takes long on a server."""
    deeds, compared = [deed], Passwords.matches

    def matches(self, stored, password):
        right = compared(self, stored, password)
        while deeds:
            deeds.pop()()
        return right

    monkeypatch.setattr(Passwords, "matches", matches)


def _new_password(site: Site, account: int) -> None:
    site.people.links.open_with_password(site.people.links.renew(account), NEW)


def _lock(site: Site, account: int) -> None:
    site.accounts.lock(account)


@pytest.mark.parametrize("deed", [_new_password, _lock])
def test_who_signs_in_with_what_ends_meanwhile_is_not_signed_in(server, monkeypatch, deed):
    thief, account = Browser(server.site), server.users[PageRole.STEWARD].id
    _while_a_password_is_compared(monkeypatch, lambda: deed(server.site, account))
    assert thief.send("/sign-in", name="steward", password=PASSWORD).status_code == 403
    server.site.accounts.unlock(account)
    assert thief.get("/account").headers["location"] == "/sign-in"
    entry = server.site.journal.newest(1, action="accounts.sign_in")[0]
    assert (entry.account, entry.subject, entry.outcome) == (None, "steward", "refused")


def test_who_signs_in_while_other_sessions_end_is_signed_in(server, monkeypatch):
    browser, account = Browser(server.site), server.users[PageRole.STEWARD].id
    _while_a_password_is_compared(monkeypatch, lambda: server.site.sessions.end_all(account))
    assert browser.send("/sign-in", name="steward", password=PASSWORD).status_code == 303
    assert browser.get("/account").status_code == 200


@pytest.mark.parametrize("deed", [_new_password, _lock])
def test_a_password_is_not_changed_by_the_one_before(server, monkeypatch, deed):
    thief, account = server.browser(PageRole.STEWARD), server.users[PageRole.STEWARD].id
    form = {"old_password": PASSWORD, "password": "words of somebody else", "password_again": "words of somebody else"}
    _while_a_password_is_compared(monkeypatch, lambda: deed(server.site, account))
    assert thief.send("/account/password", **form).status_code == 400
    server.site.accounts.unlock(account)
    assert thief.get("/account").headers["location"] == "/sign-in"
    assert server.site.accounts.signed_in("steward", "words of somebody else") is None
    right = NEW if deed is _new_password else PASSWORD
    assert server.site.accounts.signed_in("steward", right).user == server.users[PageRole.STEWARD]


def test_two_who_sign_in_while_the_cost_of_hashes_changes_are_both_signed_in(server, monkeypatch):
    dear = Accounts(server.site.database, Passwords(16, 1))
    _while_a_password_is_compared(monkeypatch, lambda: dear.signed_in("steward", PASSWORD))
    match = dear.signed_in("steward", PASSWORD)
    assert server.site.sessions.begin(match.user, match.holds).user == server.users[PageRole.STEWARD]


def test_other_sessions_end_when_their_owner_says_so(server):
    here, there, other = (
        server.browser(PageRole.STEWARD),
        server.browser(PageRole.STEWARD),
        server.browser(PageRole.GUEST),
    )
    assert here.send("/account/sessions").status_code == 303
    assert here.get("/account").status_code == 200
    assert there.get("/account").headers["location"] == "/sign-in"
    assert other.get("/account").status_code == 200


def test_the_cookie_of_https_is_bound_to_the_host(tmp_path):
    site = opened_site(Settings(tmp_path / "p", tmp_path / "r", tmp_path / "s", secure=True, **CHEAP))
    site.accounts.add("Anna", [PageRole.GUEST], PASSWORD)
    browser = Browser(site)
    browser.client.base_url = "https://127.0.0.1:8471"
    answer = browser.send("/sign-in", name="Anna", password=PASSWORD)
    cookies = answer.headers.get_list("set-cookie")
    assert len(cookies) == 2
    for cookie in cookies:
        assert cookie.startswith("__Host-ppdm_flow_")
        assert {"HttpOnly", "Path=/", "SameSite=lax", "Secure"} <= set(cookie.split("; "))
        assert "Domain" not in cookie
    assert browser.get("/account").status_code == 200


def test_a_script_is_sent_to_sign_in_as_a_whole_page(server):
    browser = server.browser(None)
    answer = browser.client.get("/account", headers={"hx-request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"], answer.text) == (200, "/sign-in", "")


@pytest.mark.parametrize(
    ("sent", "word"),
    [
        ([b"ppdm_flow_visit=a-_b"], "a-_b"),
        ([b'other="\\\\\\\\"; ppdm_flow_visit = a-_b ;ppdm_flow_browser=c'], "a-_b"),
        ([b"other=1", b"ppdm_flow_visit=a=b"], "a=b"),
        ([b'ppdm_flow_visit="\\141"'], '"\\141"'),
        ([b"xppdm_flow_visit=a; ppdm_flow_visitx=b; ppdm_flow_visit"], ""),
        ([], ""),
    ],
)
def test_no_cookie_is_unquoted(monkeypatch, sent, word):
    """Python's unquoting took seconds of everybody's time for one cookie of backslashes."""
    monkeypatch.setattr(http.cookies, "_unquote", lambda _value: pytest.fail("it was unquoted"))
    request = Request({"type": "http", "headers": [(b"cookie", each) for each in sent]})
    assert cookies.word(request, cookies.VISIT, secure=False) == word
