"""Guessing passwords: it takes longer and longer, lets nobody in, and shuts nobody else out."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from sites import PASSWORD, Browser
from starlette.testclient import TestClient

from ppdm_flow.page.app import application
from ppdm_flow.page.services.accounts.attempts import FORGOTTEN, AttemptKind, Attempts, CountedSubject, network
from ppdm_flow.page.services.accounts.people import Browsers, SignIn
from ppdm_flow.page.services.accounts.roles import PageRole

HERE, THERE = "192.0.2.7", "198.51.100.9"


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sign_in(server, clock) -> SignIn:
    database = server.site.database
    return SignIn(server.site.accounts, Attempts(database, clock), Browsers(database, clock))


def _from(server, address: str) -> Browser:
    browser = Browser(server.site)
    browser.client = TestClient(
        application(server.site), base_url="http://127.0.0.1:8471", follow_redirects=False, client=(address, 50_000)
    )
    return browser


@pytest.fixture
def timed(server, sign_in):
    """Return the server with the clock of the test for attempts."""
    server.site = replace(server.site, people=replace(server.site.people, sign_in=sign_in))
    return server


@pytest.mark.slow
def test_five_hundred_attempts_let_nobody_in_and_shut_no_other_out(timed, clock):
    server = timed
    thief, own = _from(server, HERE), server.browser(PageRole.STEWARD)
    answers = []
    for n in range(499):
        answers.append(thief.send("/sign-in", name="steward", password=f"guess number {n}"))
        clock.now += 1
    answers.append(thief.send("/sign-in", name="steward", password=PASSWORD))
    assert {answer.status_code for answer in answers} == {401, 429}
    assert sum(answer.status_code == 401 for answer in answers) < 15
    assert answers[-1].status_code == 429, "the right password is not even compared"
    assert int(answers[-1].headers["retry-after"]) > 0
    assert thief.get("/account").headers["location"] == "/sign-in"
    assert _from(server, THERE).send("/sign-in", name="approver", password=PASSWORD).status_code == 303
    own.send("/sign-out")
    assert own.send("/sign-in", name="steward", password=PASSWORD).status_code == 303, "a browser that is known"
    assert len([e for e in server.site.journal.newest(999) if e.outcome == "refused"]) <= 61 * 3


@pytest.mark.slow
def test_the_old_password_cannot_be_guessed_in_an_open_session(timed):
    browser = timed.browser(PageRole.STEWARD)
    form = {"password": "plum orchard window", "password_again": "plum orchard window"}
    answers = [browser.send("/account/password", old_password=f"guess number {n}", **form) for n in range(30)]
    assert {answer.status_code for answer in answers} == {400, 429}
    assert browser.send("/account/password", old_password=PASSWORD, **form).status_code == 429


@pytest.mark.slow
def test_unknown_names_are_answered_as_known_ones_are(timed, clock):
    known, unknown = _from(timed, HERE), _from(timed, THERE)
    for _ in range(40):
        clock.now += 1
        first = known.send("/sign-in", name="guest", password="guess after guess")
        second = unknown.send("/sign-in", name="nobody at all", password="guess after guess")
        assert first.status_code == second.status_code
        assert _plain(first.text) == _plain(second.text)


def _plain(text: str) -> str:
    return "".join(line for line in text.splitlines() if "form_token" not in line)


def test_delays_double_up_to_a_quarter_of_an_hour_and_are_forgotten(sign_in, clock):
    waits = []
    for n in range(40):
        attempt = sign_in.attempt("steward", "guess after guess", f"203.0.113.{n}")
        if attempt.wait:
            waits.append(attempt.wait)
            clock.now += attempt.wait
            assert sign_in.attempt("steward", "guess after guess", f"203.0.113.{n + 100}").wait == 0
    assert waits[:4] == [1, 2, 4, 8]
    assert max(waits) == 900
    clock.now += FORGOTTEN + 1
    assert sign_in.attempt("steward", PASSWORD, HERE).user is not None


def test_an_attempt_that_has_to_wait_does_not_make_the_wait_longer(sign_in, clock):
    for _ in range(6):
        sign_in.attempt("steward", "guess after guess", HERE)
    before = sign_in.attempt("steward", PASSWORD, HERE).wait
    for _ in range(100):
        assert sign_in.attempt("steward", PASSWORD, HERE).wait == before
    clock.now += before
    assert sign_in.attempt("steward", PASSWORD, HERE).user is not None


def test_one_address_that_tries_many_names_waits(sign_in):
    attempts = [sign_in.attempt(f"name {n}", "guess after guess", HERE) for n in range(100)]
    assert sum(attempt.wait == 0 for attempt in attempts) == 30
    assert sign_in.attempt("steward", PASSWORD, THERE).user is not None


def test_an_account_of_ones_own_does_not_free_an_address_for_guesses(sign_in):
    compared = 0
    for n in range(100):
        assert sign_in.attempt("guest", PASSWORD, THERE).user is not None
        sign_in.attempt("guest", PASSWORD, HERE)
        compared += sign_in.attempt(f"name {n}", "guess after guess", HERE).wait == 0
    assert compared <= 30


def test_a_known_browser_is_known_for_its_own_account_alone(server, sign_in):
    word = Browsers(server.site.database).remember(server.users[PageRole.GUEST], "")
    for n in range(20):
        sign_in.attempt("steward", f"guess number {n}", HERE, word)
    assert sign_in.attempt("steward", PASSWORD, HERE, word).wait > 0
    assert sign_in.attempt("guest", PASSWORD, THERE, word).user is not None


def test_a_known_browser_waits_too(server, sign_in):
    word = Browsers(server.site.database, lambda: 1_000_000.0).remember(server.users[PageRole.GUEST], "")
    attempts = [sign_in.attempt("guest", "guess after guess", HERE, word) for _ in range(50)]
    assert sum(attempt.wait == 0 for attempt in attempts) == 10


def test_attempts_at_once_are_as_many_failures(server, clock):
    attempts = Attempts(server.site.database, clock)
    compared = []

    def attempt() -> None:
        if attempts.begin(CountedSubject(AttemptKind.NAME, "steward")) == 0:
            compared.append(1)

    threads = [threading.Thread(target=attempt) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compared) == 5


def test_what_somebody_types_as_a_name_is_not_kept(server, sign_in):
    sign_in.attempt("my secret password", "steward", HERE)
    Browser(server.site).send("/sign-in", name="my secret password", password="steward")
    everything = b"".join(file.read_bytes() for file in server.site.settings.state.rglob("*") if file.is_file())
    assert b"my secret password" not in everything
    assert HERE.encode() not in everything


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "20010db800010002/64"),
        ("2001:db8:1:2:ffff::", "20010db800010002/64"),
        ("testclient", "testclient"),
    ],
)
def test_what_is_counted_of_an_address(address, counted):
    assert network(address) == counted
