"""Who may ask for what, by the table of routes itself."""

from __future__ import annotations

import pytest
from sites import Server

from ppdm_flow.page.app import ROUTES
from ppdm_flow.page.services.accounts.roles import PageRole


def _address(path: str) -> str:
    return path.replace("{", "").replace("}", "").replace(":path", "")


@pytest.mark.slow(quick=12)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_role_is_refused_what_is_not_its_own_and_strangers_are_sent_to_sign_in(shared_server: Server, route):
    for role in (None, *PageRole):
        browser = shared_server.signed_in(role)
        if route.access.allows(browser.user):
            continue
        send = browser.send if route.method == "POST" else browser.get
        answer = send(_address(route.path))
        assert answer.status_code == (303 if role is None else 403)
        if role is None:
            assert answer.headers["location"] == "/sign-in"


@pytest.mark.slow(quick=20)
@pytest.mark.parametrize("route", [r for r in ROUTES if r.method == "POST"], ids=lambda route: route.path)
def test_a_form_without_the_token_of_the_visit_changes_nothing(shared_server: Server, route):
    role = next((role for role in PageRole if route.access.allows(shared_server.users[role])), None)
    browser = shared_server.signed_in(None if route.access.public else role)
    for token in ("", "0" * 64):
        answer = browser.client.post(_address(route.path), data={"form_token": token})
        assert answer.status_code == 403
