"""Paths in every parameter: no name makes the server read or write outside of its folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from serving import answer, connected, in_thread
from sites import Server
from walk import fields, filled, parts, role_for, routes

from ppdm_flow.page.app import ROUTES, application
from ppdm_flow.page.http.route import PageRoute
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.texts.catalogue import catalogue

CANARY = "canary-5f1d3c"
POLICY = (
    "version: 1\nname: clinic\nsource: {path: clinic.csv}\nattributes: {age: {role: quasi_identifier}}\n"
    "privacy: {k_anonymity: {k: 2}}\nreleases: {study: {path: study.csv}}\n"
)
HOSTILE = (
    "..",
    ".",
    "../canary.yaml",
    "../../canary.yaml",
    "..\\canary.yaml",
    "....//canary.yaml",
    "clinic.yaml/../../canary.yaml",
    "%2e%2e%2fcanary.yaml",
    "../state/page.sqlite3",
    "../state/server.lock",
    "/etc/passwd",
    "canary.yaml\0.yaml",
    "link.yaml",
    "outside/canary.yaml",
    "~/canary.yaml",
    "file:../canary.yaml",
    "--out=../canary",
    "-o",
    "a" * 5000,
    "\udce4".encode("utf-8", "surrogateescape").decode("latin-1"),
)
PATHS = (
    "../canary.yaml",
    "/etc/passwd",
    "link.yaml",
    "outside/canary.yaml",
    "../state/page.sqlite3",
    "--out=../canary",
)


def canaries(server: Server) -> list[Path]:
    """Put texts that nobody may see beside and inside of the server's folders."""
    home = server.folder
    (home / "canary.yaml").write_text(f"{POLICY}description: {CANARY}\n")
    (home / "canary").mkdir()
    (home / "canary" / "report.json").write_text(f'"{CANARY}"')
    (home / "policies" / "clinic.yaml").write_text(POLICY)
    (home / "policies" / "link.yaml").symlink_to(home / "canary.yaml")
    (home / "policies" / "outside").symlink_to(home)
    (home / "runs" / "outside").symlink_to(home)
    other = server.site.accounts.add("other", [PageRole.STEWARD], None)
    folder = home / "state" / "uploads" / ("a" * 32)
    folder.mkdir()
    (folder / "data.csv").write_text(f"age\n{CANARY}\n")
    with server.site.database.changing() as connection:
        row = (folder.name, other.id, "x.csv", "csv", "data.csv", 20, 0.0, 1e12)
        connection.execute("INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    return [home / "canary.yaml", home / "canary" / "report.json", folder / "data.csv"]


def outside(server: Server) -> set[str]:
    """Return what lies beside the server's folders, and what the canaries hold."""
    return {each.name for each in server.folder.iterdir()} | {
        each.name for each in (server.folder / "canary").iterdir()
    }


@dataclass
class Visitor:
    """Somebody who may ask for a route, and signs in again where what they asked has ended their visit."""

    server: Server
    route: PageRoute

    def __post_init__(self) -> None:
        self.browser = self.server.browser(role_for(self.server, self.route))
        self.token = "" if self.route.method == "GET" else self.browser.token()

    def ask(self, address: str, values: dict[str, str]) -> Any:
        if self.route.method == "GET":
            return self.browser.get(address, **values)
        answer = self.browser.client.post(address, data={**values, "form_token": self.token})
        if is_refused(answer) or answer.headers.get("location") == "/sign-in":
            self.__post_init__()
            answer = self.browser.client.post(address, data={**values, "form_token": self.token})
        return answer


def is_refused(answer: Any) -> bool:
    """Whether it did not come as far as the names."""
    return any(catalogue()(refused) in answer.text for refused in ("errors.forbidden", "errors.forged"))


def look(visitor: Visitor, names: dict[str, str], values: dict[str, str]) -> None:
    server = visitor.server
    before = outside(server)
    address = filled(visitor.route, {name: quote(value, safe="") for name, value in names.items()})
    got = visitor.ask(address, values)
    for job in server.site.jobs.active():
        assert CANARY not in " ".join(job.words)
        assert not any("canary" in word or "passwd" in word for word in job.words), job.words
        server.site.jobs.cancel(job.id)
    assert got.status_code < 500, (address, values)
    assert not is_refused(got), (address, values)
    assert CANARY not in got.text, address
    assert "root:x:" not in got.text
    assert outside(server) == before


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("route", [r for r in ROUTES if parts(r)], ids=lambda r: f"{r.method} {r.path}")
def test_no_part_of_an_address_leads_out_of_the_folders(server: Server, route):
    secrets = canaries(server)
    texts = [each.read_bytes() for each in secrets]
    visitor = Visitor(server, route)
    for hostile in (*HOSTILE, "a" * 32):
        look(visitor, dict.fromkeys(parts(route), hostile), {})
    assert [each.read_bytes() for each in secrets] == texts


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize("route", ROUTES, ids=lambda r: f"{r.method} {r.path}")
def test_no_field_leads_out_of_the_folders(server: Server, route):
    secrets = canaries(server)
    texts = [each.read_bytes() for each in secrets]
    names = dict.fromkeys(parts(route), "clinic.yaml")
    visitor = Visitor(server, route)
    for hostile in (*PATHS, "a" * 32):
        look(visitor, names, dict.fromkeys(fields(), hostile))
    assert [each.read_bytes() for each in secrets] == texts


def test_fields_are_found():
    assert {"name", "password"} <= set(fields())
    assert list(routes("GET", with_parts=True))


@pytest.fixture(scope="module")
def port(shared_server: Server) -> Iterator[int]:
    """Serve a site, and return the port."""
    site = shared_server.site
    with in_thread(replace(site.settings, port=0), application(site)) as port:
        yield port


@pytest.mark.server(quick=3)
@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/../../settings.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2f%2e%2e%2fsettings.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/..\\app.py",
        "/static/page.css%00",
        "/static/",
        "/static/vendor",
        "//etc/passwd",
        "/../../etc/passwd",
    ],
)
def test_static_files_are_no_way_out(port: int, path):
    for wanted, status in ((path, (b"400", b"404", b"405")), ("/static/page.css", (b"200",))):
        request = f"GET {wanted} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
        with connected(port) as client:
            got = answer(client, request)
        assert got[9:12] in status
        assert b"from __future__" not in got
        assert b"root:" not in got
