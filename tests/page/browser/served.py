"""A server of the page, in a thread of the test or in a process as a user starts it, and a browser for each person."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from serving import in_thread
from sites import CHEAP, PASSWORD, PATIENCE

from ppdm_flow.page.app import application
from ppdm_flow.page.settings import Settings
from ppdm_flow.page.site import Site, opened_site

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SERIOUS = {"serious", "critical"}
_EXPECTED = ("Failed to load resource", "because the document's frame is sandboxed")
"""What a browser says of an answer that is an error page, and of a report's script in a frame that runs none."""
_LINK = re.compile(r"https?://\S+/link/\S+|https?://\S+token\S+")


@dataclass
class Served:
    """A server that runs: its address, the one-time link that it printed, and its folders."""

    folder: Path
    address: str
    said: list[str] = field(default_factory=list)

    @property
    def policies(self) -> Path:
        return self.folder / "policies"

    @property
    def runs(self) -> Path:
        return self.folder / "runs"


def opened(folder: Path, **settings: Any) -> Site:
    """Return the site of a folder, with a folder of policies and one of runs; hashes of passwords take no time."""
    for name in ("policies", "runs"):
        (folder / name).mkdir(exist_ok=True)
    return opened_site(Settings(folder / "policies", folder / "runs", folder / "state", **CHEAP, **settings))


@contextmanager
def served_here(site: Site) -> Iterator[Served]:
    """Serve a site in a thread of the test."""
    with in_thread(replace(site.settings, port=0), application(site)) as port:
        yield Served(site.settings.policies.parent, f"http://127.0.0.1:{port}")


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Served]:
    """Start ``ppdm-flow serve`` on a free port, and stop it as Ctrl-C does."""
    for name in ("policies", "runs"):
        (folder / name).mkdir(exist_ok=True)
    command = [sys.executable, "-m", "ppdm_flow", "serve", "--policies", folder / "policies", "--runs", folder / "runs"]
    process = subprocess.Popen(
        [*map(str, command), "--state", str(folder / "state"), "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"},
    )
    said: list[str] = []
    try:
        while True:
            line = process.stdout.readline()
            assert line, "the server ended: " + "".join(said)
            said.append(line.strip())
            if "Ctrl-C" in line:
                break
        address = next(match[0] for line in said if (match := re.search(r"https?://[\w.:\[\]-]+", line)))
        yield Served(folder, address, said)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        process.stdout.close()


class Person:
    """Somebody at a browser: what goes wrong in it (scripts, refused contents) is collected, and must be nothing."""

    def __init__(self, chromium: Any, served: Served, **context: Any) -> None:
        self.context = chromium.new_context(base_url=served.address, **context)
        self.context.set_default_timeout(PATIENCE * 1000)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._console)
        self.page.on("request", self._request)
        self._address = served.address

    def _console(self, message: Any) -> None:
        if message.type == "error" and not any(words in message.text for words in _EXPECTED):
            self.faults.append(message.text)

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self._address, "data:", "blob:", "about:")):
            self.elsewhere.append(request.url)

    def check(self) -> None:
        """Hold the page that is shown against axe's rules, its own scripts' faults, and requests to other machines."""
        self.page.wait_for_load_state()  # a click returns before the style sheet of the next page is there
        results = Axe().run(self.page)
        bad = [
            f"{each['id']} ({each['impact']}): {each['help']}: {[node['target'] for node in each['nodes']][:4]}"
            for each in results.response["violations"]
            if each["impact"] in SERIOUS
        ]
        assert bad == [], (self.page.url, bad)
        assert self.faults == [], (self.page.url, self.faults)
        assert self.elsewhere == []
        assert self.page.locator("h1").count() == 1, self.page.url

    def sign_in(self, name: str, password: str = PASSWORD) -> None:
        """Sign in by the form."""
        self.page.goto("/sign-in")
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.page.get_by_role("button", name="Sign in").click()

    def picture(self, name: str) -> None:
        """Keep a picture of the page where ``PPDM_SCREENSHOTS`` names a folder."""
        folder = os.environ.get("PPDM_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
