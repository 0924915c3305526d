"""Passwords: their hashes, and which ones are refused."""

from __future__ import annotations

import pytest

from ppdm_flow.page.services.accounts.accounts import Accounts
from ppdm_flow.page.services.accounts.passwords import Passwords, weakness
from ppdm_flow.page.services.accounts.roles import Role

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
    return server.site.database.row("SELECT password FROM accounts WHERE name = ?", Role.STEWARD.value)["password"]
