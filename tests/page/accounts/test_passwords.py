"""Passwords: their hashes, and which ones are refused."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from itertools import count

import pytest
from serving import answer, connected, in_thread, rest
from sites import PASSWORD, PATIENCE, Browser
from starlette.requests import Request

from ppdm_flow.page.app import application
from ppdm_flow.page.http import answering, cookies, turns
from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.passwords import Passwords, weakness
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.accounts.sessions import Visit
from ppdm_flow.page.services.places import PERSON

CHEAP = Passwords(8, 1)


def test_a_hash_is_argon2id_with_a_salt_of_its_own():
    first, second = CHEAP.hashed("plum orchard window"), CHEAP.hashed("plum orchard window")
    assert first.startswith("$argon2id$v=19$m=8,t=1,p=1$")
    assert first != second
    assert CHEAP.matches(first, "plum orchard window")
    assert not CHEAP.matches(first, "plum orchard windoW")
    assert not CHEAP.matches(None, "no account has this password")
    assert not CHEAP.matches("no hash", "plum orchard window")


def test_a_server_hashes_at_full_cost():
    assert Passwords().hashed("plum orchard window").startswith("$argon2id$v=19$m=32768,t=3,p=1$")


def test_composed_and_decomposed_letters_are_one_password():
    assert CHEAP.matches(CHEAP.hashed("stra\u00dfe \u00fcber land"), "stra\u00dfe u\u0308ber land")


@pytest.mark.parametrize(
    ("password", "wrong"),
    [
        ("elevenchars", "accounts.password_short"),
        ("x" * 257, "accounts.password_long"),
        ("aaaaaaaaaaaaaaaa", "accounts.password_easy"),
        ("abababababababab", "accounts.password_easy"),
        ("Password1234", "accounts.password_easy"),
        ("annemarieannemarie", "accounts.password_easy"),
        ("Annemarie2024", "accounts.password_easy"),
        ("annemarie likes plums", None),
        ("plum orchard window", None),
        ("пароль из слов и чисел", None),
    ],
)
def test_which_passwords_are_refused(password, wrong):
    assert weakness(password, "annemarie") == wrong


def test_a_hash_of_another_cost_is_made_again_when_somebody_signs_in(server):
    people = server.site.accounts
    before = _hash(server)
    dear = Accounts(server.site.database, Passwords(16, 1))
    assert dear.signed_in("steward", "wrong password, but long") is None
    assert _hash(server) == before
    assert dear.signed_in("steward", "correct horse battery staple") is not None
    assert "m=16," in _hash(server)
    assert people.signed_in("steward", "correct horse battery staple") is not None


def _hash(server) -> str:
    return server.site.database.row("SELECT password FROM accounts WHERE name = ?", PageRole.STEWARD.value)["password"]


def test_every_form_that_hashes_a_password_waits_for_its_turn(server, monkeypatch):
    has_turn = []

    def counted(called):
        def count(self, *words):
            has_turn.append("hash" in turns._limiters and turns._limiters["hash"].borrowed_tokens == 1)
            return called(self, *words)

        return count

    for name in ("hashed", "matches"):
        monkeypatch.setattr(Passwords, name, counted(getattr(Passwords, name)))
    steward = server.browser(PageRole.STEWARD)
    new = {"password": "plum orchard window", "password_again": "plum orchard window"}
    assert steward.send("/account/password", old_password=PASSWORD, **new).status_code == 303
    word = server.site.people.links.renew(server.users[PageRole.GUEST].id)
    assert server.browser().send(f"/open/{word}", **new).status_code == 303
    assert server.browser().send("/sign-in", name="guest", password=new["password"]).status_code == 303
    assert has_turn == [True] * 5, "signed in, changed (compared and hashed), opened, signed in"


@pytest.mark.server
def test_people_who_sign_in_wait_for_one_hash_of_each_other_and_take_no_thread(server, monkeypatch):
    hashing, go_on, matches = [], threading.Event(), Passwords.matches

    def slow(self, stored, password):
        hashing.append(PERSON.get())
        assert go_on.wait(PATIENCE)
        return matches(self, stored, password)

    monkeypatch.setattr(Passwords, "matches", slow)
    monkeypatch.setattr(answering, "HASHES_AT_ONCE", 1)  # so that hashes begin in the order of their turns
    browser = server.browser()
    token, names = browser.token(), count()
    cookie = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())

    def request(method: str, address: str) -> bytes:
        form = f"form_token={token}&name=nobody{next(names)}&password=wrong".encode()
        return (
            f"{method} /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {address}\r\nCookie: {cookie}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\n"
            "Connection: close\r\n\r\n"
        ).encode() + form

    many, strangers = [f"203.0.{number}.7" for number in range(8)], "hash of strangers"
    settings = replace(server.site.settings, port=0, proxy="127.0.0.1")
    with in_thread(settings, application(server.site)) as port, ExitStack() as open_clients:
        clients = []
        for address in [*many, *many, *many, *many, "198.51.100.9"]:
            clients.append(open_clients.enter_context(connected(port)))
            clients[-1].sendall(request("POST", address))
        until = time.monotonic() + PATIENCE
        while (
            not hashing
            or strangers not in turns._limiters
            or turns._limiters[strangers].statistics().tasks_waiting != len(many)
        ):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert len(hashing) == 1
        for address in ("198.51.100.10", many[0]):
            with connected(port) as client:
                assert answer(client, request("GET", address)).startswith(b"HTTP/1.1 200 ")
        go_on.set()
        assert [rest(client)[:12] for client in clients] == [b"HTTP/1.1 401"] * len(clients)
        assert hashing.index("address 198.51.100.9") <= len(many)


def test_strangers_take_no_turn_of_people_whom_the_server_knows(server):
    """One block of addresses holds one turn, and strangers leave one to browsers in which somebody has signed in."""
    site, known = server.site, Browser(server.site)
    known.send("/sign-in", name="guest", password=PASSWORD)
    word = known.client.cookies[cookies.BROWSER]
    known.send("/sign-out")

    def turns_of(address: str, browser: str = "", visit: Visit | None = None) -> list[tuple[str, int]]:
        headers = [(b"cookie", f"{cookies.BROWSER}={browser}".encode())]
        request = Request({"type": "http", "client": (address, 1), "headers": headers})
        return answering._turns_of_hashes(site, request, visit or site.sessions.visit("none"))

    strangers = ("hash of strangers", 1)
    assert turns_of("2001:db8:1:2::1") == turns_of("2001:db8:1:ffff::2", "no word of ours")
    assert turns_of("2001:db8:1:2::1") == [("hash of neighbourhood 20010db80001/48", 1), strangers]
    assert turns_of("192.0.2.7") == turns_of("192.0.2.8") == [("hash of neighbourhood 192.0.2", 1), strangers]
    assert turns_of("192.0.3.7") != turns_of("192.0.2.7")
    assert turns_of("192.0.2.7", word) == [(f"hash in a browser of account {server.users[PageRole.GUEST].id}", 1)]
    signed_in = server.browser(PageRole.STEWARD).client.cookies[cookies.VISIT]
    assert turns_of("192.0.2.7", visit=site.sessions.visit(signed_in)) == []
