"""Signing in, in a browser."""

from __future__ import annotations

from served import Person, served


def test_strangers_see_how_to_sign_in_and_nothing_else(chromium, tmp_path):
    with served(tmp_path) as server:
        person = Person(chromium, server)
        for address in ("/", "/policies", "/accounts"):
            person.page.goto(address)
            assert person.page.url == f"{server.address}/sign-in"
        person.check()
        person.sign_in("nobody")
        assert person.page.get_by_role("alert").is_visible()
        person.check()
        person.context.close()
