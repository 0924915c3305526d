"""Forms that other sites send in somebody's name change nothing."""

from __future__ import annotations

import pytest

from ppdm_flow.page.services.accounts.roles import PageRole

OWN = "http://127.0.0.1:8471"


@pytest.mark.slow(quick=6)
@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        ({}, True),
        ({"origin": OWN}, True),
        ({"origin": OWN, "sec-fetch-site": "same-origin"}, True),
        ({"origin": "null", "sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"origin": "null"}, False),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "https://127.0.0.1:8471"}, False),
        ({"origin": "http://127.0.0.1:8472"}, False),
        ({"origin": "http://127.0.0.1:8471.evil.example"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": OWN}, False),
        ({"sec-fetch-site": ""}, False),
    ],
)
def test_where_a_form_was_sent_from(server, headers, taken):
    browser = server.browser(PageRole.ADMINISTRATOR)
    steward = server.users[PageRole.STEWARD].id
    answer = browser.client.post(
        f"/accounts/{steward}/lock", data={"form_token": browser.token()}, headers={"host": "127.0.0.1:8471", **headers}
    )
    assert answer.status_code == (303 if taken else 403)
    assert (server.site.accounts.user(steward) is None) is taken
    assert server.site.journal.newest(1)[0].outcome == ("done" if taken else "refused")


def test_the_token_of_another_visit_is_refused(server):
    browser, other = server.browser(PageRole.ADMINISTRATOR), server.browser(PageRole.ADMINISTRATOR)
    steward = server.users[PageRole.STEWARD].id
    for token in (other.token(), browser.token().upper(), browser.token()[:-1], ""):
        answer = browser.client.post(f"/accounts/{steward}/lock", data={"form_token": token})
        assert answer.status_code == 403
    assert server.site.accounts.user(steward) is not None
    sent = browser.client.post(f"/accounts/{steward}/lock", headers={"x-form-token": browser.token()})
    assert sent.status_code == 303


def test_the_token_of_the_visit_before_signing_in_is_refused_afterwards(server):
    browser = server.browser(None)
    before = browser.token()
    browser.send("/sign-in", name="administrator", password="correct horse battery staple")
    steward = server.users[PageRole.STEWARD].id
    assert browser.client.post(f"/accounts/{steward}/lock", data={"form_token": before}).status_code == 403


def test_a_cookie_alone_signs_nobody_in_elsewhere(server):
    browser = server.browser(PageRole.ADMINISTRATOR)
    for cookie in browser.client.cookies.jar:
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "lax"
