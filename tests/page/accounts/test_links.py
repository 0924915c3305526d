"""One-time links: the first administrator, invitations, new passwords."""

from __future__ import annotations

import re
import sqlite3

import pytest
from sites import CHEAP, PASSWORD, Browser

from ppdm_flow.page.services.accounts.accounts import NameTakenError, may_be_name, normal
from ppdm_flow.page.services.accounts.links import FIRST_SECONDS, AccountLinks, LinkGoneError
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import opened_site

NEW = "plum orchard window"


@pytest.fixture
def empty(tmp_path):
    """Return a server without accounts."""
    return opened_site(Settings(tmp_path / "policies", tmp_path / "runs", tmp_path / "state", **CHEAP))


def test_the_first_administrator_comes_by_a_link_that_works_once(empty):
    word = empty.people.links.first_administrator()
    browser = Browser(empty)
    assert browser.get(f"/open/{word}").status_code == 200
    assert browser.get(f"/open/{word}").status_code == 200, "looking does not use it"
    done = browser.send(f"/open/{word}", name="Anna", password=NEW, password_again=NEW)
    assert (done.status_code, done.headers["location"]) == (303, "/?said=accounts.opened")
    assert browser.get("/accounts").status_code == 200
    assert empty.accounts.named("anna").roles == {PageRole.ADMINISTRATOR}
    again = Browser(empty).send(f"/open/{word}", name="Eve", password=NEW, password_again=NEW)
    assert again.status_code == 404
    assert empty.accounts.named("Eve") is None
    assert empty.people.links.first_administrator() is None
    assert [(e.account, e.action, e.outcome) for e in empty.journal.newest(9)] == [
        (None, "accounts.open", "refused"),
        ("Anna", "accounts.open", "done"),
    ]


def test_a_newer_first_link_takes_the_place_of_the_one_before(empty):
    links = empty.people.links
    old, new = links.first_administrator(), links.first_administrator()
    with pytest.raises(LinkGoneError):
        links.open_administrator(old, "Eve", NEW)
    links.open_administrator(new, "Anna", NEW)


def test_a_first_link_expires(empty):
    now = [1000.0]
    links = AccountLinks(empty.database, empty.accounts, lambda: now[0])
    word = links.first_administrator()
    now[0] += FIRST_SECONDS - 1
    links.find(word)
    now[0] += 2
    with pytest.raises(LinkGoneError):
        links.find(word)
    with pytest.raises(LinkGoneError):
        links.open_administrator(word, "Eve", NEW)


def test_an_invited_administrator_is_none_before_the_link_is_used(empty):
    _, word = empty.people.links.invite("Anna", [PageRole.ADMINISTRATOR])
    assert empty.people.links.first_administrator() is not None
    empty.people.links.open_with_password(word, NEW)
    assert empty.people.links.first_administrator() is None


def test_the_files_hold_no_word_that_opens_something(server):
    word = server.site.people.links.renew(server.users[PageRole.GUEST].id)
    browser = server.browser(PageRole.STEWARD)
    kept = list(browser.client.cookies.jar)
    assert len(kept) == 2
    everything = b"".join(file.read_bytes() for file in server.site.settings.state.rglob("*") if file.is_file())
    for secret in (word, PASSWORD, *(cookie.value for cookie in kept)):
        assert secret.encode() not in everything


def test_an_administrator_invites_and_the_invited_chooses_the_password(server):
    administrator = server.browser(PageRole.ADMINISTRATOR)
    shown = administrator.send("/accounts", name="Berta", role=["steward", "approver"])
    assert shown.status_code == 200
    word = re.search(r'value="http://127\.0\.0\.1:8471/open/([\w-]+)"', shown.text)[1]
    assert word not in administrator.get("/accounts").text, "it is shown once"
    berta = Browser(server.site)
    short = berta.send(f"/open/{word}", password="short", password_again="short")
    assert short.status_code == 400
    differs = berta.send(f"/open/{word}", password=NEW, password_again=NEW + "s")
    assert differs.status_code == 400
    assert berta.send(f"/open/{word}", password=NEW, password_again=NEW, name="Another").status_code == 303
    assert server.site.accounts.signed_in("Berta", NEW).user.roles == {PageRole.STEWARD, PageRole.APPROVER}
    assert server.site.accounts.named("Another") is None
    assert berta.get("/account").status_code == 200
    assert berta.get("/accounts").status_code == 403


def test_a_new_link_changes_the_password_and_ends_what_was_open_with_the_old_one(server):
    steward = server.browser(PageRole.STEWARD)
    word = server.site.people.links.renew(steward.user.id)
    assert steward.get("/account").status_code == 200, "a link that nobody used changes nothing"
    assert Browser(server.site).send(f"/open/{word}", password=NEW, password_again=NEW).status_code == 303
    assert steward.get("/account").headers["location"] == "/sign-in"
    assert server.site.accounts.signed_in("steward", PASSWORD) is None
    assert server.site.accounts.signed_in("steward", NEW).user == steward.user


def test_who_knows_a_password_closes_no_link_that_gives_the_account_back(server):
    thief, steward = server.browser(PageRole.STEWARD), server.users[PageRole.STEWARD]
    word = server.site.people.links.renew(steward.id)
    form = {"old_password": PASSWORD, "password": "words of somebody else", "password_again": "words of somebody else"}
    assert thief.send("/account/password", **form).status_code == 303
    assert Browser(server.site).send(f"/open/{word}", password=NEW, password_again=NEW).status_code == 303
    assert thief.get("/account").headers["location"] == "/sign-in"
    assert server.site.accounts.signed_in("steward", NEW).user == steward
    assert Browser(server.site).send(f"/open/{word}", password=NEW, password_again=NEW).status_code == 404


def test_a_locked_account_has_no_link_and_gets_none(server):
    administrator, guest = server.browser(PageRole.ADMINISTRATOR), server.users[PageRole.GUEST]
    word = server.site.people.links.renew(guest.id)
    assert administrator.send(f"/accounts/{guest.id}/lock").status_code == 303
    assert administrator.send(f"/accounts/{guest.id}/link").status_code == 400
    assert Browser(server.site).send(f"/open/{word}", password=NEW, password_again=NEW).status_code == 404
    assert administrator.send(f"/accounts/{guest.id}/unlock").status_code == 303
    assert Browser(server.site).get(f"/open/{word}").status_code == 404


def test_a_link_of_one_account_opens_no_other_and_no_administrator(server):
    word = server.site.people.links.renew(server.users[PageRole.GUEST].id)
    with pytest.raises(LinkGoneError):
        server.site.people.links.open_administrator(word, "Eve", NEW)
    server.site.people.links.find(word)
    server.site.people.links.another_administrator()
    server.site.people.links.find(word)


def test_names_that_look_alike_are_one_name(server):
    links = server.site.people.links
    links.invite("Zoë", [PageRole.GUEST])
    for same in ("zoë", "ZOË", "Zoe\u0308", "\uff3aoë"):
        with pytest.raises(NameTakenError):
            links.invite(normal(same), [PageRole.GUEST])
    links.invite("Zoe", [PageRole.GUEST])


@pytest.mark.parametrize(
    ("name", "may"),
    [
        ("Anna", True),
        ("anna.b@example.org", True),
        ("<b>Anna</b>", True),
        ("", False),
        (" Anna", False),
        ("x" * 65, False),
        ("An\nna", False),
        ("An\u202ena", False),
        ("An\x00na", False),
        ("An\u200bna", False),
    ],
)
def test_what_may_be_a_name(name, may):
    assert may_be_name(name) is may


def test_two_uses_of_one_link_at_once_are_one(server):
    word = server.site.people.links.renew(server.users[PageRole.GUEST].id)
    first, second = (sqlite3.connect(server.site.settings.database, isolation_level=None) for _ in range(2))
    first.execute("BEGIN IMMEDIATE")
    second.execute("PRAGMA busy_timeout=0")
    with pytest.raises(sqlite3.OperationalError):
        second.execute("BEGIN IMMEDIATE")
    first.execute("ROLLBACK")
    first.close()
    second.close()
    server.site.people.links.open_with_password(word, NEW)
    with pytest.raises(LinkGoneError):
        server.site.people.links.open_with_password(word, NEW)
