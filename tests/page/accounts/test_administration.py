"""What administrators do with accounts, and what they cannot."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta

import pytest
from sites import PASSWORD, Browser

from ppdm_flow.page.services.accounts.accounts import LastAdministratorError
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.journal import RENEW


@pytest.fixture
def administrator(server) -> Browser:
    return server.browser(PageRole.ADMINISTRATOR)


def test_roles_change_at_once_in_sessions_that_are_open(server, administrator):
    steward = server.browser(PageRole.STEWARD)
    assert steward.get("/accounts").status_code == 403
    done = administrator.send(f"/accounts/{steward.user.id}/roles", role=["administrator", "guest"])
    assert done.headers["location"] == f"/accounts/{steward.user.id}?said=accounts.roles_changed"
    assert steward.get("/accounts").status_code == 200
    administrator.send(f"/accounts/{steward.user.id}/roles", role=["guest"])
    assert steward.get("/accounts").status_code == 403


@pytest.mark.parametrize("role", [[], ["emperor"], [""]])
def test_roles_that_there_are_not_are_given_to_nobody(server, administrator, role):
    steward = server.users[PageRole.STEWARD]
    assert administrator.send(f"/accounts/{steward.id}/roles", role=role).status_code == 400
    assert administrator.send("/accounts", name="Berta", role=role).status_code == 400
    assert server.site.accounts.user(steward.id).roles == {PageRole.STEWARD}
    assert server.site.accounts.named("Berta") is None


def test_a_locked_account_is_out_at_once_and_cannot_sign_in(server, administrator):
    steward = server.browser(PageRole.STEWARD)
    administrator.send(f"/accounts/{steward.user.id}/lock")
    assert steward.get("/account").headers["location"] == "/sign-in"
    locked = Browser(server.site).send("/sign-in", name="steward", password=PASSWORD)
    unknown = Browser(server.site).send("/sign-in", name="nobody", password=PASSWORD)
    assert (locked.status_code, unknown.status_code) == (401, 401)
    administrator.send(f"/accounts/{steward.user.id}/unlock")
    assert steward.get("/account").headers["location"] == "/sign-in", "sessions that ended stay so"
    assert Browser(server.site).send("/sign-in", name="steward", password=PASSWORD).status_code == 303


def test_all_sessions_of_an_account_end_together(server, administrator):
    here, there, other = (
        server.browser(PageRole.STEWARD),
        server.browser(PageRole.STEWARD),
        server.browser(PageRole.GUEST),
    )
    administrator.send(f"/accounts/{here.user.id}/sessions")
    assert [each.get("/account").status_code for each in (here, there, other)] == [303, 303, 200]


@pytest.mark.parametrize("verb", ["roles", "lock", "unlock"])
def test_nobody_changes_their_own_roles_or_locks_themselves(server, administrator, verb):
    own = administrator.user.id
    answer = administrator.send(f"/accounts/{own}/{verb}", role=[role.value for role in PageRole])
    assert answer.status_code == 403
    assert server.site.accounts.user(own).roles == {PageRole.ADMINISTRATOR}
    assert "danger" not in administrator.get(f"/accounts/{own}").text


def test_one_administrator_who_can_sign_in_is_always_left(server):
    accounts, first = server.site.accounts, server.users[PageRole.ADMINISTRATOR].id
    accounts.add("invited", [PageRole.ADMINISTRATOR])
    for change in (lambda: accounts.set_roles(first, [PageRole.GUEST]), lambda: accounts.lock(first)):
        with pytest.raises(LastAdministratorError):
            change()
    assert accounts.user(first).roles == {PageRole.ADMINISTRATOR}
    accounts.add("second", [PageRole.ADMINISTRATOR], PASSWORD)
    accounts.lock(first)
    assert accounts.has_administrator()


@pytest.mark.slow(quick=5)
@pytest.mark.parametrize("number", ["0", "999", "-1", "1.0", "x", "٣", "1" * 400, "1%00", "..%2F1"])
def test_an_account_that_there_is_not_is_missing(administrator, number):
    assert administrator.get(f"/accounts/{number}").status_code == 404
    assert administrator.send(f"/accounts/{number}/lock").status_code == 404


def test_the_list_says_who_is_invited_and_who_is_locked(server, administrator):
    administrator.send("/accounts", name="Berta", role="guest")
    server.site.accounts.lock(server.users[PageRole.STEWARD].id)
    page = administrator.get("/accounts").text
    assert sorted(re.findall(r"<td[^>]*>\s*(open|invited|locked)\s*</td>", page)) == [
        "invited",
        "locked",
        *["open"] * 3,
    ]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "=1+1"])
def test_hostile_names_are_text_everywhere(server, administrator, name):
    assert administrator.send("/accounts", name=name, role="guest").status_code == 200
    account = server.site.accounts.named(name).id
    assert administrator.send(f"/accounts/{account}/link").status_code == 200
    for address in ("/accounts", f"/accounts/{account}", "/journal"):
        answer = administrator.get(address)
        assert answer.status_code == 200
        page = answer.text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert html.escape(name) in page or name in html.unescape(page)


def test_a_name_is_given_once(administrator):
    assert administrator.send("/accounts", name="STEWARD", role="guest").status_code == 400
    assert administrator.send("/accounts", name=" \u202eBerta", role="guest").status_code == 400
    assert administrator.send("/accounts", name="  Berta   B. ", role="guest").status_code == 200
    assert administrator.send("/accounts", name="Berta B.", role="guest").status_code == 400


def test_every_change_stands_in_the_journal_with_the_name_of_the_account(server, administrator):
    steward = server.users[PageRole.STEWARD].id
    for verb in ("lock", "unlock", "sessions", "link"):
        administrator.send(f"/accounts/{steward}/{verb}")
    administrator.send(f"/accounts/{steward}/roles", role="guest")
    administrator.send("/accounts", name="Berta", role="guest")
    noted = [(e.account, e.action, e.subject, e.outcome) for e in server.site.journal.newest(6)]
    assert noted == [
        ("administrator", f"accounts.{verb}", subject, "done")
        for verb, subject in [
            ("invite", "Berta"),
            ("set_roles", "steward"),
            ("renew", "steward"),
            ("end_sessions", "steward"),
            ("unlock", "steward"),
            ("lock", "steward"),
        ]
    ]


def test_a_person_is_told_of_a_link_that_somebody_else_made_and_used(server, administrator):
    steward = server.users[PageRole.STEWARD]
    shown = administrator.send(f"/accounts/{steward.id}/link").text
    word = re.search(r"/open/([\w-]+)", shown)[1]
    told = server.browser(PageRole.STEWARD)
    for address in ("/", "/account"):
        page = told.get(address).text
        assert "administrator made a new link that opens your account" in page
        assert "was used to choose" not in page
    thief = Browser(server.site)
    assert thief.send(f"/open/{word}", password="plum orchard window", password_again="plum orchard window")
    assert told.get("/").headers["location"] == "/sign-in"
    again = server.site.people.links.renew(steward.id)
    owner = Browser(server.site)
    owner.send(f"/open/{again}", password=PASSWORD, password_again=PASSWORD)
    for _ in range(2):
        page = owner.get("/").text
        assert "administrator made a new link" in page, "reading it does not take it away"
        assert page.count("was used to choose the password") == 2
    server.site.accounts.add("second", [PageRole.ADMINISTRATOR], PASSWORD)
    second = Browser(server.site)
    second.send("/sign-in", name="second", password=PASSWORD)
    row = re.search(
        r"<td[^>]*>administrator</td>\s*<td[^>]*>Make a new link</td>\s*<td[^>]*>steward</td>",
        second.get("/journal").text,
    )
    assert row, "every administrator reads it"


def test_who_was_only_invited_is_told_of_no_link(server, administrator):
    shown = administrator.send("/accounts", name="Berta", role="guest").text
    berta = Browser(server.site)
    word = re.search(r"/open/([\w-]+)", shown)[1]
    berta.send(f"/open/{word}", password=PASSWORD, password_again=PASSWORD)
    assert "link" not in berta.get("/").text.partition("<main")[2]


def test_a_renewal_of_long_ago_is_told_of_no_more(server, administrator):
    administrator.send(f"/accounts/{server.users[PageRole.STEWARD].id}/link")
    journal = server.site.journal
    assert journal.renewals(server.users[PageRole.STEWARD])
    assert not journal.renewals(server.users[PageRole.GUEST])
    journal._now = lambda: datetime.now(UTC) + timedelta(days=31)
    assert not journal.renewals(server.users[PageRole.STEWARD])


def test_a_use_of_a_link_is_told_of_however_many_links_are_made_after_it(server):
    journal, guest = server.site.journal, server.users[PageRole.GUEST]
    journal.add(server.users[PageRole.ADMINISTRATOR], RENEW, guest.name, "done")
    journal.add(guest, "accounts.open", guest.name, "done")
    for _ in range(12):
        journal.add(server.users[PageRole.ADMINISTRATOR], RENEW, guest.name, "done")
    actions = [entry.action for entry in journal.renewals(guest)]
    assert actions == [*[RENEW] * 10, "accounts.open"]
