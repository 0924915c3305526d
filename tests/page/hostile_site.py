"""A server on which everything that has a name or a value is called what a browser would obey."""

from __future__ import annotations

import csv
import io
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from people_with_keys import PASSPHRASE
from sites import PASSWORD, PATIENCE, Browser, Server

from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.services.policies.given import GivenFiles

TAG = "<zqel zqat=1 onclick=zq()>"
QUOTES = 'zq"\' zqat="1" onload=\'zq()'
FORMULA = '=HYPERLINK("//zq.example","zq")'
TEMPLATE = "{{7*7}}zq{% raw %}#{7*7}zq"
TURNED = "\u202ezq\u2066\u200e\u061czq"
CONTROL = "zq\x07\x1b[31mzq\x7f\x85"
SCRIPT = "</script></title></textarea></select><script>zq()</script><style>zq{}</style><!--zq"
ADDRESS = "javascript:zq()//[zq](javascript:zq())"
LONG = "zq" * 900
VALUES = (TAG, QUOTES, FORMULA, TEMPLATE, TURNED, SCRIPT, ADDRESS, LONG)
COLUMNS = (TAG + SCRIPT, QUOTES + FORMULA, TEMPLATE + ADDRESS, "zq" * 60)
FILE = "zq\"'<zqel zqat=1 onclick=zq()>{{7*7}}zq&amp;=1"
"""What a file, a folder or an account may be called: no slash, and all characters can be seen."""
SECRET = "secret-zq-value"
"""A value of the run that is withheld: nobody sees it but whose upload it is in."""
SOURCE = "people.csv"


def table(more: str = "") -> str:
    """Return a table of 8 times 10 rows with all names and values; with ``more``, ten rows of that value."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["age", *COLUMNS])
    values = (*VALUES, *([more] if more else []))
    for place, value in enumerate(values):
        writer.writerows([[20 + place, *[value] * len(COLUMNS)]] * 10)
    return out.getvalue()


def policy(name: str, k: int, more: str = "") -> str:
    """Return a policy for the table, with words of its own in every text."""
    words = f"{TAG} {SCRIPT} `{TAG}` {TURNED} {ADDRESS} {TEMPLATE}"
    attributes: dict[str, Any] = {"age": {"role": "quasi_identifier", "type": "integer"}}
    attributes |= {column: {"role": "insensitive", "description": words} for column in COLUMNS}
    tree = {
        "version": 1,
        "name": name,
        "description": words,
        "owner": FILE,
        "source": {"path": SOURCE},
        "attributes": attributes,
        "privacy": {"k_anonymity": {"k": k}},
        "releases": {
            "public": {
                "path": "zq' onload=zq() {{7-7}}zq&lt;zqel&gt;=1.csv",
                "description": words,
                "audience": "public",
            }
        },
    }
    return f"# {TAG}{SCRIPT}\n{json.dumps(tree)[:-1]}{more}}}\n"


@dataclass
class HostileSite:
    """The server, a steward and an approver with keys, browsers, and what routes' parts can be filled with."""

    server: Server
    people: dict[str, User] = field(default_factory=dict)
    browsers: dict[str, Browser] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)
    upload: str = ""

    @classmethod
    def make(cls, folder: Path) -> HostileSite:
        made = cls(Server(folder))
        site = made.server.site
        for name, roles in {"steward": [PageRole.STEWARD], "approver": [PageRole.APPROVER]}.items():
            user = site.accounts.add(f"{name[0]}{FILE}", roles, PASSWORD)
            made.people[name], made.browsers[name] = user, Browser(site, user)
            site.keys.make(user, PASSPHRASE)
        for role in (PageRole.GUEST, PageRole.ADMINISTRATOR):
            made.people[role], made.browsers[role] = made.server.users[role], made.server.browser(role)
        for user in (made.people["steward"], made.people["approver"]):
            made.ended(site.jobs.of(user)[0])
        made._policies()
        made._jobs()
        made._shown()
        made._journal()
        return made

    @property
    def policies(self) -> Path:
        return self.server.site.settings.policies

    def ended(self, job: VerbJob) -> VerbJob:
        return self.server.site.jobs.finished(job, PATIENCE)

    def _policies(self) -> None:
        public = {name: self.server.site.keys.of(self.people[name]).public.text for name in ("steward", "approver")}
        signers = {
            "version": 1,
            "signers": {
                "sue": {"roles": ["author"], "key": public["steward"]},
                "olga": {"roles": ["data-owner"], "key": public["approver"]},
            },
        }
        (self.policies / "signers.yaml").write_text(json.dumps(signers))
        (self.policies / SOURCE).write_text(table())
        approvals = ', "approvals": {"roles": ["data-owner"], "signers": "signers.yaml"}'
        texts = {"out": policy("out", 5), "held": policy("held", 5, approvals), "back": policy("back", 15)}
        for name, text in texts.items():
            (self.policies / f"{name}{FILE}.yaml").write_text(text)
        (self.policies / f"broken{FILE}.yaml").write_text(
            f"version: 1\nname: {json.dumps(TAG)}\n{json.dumps(TAG)}: 1\n"
        )

    def _jobs(self) -> None:
        steward, jobs = self.people["steward"], self.server.site.jobs
        self.upload = self._upload(steward, table(SECRET))
        pending = {}
        for name, words in {"out": (), "held": (), "back": ("--data", self._path()), "broken": ()}.items():
            file = f"{name}{FILE}.yaml"
            said = ("run", str(self.policies / file), "--out", str(self.server.site.settings.runs), *words)
            pending[name] = jobs.add(steward, said, kind="run", about=file, given=GivenFiles(policy=name))
        self.jobs = [job.id for job in pending.values()]
        browser = self.browsers["steward"]
        for name, job in pending.items():
            self.runs[name] = self.ended(job).made
        browser.send("/form/new", upload=self.upload, header="yes")
        address = f"/policies/{self.name('out')}/hierarchies/count"
        for column in COLUMNS[:2]:
            browser.send(address, attribute=column, upload=self.upload, page="groups")
        browser.send(f"/policies/{self.name('out')}/sweep", path_1="privacy.k_anonymity.k", values_1="2,15")
        self.jobs = [self.ended(job).id for job in jobs.of(steward)]

    def name(self, policy: str) -> str:
        """Return a policy's name as an address has it."""
        return quote(f"{policy}{FILE}.yaml")

    def _upload(self, user: User, text: str) -> str:
        with self.server.site.uploads.arriving(user, len(text.encode())) as arrived:
            arrived.write(text.encode())
            return self.server.site.uploads.keep(user, arrived, f"{TURNED}{CONTROL}{FILE}.csv").id

    def _path(self) -> str:
        upload = self.server.site.uploads.of(self.people["steward"], self.upload)
        assert upload is not None
        return str(upload.path)

    def _shown(self) -> None:
        """Show a released run, and a copy of it in folders that anybody may have called so."""
        runs = self.server.site.settings.runs
        copy = f"{FILE}{TURNED}/{FILE}"
        shutil.copytree(runs / self.runs["out"], runs / copy)
        self.runs["copy"] = copy
        for run in (self.runs["out"], copy):
            name, _, own = run.partition("/")
            guests = [self.server.users[PageRole.GUEST]]
            assert self.server.site.shown.show(self.people["steward"], name, own, "public", guests, report=True) is None

    def _journal(self) -> None:
        for browser in self.browsers.values():
            for subject in (FILE, "zq%0A%E2%80%AEzq", "%3Dzq()"):
                browser.send(f"/policies/{subject}/remove")
