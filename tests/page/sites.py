"""A server of the page in a test: its folders, people with each role, and browsers that sign in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from starlette.types import ASGIApp

from ppdm_flow.page.app import application
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.uploads.uploads import Upload
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import Site, opened_site

PATIENCE = 300.0
"""Seconds after which a test gives up waiting: only what never comes takes so long, however busy the machine is."""
PASSWORD = "correct horse battery staple"
CHEAP: dict[str, Any] = {"password_memory_kib": 8, "password_rounds": 1}
"""Settings with which a hash takes no time: each test makes five accounts, and browsers sign in."""
_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]+)"')


class Browser:
    """Somebody's browser: it keeps cookies, and sends forms with the token of the last page that had one."""

    def __init__(
        self, site: Site, user: User | None = None, app: ASGIApp | None = None, host: str = "testclient"
    ) -> None:
        app = app or application(site)
        base_url, client = "http://127.0.0.1:8471", (host, 50_000)
        self.client = TestClient(app, base_url=base_url, follow_redirects=False, client=client)
        self.user = user
        if user is not None:
            answer = self.send("/sign-in", name=user.name, password=PASSWORD)
            assert answer.status_code == 303, answer.text

    def get(self, address: str, **query: str) -> Any:
        """Ask for a page."""
        return self.client.get(address, params=query or None)

    def token(self) -> str:
        """Return the token of this visit, as forms have it."""
        page = self.client.get("/sign-in")
        match = _TOKEN.search(page.text)
        assert match, page.text
        return match[1]

    def send(self, address: str, /, **fields: Any) -> Any:
        """Send a form as a page of the visit would."""
        fields.setdefault("form_token", _TOKEN.search(self.client.get("/sign-in").text)[1])
        return self.client.post(address, data=fields)


@dataclass
class Server:
    """A site in a folder of its own, with one person a role, who are called as their role."""

    folder: Path
    users: dict[PageRole, User] = field(default_factory=dict)
    _signed_in: dict[PageRole | None, Browser] = field(default_factory=dict, repr=False)
    _app: tuple[Site, ASGIApp] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("policies", "runs"):
            (self.folder / name).mkdir()
        settings = Settings(self.folder / "policies", self.folder / "runs", self.folder / "state", **CHEAP)
        self.site = opened_site(settings)
        for role in PageRole:
            self.users[role] = self.site.accounts.add(role.value, [role], PASSWORD)

    def browser(self, role: PageRole | None = None) -> Browser:
        """Return the browser of the person with this role, signed in; of nobody, where none is given."""
        if self._app is None or self._app[0] is not self.site:  # making one takes longer than a request
            self._app = self.site, application(self.site)
        return Browser(self.site, None if role is None else self.users[role], self._app[1])

    def signed_in(self, role: PageRole | None) -> Browser:
        """Return one and the same browser of this person each time, for tests that do not end its session."""
        if role not in self._signed_in:
            self._signed_in[role] = self.browser(role)
        return self._signed_in[role]

    def upload(self, role: PageRole, name: str, data: bytes) -> Upload:
        """Have the person with this role upload a file, and return it."""
        user = self.users[role]
        with self.site.uploads.arriving(user, len(data)) as arrived:
            arrived.write(data)
            return self.site.uploads.keep(user, arrived, name)


def send_upload(browser: Browser, name: str, data: bytes, **fields: str) -> Any:
    """Send a file as the form of the page does: the token first."""
    form = {"form_token": browser.token(), **fields}
    return browser.client.post("/uploads", data=form, files={"file": (name, data)})
