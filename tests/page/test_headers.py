"""What browsers are told with every answer, and by which names they may ask."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from sites import Server
from starlette.testclient import TestClient
from walk import filled, parts, role_for, routes

from ppdm_flow.page.app import STATIC, application
from ppdm_flow.page.http.headers import CONTENT_SECURITY, HEADERS
from ppdm_flow.page.http.turns import known_names
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.settings import Settings

OWN = {"src", "href", "action", "formaction", "hx-get", "hx-post", "poster", "data"}


class Inline(HTMLParser):
    """Collects what a strict policy would not let a browser use."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag, attrs):
        self._inside = tag
        for name, value in attrs:
            text = (value or "").strip().lower()
            if name == "style" or name.startswith(("on", "hx-on")) or text.startswith(("javascript:", "data:text")):
                self.faults.append(f"<{tag} {name}>")
            if name in OWN and text.startswith(("http:", "https:", "//")):
                self.faults.append(f"<{tag} {name}={value}>")

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside in ("script", "style") and data.strip():
            self.faults.append(f"<{self._inside}> with a body")


def strict(headers) -> dict[str, str]:
    return {name: headers.get(name) for name in HEADERS if name not in ("cache-control", "content-security-policy")}


EXPECTED = {name: value for name, value in HEADERS.items() if name not in ("cache-control", "content-security-policy")}


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere():
    assert CONTENT_SECURITY.startswith("default-src 'none'; ")
    for word in ("unsafe", "data:", "http", "*", "blob"):
        assert word not in CONTENT_SECURITY
    assert "frame-ancestors 'none'" in CONTENT_SECURITY
    assert "form-action 'self'" in CONTENT_SECURITY
    assert "base-uri 'none'" in CONTENT_SECURITY


@pytest.mark.slow(quick=20)
@pytest.mark.parametrize("route", list(routes("GET")), ids=lambda route: route.path)
def test_every_page_has_the_headers_and_nothing_inline(shared_server: Server, route):
    for role in {None, role_for(shared_server, route)}:
        got = shared_server.signed_in(role).get(filled(route, dict.fromkeys(parts(route), "clinic.yaml")))
        assert strict(got.headers) == EXPECTED
        assert got.headers["content-security-policy"] == CONTENT_SECURITY
        assert got.headers["cache-control"].startswith(("no-store", "private, "))
        if got.headers.get("content-type", "").startswith("text/html"):
            page = Inline()
            page.feed(got.text)
            assert page.faults == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing-here", 404),
        ("GET", "/static/nothing.js", 404),
        ("GET", "/static/page.css", 200),
        ("POST", "/static/page.css", 404),
        ("DELETE", "/sign-in", 404),
        ("TRACE", "/sign-in", 404),
    ],
)
def test_so_has_every_other_answer(shared_server: Server, method, path, status):
    got = shared_server.signed_in(None).client.request(method, path)
    assert got.status_code == status
    assert strict(got.headers) == EXPECTED
    assert got.headers["content-security-policy"] == CONTENT_SECURITY
    kept = path.startswith("/static/")
    assert got.headers["cache-control"] == ("no-cache" if kept else "no-store")


@pytest.mark.slow
def test_what_is_too_large_is_refused_with_a_page_of_the_server(server: Server):
    browser = server.browser()
    got = browser.send("/sign-in", name="a" * (server.site.settings.form_bytes + 1))
    assert got.status_code == 413
    assert strict(got.headers) == EXPECTED


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8471", 200),
        ("127.0.0.1", 200),
        ("localhost:1", 200),
        ("LOCALHOST", 200),
        ("[::1]:8471", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("evil.example:8471", 421),
        ("127.0.0.1@evil.example", 421),
        ("127.0.0.1:@evil.example", 421),
        ("localhost:x", 421),
        ("[::1]evil.example", 421),
        ("localhost.evil.example", 421),
        ("", 421),
        ("[::1", 421),
        ("10.0.0.5", 421),
    ],
)
def test_a_name_that_is_not_the_servers_is_refused(shared_server: Server, host, status):
    client = TestClient(application(shared_server.site), base_url="http://127.0.0.1:8471")
    for path in ("/sign-in", "/static/page.css", "/open/a"):
        got = client.get(path, headers={"host": host})
        assert got.status_code == (404 if path == "/open/a" and status == 200 else status)
        if status == 421:
            assert "set-cookie" not in got.headers
            assert "form_token" not in got.text
            assert strict(got.headers) == EXPECTED


def test_the_names_of_a_server_are_its_address_and_what_it_was_told(shared_server: Server):
    settings = shared_server.site.settings
    local = {"127.0.0.1", "localhost", "::1"}
    for changed, names in (
        ({}, local),
        ({"names": ("Release.Example.org",)}, {*local, "release.example.org"}),
        ({"host": "10.0.0.5"}, {"10.0.0.5"}),
        ({"host": "127.0.0.2"}, {*local, "127.0.0.2"}),
        ({"host": "::1"}, local),
        ({"host": "0.0.0.0", "names": ("release.example.org",)}, {"0.0.0.0", "release.example.org"}),
    ):
        assert known_names(replace(settings, **changed)) == names


def test_browsers_are_told_to_stay_with_https_where_there_is_a_name(tmp_path, server: Server):
    for changed, told in (
        ({}, False),
        ({"secure": True}, False),
        ({"secure": True, "names": ("127.0.0.1",)}, True),
        ({"names": ("127.0.0.1",)}, False),
    ):
        site = replace(server.site, settings=replace(server.site.settings, **changed))
        got = TestClient(application(site), base_url="http://127.0.0.1:8471").get("/sign-in")
        assert ("strict-transport-security" in got.headers) == told


def test_scripts_and_styles_have_nothing_from_elsewhere():
    for file in STATIC.rglob("*"):
        if file.suffix in (".css", ".js") and "vendor" not in file.parts:
            text = file.read_text()
            for word in ("http:", "https:", "@import", "eval(", "insertAdjacentHTML", "document.write"):
                assert word not in text.replace("http://www.w3.org/", ""), (file.name, word)


@pytest.mark.slow
def test_uploads_and_the_servers_file_have_no_address(server: Server):
    upload = server.upload(PageRole.STEWARD, "clinic.csv", b"age,job\n30,nurse\n")
    browser = server.browser(PageRole.STEWARD)
    for path in (f"/uploads/{upload.id}/data.csv", "/state/page.sqlite3", "/uploads/data.csv"):
        got = browser.get(path)
        assert got.status_code == 404
        assert "nurse" not in got.text
    for role in set(PageRole) - {PageRole.STEWARD}:  # its owner sees the first rows
        got = server.browser(role).get(f"/uploads/{upload.id}")
        assert got.status_code in (403, 404)
        assert "nurse" not in got.text


def test_settings_are_for_this_machine_alone_unless_said(tmp_path):
    assert Settings(tmp_path, tmp_path, tmp_path).host == "127.0.0.1"
