"""Fields of forms: each has a limit in characters that is looked at before anything is done with the field."""

from __future__ import annotations

import tracemalloc
import unicodedata
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sites import PASSWORD, Browser
from walk import filled, parts, role_for, routes

from ppdm_flow.page.http.answering import _parsed
from ppdm_flow.page.http.route import ANY_FIELD, LINE
from ppdm_flow.page.services.accounts import accounts
from ppdm_flow.page.services.accounts.roles import PageRole

MARKS = "\u0300\u0316" * 4_000
"""Combining marks: composing them takes the square of their number."""


@pytest.fixture
def normalized(monkeypatch) -> list[int]:
    """Return the lengths of all texts that were composed as names."""
    lengths: list[int] = []

    class Recorded:
        @staticmethod
        def normalize(form: str, text: str) -> str:
            lengths.append(len(text))
            return unicodedata.normalize(form, text)

    monkeypatch.setattr(accounts, "unicodedata", Recorded)
    return lengths


@pytest.mark.parametrize("times", [1, 40], ids=["16 kB", "640 kB"])
def test_a_name_that_is_too_long_is_refused_before_it_is_composed(server, normalized, times):
    stranger = Browser(server.site)
    assert stranger.send("/sign-in", name=MARKS * times, password=PASSWORD).status_code == 413
    assert stranger.send("/sign-in", name=MARKS[:LINE], password=PASSWORD).status_code == 401
    administrator = server.browser(PageRole.ADMINISTRATOR)
    assert administrator.send("/accounts", name=MARKS[:LINE], role="guest").status_code == 400
    assert max(normalized) <= 4 * accounts.MOST_LENGTH
    entry = server.site.journal.newest(9, action="accounts.sign_in")[-1]
    assert (entry.account, entry.outcome) == (None, "refused")


@pytest.mark.parametrize("written", ["Zoë Müller-Þórðardóttir", "한국어 이름", "x" * accounts.MOST_LENGTH])
def test_a_name_of_ordinary_length_signs_in_however_it_is_composed(server, written):
    server.site.accounts.add(accounts.normal(written), [PageRole.GUEST], PASSWORD)
    for form in ("NFC", "NFD"):
        answer = Browser(server.site).send("/sign-in", name=unicodedata.normalize(form, written), password=PASSWORD)
        assert answer.status_code == 303


def test_a_stranger_sends_small_forms_alone(server):
    stranger = Browser(server.site)
    fields = {f"field-{n}": "x" * 900 for n in range(30)}
    assert stranger.send("/sign-in", name="guest", password=PASSWORD, **fields).status_code == 413
    assert stranger.send("/sign-in", name="guest", password=PASSWORD).status_code == 303


@pytest.mark.slow
def test_every_form_refuses_a_field_that_is_longer_than_its_limit(shared_server):
    wrong = []
    for route in routes("POST"):
        address = filled(route, dict.fromkeys(parts(route), "a"))
        browser = shared_server.signed_in(role_for(shared_server, route) or PageRole.GUEST)
        most = route.long_fields.get(ANY_FIELD, LINE)
        for fields in ({"some_field": "x" * (most + 1)}, {"x" * (LINE + 1): ""}):
            status = browser.send(address, **fields).status_code
            if status != 413:
                wrong.append((route.path, status))
    assert not wrong


def test_a_large_policy_is_taken_however_a_browser_encodes_it(server):
    steward = server.browser(PageRole.STEWARD)
    text = "name: large\n" + "# größer or smaller: how values are ordered\n" * 21_000
    assert 900_000 < len(text.encode()) < 1_000_000
    (server.folder / "policies" / "large.yaml").write_text("name: large\n")
    digest = server.site.policies.read("large.yaml").digest
    saved = steward.send("/policies/large.yaml/edit", text=text, digest=digest)
    assert saved.status_code == 303, saved.text
    assert server.site.policies.read("large.yaml").text == text


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"a=b&" * 10_001),
        ("multipart/form-data; boundary=x", b"--x\r\ncontent-disposition: form-data\r\n\r\nb\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", b"--x\r\n"),
        ("multipart/form-data", b"--x--\r\n"),
        ("multipart/form-data; boundary=x", b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'),
        ("application/json", b"{}"),
        ("application/x-www-form-urlencoded", b"a=50%"),
        ("application/x-www-form-urlencoded", b"a=%4x"),
        ("application/x-www-form-urlencoded", b"a=%\r\n41"),
    ],
)
def test_what_is_no_form_is_refused(server, kind, body):
    steward = server.browser(PageRole.STEWARD)
    headers = {"content-type": kind, "x-form-token": steward.token()}
    assert steward.client.post("/account/sessions", content=body, headers=headers).status_code in (400, 413)


_WRITTEN = ("%41", "%c3%A9", "%3D", "%26", "%25", "%0D%0A", "%ff", "é", "+", "=", "==", "&", "a", "_", ".", " ", "\r\n")


@given(st.lists(st.sampled_from(_WRITTEN), max_size=12).map("".join))
def test_a_form_has_the_fields_that_urllib_reads(text):
    kind = "application/x-www-form-urlencoded; charset=UTF-8"
    assert _parsed(kind, bytearray(text.encode())).multi_items() == parse_qsl(text, keep_blank_values=True)


def test_letters_that_are_nothing_but_escapes_are_read_in_little_memory():
    """Two megabytes of them took ``urllib`` a second of everybody's time, and sixty megabytes."""
    body = bytearray(b"text=" + b"%41" * 700_000)
    tracemalloc.start()
    try:
        assert _parsed("application/x-www-form-urlencoded", body)["text"] == "A" * 700_000
        assert tracemalloc.get_traced_memory()[1] < 12 * 2**20
    finally:
        tracemalloc.stop()
